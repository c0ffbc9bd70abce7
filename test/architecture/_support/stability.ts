/** Reads the `@stability` tags of a source of Effect. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { entriesOf } from "../../../scripts/exports.ts"
import { root } from "../../../scripts/files.ts"
import { type StabilityOf } from "./checks.ts"

/**
 * The stability of each export of a source. A name that is declared more than once, as a type and as a value, is stable only
 * if none of its tags says otherwise.
 */
export const stabilities = (text: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const { comments, name = "" } of entriesOf(text)) {
    const [tag] = comments.flatMap((comment) => /@stability (\w+)/.exec(comment)?.[1] ?? [])
    const before = found.get(name)
    if (tag === undefined) found.set(name, before ?? "untagged")
    else if (before === undefined || before === "untagged" || before === "stable") found.set(name, tag)
  }
  return found
}

/** Reads the sources of the installed Effect, each once. */
export const installedEffect = (): StabilityOf => {
  const modules = new Map<string, ReadonlyMap<string, string>>()
  return (module, name) => {
    const path = join(root, "node_modules/effect/src", `${module.slice("effect/".length)}.ts`)
    const ofModule = modules.get(module) ?? (existsSync(path) ? stabilities(readFileSync(path, "utf8")) : new Map())
    modules.set(module, ofModule)
    return ofModule.get(name)
  }
}
