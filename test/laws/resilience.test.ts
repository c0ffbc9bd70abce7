/** Laws of the guard around models, against references of a few lines. */
import { assert, describe } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import { Resilience } from "@kintsugi/providers"
import { Clock, Duration, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { overload, played, refusal, ways } from "../_support/guard.ts"
import {
  done,
  failureOf,
  fakeNetwork,
  finishChunk,
  finished,
  ok,
  openAi,
  respond,
  textChunk
} from "../_support/network.ts"
import { law } from "../_support/laws.ts"

/** What the model does when it is called, and what its caller does. */
type Does = "reply" | "overload" | "cut off" | "refuse" | "die" | "interrupt"

interface Call {
  readonly start: number
  readonly takes: number
  readonly does: Does
}

/** Only a stream can be cut off. */
const callsOf = (way: keyof typeof ways): fc.Arbitrary<Call> =>
  fc.record({
    start: fc.nat(40),
    takes: fc.nat(12),
    does: fc.constantFrom<Does>(
      "reply",
      "overload",
      "overload",
      way === "streamed" ? "cut off" : "overload",
      "refuse",
      "die",
      "interrupt"
    )
  })

/** Instants that no two events share: starts, ends and the ends of an open time differ in their last digits. */
const second = 1000
const startOf = (calls: ReadonlyArray<Call>, index: number) => (calls[index]?.start ?? 0) * second + index
const endOf = (calls: ReadonlyArray<Call>, index: number) =>
  startOf(calls, index) + (calls[index]?.takes ?? 0) * second + 500

type Fate = "called" | "half open" | { readonly openFor: number }

/** The breaker in plain words: what becomes of each call. */
const reference = (calls: ReadonlyArray<Call>, failures: number, openFor: number): ReadonlyArray<Fate> => {
  const fates: Array<Fate> = []
  const admittedIn: Array<number> = []
  let state: { readonly is: "closed" | "probing" } | { readonly is: "open"; readonly until: number } = { is: "closed" }
  let streak = 0
  let epoch = 0
  const events = calls
    .flatMap((_, index) => [
      { at: startOf(calls, index), index, isStart: true },
      { at: endOf(calls, index), index, isStart: false }
    ])
    .toSorted((one, other) => one.at - other.at)
  for (const { at, index, isStart } of events) {
    if (isStart) {
      if (state.is === "open" && at < state.until) {
        fates[index] = { openFor: state.until - at }
        continue
      }
      if (state.is === "probing") {
        fates[index] = "half open"
        continue
      }
      if (state.is === "open") {
        state = { is: "probing" }
        epoch++
      }
      fates[index] = "called"
      admittedIn[index] = epoch
      continue
    }
    if (fates[index] !== "called" || admittedIn[index] !== epoch) continue
    const does = calls[index]?.does
    const isProbe = state.is === "probing"
    const isFailure = does === "overload" || does === "cut off"
    if (isFailure && (isProbe || ++streak === failures)) {
      state = { is: "open", until: at + openFor }
      epoch++
      streak = 0
    } else if (does === "reply") {
      streak = 0
      if (isProbe) epoch++
      state = { is: "closed" }
    } else if (isProbe && !isFailure) {
      // nothing was learnt: the next call may try
      state = { is: "open", until: at }
      epoch++
    }
  }
  return fates
}

/** Here no promise has to be waited for: a few steps of the other fibers are all that there is. */
const calm = Effect.repeat(Effect.yieldNow, { times: 10 })

describe("circuit breaker", () => {
  for (const way of ["whole", "streamed"] as const) {
    const modelCall = ways[way]
    law(
      `agrees with a reference: never called while open, always while closed, one probe; interrupts change nothing (${way}) [L801]`,
      fc.record({
        calls: fc.array(callsOf(way), { minLength: 1, maxLength: 16 }),
        failures: fc.integer({ min: 1, max: 4 }),
        openFor: fc.integer({ min: 1, max: 15 })
      }),
      ({ calls, failures, openFor: seconds }) =>
        Effect.gen(function* () {
          const openFor = seconds * second + 250
          const guard = yield* Resilience.make({ breaker: { failures, openFor } })
          const called = new Set<number>()
          const act = (index: number) =>
            Effect.suspend((): Effect.Effect<void, LlmError.LlmError> => {
              called.add(index)
              const { does = "reply", takes = 0 } = calls[index] ?? {}
              const after = Effect.sleep(takes * second + 500)
              switch (does) {
                case "reply":
                case "cut off":
                  return after
                case "overload":
                  return Effect.andThen(after, Effect.fail(overload))
                case "refuse":
                  return Effect.andThen(after, Effect.fail(refusal))
                case "die":
                  return Effect.andThen(after, Effect.die("a mistake"))
                case "interrupt":
                  return Effect.never
              }
            })
          const fibers: Array<Fiber.Fiber<unknown, LlmError.LlmError>> = []
          const events = calls
            .flatMap((_, index) => [
              { at: startOf(calls, index), index, isStart: true },
              { at: endOf(calls, index), index, isStart: false }
            ])
            .toSorted((one, other) => one.at - other.at)
          for (const { at, index, isStart } of events) {
            yield* TestClock.setTime(at)
            yield* calm
            if (isStart) {
              // each call has a layer of its own: the guard alone is shared
              const running = modelCall.pipe(
                Effect.provide(guard(played(() => act(index), { isCutOff: calls[index]?.does === "cut off" })))
              )
              fibers[index] = yield* Effect.forkChild(running)
            } else if (calls[index]?.does === "interrupt") {
              const fiber = fibers[index]
              if (fiber !== undefined) yield* Fiber.interrupt(fiber)
            }
            yield* calm
          }
          const fates = reference(calls, failures, openFor)
          for (const [index, fate] of fates.entries()) {
            const fiber = fibers[index]
            assert(fiber !== undefined)
            assert.strictEqual(called.has(index), fate === "called", `call ${index}`)
            if (fate === "called") continue
            const error = failureOf(yield* Fiber.await(fiber))
            assert(error instanceof LlmError.ModelOverloadedError)
            assert.strictEqual(
              error.retryAfter === undefined ? undefined : Duration.toMillis(error.retryAfter),
              fate === "half open" ? undefined : fate.openFor
            )
          }
        }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
    )
  }
})

describe("circuit breaker and retry", () => {
  for (const [way, modelCall] of Object.entries(ways)) {
    law(
      `with the breaker round the transport's retry each call is one outcome, however often it was sent (${way}) [L802]`,
      fc.record({
        sends: fc.array(fc.nat(4), { minLength: 1, maxLength: 5 }),
        failures: fc.integer({ min: 1, max: 3 })
      }),
      ({ failures, sends }) =>
        Effect.gen(function* () {
          const guard = yield* Resilience.make({ breaker: { failures, openFor: "1 day" } })
          const answered = way === "whole" ? ok : respond(200, `${textChunk("ok")}${finishChunk()}${done}`)
          let streak = 0
          for (const failing of sends) {
            const isTripped = streak >= failures
            const network = fakeNetwork([...Array.from({ length: failing }, () => respond(503)), answered])
            const model = guard(openAi({ retry: { maxAttempts: 3, initialBackoff: 1, factor: 1 } })).pipe(
              Layer.provide(network.layer)
            )
            const exit = yield* finished(Effect.provide(modelCall, model))
            assert.strictEqual(network.sent.length, isTripped ? 0 : Math.min(3, failing + 1))
            assert.strictEqual(Exit.isSuccess(exit), !isTripped && failing < 3)
            if (!isTripped) streak = failing < 3 ? 0 : streak + 1
            const state = yield* guard.state("openai/gpt-x")
            assert.strictEqual(state._tag, streak >= failures ? "Open" : "Closed")
          }
        }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
    )
  }
})

describe("rate limiter", () => {
  for (const algorithm of ["fixed-window", "token-bucket"] as const) {
    for (const [way, modelCall] of Object.entries(ways)) {
      law(
        `a ${algorithm} admits at most twice its limit in any window, and makes no caller wait for nothing (${way}) [L803]`,
        fc.record({
          requests: fc.integer({ min: 1, max: 5 }),
          per: fc.integer({ min: 1, max: 10 }),
          maxWait: fc.constantFrom(0, 4_000, 20_000, Infinity),
          calls: fc.array(
            fc.record({
              start: fc.nat(30_000),
              takes: fc.nat(2_000),
              // most callers are patient
              patience: fc.oneof(
                { weight: 4, arbitrary: fc.constant(Infinity) },
                fc.nat(9_000).map((millis) => millis + 0.5)
              )
            }),
            { minLength: 1, maxLength: 25 }
          )
        }),
        ({ calls, maxWait, per: seconds, requests }) =>
          Effect.gen(function* () {
            const per = seconds * second
            const guard = yield* Resilience.make({ limits: [{ requests, per, maxWait, algorithm }] })
            const admitted: Array<number> = []
            const now = Clock.currentTimeMillis
            const fibers = yield* Effect.forEach(calls, ({ patience, start, takes }) =>
              Effect.gen(function* () {
                let calledAt: number | undefined
                const act = () =>
                  Effect.flatMap(now, (at) => {
                    calledAt = at
                    admitted.push(at)
                    return Effect.sleep(takes)
                  })
                yield* Effect.sleep(start)
                const asked = Effect.provide(modelCall, guard(played(act)))
                const exit = yield* Effect.exit(patience === Infinity ? asked : Effect.timeoutOption(asked, patience))
                return { exit, calledAt, start, over: yield* now, patience }
              }).pipe(Effect.forkChild)
            )
            yield* TestClock.adjust("1 day")
            const outcomes = yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
            const within = (end: number) => admitted.filter((at) => at > end - per && at <= end).length
            for (const at of admitted) assert.isAtMost(within(at), 2 * requests)
            for (const { calledAt, exit, over, patience, start } of outcomes) {
              if (calledAt !== undefined) {
                assert.isAtMost(calledAt - start, Math.min(maxWait, patience))
                // who waited had to: until then there was no place (waits end at whole instants, a bucket refills steadily)
                const held = algorithm === "fixed-window" ? requests : requests - 1
                const before = admitted.filter((at) => at >= calledAt - per - 1 && at < calledAt).length
                if (calledAt > start) assert.isAtLeast(before, held)
                continue
              }
              if (Exit.isSuccess(exit)) {
                assert.isAbove(Infinity, patience)
                continue
              }
              // refused at once, or later when others were faster, but never after the longest wait
              assert.isBelow(maxWait, Infinity)
              assert.isAtMost(over - start, maxWait)
              const error = failureOf(exit)
              assert(error instanceof LlmError.RateLimitError && error.retryAfter !== undefined)
              assert.isAbove(over - start + Duration.toMillis(error.retryAfter), maxWait)
            }
          }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
      )
    }
  }
})
