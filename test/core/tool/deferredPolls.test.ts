/** Deferred tools that are polled. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Exit, Fiber, type Option, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { batch, calm, callingOnce, eventLog, read } from "../../_support/dialogue.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { agentWith, Declined } from "./_support/deferring.ts"

const { make } = ScriptedModel

type Answer = Effect.Effect<Option.Option<string>, Declined>

const nothing: Answer = Effect.succeedNone
const found = (text: string): Answer => Effect.succeedSome(text)
const failing: Answer = Effect.fail(new Declined({ why: "down" }))

/** A tool whose n-th poll has the n-th answer; then nothing. */
const polled = (every: Schedule.Schedule<unknown, unknown>, ...answers: ReadonlyArray<Answer>) => {
  const polls: Array<number> = []
  const cancelled: Array<number> = []
  const tokens: Array<string> = []
  const tool = Tool.deferred("order", {
    description: "Orders.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    failure: Declined,
    start: (_, { token }) => Effect.sync(() => tokens.push(token)),
    wait: "suspend",
    deadline: "1 hour",
    poll: {
      every,
      check: () => Effect.flatMap(Clock.currentTimeMillis, (at) => answers[polls.push(at) - 1] ?? nothing)
    },
    cancel: (job) => Effect.sync(() => void cancelled.push(job))
  })
  return { cancelled, polls, tokens, tool }
}

const minutes = Schedule.spaced("1 minute")

it.run("polls come by the schedule until one has the result, and none is an attempt [P1527]", (run) =>
  Effect.gen(function* () {
    const { polls, tool } = polled(minutes, nothing, nothing, found("here"))
    const log = eventLog()
    const model = yield* callingOnce("order")
    const fiber = yield* Effect.forkChild(run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    yield* calm
    assert.deepStrictEqual(polls, [])
    yield* TestClock.adjust("10 minutes")
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.deepStrictEqual(read(model), ["result: here"])
    assert.deepStrictEqual(polls, [60_000, 120_000, 180_000])
    assert.deepStrictEqual(
      log.of("tool-end").map(({ use }) => use.attempts),
      [1]
    )
    assert.deepStrictEqual(log.of("tool-failed"), [])
  })
)

it.run("failures of polls follow the schedule, and then the rows [P1527]", (run) =>
  Effect.gen(function* () {
    const twice = Schedule.max([minutes, Schedule.recurs(2)])
    const passing = polled(twice, failing, found("here"))
    const one = yield* callingOnce("order")
    const first = yield* Effect.forkChild(
      Effect.exit(run(agentWith(passing.tool), "go").pipe(Effect.provide(one.layer)))
    )
    yield* calm
    yield* TestClock.adjust("5 minutes")
    assert.deepStrictEqual(yield* Fiber.join(first), Exit.succeed("done"))
    assert.deepStrictEqual(read(one), ["result: here"])
    const lasting = polled(twice, nothing, failing)
    const model = yield* callingOnce("order")
    const agent = agentWith(lasting.tool.pipe(Tool.onError({ Declined: Recovery.tell(({ why }) => why) })))
    const fiber = yield* Effect.forkChild(Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* TestClock.adjust("5 minutes")
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
    assert.deepStrictEqual(read(model), ["told: down"])
    assert.strictEqual(lasting.polls.length, 2)
    assert.deepStrictEqual(lasting.cancelled, [])
  })
)

it.run("a schedule that ends with nothing leaves the call waiting for its settlement [P1527 P1521]", (run) =>
  Effect.gen(function* () {
    const { polls, tokens, tool } = polled(Schedule.max([minutes, Schedule.recurs(2)]))
    const model = yield* callingOnce("order")
    const fiber = yield* Effect.forkChild(Effect.exit(run(agentWith(tool), "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* TestClock.adjust("30 minutes")
    assert.strictEqual(polls.length, 2)
    yield* Tool.settle(tokens[0] ?? "", Exit.succeed("told so"))
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
    assert.deepStrictEqual(read(model), ["result: told so"])
  })
)

it.run("of a settlement and a poll the first counts, and no poll comes after it [P1521 P1527]", (run) =>
  Effect.gen(function* () {
    const { polls, tokens, tool } = polled(minutes, nothing, found("polled"))
    const model = yield* callingOnce("order")
    const fiber = yield* Effect.forkChild(Effect.exit(run(agentWith(tool), "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* TestClock.adjust("90 seconds")
    yield* Tool.settle(tokens[0] ?? "", Exit.succeed("settled"))
    yield* TestClock.adjust("10 minutes")
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
    assert.deepStrictEqual(read(model), ["result: settled"])
    assert.strictEqual(polls.length, 1)
  })
)

it.run("the deadline ends the polls too [P1525 P1527]", (run) =>
  Effect.gen(function* () {
    const { cancelled, polls, tool } = polled(Schedule.spaced("20 minutes"))
    const model = yield* make(batch("order"))
    const fiber = yield* Effect.forkChild(Effect.flip(run(agentWith(tool), "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* TestClock.adjust("2 hours")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "ToolTimeoutError")
    assert.deepStrictEqual(cancelled, [1])
    assert.isAtMost(polls.length, 3)
  })
)

it.run("a check that gives no Option is a defect of the tool [P1527]", (run) =>
  Effect.gen(function* () {
    const { tool } = polled(minutes, Effect.succeed("here") as never)
    const model = yield* make(batch("order"))
    const fiber = yield* Effect.forkChild(Effect.exit(run(agentWith(tool), "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* TestClock.adjust("1 minute")
    assert.match(String(yield* Fiber.join(fiber)), /The check of tool 'order' returned a string, not an Option/)
  })
)

it.effect("a suspended run polls once when it goes on, and is suspended again without a result [P1527 P1528]", () =>
  Effect.gen(function* () {
    const { polls, tokens, tool } = polled(minutes, nothing, failing, found("here"))
    const agent = agentWith(tool)
    const model = yield* callingOnce("order")
    let from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.deepStrictEqual(polls, [])
    for (const times of [1, 2]) {
      from = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from }, model))
      assert.strictEqual(polls.length, times)
      assert.strictEqual(Snapshot.waitingOf(from).length, 1)
    }
    const end = yield* outcomeOf(Agent.resume(agent), { from }, model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(read(model), ["result: here"])
    assert.strictEqual(tokens.length, 1)
  })
)
