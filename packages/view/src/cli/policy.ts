/** Recognises policies among the exports of a module, and explains them without running them. */
import type { Agent, Explanation, Model, Recovery, Tool } from "@kintsugi/core"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"

/** The copy of `@kintsugi/core` that made a value, whose functions can read the value. */
type Core = typeof import("@kintsugi/core")

/** An agent with any input, output and failures, as it is only explained. */
type AnyAgent = Parameters<Core["Agent"]["explain"]>[0]

/** A policy: a single layer, an agent with its layers, or a composition of agents. */
export type Policy =
  | { readonly kind: "layer"; readonly what: string; readonly explanation: Explanation.Explanation }
  | {
      readonly kind: "agent"
      readonly what: string
      /** Explains the agent. `transport` is the explanation of its transport; without it, the transport sends once. */
      readonly run: (transport?: Explanation.Explanation) => Explanation.RunExplanation
    }
  | {
      readonly kind: "composition"
      readonly what: string
      readonly bounds: (transport?: Explanation.Explanation) => Explanation.RunBounds
    }

/** Recognises a policy; `undefined` for any other value. It throws the error of a getter or function of the value, if one throws. */
export const policyOf = (value: unknown, core: Core): Policy | undefined => {
  const layer = (what: string, explanation: Explanation.Explanation): Policy => ({ kind: "layer", what, explanation })
  // casts below: a symbol in the value says which of core's types it has
  if (isMarked(value, "Agent")) {
    const { definition } = value[marks.Agent] as {
      readonly definition: { readonly body?: unknown; readonly composed?: unknown }
    }
    const agent = value as unknown as AnyAgent & Agent.AnyPart
    if (definition.body !== undefined || definition.composed !== undefined) {
      const what = definition.body === undefined ? "an agent that is made of others" : "an agent that is a function"
      return { kind: "composition", what, bounds: (transport) => core.Agent.bounds(agent, underTransport(transport)) }
    }
    return { kind: "agent", what: "an agent", run: (transport) => core.Agent.explain(agent, underTransport(transport)) }
  }
  if (isMarked(value, "Tool")) return layer("a tool", ofTool(value as unknown as Tool.AnyTool, core))
  if (isMarked(value, "Recovery"))
    return layer("a verdict", core.Recovery.explain(value as unknown as Recovery.AnyVerdict))
  if (Schedule.isSchedule(value)) {
    return layer("a schedule", core.Recovery.explain(core.Recovery.retry(value as Schedule.Schedule<unknown>)))
  }
  if (isModel(value)) return layer("a model", core.Model.explain(value as Parameters<typeof Model.explain>[0]))
  if (isExplanation(value)) return layer("an explanation", value)
  if (isRun(value)) return { kind: "agent", what: "an explanation of a run", run: () => value }
  if (isTable(value)) return layer("a table", core.Recovery.explain(value))
  return undefined
}

const underTransport = (transport: Explanation.Explanation | undefined) =>
  transport === undefined ? {} : { transport }

const marks = {
  Agent: Symbol.for("~@kintsugi/core/Agent"),
  Tool: Symbol.for("~@kintsugi/core/Tool"),
  Recovery: Symbol.for("~@kintsugi/core/Recovery"),
  Explains: Symbol.for("~@kintsugi/core/Model/Explains")
} as const

const isMarked = (value: unknown, mark: keyof typeof marks): value is Readonly<Record<symbol, unknown>> =>
  Predicate.hasProperty(value, marks[mark])

/** The explanation of a tool. `Agent.explain` reads the tables of tools, so the tool is put in an agent. */
const ofTool = (tool: Tool.AnyTool, { Agent, Skill }: Core): Explanation.Explanation => {
  // Mutant `""` survives: the explanation of a tool does not name the agent
  const agent = Agent.make("explained", {
    skills: [Skill.make("explained", { description: "The tool.", tools: [tool] })]
  })
  const { tools } = Agent.explain(agent as unknown as AnyAgent)
  const found = tools.get(tool.name)
  // Mutant `false` survives: an agent has its tools
  if (found === undefined) throw new TypeError(`the tool '${tool.name}' is not found in its own agent`)
  return found
}

/** Whether a value is a model that can be explained: a service, or a layer with an explanation. Other layers are unknown. */
const isModel = (value: unknown): boolean =>
  isMarked(value, "Explains") ||
  (Predicate.hasProperty(value, "generate") &&
    Predicate.hasProperty(value, "stream") &&
    Predicate.hasProperty(value, "provider"))

const isExplanation = (value: unknown): value is Explanation.Explanation =>
  Predicate.hasProperty(value, "rows") && Array.isArray(value.rows) && Predicate.hasProperty(value, "worst")

const isRun = (value: unknown): value is Explanation.RunExplanation =>
  Predicate.hasProperty(value, "model") && isExplanation(value.model) && Predicate.hasProperty(value, "tools")

const isTable = (value: unknown): value is { readonly [row: string]: Recovery.AnyVerdict } => {
  if (!Predicate.isObject(value) || Array.isArray(value)) return false
  const rows = Object.values(value).filter((row) => row !== undefined)
  return rows.length > 0 && rows.every((row) => isMarked(row, "Recovery"))
}
