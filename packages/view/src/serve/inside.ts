/** Looks into agents of any copy of `@kintsugi/core`: their definitions are data. */
import type { Agent, Explanation, Tool } from "@kintsugi/core"
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"

/** The copy of `@kintsugi/core` that made an agent. */
export type Core = typeof import("@kintsugi/core")

/** An agent with any input, output, failures and needs. */
export type AnyAgent = Agent.AnyPart

/** The definition of an agent. */
export type Definition = Agent.Inside<never, unknown, unknown>["definition"]

/** The definition of a tool. */
export type ToolDefinition = Tool.AnyTool["definition"]

/** A run of any agent. */
export type Run = Agent.Run<unknown, unknown>

/** The snapshot of a run that waits. */
export type Snapshot = Extract<Agent.Outcome<unknown>, { readonly _tag: "Suspended" }>["snapshot"]

type Starting = Effect.Effect<Run, never, Scope.Scope>

/** The functions of an agent. What it needs is provided around them; a service that is missing all the same is a defect. */
export interface Functions {
  readonly call: (input: unknown) => Effect.Effect<unknown, unknown>
  readonly start: (input: unknown) => Starting
  readonly resume: (resumption: Agent.Resumption<unknown>) => Starting
  readonly explain: () => Explanation.RunExplanation
  readonly bounds: () => Explanation.RunBounds
}

const mark: symbol = Symbol.for("~@kintsugi/core/Agent")

export const isAgent = (value: unknown): value is AnyAgent => Predicate.hasProperty(value, mark)

// casts below: the mark says that the value is an agent, and its type parameters exist in its type only

/** The functions of an agent, by the copy of core that made it. */
export const functionsOf = (agent: AnyAgent, { Agent }: Core): Functions => {
  const explained = agent as unknown as Parameters<typeof Agent.explain>[0]
  const resumed = Agent.resume(explained as Parameters<typeof Agent.resume>[0]) as unknown as {
    readonly start: Functions["resume"]
  }
  return {
    call: agent as unknown as Functions["call"],
    start: (agent as unknown as { readonly start: Functions["start"] }).start,
    resume: resumed.start,
    explain: () => Agent.explain(explained),
    bounds: () => Agent.bounds(agent)
  }
}

/** The definition of an agent. */
export const definitionOf = (agent: AnyAgent): Definition => {
  const { [mark]: inside } = agent as unknown as Readonly<Record<symbol, { readonly definition: Definition }>>
  if (inside === undefined) throw new TypeError("the value is no agent")
  return inside.definition
}

/** The tools of an agent, each once. */
export const toolsOf = ({ skills }: Definition): ReadonlyArray<ToolDefinition> => [
  ...new Set(skills.flatMap((skill) => ("tools" in skill ? skill.tools.map((tool) => tool.definition) : [])))
]
