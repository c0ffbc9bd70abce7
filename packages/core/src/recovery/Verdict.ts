/**
 * Verdicts: what to do about one failure, as a value. `Recovery` puts them into tables, and is where users find them.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Backoff from "./Backoff.ts"
import * as Compacting from "./compacting.ts"
import type { Compaction } from "./Compaction.ts"
import * as Fixing from "./fixing.ts"
import type * as Internal from "./Node.ts"
import type { FailureContext } from "./Node.ts"
import * as Returned from "../data/Returned.ts"
import type { DeserializationError, InvalidArgs, Severity, ToolExecutionError } from "../errors/ToolError.ts"

export type { Severity } from "../errors/ToolError.ts"
export type { Decision, FailureContext, Rows, SideEffects } from "./Node.ts"

const TypeId: unique symbol = Symbol.for("~@kintsugi/core/Recovery")

/**
 * What to do about a failure of type `E`. Handled by it: `A` may answer in place of the result, `Err` and `R` are the
 * failures and requirements of its own handlers, `End` is how it may end, and `Acts` is what it may do on the way:
 * `"repeats"`, run something again, `"repairs"`, change the arguments, and `"compacts"`, shorten what a model reads.
 */
export interface Verdict<in E, out A = never, out Err = never, out R = never, out End = never, out Acts = never> {
  readonly [TypeId]: {
    readonly _E: (error: E) => void
    readonly _A: () => A
    readonly _Err: () => Err
    readonly _R: () => R
    readonly _End: () => End
    readonly _Acts: () => Acts
  }
  readonly kind: Internal.Node["kind"]
}

/** A verdict of which nothing is known. */
export type AnyVerdict = Verdict<never, unknown, unknown, unknown, unknown, unknown>

/** What the handlers of a verdict may answer. */
export type AnswerOf<V> = V extends Verdict<never, infer A, unknown, unknown, unknown, unknown> ? A : never

/** What the handlers of a verdict may fail with. */
export type ErrorOf<V> = V extends Verdict<never, unknown, infer Err, unknown, unknown, unknown> ? Err : never

/** What the handlers of a verdict need. */
export type ServicesOf<V> = V extends Verdict<never, unknown, unknown, infer R, unknown, unknown> ? R : never

/** How a verdict may end. */
export type EndOf<V> = V extends Verdict<never, unknown, unknown, unknown, infer End, unknown> ? End : never

/** What a verdict may do on the way. */
export type ActsOf<V> = V extends Verdict<never, unknown, unknown, unknown, unknown, infer P> ? P : never

/**
 * `T`, but nothing is inferred for it from the place where the verdict stands: else a row would answer for its verdict.
 * `NoInfer` does the same, but stays in the types that users read.
 */
type Given<T> = [T][T extends unknown ? 0 : never]

/** The consent that a policy may run something twice although its side effects are unsafe. */
export interface Acknowledged {
  readonly acknowledge: "may run twice"
}

/** How often and after which waits something is tried again. */
export type RetryOptions = Backoff.Options

/**
 * Runs it again. `retries` counts the extra runs, `maxAttempts` all runs; without `initialBackoff` there is no wait. A
 * schedule gets each error as its input; when it is done, the rung gives up. A server's hint (`retryAfter`) is a floor
 * under every wait.
 */
export function retry<E>(options: RetryOptions & Acknowledged): Retry<E>
export function retry<E>(options: RetryOptions): Retry<E, never, never, "repeats">
export function retry<E, Output, Err, R>(
  schedule: Schedule.Schedule<Output, E, Err, R>,
  options: Acknowledged
): Retry<E, Err, R>
export function retry<E, Output, Err, R>(schedule: Schedule.Schedule<Output, E, Err, R>): Retry<E, Err, R, "repeats">
export function retry(
  input: (RetryOptions & Partial<Acknowledged>) | Schedule.Schedule<unknown, never, unknown, unknown>,
  options?: Acknowledged
): Retry<never, unknown, unknown, unknown> {
  const isSchedule = Schedule.isSchedule(input)
  // the driver hands a schedule only the errors that its row admits
  const schedule = isSchedule ? Backoff.hinted(input as Schedule.Schedule<unknown, unknown>) : Backoff.make(input)
  return verdict({ kind: "retry", schedule, acknowledged: (isSchedule ? options : input)?.acknowledge !== undefined })
}

/** A `retry` verdict: the one kind that a schedule can express as well. */
export interface Retry<in E, out Err = never, out R = never, out Acts = never> extends Verdict<
  E,
  never,
  Err,
  R,
  "exhausted",
  Acts
> {
  readonly kind: "retry"
}

