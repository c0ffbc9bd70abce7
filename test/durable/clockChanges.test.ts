import { assert, it } from "@effect/vitest"
import { Agent, Message, Recovery, Skill, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Clock, Duration, Effect, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { describe } from "vitest"
import { calm } from "../_support/dialogue.ts"
import { process, watched } from "./_support/engines.ts"
import { call, reading } from "./_support/readingModel.ts"
import { Busy } from "./_support/scenarios.ts"

/** A clock that is off by that many milliseconds; what it waits for takes as long as elsewhere. */
const off = (clock: Clock.Clock, by: () => number): Clock.Clock => {
  const millis = () => clock.currentTimeMillisUnsafe() + by()
  const nanos = () => BigInt(millis()) * 1_000_000n
  return {
    ...clock,
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) => clock.sleep(duration)
  }
}

const hours = (n: number): number => Duration.toMillis(Duration.hours(n))

/** A run whose tool fails first, is attempted again after a wait, and hangs for good when it is asked to. */
const story = (wait: Duration.Input, hangs: () => boolean = () => false) => {
  const attempts: Array<number> = []
  const flaky = Tool.make("flaky", {
    description: "flaky",
    parameters: Schema.Struct({}),
    success: Schema.String,
    failure: Busy,
    timeout: "40 seconds",
    run: (_, { attempt }) =>
      Effect.suspend(() => {
        attempts.push(attempt)
        if (hangs()) return Effect.never
        return attempt === 1 ? Effect.fail(new Busy({ message: "busy" })) : Effect.succeed(`attempt ${attempt}`)
      })
  }).pipe(Tool.onError({ Busy: Recovery.retry({ maxAttempts: 2, initialBackoff: wait, jitter: "none" }) }))
  const model = reading("outer", (turn) => (turn === 0 ? [call("flaky")] : [Message.text("done")]))
  const agent = Agent.make("worker", {
    model: model.layer,
    budget: { maxDuration: "20 days" },
    skills: [Skill.make("work", { description: "Works.", tools: [flaky] })]
  })
  const durable = Durable.workflow(agent, { name: "story", input: Schema.String, output: Schema.String })
  return { attempts, durable }
}

const calmed = Effect.forEach(Array.from({ length: 12 }), () => calm, { discard: true })

const passing = (duration: Duration.Input) =>
  Effect.gen(function* () {
    yield* calmed
    yield* TestClock.adjust(duration)
    yield* calmed
  })

const waits = ["20 seconds", "1 hour"] as const

describe.each(waits)("a wait of %s", (wait) => {
  // Finds out nothing of its own: the subject is the policy of core and the alarms of the engine, with a clock that is set back
  it.effect("lasts no longer where the clock is set back by hours after it was recorded [P1132]", () =>
    Effect.gen(function* () {
      const { attempts, durable } = story(wait)
      const engine = yield* watched(false)
      // a clock that is ahead records that the tool has failed; later readers read the right time
      let reads = 0
      const clock = off(yield* Clock.Clock, () => (attempts.length === 0 || reads++ === 0 ? hours(5) : 0))
      const served = Layer.provide(durable.layer, Layer.succeed(Clock.Clock, clock))
      yield* Effect.gen(function* () {
        const stop = yield* process(served)
        const id = yield* Durable.start(durable, { id: "one", input: "go" })
        yield* passing(Duration.subtract(Duration.fromInputUnsafe(wait), Duration.seconds(1)))
        assert.isAbove(reads, 1)
        assert.deepStrictEqual(attempts, [1])
        yield* passing("1 second")
        assert.deepStrictEqual(attempts, [1, 2])
        const end = Option.getOrUndefined(yield* Durable.poll(durable, id))
        assert.strictEqual(end?._tag, "Complete")
        yield* stop
      }).pipe(Effect.provide(engine.layer))
    })
  )
})

/** A process whose clock is ahead dies, and is followed by one whose clock is right. */
const followed = (hangs: boolean) =>
  Effect.gen(function* () {
    let isSecond = false
    const { attempts, durable } = story("20 seconds", () => hangs && isSecond)
    // at the wait before the second attempt, or at the first attempt
    const engine = yield* watched(false, { at: hangs ? 3 : 4, when: "before" })
    const clock = yield* Clock.Clock
    const ahead = Layer.succeed(
      Clock.Clock,
      off(clock, () => hours(5))
    )
    const outcome = yield* Effect.gen(function* () {
      const stop = yield* process(Layer.provide(durable.layer, ahead))
      const id = yield* Durable.start(durable, { id: "one", input: "go" })
      yield* passing(0)
      assert.isTrue(yield* engine.isDying)
      yield* stop
      yield* engine.kill
      isSecond = true
      const before = [...attempts]
      yield* process(Layer.provide(durable.layer, Layer.succeed(Clock.Clock, clock)))
      yield* Durable.resume(durable, id)
      yield* passing(hangs ? "39 seconds" : "19 seconds")
      const early = Option.isSome(yield* Durable.poll(durable, id))
      yield* passing("1 second")
      return { before, early, end: Option.getOrUndefined(yield* Durable.poll(durable, id)) }
    }).pipe(Effect.provide(engine.layer))
    return { ...outcome, attempts }
  })

// Finds out nothing of its own: it plays the death of a process with another clock during a wait of core
it.effect(
  "a wait that a process with a clock ahead has begun lasts no longer in one whose clock is right [P1132]",
  () =>
    Effect.gen(function* () {
      const { attempts, before, early, end } = yield* followed(false)
      assert.deepStrictEqual(before, [1])
      assert.isFalse(early)
      assert.deepStrictEqual(attempts, [1, 2])
      assert.strictEqual(end?._tag, "Complete")
    })
)

// Finds out nothing of its own: it plays the death of a process with another clock during a timeout of core
it.effect(
  "a timeout that a process with a clock ahead has begun is no longer in one whose clock is right [P1132]",
  () =>
    Effect.gen(function* () {
      const { attempts, before, early, end } = yield* followed(true)
      assert.deepStrictEqual(before, [])
      assert.isFalse(early)
      assert.deepStrictEqual(attempts, [1])
      assert.strictEqual(end?._tag, "Complete")
    })
)
