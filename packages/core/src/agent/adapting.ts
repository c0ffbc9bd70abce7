/** The same agent with another input, output, model or budget, or with a layer. */
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Budget from "../budget/Budget.ts"
import { demand } from "../data/Demand.ts"
import type * as Model from "../model/Model.ts"
import type { BudgetExceededError } from "../errors/RunError.ts"
import * as Thrown from "../errors/Thrown.ts"
import type { Resumption } from "../run/Start.ts"
import type * as Tool from "../tool/Tool.ts"
import { type Agent, type Definition, fromDefinition } from "./definition.ts"
import type { Choosing } from "./skills.ts"
import { compose, definitionOf, partOf, sequence, stepsOf } from "./parts.ts"
import type * as Types from "./partTypes.ts"
import type { PresentLimits, PriceErrorOf } from "./elsewhere.ts"
import type * as Providing from "./providing.ts"

/** Maps the output of an agent by a function. The agent keeps its tables and its way to run. */
export const map: {
  <O, O2>(
    f: (output: O) => O2
  ): <I, E, R, Inside>(self: Types.AgentPart<I, O, E, R, Inside>) => Types.MadeOf<Inside, I, O2, E, R>
  <A, O2>(
    self: A & Types.AnyPart,
    f: (output: Types.AgentOutput<A>) => O2
  ): Types.Adapted<A, Types.AgentInput<A>, Types.Given<O2>>
} = dual(2, (self: Types.AnyPart, f: (output: never) => unknown) => sequence(self.name, [...stepsOf(self), f]))

/** Computes the input of an agent from another input. */
export const mapInput: {
  <I2, I>(
    f: (input: I2) => I
  ): <A extends Types.AgentPart<I, unknown, unknown, unknown>>(self: A) => Types.Adapted<A, I2>
  <A, I2>(self: A & Types.AnyPart, f: (input: I2) => Types.AgentInput<A>): Types.Adapted<A, Types.Given<I2>>
} = dual(2, (self: Types.AnyPart, f: (input: never) => unknown) => sequence(self.name, [f, ...stepsOf(self)]))

/**
 * Provides a layer to all runs of an agent. Its tools, handlers, listeners and model get the services. `Effect.provide` does it for one
 * call. This returns an agent, with its tables, which streams and is suspended as before.
 *
 * The layer is built before the first run begins. If the layer fails to build, no run starts, so there are no events. Concurrent and later
 * runs share the layer, as they share the agent's own `model`: it is closed with the runtime around the runs, or without one after the
 * agent's `modelIdle`.
 *
 * @example
 * ```ts
 * import { Agent, Recovery } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const model = yield* ScriptedModel.make(ScriptedModel.text("at your service"))
 *   const agent = Agent.make("clerk", {}).pipe(
 *     Agent.provide(model.layer),
 *     Agent.onLlmError({ RateLimitError: Recovery.retry({ retries: 2 }) })
 *   )
 *   return yield* agent("hello")
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => "at your service"
 * ```
 */
export const provide: {
  <L, E, R>(layer: Layer.Layer<L, E, R>): <A extends Types.AnyPart>(self: A) => Providing.Provided<A, L, E, R>
  <A extends Types.AnyPart, L, E, R>(
    self: A,
    layer: Layer.Layer<L, E, R>
  ): Providing.Provided<A, L, Types.Given<E>, Types.Given<R>>
} = dual(2, (self: Types.AnyPart, layer: Layer.Layer<unknown, unknown>) => {
  const definition = definitionOf(self)
  demand(`Agent '${self.name}': what Agent.provide gives`, "a Layer", layer, Layer.isLayer(layer))
  return fromDefinition({ ...definition, layers: [...definition.layers, layer] })
})

/** The choice of skills by another model: the need for `Model` becomes the needs `R2` of that model. */
type ChoiceWith<Choice, R2> =
  Choice extends Choosing<infer Name, infer E, infer R, infer OfModel>
    ? Choosing<Name, E, Exclude<R, Model.Model> | R2, Exclude<OfModel, Model.Model> | R2>
    : Choice

/**
 * Gives the loop of an agent another model. Tools, tables, listeners and policies keep their models. `Agent.fallback(a,
 * a.pipe(Agent.withModel(other)))` is one agent over two models.
 */
export const withModel: {
  <E2, R2>(
    layer: Layer.Layer<Model.Model, E2, R2>
  ): <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable extends object, Choice, Name extends string>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<I, O, E | E2, Exclude<R, Model.Model> | R2, T, ByTool, Defaults, ModelTable, ChoiceWith<Choice, R2>, Name>
  <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable extends object,
    Choice,
    Name extends string,
    E2,
    R2
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    layer: Layer.Layer<Model.Model, E2, R2>
  ): Agent<I, O, E | E2, Exclude<R, Model.Model> | R2, T, ByTool, Defaults, ModelTable, ChoiceWith<Choice, R2>, Name>
} = dual(2, (self: Types.AnyPart, model: Layer.Layer<Model.Model, unknown>) => {
  demand(`Agent '${self.name}': model`, "a Layer", model, Layer.isLayer(model))
  return fromDefinition({ ...definitionOf(self), model })
})

/**
 * Replaces some limits of an agent's budget. The other limits stay. A composition and a plain function have no limits of their own: there
 * the limits apply to all parts together.
 */
