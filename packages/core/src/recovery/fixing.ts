/** One run of a fixer around a failed call: what it reads, and what its end means. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Render from "./Render.ts"
import { DeserializationError, EscalationError, ToolExecutionError } from "../errors/ToolError.ts"
import type { Broken, Fix, Fixed, FixRound } from "./Node.ts"
import { ReadsReport } from "./ReadsReport.ts"
import { untouchable } from "./rules.ts"

export const run: Fix["run"] = (rung, seen, round, broken) => {
  const { helping } = broken
  if (helping.isAtWork) return Effect.succeed({ type: "skipped" })
  const input = inputOf(rung, seen, round, broken)
  const ending = Effect.matchCauseEffect(
    helping.within(() => rung.fixer(input)),
    {
      onSuccess: (answer) =>
        helping.emitThen(
          () => ({ type: "fix-end", answer }),
          () => take(rung, answer, broken)
        ),
      onFailure: (cause) => {
        const passing = untouchable(cause)
        if (passing !== undefined) return Effect.failCause(passing)
        const error = Cause.squash(cause)
        // a limit of a run above was reached: nothing here recovers from that
        const fixed: Fixed = helping.isLimit(error) ? { type: "fatal", error } : ended(error)
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

/** An escalation is told, a hard failure ends the call; anything else is one failed run. */
const ended = (error: unknown): Fixed => {
  if (error instanceof EscalationError) return { type: "escalated", reason: error.reason, severity: error.severity }
  if (error instanceof ToolExecutionError) return { type: "fatal", error }
  return { type: "failed", error }
}

const take = (rung: Fix, answer: string, broken: Broken): Effect.Effect<Fixed> => {
  if (rung.as === "result") {
    const decoded = broken.tool.decodeResult(answer)
    if (Result.isSuccess(decoded)) return Effect.succeed({ type: "answered", value: decoded.success })
    const { callId, tool } = broken
    const error = DeserializationError.misfit(
      `The answer of the fixer does not fit the result of tool '${tool.name}'`,
      {
        tool: tool.name,
        callId,
        rawValue: answer,
        targetType: `${tool.name} result`,
        issues: decoded.failure
      }
    )
    return Effect.succeed({ type: "failed", error, next: error })
  }
  return Effect.map(broken.accept(answer), (error): Fixed =>
    error === undefined ? { type: "repaired" } : { type: "failed", error, next: error }
  )
}

const inputOf = (rung: Fix, seen: unknown, round: FixRound, broken: Broken): string => {
  if (rung.input !== undefined) return rung.input({ error: seen, context: round.context })
  const { fixer } = rung
  const isReader = Predicate.hasProperty(fixer, ReadsReport) && fixer[ReadsReport] === true
  return isReader ? report(rung, seen, round, broken) : broken.raw
}

/** What a model-driven fixer reads. */
const report = (rung: Fix, seen: unknown, round: FixRound, { raw, tool }: Broken): string =>
  [
    `A call of tool '${tool.name}' failed.`,
    `Description: ${tool.description}`,
    `Arguments: ${raw}`,
    `JSON Schema of the arguments: ${JSON.stringify(tool.spec().parameters)}`,
    `Error: ${Render.messageOf(seen)}`,
    `This is repair attempt ${round.run} of ${round.maxRuns}. Answer with ${wanted[rung.as]} and nothing else.`
  ].join("\n")

const wanted: Record<Fix["as"], string> = {
  arguments: "the corrected arguments as JSON",
  result: "the result that the tool should have given, as JSON or as plain text,"
}
