/** The attempts and compensations of tools, as they are recorded. */
import { assert, it } from "@effect/vitest"
import { ToolError } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import * as Interception from "@kintsugi/core/Interception"
import type * as RunContext from "@kintsugi/core/RunContext"
import { Cause, Effect, Exit, Schema } from "effect"
import type * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import type { Replay } from "../../packages/durable/src/recording.ts"
import { attempt, compensation } from "../../packages/durable/src/tool.ts"
import { processOfReplays, quiet, spendingRun } from "./_support/replays.ts"

class Busy extends Schema.TaggedError<Busy>()("Busy", { message: Schema.String }) {}

const step = {
  type: "tool attempt",
  tool: "pay",
  isUnsafe: false,
  callId: "1",
  idempotencyKey: "key",
  attempt: 1,
  isAgent: false,
  stored: { success: Schema.String, failure: Busy }
} as const

const unsafe = { ...step, isUnsafe: true }

/** A call within a run, with only what names its steps. */
const inCall: RunContext.RunContext = { ...spendingRun().run, callKey: "call" }

const tried = (
  replay: Replay,
  self: Effect.Effect<unknown, unknown>,
  of: Parameters<typeof attempt>[3] = step,
  run?: RunContext.RunContext
) => attempt(replay, replay.lines.root, run, of, self)

it.effect("an attempt is named by its call and its number, and a second one of them by a count [P1118]", () =>
  Effect.gen(function* () {
    const { replay, stored } = yield* processOfReplays
    const one = replay()
    yield* tried(one, Effect.succeed("a"))
    yield* tried(one, Effect.succeed("b"))
    yield* tried(one, Effect.succeed("c"), { ...step, attempt: 2 })
    const done = (value: string) => ({ _tag: "Done", at: 0, value })
    assert.deepStrictEqual(stored(), {
      "key/run/1": done("a"),
      "key/run/1/2": done("b"),
      "key/run/2": done("c")
    })
    // of a call the key of the line counts
    yield* tried(one, Effect.succeed("d"), step, inCall)
    assert.deepStrictEqual(stored()["call/run/1"], done("d"))
  })
)

it.effect("a failure with a schema is read as it was, and one without is a defect that names the tool [P1119]", () =>
  Effect.gen(function* () {
    const { replay } = yield* processOfReplays
    const busy = new Busy({ message: "busy" })
    for (const self of [Effect.fail(busy), Effect.die("again")]) {
      const read = yield* Effect.flip(tried(replay(), self))
      assert.instanceOf(read, Busy)
      assert.strictEqual((read as Busy).message, "busy")
    }
    for (const [failure, tag, attempt] of [
      [{ _tag: "Other" }, "Other", 2],
      ["text", "string", 3]
    ] as const) {
      const exit = yield* Effect.exit(tried(replay(), Effect.fail(failure), { ...step, attempt, tool: tag }))
      assert(Exit.isFailure(exit))
      assert.strictEqual(
        (Cause.squash(exit.cause) as Error).message,
        `Durable: tool '${tag}' failed with '${tag}', of which it has no schema: give it one as \`failure\``
      )
    }
  })
)

it.effect("an unsafe attempt first notes that it begins, and in which process [P1116]", () =>
  Effect.gen(function* () {
    const { replay, rows, stored, written } = yield* processOfReplays
    const one = replay()
    assert.strictEqual(yield* tried(one, Effect.succeed("paid"), unsafe), "paid")
    assert.deepStrictEqual(stored(), {
      "key/run/1/intent": { _tag: "Done", at: 0, value: "me" },
      "key/run/1": { _tag: "Done", at: 0, value: "paid" }
    })
    assert.deepStrictEqual([[...rows.keys()], [...one.intents]], [["key/run/1/intent/noted"], []])
    // a replay reads both, and notes nothing a second time
    assert.strictEqual(yield* tried(replay(), Effect.die("again"), unsafe), "paid")
    assert.deepStrictEqual(written, ["key/run/1/intent/noted"])
  })
)

