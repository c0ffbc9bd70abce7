/** Verdicts that consist of other verdicts: ladders, and handlers that choose a verdict. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import { demand, options as given } from "../data/Demand.ts"
import * as Backoff from "./Backoff.ts"
import { erase, type Given, isVerdict, nodeOf, verdict } from "./making.ts"
import type * as Internal from "./Node.ts"
import type { FailureContext } from "./Node.ts"
import * as Returned from "../data/Returned.ts"
import { retry } from "./Verdict.ts"
import type { AnyVerdict, OfVerdict, Said, Verdict } from "./verdictTypes.ts"

/** What a handler declares. */
interface HandlerOptions {
  /** All verdicts that the handler may choose. Choosing any other one is a defect. */
  readonly among?: ReadonlyArray<AnyVerdict>
  /** How often its verdicts may repeat one call. After that, a verdict that would repeat the call gives up. */
  readonly atMost?: number
}

/**
 * Chooses a verdict for each failure, by a function. Use it as a rung of a ladder, or to declare options; without both, a row may be the
 * function itself. The function is called for each failure. Schedules, fixers and ladders keep their state while the function chooses the
 * same one.
 *
 * `among` names all verdicts that it may choose: choosing another one is a defect. `atMost` bounds how often they may repeat one call:
 * after that, a repeating verdict gives up. Without either, `explain` counts attempts up to the cap of a call.
 *
 * @example
 * ```ts
 * import { Recovery } from "@kintsugi/core"
 * import { Data, Effect } from "effect"
 *
 * class Busy extends Data.TaggedError("Busy")<{ readonly isShort: boolean }> {}
 * const desk: Effect.Effect<string, Busy> = Effect.fail(new Busy({ isShort: false }))
 *
 * const patient = Recovery.retry({ retries: 9 })
 * const later = Recovery.respondWith("later")
 * const polite = Recovery.when(({ isShort }: Busy) => (isShort ? patient : later), { among: [patient, later] })
 *
 * Recovery.explain(polite).worst.attempts // => 10
 * const guarded = Recovery.onError(desk, { Busy: polite })
 * //    ^? Effect<string, Busy>
 * ```
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
> => {
  demand("Recovery.when: what chooses", "a function", choose, Predicate.isFunction(choose))
  if (options !== undefined) given("Recovery.when", options, ["among", "atMost"])
  return verdict(handled(erase(choose), "The function of Recovery.when", undefined, options))
}

/** Makes a handler that checks the value of the user's function: it has to be a verdict or an effect. */
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

/** Makes a verdict of the effect that a handler returned. Its failures and services are in the type of the row. */
const answering = (answer: Effect.Effect<unknown, unknown, unknown>): Internal.RespondWith => ({
  kind: "respondWith",
  answer: () => answer as Effect.Effect<unknown, unknown>
})

/**
 * Tries verdicts, its *rungs*, in order. When a rung gives up, the next rung decides about the same failure. A rung that gave up never
 * decides again. A ladder has up to four rungs, and a rung may be a ladder. Each rung has to be a verdict: {@link retry} makes one from a
 * schedule, {@link when} from a function.
 *
 * @example
 * ```ts
 * import { Explanation, Recovery } from "@kintsugi/core"
 *
 * const ladder = Recovery.ladder(
 *   Recovery.retry({ retries: 2, initialBackoff: "1 second" }),
 *   Recovery.respondWith("out of office")
 * )
 * Recovery.explain({ Busy: ladder }).rows[0]?.rungs.map(({ verdict }) => verdict) // => ["retry", "respondWith"]
 * ```
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
  // a rest parameter, because optional parameters would also accept `undefined` as a rung
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

/** Stands for the end of a rung that is not given. */
type Absent = "absent"

/** The ways in which two rungs may end: the second decides if the first gives up. */
type Then<First, Second> = Absent extends Second ? First : Exclude<First, "exhausted"> | Second

/**
 * Converts a row in any form to a node. Throws a `TypeError` that names the row if the value is no row.
 *
 * @internal
 */
export const rowNode = (key: string, row: unknown): Internal.Node => {
  if (isVerdict(row)) return nodeOf(row)
  // the schedule accepts any error; its failures and services are in the type of the row
  if (Schedule.isSchedule(row)) return nodeOf(retry(row as Schedule.Schedule<unknown, unknown>))
  // the parameters and the result of the handler are in the type of the row
  if (Predicate.isFunction(row)) return handled(row as Parameters<typeof handled>[0], "The handler of row", key)
  const given = row === null ? "null" : typeof row
  throw new TypeError(`The row '${key}' of a table is ${given}, not a verdict, a schedule or a handler`)
}

/** Converts a rung to a node. For untyped programs it checks that the rung is a verdict. */
const rungNode =
  (of: string) =>
  (rung: unknown, index: number): Internal.Node => {
    if (isVerdict(rung)) return nodeOf(rung)
    const given = Schedule.isSchedule(rung) ? "a schedule" : rung === null ? "null" : `a value of type ${typeof rung}`
    const help = "Recovery.retry makes one of a schedule, Recovery.when of a handler"
    throw new TypeError(`Number ${index + 1} of ${of} is ${given}, not a verdict: ${help}`)
  }
