/** How a run can end besides its answer and the failures of its model and tools. */
import * as Schema from "effect/Schema"
import * as Issue from "./Issue.ts"
import * as Message from "./Message.ts"
import { advised, type RecoveryAdvice } from "./RecoveryAdvice.ts"
import * as Usage from "./Usage.ts"

/** Which limit of a budget was reached. */
export type BudgetReason = typeof BudgetReason.Type

export const BudgetReason = Schema.Literals([
  "maxTurns",
  "maxToolCalls",
  "maxDuration",
  "maxTokens",
  "maxCost",
  "maxConsecutiveSameTool",
  "maxDepth",
  "repeatedFailure",
  "toolsOff"
])

const noun: Record<BudgetReason, string> = {
  maxTurns: "turns",
  maxToolCalls: "tool calls",
  maxDuration: "milliseconds",
  maxTokens: "tokens",
  maxCost: "cost",
  maxConsecutiveSameTool: "calls of one tool in a row",
  maxDepth: "nested agents",
  repeatedFailure: "equal failures in a row",
  toolsOff: "calls with tools switched off"
}

/** The run reached a limit of its budget. Nothing is lost: transcript, usage and the last text come along. */
export class BudgetExceededError extends advised(
  "BudgetExceededError",
  Schema.TaggedError<BudgetExceededError, RecoveryAdvice>()("BudgetExceededError", {
    message: Schema.String,
    agent: Schema.String,
    reason: BudgetReason,
    limit: Schema.Finite,
    spent: Schema.Finite,
    transcript: Message.Transcript,
    usage: Usage.Usage,
    /** The text of the last reply; empty when there was none. */
    partial: Schema.String
  })
) {
  static exceeded(fields: {
    readonly agent: string
    readonly reason: BudgetReason
    readonly limit: number
    readonly spent: number
    readonly transcript: Message.Transcript
    readonly usage: Usage.Usage
    readonly partial: string
  }): BudgetExceededError {
    return new BudgetExceededError({
      ...fields,
      message: `Agent '${fields.agent}' reached its limit of ${fields.limit} ${noun[fields.reason]} (${fields.reason})`
    })
  }
}

/** The final text never fitted the agent's output schema. */
export class InvalidOutputError extends advised(
  "InvalidOutputError",
  Schema.TaggedError<InvalidOutputError, RecoveryAdvice>()("InvalidOutputError", {
    message: Schema.String,
    agent: Schema.String,
    text: Schema.String,
    issues: Schema.Array(Issue.Issue)
  })
) {}

/** No skill could be chosen for the input. */
export class RoutingError extends advised(
  "RoutingError",
  Schema.TaggedError<RoutingError, RecoveryAdvice>()("RoutingError", {
    message: Schema.String,
    agent: Schema.String,
    candidates: Schema.Array(Schema.String),
    answer: Schema.String
  })
) {}

/** A loop used up its iterations without an accepted output. */
export class LoopExhaustedError extends advised(
  "LoopExhaustedError",
  Schema.TaggedError<LoopExhaustedError, RecoveryAdvice>()("LoopExhaustedError", {
    message: Schema.String,
    iterations: Schema.Finite,
    /** The last output, where it can be written as JSON. */
    last: Schema.Json
  })
) {}

export type RunError = BudgetExceededError | InvalidOutputError | RoutingError | LoopExhaustedError

export const RunError = Schema.Union([BudgetExceededError, InvalidOutputError, RoutingError, LoopExhaustedError])

export const isRunError: (value: unknown) => value is RunError = Schema.is(RunError)
