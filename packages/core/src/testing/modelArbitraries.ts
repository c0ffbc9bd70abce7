/** Arbitraries of Effect for replies and turns of models, limits of runs, and fault plans. */
import * as Arbitrary from "effect/Arbitrary"
import type * as Budget from "../budget/Budget.ts"
import type * as Message from "../data/Message.ts"
import * as FaultPlan from "./FaultPlan.ts"
import { constantFrom, given, integer, oneOf, orAbsent } from "./policyArbitraries.ts"
import type { ModelTurn } from "./ScriptedModel.ts"

interface TurnOptions<Failure, Cut> {
  /** Draws the failures of attempts. Without it, no attempt fails. */
  readonly failure?: Arbitrary.Arbitrary<Failure>
  /** The finish reasons of replies that were cut, which is one of nine. By default `length` and `filtered`; with none, no reply is cut. */
  readonly cuts?: ReadonlyArray<Cut>
  /** The fewest calls of a reply; 1 by default. A reply without calls is an answer. */
  readonly minCalls?: number
  /** The most calls of a reply; 3 by default. */
  readonly maxCalls?: number
  /** The most turns; 4 by default. One case of ten has none: the model answers at once. */
  readonly maxTurns?: number
}

/** Draws no failure, one failure up to three times, or up to three failures of any kind. */
const failuresOf = <Failure>(failure: Arbitrary.Arbitrary<Failure>): Arbitrary.Arbitrary<ReadonlyArray<Failure>> =>
  oneOf<ReadonlyArray<Failure>>(
    [4, Arbitrary.Constant([])],
    [
      2,
      Arbitrary.map(Arbitrary.all({ failure, times: constantFrom(1, 2, 3) }), ({ failure, times }) =>
        Array.from({ length: times }, () => failure)
      )
    ],
    [1, Arbitrary.array(failure, { minLength: 1, maxLength: 3 })]
  )

/**
 * Draws the turns of a model as plain data, for `ScriptedModel.playing`: the failures of its attempts, what each attempt takes, and the
 * calls of its reply, of which `call` draws each one.
 *
 * @example
 * ```ts
 * import { Agent, Recovery, Tool } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
 * import * as FastCheck from "@kintsugi/core/testing/FastCheck"
 * import { Effect, Fiber, Schema } from "effect"
 * import { TestClock } from "effect/testing"
 *
 * const add = Tool.make("add", {
 *   description: "Adds two numbers.",
 *   parameters: Schema.Struct({ a: Schema.Int, b: Schema.Int }),
 *   success: Schema.Int,
 *   run: ({ a, b }) => Effect.succeed(a + b)
 * })
 * const clerk = Agent.make("clerk", { tools: [add], budget: { repeatedFailures: { hint: 20, withhold: 20, stop: 20 } } }).pipe(
 *   Agent.toolDefaults(Recovery.presets.tellAll())
 * )
 *
 * // the model reads each mistake, so the run ends with its answer
 * const property = FastCheck.check(
 *   Arbitraries.modelTurns(Arbitraries.toolCall(add)),
 *   (turns) => Effect.gen(function* () {
 *     const fiber = yield* Effect.forkChild(Effect.provide(clerk("Hi"), ScriptedModel.playing(turns)))
 *     yield* TestClock.adjust("1 minute")
 *     return (yield* Fiber.join(fiber)) === "done"
 *   }).pipe(Effect.provide(TestClock.layer())),
 *   { runs: 20 }
 * )
 * Effect.runPromise(property) // => undefined
 * ```
 */
export const modelTurns = <Call, Failure = never, const Cut extends Message.FinishReason = "length" | "filtered">(
  call: Arbitrary.Arbitrary<Call>,
  options: TurnOptions<Failure, Cut> = {}
): Arbitrary.Arbitrary<ReadonlyArray<ModelTurn<Call, Failure>>> => {
  const { cuts = ["length", "filtered"] as const, failure } = options
  const { maxCalls = 3, maxTurns = 4, minCalls = 1 } = options
  const whole = Arbitrary.Constant(undefined)
  const turn = Arbitrary.all({
    failures: failure === undefined ? Arbitrary.Constant<ReadonlyArray<Failure>>([]) : failuresOf(failure),
    partial: constantFrom("", "Let me"),
    takes: constantFrom(0, 0, 7, 300),
    text: constantFrom("", "Let me see."),
    calls: Arbitrary.array(call, { minLength: minCalls, maxLength: maxCalls }),
    cut: cuts.length === 0 ? whole : orAbsent(8, constantFrom(...cuts))
  })
  const made = Arbitrary.map(turn, ({ cut, ...rest }): ModelTurn<Call, Failure> => ({
    ...rest,
    finish: cut ?? (rest.calls.length === 0 ? "stop" : "tool-calls")
  }))
  return oneOf<ReadonlyArray<ModelTurn<Call, Failure>>>(
    [9, Arbitrary.array(made, { minLength: 1, maxLength: maxTurns })],
    [1, Arbitrary.Constant([])]
  )
}

/**
 * Draws limits of a run, each of which is absent in two of three cases: 1 to 6 turns, 1 to 8 tool calls, 15 to 200 tokens, 5 ms to 30
 * seconds, 1 or 2 tools at a time.
 */
export const limits: Arbitrary.Arbitrary<Budget.Limits> = Arbitrary.map(
  Arbitrary.all({
    maxTurns: orAbsent(2, integer(1, 6)),
    maxToolCalls: orAbsent(2, integer(1, 8)),
    maxTokens: orAbsent(2, integer(15, 200)),
    maxDuration: orAbsent(2, constantFrom(5, 1000, 30_000)),
    toolConcurrency: orAbsent(2, integer(1, 2))
  }),
  given
)

/**
 * Draws a fault for one of the first `steps` steps of a program: a failure, a defect, a latency of a second or a minute, or an
 * interruption before, within or after the step. `FaultPlan.steps` counts the steps of a program.
 */
export const faultPlan = (steps: number): Arbitrary.Arbitrary<FaultPlan.FaultPlan> =>
  Arbitrary.map(
    Arbitrary.all({
      at: integer(1, steps),
      make: constantFrom(
        (at: number) => FaultPlan.error(at),
        FaultPlan.defect,
        (at: number) => FaultPlan.latency(at, "1 second"),
        (at: number) => FaultPlan.latency(at, "1 minute"),
        (at: number) => FaultPlan.interruption(at, "before"),
        (at: number) => FaultPlan.interruption(at, "within"),
        (at: number) => FaultPlan.interruption(at, "after")
      )
    }),
    ({ at, make }) => make(at)
  )
