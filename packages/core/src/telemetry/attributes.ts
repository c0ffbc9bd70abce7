/** What spans and metrics say of events: names, counts, codes and decisions, never the text of a user, a model or a tool. */
import * as Duration from "effect/Duration"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import type * as Ledger from "../budget/Ledger.ts"
import type * as Message from "../data/Message.ts"
import { describe, labelsOf, tags } from "../errors/RecoveryAdvice.ts"
import * as Usage from "../data/Usage.ts"
import type { Ending, Terminal } from "./Operations.ts"

export type Attributes = Readonly<Record<string, unknown>>

/** Attributes of events, by their types. */
export type Table = {
  readonly [Type in AgentEvent.AgentEvent["type"]]?: (event: AgentEvent.OfType<Type>) => Attributes
}

/** The attributes of an event; `undefined` for a type that the table does not have. */
export const of = (table: Table, event: AgentEvent.AgentEvent): Attributes | undefined => {
  // each function takes the events of the type at which it is
  const attributesOf = table[event.type] as ((event: AgentEvent.AgentEvent) => Attributes) | undefined
  return attributesOf?.(event)
}

/** The attributes of an operation, from the events of its beginning and its end. */
export const ofOperation: Table = {
  "run-start": ({ agent, parent, runId, startedIn }) => ({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": agent,
    "kintsugi.run.id": runId,
    ...given("kintsugi.parent.run.id", parent?.runId),
    ...given("kintsugi.started_in.run.id", startedIn?.runId)
  }),
  "model-start": ({ attempt, model, provider, turn }) => ({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": model,
    "kintsugi.turn": turn,
    "kintsugi.attempt": attempt
  }),
  "tool-start": ({ agent, callId, tool, turn }) => ({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.agent.name": agent,
    "gen_ai.tool.name": tool,
    "gen_ai.tool.call.id": callId,
    "gen_ai.tool.type": "function",
    "kintsugi.turn": turn
  }),
  "model-end": ({ entry, reply }) => ({
    ...ofEntry(entry),
    "gen_ai.response.finish_reasons": [finishReasons[reply.finish]],
    ...ofFacts(reply, entry.provider)
  }),
  "model-failed": ({ entry }) => ofEntry(entry),
  "tool-end": ({ use }) => ({
    "kintsugi.attempts": use.attempts,
    "kintsugi.settlement": use.settlement.kind,
    ...given("kintsugi.recovered_by", use.recoveredBy)
  }),
  "result-put-aside": ({ bytes, handle, tool }) => ({
    "gen_ai.tool.name": tool,
    "kintsugi.handle": handle,
    "kintsugi.bytes": bytes
  }),
  "result-cut": ({ error, tool }) => ({ "gen_ai.tool.name": tool, ...ofCode(error) }),
  "tool-denied": ({ settlement }) => ({ "kintsugi.settlement": settlement.kind }),
  "run-completed": (event) => ({
    ...ofRun(event),
    ...given("kintsugi.ended_by", event.endedBy?.reason),
    ...given("kintsugi.ended_by.limit", event.endedBy?.limit)
  }),
  "run-suspended": (event) => ofRun(event),
  "run-failed": (event) => ofRun(event),
  "run-interrupted": (event) => ofRun(event)
}

const finishReasons: Record<Message.FinishReason, string> = {
  stop: "stop",
  "tool-calls": "tool_call",
  length: "length",
  filtered: "content_filter",
  paused: "pause",
  other: "other"
}

/**
 * What a reply says about itself. The conventions have names for its id and its model; for a service tier only of OpenAI
 * (`openai.response.service_tier`, semantic conventions for GenAI, looked up on 2026-11-26); for the id of a request, and the word of a
 * provider for a finish reason, they have none.
 */
const ofFacts = (
  { model, rawFinish, requestId, responseId, serviceTier }: Message.Reply,
  provider: string
): Attributes => ({
  ...given("gen_ai.response.model", model),
  ...given("gen_ai.response.id", responseId),
  ...given(`${provider === "openai" ? "openai" : "kintsugi"}.response.service_tier`, serviceTier),
  ...given("kintsugi.response.raw_finish", rawFinish),
  ...given("kintsugi.request.id", requestId)
})

