/** What spans and metrics say of events: names, counts, codes and decisions, never what somebody has written. */
import * as Duration from "effect/Duration"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import type * as Ledger from "../budget/Ledger.ts"
import type * as Message from "../data/Message.ts"
import { describe, labelsOf, tags } from "../errors/RecoveryAdvice.ts"
import * as Usage from "../data/Usage.ts"
import type { Beginning, Ending } from "./Operations.ts"

export type Attributes = Readonly<Record<string, unknown>>

export const ofBeginning = (event: Beginning): Attributes => {
  switch (event.type) {
    case "run-start":
      return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": event.agent,
        "kintsugi.run.id": event.runId,
        ...(event.parent === undefined ? {} : { "kintsugi.parent.run.id": event.parent.runId })
      }
    case "model-start":
      return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": event.provider,
        "gen_ai.request.model": event.model,
        "kintsugi.turn": event.turn,
        "kintsugi.attempt": event.attempt
      }
    case "tool-start":
      return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.agent.name": event.agent,
        "gen_ai.tool.name": event.tool,
        "gen_ai.tool.call.id": event.callId,
        "gen_ai.tool.type": "function",
        "kintsugi.turn": event.turn
      }
  }
}

/** What is known of an operation by the event of its end. */
export const ofEnd = (event: AgentEvent.AgentEvent): Attributes => {
  switch (event.type) {
    case "model-end": {
      const { finish, model } = event.reply
      return {
        ...ofEntry(event.spent),
        "gen_ai.response.finish_reasons": [finishReasons[finish]],
        ...(model === undefined ? {} : { "gen_ai.response.model": model })
      }
    }
    case "model-failed":
      return ofEntry(event.spent)
    case "tool-end": {
      const { attempts, recoveredBy, settlement } = event.use
      return {
        "kintsugi.attempts": attempts,
        "kintsugi.settlement": settlement.kind,
        ...(recoveredBy === undefined ? {} : { "kintsugi.recovered_by": recoveredBy })
      }
    }
    case "tool-refused":
      return { "kintsugi.settlement": event.settlement.kind }
    case "run-completed":
    case "run-suspended":
    case "run-failed":
    case "run-interrupted":
      return { ...ofUsage(event.usage), "kintsugi.turns": event.turn, ...ofCost(costOf(event.ledger)) }
    default:
      return {}
  }
}

const finishReasons: Record<Message.FinishReason, string> = {
  stop: "stop",
  "tool-calls": "tool_call",
  length: "length",
  filtered: "content_filter",
  paused: "pause",
  other: "other"
}

const ofEntry = ({ cost, isEstimated, layer, outcome, usage }: Ledger.Entry): Attributes => ({
  ...ofUsage(usage),
  ...(isEstimated === undefined ? {} : { "kintsugi.usage.estimated": isEstimated }),
  "kintsugi.layer": layer,
  "kintsugi.ledger.outcome": outcome,
  ...ofCost(cost)
})

const ofUsage = (usage: Usage.Usage): Attributes => ({
  "gen_ai.usage.input_tokens": usage.inputTokens,
  "gen_ai.usage.output_tokens": usage.outputTokens,
  ...positive("gen_ai.usage.cache_read.input_tokens", usage.cachedInputTokens),
  ...positive("gen_ai.usage.cache_creation.input_tokens", usage.cacheWriteTokens),
  ...positive("gen_ai.usage.reasoning.output_tokens", usage.reasoningTokens)
})

/** A provider that reports no such tokens counts as zero. */
const positive = (key: string, count: number): Attributes => (count > 0 ? { [key]: count } : {})

const ofCost = (cost: number | undefined): Attributes => (cost === undefined ? {} : { "kintsugi.cost": cost })

/** The sum of the costs that are known; nothing where none is. */
const costOf = (ledger: ReadonlyArray<Ledger.Entry>): number | undefined =>
  ledger.reduce<number | undefined>(
    (sum, { cost }) => (cost === undefined ? sum : Usage.sum(sum ?? 0, cost)),
    undefined
  )

/** What is noted of an event within an operation; nothing of those that say how far something is. */
export const ofNote = (event: AgentEvent.AgentEvent): Attributes | undefined => {
  switch (event.type) {
    case "verdict":
      return {
        ...ofCode(event.error),
        "kintsugi.layer": event.layer,
        "kintsugi.verdict": event.verdict,
        "kintsugi.gave_up": event.gaveUp,
        "kintsugi.rung": event.rung,
        "kintsugi.attempt": event.attempt,
        "kintsugi.delay_ms": Duration.toMillis(event.delay),
        ...(event.hint === undefined ? {} : { "kintsugi.hint_ms": Duration.toMillis(event.hint) })
      }
    case "tool-failed":
      return { ...ofCode(event.error), "kintsugi.attempt": event.attempt }
    case "fix-start":
    case "fix-end":
      return { "kintsugi.round": event.round }
    case "fix-failed":
      return { ...ofCode(event.error), "kintsugi.round": event.round }
    case "attempt-discarded":
      return { "kintsugi.attempt": event.attempt }
    case "compacted":
      return {
        "kintsugi.compaction": event.compaction,
        "kintsugi.characters_before": event.before.characters,
        "kintsugi.characters_after": event.after.characters
      }
    case "arguments-coerced":
    case "output-coerced":
      return { "kintsugi.coercion": event.change.step }
    case "output-rejected":
      return { "kintsugi.issues": event.issues.length }
    case "approval-requested":
      return {}
    case "approval-decided":
      return { "kintsugi.decision": event.decision.type }
    case "tool-refused":
      return { "gen_ai.tool.name": event.tool, "gen_ai.tool.call.id": event.callId }
    case "budget-warning":
      return {
        "kintsugi.limit": event.reason,
        "kintsugi.limit.spent": event.spent,
        "kintsugi.limit.value": event.limit
      }
    case "budget-exceeded":
      return {
        "kintsugi.limit": event.reason,
        "kintsugi.limit.spent": event.spent,
        "kintsugi.limit.value": event.limit,
        "kintsugi.decision": event.decision
      }
    case "skill-chosen":
      return { "kintsugi.skill": event.skill, "kintsugi.chosen_by": event.by }
    default:
      return undefined
  }
}

const ofCode = (error: unknown): Attributes => ({ "kintsugi.code": labelsOf(error).code })

/** The class of the error that an operation has failed with. */
export const errorType = (ending: Ending): string =>
  ending.error === undefined ? "_OTHER" : labelsOf(ending.error).code

export const ofError = (ending: Ending): Attributes => ({
  "error.type": errorType(ending),
  "kintsugi.retryable": labelsOf(ending.error).retryable
})

/** An error as an exporter may show it, with no stack and no cause. */
export interface Report {
  readonly name: string
  readonly message: string
}

const titles: ReadonlyMap<string, string> = new Map(tags.map((tag) => [tag, describe(tag).title]))

/** Of an error of ours its title, of any other no more than its code: what errors say may be anything. */
export const reportOf = (ending: Ending): Report => {
  const { name } = ErrorCause.summarise(ending.error)
  return { name, message: titles.get(name) ?? errorType(ending) }
}
