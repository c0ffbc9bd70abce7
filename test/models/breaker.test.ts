/** The circuits of a guard around two models of one provider, whole and streamed, as many calls at once as come. */
import { assert } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import { Resilience } from "@kintsugi/providers"
import { Clock, Deferred, Duration, Effect, Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { overload, played, refusal, ways } from "../_support/guard.ts"
import { failureOf } from "../_support/network.ts"
import { agrees, type Command } from "./_support/commands.ts"
import { quiet } from "./_support/talkingModel.ts"

interface Setup {
  readonly failures: number
  readonly openFor: number
  readonly by: "model" | "provider"
}

/** A circuit: closed with so many failures in a row, open until an instant, or with one call that tries the model. */
interface Circuit {
  is: "closed" | "open" | "probing"
  streak: number
  until: number
  /** Counts the changes: who was admitted before one has no say after it. */
  epoch: number
}

interface Model {
  readonly setup: Setup
  now: number
  readonly circuits: Record<string, Circuit>
  /** Calls at work, oldest first: of which circuit, and when they were admitted. */
  readonly calls: Array<{ readonly key: string; readonly epoch: number }>
}

interface Real {
  readonly guard: Effect.Success<ReturnType<typeof Resilience.make>>
  readonly calls: Array<{
    readonly fiber: Fiber.Fiber<unknown, LlmError.LlmError>
    readonly end: Deferred.Deferred<void, LlmError.LlmError>
  }>
  /** How often a model was called. */
  readonly called: { times: number }
}

const names = ["a", "b"] as const
const keyOf = ({ by }: Setup, name: string): string => (by === "model" ? `p/${name}` : "p")

const circuitOf = (model: Model, key: string): Circuit =>
  (model.circuits[key] ??= { is: "closed", streak: 0, until: 0, epoch: 0 })

const change = (circuit: Circuit, is: Circuit["is"], until = 0): void => {
  Object.assign(circuit, { is, until, streak: 0, epoch: circuit.epoch + 1 })
}

/** Each circuit, as the guard sees it. */
const check = (model: Model, { guard }: Real) =>
  Effect.forEach(Object.entries(model.circuits), ([key, { is, until }]) =>
    Effect.map(guard.state(key), (state) => {
      if (is === "closed") return assert.strictEqual(state._tag, "Closed")
      if (is === "probing") return assert.deepInclude(state, { _tag: "HalfOpen", probing: true })
      if (until <= model.now) return assert.notStrictEqual(state._tag, "Closed")
      assert(state._tag === "Open")
      assert.strictEqual(Duration.toMillis(state.retryAfter), until - model.now)
      return undefined
    })
  )

const calling = (name: (typeof names)[number], way: keyof typeof ways): Command<Model, Real> => ({
  says: `calls ${name}, ${way}`,
  does: (model, real) =>
    Effect.gen(function* () {
      const key = keyOf(model.setup, name)
      const circuit = circuitOf(model, key)
      const before = real.called.times
      const end = yield* Deferred.make<void, LlmError.LlmError>()
      const act = () => {
        real.called.times++
        return Deferred.await(end)
      }
      // each call has a layer of its own: the guard alone is shared
      const layer = real.guard(played(act, { name }))
      const fiber = yield* Effect.forkScoped(Effect.provide(ways[way], layer))
      yield* quiet
      const refuses = circuit.is === "open" && model.now < circuit.until
      if (refuses || circuit.is === "probing") {
        const error = failureOf(yield* Fiber.await(fiber))
        assert(error instanceof LlmError.ModelOverloadedError)
        const wait = error.retryAfter === undefined ? undefined : Duration.toMillis(error.retryAfter)
        assert.strictEqual(wait, refuses ? circuit.until - model.now : undefined)
        assert.strictEqual(real.called.times, before)
      } else {
        if (circuit.is === "open") change(circuit, "probing")
        model.calls.push({ key, epoch: circuit.epoch })
        real.calls.push({ fiber, end })
        assert.strictEqual(real.called.times, before + 1)
      }
      yield* check(model, real)
    })
})

type End =
  | "reply"
  | "overload"
  | "refusal"
  | "defect"
  | "interruption"
  /** How long the server asks to wait, in milliseconds. */
  | { readonly wait: number }

/** A case takes no hour: by then the store has forgotten a circuit of which it heard nothing. */
const maxOpenFor = 60_000

/** One of the calls at work ends. */
const ending = (end: End, which: number): Command<Model, Real> => ({
  says: `call ${which} ends: ${typeof end === "string" ? end : `overload for ${end.wait} ms`}`,
  can: ({ calls }) => calls.length > 0,
  does: (model, real) =>
    Effect.gen(function* () {
      const [call] = model.calls.splice(which % model.calls.length, 1)
      const [at] = real.calls.splice(which % real.calls.length, 1)
      assert(call !== undefined && at !== undefined)
      yield* ended(end, at)
      yield* quiet
      const circuit = circuitOf(model, call.key)
      if (call.epoch === circuit.epoch) learnt(model, circuit, end)
      yield* check(model, real)
    })
})

const ended = (end: End, { end: answer, fiber }: Real["calls"][number]): Effect.Effect<unknown> => {
  if (end === "reply") return Deferred.succeed(answer, undefined)
  if (end === "overload") return Deferred.fail(answer, overload)
  if (end === "refusal") return Deferred.fail(answer, refusal)
  if (end === "defect") return Deferred.die(answer, "a mistake")
  if (end === "interruption") return Fiber.interrupt(fiber)
  return Deferred.fail(
    answer,
    LlmError.ModelOverloadedError.make({ model: "m", retryAfter: Duration.millis(end.wait) })
  )
}

const learnt = ({ now, setup: { failures, openFor } }: Model, circuit: Circuit, end: End): void => {
  const isProbe = circuit.is === "probing"
  if (end === "reply") {
    circuit.streak = 0
    if (isProbe) change(circuit, "closed")
  } else if (end === "overload" || typeof end !== "string") {
    const wait = typeof end === "string" ? 0 : Math.min(end.wait, maxOpenFor)
    if (isProbe || ++circuit.streak === failures) change(circuit, "open", now + Math.max(openFor, wait))
  } else if (isProbe) change(circuit, "open", now)
}

/** Time goes by, often to the very end of an open circuit, or to an instant before. */
const waiting = (millis: number, to: "by" | "end" | "before"): Command<Model, Real> => ({
  says:
    to === "by" ? `${millis} ms go by` : `time goes by to ${to === "end" ? "" : "1 ms before "}the end of a circuit`,
  does: (model, real) =>
    Effect.gen(function* () {
      const ends = Object.values(model.circuits).flatMap(({ is, until }) =>
        is === "open" && until > model.now + 1 ? [until] : []
      )
      const end = Math.min(...ends)
      model.now = to === "by" || ends.length === 0 ? model.now + millis : to === "end" ? end : end - 1
      yield* TestClock.setTime(model.now)
      yield* quiet
      yield* check(model, real)
    })
})

const guarded = ({ by, failures, openFor }: Setup): Effect.Effect<Real, never, Scope.Scope> =>
  Effect.gen(function* () {
    yield* TestClock.setTime(0)
    const guard = yield* Resilience.make({ breaker: { failures, openFor, maxOpenFor, by } })
    assert.strictEqual(yield* Clock.currentTimeMillis, 0)
    return { guard, calls: [], called: { times: 0 } }
  }).pipe(Effect.orDie)

const end: fc.Arbitrary<End> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<End>("overload") },
  { weight: 2, arbitrary: fc.constant<End>("reply") },
  { weight: 2, arbitrary: fc.constantFrom<End>("refusal", "defect", "interruption") },
  { weight: 1, arbitrary: fc.oneof(fc.nat(40_000), fc.constant(2 * maxOpenFor)).map((wait): End => ({ wait })) }
)

agrees("circuits are as a streak, an instant and one call that tries, for any callers and any ends of calls [L801]", {
  setup: fc.record({
    failures: fc.integer({ min: 1, max: 4 }),
    openFor: fc.integer({ min: 1, max: 20_000 }),
    by: fc.constantFrom<Setup["by"]>("model", "provider")
  }),
  commands: [
    fc
      .tuple(fc.constantFrom(...names), fc.constantFrom<keyof typeof ways>("whole", "streamed"))
      .map((of) => calling(...of)),
    fc.tuple(end, fc.nat(5)).map((of) => ending(...of)),
    fc.tuple(end, fc.nat(5)).map((of) => ending(...of)),
    fc.tuple(fc.nat(30_000), fc.constantFrom("by", "end", "before")).map((of) => waiting(...of))
  ],
  maxCommands: 24,
  model: (setup): Model => ({ setup, now: 0, circuits: {}, calls: [] }),
  real: guarded
})
