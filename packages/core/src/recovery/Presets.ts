/**
 * Complete tables for `Agent.toolDefaults`, named after their behaviour. They consist of the same verdicts as every other table.
 * `agentsKt`, `cwk`, `tellModel` and `kani` are aliases, named after libraries that behave like these tables.
 */
import type * as Effect from "effect/Effect"
import { when } from "./ladder.ts"
import * as Verdict from "./Verdict.ts"
import * as Render from "./Render.ts"
import type { UnknownToolError } from "../errors/ToolError.ts"

/** Every failure leaves the agent as itself, as without a table. */
export const raiseAll = () => ({ orElse: Verdict.rethrow })

/** Agents.KT without a handler: `raiseAll`. */
export const agentsKt = raiseAll

/** The model reads every failure, labelled as transient or permanent. */
export const tellAll = () => ({ orElse: Verdict.backstop(Verdict.tell()) })

/** The C.W.K. lesson: `tellAll`. */
export const cwk = tellAll

/** A failed tool call, with the fields that the model sent. */
export interface FailedCall {
  readonly name: string
  readonly id: string
  readonly arguments: unknown
}

/** The options of `tellThenToolsOff`: how often the model may try again, and what it reads. */
export interface ToolsOffOptions<R = never> {
  /** The number of batches in a row that may fail, after the first, before tools are switched off; 1 by default. */
  readonly retryAttempts?: number
  /**
   * Writes the text that the model reads. It does not change the decision; `attempt` counts from 0. If it fails or returns nothing, the
   * model reads `byDefault`.
   */
  readonly message?: (
    call: FailedCall,
    error: unknown,
    attempt: number,
    byDefault: string
  ) => string | Effect.Effect<string, unknown, R>
  /** Whether the model may try again. It cannot raise `retryAttempts`; `false` uses up all tries. It also runs for unknown tool names. */
  readonly shouldRetry?: (call: FailedCall, error: unknown, attempt: number, byDefault: boolean) => boolean
}

/**
 * Tells each failure, and lets the model try again. After too many batches in a row with a failure, it switches tools off, so the model has
 * to answer in words. It never fails the run: the breaker of repeated failures waits for three failures more than `retryAttempts`, and
 * failures that a nearer row gave up are told too. Each try is a turn of the budget. The behaviour is that of Kani's `full_round`.
 */
export const tellThenToolsOff = <R = never>(options: ToolsOffOptions<R> = {}) => {
  const { message, shouldRetry } = options
  const retryAttempts = wholeNumber("retryAttempts", options.retryAttempts ?? 1)
  const telling = <E>(byDefault: (error: E) => string) => {
    const render = (error: E, context: Verdict.FailureContext): string | Effect.Effect<string, unknown, R> => {
      const text = byDefault(error)
      return message === undefined ? text : message(callOf(context), error, context.failingBatches, text)
    }
    const goingOn = Verdict.telling(render, { then: "continue", byDefault })
    const last = Verdict.telling(render, { then: "tools-off", byDefault })
    const choose = when(
      (error: E, context) => {
        const attempt = context.failingBatches
        return attempt < retryAttempts && (shouldRetry?.(callOf(context), error, attempt, true) ?? true)
          ? goingOn
          : last
      },
      { among: [goingOn, last] }
    )
    return Verdict.backstop(Verdict.patient(choose, retryAttempts))
  }
  return { orElse: telling(Render.plainly), UnknownToolError: telling(notDefined) }
}

/** Kani: `tellThenToolsOff`. */
export const kani = tellThenToolsOff

const notDefined = ({ tool }: UnknownToolError): string =>
  `The function '${tool}' is not defined. Only use the provided functions.`

/** How often `tellWithTries` lets the model try. */
export interface TriesOptions {
  /** How often in a row the model may call a tool again after a failure; 1 by default. */
  readonly retries?: number
}

/**
 * Tells each failure with the number of tries that are left. When a tool fails more than `retries` times in a row, the run ends with a
 * `ToolExecutionError`. All unknown tool names share one count.
 */
export const tellWithTries = (options: TriesOptions = {}) => {
  const retries = wholeNumber("retries", options.retries ?? 1)
  const telling = <E>(render: (error: E, context: Verdict.FailureContext) => string) => {
    const tell = Verdict.tell((error: E, context) =>
      Render.triesLeft(render(error, context), retries - context.failuresInARow)
    )
    return when((_error: E, { failuresInARow }) => (failuresInARow < retries ? tell : Verdict.raise), {
      among: [tell, Verdict.raise]
    })
  }
  return {
    orElse: telling(Render.labelled),
    UnknownToolError: telling(({ available, tool }: UnknownToolError) => Render.unknownTool(tool, available))
  }
}

/** An alias of `tellWithTries`, its older name. */
export const tellModel = tellWithTries

const callOf = ({ arguments: args, callId = "", tool = "" }: Verdict.FailureContext): FailedCall => ({
  name: tool,
  id: callId,
  arguments: args
})

const wholeNumber = (name: string, value: number): number => {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new RangeError(`Recovery.presets: ${name} must be a whole number of at least 0, got ${value}`)
}

export { type ModelOptions, resilientModel, resilientTools, type ToolOptions } from "./resilience.ts"
