/** The types of verdicts and of rows: what they may answer, fail with, need, end with and do is computed from these. */
import type * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import type * as Internal from "./Node.ts"
import type { FailureContext } from "./Node.ts"

export const TypeId: unique symbol = Symbol.for("~@kintsugi/core/Recovery")

/**
 * What to do about a failure of type `E`. Handled by it: `A` may answer in place of the result, `Err` and `R` are the
 * failures and requirements of its own handlers, `End` is how it may end, and `Acts` is what it may do on the way:
 * `"repeats"`, run something again, `"repairs"`, change the arguments, `"consults"`, ask a person, and `"compacts"`, shorten what a model reads.
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

/**
 * A verdict of which nothing is known.
 *
 * @hidden
 */
export type AnyVerdict = Verdict<never, unknown, unknown, unknown, unknown, unknown>

/**
 * What a handler decides: an effect that answers in the place of what failed, as with `Effect.catchTag`, or a verdict. The
 * handler is called for each failure.
 */
export type Handler<E, A, End, Acts> = (
  error: E,
  context: FailureContext
) => Effect.Effect<A, unknown, unknown> | Verdict<E, A, unknown, unknown, End, Acts>

/** A row of a table: a verdict, a schedule (the same as `retry(schedule)`), or a handler. */
export type RowOf<E, A, End, Acts> =
  | Verdict<E, A, unknown, unknown, End, Acts>
  | ("repeats" extends Acts ? Schedule.Schedule<unknown, E, unknown, unknown> : never)
  | Handler<E, A, End, Acts>

/** A row of which nothing is known. */
export type AnyRow = AnyVerdict | Schedule.Schedule<unknown, never, unknown, unknown> | ((...args: never) => unknown)

/** The verdict that a row stands for. */
type Meant<V> = V extends AnyVerdict
  ? V
  : V extends (...args: never) => infer Out
    ? Said<Out>
    : V extends Schedule.Schedule<unknown, never, infer Err, infer R>
      ? Retry<never, Err, R, "repeats">
      : never

/** The verdict that a handler says, or answers with. */
export type Said<Out> = Out extends AnyVerdict
  ? Out
  : Out extends Effect.Effect<infer A, infer Err, infer R>
    ? Verdict<never, A, Err, R>
    : never

/** What the handlers of a row may answer. */
export type AnswerOf<V> = OfVerdict<Meant<V>>["answer"]

/** What the handlers of a row may fail with. */
export type ErrorOf<V> = OfVerdict<Meant<V>>["error"]

/** What the handlers of a row need. */
export type ServicesOf<V> = OfVerdict<Meant<V>>["services"]

/** How a row may end. */
export type EndOf<V> = OfVerdict<Meant<V>>["end"]

/** What a row may do on the way. */
export type ActsOf<V> = OfVerdict<Meant<V>>["acts"]

/** What a verdict may answer, fail with and need, how it may end, and what it may do on the way. */
export type OfVerdict<V> =
  V extends Verdict<never, infer A, infer Err, infer R, infer End, infer P>
    ? { readonly answer: A; readonly error: Err; readonly services: R; readonly end: End; readonly acts: P }
    : never

/**
 * A `retry` verdict: the one kind that a schedule can express as well.
 *
 * @hidden
 */
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

/** The consent that a policy may run a tool twice although its side effects are unsafe. */
export interface Acknowledged {
  readonly acknowledge: "may run twice"
}
