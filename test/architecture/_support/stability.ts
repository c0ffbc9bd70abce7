/** Reads the `@stability` tags of a source of Effect. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { type Node, nodeIn, nodesIn, parse, textIn } from "../../../scripts/syntax.ts"
import { type StabilityOf } from "./checks.ts"

/** The tag in the doc comment that ends where the node begins. */
const tagBefore = (text: string, node: Node): string | undefined => {
  const before = text.slice(0, node.start).trimEnd()
  if (!before.endsWith("*/")) return undefined
  return /@stability (\w+)/.exec(before.slice(before.lastIndexOf("/**")))?.[1]
}

const nameOf = (node: Node | undefined): string => textIn(node, "name") ?? textIn(node, "value") ?? ""

/** The names that one export statement exports, each with its own tag. */
const exportsOf = (text: string, statement: Node): ReadonlyArray<readonly [string, string | undefined]> => {
  const declaration = nodeIn(statement, "declaration")
  if (declaration !== undefined) {
    const named = declaration.type === "VariableDeclaration" ? nodesIn(declaration, "declarations") : [declaration]
    return named.map((node) => [nameOf(nodeIn(node, "id")), tagBefore(text, statement)])
  }
  if (statement.type === "ExportAllDeclaration") {
    return [[nameOf(nodeIn(statement, "exported")), tagBefore(text, statement)]]
  }
  return nodesIn(statement, "specifiers").map((node) => [
    nameOf(nodeIn(node, "exported")),
    tagBefore(text, node) ?? tagBefore(text, statement)
  ])
}

/**
 * The stability of each export of a source. A name that is declared more than once, as a type and as a value, is stable only
 * if none of its tags says otherwise.
 */
export const stabilities = (text: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const statement of nodesIn(parse(text), "body")) {
    if (!statement.type.startsWith("Export")) continue
    for (const [name, tag] of exportsOf(text, statement)) {
      const known = found.get(name)
      if (tag === undefined) found.set(name, known ?? "untagged")
      else if (known === undefined || known === "untagged" || known === "stable") found.set(name, tag)
    }
  }
  return found
}

/** Reads the sources of the installed Effect, each once. */
export const installedEffect = (): StabilityOf => {
  const modules = new Map<string, ReadonlyMap<string, string>>()
  return (module, name) => {
    const path = join(root, "node_modules/effect/src", `${module.slice("effect/".length)}.ts`)
    const known = modules.get(module) ?? (existsSync(path) ? stabilities(readFileSync(path, "utf8")) : new Map())
    modules.set(module, known)
    return known.get(name)
  }
}
