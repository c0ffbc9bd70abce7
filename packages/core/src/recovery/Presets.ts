/**
 * Whole tables for `Agent.toolDefaults`, after what other libraries do by themselves. They are plain values of the same
 * verdicts that every table is made of.
 */
import type * as Effect from "effect/Effect"
import * as Verdict from "./Verdict.ts"
import * as Render from "./Render.ts"
import type { UnknownToolError } from "../errors/ToolError.ts"

/** Agents.KT without a handler: every failure leaves the agent as itself, loudly. */
export const agentsKt = { orElse: Verdict.rethrow }

/** The C.W.K. lesson: every failure is told, labelled as transient or permanent. */
export const cwk = { orElse: Verdict.backstop(Verdict.tell()) }

/** The call that failed, as the model made it. */
export interface FailedCall {
  readonly name: string
  readonly id: string
  readonly arguments: unknown
}

/** How patient the preset of Kani is, and what the model reads. */
export interface KaniOptions<R = never> {
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
 * Kani's `full_round`: a failure is told, and the model may try again. When too many batches in a row had a failure, tools
 * are switched off, and the model has to answer in words. Never fails the run by itself: the breaker of repeated failures waits for three
 * failures more than `retryAttempts`, and what a nearer row gives up is told too. Each try is a turn of the budget.
 */
export const kani = <R = never>(options: KaniOptions<R> = {}) => {
  const { message, shouldRetry } = options
  const retryAttempts = wholeNumber("retryAttempts", options.retryAttempts ?? 1)
  const telling = <E>(byDefault: (error: E) => string) => {
    const render = (error: E, context: Verdict.FailureContext): string | Effect.Effect<string, unknown, R> => {
      const text = byDefault(error)
      return message === undefined ? text : message(callOf(context), error, context.failingBatches, text)
    }
    const goingOn = Verdict.telling(render, { then: "continue", byDefault })
    const last = Verdict.telling(render, { then: "tools-off", byDefault })
    const choose = Verdict.when(
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

const notDefined = ({ tool }: UnknownToolError): string =>
  `The function '${tool}' is not defined. Only use the provided functions.`

/** How patient the preset is. */
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
  const telling = <E>(render: (error: E, context: Verdict.FailureContext) => string) => {
    const tell = Verdict.tell((error: E, context) =>
      Render.triesLeft(render(error, context), retries - context.failuresInARow)
    )
    return Verdict.when((_error: E, { failuresInARow }) => (failuresInARow < retries ? tell : Verdict.raise), {
      among: [tell, Verdict.raise]
    })
  }
  return {
    orElse: telling(Render.labelled),
    UnknownToolError: telling(({ available: known, tool }: UnknownToolError) => Render.unknownTool(tool, known))
  }
}

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
