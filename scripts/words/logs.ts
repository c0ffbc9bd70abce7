/** What a source logs, and the names of its spans and metrics. */
import { type Node, nodeIn, nodesIn, textIn, walk } from "../syntax.ts"
import { calleeOf, type Named } from "./names.ts"

/** Functions of Effect, as members of a module or by themselves, whose texts reach logs, traces or dashboards. */
const logging =
  /^(?:log(?:Trace|Debug|Info|Warning|Error|Fatal|WithLevel)?|annotate(?:Logs|Spans|CurrentSpan)|withLogSpan|(?:with|make|use|start)Span(?:Scoped)?|fn|fnUntraced)$/

/** Constructors of metrics; elsewhere these are ordinary names. */
const metrics = /^(?:counter|gauge|histogram|frequency|summary|timer)$/

const isLogging = (node: Node): boolean => {
  if (node.type !== "CallExpression") return false
  const callee = nodeIn(node, "callee")
  // what a curried function of these takes last is no text
  if (callee === undefined || callee.type === "CallExpression") return false
  const owner = textIn(nodeIn(callee, "object"), "name")
  const name = calleeOf(node)
  // logarithms are not logs
  return owner === "Metric" ? metrics.test(name) : owner !== "Math" && logging.test(name)
}

/** Texts in what is logged, also where a constant or a function of the source has them. */
export const loggedIn = (tree: Node): ReadonlyArray<Named> => {
  const declared = new Map<string, Node>()
  const logged: Array<Node> = []
  for (const node of walk(tree)) {
    const name = textIn(nodeIn(node, "id"), "name")
    const value = node.type === "VariableDeclarator" ? nodeIn(node, "init") : node
    if (name !== undefined && value !== undefined && !node.type.startsWith("TS")) declared.set(name, value)
    if (isLogging(node)) logged.push(...nodesIn(node, "arguments").filter(isMessage))
  }
  const texts = new Map<number, Named>()
  const seen = new Set<Node>()
  for (let next = logged.pop(); next !== undefined; next = logged.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    for (const node of walk(next)) {
      const text = textAt(node)
      if (text !== undefined) texts.set(node.start, { name: text, offset: node.start })
      const referred = node.type === "Identifier" ? declared.get(textIn(node, "name") ?? "") : undefined
      if (referred !== undefined) logged.push(referred)
    }
  }
  return [...texts.values()]
}

/** A function is what runs within a span, and no text of it. */
const isMessage = ({ type }: Node): boolean => !/Function/.test(type)

const textAt = (node: Node): string | undefined => {
  if (node.type === "Literal") return textIn(node, "value")
  const value = node.type === "TemplateElement" ? node["value"] : undefined
  return typeof value === "object" && value !== null && "raw" in value && typeof value.raw === "string"
    ? value.raw
    : undefined
}
