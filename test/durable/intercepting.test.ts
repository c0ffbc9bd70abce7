/** The names and rows of the steps of a run. */
import { assert, it } from "@effect/vitest"
import { Message, type Model, Usage } from "@kintsugi/core"
import type * as Interception from "@kintsugi/core/Interception"
import * as RunContext from "@kintsugi/core/RunContext"
import { Duration, Effect, Fiber, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { intercepting } from "../../packages/durable/src/intercepting.ts"
import type { Replay } from "../../packages/durable/src/recording.ts"
import { processOfReplays, quiet, spendingRun } from "./_support/replays.ts"

const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })

/** A run at its third turn, or a call of it. */
const run = (fields: object = {}) =>
  // a run with only what names its steps
  ({ ...spendingRun().run, agent: "clerk", turn: () => 3, conversation: {}, ...fields }) as RunContext.RunContext

const on = (replay: Replay) => intercepting(replay, () => Effect.void).interceptor

const doing = (replay: Replay, step: unknown, self: Effect.Effect<unknown, unknown>, of?: RunContext.RunContext) =>
  // a step with only what is read of it
  Effect.provideService(on(replay).intercept(step as Interception.InterceptedStep, self), RunContext.Current, of)

const request = { messages: [], tools: [], toolChoice: "auto" }
const modelCall = { type: "model call", model: "m", request, shortened: new WeakSet() }
const reply: Message.Reply = { content: [Message.text("ok")], finish: "stop", usage }

it.effect("a step is named by its run and turn, or its call, and counted [P1118]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const one = replay()
    const count = { type: "token count", model: "m" }
    for (const of of [undefined, run(), run(), run({ callKey: "call" }), run({ runId: "s" })]) {
      // one interceptor counts
      yield* doing(one, count, Effect.succeed(7), of)
    }
    assert.deepStrictEqual(Object.keys(stored()), [
      "/token-count/1",
      "r/3/token-count/1",
      "r/3/token-count/2",
      "call/token-count/1",
      "s/3/token-count/1"
    ])
  })
)

const results: ReadonlyArray<{
  readonly step: { readonly type: string; readonly [key: string]: unknown }
  readonly self: Effect.Effect<unknown>
  readonly expected: unknown
  readonly name: string
}> = [
  { step: { type: "token count" }, self: Effect.succeed(null), expected: null, name: "r/3/token-count/1" },
  { step: { type: "put aside" }, self: Effect.succeed("stored"), expected: null, name: "r/3/put-aside/1" },
  { step: { type: "compaction", isAgent: false }, self: Effect.succeed([]), expected: [], name: "r/3/compaction/1" },
  { step: { type: "choice", about: "route" }, self: Effect.succeed("work"), expected: "work", name: "r/3/route/1" },
  { step: { type: "choice", about: "route" }, self: Effect.undefined, expected: undefined, name: "r/3/route/1" },
  {
    step: { type: "choice", about: "limit" },
    self: Effect.succeed({ type: "extend", limit: Infinity }),
    expected: { type: "extend", limit: Infinity },
    name: "r/3/limit/1"
  },
  { step: { type: "pins", schema: Schema.String }, self: Effect.succeed("same"), expected: "same", name: "r/3/pins/1" },
  {
    step: { type: "guardrail", schema: Schema.String },
    self: Effect.succeed("passes"),
    expected: "passes",
    name: "r/3/guardrail/1"
  },
  {
    step: { type: "poll", stored: { success: Schema.Struct({ paid: Schema.Finite }) } },
    self: Effect.succeedSome({ paid: 1 }),
    expected: Option.some({ paid: 1 }),
    name: "r/poll/1"
  },
  { step: { type: "job cancel" }, self: Effect.succeed(usage), expected: usage, name: "r/cancel/1" },
  { step: { type: "job cancel" }, self: Effect.undefined, expected: undefined, name: "r/cancel/1" },
  { step: { type: "cancel" }, self: Effect.succeed("ignored"), expected: undefined, name: "r/cancel/1" }
]

it.effect.each(results)(
  "the result of the step $step.type is recorded as $name, and a replay gets the same [P1114]",
  ({ expected, name, self, step }) =>
    Effect.gen(function* () {
      const { replay, stored } = yield* processOfReplays
      assert.deepStrictEqual<unknown>(yield* doing(replay(), step, self, run()), expected)
      assert.deepStrictEqual(Object.keys(stored()), [name])
      assert.deepStrictEqual<unknown>(yield* doing(replay(), step, Effect.die("again"), run()), expected)
    })
)

it.effect.each([
  { type: "tool attempt", isAgent: true },
  { type: "compaction", isAgent: true },
  { type: "fixer run" },
  { type: "stream part" }
])("the step $type has steps within it that are recorded, so it is not [P1114]", (step) =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    assert.strictEqual(yield* doing(replay(), step, Effect.succeed("done"), run()), "done")
    assert.deepStrictEqual(stored(), {})
  })
)

