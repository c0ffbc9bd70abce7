/** The limits of a budget, and how people and models read about them. */
import * as Schema from "effect/Schema"

/** Which limit of a budget a run has reached. */
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

const nouns: Readonly<Record<BudgetReason, string>> = {
  maxTurns: "turns",
  maxToolCalls: "tool calls",
  maxDuration: "milliseconds",
  maxTokens: "tokens",
  maxCost: "US dollars",
  maxConsecutiveSameTool: "calls of one tool in a row",
  maxDepth: "nested agents",
  repeatedFailure: "equal failures in a row",
  toolsOff: "calls with tools switched off"
}

/** The limit at which a run has answered in its last turn: see `Budget.answer`. */
export interface EndedBy {
  readonly reason: BudgetReason
  readonly limit: number
}

/** `its limit of 2 turns` */
export const limitOf = ({ limit, reason }: { readonly limit: number; readonly reason: BudgetReason }): string =>
  `its limit of ${limit} ${nouns[reason]}`
