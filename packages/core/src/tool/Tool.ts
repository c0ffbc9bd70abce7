/** A tool: a name, a schema and an effect. Its failures are typed, and its recovery is a table. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Schema from "effect/Schema"
import * as RunContext from "../event/RunContext.ts"
import * as Call from "./call.ts"
import * as Complete from "./complete.ts"
import * as Ending from "./ending.ts"
import * as Foreign from "./function.ts"
import * as Names from "./names.ts"
import * as ToolRun from "./run.ts"
import { type Covers, define, type Limits, type NoVerify, type OneLength, type Options, type Stored } from "./define.ts"
import type { Elsewhere } from "./elsewhere.ts"
import type { Compensate } from "./Undoable.ts"
import type { ToolContext, ToolDefinition } from "./ToolDefinition.ts"
import { remember } from "./undoing.ts"
import type { OwnFailures } from "./failures.ts"
import type { CallLimit, ServicesOfVerify, Storable, StoredFailures, TimeoutOf, WithoutScope } from "./ToolTypes.ts"
import { type AnyTool, type ErrorOf, fromDefinition, type TableOf, type Tool, type TypeId } from "./shape.ts"
import type { CheckOwn, OwnRows, OwnTable } from "./ownTable.ts"
import type { Later } from "./rows.ts"
import type { CheckAny, CheckRows, Fits, Table, TableOfAny } from "./table.ts"
import type { Completion } from "../data/Completion.ts"
import { definedAt } from "../data/Defined.ts"
import { KintsugiError } from "../errors/KintsugiError.ts"
import type * as Message from "../data/Message.ts"
import * as Recovery from "../recovery/Recovery.ts"
import {
  type DeserializationError,
  type EscalationError,
  type FunctionError,
  type InvalidArgs,
  OutcomeUnknownError,
  type ToolExecutionError
} from "../errors/ToolError.ts"
import type { Present, May } from "../recovery/TableTypes.ts"

export type { Options } from "./define.ts"
export type { PutAside, ToolContext } from "./ToolDefinition.ts"
export type { CallError, RowKeys, Rows } from "./rows.ts"

export type { AnyTool, ErrorOf, NameOf, ServicesOf, SideEffectsOf, SuccessOf, Tool } from "./shape.ts"
/** @internal */
export { fromDefinition, isTool } from "./shape.ts"
export { digestOf, pinned, type PinSource } from "./pinned.ts"
export { around, provide } from "./adapting.ts"
export { putAside, ResultStore } from "./Aside.ts"
export { deferred } from "./deferred.ts"
export { onDemand, type Search } from "./onDemand.ts"
export { unwrapped as callOf } from "../coercion/Unwrapped.ts"
export { parts } from "./parts.ts"
export { settle, type Receipt } from "./waiting.ts"
export { provider } from "./provided.ts"
export { retired } from "./retired.ts"
export type { GivesUp, NeedsApproval } from "./ToolTypes.ts"
export { type NameFor, namesFor } from "./names.ts"
export { requireApproval } from "./requireApproval.ts"

/**
 * Makes a tool of a name, schemas and an effect. The model reads the description and the schema of the parameters; `run` gives the effect.
 * The failures of the effect are the failures of the tool, for the rows of a table. A tool that is written inline in an agent has the same
 * type as a constant.
 *
 * Throws a `TypeError` for a name that some provider refuses: a name has 1 to 64 letters, digits, `_` and `-`.
 *
 * @example
 * ```ts
 * import { Tool } from "@kintsugi/core"
 * import { Data, Effect, Schema } from "effect"
 *
 * class NoSuchCity extends Data.TaggedError("NoSuchCity")<{ readonly city: string }> {}
 *
 * const weather = Tool.make("weather", {
 *   description: "The weather in a city.",
 *   parameters: Schema.Struct({ city: Schema.String }),
 *   success: Schema.Struct({ celsius: Schema.Finite }),
 *   run: ({ city }) => (city === "Oslo" ? Effect.succeed({ celsius: 4 }) : Effect.fail(new NoSuchCity({ city })))
 * })
 * Effect.runPromise(Tool.call(weather, { city: "Oslo" })) // => { celsius: 4 }
 * ```
 */
export const make = <
  const Name extends string,
  Params,
  A,
  E = Later,
  R = never,
  const S extends Recovery.SideEffects = "undeclared",
  T extends Duration.Input | undefined = undefined,
  C extends Duration.Input | undefined = undefined,
  VR = NoVerify,
  F extends Schema.Codec<unknown, unknown> | undefined = undefined,
  RD = never,
  const Rows extends OwnRows<E, A, S, T, VR> = {},
  Given = {}
