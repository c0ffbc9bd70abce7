/** Whether a value may start a tool with unsafe side effects. Agents have a mark that says so. */
import * as Predicate from "effect/Predicate"
import type { Node, Rows } from "../recovery/Node.ts"

/** The key of the mark by which an agent says that it may start a tool with unsafe side effects. */
export const MayBeUnsafe: unique symbol = Symbol.for("~@kintsugi/core/MayBeUnsafe")

/** Whether a value has the mark that it may start an unsafe tool. A value without the mark counts as safe. */
export const mayBeUnsafe = (value: unknown): boolean =>
  Predicate.hasProperty(value, MayBeUnsafe) && value[MayBeUnsafe] === true

/** Whether a row of these tables runs an agent that may start an unsafe tool. Of a `when`, only the verdicts that it lists are known. */
export const areUnsafe = (...tables: ReadonlyArray<Rows>): boolean =>
  tables.some((rows) => [...rows.values()].some(asksUnsafe))

const asksUnsafe = (node: Node): boolean => {
  switch (node.kind) {
    case "fix":
      return mayBeUnsafe(node.fixer)
    case "compact":
      return mayBeUnsafe(node.compaction.agent)
    case "ladder":
      return node.rungs.some(asksUnsafe)
    case "when":
      return node.among?.some(asksUnsafe) ?? false
    // Mutant `default:` survives: `undefined` counts as `false`
    default:
      return false
  }
}
