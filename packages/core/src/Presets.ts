/**
 * Whole tables for `Agent.toolDefaults`, after what other libraries do by themselves. They are plain values of the same
 * verdicts that every table is made of.
 */
import type * as Effect from "effect/Effect"
import * as ErrorCause from "./ErrorCause.ts"
import * as Recovery from "./Recovery.ts"
import * as Render from "./Render.ts"
import type { UnknownToolError } from "./ToolError.ts"

/** Agents.KT without a handler: every failure leaves the agent as itself, loudly. */
export const agentsKt = { orElse: Recovery.rethrow }

/** The C.W.K. lesson: every failure is told, labelled as transient or permanent. */
export const cwk = { orElse: Recovery.tell() }

/** The call that failed, as the model made it. */
export interface FailedCall {
  readonly name: string
  readonly id: string
  readonly arguments: unknown
}

export interface KaniOptions<R = never> {
  /** How many batches in a row may fail with tools still on, after the first; 1 by default. */
  readonly retryAttempts?: number
  /** What the model reads. It changes the text and not the decision; `attempt` counts from 0. */
  readonly message?: (
    call: FailedCall,
    error: unknown,
    attempt: number,
    byDefault: string
  ) => string | Effect.Effect<string, unknown, R>
  /** Whether another try is allowed, within the count; a no uses it up at once. Asked of failed calls only. */
  readonly shouldRetry?: (call: FailedCall, error: unknown, attempt: number, byDefault: boolean) => boolean
}

/**
 * Kani's `full_round`: a failure is told, and the model may try again. When too many batches in a row had a failure, tools
 * are switched off, and the model has to answer in words. Never fails the run by itself.
 */
export const kani = <R = never>(options: KaniOptions<R> = {}) => {
  const { message, shouldRetry } = options
  const retryAttempts = wholeNumber("retryAttempts", options.retryAttempts ?? 1)
  const telling = <E>(isAllowed: boolean, byDefault: (error: E) => string) =>
    Recovery.tell(
      (error: E, context): string | Effect.Effect<string, unknown, R> => {
        const text = byDefault(error)
        return message === undefined ? text : message(callOf(context), error, context.failingBatches, text)
      },
      { then: isAllowed ? "continue" : "tools-off" }
    )
  return {
    orElse: Recovery.when((error: unknown, context) => {
      const attempt = context.failingBatches
      const isWithin = attempt < retryAttempts
      return telling(
        isWithin && (shouldRetry?.(callOf(context), error, attempt, isWithin) ?? true),
        ErrorCause.sayingOf
      )
    }),
    UnknownToolError: Recovery.when((_error: UnknownToolError, { failingBatches }) =>
      telling(failingBatches < retryAttempts, notDefined)
    )
  }
}

const notDefined = ({ tool }: UnknownToolError): string =>
  `The function '${tool}' is not defined. Only use the provided functions.`

export interface TellModelOptions {
  /** How often in a row the model may try a tool again; 1 by default. */
  readonly retries?: number
}

/**
 * Every failure is told, with the number of tries that are left. A tool that fails once more than that in a row ends the run
 * as `ToolExecutionError`. All names that are no tool share one count.
 */
export const tellModel = (options: TellModelOptions = {}) => {
  const retries = wholeNumber("retries", options.retries ?? 1)
  return {
    orElse: Recovery.when((_error: unknown, { failuresInARow }) =>
      failuresInARow < retries
        ? Recovery.tell((error: unknown, context) =>
            Render.triesLeft(Render.labelled(error, context), retries - failuresInARow)
          )
        : Recovery.raise
    ),
    UnknownToolError: Recovery.when((_error: UnknownToolError, { failuresInARow }) =>
      failuresInARow < retries
        ? Recovery.tell(({ known, tool }: UnknownToolError) =>
            Render.triesLeft(Render.unknownTool(tool, known), retries - failuresInARow)
          )
        : Recovery.raise
    )
  }
}

const callOf = ({ arguments: args, callId = "", tool = "" }: Recovery.FailureContext): FailedCall => ({
  name: tool,
  id: callId,
  arguments: args
})

const wholeNumber = (name: string, value: number): number => {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new RangeError(`Recovery.presets: ${name} must be a whole number of at least 0, got ${value}`)
}
