/** Whether something may start a tool with unsafe side effects: agents say so of themselves. */
import * as Predicate from "effect/Predicate"
import type { Node, Rows } from "../recovery/Node.ts"

/** Where an agent says whether a tool with unsafe side effects may be started by it. */
export const MayBeUnsafe: unique symbol = Symbol.for("~@kintsugi/core/MayBeUnsafe")

/** What does not say anything is taken to be safe. */
export const mayBeUnsafe = (value: unknown): boolean =>
  Predicate.hasProperty(value, MayBeUnsafe) && value[MayBeUnsafe] === true

/** Whether a row of these tables asks an agent that may. Of a `when` only what it names is known. */
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
    default:
      return false
  }
}