/** The schedule of a retry verdict: `Effect.retry` with it makes the same attempts at the same instants. */
export const toSchedule = <E, Err, R, Acts>(self: Retry<E, Err, R, Acts>): Schedule.Schedule<unknown, E, Err, R> => {
  const node = nodeOf(self)
  if (node.kind !== "retry") throw new TypeError("Recovery.toSchedule: not a retry verdict")
  // the schedule was erased when the verdict was made; its types are those of the verdict
  return node.schedule as Schedule.Schedule<unknown, E, Err, R>
}

/** How often the fixer may run, once by default; `maxAttempts: m` is the same as `retries: m - 1`. */
export type FixOptions<E> = Partial<Backoff.Count> & {
  /** `"result"`: the answer stands in for the tool's result, which is not run again. */
  readonly as?: "arguments" | "result"
  /** Builds the fixer's input, in place of the raw arguments or the report. */
  readonly input?: (failure: FixInput<E>) => string
}

/** What a fixer has to repair: the failure of the row, or that of the fixer's last answer. */
export interface FixInput<out E> {
  readonly error: E | InvalidArgs | DeserializationError
  readonly context: FailureContext
}

/** A fixer: any function from text to the effect of a text. Agents are such functions. */
export type Fixer<E, R> = (input: string) => Effect.Effect<string, E, R>

/**
 * Lets a fixer repair the arguments; its answer passes every gate and the tool runs again. A fixer's own failure is one
 * failed run of it and stays in the trail, except that its escalation is told and its `ToolExecutionError` ends the call.
 */
export function fix<E, FixerError, R>(
  fixer: Fixer<FixerError, R>,
  options: FixOptions<E> & Acknowledged
): Verdict<E, never, Extract<FixerError, ToolExecutionError>, R, "exhausted", "repairs">
export function fix<E, FixerError, R>(
  fixer: Fixer<FixerError, R>,
  options: FixOptions<E> & { readonly as: "result" }
): Verdict<E, never, Extract<FixerError, ToolExecutionError>, R, "exhausted", "repairs">
export function fix<E, FixerError, R>(
  fixer: Fixer<FixerError, R>,
  options?: FixOptions<E>
): Verdict<E, never, Extract<FixerError, ToolExecutionError>, R, "exhausted", "repeats" | "repairs">
export function fix(
  fixer: Fixer<unknown, unknown>,
  options?: FixOptions<never> & Partial<Acknowledged>
): Verdict<never, never, unknown, unknown, "exhausted", "repeats" | "repairs"> {
  return verdict({
    kind: "fix",
    // the fixer's requirements are in the verdict's type
    fixer: fixer as Fixer<unknown, never>,
    maxRuns: options?.retries === undefined && options?.maxAttempts === undefined ? 1 : Backoff.attempts(options) - 1,
    as: options?.as ?? "arguments",
    // the driver hands it only the errors that its row admits
    input: options?.input as Internal.Fix["input"],
    acknowledged: options?.acknowledge !== undefined,
    run: Fixing.run
  })
}

/**
 * Soft: the model reads the failure as the result of its call, flagged as an error. Without `render`, or when that fails or
 * says nothing, it is told whether repeating the call can help. With `then: "tools-off"`, and if every failure of its batch says so, tools are switched off
 * for the rest of the run: the model has to answer in words.
 */
export const tell = <E, R = never>(
  render?: (error: E, context: FailureContext) => string | Effect.Effect<string, unknown, R>,
  options?: { readonly then?: Internal.Afterwards }
): Verdict<E, never, never, Given<R>, "told"> =>
  verdict({
    kind: "tell",
    // what it needs is in the verdict's type
    render: render === undefined ? undefined : (erase(render) as Internal.Renderer),
    afterwards: options?.then
  })

/** Soft: the model reads an escalation that asks for corrected arguments. `severity` is `HIGH` by default. */
export const escalate = <E>(options?: { readonly severity?: Severity }): Verdict<E, never, never, never, "told"> =>
  verdict({ kind: "escalate", severity: options?.severity ?? "HIGH" })

/**
 * Shortens the conversation and asks the model again: for `ContextTooLongError`, in tables for model calls alone. At most twice
 * in a turn, over all rungs of its table. It gives up, and no call is made, where the compaction fails or what it gives is no
 * shorter: then the next rung is asked, or the original error is left.
 */
export const compact = <E, R = never>(
  compaction: Compaction<R>
): Verdict<E, never, never, R, "exhausted", "compacts"> =>
  verdict({
    kind: "compact",
    // its needs are in the verdict's type
    compaction: compaction as Compaction,
    run: Compacting.run
  })

/** Any value. Arrays are named, so that one that is written as an answer is no readonly one. */
type Answerable = Array<unknown> | {} | null | undefined

/**
 * A typed answer in the place of the result: a value, or an effect of the failure. The type of a value is the exact one, as with
 * `as const`.
 */
