/**
 * Marks what modules compute when they are loaded as free of side effects, in the JavaScript of a folder that is published: of a
 * module of which a program takes one name, a bundler then leaves out the rest, schemas and classes of errors among it.
 *
 *   node scripts/launch.mjs scripts/pure.ts packages/core/dist
 *
 * `"sideEffects": false` lets a bundler leave out whole modules only. The promise is the same: nothing happens when a module is loaded.
 * The build writes the marks, as that of Effect does, because each nested call needs one. Lines stay where they are, for source maps.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseAst } from "vitest/node"
import { pathsBelow } from "./files.ts"

const mark = "/*#__PURE__*/ "

/** A node of the syntax tree, by what all have. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

const below = (node: object): ReadonlyArray<Node> => Object.values(node).flat().filter(isNode)

/** What runs later, if at all. */
const isLater = ({ type }: Node): boolean => type === "FunctionExpression" || type === "ArrowFunctionExpression"

const isCall = ({ type }: Node): boolean => type === "CallExpression" || type === "NewExpression"

/** The calls that a node makes when it is evaluated. */
const callsIn = (node: Node): ReadonlyArray<Node> =>
  isLater(node) ? [] : [...(isCall(node) ? [node] : []), ...below(node).flatMap(callsIn)]

/**
 * Whether a node does what a mark on its calls says nothing of: it reads a field, copies all of them, computes a key, or makes a text or
 * a number of a value. For all that a bundler knows, that runs somebody's code.
 */
const isOpaque = (node: Node, namespaces: ReadonlySet<unknown>): boolean => {
  const { computed, expressions, object, type } = node
  if (isLater(node)) return false
  if (type === "SpreadElement" || type === "BinaryExpression" || (type === "Property" && computed === true)) return true
  if (type === "TemplateLiteral" && [expressions].flat().length > 0) return true
  const isOfNamespace = isNode(object) && object.type === "Identifier" && namespaces.has(object["name"])
  if (type === "MemberExpression" && isNode(object) && !isCall(object) && !isOfNamespace) return true
  return below(node).some((child) => isOpaque(child, namespaces))
}

/** What is inserted where, for a value to be one that may be left out. */
const insertions = (
  value: Node,
  namespaces: ReadonlySet<unknown>
): ReadonlyArray<readonly [at: number, text: string]> => {
  if (isLater(value)) return []
  if (!isOpaque(value, namespaces)) return callsIn(value).map(({ start }) => [start, mark])
  return [
    [value.start, `${mark}(() => (`],
    [value.end, "))()"]
  ]
}

/** What a statement computes: the values of its constants, or what its class extends. */
const valuesOf = ({ declaration, declarations, superClass, type }: Node): ReadonlyArray<Node> => {
  if (isNode(declaration)) return valuesOf(declaration)
  if (type === "ClassDeclaration") return [superClass].filter(isNode)
  return type === "VariableDeclaration" ? below({ declarations }).flatMap(({ init }) => [init].filter(isNode)) : []
}

/** A module with its marks. Statements that are evaluated for what they do stay as they are. */
export const marked = (source: string): string => {
  const statements = below(parseAst(source))
  const isNamespace = ({ type }: Node): boolean => type === "ImportNamespaceSpecifier"
  const locals = statements.flatMap(below).filter(isNamespace).flatMap(below)
  const namespaces = new Set(locals.map(({ name }) => name))
  const places = new Map(statements.flatMap(valuesOf).flatMap((value) => insertions(value, namespaces)))
  let from = 0
  let text = ""
  for (const [at, inserted] of [...places].toSorted(([a], [b]) => a - b)) {
    text += source.slice(from, at) + inserted
    from = at
  }
  return text + source.slice(from)
}

if (import.meta.main) {
  for (const folder of process.argv.slice(2).map((path) => resolve(path))) {
    for (const path of pathsBelow(folder).filter((path) => path.endsWith(".js"))) {
      writeFileSync(join(folder, path), marked(readFileSync(join(folder, path), "utf8")))
    }
  }
}