export const withBudget: {
  <Given = {}>(
    limits: PresentLimits<Given> & Budget.Limits
  ): <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable, Choice, Name extends string>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<I, O, E | BudgetExceededError | PriceErrorOf<Given>, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable, Choice, Name extends string, Given = {}>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    limits: PresentLimits<Given> & Budget.Limits
  ): Agent<I, O, E | BudgetExceededError | PriceErrorOf<Given>, R, T, ByTool, Defaults, ModelTable, Choice, Name>
} = dual(2, <A>(self: Types.AnyPart, limits: Budget.Limits): A => {
  const definition = definitionOf(self)
  const { composed } = definition
  if (composed !== undefined) {
    const budget = merged(composed.budget ?? Budget.unlimited, limits)
    return fromDefinition({ ...definition, composed: { ...composed, budget } })
  }
  if (definition.body === undefined) return fromDefinition({ ...definition, budget: merged(definition.budget, limits) })
  const part = partOf(self)
  return compose(definition.name, {
    parts: [part],
    budget: merged(Budget.unlimited, limits),
    passes: [definition],
    body: (input, parent) => parent.ask(part, input)
  })
})

/** Checks the given limits as `Budget.make` does. */
const merged = (base: Budget.Budget, limits: Budget.Limits): Budget.Budget => {
  const named = Object.entries(Budget.make(limits)).filter(([name]) => Object.hasOwn(limits, name))
  return { ...base, ...Object.fromEntries(named) }
}

/**
 * Gives the runs of an agent an id. The id is a text, or a function of the input; without it, each run draws an id of its own. Events,
 * errors and snapshots have the id. The idempotency keys of tool calls are derived from it: a second run with the same id has the same keys
 * for the same calls. So `Effect.retry` around an agent pays once. Of two runs with one id, the first must end before the second begins. A
 * run that goes on from a snapshot keeps its id.
 *
 * @example
 * ```ts
 * import { Agent } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Order = Schema.Struct({ order: Schema.String })
 * const clerk = Agent.make("clerk", { input: Order }).pipe(
 *   Agent.withRunId(({ order }) => `order-${order}`),
 *   Agent.onEvent(({ runId, type }) => Effect.logDebug(type, runId)) // run-start order-17, and so on
 * )
 * const program = Effect.gen(function* () {
 *   const model = yield* ScriptedModel.make(ScriptedModel.text("shipped"))
 *   return yield* clerk({ order: "17" }).pipe(Effect.retry({ times: 2 }), Effect.provide(model.layer))
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => "shipped"
 * ```
 */
export const withRunId: {
  <A extends Types.AnyPart>(runId: string | ((input: Types.AgentInput<A>) => string)): (self: A) => A
  <A>(self: A & Types.AnyPart, runId: string | ((input: Types.AgentInput<A>) => string)): A
} = dual(2, <A>(self: Types.AnyPart, runId: RunId): A => {
  const definition = definitionOf(self)
  const { name } = definition
  if (!Predicate.isFunction(runId) && !isRunId(runId)) throw oddRunId(name, runId)
  const identified: Definition["identified"] = (run, goesOn) => {
    return (input, sink, mode) =>
      Thrown.effect(
        () => {
          const given = Predicate.isFunction(runId) ? madeOf(runId, input, goesOn) : runId
          if (given === undefined) return run(input, sink, mode)
          return isRunId(given) ? run(input, sink, { ...mode, runId: given }) : Effect.die(oddRunId(name, given))
        },
        "The function for the run id of agent",
        name
      )
  }
  return fromDefinition({ ...definition, identified })
})

/** A run id, or a function that makes it of the input. */
type RunId = string | ((input: unknown) => string)

/** Makes the id of a run. A run that goes on from a snapshot or a transcript may have no input for the function. */
const madeOf = (make: (input: unknown) => string, given: unknown, goesOn: boolean): string | undefined => {
  // by its type, this input is a resumption: it says where the run goes on
  const { input } = goesOn ? (given as Resumption<unknown>) : { input: given }
  return goesOn && input === undefined ? undefined : make(input)
}

/** Whether a value is a valid run id: one line of text that logs and keys can hold. */
const isRunId = (value: unknown): boolean => Predicate.isString(value) && /^[^\p{Cc}]{1,200}$/u.test(value)

const oddRunId = (agent: string, value: unknown): TypeError =>
  new TypeError(
    `Agent '${agent}': a run id is a text of 1 to 200 characters without control characters, got ${JSON.stringify(value)}`
  )

/** Refuses an agent that is no composition: its name comes from `Agent.make`. */
type IsComposed<ModelTable> = [ModelTable] extends [Types.Composite]
  ? unknown
  : "An agent has its name from Agent.make: Agent.named is for compositions"

/** Names a composition: in events, in errors and as a tool. */
export const named: {
  <const Name extends string>(
    name: Name
  ): <I, O, E, R, T extends Tool.AnyTool, ModelTable>(
    self: Agent<I, O, E, R, T, {}, {}, ModelTable> & IsComposed<ModelTable>
  ) => Agent<I, O, E, R, T, {}, {}, ModelTable, undefined, Name>
  <I, O, E, R, T extends Tool.AnyTool, ModelTable, const Name extends string>(
    self: Agent<I, O, E, R, T, {}, {}, ModelTable> & IsComposed<ModelTable>,
    name: Name
  ): Agent<I, O, E, R, T, {}, {}, ModelTable, undefined, Name>
} = dual(2, (self: Types.AnyPart, name: string) => {
  const definition = definitionOf(self)
  const { composed } = definition
  return fromDefinition({ ...definition, name, ...(composed && { composed: { ...composed, steps: undefined } }) })
})
