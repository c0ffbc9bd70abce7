/** How often an output is seen while it is written, and what that costs. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, LlmError, Model, Usage } from "@kintsugi/core"
import { Clock, Effect, Exit, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { PartialsOptions } from "../../../packages/core/src/agent/partials.ts"

const { Array: List, Finite, Struct } = Schema

type Written = string | Effect.Effect<string, LlmError.LlmError>

/** A model that writes these pieces, each when it is there. */
const writing = (pieces: Iterable<Written>): Model.Service => ({
  name: "writer",
  provider: "test",
  generate: () => Effect.die("not asked for here"),
  stream: () =>
    Stream.fromIterable(pieces).pipe(
      Stream.rechunk(1),
      Stream.mapEffect((piece) => (typeof piece === "string" ? Effect.succeed(piece) : piece)),
      Stream.map((text): Model.Part => ({ type: "text-delta", text })),
      Stream.concat(Stream.succeed<Model.Part>({ type: "finish", finish: "stop", usage: Usage.empty }))
    )
})

const listing = Agent.make("lister", { output: Struct({ lines: List(Finite) }) })

const plain = Agent.make("plain", {})

/** A list, item by item. */
function* items(count: number): Generator<string> {
  yield '{"lines":[0'
  for (let item = 1; item < count; item++) yield `,${item}`
  yield "]}"
}

const after = (millis: number, piece: string) => Effect.delay(Effect.succeed(piece), millis)

/** Runs the stream, and gives its values with the time at which each came. */
const timed = <A, E>(stream: Stream.Stream<A, E, Model.Model>, pieces: ReadonlyArray<Written>) =>
  Effect.gen(function* () {
    const seen: Array<readonly [at: number, value: A]> = []
    const running = stream.pipe(
      Stream.runForEach((value) => Effect.map(Clock.currentTimeMillis, (at) => seen.push([at, value]))),
      Effect.provideService(Model.Model, writing(pieces))
    )
    const fiber = yield* Effect.forkChild(running)
    yield* TestClock.adjust("1 hour")
    return { seen, exit: yield* Fiber.await(fiber) }
  })

describe("partials of a text that grows", () => {
  it.effect("are few, and hold no more in all than a few outputs do, however many items there are [P1392]", () =>
    Effect.gen(function* () {
      const sizes = [1000, 10_000, 60_000]
      for (const size of sizes) {
        let values = 0
        let copied = 0
        let last: unknown
        yield* Agent.partials(listing)("go").pipe(
          Stream.runForEach((value) =>
            Effect.sync(() => {
              values++
              copied += value.lines?.length ?? 0
              last = value
            })
          ),
          Effect.provideService(Model.Model, writing(items(size)))
        )
        assert.isAtLeast(values, 30)
        assert.isAtMost(values, 20 * Math.log2(size))
        assert.isAtMost(copied, 20 * size)
        assert.deepStrictEqual(last, { lines: Array.from({ length: size }, (_, item) => item) })
      }
    })
  )

  it.effect(
    "are read on from where the text was left: JSON is parsed for each item once, and for the output [P1392]",
    () =>
      Effect.gen(function* () {
        const pieces = [...items(5000)]
        const { parse } = JSON
        let parsed = 0
        JSON.parse = (text, revive) => {
          parsed += text.length
          return parse(text, revive)
        }
        const running = Stream.runDrain(Agent.partials(listing, { interval: 0 })("go"))
        yield* Effect.ensuring(
          Effect.provideService(running, Model.Model, writing(pieces)),
          Effect.sync(() => {
            JSON.parse = parse
          })
        )
        const { length } = pieces.join("")
        assert.isAtLeast(parsed, length)
        assert.isAtMost(parsed, 3 * length)
      })
  )

  it.effect("come when a sixteenth of the text was added, or all of it is there [P1392]", () =>
    Effect.gen(function* () {
      const pieces = ["x".repeat(160), ..."123456789012345678901"]
      const { seen } = yield* timed(Agent.partials(plain, { interval: Infinity })("go"), pieces)
      assert.deepStrictEqual(
        seen.map(([, { length }]) => length),
        [160, 170, 181]
      )
    })
  )
})

it.effect("partials of an output that is nested deeply end with it, however deep it is [P1392]", () =>
  Effect.gen(function* () {
    const deep = Agent.make("deep", { output: Struct({ j: Schema.Json }) })
    for (const levels of [1000, 20_000]) {
      const text = `{"j":${"[".repeat(levels)}${"]".repeat(levels)}}`
      const seen = yield* Stream.runCollect(Agent.partials(deep)("go")).pipe(
        Effect.provideService(Model.Model, writing([text.slice(0, levels), text.slice(levels)]))
      )
      assert.deepStrictEqual(seen[0], {})
      let value: unknown = seen.at(-1)?.j
      let depth = 1
      for (; Array.isArray(value) && value.length > 0; depth++) value = value[0]
      assert.strictEqual(depth, levels)
    }
  })
)

