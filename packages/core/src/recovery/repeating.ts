/** Which verdicts run something again. */
import * as Predicate from "effect/Predicate"
import type { Compact, Fix, Node, Retry } from "./Node.ts"

/** Whether a verdict may run something again; a ladder may by its rungs, and what a handler chooses is not known. */
export const isRepeating = (node: Node): boolean =>
  node.kind === "ladder" ? node.rungs.some(isRepeating) : ["retry", "fix", "compact", "when"].includes(node.kind)

/** What would run something again first. */
export const firstRepeat = (node: Node): Retry | Fix | Compact | undefined => {
  if (node.kind === "retry" || node.kind === "fix" || node.kind === "compact") return node
  return node.kind === "ladder" ? node.rungs.map(firstRepeat).find(Predicate.isNotUndefined) : undefined
}
