/**
 * Complete tables for `Agent.toolDefaults`, named after what they do. They are made of the same verdicts as every other table. `agentsKt`,
 * `cwk`, `tellModel` and `kani` are the same tables by the libraries that behave so by themselves.
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

/** The call that failed, as the model made it. */
export interface FailedCall {
  readonly name: string
  readonly id: string
  readonly arguments: unknown
}

/** How often `tellThenToolsOff` lets the model try, and what it tells. */
export interface ToolsOffOptions<R = never> {
  /** How many batches in a row may fail with tools still on, after the first; 1 by default. */
  readonly retryAttempts?: number
  /**
   * What the model reads. It changes the text and not the decision; `attempt` counts from 0. Where it fails or says nothing, the model
   * reads `byDefault`.
   */
  readonly message?: (
    call: FailedCall,
    error: unknown,
    attempt: number,
    byDefault: string
  ) => string | Effect.Effect<string, unknown, R>
  /** Whether another try is allowed, within the count; a no uses it up at once. Asked of unknown names as of failed calls. */
  readonly shouldRetry?: (call: FailedCall, error: unknown, attempt: number, byDefault: boolean) => boolean
}

/**
 * A failure is told, and the model may try again. When too many batches in a row had a failure, tools are switched off, and the model has
 * to answer in words. It never fails the run: the breaker of repeated failures waits for three failures more than `retryAttempts`, and a
 * failure that a nearer row gives up is told too. Each try is a turn of the budget.
 *
 * Source: Kani's `full_round`.
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
  /** How often in a row the model may try a tool again; 1 by default. */
  readonly retries?: number
}

/**
 * Every failure is told, with the number of tries that are left. A tool that fails once more than that in a row ends the run
 * as `ToolExecutionError`. All names that are no tool share one count.
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

/** `tellWithTries`, by its older name. */
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
