/** One run of a fixer around a failed call: what it reads, and when its answer is taken. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Returned from "../data/Returned.ts"
import type { Broken, Fix, Fixed, FixRound } from "./Node.ts"
import { ReadsReport } from "./ReadsReport.ts"
import { untouchable } from "./Layer.ts"

export const run: Fix["run"] = (rung, seen, round, broken) => {
  const { ended, helping, take } = broken
  if (helping.isAtWork) return Effect.succeed({ type: "skipped" })
  const input = inputOf(rung, seen, round, broken)
  const ending = Effect.matchCauseEffect(
    helping.within(() => Returned.effect(rung.fixer(input), "The fixer of tool", broken.tool.name)),
    {
      onSuccess: (answer) =>
        helping.emitThen(
          () => ({ type: "fix-end", answer }),
          () => take(answer)
        ),
      onFailure: (cause) => {
        const passing = untouchable(cause)
        if (passing !== undefined) return Effect.failCause(passing)
        const error = Cause.squash(cause)
        const fixed: Fixed = ended(error)
        return helping.emitThen(
          () => ({ type: "fix-failed", error }),
          () => Effect.succeed(fixed)
        )
      }
    }
  )
  return helping.emitThen(
    () => ({ type: "fix-start", input }),
    () => ending
  )
}

const inputOf = (rung: Fix, seen: unknown, round: FixRound, broken: Broken): string => {
  if (rung.input !== undefined) return rung.input({ error: seen, context: round.context })
  const { fixer } = rung
  const isReader = Predicate.hasProperty(fixer, ReadsReport) && fixer[ReadsReport] === true
  return isReader ? report(rung, seen, round, broken) : broken.raw
}

/** What a model-driven fixer reads. */
const report = (rung: Fix, seen: unknown, round: FixRound, { messageOf, raw, tool }: Broken): string =>
  [
    `A call of tool '${tool.name}' failed.`,
    `Description: ${tool.description}`,
    `Arguments: ${raw}`,
    `JSON Schema of the arguments: ${JSON.stringify(tool.spec().parameters)}`,
    `Error: ${messageOf(seen)}`,
    `This is repair attempt ${round.run} of ${round.maxRuns}. Answer with ${wanted[rung.as]} and nothing else.`
  ].join("\n")

const wanted: Record<Fix["as"], string> = {
  arguments: "the corrected arguments as JSON",
  result: "the result that the tool should have given, as JSON or as plain text,"
}