const ofEntry = ({ cost, isEstimated, outcome, purpose, usage }: Ledger.Entry): Attributes => ({
  ...ofUsage(usage),
  ...given("kintsugi.usage.estimated", isEstimated),
  "kintsugi.purpose": purpose,
  "kintsugi.ledger.outcome": outcome,
  ...given("kintsugi.cost", cost)
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

const given = (key: string, value: unknown): Attributes => (value === undefined ? {} : { [key]: value })

const ofRun = ({ ledger, turn, usage }: Terminal): Attributes => ({
  ...ofUsage(usage),
  "kintsugi.turns": turn,
  ...given("kintsugi.cost", costOf(ledger))
})

/** The sum of the costs that are known; nothing where none is. */
const costOf = (ledger: ReadonlyArray<Ledger.Entry>): number | undefined =>
  ledger.reduce<number | undefined>(
    (sum, { cost }) => (cost === undefined ? sum : Usage.sum(sum ?? 0, cost)),
    undefined
  )

/** What is noted of an event within an operation; nothing of those that say how far something is. */
export const ofNote: Table = {
  verdict: ({ attempt, delay, error, gaveUp, hint, layer, rung, verdict }) => ({
    ...ofCode(error),
    "kintsugi.layer": layer,
    "kintsugi.verdict": verdict,
    "kintsugi.gave_up": gaveUp,
    "kintsugi.rung": rung,
    "kintsugi.attempt": attempt,
    "kintsugi.delay_ms": Duration.toMillis(delay),
    ...given("kintsugi.hint_ms", hint && Duration.toMillis(hint))
  }),
  "tool-failed": ({ attempt, error }) => ({ ...ofCode(error), "kintsugi.attempt": attempt }),
  "fix-start": ({ repair }) => ({ "kintsugi.repair": repair }),
  "fix-end": ({ repair }) => ({ "kintsugi.repair": repair }),
  "fix-failed": ({ error, repair }) => ({ ...ofCode(error), "kintsugi.repair": repair }),
  "attempt-discarded": ({ attempt }) => ({ "kintsugi.attempt": attempt }),
  "attempt-continued": ({ attempt, kept }) => ({
    "kintsugi.attempt": attempt,
    "kintsugi.characters": kept.length
  }),
  compacted: ({ after, before, compaction }) => ({
    "kintsugi.compaction": compaction,
    "kintsugi.characters_before": before.characters,
    "kintsugi.characters_after": after.characters
  }),
  "not-compacted": ({ compaction, error, why }) => ({
    "kintsugi.compaction": compaction,
    "kintsugi.not_compacted": why,
    ...(error === undefined ? {} : ofCode(error))
  }),
  "arguments-coerced": ({ change }) => ({ "kintsugi.coercion": change.step }),
  "output-coerced": ({ change }) => ({ "kintsugi.coercion": change.step }),
  "output-rejected": ({ issues }) => ({ "kintsugi.issues": issues.length }),
  "approval-requested": () => ({}),
  "approval-expired": ({ callId, tool }) => ({ "gen_ai.tool.name": tool, "gen_ai.tool.call.id": callId }),
  "tool-waiting": ({ callId, tool }) => ({ "gen_ai.tool.name": tool, "gen_ai.tool.call.id": callId }),
  "tool-result": ({ callId, tool }) => ({ "gen_ai.tool.name": tool, "gen_ai.tool.call.id": callId }),
  "approval-decided": ({ by, decision }) => ({ "kintsugi.decision": decision.type, ...given("kintsugi.grant", by) }),
  "tool-denied": ({ callId, tool }) => ({ "gen_ai.tool.name": tool, "gen_ai.tool.call.id": callId }),
  "tool-changed": ({ action, server, tool }) => ({
    "gen_ai.tool.name": tool,
    "kintsugi.server": server,
    "kintsugi.change_action": action
  }),
  // for one reader, and none of the run
  "events-lost": () => ({}),
  "request-adapted": ({ changes, family }) => ({
    "kintsugi.family": family,
    "kintsugi.adapted": changes.map(({ option }) => option).join(", ")
  }),
  "parts-described": ({ callId, model, parts, tool }) => ({
    "gen_ai.tool.name": tool,
    "gen_ai.tool.call.id": callId,
    "gen_ai.request.model": model,
    "kintsugi.parts": parts.length
  }),
  "turn-prepared": ({ model, tools }) => ({
    ...given("gen_ai.request.model", model),
    ...given("kintsugi.turn.tools", tools?.join(", "))
  }),
  guardrail: ({ guard, side, verdict }) => ({
    "kintsugi.guardrail": guard,
    "kintsugi.guardrail.side": side,
    "kintsugi.guardrail.verdict": verdict
  }),
  "message-queued": ({ id }) => ({ "kintsugi.message": id }),
  "message-read": ({ id }) => ({ "kintsugi.message": id }),
  "message-returned": ({ id }) => ({ "kintsugi.message": id }),
  "budget-warning": (event) => ofLimit(event),
  "budget-exceeded": (event) => ({ ...ofLimit(event), "kintsugi.limit.action": event.action }),
  "skill-chosen": ({ by, skill }) => ({ "kintsugi.skill": skill, "kintsugi.chosen_by": by })
}

const ofLimit = ({ limit, reason, spent }: AgentEvent.OfType<"budget-warning" | "budget-exceeded">): Attributes => ({
  "kintsugi.limit": reason,
  "kintsugi.limit.spent": spent,
  "kintsugi.limit.value": limit
})

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
