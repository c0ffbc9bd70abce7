/** The syntax tree of a TypeScript source, for the checks that read sources. */
import { parseSync } from "rolldown/utils"

/** A node of the tree; what else it holds depends on its type. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value

/** A source as the parser reads it: with JSX if its path says so. It fails with a `SyntaxError` on text that is not TypeScript. */
export const parsed = (text: string, path = "source.ts") => {
  const { comments, errors, module, program } = parseSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new SyntaxError(`${error.message}${error.codeframe ?? ""}`)
  if (!isNode(program)) throw new Error("the parser gave no tree")
  const tree: Node = program
  return { comments, module, tree }
}

export const parse = (text: string, path?: string): Node => parsed(text, path).tree

/** The nodes in a field, whether it holds one, several or none. */
export const nodesIn = (node: Node, field: string): ReadonlyArray<Node> => [node[field]].flat().filter(isNode)

export const nodeIn = (node: Node, field: string): Node | undefined => nodesIn(node, field)[0]

export const textIn = (node: Node | undefined, field: string): string | undefined => {
  const value = node?.[field]
  return typeof value === "string" ? value : undefined
}

/** The nodes right below it. */
const childrenOf = (node: Node): ReadonlyArray<Node> => {
  const found: Array<Node> = []
  for (const value of Object.values(node)) {
    if (!Array.isArray(value)) {
      if (isNode(value)) found.push(value)
      continue
    }
    for (const child of value) if (isNode(child)) found.push(child)
  }
  return found
}

/** The node and all below it, parents first. */
export function* walk(node: Node): Generator<Node> {
  const left = [node]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    yield next
    left.push(...childrenOf(next).toReversed())
  }
}

/** One-based line of an offset. */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length
