/** Finds out whether a verdict may repeat a call. */
import * as Predicate from "effect/Predicate"
import type { Ask, Compact, Fix, Node, Retry } from "./Node.ts"

/** Whether a verdict may repeat the call. A ladder may if one of its rungs may; a handler always counts as such. */
export const isRepeating = (node: Node): boolean =>
  node.kind === "ladder" ? node.rungs.some(isRepeating) : ["retry", "fix", "ask", "compact", "when"].includes(node.kind)

/** The first repeating verdict. */
export const firstRepeat = (node: Node): Retry | Fix | Ask | Compact | undefined => {
  if (node.kind === "retry" || node.kind === "fix" || node.kind === "ask" || node.kind === "compact") return node
  return node.kind === "ladder" ? node.rungs.map(firstRepeat).find(Predicate.isNotUndefined) : undefined
}