>(
  name: Name,
  options: Present<Given, OptionName, Elsewhere> &
    Options<Params, A, E, R, S, RD> &
    OneLength<Given> &
    Limits<T, C, A, VR> &
    Stored<F> &
    Covers<E, F> &
    OwnFailures<E> &
    OwnTable<OwnRows<E, A, S, T, VR>> &
    OwnTable<Rows> &
    CheckOwn<Rows, E | TimeoutOf<S, T, VR>, S>
): Tool<
  Name,
  Params,
  A,
  E | TimeoutsOf<Given, S, T, VR>,
  WithoutScope<R> | RD | ServicesOfVerify<VR>,
  Recovery.Merge<CallLimit<C> & (Storable<E, F> | May<Given, "failure", {}>), Rows | May<Given, "onError", {}>>,
  NoInfer<S> | Undeclared<Given>
> => {
  Names.check(name)
  return fromDefinition(withRows({ ...define(name, options), ...definedAt() }, options.onError))
}

type OptionName =
  | keyof Options<unknown, unknown, unknown, unknown, never>
  | keyof Limits<unknown, unknown, unknown, unknown>
  | keyof Stored<unknown>
  | keyof OwnTable<unknown>

/** The side effects of a tool whose option `sideEffects` may be absent: then it may also be `undeclared`. */
type Undeclared<Given> = May<Given, "sideEffects", "undeclared">

/** The errors of a tool that times out. If `verify` may be absent, these are the errors with it and without it. */
type TimeoutsOf<Given, S, T, VR> = [T] extends [undefined]
  ? never
  :
      | TimeoutOf<S | Undeclared<Given>, T, VR>
      | ([May<Given, "verify", "absent">] extends [never] ? never : TimeoutOf<S, T, NoVerify>)

/** Adds the rows of a table to a tool. Without a table, the definition stays as it is. */
const withRows = (definition: ToolDefinition, table: object | undefined): ToolDefinition =>
  table === undefined
    ? definition
    : { ...definition, rows: new Map([...definition.rows, ...Recovery.rowsOf(table, "a tool")]) }

/**
 * Makes a tool of a function that may throw or return a promise. What it throws or rejects with becomes an `ExecutionError` with that value
 * as its cause, of category `invocation` by default. A result that does not fit `success` is an `ExecutionError` too. An `EscalationError`
 * and a `ToolExecutionError` pass as themselves. The `signal` is aborted when the call is stopped.
 *
 * @example
 * ```ts
 * import { Tool } from "@kintsugi/core"
 * import { Effect, Schema } from "effect"
 *
 * const divide = Tool.fromFunction("divide", {
 *   description: "Divides a number by another.",
 *   parameters: Schema.Struct({ n: Schema.Int, by: Schema.Int }),
 *   success: Schema.Finite,
 *   run: ({ by, n }) => {
 *     if (by === 0) throw new RangeError("division by zero")
 *     return n / by
 *   }
 * })
 * const failed = Tool.call(divide, { n: 1, by: 0 }).pipe(
 *   Effect.catchTag("ExecutionError", ({ message }) => Effect.succeed(message))
 * )
 * Effect.runPromise(failed) // => "division by zero"
 * ```
 */
export const fromFunction = <
  const Name extends string,
  Params,
  A,
  const S extends Recovery.SideEffects = "undeclared",
  T extends Duration.Input | undefined = undefined,
  C extends Duration.Input | undefined = undefined,
  VR = NoVerify,
  RD = never,
  const Rows extends OwnRows<FunctionError, A, S, T, VR> = {},
  Given = {}
>(
  name: Name,
  options: Present<Given, OptionName, Elsewhere> &
    Omit<Options<Params, A, never, never, S, RD>, "run"> &
    OneLength<Given> &
    Limits<T, C, A, VR> &
    OwnTable<OwnRows<FunctionError, A, S, T, VR>> &
    OwnTable<Rows> &
    CheckOwn<Rows, FunctionError | TimeoutOf<S, T, VR>, S> & {
      readonly run: (params: Params, context: ToolContext & { readonly signal: AbortSignal }) => A | Promise<A>
    }
): Tool<
  Name,
  Params,
  A,
  FunctionError | TimeoutsOf<Given, S, T, VR>,
  RD | ServicesOfVerify<VR>,
  Recovery.Merge<CallLimit<C>, Rows | May<Given, "onError", {}>>,
  NoInfer<S> | Undeclared<Given>
> => {
  Names.check(name)
  const run = Foreign.lift(name, options)
  return fromDefinition(withRows(define(name, { ...options, run }), options.onError))
}

