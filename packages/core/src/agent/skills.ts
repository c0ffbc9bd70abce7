/** The skills of an agent: their part in its types, and their work in a run. */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Thrown from "../errors/Thrown.ts"
import type { LlmError } from "../errors/LlmError.ts"
import * as Router from "../run/Router.ts"
import type * as Run from "../run/Run.ts"
import type { InvalidOutputError, RoutingError } from "../errors/RunError.ts"
import * as Skill from "../run/Skill.ts"
import type * as Tool from "../tool/Tool.ts"
import type * as ToolPolicy from "../tool/ToolPolicy.ts"
import * as Toolset from "../tool/Toolset.ts"
import type { PutAside, ToolDefinition } from "../tool/ToolDefinition.ts"
import type { NeedsModel } from "./types.ts"
import type { Definition, Wide } from "../run/Routing.ts"

type AnySkills = ReadonlyArray<Skill.AnySkill>
type AnyLoop = Skill.Skill<Tool.AnyTool>

type ToolOf<S> = S extends Skill.Skill<infer T> ? T : never

export type ToolsOf<Skills extends AnySkills> = ToolOf<Skills[number]>

/** The type arguments of a skill that is a function. */
type FunctionOf<S> =
  S extends Skill.Deterministic<string, infer O, infer E, infer R>
    ? { readonly output: O; readonly error: E; readonly services: R }
    : never

/** Whether a model may have to work at one of them; without any skill it works without tools. */
type Loops<Skills extends AnySkills> = Skills extends readonly []
  ? true
  : [Extract<Skills[number], AnyLoop>] extends [never]
    ? false
    : true

/**
 * What its model's answer becomes, and the values of its functions.
 *
 * @hidden
 */
export type AnswerOf<Skills extends AnySkills, OfModel = string> =
  | (Loops<Skills> extends true ? OfModel : never)
  | FunctionOf<Skills[number]>["output"]

/** A model's answer may fit no schema. */
export type InvalidOf<Skills extends AnySkills, Output> =
  Output extends Schema.Codec<unknown, unknown> ? (Loops<Skills> extends true ? InvalidOutputError : never) : never

/**
 * The values with which the built-in tools among these end a run; no other tool's value is an output.
 *
 * @hidden
 */
export type EndOf<T extends Tool.AnyTool> = T extends unknown
  ? Tool.SideEffectsOf<T> extends "builtin"
    ? Tool.SuccessOf<T>
    : never
  : never

export type ErrorOf<Skills extends AnySkills> = FunctionOf<Skills[number]>["error"]

/** The services of its functions, and those of its model if the model does more than choose. */
export type ServicesOf<Skills extends AnySkills, OfModel> =
  | (Loops<Skills> extends true ? OfModel : never)
  | FunctionOf<Skills[number]>["services"]

/** Whether one of its functions calls a model. */
export type NeedsModelOf<Skills extends AnySkills> = NeedsModel<
  FunctionOf<Skills[number]>["services"],
  ModelTableOf<Skills>
>

/** The table for model calls; `OnlyFunctions` for an agent whose skills are all functions. */
export type ModelTableOf<Skills extends AnySkills> = Loops<Skills> extends true ? {} : OnlyFunctions

/** In the place of a table for model calls: the agent has a run with limits, and no loop. */
export type OnlyFunctions = "Its skills are functions: they make no model calls"

/** In the place of a table for model calls: the agent is a plain function, or made of others. The compiler says it where a table is given. */
export type NoModel =
  "This agent makes no model calls itself: add tables and guardrails to its parts, before Agent.seal"

/**
 * The model table of agents that have a run with limits: not those of `deterministic`, nor compositions.
 *
 * @hidden
 */
export type Running = object | OnlyFunctions

/**
 * That an agent chooses among skills: their names, what the choice may fail with and needs, and what a model needs that is asked
 * for it.
 *
 * @hidden
 */
export interface Choosing<in Name extends string, out E, out R, out OfModel> {
  readonly _Name: (name: Name) => void
  readonly _E: () => E
  readonly _R: () => R
  readonly _OfModel: () => OfModel
}

