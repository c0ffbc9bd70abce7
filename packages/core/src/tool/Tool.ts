/** A tool: a name, a schema and an effect. Its failures are typed, and its recovery is a table. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pipeable from "effect/Pipeable"
import * as Schema from "effect/Schema"
import * as RunContext from "../event/RunContext.ts"
import * as Approving from "./approving.ts"
import * as Call from "./call.ts"
import * as Complete from "./complete.ts"
import * as Foreign from "./function.ts"
import * as ToolRun from "./run.ts"
import { type Covers, define, limitOf, type Limits, type NoVerify, type Options, type Stored } from "./define.ts"
import type { Compensate, ToolContext, ToolDefinition } from "./ToolDefinition.ts"
import type { ServicesOfVerify, TimeoutOf } from "./Residue.ts"
import type { RowKeys, Rows } from "./rows.ts"
import type { Completion } from "../data/Completion.ts"
import * as Returned from "../data/Returned.ts"
import { KintsugiError } from "../errors/KintsugiError.ts"
import type * as Message from "../data/Message.ts"
import * as Recovery from "../recovery/Recovery.ts"
import type { DeserializationError, ExecutionError, InvalidArgs } from "../errors/ToolError.ts"
import { EscalationError, Severity, ToolExecutionError } from "../errors/ToolError.ts"

export type { Limits, NoVerify, Options, Stored, Verify } from "./define.ts"
export type { Compensate, Settled, ToolContext } from "./ToolDefinition.ts"
export type { TimeoutOf } from "./Residue.ts"
export type { Admits, CallError, RowInput, RowKeys, Rows, ToolEnd } from "./rows.ts"

const TypeId: unique symbol = Symbol.for("~@kintsugi/core/Tool")

/**
 * `Params` is what `run` takes, `A` what it gives, `E` its failures before any recovery, `R` what it needs, `Table` the
 * rows of `onError` so far, `S` the declared side effects.
 */
export interface Tool<
  out Name extends string,
  in out Params,
  out A,
  out E,
  out R,
  in out Table = {},
  out S = "undeclared"
>
  extends Pipeable.Pipeable {
  readonly [TypeId]: {
    readonly _Params: (_: Params) => Params
    readonly _A: () => A
    readonly _E: () => E
    readonly _R: () => R
    readonly _Table: (_: Table) => Table
    readonly _S: () => S
  }
  readonly name: Name
  readonly definition: ToolDefinition
}

/** Any tool. `Params` and `Table` are invariant, so nothing but `any` stands for all of them. */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
export type AnyTool = Tool<string, any, unknown, unknown, unknown, any, unknown>

/** The name of a tool. */
export type NameOf<T> = T extends { readonly name: infer Name } ? Name : never

/** What a tool fails with, before any recovery. */
export type ErrorOf<T> = T extends AnyTool ? ReturnType<T[typeof TypeId]["_E"]> : never

/** What a tool gives. */
export type SuccessOf<T> = T extends AnyTool ? ReturnType<T[typeof TypeId]["_A"]> : never

/** What a tool needs. */
export type ServicesOf<T> = T extends AnyTool ? ReturnType<T[typeof TypeId]["_R"]> : never

/** The rows of a tool, and the marks of what it was made with. */
export type TableOf<T> = T extends AnyTool ? ReturnType<T[typeof TypeId]["_Table"]> : never

/** What running a tool twice would do. */
export type SideEffectsOf<T> = T extends AnyTool ? ReturnType<T[typeof TypeId]["_S"]> : never

/**
 * A tool. What it gives, fails with and needs is never read off the place where it is written: there any tool is expected, and
 * whatever `options` leave open would be as wide as that. So it is the same written inline in a skill and as a constant.
 */
export const make = <
  const Name extends string,
  Params,
  A,
  E = never,
  R = never,
  const S extends Recovery.SideEffects = "undeclared",
  T extends Duration.Input | undefined = undefined,
  C extends Duration.Input | undefined = undefined,
  VR = NoVerify,
  F extends Schema.Codec<unknown, unknown> | undefined = undefined
