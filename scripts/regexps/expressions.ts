/** The regular expressions of TypeScript sources, as a parser finds them: literals, and what `new RegExp` is given. */
import type { File } from "../files.ts"
import { declaredBy } from "../exports.ts"
import { lineAt, type Node, nodeIn, nodesIn, parse, textIn, walk } from "../syntax.ts"

/** One expression, and its locations. */
export interface Expression {
  readonly source: string
  readonly flags: string
  /** Each as `path:line`. */
  readonly locations: ReadonlyArray<string>
}

export interface Found {
  readonly expressions: ReadonlyArray<Expression>
  /** Expressions whose source cannot be read here. */
  readonly violations: ReadonlyArray<string>
}

/** Whether the function of this name, declared at the top of this file, may build expressions of words that it escapes. */
export type MayBuild = (path: string, name: string) => boolean

interface Reading {
  readonly constants: ReadonlyMap<string, Node>
  readonly at: (node: Node) => string
}

/** Every expression of the files, each once. */
export const expressionsIn = (files: ReadonlyArray<File>, mayBuild: MayBuild): Found => {
  const expressions = new Map<string, { source: string; flags: string; locations: Array<string> }>()
  const violations: Array<string> = []
  const add = (source: string, flags: string, location: string) => {
    const key = write({ source, flags })
    const existing = expressions.get(key)
    if (existing === undefined) expressions.set(key, { source, flags, locations: [location] })
    else existing.locations.push(location)
  }
  for (const { path, text } of files) {
    const tree = parse(text)
    const declared = nodesIn(tree, "body").flatMap(declaredBy)
    const constants = new Map(
      declared.flatMap(([, declaration]) =>
        declaration.type === "VariableDeclaration" && textIn(declaration, "kind") === "const"
          ? nodesIn(declaration, "declarations").flatMap((one) => {
              const [name, init] = [textIn(nodeIn(one, "id"), "name"), nodeIn(one, "init")]
              return name === undefined || init === undefined ? [] : [[name, init] as const]
            })
          : []
      )
    )
    const at = ({ start }: Node) => `${path}:${lineAt(text, start)}`
    const isWithinBuilder = ({ end, start }: Node): boolean =>
      declared.some(
        ([name, declaration]) => declaration.start <= start && end <= declaration.end && mayBuild(path, name)
      )
    const called = new Set<Node>()
    for (const node of walk(tree)) {
      const literal = literalOf(node)
      if (literal !== undefined) add(literal.source, literal.flags, at(node))
      const callee = nodeIn(node, "callee")
      if (callee !== undefined && isRegExp(callee)) {
        called.add(callee)
        const [first, second] = nodesIn(node, "arguments")
        const [source, flags] = [
          first && sourceOf(first, { constants, at }),
          second && sourceOf(second, { constants, at })
        ]
        if (source !== undefined && (second === undefined || flags !== undefined)) add(source, flags ?? "", at(node))
        else if (!isWithinBuilder(node)) {
          violations.push(`${at(node)} builds an expression: write a literal, or constants of this file`)
        }
      } else if (isRegExp(node) && !called.has(node) && !isTested(tree, node)) {
        violations.push(`${at(node)} uses RegExp as a value: call it`)
      } else if (isImplicit(node)) {
        violations.push(`${at(node)} makes an expression of a text: write a literal`)
      }
    }
  }
  return { expressions: [...expressions.values()], violations }
}

/** How an expression stands in a source. */
export const write = ({ flags, source }: Pick<Expression, "source" | "flags">): string => `/${source}/${flags}`

const isRegExp = (node: Node): boolean => node.type === "Identifier" && textIn(node, "name") === "RegExp"

const literalOf = (node: Node): Pick<Expression, "source" | "flags"> | undefined => {
  const { regex } = node
  if (node.type !== "Literal" || typeof regex !== "object" || regex === null) return undefined
  if (!("pattern" in regex) || !("flags" in regex)) return undefined
  return { source: String(regex.pattern), flags: String(regex.flags) }
}

/** `x instanceof RegExp` makes none, and a type is none. */
const isTested = (tree: Node, node: Node): boolean => {
  for (const other of walk(tree)) {
    if (other.type === "BinaryExpression" && nodeIn(other, "right") === node) return true
    if (other.type === "TSTypeReference" && nodeIn(other, "typeName") === node) return true
  }
  return false
}

const takers = new Set(["match", "matchAll", "search"])

/** A method of texts that makes an expression of a text that it is given. */
const isImplicit = (node: Node): boolean => {
  if (node.type !== "CallExpression") return false
  const name = textIn(nodeIn(nodeIn(node, "callee") ?? node, "property"), "name")
  const [first] = nodesIn(node, "arguments")
  return takers.has(name ?? "") && first !== undefined && isText(first)
}

const isText = (node: Node): boolean =>
  node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node["value"] === "string")

/** The text that a node says, of literals and constants; `undefined` where that is not certain. */
const sourceOf = (node: Node, reading: Reading): string | undefined => {
  if (node.type === "Literal") return textIn(node, "value")
  if (node.type === "Identifier") {
    const init = reading.constants.get(textIn(node, "name") ?? "")
    return init === undefined ? undefined : sourceOf(init, reading)
  }
  if (node.type === "BinaryExpression" && textIn(node, "operator") === "+") {
    return joined([nodeIn(node, "left"), nodeIn(node, "right")], reading)
  }
  if (node.type !== "TemplateLiteral") return undefined
  const inner = joined(nodesIn(node, "expressions"), reading, nodesIn(node, "quasis").map(cooked))
  return inner
}

/** What the nodes say one after the other, each behind one of the texts. */
const joined = (
  nodes: ReadonlyArray<Node | undefined>,
  reading: Reading,
  between: ReadonlyArray<string | undefined> = []
): string | undefined => {
  let text = between[0] ?? ""
  for (const [index, node] of nodes.entries()) {
    const said = node === undefined ? undefined : sourceOf(node, reading)
    if (said === undefined) return undefined
    text += said + (between[index + 1] ?? "")
  }
  return text
}

const cooked = (quasi: Node): string | undefined => {
  const { value } = quasi
  return typeof value === "object" && value !== null && "cooked" in value ? String(value.cooked) : undefined
}