/** With less than two skills there is nothing to choose. */
export type ChoiceOf<Skills extends AnySkills, OfModel> = Skills extends readonly [] | readonly [unknown]
  ? undefined
  : Choosing<Skills[number]["name"], RoutingError | LlmError, OfModel, OfModel>

/**
 * The choice with a router that may say `Said`, fails with `E` and needs `R`.
 *
 * @hidden
 */
export type Routed<Choice, Said, E, R> =
  Choice extends Choosing<infer Name, unknown, unknown, infer OfModel>
    ? Choosing<
        Name,
        E | (Wide<Name> extends never ? never : RoutingError),
        R | (undefined extends Said ? OfModel : never),
        OfModel
      >
    : never

/** The failures of the choice. */
export type ChoiceError<Choice> = Choice extends Choosing<never, infer E, unknown, unknown> ? E : never

/** What the choice needs. */
export type ChoiceServices<Choice> = Choice extends Choosing<never, unknown, infer R, unknown> ? R : never

/** The parts of an agent's definition that its work needs. */
export interface Skilled extends Toolset.Tables {
  readonly name: string
  readonly prompt: string
  readonly skills: AnySkills
  readonly router?: Definition
  readonly policies: ReadonlyArray<ToolPolicy.Policy>
  readonly budget: { readonly maxArgsBytes: number }
  readonly putAside?: PutAside | undefined
}

/** Throws a `TypeError` on duplicate names. */
export const workOf = (agent: Skilled): Run.Work => {
  const { prompt, router, skills } = agent
  const [only] = skills
  if (only === undefined) return { kind: "loop", prompt, toolset: toolsetOf(agent, [], agent) }
  if (skills.length === 1) return workAt(agent, only, agent)
  // tables and names have to make sense for all tools together
  toolsetOf(agent, [...new Set(skills.flatMap(toolsOf))], agent)
  const works = new Map<string, Run.Skilled>()
  for (const skill of skills) {
    if (works.has(skill.name)) {
      throw new TypeError(`Agent '${agent.name}': there are two skills named '${skill.name}'`)
    }
    const names = new Set(toolsOf(skill).map(({ name }) => name))
    const byTool = new Map([...agent.byTool].filter(([name]) => names.has(name)))
    works.set(skill.name, workAt(agent, skill, { byTool, defaults: agent.defaults, resilient: agent.resilient }))
  }
  const candidates = skills.map(({ description, name }) => ({ name, description }))
  return { kind: "choice", prompt, candidates, works, router: router ?? Router.byModel().definition }
}

const workAt = (agent: Skilled, skill: Skill.AnySkill, tables: Toolset.Tables): Run.Skilled =>
  Skill.isDeterministic(skill)
    ? { kind: "function", prompt: agent.prompt, run: runOf(skill) }
    : {
        kind: "loop",
        prompt: [agent.prompt, skill.prompt ?? ""].filter((part) => part !== "").join("\n\n"),
        toolset: toolsetOf(agent, toolsOf(skill), tables)
      }

const runOf =
  ({ name, run }: Skill.Deterministic<string, unknown, unknown, unknown>): Run.Plain["run"] =>
  (input) =>
    // its failures and needs are in the agent's type
    Thrown.effect(() => run(input) as Effect.Effect<unknown, unknown>, "The function of skill", name)

export const toolsOf = (skill: Skill.AnySkill): ReadonlyArray<ToolDefinition> =>
  Skill.isDeterministic(skill) ? [] : skill.tools.map((tool) => tool.definition)

const toolsetOf = (
  { budget, name, policies, putAside }: Skilled,
  tools: ReadonlyArray<ToolDefinition>,
  tables: Toolset.Tables
): Toolset.Toolset => {
  if (putAside !== undefined && !Predicate.hasProperty(putAside, "among")) {
    throw new TypeError(`Agent '${name}': putAside must be made by Tool.putAside`)
  }
  return Toolset.make(tools, tables, { maxArgsBytes: budget.maxArgsBytes, policies }, putAside)
}