it.effect("a policy and a look-up of a grant are named by their line alone, and counted by themselves [P1114]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const steps = ["policy", "grant", "policy", "grant"].map((type, nth) => ({
      type,
      said: nth < 2 ? "no" : undefined
    }))
    const one = replay()
    for (const { said, type } of steps) {
      assert.strictEqual(yield* doing(one, { type }, Effect.succeed(said), run()), said)
    }
    const next = replay()
    for (const { said, type } of steps) {
      assert.strictEqual(yield* doing(next, { type }, Effect.die("again"), run()), said)
    }
    assert.deepStrictEqual(Object.keys(stored()), ["r/policy/1", "r/grant/1", "r/policy/2", "r/grant/2"])
  })
)

it.effect("what a tool looks up is named by its call, and read by its schema [P1116]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const success = Schema.Struct({ paid: Schema.Finite })
    const step = { type: "look-up", idempotencyKey: "key", stored: { success } }
    const one = replay()
    assert.deepStrictEqual(yield* doing(one, step, Effect.succeedSome({ paid: 1 })), Option.some({ paid: 1 }))
    assert.deepStrictEqual(yield* doing(one, step, Effect.succeedNone), Option.none())
    yield* doing(one, step, Effect.succeedNone, run({ callKey: "call" }))
    assert.deepStrictEqual(Object.keys(stored()), ["key/look-up/1", "key/look-up/2", "call/look-up/1"])
    assert.deepStrictEqual(yield* doing(replay(), step, Effect.die("again")), Option.some({ paid: 1 }))
    const failed = Effect.fail(new Error("no answer"))
    assert.deepStrictEqual<unknown>(yield* Effect.flip(doing(one, step, failed)), { message: "no answer" })
  })
)

it.effect(
  "a call that has waited for its turn begins when it did, and outside of a run nothing is recorded [P1118]",
  () =>
    Effect.gen(function* () {
      const { replay, stored } = yield* processOfReplays
      yield* TestClock.setTime(500)
      const one = replay()
      const begin = on(one).beforeCall ?? assert.fail("it has no beforeCall")
      yield* begin("key")
      assert.deepStrictEqual(stored(), {})
      yield* Effect.provideService(begin("key"), RunContext.Current, run())
      assert.deepStrictEqual(stored(), { "key/begin": { _tag: "Done", at: 500, value: 500 } })
      assert.strictEqual(one.lines.call("key", run()).time, 500)
      // never before what is outside of runs
      const next = replay()
      next.lines.root.advance(900)
      yield* Effect.provideService(on(next).beforeCall?.("key") ?? Effect.void, RunContext.Current, run())
      assert.strictEqual(next.lines.call("key", run()).time, 900)
    })
)

it.effect("a reply that was recorded before a migration is noted with its step, until a later one comes [P1714]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const one = replay()
    assert.deepStrictEqual(yield* doing(one, modelCall, Effect.succeed(reply), run()), reply)
    assert.deepStrictEqual([[...one.replies], Object.keys(stored())], [[], ["r/3/model/1"]])
    const migrated = replay({ migrations: [{}], replies: new Map() })
    yield* doing(migrated, modelCall, Effect.die("again"), run())
    assert.deepStrictEqual([...migrated.replies], [["r", { step: "r/3/model/1", revision: 0 }]])
    yield* doing(migrated, modelCall, Effect.succeed(reply), run())
    assert.deepStrictEqual([...migrated.replies], [])
  })
)

it.effect(
  "a streamed call that a timeout cuts has stored what its provider had counted, outside of a run too [P1133]",
  () =>
    Effect.gen(function* () {
      const { replay, stored } = yield* processOfReplays
      const one = replay()
      yield* Effect.forkChild(one.lines.root.sleep(Duration.seconds(1), one.clock))
      yield* quiet
      const stream = Stream.concat(Stream.make<[Model.Part]>({ type: "usage", usage }), Stream.never)
      const found = yield* doing(one, { ...modelCall, isStreamed: true }, Effect.succeed(stream))
      // the step of a streamed model call gives its parts
      const reading = yield* Effect.forkChild(Stream.runDrain(found as Stream.Stream<Model.Part>))
      yield* quiet
      yield* TestClock.setTime(1000)
      yield* quiet
      assert.deepStrictEqual(stored(), { "/model/1": { _tag: "Late", counted: { usage } } })
      yield* Fiber.interrupt(reading)
    })
)

it.effect(
  "all runs are streamed if there is a log, and only then; messages are read if there is an inbox [P1371]",
  () =>
    Effect.gen(function* () {
      const { replay } = yield* processOfReplays
      assert.deepStrictEqual([on(replay({ log: {} })).isStreamed, on(replay()).isStreamed], [true, false])
      assert.deepStrictEqual(
        [on(replay()).said === undefined, on(replay({ hasInbox: false })).said === undefined],
        [false, true]
      )
      assert.deepStrictEqual(
        [on(replay({ migrations: [{}] })).migrated === undefined, on(replay()).migrated === undefined],
        [false, true]
      )
    })
)
