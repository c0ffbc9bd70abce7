/** One run of a fixer around a failed call: what it reads, where it stands in the tree of runs, what its end means. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Interception from "../model/Interception.ts"
import * as Meter from "../budget/Meter.ts"
import * as Render from "../recovery/Render.ts"
import * as RunContext from "../event/RunContext.ts"
import { DeserializationError, EscalationError, ToolExecutionError } from "../errors/ToolError.ts"
import { type Fixed, type FixRound, untouchable } from "../recovery/Driver.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"
import { ReadsReport } from "./ReadsReport.ts"
import type { Fix } from "../recovery/Node.ts"

export interface Broken {
  readonly tool: ToolDefinition
  readonly callId: string
  readonly raw: string
  readonly run: RunContext.RunContext
  /** Takes an answer as the new arguments; gives the error of one that does not decode. */
  readonly accept: (answer: string) => Effect.Effect<unknown>
}

export const run = (rung: Fix, seen: unknown, round: FixRound, broken: Broken): Effect.Effect<Fixed> => {
  if (broken.run.fixers.includes(rung.fixer)) return Effect.succeed({ type: "skipped" })
  const input = inputOf(rung, seen, round, broken)
  const at = { callId: broken.callId, tool: broken.tool.name, round: round.run }
  const within: RunContext.RunContext = {
    ...broken.run,
    fixers: [...broken.run.fixers, rung.fixer],
    repairing: { error: seen, attempts: round.context.attempt }
  }
  const running = Effect.provideService(
    Interception.step(
      () => ({ kind: "fixer run", tool: at.tool, callId: at.callId, round: at.round }),
      () => rung.fixer(input)
    ),
    RunContext.Current,
    within
  )
  const ending = Effect.matchCauseEffect(running, {
    onSuccess: (answer) =>
      RunContext.emitThen(
        broken.run,
        () => ({ type: "fix-end", answer, ...at }),
        () => take(rung, answer, broken)
      ),
    onFailure: (cause) => {
      const passing = untouchable(cause)
      if (passing !== undefined) return Effect.failCause(passing)
      const error = Cause.squash(cause)
      // a limit of a run above was reached: nothing here recovers from that
      const fixed: Fixed =
        Meter.ownerAbove(error, broken.run.meter) === undefined ? ended(error) : { type: "fatal", error }
      return RunContext.emitThen(
        broken.run,
        () => ({ type: "fix-failed", error, ...at }),
        () => Effect.succeed(fixed)
      )
    }
  })
  return RunContext.emitThen(
    broken.run,
    () => ({ type: "fix-start", input, ...at }),
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