>(
  name: Name,
  options: Options<Params, A, E, R, S> & Limits<T, C, A, VR> & Stored<F> & Covers<E, F>
): Tool<
  Name,
  Params,
  A,
  E | TimeoutOf<S, T, VR>,
  R | ServicesOfVerify<VR>,
  CallLimit<C> & Storable<E, F>,
  NoInfer<S>
> => {
  if (reserved.has(name)) throw new TypeError(`Tool: '${name}' is the name of a built-in tool`)
  return fromDefinition(define(name, options))
}

/** Marks, in the table of a tool, that its calls have a time limit: what ends them then is no row's. */
export interface CallTimeout {
  readonly "~callTimeout": true
}

/** The mark of a tool with a `callTimeout`. */
export type CallLimit<C> = [C] extends [undefined] ? {} : CallTimeout

/** Marks, in the table of a tool, that its own failures can be stored. */
export interface StoredFailures {
  readonly "~storedFailures": true
}

/** The mark of a tool with a schema of its failures. */
export type Storable<E, F> = [E] extends [never] ? {} : [F] extends [undefined] ? {} : StoredFailures

/**
 * A tool out of a function that may throw, or give a promise: whatever it throws or rejects with is an `ExecutionError`,
 * with the thrown value as its cause, and so is a result that does not fit `success`. Its `signal` is aborted when the
 * call is stopped.
 */
export const fromFunction = <
  const Name extends string,
  Params,
  A,
  const S extends Recovery.SideEffects = "undeclared",
  T extends Duration.Input | undefined = undefined,
  C extends Duration.Input | undefined = undefined,
  VR = NoVerify
>(
  name: Name,
  options: Omit<Options<Params, A, never, never, S>, "run"> &
    Limits<T, C, A, VR> & {
      readonly run: (params: Params, context: ToolContext & { readonly signal: AbortSignal }) => A | Promise<A>
    }
): Tool<Name, Params, A, ExecutionError | TimeoutOf<S, T, VR>, ServicesOfVerify<VR>, CallLimit<C>, NoInfer<S>> => {
  const { run, ...others } = options
  return make(name, { ...others, run: Foreign.lift(name, { ...options, run }) })
}

/** Models know the built-in tools by these names. */
const reserved: ReadonlySet<string> = new Set(["escalate", "throwException", "complete"])

/**
 * Recovery for this tool: one row per tag. A second table wins per tag over the first; the other rows stay. It is nearer
 * than every table of an agent, whatever the order of the pipe.
 */
export const onError =
  <E, A, S extends Recovery.SideEffects, const T extends Rows<E, A, S>>(table: T & Recovery.Check<T, RowKeys<E>>) =>
  <Name extends string, Params, R, T0>(
    self: Tool<Name, Params, A, E, R, T0, S>
  ): Tool<Name, Params, A, E, R, Recovery.Merge<T0, T>, S> =>
    fromDefinition({ ...self.definition, rows: new Map([...self.definition.rows, ...Recovery.rowsOf(table)]) })

/** Marks, in the table of a tool, that somebody has to approve of its calls. */
export interface NeedsApproval {
  readonly "~needsApproval": true
}

/** Which calls need approval, and for how long a decision holds. */
export interface ApprovalOptions<in Params, R> {
  /** Which calls need it, by their parameters; all by default. One that fails means that the call needs it. */
  readonly when?: (params: Params) => boolean | Effect.Effect<boolean, unknown, R>
  /** What whoever decides is told. */
  readonly reason?: string
  /** How long a decision holds; one day by default. */
  readonly validFor?: Duration.Input
}

/**
 * Somebody has to approve of calls of this tool before they run, once they have passed every other gate, and again when their
 * arguments were repaired. An agent with such a tool asks for an `Approver` in `R`; started with `agent.start`, its run is
 * suspended instead.
 */
