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
import {
  type Acknowledged,
  type AnyVerdict,
  type OfVerdict,
  type Retry,
  type Said,
  TypeId,
  type Verdict
} from "./verdictTypes.ts"

export type { AnyVerdict, Retry, Verdict } from "./verdictTypes.ts"

export type { FailureContext, SideEffects } from "./Node.ts"

/**
 * `T`, but nothing is inferred for it from the place where the verdict stands: else a row would answer for its verdict.
 * `NoInfer` does the same, but stays in the types that users read.
 */
type Given<T> = [T][T extends unknown ? 0 : never]

/**
 * Retries the call. `retries` counts the extra runs, `maxAttempts` all runs; without `initialBackoff` there is no wait. A
 * schedule gets each error as its input; when it is done, the rung gives up. A server's hint (`retryAfter`) is a floor
 * under every wait.
 */
export function retry<E>(options: Backoff.Options & Acknowledged): Retry<E>
export function retry<E>(options: Backoff.Options): Retry<E, never, never, "repeats">
export function retry<E, Output, Err, R>(
  schedule: Schedule.Schedule<Output, E, Err, R>,
  options: Acknowledged
): Retry<E, Err, R>
export function retry<E, Output, Err, R>(schedule: Schedule.Schedule<Output, E, Err, R>): Retry<E, Err, R, "repeats">
export function retry(
  input: (Backoff.Options & Partial<Acknowledged>) | Schedule.Schedule<unknown, never, unknown, unknown>,
  options?: Acknowledged
): Retry<never, unknown, unknown, unknown> {
  const isSchedule = Schedule.isSchedule(input)
  if (!isSchedule && !Predicate.isObject(input)) {
    throw new TypeError(
      `Recovery.retry takes options or a schedule, not ${String(input)}: { retries: n } counts the extra runs, { maxAttempts: n } all runs`
    )
  }
  // the driver hands a schedule only the errors that its row admits
  const schedule = isSchedule ? Backoff.hinted(input as Schedule.Schedule<unknown, unknown>) : Backoff.make(input)
  const acknowledged = (isSchedule ? options : input)?.acknowledge !== undefined
  return verdict({ kind: "retry", schedule, madeOf: input, acknowledged })
}

/** The schedule of a retry verdict: `Effect.retry` with it makes the same attempts at the same instants. */
export const toSchedule = <E, Err, R, Acts>(self: Retry<E, Err, R, Acts>): Schedule.Schedule<unknown, E, Err, R> => {
  const node = nodeOf(self)
  if (node.kind !== "retry") throw new TypeError("Recovery.toSchedule: not a retry verdict")
  // the schedule was erased when the verdict was made; its types are those of the verdict
  return node.schedule as Schedule.Schedule<unknown, E, Err, R>
}

/** How often the fixer may run, once by default; `maxAttempts: m` is the same as `retries: m - 1`. */
type FixOptions<E> = Partial<Backoff.Count> & {
  /** `"result"`: the answer replaces the tool's result, and the tool does not run again. */
  readonly as?: "arguments" | "result"
  /** Builds the fixer's input, in place of the raw arguments or the report. */
  readonly input?: (failure: FixInput<E>) => string
}

/** What a fixer has to repair: the failure of the row, or that of the fixer's last answer. */
interface FixInput<out E> {
  readonly error: E | InvalidArgs | DeserializationError
  readonly context: FailureContext
}

/** A fixer: any function from text to the effect of a text. Agents are such functions. */
type Fixer<E, R> = (input: string) => Effect.Effect<string, E, R>

/**
 * Lets a fixer repair the arguments; its answer passes every gate and the tool runs again. A failure of the fixer counts as one
 * failed run and stays in the trail. Two failures of a fixer differ: its escalation is told, and its `ToolExecutionError` ends the call.
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
 * Soft: the model reads the failure as the result of its call, flagged as an error. Without `render`, or if `render` fails or
 * returns nothing, the text says whether repeating the call can help. With `then: "tools-off"` on every failure of a batch, tools are
 * switched off for the rest of the run: the model has to answer in words.
 */
export const tell = <E, R = never>(
  render?: (error: E, context: FailureContext) => string | Effect.Effect<string, unknown, R>,
  options?: { readonly then?: Internal.Afterwards }
): Verdict<E, never, never, Given<R>, "told"> => telling(render, options)

/**
 * The same, with a text for when `render` fails or says nothing.
 *
 * @internal
 */
export const telling = <E, R = never>(
  render: ((error: E, context: FailureContext) => string | Effect.Effect<string, unknown, R>) | undefined,
  options?: { readonly then?: Internal.Afterwards; readonly byDefault?: (error: E) => string }
): Verdict<E, never, never, Given<R>, "told"> =>
  verdict({
    kind: "tell",
    // what it needs is in the verdict's type
    render: render === undefined ? undefined : (erase(render) as Internal.Renderer),
    byDefault: options?.byDefault && erase(options.byDefault),
    afterwards: options?.then
  })

/**
 * The same verdict; the breaker of the run counts only after that many failed calls in a row.
 *
 * @internal
 */
export const patient = <V extends AnyVerdict>(self: V, patience: number): V => verdict({ ...nodeOf(self), patience })

/**
 * The same verdict, which is also asked after a nearer row has given up, as if it, or `behind`, were the last rung of that row. For the
 * `orElse` of a table behind all others, as in the presets.
 *
 * @example
 * ```ts
 * import { Agent, Recovery } from "@kintsugi/core"
 *
 * // what the retries of a tool give up is told as well
 * const clerk = Agent.make("clerk", {}).pipe(Agent.toolDefaults({ orElse: Recovery.backstop(Recovery.tell()) }))
 * clerk.name // => "clerk"
 * ```
 */
