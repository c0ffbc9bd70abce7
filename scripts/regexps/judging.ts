/** Whether the time that a regular expression takes is linear in the length of a text, as `recheck` judges it. */
import { checkSync } from "recheck"
import type { Expression } from "./expressions.ts"

/** The part in JavaScript: no Java, no program that an installation brings. It is read at each call. */
process.env["RECHECK_SYNC_BACKEND"] = "pure"

/** How long one expression may take to be judged: what takes longer is not understood, on a machine twice as fast or slow. */
const timeout = 60_000

/** Why an expression is refused; `undefined` for one that is linear. */
export const refusalOf = ({ flags, source }: Pick<Expression, "source" | "flags">): string | undefined => {
  const verdict = checkSync(source, flags, { timeout })
  if (verdict.status === "safe") return undefined
  if (verdict.status === "unknown") return `not understood (${verdict.error.kind}): split it or make it simpler`
  const { attack, complexity } = verdict
  return `${complexity.summary}, for example on ${shown(attack.pattern)}`
}

const shown = (attack: string): string => (attack.length <= 120 ? attack : `${attack.slice(0, 119)}…`)