/**
 * Recovers from the failures of this tool, by a table. The rows of a second table are added, and win for the same tag. In any order of the
 * pipe, this table applies before the tables of an agent.
 *
 * @example
 * ```ts
 * import { Agent, Recovery, Tool } from "@kintsugi/core"
 * import { Data, Effect, Schema } from "effect"
 *
 * class Busy extends Data.TaggedError("Busy")<{}> {}
 * class Closed extends Data.TaggedError("Closed")<{}> {}
 *
 * const desk = Tool.make("desk", {
 *   description: "Asks the desk.",
 *   parameters: Schema.Struct({}),
 *   success: Schema.String,
 *   run: () => Effect.fail<Busy | Closed>(new Busy())
 * }).pipe(
 *   Tool.onError({
 *     Busy: Recovery.ladder(Recovery.retry({ retries: 3 }), Recovery.tell()),
 *     InvalidArgs: Recovery.tell()
 *   })
 * )
 * const asked = Agent.make("guest", { tools: [desk] })("Is my room ready?")
 * //    ^? Effect<string, Closed | BudgetExceededError | LlmError, Model>
 * ```
 */
export const onError: OnError = dual(2, <T>({ definition }: AnyTool, table: object): T =>
  fromDefinition(withRows(definition, table))
)

interface OnError {
  <E, A, S, const T extends Table<E, A>>(
    table: T & CheckRows<T, E, S>
  ): <Name extends string, Params, A2, E2, R, T0, S2 extends Recovery.SideEffects>(
    self: Tool<Name, Params, A2, E2, R, T0, S2> & Gives<A, E, S> & Fits<E, T, E2, A2, S2>
  ) => Tool<Name, Params, A2, E2, R, Recovery.Merge<T0, T>, S2>
  /** The overload for a tool whose types are type parameters of the surrounding function. */
  <E, A, S extends Recovery.SideEffects, const T extends TableOfAny<E, A>>(
    table: T & CheckAny<T, E, A, S>
  ): <Name extends string, Params, R, T0>(
    self: Tool<Name, Params, A, E, R, T0, S>
  ) => Tool<Name, Params, A, E, R, Recovery.Merge<T0, T>, S>
  <Name extends string, Params, A, E, R, T0, S extends Recovery.SideEffects, const T extends Table<E, A>>(
    self: Tool<Name, Params, A, E, R, T0, S>,
    table: T & CheckRows<T, E, S>
  ): Tool<Name, Params, A, E, R, Recovery.Merge<T0, T>, S>
  /** The overload for a tool whose types are type parameters of the surrounding function. */
  <Name extends string, Params, A, E, R, T0, S extends Recovery.SideEffects, const T extends TableOfAny<E, A>>(
    self: Tool<Name, Params, A, E, R, T0, S>,
    table: T & CheckAny<T, E, A, S>
  ): Tool<Name, Params, A, E, R, Recovery.Merge<T0, T>, S>
}

/**
 * The types of a tool against which the rows of a table are checked. In a pipe, the compiler reads them off the tool.
 *
 * @hidden
 */
export interface Gives<out A, out E, out S> {
  readonly [TypeId]: { readonly _A: () => A; readonly _E: () => E; readonly _S: () => S }
}

/**
 * Adds the function that undoes a call of this tool. A run that fails with a typed failure undoes the calls of such tools in it and in its
 * child runs: the last call first, each call at most once. A run that succeeds, is suspended, is interrupted or dies undoes nothing; if
 * its parent fails later, the parent undoes these calls. A call can be undone once its `run` has succeeded, or `verify` has found that it
 * did. A call that a row answered has nothing to undo.
 *
 * A compensation that fails or dies is reported as the `error` of a `tool-compensated` event and as a warning in the log. The
 * run keeps its own failure, and the rest is undone. A run that goes on from a snapshot undoes what it has done since then.
 *
 * Source: sagas (H. Garcia-Molina, K. Salem, 1987).
 */
export const compensate: {
  <Params, A, R2 = never>(
    undo: Compensate<Params, A, R2>
  ): <Name extends string, E, R, T, S>(
    self: Tool<Name, Params, A, E, R, T, S>
  ) => Tool<Name, Params, A, E, R | WithoutScope<R2>, T, S>
  <Name extends string, Params, A, E, R, T, S, R2 = never>(
    self: Tool<Name, Params, A, E, R, T, S>,
    undo: Compensate<Params, A, R2>
  ): Tool<Name, Params, A, E, R | WithoutScope<R2>, T, S>
} = dual(2, <T>({ definition, name }: AnyTool, undo: Compensate<unknown, unknown, unknown>): T => {
  if (definition.compensate !== undefined) throw new TypeError(`Tool '${name}' already has a compensation`)
  return fromDefinition({ ...definition, compensate: undo, remember })
})