export const requireApproval =
  <Params, R2 = never>(options: ApprovalOptions<Params, R2> = {}) =>
  <Name extends string, A, E, R, T, S>(
    self: Tool<Name, Params, A, E, R, T, S>
  ): Tool<Name, Params, A, E, R | R2, Recovery.Merge<T, NeedsApproval>, S> => {
    const { reason = `Tool '${self.name}' runs only with approval`, validFor = "1 day", when } = options
    const { approval: before } = self.definition
    const holds = limitOf(self.name, "validFor", validFor) ?? Duration.days(1)
    const asks = (params: () => unknown): Effect.Effect<boolean, unknown> => {
      // the parameters are what the tool's schema gave; what the predicate needs is in the tool's type
      const answer = when === undefined ? true : when(params() as Params)
      const whose = "The when of Tool.requireApproval for tool"
      return Returned.valueOf(answer as boolean | Effect.Effect<boolean, unknown>, Returned.aBoolean, whose, self.name)
    }
    return fromDefinition({
      ...self.definition,
      approval: Approving.gate(
        before === undefined
          ? { reason, validFor: holds, when: asks }
          : {
              reason: `${before.reason}; ${reason}`,
              validFor: Duration.min(holds, before.validFor),
              // each may ask for it
              when: (params) =>
                Effect.flatMap(before.when(params), (isNeeded) => (isNeeded ? Effect.succeed(true) : asks(params)))
            }
      )
    })
  }

/**
 * How to undo what a call of this tool has done. When a run fails, with whatever failure leaves it, everything that tools with this
 * have done in it and in the runs below is undone: the last thing first, each at most once. A run that succeeds, is suspended,
 * interrupted, or dies undoes nothing; where its own caller fails in the end, that one does. A call counts from when its `run` has
 * succeeded, or `verify` has found that it did: one that was answered by a row has done nothing.
 *
 * What it fails with or dies of is the `error` of a `tool-compensated` event and a warning of the log: the run fails as it would
 * have, and the rest is undone. A run that goes on from a snapshot undoes what it has done since then.
 *
 * Source: sagas (H. Garcia-Molina, K. Salem, 1987).
 */
export const compensate =
  <Params, A, R2 = never>(undo: Compensate<Params, A, R2>) =>
  <Name extends string, E, R, T, S>(
    self: Tool<Name, Params, A, E, R, T, S>
  ): Tool<Name, Params, A, E, R | R2, T, S> => {
    if (self.definition.compensate !== undefined) throw new TypeError(`Tool '${self.name}' is undone in one way only`)
    // it is given what the tool has taken and given; what it needs is in the tool's type
    return fromDefinition({ ...self.definition, compensate: undo as Compensate<unknown, unknown, unknown> })
  }

/**
 * Decodes the raw arguments and runs the tool once, within its `timeout`. No table is consulted: recover with Effect's own
 * combinators, which know nothing of side effects, nor that arguments that do not fit will never fit. The effect is one call:
 * whoever runs it again, as `Effect.retry` does, makes another attempt with the same idempotency key. `callTimeout` is for
 * calls under tables.
 */
export const call = <Name extends string, Params, A, E, R, T, S>(
  self: Tool<Name, Params, A, E, R, T, S>,
  rawArguments: Message.ToolCall["arguments"]
): Effect.Effect<A, InvalidArgs | DeserializationError | E, R> => {
  const { definition } = self
  let attempt = 0
  let callId: string | undefined
  const run = Effect.gen(function* () {
    const draw = yield* RunContext.makeId
    const id = (callId ??= `${self.name}-${draw}`)
    const toolCall: Message.ToolCall = { type: "tool-call", id, name: self.name, arguments: rawArguments }
    const decoded = yield* Effect.fromResult(Call.decode(definition, toolCall))
    const context = { attempt: ++attempt, callId: id, idempotencyKey: id, agent: "", progress: () => Effect.void }
    const value = yield* ToolRun.runAlone({ tool: definition, decoded, context })
    // dies of a value that its own schema refuses; its caller reads the value, not the text
    yield* Effect.ignore(definition.encode(value))
    return value
  })
  // the definition is blind to the types that the tool carries
  return run as Effect.Effect<A, InvalidArgs | DeserializationError | E, R>
}

