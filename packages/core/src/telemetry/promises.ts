/** Metrics of approvals, returned messages, replaced or continued texts, and stored results. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import type * as AgentEvent from "../event/AgentEvent.ts"
import type * as Approval from "../data/Approval.ts"
import { quietly } from "../data/Foreign.ts"

/** `kintsugi.approval.duration`: seconds from the request to the person's decision, with the time of a suspension. */
const decided = Metric.histogram("kintsugi.approval.duration", {
  description: "Time that people took to decide about a call",
  // from one second to twelve days
  boundaries: Array.from({ length: 11 }, (_, index) => 4 ** index),
  attributes: { unit: "s" }
})

/** `kintsugi.approval.expired`: requests for which no decision came in time. */
const expired = Metric.counter("kintsugi.approval.expired", {
  description: "Requests that expired without a decision",
  incremental: true
})

/** `kintsugi.messages.returned`: messages that a run had not read at its end. */
const returned = Metric.counter("kintsugi.messages.returned", {
  description: "Messages that a run did not read",
  incremental: true
})

/** `kintsugi.text.discarded`: characters of streamed text that a later attempt or answer replaced. */
const discarded = Metric.counter("kintsugi.text.discarded", {
  description: "Characters that were shown and do not count",
  incremental: true,
  attributes: { unit: "{character}" }
})

/** `kintsugi.text.continued`: characters of broken-off replies that a later attempt continued. */
const continued = Metric.counter("kintsugi.text.continued", {
  description: "Characters of replies that broke off and went on",
  incremental: true,
  attributes: { unit: "{character}" }
})

/** `kintsugi.results.put_aside`: bytes of long results that were stored outside of the transcript. */
const putAside = Metric.counter("kintsugi.results.put_aside", {
  description: "Bytes of results that were put aside",
  incremental: true,
  attributes: { unit: "By" }
})

/** Makes a listener that counts the events of a tree of runs. */
export const promiseCounter = (context: Context.Context<never>): ((event: AgentEvent.AgentEvent) => void) => {
  const clock = Context.get(context, Clock.Clock)
  /** The open requests, by run and call. */
  const waiting = new Map<string, Approval.ApprovalRequest>()

  /** For each run, the characters of its present reply that are counted already. */
  const counted = new Map<string, number>()

  const hear = (event: AgentEvent.AgentEvent): void => {
    switch (event.type) {
      case "approval-requested":
        waiting.set(keyOf(event), event.request)
        return
      case "approval-decided": {
        const request = waiting.get(keyOf(event))
        // an approval by a grant has no request to a person
        if (request === undefined || event.by !== undefined) return
        waiting.delete(keyOf(event))
        const took = clock.currentTimeMillisUnsafe() - request.requestedAt
        return count(decided, took / 1000, context, { ...labelsOf(event), decision: event.decision.type })
      }
      case "approval-expired":
        waiting.delete(keyOf(event))
        return count(expired, 1, context, labelsOf(event))
      case "result-put-aside":
        return count(putAside, event.bytes, context, labelsOf(event))
      case "message-returned":
        return count(returned, 1, context, { "gen_ai.agent.name": event.agent })
      case "attempt-continued": {
        const more = event.kept.length - (counted.get(event.runId) ?? 0)
        counted.set(event.runId, event.kept.length)
        return more === 0 ? undefined : count(continued, more, context, { "gen_ai.agent.name": event.agent })
      }
      case "turn-end":
        counted.delete(event.runId)
        return
      case "attempt-discarded":
        counted.delete(event.runId)
        return count(discarded, event.text.length, context, { "gen_ai.agent.name": event.agent })
      case "tool-denied":
      case "tool-failed":
      case "tool-end":
      case "tool-skipped":
        waiting.delete(keyOf(event))
    }
  }
  return (event) => quietly(() => hear(event), undefined)
}

const keyOf = ({ callId, runId }: { readonly callId: string; readonly runId: string }): string => `${runId}/${callId}`

type Labels = Readonly<Record<string, string>>

const labelsOf = ({ agent, tool }: { readonly agent: string; readonly tool: string }): Labels => ({
  "gen_ai.tool.name": tool,
  "gen_ai.agent.name": agent
})

const count = <State>(
  metric: Metric.Metric<number, State>,
  value: number,
  context: Context.Context<never>,
  labels: Labels
): void => Metric.withAttributes(metric, labels).updateUnsafe(value, context)
