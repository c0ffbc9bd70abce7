/**
 * The metrics of runs: durations, tokens and costs by the GenAI conventions of OpenTelemetry, and counts of errors, verdicts and blocked
 * texts.
 */
import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import type * as AgentEvent from "../event/AgentEvent.ts"
import { labelsOf } from "../errors/RecoveryAdvice.ts"
import { errorType } from "./attributes.ts"
import type { Beginning, Ending, Watcher } from "./Operations.ts"

const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]

const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })

/** Makes a histogram of seconds. Effect's exporters read the unit of a metric from its attribute `unit`. */
const duration = (name: string, description: string, boundaries: ReadonlyArray<number> = seconds) =>
  Metric.histogram(name, { description, boundaries, attributes: { unit: "s" } })

/**
 * Counts each error that left a run once, with the attributes `code` and `retryable`. An error that passes unchanged from a run to its
 * parent counts once. Completions, suspensions and interruptions do not count.
 */
const errors = counter("kintsugi.errors", "Errors that left a run")

/** Counts the decisions of recovery policies, with the attributes `layer`, `verdict`, `gave_up` and `code`. */
const verdicts = counter("kintsugi.verdicts", "Decisions of recovery policies")

/** Counts the texts that guardrails have blocked, with the attributes `guardrail` and `side`. */
const blocks = counter("kintsugi.guardrail.blocks", "Texts that guardrails have blocked")

/** Adds up the costs of model calls, if the budget knows their prices. */
const cost = counter("kintsugi.cost", "Cost of model calls, where prices are known")

/** `gen_ai.client.token.usage`: tokens of each attempt of a model call; `gen_ai.token.type` is `input` or `output`. */
const tokens = Metric.histogram("gen_ai.client.token.usage", {
  description: "Tokens of model calls",
  boundaries: Array.from({ length: 14 }, (_, index) => 4 ** index),
  attributes: { unit: "{token}" }
})

/** `gen_ai.client.operation.duration`: the duration of each attempt of a model call, in seconds. */
const modelDuration = duration("gen_ai.client.operation.duration", "Duration of attempts of model calls")

/** `gen_ai.execute_tool.duration`: the duration of tool calls with their retries and repairs, in seconds. */
const toolDuration = duration("gen_ai.execute_tool.duration", "Duration of tool calls, recovery included")

/** `gen_ai.invoke_agent.duration`: the duration of runs, in seconds. */
const agentDuration = duration(
  "gen_ai.invoke_agent.duration",
  "Duration of runs",
  seconds.slice(0, 13).map((_, index) => 0.1 * 2 ** index)
)

interface Operation {
  readonly event: Beginning
  readonly began: bigint
  readonly context: Context.Context<never>
}

export const watcher: Watcher<Operation> = {
  begin: (event, context, began) => ({ event, context, began }),
  within: ({ context }, event) => {
    if (event.type === "guardrail" && event.verdict === "block")
      return count(blocks, 1, context, { guardrail: event.guard, side: event.side })
    if (event.type !== "verdict") return
    const { code } = labelsOf(event.error)
    const { gaveUp, layer, verdict } = event
    count(verdicts, 1, context, { layer, verdict, gave_up: `${gaveUp}`, code })
  },
  end: ({ began, context, event }, ending) => {
    const took = Number(ending.at - began) / 1e9
    const failed: Labels = ending.how === "failed" ? { "error.type": errorType(ending) } : {}
    switch (event.type) {
      case "run-start":
        return count(agentDuration, took, context, { "gen_ai.agent.name": event.agent, ...failed })
      case "tool-start":
        return count(toolDuration, took, context, {
          "gen_ai.tool.name": event.tool,
          "gen_ai.tool.type": "function",
          "gen_ai.agent.name": event.agent,
          ...failed
        })
      case "model-start": {
        const labels = {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": event.provider,
          "gen_ai.request.model": event.model,
          ...answeredBy(ending.event)
        }
        count(modelDuration, took, context, { ...labels, ...failed })
        return countSpent(ending, context, labels)
      }
    }
  }
}

type Labels = Readonly<Record<string, string>>

const answeredBy = (event: AgentEvent.AgentEvent | undefined): Labels =>
  event?.type === "model-end" && event.reply.model !== undefined ? { "gen_ai.response.model": event.reply.model } : {}

/**
 * Counts the tokens and the cost of an attempt. A failed attempt usually has none; an interrupted one has those that the provider had
 * reported.
 */
const countSpent = ({ event }: Ending, context: Context.Context<never>, labels: Labels): void => {
  if (event?.type !== "model-end" && event?.type !== "model-failed" && event?.type !== "model-interrupted") return
  const { usage, cost: spent } = event.entry
  const { inputTokens, outputTokens } = usage
  if (inputTokens > 0) count(tokens, inputTokens, context, { ...labels, "gen_ai.token.type": "input" })
  if (outputTokens > 0) count(tokens, outputTokens, context, { ...labels, "gen_ai.token.type": "output" })
  if (spent !== undefined) count(cost, spent, context, labels)
}

const count = <State>(
  metric: Metric.Metric<number, State>,
  value: number,
  context: Context.Context<never>,
  labels: Labels
): void => Metric.withAttributes(metric, labels).updateUnsafe(value, context)

/** Counts the errors that leave runs. An error that passes unchanged from a run to its parent counts once. */
export const errorCounter = (context: Context.Context<never>): ((event: AgentEvent.AgentEvent) => void) => {
  /** The errors of child runs, by the id of the parent run. */
  const ofChildren = new Map<string, ReadonlyArray<unknown>>()
  return (event) => {
    if (event.type === "run-completed" || event.type === "run-suspended" || event.type === "run-interrupted") {
      ofChildren.delete(event.runId)
    }
    if (event.type !== "run-failed") return
    const isCounted = ofChildren.get(event.runId)?.includes(event.error) === true
    ofChildren.delete(event.runId)
    if (event.parent !== undefined) {
      ofChildren.set(event.parent.runId, [...(ofChildren.get(event.parent.runId) ?? []), event.error])
    }
    if (isCounted) return
    const { code, retryable } = labelsOf(event.error)
    count(errors, 1, context, { code, retryable: String(retryable) })
  }
}
