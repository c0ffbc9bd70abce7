/** Metrics of what a run promises beside its answer: people who decide, messages that are read, text that stays. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import type * as AgentEvent from "../event/AgentEvent.ts"
import type * as Approval from "../data/Approval.ts"
import { quietly } from "../data/Foreign.ts"

/** `kintsugi.approval.duration`: seconds from a request to the decision of a person that counts, also over a suspension. */
const decided = Metric.histogram("kintsugi.approval.duration", {
  description: "Time that people took to decide about a call",
  // from a second to more than a week
  boundaries: Array.from({ length: 11 }, (_, index) => 4 ** index),
  attributes: { unit: "s" }
})

/** `kintsugi.approval.expired`: requests for which no decision came in time. */
const expired = Metric.counter("kintsugi.approval.expired", {
  description: "Requests that expired without a decision",
  incremental: true
})

/** `kintsugi.messages.returned`: messages that were said to a run that ended before it had read them. */
const returned = Metric.counter("kintsugi.messages.returned", {
  description: "Messages that a run did not read",
  incremental: true
})

/** `kintsugi.text.discarded`: characters of streamed text that a later attempt or answer has replaced. */
const discarded = Metric.counter("kintsugi.text.discarded", {
  description: "Characters that were shown and do not count",
  incremental: true,
  attributes: { unit: "{character}" }
})

/** `kintsugi.text.continued`: characters of replies that broke off, from which a later attempt went on. */
const continued = Metric.counter("kintsugi.text.continued", {
  description: "Characters of replies that broke off and went on",
  incremental: true,
  attributes: { unit: "{character}" }
})

/** `kintsugi.results.put_aside`: bytes of results that the model reads in part. */
const putAside = Metric.counter("kintsugi.results.put_aside", {
  description: "Bytes of results that were put aside",
  incremental: true,
  attributes: { unit: "By" }
})

/** Hears the events of a tree of runs, and counts. */
export const promiseCounter = (context: Context.Context<never>): ((event: AgentEvent.AgentEvent) => void) => {
  const clock = Context.get(context, Clock.Clock)
  /** The requests without a decision, by run and call. */
  const waiting = new Map<string, Approval.ApprovalRequest>()

  /** How many characters of the present reply are counted, by run. */
  const counted = new Map<string, number>()

  const hear = (event: AgentEvent.AgentEvent): void => {
    switch (event.type) {
      case "approval-requested":
        waiting.set(keyOf(event), event.request)
        return
      case "approval-decided": {
        const request = waiting.get(keyOf(event))
        // a call that a grant admits has none
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
