/**
 * What an agent can do: tools, or a plain function. A skill has a name, a description, and either the tools that are allowed for it or the
 * function.
 */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { demand } from "../data/Demand.ts"
import { lifted } from "../errors/Thrown.ts"
import type { FunctionError } from "../errors/ToolError.ts"
import type { Present } from "../recovery/TableTypes.ts"
import * as Tool from "../tool/Tool.ts"
import { chooser } from "./choosing.ts"
import type { Chooser } from "./plan.ts"
import { none } from "./Routing.ts"

/**
 * A skill at which the agent's model works, with these tools.
 *
 * @hidden
 */
export interface Skill<out T extends Tool.AnyTool = never, out Name extends string = string> {
  readonly name: Name
  /** The purpose of the skill. A router that chooses among several skills reads it. */
  readonly description: string
  /** Added to the agent's own prompt. */
  readonly prompt?: string
  readonly tools: ReadonlyArray<T>
}

/**
 * A skill that is a plain function.
 *
 * @hidden
 */
export interface Deterministic<out Name extends string, out O, out E = never, out R = never> {
  readonly name: Name
  readonly description: string
  readonly run: (input: string) => Effect.Effect<O, E, R>
}

/**
 * Any skill, with tools or as a function.
 *
 * @hidden
 */
export type AnySkill = Skill<Tool.AnyTool> | Deterministic<string, unknown, unknown, unknown>

/** Options of skills by their names in other libraries. */
interface Elsewhere {
  readonly instructions: "its name here is prompt"
  readonly system: "its name here is prompt"
  readonly inputSchema: "a skill reads the input of its agent"
  readonly maxSteps: "an agent has the limits: budget: { maxTurns }"
  readonly execute: "a skill that is a function is Skill.deterministic"
  readonly run: "a skill that is a function is Skill.deterministic"
}

/** Options of function skills by their names in other libraries. */
interface FunctionElsewhere {
  readonly execute: "its name here is run"
  readonly prompt: "a function reads no prompt"
  readonly instructions: "a function reads no prompt"
}

const Chooses: unique symbol = Symbol.for("~@kintsugi/core/Skill/Chooses")

/**
 * What chooses among these skills; `undefined` if none of them was made by this module.
 *
 * @internal
 */
export const chooserOf = (skills: ReadonlyArray<AnySkill>): Chooser | undefined =>
  // only this module sets the property
  skills.find((skill): skill is AnySkill & Choosing => Predicate.hasProperty(skill, Chooses))?.[Chooses]

interface Choosing {
  readonly [Chooses]: Chooser
}

const choosing: Choosing = { [Chooses]: chooser }

/** A skill. Its tools are an allow-list: nothing else can be called while it is at work. */
export const make = <
  const Name extends string,
  const Tools extends ReadonlyArray<Tool.AnyTool> = readonly [],
  Given = {}
>(
  name: Name,
  options: Present<Given, "description" | "prompt" | "tools", Elsewhere> & {
    readonly description: string
    readonly prompt?: string
    readonly tools?: Tools
  }
): Skill<Tools[number], Name> => ({
  name: checked(name, options),
  description: options.description,
  tools: options.tools ?? [],
  ...choosing,
  ...(options.prompt === undefined ? {} : { prompt: options.prompt })
})

/** A skill of a plain function, without a loop or model. The value of the function is the agent's output. */
export const deterministic = <const Name extends string, O, E = never, R = never, Given = {}>(
  name: Name,
  options: Present<Given, "description" | "run", FunctionElsewhere> & {
    readonly description: string
    readonly run: (input: string) => Effect.Effect<O, E, R>
  }
): Deterministic<Name, O, E, R> => ({
  name: checked(name, options),
  description: options.description,
  run: options.run,
  ...choosing
})

/**
 * A skill of a function that may throw or return a promise. See `Agent.fromFunction` for what it throws. Its `signal` is aborted when the
 * run is stopped.
 */
export const fromFunction = <const Name extends string, O, Given = {}>(
  name: Name,
  options: Present<Given, "description" | "run", FunctionElsewhere> & {
    readonly description: string
    readonly run: (input: string, context: { readonly signal: AbortSignal }) => O | Promise<O>
  }
): Deterministic<Name, O, FunctionError> =>
  deterministic(checked(name, options), { description: options.description, run: lifted(name, options.run) })

/**
 * Whether a value is a skill: a name, a description, and either tools or a function.
 *
 * @internal
 */
export const isSkill = (value: unknown): value is AnySkill =>
  Predicate.hasProperty(value, "name") &&
  Predicate.isString(value.name) &&
  Predicate.hasProperty(value, "description") &&
  Predicate.isString(value.description) &&
  (Predicate.hasProperty(value, "tools")
    ? Array.isArray(value.tools) && value.tools.every(Tool.isTool)
    : Predicate.hasProperty(value, "run") && Predicate.isFunction(value.run))

/**
 * Whether a skill is a function, which calls no model.
 *
 * @internal
 */
export const isDeterministic = (self: AnySkill): self is Extract<AnySkill, { readonly run: unknown }> => "run" in self

const checked = <Name extends string>(name: Name, options: object): Name => {
  demand("Skill: the name", "a text", name, Predicate.isString(name))
  if (name.trim() === "") throw new TypeError("Skill: a skill needs a name")
  if (name === none) throw new TypeError(`Skill: '${none}' is what a router's model says when no skill fits`)
  demand(`Skill '${name}'`, "given options", options, Predicate.isObject(options))
  return name
}