/** What a tool fails with besides what this library fails with. */
type OwnErrorOf<T> = Exclude<ErrorOf<T>, KintsugiError>

interface ToolNeedsAFailureSchema<E> {
  readonly failure: E
}

/**
 * The schema of everything that a call of this tool may fail with: through JSON and back, every failure is of its class again.
 * A tool with failures of its own has to know their schema (`failure`), or this does not compile.
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
  // the errors of this library, and those of the tool, which its schema covers by type
  return schema as Schema.Codec<ErrorOf<T> | InvalidArgs | DeserializationError, unknown>
}

type BuiltIn<Name extends string, Params, A, E> = Tool<Name, Params, A, E, never, {}, "builtin">

/** A built-in tool that ends the agent with a failure: the text of arguments that cannot be read is its reason. */
function ending<Name extends string, Params, E>(options: {
  readonly name: Name
  readonly description: string
  readonly parameters: Schema.Codec<Params, unknown>
  readonly errorOf: (params: Params, agent: string) => E
}): BuiltIn<Name, Params, never, E> {
  const { description, errorOf, name, parameters } = options
  const run = (params: Params, { agent }: ToolContext) => Effect.fail(errorOf(params, agent))
  return fromDefinition(define(name, { description, parameters, success: Schema.Never, run }, { words: "reason" }))
}

/**
 * Built in, inactive until a skill lists it: ends the agent with `EscalationError`. As a fixer's end that is told to the model
 * that made the call; of an agent that is a tool it is a failure of that tool, for its rows.
 */
export const escalate: BuiltIn<
  "escalate",
  { readonly reason?: string; readonly severity?: string },
  never,
  EscalationError
> = ending({
  name: "escalate",
  description:
    "Give the task back to the caller, who will read the reason and try again. Put what would correct the problem into the reason.",
  parameters: Schema.Struct({
    reason: Schema.optionalKey(Schema.String),
    severity: Schema.optionalKey(Schema.String.annotate({ description: `One of ${Severity.literals.join(", ")}` }))
  }),
  errorOf: ({ reason, severity }, agent) => EscalationError.of(agent, reasonOf(reason), severityOf(severity))
})

/** Built in, inactive until a skill lists it: ends the agent with `ToolExecutionError`, and the pipeline around it. */
export const throwException: BuiltIn<"throwException", { readonly reason?: string }, never, ToolExecutionError> =
  ending({
    name: "throwException",
    description: "Give up for good: nothing that the caller could correct would help. Ends the whole pipeline.",
    parameters: Schema.Struct({ reason: Schema.optionalKey(Schema.String) }),
    errorOf: ({ reason }, agent) => ToolExecutionError.raised(agent, reasonOf(reason))
  })

/**
 * Built in, inactive until a skill lists it: ends the agent with a `Completion`, which is a value of its output and no error.
 * `success: false` says that the task cannot be done; that is no failure either.
 */
export const complete: BuiltIn<"complete", Complete.Params, Completion, never> = fromDefinition(Complete.definition)

const reasonOf = (text: string | undefined): string =>
  text === undefined || text.trim() === "" ? "no reason was given" : text

const severityOf = (text: string | undefined): Severity => {
  const upper = text?.trim().toUpperCase()
  return Severity.literals.find((severity) => severity === upper) ?? "HIGH"
}

/**
 * A tool of its definition: a tool's type parameters are carried by its type alone.
 *
 * @internal
 */
export function fromDefinition<T>(definition: ToolDefinition): T {
  return Object.assign(Object.create(Pipeable.Prototype), { name: definition.name, definition, [TypeId]: TypeId })
}