export const backstop = <E, A, Err, R, End, Acts>(
  self: Verdict<E, A, Err, R, End, Acts>,
  behind: Verdict<E, A, Err, R, End, Acts> = self
): Verdict<E, A, Err, R, End | "backstop", Acts> => verdict({ ...nodeOf(self), behind: nodeOf(behind) })

/** Soft: the model reads an escalation that asks for corrected arguments. `severity` is `HIGH` by default. */
export const escalate = <E>(options?: { readonly severity?: Severity }): Verdict<E, never, never, never, "told"> =>
  verdict({ kind: "escalate", severity: options?.severity ?? "HIGH" })

/**
 * Shortens the conversation and asks the model again: for `ContextTooLongError`, in tables for model calls alone. At most twice
 * in a turn, over all rungs of its table. If the compaction fails or its result is no shorter, the rung gives up without a call:
 * then the next rung is asked, or the original error leaves.
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

/** Any value. Arrays are named, so that an array literal as an answer is inferred as mutable. */
type Answerable = Array<unknown> | {} | null | undefined

/**
 * A typed answer instead of the result: a value, or a function from the failure to an effect. A value has its literal type, as with
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

/** What a handler declares. */
interface HandlerOptions {
  /** All verdicts that it may choose; choosing anything else is a defect. */
  readonly among?: ReadonlyArray<AnyVerdict>
  /** How often its verdicts may repeat one call: after that, a repeating verdict gives up instead. */
  readonly atMost?: number
}

/**
 * A handler as a verdict, for a rung of a ladder or with options; it is asked at every failure. The options of a retry count
 * the failures that the handler was asked about in this call. A schedule, a fixer and a ladder keep their state for as
 * long as the handler chooses the same one. `explain` counts attempts up to the cap of a call, unless `among` names all verdicts, or
 * `atMost` bounds the repetitions.
 *
 * @example
 * const polite = Recovery.when((error: Busy) => (error.isShort ? Recovery.retry({ retries: 9 }) : Recovery.tell()), {
 *   atMost: 3
 * })
 */
export const when = <
  E,
  V extends Verdict<E, unknown, unknown, unknown, unknown, unknown> | Effect.Effect<unknown, unknown, unknown>,
  const O extends HandlerOptions = {}
>(
  choose: (error: E, context: FailureContext) => V,
  options?: O
): Verdict<
  E,
  OfVerdict<Said<V>>["answer"],
  OfVerdict<Said<V>>["error"],
  OfVerdict<Said<V>>["services"],
  OfVerdict<Said<V>>["end"] | ("atMost" extends keyof O ? "exhausted" : never),
  OfVerdict<Said<V>>["acts"]
> => verdict(handled(erase(choose), "The function of Recovery.when", undefined, options))

/** A handler: its verdict is checked after it has returned. */
const handled = (
  choose: (error: unknown, context: FailureContext) => unknown,
  whose: string,
  name?: string,
  { among, atMost }: HandlerOptions = {}
): Internal.When => ({
  kind: "when",
  choose: (error, context) => {
    const chosen = choose(error, context)
    if (isVerdict(chosen)) return nodeOf(chosen)
    if (Effect.isEffect(chosen)) return answering(chosen)
    throw Returned.wrong(chosen, "a verdict or an Effect", whose, name)
  },
  among: among?.map(rungNode("the among of Recovery.when")),
  atMost: atMost === undefined ? undefined : Backoff.attempts({ retries: atMost }) - 1
})

/** The answer of a handler, whose failures and needs are in the type of its row. */
const answering = (answer: Effect.Effect<unknown, unknown, unknown>): Internal.RespondWith => ({
  kind: "respondWith",
  answer: () => answer as Effect.Effect<unknown, unknown>
})

/**
 * Rungs, first to last: the next one is asked when one gives up, with the failure that made it give up. No rung is asked
 * again after that. Ladders nest. A rung is a verdict: {@link retry} makes one of a schedule, {@link when} of a handler.
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
> => verdict({ kind: "ladder", rungs: [first, ...others].map(rungNode("Recovery.ladder")) })

/** The end of an absent rung. */
type Absent = "absent"

/** The ends of two rungs: the second one acts if the first gives up. */
type Then<First, Second> = Absent extends Second ? First : Exclude<First, "exhausted"> | Second

/**
 * Whether a value is a verdict.
 *
 * @internal
 */
export const isVerdict = (value: unknown): value is AnyVerdict => Predicate.hasProperty(value, TypeId)

/**
 * The node of a row in any form; throws a `TypeError` that names the row if the value is no row.
 *
 * @internal
 */
export const rowNode = (key: string, row: unknown): Internal.Node => {
  if (isVerdict(row)) return nodeOf(row)
  // any error; what it fails with and needs is in the type of the row
  if (Schedule.isSchedule(row)) return nodeOf(retry(row as Schedule.Schedule<unknown, unknown>))
  // what it takes and gives is in the type of the row
  if (Predicate.isFunction(row)) return handled(row as Parameters<typeof handled>[0], "The handler of row", key)
  const given = row === null ? "null" : typeof row
  throw new TypeError(`The row '${key}' of a table is ${given}, not a verdict, a schedule or a handler`)
}

/** The node of a rung: it has to be a verdict, which is checked for untyped programs. */
const rungNode =
  (of: string) =>
  (rung: unknown, index: number): Internal.Node => {
    if (isVerdict(rung)) return nodeOf(rung)
    const given = Schedule.isSchedule(rung) ? "a schedule" : rung === null ? "null" : `a value of type ${typeof rung}`
    const help = "Recovery.retry makes one of a schedule, Recovery.when of a handler"
    throw new TypeError(`Number ${index + 1} of ${of} is ${given}, not a verdict: ${help}`)
  }

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