/**
 * Decodes raw arguments and runs the tool once, within its `timeout`. No table applies. Effect's own combinators can recover, but they do
 * not know that an unsafe tool must not run twice, or that invalid arguments stay invalid. The effect is one call: `Effect.retry` makes
 * another attempt with the same idempotency key. `callTimeout` is for calls under tables.
 */
export const call = <Name extends string, Params, A, E, R, T, S>(
  self: Tool<Name, Params, A, E, R, T, S>,
  rawArguments: Message.ToolCall["arguments"]
): Effect.Effect<A, InvalidArgs | DeserializationError | E, R> => {
  const { definition } = self
  let attempt = 0
  let callId: string | undefined
  const run = Effect.gen(function* () {
    const within = yield* RunContext.Current
    const done = within?.done ?? new RunContext.Done(undefined)
    const draw = yield* RunContext.makeId
    const id = (callId ??= `${self.name}-${draw}`)
    // Mutant `""` survives: nothing asks what this part is
    const toolCall: Message.ToolCall = { type: "tool-call", id, name: self.name, arguments: rawArguments }
    const decoded = yield* Call.decode(definition, toolCall, Effect.fromResult)
    let isCleared = false
    const keep = {}
    const running = Effect.suspend(() => {
      const context: ToolContext = {
        attempt: ++attempt,
        callId: id,
        idempotencyKey: id,
        agent: "",
        progress: () => Effect.void,
        runScope: done.scope
      }
      isCleared = false
      const onCleared = () => {
        isCleared = true
      }
      return ToolRun.runAlone({ tool: definition, decoded, context, onCleared, keep })
    })
    const refusal = () =>
      isCleared ? undefined : OutcomeUnknownError.make({ tool: self.name, callId: id, idempotencyKey: id })
    const called = Effect.gen(function* () {
      const value = yield* definition.around?.(running, refusal) ?? running
      // dies if the tool's own schema refuses the value; the caller gets the value and not this text
      yield* Effect.ignore(ToolRun.textOf(definition, value, keep))
      return value
    })
    // within a run, the run closes this scope
    return yield* within === undefined ? Effect.onExitPrimitive(called, (exit) => done.close(exit, id)) : called
  })
  // the definition does not carry the types of the tool
  return run as Effect.Effect<A, InvalidArgs | DeserializationError | E, R>
}

/** The failures of a tool that are no errors of this library. */
type OwnErrorOf<T> = Exclude<ErrorOf<T>, KintsugiError>

interface ToolNeedsAFailureSchema<E> {
  readonly failure: E
}

/**
 * The schema of every failure of this tool's calls. It decodes each failure to its own class. This compiles only if the tool has no
 * failures of its own, or has their schema in the option `failure`.
 */
export const errorSchema = <T extends AnyTool>(
  self: T &
    ([OwnErrorOf<T>] extends [never]
      ? unknown
      : TableOf<T> extends StoredFailures
        ? unknown
        : ToolNeedsAFailureSchema<OwnErrorOf<T>>)
): Schema.Codec<ErrorOf<T> | InvalidArgs | DeserializationError, unknown> => {
  const { failure } = self.definition
  const schema = failure === undefined ? KintsugiError : Schema.Union([failure, KintsugiError])
  // the errors of this library, and those of the tool, which `failure` covers by its type
  return schema as Schema.Codec<ErrorOf<T> | InvalidArgs | DeserializationError, unknown>
}

type BuiltIn<Name extends string, Params, A, E> = Tool<Name, Params, A, E, never, {}, "builtin">

/**
 * A built-in tool that ends the agent with `EscalationError`. It is inactive until a skill lists it. If the agent is a fixer, the model that
 * made the call reads the reason. If the agent is a tool, this is a failure of the tool, for its rows.
 */
export const escalate: BuiltIn<
  "escalate",
  { readonly reason?: string; readonly severity?: string },
  never,
  EscalationError
> = fromDefinition(Ending.escalate)

/**
 * A built-in tool that ends the run with `ToolExecutionError`. The pipeline around the agent ends too. The tool is inactive until a skill
 * lists it.
 */
export const throwException: BuiltIn<"throwException", { readonly reason?: string }, never, ToolExecutionError> =
  fromDefinition(Ending.throwException)

/**
 * A built-in tool that ends the agent with a `Completion`. The completion is the output of the agent. The tool is inactive until a skill
 * lists it. `success: false` says that the task cannot be done; the run succeeds even then.
 */
export const complete: BuiltIn<"complete", Complete.Params, Completion, never> = fromDefinition(Complete.definition)
