/** Finds the agent in the exports of a module, and says what to paste if there is none. */
import * as Data from "effect/Data"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import { type AnyAgent, definitionOf, isAgent } from "./inside.ts"
import type { Problem } from "./browser/Wire.ts"

/** The agent cannot be shown or run. */
export class Stuck extends Data.TaggedError("Stuck")<{ readonly problem: Problem }> {}

/** A layer with any services and any needs. */
export type AnyLayer = Layer.Layer<never, unknown, unknown>

/** An agent of a module, and what the module provides to it. */
export interface Found {
  /** The name of the export. */
  readonly name: string
  readonly agent: AnyAgent
  /** The services that the agent needs, perhaps with its model. */
  readonly layer?: AnyLayer
}

type Exports = Readonly<Record<string, unknown>>

/** Finds the agent by the name of its export, or the only one. The result is a problem if that is not clear. */
export const find = (exported: Exports, name: string | undefined, file: string): Found | Problem => {
  const all = Object.entries(exported).flatMap(([key, value]) => agentsOf(key, value, exported))
  const [first, ...others] = all
  const named = all.find((one) => one.name === (name ?? "default")) ?? all.find((one) => one.name === name)
  if (named !== undefined) return named
  if (first !== undefined && name === undefined) {
    const main = all.find((one) => one.name === "agent") ?? (others.length === 0 ? first : undefined)
    if (main !== undefined) return main
    return {
      title: `${file} exports several agents`,
      found: `Found ${listed(all.map((one) => one.name))}.`,
      missing: [],
      paste: `kintsugi serve ${file}#${first.name}`
    }
  }
  const keys = Object.keys(exported)
  const found =
    keys.length === 0
      ? "It exports nothing: write `export` before the agent."
      : `Found ${listed(keys.map((key) => `${key} (${kindOf(exported[key])})`))}.`
  return {
    title: name === undefined ? `${file} exports no agent` : `${file} exports no agent named ${name}`,
    found: all.length === 0 ? found : `Found ${listed(all.map((one) => `the agent ${one.name}`))}.`,
    missing: [],
    paste: example
  }
}

const example = `import { Agent } from "@kintsugi/core"

export const agent = Agent.make("clerk", { prompt: "You are a clerk." })
`

/** The agent in an export: the value itself, or its field `agent` with a field `layer` beside it. */
const agentsOf = (name: string, value: unknown, exported: Exports): ReadonlyArray<Found> => {
  if (isAgent(value)) {
    // a layer that is exported beside the only agent is for that agent
    const beside = exported["layer"]
    return [{ name, agent: value, ...(isLayer(beside) ? { layer: beside } : {}) }]
  }
  if (!Predicate.hasProperty(value, "agent") || !isAgent(value.agent)) return []
  const layer = Predicate.hasProperty(value, "layer") ? value.layer : undefined
  return [{ name, agent: value.agent, ...(isLayer(layer) ? { layer } : {}) }]
}

/** What a layer needs and provides is not known at run time: services that are missing are found when it is built. */
const isLayer = (value: unknown): value is AnyLayer => Layer.isLayer(value)

const listed = (names: ReadonlyArray<string>): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`

const kindOf = (value: unknown): string => {
  if (isLayer(value)) return "a layer"
  if (Predicate.hasProperty(value, "definition") && Predicate.hasProperty(value, "name")) return "a tool"
  return value === null ? "null" : Array.isArray(value) ? "a list" : typeof value
}

/** The problem of an agent that needs services which the module does not provide. */
export const withoutServices = ({ name, agent }: Found, file: string, services: ReadonlyArray<string>): Problem => {
  const names = services.map((key) => key.split("/").at(-1) ?? key)
  const made = definitionOf(agent).name
  return {
    title: `${made} needs ${names.length === 1 ? "a service" : "services"} that ${file} does not provide`,
    found: `Found the agent ${name}. Missing: ${listed(services)}.`,
    missing: services,
    paste: [
      `// serve.ts, for: kintsugi serve serve.ts`,
      `import { Layer } from "effect"`,
      `import { ${name === "default" ? "default as agent" : name === "agent" ? "agent" : `${name} as agent`} } from "./${file.split("/").at(-1)}"`,
      `import { ${names.join(", ")} } from "./services.ts"`,
      ``,
      `const layer = Layer.mergeAll(${names.map((service) => `Layer.succeed(${service}, { /* its functions */ })`).join(", ")})`,
      `export default { agent, layer }`,
      ``
    ].join("\n")
  }
}

/** The problem of a module that cannot be loaded, or whose layer cannot be built. */
export const notLoaded = (file: string, message: string): Problem => ({
  title: `${file} cannot be loaded`,
  found: message,
  missing: [],
  paste: `node ${file}`
})

/** The key of the service that a defect misses; `undefined` for any other defect. */
export const missingIn = (defect: unknown): string | undefined =>
  defect instanceof Error ? /^Service not found: (.+)$/m.exec(defect.message)?.[1]?.trim() : undefined
