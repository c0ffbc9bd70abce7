/**
 * Marks what modules compute when they are loaded as free of side effects: of a file from which a program takes one name, a bundler then
 * leaves out the rest, schemas and classes of errors among it.
 *
 * `"sideEffects": false` lets a bundler leave out whole files only. The promise is the same: nothing happens when a module is loaded.
 * The build writes the marks, as that of Effect does, because each nested call needs one. Lines stay where they are, for source maps.
 */
import { parseAst } from "rolldown/parseAst"

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

const childrenOf = (node: object): ReadonlyArray<Node> => Object.values(node).flat().filter(isNode)

/** Functions: their bodies run later, if at all. */
const isLater = ({ type }: Node): boolean => type === "FunctionExpression" || type === "ArrowFunctionExpression"

const isCall = ({ type }: Node): boolean => type === "CallExpression" || type === "NewExpression"

/** The calls that a node makes when it is evaluated. */
const callsIn = (node: Node): ReadonlyArray<Node> =>
  isLater(node) ? [] : [...(isCall(node) ? [node] : []), ...childrenOf(node).flatMap(callsIn)]

/**
 * Whether a node does what a mark on its calls says nothing of: it reads a field, copies all of them, computes a key, or makes a text or
 * a number of a value. A bundler cannot know that this runs no code with side effects; Rolldown takes even `Schema.String` for it.
 */
const isOpaque = (node: Node): boolean => {
  const { computed, expressions, object, type } = node
  if (isLater(node)) return false
  if (type === "SpreadElement" || type === "BinaryExpression" || (type === "Property" && computed === true)) return true
  if (type === "TemplateLiteral" && [expressions].flat().length > 0) return true
  if (type === "MemberExpression" && isNode(object) && !isCall(object)) return true
  return childrenOf(node).some(isOpaque)
}

/** What a mark must not hide: it changes something, or is no part of a function. */
const impure = new Set(["AssignmentExpression", "UpdateExpression", "AwaitExpression"])

const impurityIn = (node: Node): Node | undefined => {
  if (isLater(node)) return undefined
  return impure.has(node.type)
    ? node
    : childrenOf(node)
        .map(impurityIn)
        .find((found) => found !== undefined)
}

type Insertions = ReadonlyArray<readonly [at: number, text: string]>

/** The insertions that let a bundler leave a value out. */
const insertions = (value: Node): Insertions => {
  if (isLater(value)) return []
  if (!isOpaque(value)) return callsIn(value).map(({ start }) => [start, mark])
  return [
    [value.start, `${mark}(() => (`],
    [value.end, "))()"]
  ]
}

/** What a statement computes: the values of its constants, or what its class extends. */
const valuesOf = ({ declaration, declarations, superClass, type }: Node): ReadonlyArray<Node> => {
  if (isNode(declaration)) return valuesOf(declaration)
  if (type === "ClassDeclaration") return [superClass].filter(isNode)
  return type === "VariableDeclaration" ? childrenOf({ declarations }).flatMap(({ init }) => [init].filter(isNode)) : []
}

/** A module with its marks. Statements that are evaluated for what they do stay as they are. */
export const marked = (source: string, lang: "js" | "ts" = "js"): string => {
  const values = childrenOf(parseAst(source, { lang })).flatMap(valuesOf)
  const marks = new Map(
    values.flatMap((value) => {
      const found = insertions(value)
      const refused = found.length === 0 ? undefined : impurityIn(value)
      if (refused === undefined) return found
      const text = source.slice(refused.start, refused.end)
      throw new Error(`A module must not do this when it is loaded, for a bundler may leave the value out: ${text}`)
    })
  )
  let from = 0
  let text = ""
  for (const [at, inserted] of [...marks].toSorted(([a], [b]) => a - b)) {
    text += source.slice(from, at) + inserted
    from = at
  }
  return text + source.slice(from)
}
