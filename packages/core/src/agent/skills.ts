/** The skills of an agent: their part in its types, and their work in a run. */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Thrown from "../errors/Thrown.ts"
import * as LlmTable from "../model/LlmTable.ts"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Run from "../run/Run.ts"
import type { InvalidOutputError, RoutingError } from "../errors/RunError.ts"
import * as Skill from "../run/Skill.ts"
import type * as Tool from "../tool/Tool.ts"
import type { Denies } from "../tool/Denies.ts"
import type * as ToolPolicy from "../tool/ToolPolicy.ts"
import * as Toolset from "../tool/Toolset.ts"
import type { PutAside, ToolDefinition } from "../tool/ToolDefinition.ts"
import type { Rows } from "../recovery/Node.ts"
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

/** Whether a skill may need the model. An agent without skills needs it too, without tools. */
type Loops<Skills extends AnySkills> = Skills extends readonly []
  ? true
  : [Extract<Skills[number], AnyLoop>] extends [never]
    ? false
    : true

/**
 * The outputs of an agent: the decoded answer of its model, and the values of its functions.
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
 * The outputs from built-in tools that end a run. The value of any other tool is no output.
 *
 * @hidden
 */
export type EndOf<T extends Tool.AnyTool> = T extends unknown
  ? Tool.SideEffectsOf<T> extends "builtin"
    ? Tool.SuccessOf<T>
    : never
  : never

export type ErrorOf<Skills extends AnySkills> = FunctionOf<Skills[number]>["error"]

/** The services that the skills need: those of functions, and `Model` if the model does more than choose a skill. */
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

/** Marks an agent whose skills are all functions, in the place of its table for model calls: its run has limits and no loop. */
export type OnlyFunctions = "Its skills are functions: they make no model calls"

/**
 * Marks a plain function or a composition, in the place of its table for model calls. The compiler shows this text if a program adds a
 * table.
 */
export type NoModel =
  "This agent makes no model calls itself: add tables and guardrails to its parts, before Agent.seal"

/**
 * The model table of agents that have a run with limits: not those of `deterministic`, nor compositions.
 *
 * @hidden
 */
export type Running = object | OnlyFunctions

/**
 * The choice among several skills: their names, the failures and needs of the choice, and the model that it calls.
 *
 * @hidden
 */
export interface Choosing<in Name extends string, out E, out R, out OfModel> {
  readonly _Name: (name: Name) => void
  readonly _E: () => E
  readonly _R: () => R
  readonly _OfModel: () => OfModel
}

/** The type of the choice among the skills of an agent: the names, failures and needs. `undefined` with fewer than two skills. */
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

/** The tables of `Agent.resilient`, which apply after all other tables. */
interface Resilient {
  readonly tools: Rows
  readonly refuses: Toolset.Refuses
  readonly model: Rows
  readonly outputRetries: number
}

/** The policies of `Agent.toolPolicy`, and what asks them. */
interface Policies {
  readonly all: ReadonlyArray<ToolPolicy.Policy>
  readonly denies: Denies
}

/** The parts of an agent's definition that its work needs. */
export interface Skilled extends Toolset.Tables {
  readonly name: string
  readonly prompt: string
  readonly skills: AnySkills
  readonly router?: Definition
  /** The policy that applies after all tables (`Agent.resilient`). */
  readonly resilient?: Resilient | undefined
  readonly policies?: Policies | undefined
  readonly budget: { readonly maxArgsBytes: number }
  readonly putAside?: PutAside | undefined
}

/** Throws a `TypeError` on duplicate names. */
export const workOf = (agent: Skilled): Run.Work => {
  const { prompt, skills } = agent
  const [only] = skills
  if (only === undefined) return { kind: "loop", prompt, toolset: toolsetOf(agent, [], agent) }
  if (skills.length === 1) return workAt(agent, only, agent)
  // tables and names are checked for all tools together
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
  const chooser = Skill.chooserOf(skills)
  if (chooser === undefined) {
    throw new TypeError(
      `Agent '${agent.name}': one of several skills has to be made by Skill.make or Skill.deterministic`
    )
  }
  return { kind: "choice", prompt, candidates, works, chooser, router: routerOf(agent, chooser) }
}

/** The rows of a resilient agent apply after those of its router. */
const routerOf = ({ resilient, router }: Skilled, chooser: Run.Chooser): Definition => {
  const given = router ?? chooser.router()
  if (resilient === undefined) return given
  return { ...given, rows: LlmTable.behind(given.rows, resilient.model), transport: given.transport ?? "off" }
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
  return Toolset.make(tools, tables, { maxArgsBytes: budget.maxArgsBytes, policy: policies?.denies }, putAside)
}
