/** One run of one scenario under one policy, and what came of it. */
import { type Budget, Message, Model, Usage } from "@kintsugi/core"
import { RecordedEvents } from "@kintsugi/core/testing"
import { Duration, Effect, Exit, Cause, Fiber, Logger, Predicate, Random } from "effect"
import { TestClock } from "effect/testing"
import * as Desk from "./desk.ts"
import { isClaim, judge, wantedOf } from "./judge.ts"
import type { Policy } from "./policies.ts"
import type { Scenario } from "./scenario.ts"
import { drawOf } from "./seeds.ts"
import { damaged } from "./transit.ts"

/** What a run has taken. Amounts are of the whole run, fixers and failed attempts included. */
export interface Outcome {
  readonly scenario: string
  /** Absent of a run without a fault, beside which the others are measured. */
  readonly policy: string | undefined
  /** Whether the fault has happened. */
  readonly isMet: boolean
  readonly isHealed: boolean
  readonly isWrong: boolean
  /** It has an answer, and what its model was told last was a failure. */
  readonly isClaimed: boolean
  /** Of the desk itself. */
  readonly turns: number
  readonly modelCalls: number
  readonly tokens: number
  readonly cost: number
  /** Milliseconds that policies have waited. */
  readonly waited: number
  /** The tag of what the run has failed with. */
  readonly failure: string | undefined
  /** What the run has failed with, for people. */
  readonly message: string | undefined
}

/** What is to be played. */
export interface Played {
  readonly scenario: Scenario
  readonly policy: Policy
  /** Whether the fault happens. */
  readonly isFaulty: boolean
  readonly seed: number
  /** The number of the run: of the same scenario, the same for all policies. */
  readonly run: number
  readonly budget: Budget.Limits
}

/** Plays it with this model. */
export const play = (
  { budget, isFaulty, policy, run, scenario, seed }: Played,
  model: Model.Service
): Effect.Effect<Outcome> =>
  Effect.gen(function* () {
    const world = Desk.makeWorld(drawOf(seed, scenario.name, run, "references"))
    const events = RecordedEvents.makeUnsafe()
    const desk = Desk.make({ scenario, world, isFaulty, coercion: policy.coercion, budget })
    const exit = yield* policy
      .guard(desk)(scenario.asked)
      .pipe(
        Effect.provideService(Model.Model, isFaulty ? damaged(model, scenario, world) : model),
        Effect.provide(events.layer),
        // what is drawn within: ids, jitter
        Random.withSeed(`${seed}/${scenario.name}/${run}`),
        Effect.provide(Logger.layer([])),
        Effect.exit
      )
    const text = events.all.findLast((event) => event.type === "tool-end" || event.type === "tool-denied")
    const last = text?.type === "tool-end" ? text.use.settlement : text?.settlement
    const output = Exit.isSuccess(exit) ? exit.value : undefined
    const error = Exit.isSuccess(exit) ? undefined : Cause.squash(exit.cause)
    const end = events.end()
    const ledger = end !== undefined && "ledger" in end ? end.ledger : []
    return {
      scenario: scenario.name,
      policy: isFaulty ? policy.name : undefined,
      isMet: world.isMet,
      ...judge(scenario, wantedOf(scenario, isFaulty), { deeds: world.deeds, output }),
      isClaimed: output !== undefined && isClaim(output) && last !== undefined && Message.isError(last),
      turns: events.of("turn-start").filter(({ parent }) => parent === undefined).length,
      modelCalls: ledger.length,
      tokens: ledger.reduce((sum, { usage }) => sum + Usage.total(usage), 0),
      cost: ledger.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
      waited: events.of("verdict").reduce((sum, { delay }) => sum + Duration.toMillis(delay), 0),
      failure: Exit.isSuccess(exit) ? undefined : tagOf(error),
      message: Exit.isSuccess(exit) ? undefined : messageOf(error)
    }
  })

const tagOf = (error: unknown): string =>
  Predicate.hasProperty(error, "_tag") ? String(error._tag) : error instanceof Error ? error.name : "unknown"

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** On a clock of its own: waits take no time, and end where they should. */
export const onVirtualClock = <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkDetach(self)
    yield* Effect.forEach(Array.from({ length: 5 }), () => Effect.yieldNow, { discard: true })
    // longer than any run may last
    yield* TestClock.adjust("1 day")
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provide(TestClock.layer()))
