/** What an agent chooses before each turn. */
import type * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import type * as Layer from "effect/Layer"
import type * as Model from "../model/Model.ts"
import { type Chosen, type Prepare, preparing, type Turn } from "../run/Preparing.ts"
import type * as Tool from "../tool/Tool.ts"
import { type Agent, fromDefinition } from "./definition.ts"
import type { HasTools } from "./fitting.ts"
import { definitionOf } from "./parts.ts"
import type { AnyPart } from "./partTypes.ts"
import type { NeedsModel } from "./types.ts"

/**
 * Chooses the model, tools and prompt of each turn. The run calls the function once before each turn. It may return a model, the tools that
 * may be called, a tool choice, a system prompt, or further fields of the request. What it leaves out stays as it is. Retries and fallback
 * models of the turn keep the choice, and the run emits `turn-prepared`.
 *
 * `tools` are names of the agent's own tools; a call of any other tool is denied in this turn. The model is a layer: it is built at its
 * first turn, and shared as the `model` of an agent is, if it is the same layer each time. The prompt is that of the request: the
 * transcript keeps its own. Tools that are off or withheld stay so, and so does the last turn of `Budget.answer`.
 *
 * Of several functions, each sees in `chosen` what those before it have chosen. It may leave out further tools, and brings none back. Of two
 * tool choices the narrower one counts. A demand for a tool that is left out is a defect.
 *
 * A durable run records the choice. A replay asks again only for the layer of a model.
 *
 * @example
 * ```ts
 * import { Agent, Tool } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect, Schema } from "effect"
 *
 * const look = Tool.make("look", {
 *   description: "Looks a word up.",
 *   parameters: Schema.Struct({}),
 *   success: Schema.String,
 *   run: () => Effect.succeed("a repair with gold")
 * })
 * const reader = Agent.make("reader", { tools: [look] }).pipe(
 *   Agent.prepareTurn(({ turn }) => Effect.succeed(turn === 1 ? { toolChoice: { tool: "look" } } : { tools: [] }))
 * )
 * const program = Effect.gen(function* () {
 *   const { call, calls, make, text } = ScriptedModel
 *   const model = yield* make(calls(call("look", {})), text("It is a repair."))
 *   yield* Effect.provide(reader("What is kintsugi?"), model.layer)
 *   return model.requests.map(({ tools }) => tools.length)
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => [1, 0]
 * ```
 */
export const prepareTurn: {
  <T extends Tool.AnyTool, const C extends Chosen<Tool.NameOf<T>, unknown, unknown>, E2 = never, R2 = never>(
    prepare: (turn: Turn<Tool.NameOf<T>>) => Effect.Effect<C, E2, R2>
  ): <I, O, E, R, T2 extends Tool.AnyTool, ByTool, Defaults, ModelTable extends object, Choice, Name extends string>(
    self: Agent<I, O, E, R, T2, ByTool, Defaults, ModelTable, Choice, Name> & HasTools<T> & Fits<C, Tool.NameOf<T2>>
  ) => Agent<
    I,
    O,
    E | E2 | BuildError<C>,
    R | R2 | BuildServices<C>,
    T2 | NeedsModel<R2 | BuildServices<C>, ModelTable>,
    ByTool,
    Defaults,
    ModelTable,
    Choice,
    Name
  >
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
    const C extends Chosen<Tool.NameOf<T>, unknown, unknown>,
    E2 = never,
    R2 = never
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    prepare: (turn: Turn<Tool.NameOf<T>>) => Effect.Effect<C & Fits<C, Tool.NameOf<T>>, E2, R2>
  ): Agent<
    I,
    O,
    E | E2 | BuildError<C>,
    R | R2 | BuildServices<C>,
    T | NeedsModel<R2 | BuildServices<C>, ModelTable>,
    ByTool,
    Defaults,
    ModelTable,
    Choice,
    Name
  >
} = dual(2, <A>(self: AnyPart, prepare: Prepare): A => {
  const definition = definitionOf(self)
  if (!Predicate.isFunction(prepare)) {
    throw new TypeError(`Agent '${definition.name}': prepareTurn takes a function, got ${typeof prepare}`)
  }
  // its failures and needs are in the agent's type
  return fromDefinition({
    ...definition,
    prepare: preparing([...(definition.prepare?.functions ?? []), prepare])
  })
})

/** Checks a choice: it names only tools of the agent, and has only known fields. Otherwise the type is a compiler message. */
type Fits<C, Name> = [NamesIn<C>] extends [Name]
  ? [KeysOf<C>] extends [keyof Chosen<string, unknown, unknown>]
    ? unknown
    : `Nothing is chosen for a turn by '${Exclude<KeysOf<C>, keyof Chosen<string, unknown, unknown>> & string}'`
  : `The agent has no tool named '${Exclude<NamesIn<C>, Name> & string}'`

type KeysOf<C> = C extends unknown ? keyof C : never

type NamesIn<C> = NamesOf<PartOf<C, "tools">> | ForcedBy<PartOf<C, "toolChoice">>

/** A part of a choice, of each form that the choice may have. */
type PartOf<C, Key> = C extends unknown ? (Key extends keyof C ? C[Key] : never) : never

type NamesOf<Tools> = Tools extends ReadonlyArray<infer Name> ? Name : never

type ForcedBy<Choice> = Choice extends { readonly tool: infer Name } ? Name : never

type BuildError<C> = ErrorOf<PartOf<C, "model">>

type ErrorOf<L> = L extends Layer.Layer<Model.Model, infer E, unknown> ? E : never

type BuildServices<C> = ServicesOf<PartOf<C, "model">>

type ServicesOf<L> = L extends Layer.Layer<Model.Model, unknown, infer R> ? R : never