it.effect(
  "an unsafe attempt that two processes begin runs in one of them; without its end it is lost, and stays lost [P1116]",
  () =>
    Effect.gen(function* () {
      const { replay, steps, stored } = yield* processOfReplays
      const engine = {
        ...replay().engine,
        // each process runs a step before the other one has stored its end, and the first end that is stored counts
        activityExecute: ({ executeEncoded, name }: Activity.Any) =>
          Effect.gen(function* () {
            const exit = yield* Effect.exit(executeEncoded as Effect.Effect<unknown>)
            yield* quiet
            const first = steps.get(name) ?? exit
            steps.set(name, first)
            return new Workflow.Complete({ exit: first })
          })
      }
      const paidIn: Array<string> = []
      const paying = (incarnation: string) =>
        tried(
          replay({ engine, incarnation, intents: new Set(), atWork: new Map() }),
          Effect.sync(() => `paid ${paidIn.push(incarnation)}`),
          unsafe
        )
      const ends = yield* Effect.all([paying("one"), paying("two")], { concurrency: 2 })
      assert.deepStrictEqual([paidIn, ends], [["one"], ["paid 1", "paid 1"]])
      // as if the process had died before its end was stored
      steps.delete("key/run/1")
      for (let nth = 0; nth < 2; nth++) {
        assert.instanceOf(yield* Effect.flip(tried(replay(), Effect.die("again"), unsafe)), Interception.Lost)
      }
      assert.deepStrictEqual(stored(), {
        "key/run/1/intent": { _tag: "Done", at: 0, value: "one" },
        "key/run/1": { _tag: "Failed", at: 0, error: { _tag: "@kintsugi/durable/Lost" } }
      })
    })
)

it.effect("an unsafe attempt whose begin was noted and is gone ends the run as lost [P1398]", () =>
  Effect.gen(function* () {
    const { replay, rows } = yield* processOfReplays
    rows.set("key/run/1/intent/noted", Exit.void)
    const exit = yield* Effect.exit(tried(replay(), Effect.die("again"), unsafe))
    assert(Exit.isFailure(exit))
    const lost = Cause.squash(exit.cause)
    assert.instanceOf(lost, DoorError.RunLostError)
    assert.include((lost as Error).message, "that step 'key/run/1' had begun")
  })
)

it.effect("a safe attempt of a migrated agent has an unknown outcome if it was unsafe before [P1714]", () =>
  Effect.gen(function* () {
    const { replay, rows, steps } = yield* processOfReplays
    const migrations = [{}]
    assert.strictEqual(yield* tried(replay({ migrations }), Effect.succeed("a")), "a")
    rows.set("key/run/2/intent/noted", Exit.void)
    steps.set("key/run/2/intent", Exit.succeed({ _tag: "Done", at: 0, value: "other" }))
    const second = { ...step, attempt: 2 }
    const failure = yield* Effect.flip(tried(replay({ migrations }), Effect.die("again"), second))
    assert.instanceOf(failure, ToolError.OutcomeUnknownError)
    assert.deepInclude(failure, { tool: "pay", callId: "1", idempotencyKey: "key" })
    // without a migration the tool was safe then, too
    rows.set("key/run/3/intent/noted", Exit.void)
    assert.strictEqual(yield* tried(replay(), Effect.succeed("b"), { ...step, attempt: 3 }), "b")
  })
)

const undo = { type: "compensation", tool: "pay", callId: "1", callKey: "call", idempotencyKey: "key" } as const

it.effect("a compensation is named by its call, and runs at most once [P1121]", () =>
  Effect.gen(function* () {
    const { replay, steps, stored } = yield* processOfReplays
    const one = replay()
    const undone = (of: Parameters<typeof compensation>[3], self: Effect.Effect<unknown, unknown>, on = one) =>
      compensation(on, on.lines.root, undefined, of, self)
    assert.isUndefined(yield* undone(undo, Effect.succeed("ignored")))
    assert.isUndefined(yield* undone(undo, Effect.succeed("ignored")))
    assert.isUndefined(yield* undone({ ...undo, callKey: undefined }, Effect.void))
    assert.deepStrictEqual(
      Object.keys(stored()).filter((name) => !name.endsWith("/intent")),
      ["call/undo", "call/undo/2", "key/undo"]
    )
    // of a failure only the message is stored
    const busy = new Busy({ message: "busy" })
    const failing = { ...undo, callKey: "other" }
    assert.deepStrictEqual(yield* Effect.flip(undone(failing, Effect.fail(busy))), { message: "busy" })
    steps.set("lost/undo/intent", Exit.succeed({ _tag: "Done", at: 0, value: "other" }))
    const failure = yield* Effect.flip(undone({ ...undo, callKey: "lost" }, Effect.die("again"), replay()))
    assert.instanceOf(failure, ToolError.OutcomeUnknownError)
    assert.deepInclude(failure, { tool: "pay", callId: "1", idempotencyKey: "key" })
  })
)