export function respondWith<E, A, E2 = never, R = never>(
  answer: (error: E) => Effect.Effect<A, E2, R>
): Verdict<E, Given<A>, Given<E2>, Given<R>>
export function respondWith<E, const A extends Answerable>(
  answer: A & (A extends (...args: never) => unknown ? never : unknown)
): Verdict<E, Given<A>>
export function respondWith(answer: unknown): Verdict<never, unknown, unknown, unknown> {
  return verdict({
    kind: "respondWith",
    // a function is always the effectful form; its requirements are in the verdict's type
    answer: Predicate.isFunction(answer)
      ? (answer as (error: unknown) => Effect.Effect<unknown, unknown>)
      : () => Effect.succeed(answer)
  })
}

/** Hard: `ToolExecutionError`, at once. */
export const raise: Verdict<unknown, never, never, never, "raise"> = verdict({ kind: "raise" })

/** The failure leaves as itself, and no other row or level is asked. */
export const rethrow: Verdict<unknown, never, never, never, "rethrow"> = verdict({ kind: "rethrow" })

/**
 * Asked again at every failure. Its verdicts share one slot: counts go on from where they were, and a retry keeps the
 * schedule of the first retry that was chosen, whichever is chosen later. What it may choose is not known beforehand, so
 * `explain` has nothing but the caps of a call to go by, unless `among` names all of it; choosing anything else is a defect.
 */
export const when = <E, V extends Verdict<E, unknown, unknown, unknown, unknown, unknown>>(
  choose: (error: E, context: FailureContext) => V,
  options?: { readonly among: ReadonlyArray<AnyVerdict> }
): Verdict<E, AnswerOf<V>, ErrorOf<V>, ServicesOf<V>, EndOf<V>, ActsOf<V>> =>
  verdict({
    kind: "when",
    choose: erase((error: E, context) => {
      const chosen = choose(error, context)
      if (isVerdict(chosen)) return nodeOf(chosen)
      throw Returned.wrong(chosen, "a verdict", "The function of Recovery.when")
    }),
    among: options?.among.map(nodeOf)
  })

/**
 * Rungs, first to last: the next one is asked when one gives up, with the failure that made it give up. No rung is asked
 * again after that. Ladders nest.
 */
export const ladder = <
  E,
  A1,
  X1,
  R1,
  Z1,
  P1,
  A2 = never,
  X2 = never,
  R2 = never,
  Z2 = Absent,
  P2 = never,
  A3 = never,
  X3 = never,
  R3 = never,
  Z3 = Absent,
  P3 = never,
  A4 = never,
  X4 = never,
  R4 = never,
  Z4 = Absent,
  P4 = never
>(
  first: Verdict<E, A1, X1, R1, Z1, P1>,
  // not optional parameters: those admit `undefined`, and a rung that may be missing is no rung
  ...others:
    | []
    | [second: Verdict<E, A2, X2, R2, Z2, P2>]
    | [second: Verdict<E, A2, X2, R2, Z2, P2>, third: Verdict<E, A3, X3, R3, Z3, P3>]
    | [
        second: Verdict<E, A2, X2, R2, Z2, P2>,
        third: Verdict<E, A3, X3, R3, Z3, P3>,
        fourth: Verdict<E, A4, X4, R4, Z4, P4>
      ]
): Verdict<
  E,
  Given<A1 | A2 | A3 | A4>,
  Given<X1 | X2 | X3 | X4>,
  Given<R1 | R2 | R3 | R4>,
  Given<Then<Then<Then<Z1, Z2>, Z3>, Z4>>,
  Given<P1 | P2 | P3 | P4>
> => verdict({ kind: "ladder", rungs: [first, ...others].map(nodeOf) })

/** The end of a rung that is not there. */
type Absent = "absent"

/** The ends of two rungs: the second stands in where the first gives up. */
type Then<First, Second> = Absent extends Second ? First : Exclude<First, "exhausted"> | Second

/**
 * Whether a value is a verdict.
 *
 * @internal
 */
export const isVerdict = (value: unknown): value is AnyVerdict => Predicate.hasProperty(value, TypeId)

// every type parameter is carried by the type alone: `verdict` and `nodeOf` are the two ends of that
function verdict<V extends AnyVerdict>(node: Internal.Node): V {
  return { ...node, [TypeId]: TypeId } as unknown as V
}

/**
 * What a verdict is made of.
 *
 * @internal
 */
export function nodeOf(self: AnyVerdict): Internal.Node {
  return self as unknown as Internal.Node
}

// the driver hands a callback only the errors that its row admits
const erase = <E, B>(f: (error: E, context: FailureContext) => B) => f as (error: unknown, context: FailureContext) => B
