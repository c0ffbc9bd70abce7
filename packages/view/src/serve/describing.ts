/** Describes an agent before anything runs: its tools with their rows, the errors without a row, its limits and its worst case. */
import type { Explanation } from "@kintsugi/core"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { type Failing, jsonSchemaOf } from "./faults.ts"
import { tagsIn } from "./generating.ts"
import {
  type AnyAgent,
  type Core,
  type Definition,
  definitionOf,
  functionsOf,
  type ToolDefinition,
  toolsOf
} from "./inside.ts"
import type { AgentShown, Chip, ToolShown } from "./browser/Wire.ts"

/** What `describe` knows besides the agent. */
interface Facts {
  readonly core: Core
  /** The module and the export. */
  readonly where: string
  /** Whether the module provides a model besides that of the agent. */
  readonly hasModel: boolean
  /** Whether the environment has a key of a provider. */
  readonly hasKey: boolean
  /** The tags that tools failed with in recorded runs, by the names of the tools. */
  readonly seen: ReadonlyMap<string, ReadonlySet<string>>
}

/** Describes an agent. */
export const describe = (agent: AnyAgent, facts: Facts): AgentShown => {
  const { core, hasKey, where } = facts
  const definition = definitionOf(agent)
  const { budget, composed, body, name, prompt } = definition
  const kind = composed !== undefined ? "composition" : body !== undefined ? "function" : "agent"
  const { bounds, explain } = functionsOf(agent, core)
  const explained = kind === "agent" ? explain() : undefined
  const hasModel = facts.hasModel || definition.model !== undefined
  const schema = definition.input
  const input = schema === undefined ? undefined : Result.getOrUndefined(Result.try(() => jsonSchemaOf(schema)))
  return {
    name,
    kind,
    where,
    prompt,
    tools: failingOf(definition, facts.seen).map(({ tags, tool }) =>
      shown(tool, tags, explained?.tools.get(tool.name))
    ),
    model: {
      rows: (explained?.model.rows ?? []).map(chipOf),
      missing: explained === undefined ? [] : llmTagsOf(core).filter((tag) => !hasRow(tag, explained.model))
    },
    budget: limitsOf(budget),
    worst: explained === undefined ? boundsOf(bounds()) : worstOf(core, explained),
    ...(input === undefined ? {} : { input }),
    hasModel,
    prefersModel: hasModel && hasKey
  }
}

/** The tools of an agent, with the tags that are known of each: by its schema of failures, and by recorded runs. */
export const failingOf = (
  definition: Definition,
  seen: ReadonlyMap<string, ReadonlySet<string>>
): ReadonlyArray<Failing> =>
  toolsOf(definition)
    .filter(({ isBuiltIn }) => !isBuiltIn)
    .map((tool) => {
      const { failure, name } = tool
      const declared =
        failure === undefined
          ? []
          : Result.getOrElse(
              Result.try(() => tagsIn(jsonSchemaOf(failure))),
              () => []
            )
      const inRows = [...tool.rows.keys(), ...(definition.byTool.get(name)?.keys() ?? [])].filter(
        (key) => !general.has(key)
      )
      return { tool, tags: [...new Set([...declared, ...inRows, ...(seen.get(name) ?? [])])] }
    })

/** The keys of rows that are no tags of a tool's own failures. */
const general: ReadonlySet<string> = new Set(["InvalidArgs", "DeserializationError", "ExecutionError", "orElse"])

const shown = (
  tool: ToolDefinition,
  tags: ReadonlyArray<string>,
  explanation: Explanation.Explanation | undefined
): ToolShown => {
  const { approval, description, name, sideEffects, spec } = tool
  const covers = (tag: string) => explanation !== undefined && isCovered(tag, explanation)
  const keys = new Set(explanation?.rows.map(({ key }) => key))
  const hasArguments = !keys.has("InvalidArgs") && !keys.has("orElse")
  return {
    name,
    description,
    parameters: spec().parameters,
    sideEffects,
    ...(approval === undefined ? {} : { approval: approval.reason }),
    rows: (explanation?.rows ?? []).map(chipOf),
    tags,
    missing: [...tags.filter((tag) => !covers(tag)), ...(hasArguments ? ["InvalidArgs"] : [])]
  }
}

/** Whether a row has this tag, or takes all others. */
const hasRow = (tag: string, { rows }: Explanation.Explanation): boolean =>
  rows.some(({ key }) => key === tag || key === "orElse")

/** Whether a row handles failures of a tool's run with this tag. */
const isCovered = (tag: string, explanation: Explanation.Explanation): boolean =>
  hasRow(tag, explanation) || hasRow("ExecutionError", explanation)

/** The tags of model calls: the names of the error classes. */
const llmTagsOf = ({ LlmError }: Core): ReadonlyArray<string> =>
  Object.keys(LlmError).filter((name) => /^[A-Z]\w+Error$/.test(name) && name !== "LlmError")

type Row = Explanation.Explanation["rows"][number]

const chipOf = ({ key, rungs }: Row): Chip => ({
  key,
  verdicts: rungs
    .map(({ verdict, waits, fixerRuns }) =>
      waits.length > 0 ? `${verdict} ${waits.length}` : fixerRuns > 1 ? `${verdict} ${fixerRuns}` : verdict
    )
    .join(", then ")
})

const limitsOf = (budget: Definition["budget"]): AgentShown["budget"] => {
  const { maxCost, maxDuration, maxTokens, maxToolCalls, maxTurns } = budget
  return [
    ["turns", String(maxTurns)],
    ["tool calls", String(maxToolCalls)],
    ["duration", Duration.format(Duration.millis(maxDuration))],
    ...(Number.isFinite(maxTokens) ? [["tokens", String(maxTokens)] as const] : []),
    ["cost", Number.isFinite(maxCost) ? `$${maxCost}` : "no limit"]
  ]
}

/** The last line of the explanation, which has the bounds of a run. */
const worstOf = (core: Core, explained: Explanation.RunExplanation): string =>
  core.Explanation.formatRun(explained)
    .split("\n")
    .at(-1)
    ?.replace(/^a run, at worst: /, "") ?? ""

const boundsOf = ({ modelCalls, requests, time }: Explanation.RunBounds): string =>
  [
    `${modelCalls} model calls`,
    ...(requests === modelCalls ? [] : [`${requests} requests`]),
    Duration.isFinite(time) ? `${Duration.format(time)} of waits and timeouts` : "waits unknown"
  ].join(", ")
