/** The names that the main job needs, in the order in which they are learnt. They open `docs/api.md`, `llms.txt` and the site. */

/** A name of a module; without one, the module itself. */
export interface MainName {
  readonly module: string
  readonly name?: string
}

const of = (module: string, ...names: ReadonlyArray<string>): ReadonlyArray<MainName> =>
  names.map((name) => ({ module, name }))

export const mainNames: ReadonlyArray<MainName> = [
  ...of("@kintsugi/core/Tool", "make", "fromFunction"),
  ...of("@kintsugi/core/Agent", "make"),
  ...of("@kintsugi/providers/OpenAi", "model"),
  ...of("@kintsugi/core/Tool", "onError"),
  ...of("@kintsugi/core/Recovery", "retry", "tell", "fix"),
  ...of("@kintsugi/core/Agent", "deterministic"),
  ...of("@kintsugi/core/Recovery", "escalate", "respondWith", "raise", "rethrow", "ladder", "when"),
  ...of("@kintsugi/core/Agent", "toolDefaults", "onToolError", "onLlmError", "resilient"),
  ...of("@kintsugi/core/Recovery", "onError"),
  ...of("@kintsugi/core/Agent", "explain"),
  ...of("@kintsugi/core/testing/ScriptedModel", "make"),
  { module: "@kintsugi/core/testing/Trace" },
  ...of("@kintsugi/core/KintsugiError", "KintsugiError")
]

/** As a program writes it: `Tool.make`, `Trace`. */
export const written = ({ module, name }: MainName): string => {
  const namespace = module.slice(module.lastIndexOf("/") + 1)
  return name === undefined ? namespace : `${namespace}.${name}`
}