describe("the interval of partials", () => {
  const slow = ["x".repeat(1000), ...Array.from({ length: 6 }, () => after(30, "y")), after(5000, "z")]

  it.effect("brings what has not grown enough, also while the model is silent [P1392]", () =>
    Effect.gen(function* () {
      const { seen } = yield* timed(Agent.partials(plain)("go"), slow)
      assert.deepStrictEqual(
        seen.map(([at, { length }]) => [at, length]),
        [
          [0, 1000],
          [100, 1003],
          [200, 1006],
          [5180, 1007]
        ]
      )
    })
  )

  it.effect("is an option: longer, none, or endless [P1392]", () =>
    Effect.gen(function* () {
      const lengthsOf = (options: PartialsOptions) =>
        Effect.map(timed(Agent.partials(plain, options)("go"), slow), ({ seen }) =>
          seen.map(([, { length }]) => length)
        )
      assert.deepStrictEqual(yield* lengthsOf({ interval: "1 second" }), [1000, 1006, 1007])
      assert.deepStrictEqual(yield* lengthsOf({ interval: 0 }), [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007])
      assert.deepStrictEqual(yield* lengthsOf({ interval: Infinity }), [1000, 1007])
      for (const interval of [-1, Number.NaN, "soon" as "1 second"]) {
        assert.throws(
          () => Agent.partials(plain, { interval }),
          RangeError,
          "interval must be a duration of at least 0"
        )
      }
    })
  )

  it.effect("counts from the last value, not from the last piece [P1392]", () =>
    Effect.gen(function* () {
      const pieces = ["x".repeat(1000), after(90, "y"), after(20, "z".repeat(100)), after(90, "y"), after(20, "z")]
      const { seen } = yield* timed(Agent.partials(plain)("go"), pieces)
      assert.deepStrictEqual(
        seen.map(([at, { length }]) => [at, length]),
        [
          [0, 1000],
          [100, 1001],
          [110, 1101],
          [210, 1102],
          [220, 1103]
        ]
      )
    })
  )
})

describe("a reader of partials", () => {
  it.effect("that is slow gets the newest value, then the output, and nothing in between is kept [P1392]", () =>
    Effect.gen(function* () {
      const pieces = Array.from({ length: 40 }, () => after(50, "0123456789"))
      const seen: Array<number> = []
      const reading = Agent.partials(plain)("go").pipe(
        Stream.runForEach(({ length }) =>
          Effect.delay(
            Effect.sync(() => seen.push(length)),
            "525 millis"
          )
        ),
        Effect.provideService(Model.Model, writing(pieces))
      )
      const fiber = yield* Effect.forkChild(reading)
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen, [10, 110, 210, 320, 400])
    })
  )

  it.effect("gets the output when the run has it, before its listeners are through [P1392]", () =>
    Effect.gen(function* () {
      const slow = plain.pipe(
        Agent.onEvent((event) => (event.type === "run-completed" ? Effect.sleep("400 millis") : Effect.void))
      )
      const { seen } = yield* timed(Agent.partials(slow, { interval: Infinity })("go"), [
        "x".repeat(1000),
        after(50, "y")
      ])
      assert.deepStrictEqual(
        seen.map(([at, { length }]) => [at, length]),
        [
          [0, 1000],
          [50, 1001]
        ]
      )
    })
  )

  it.effect("that fails behind gets what was written last before the failure [P1392]", () =>
    Effect.gen(function* () {
      const down = LlmError.ServerError.make({ model: "writer" })
      const pieces = ["x".repeat(1000), after(10, "y"), Effect.fail(down)]
      const { exit, seen } = yield* timed(Agent.partials(plain)("go"), pieces)
      assert.deepStrictEqual(
        seen.map(([, { length }]) => length),
        [1000, 1001]
      )
      assert.strictEqual(Exit.isFailure(exit), true)
    })
  )

  it.effect("that stops, or is interrupted, stops the run [P1392]", () =>
    Effect.gen(function* () {
      let stopped = 0
      const endless = Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped++))
      const pieces = ["a", endless]
      const partials = Agent.partials(plain)("go")
      const first = yield* Stream.runCollect(Stream.take(partials, 1)).pipe(
        Effect.provideService(Model.Model, writing(pieces))
      )
      assert.deepStrictEqual([first, stopped], [["a"], 1])
      const fiber = yield* Effect.forkChild(
        Effect.provideService(Stream.runDrain(partials), Model.Model, writing(pieces))
      )
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(stopped, 2)
    })
  )
})
