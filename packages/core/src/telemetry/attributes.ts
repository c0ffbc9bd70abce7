/**
 * The attributes of spans and metrics: names, counts, codes and decisions of events. They never contain the text of a user, a model or a
 * tool.
 */
import * as Duration from "effect/Duration"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import type * as Ledger from "../budget/Ledger.ts"
import type * as Message from "../data/Message.ts"
import { describe, labelsOf, tags } from "../errors/RecoveryAdvice.ts"
import * as Usage from "../data/Usage.ts"
import type { Ending, Terminal } from "./Operations.ts"

export type Attributes = Readonly<Record<string, unknown>>

/** For each event type, the function that makes its attributes. */
export type Table = {
  readonly [Type in AgentEvent.AgentEvent["type"]]?: (event: AgentEvent.OfType<Type>) => Attributes
}

/** The attributes of an event; `undefined` if the table has no function for its type. */
export const of = (table: Table, event: AgentEvent.AgentEvent): Attributes | undefined => {
  // the function under an event type takes the events of that type
  const attributesOf = table[event.type] as ((event: AgentEvent.AgentEvent) => Attributes) | undefined
  return attributesOf?.(event)
}

/** The attributes of operations, from the events that begin and end them. */
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
 * The facts that a reply states about its call. The conventions have names for the model and the id of a reply, and for OpenAI's service
 * tier (`openai.response.service_tier`, looked up on 2026-11-26). They have none for other service tiers, for the id of a request, and for
 * the provider's word for a finish reason.
 */
const ofFacts = (
  { model, rawFinish, requestId, responseId, serviceTier }: Message.Reply,
  provider: string
): Attributes => ({
  ...given("gen_ai.response.model", model),
  ...given("gen_ai.response.id", responseId),
  ...given(provider === "openai" ? "openai.response.service_tier" : "kintsugi.response.service_tier", serviceTier),
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

/** An attribute for a count of tokens; none if the count is zero, which may mean that the provider reports no such count. */
const positive = (key: string, count: number): Attributes => (count > 0 ? { [key]: count } : none)

const given = (key: string, value: unknown): Attributes => (value === undefined ? none : { [key]: value })

const none: Attributes = {}

const ofRun = ({ ledger, turn, usage }: Terminal): Attributes => ({
  ...ofUsage(usage),
  "kintsugi.turns": turn,
  ...given("kintsugi.cost", costOf(ledger))
})

/** The sum of all known costs; `undefined` if no cost is known. */
const costOf = (ledger: ReadonlyArray<Ledger.Entry>): number | undefined =>
  ledger.reduce<number | undefined>(
    (sum, { cost }) => (cost === undefined ? sum : Usage.sum(sum ?? 0, cost)),
    undefined
  )

/** The attributes of events within an operation. Events that only report progress are absent. */
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
  // this event belongs to one reader, and says nothing about the run
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

/** The class of the error with which an operation failed. */
export const errorType = (ending: Ending): string =>
  ending.error === undefined ? "_OTHER" : labelsOf(ending.error).code

export const ofError = (ending: Ending): Attributes => ({
  "error.type": errorType(ending),
  "kintsugi.retryable": labelsOf(ending.error).retryable
})

/** An error for an exporter, without stack and cause. */
export interface Report {
  readonly name: string
  readonly message: string
}

const titles: ReadonlyMap<string, string> = new Map(tags.map((tag) => [tag, describe(tag).title]))

/**
 * A safe report of an error. It has the title of an error of this library, and the code of any other error, because messages may contain
 * anything.
 */
export const reportOf = (ending: Ending): Report => {
  const { name } = ErrorCause.summarise(ending.error)
  return { name, message: titles.get(name) ?? errorType(ending) }
}
