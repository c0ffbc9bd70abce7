/** The types of verdicts and rows. Other types compute from them what a row may answer, fail with, need, do, and how it may end. */
import type * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import type * as Internal from "./Node.ts"
import type { FailureContext } from "./Node.ts"

export const TypeId: unique symbol = Symbol.for("~@kintsugi/core/Recovery")

/**
 * A value that says what to do about a failure of type `E`. `A` may answer in place of the result; `Err` and `R` are the failures and
 * services of its handlers; `End` is how it may end; `Acts` is what it may do before: run something again (`"repeats"`), change the
 * arguments (`"repairs"`), ask a person (`"consults"`), or shorten the conversation (`"compacts"`).
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
 * A verdict with any type parameters.
 *
 * @hidden
 */
export type AnyVerdict = Verdict<never, unknown, unknown, unknown, unknown, unknown>

/**
 * A handler as a row. It is called for each failure, and returns a verdict, or an effect that answers in place of the result, as with
 * `Effect.catchTag`.
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

/** A row with any type parameters. */
export type AnyRow = AnyVerdict | Schedule.Schedule<unknown, never, unknown, unknown> | ((...args: never) => unknown)

/** The verdict that a row is equivalent to. */
type Meant<V> = V extends AnyVerdict
  ? V
  : V extends (...args: never) => infer Out
    ? Said<Out>
    : V extends Schedule.Schedule<unknown, never, infer Err, infer R>
      ? Retry<never, Err, R, "repeats">
      : never

/** The verdict that a handler returns, or the one that is equivalent to the effect that it returns. */
export type Said<Out> = Out extends AnyVerdict
  ? Out
  : Out extends Effect.Effect<infer A, infer Err, infer R>
    ? Verdict<never, A, Err, R>
    : never

/** The type of the answers of a row. */
export type AnswerOf<V> = OfVerdict<Meant<V>>["answer"]

/** The type of the errors of a row's handlers. */
export type ErrorOf<V> = OfVerdict<Meant<V>>["error"]

/** The services that the handlers of a row need. */
export type ServicesOf<V> = OfVerdict<Meant<V>>["services"]

/** The ways in which a row may end. */
export type EndOf<V> = OfVerdict<Meant<V>>["end"]

/** What a row may do before it ends. */
export type ActsOf<V> = OfVerdict<Meant<V>>["acts"]

/** All type parameters of a verdict in one type. */
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

/** The consent to run a tool again although its side effects are unsafe. */
export interface Acknowledged {
  readonly acknowledge: "may run twice"
}
