/** Deferred calls whose run goes on, in memory. */
import { assert, it as effectIt } from "@effect/vitest"
import { Agent, Budget, Message, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Option, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, deferring } from "../tool/_support/deferring.ts"
import { batch, busy, calm, done, eventLog, interruptedAt, scripted, settlements } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { make, text } = ScriptedModel

const deferredText =
  'deferred: The work of this call has begun and is not over. Its handle is <data>{"job":1}</data>. Its result comes in a later message: do not make the call again to get it.'

const resultOf = (job: number, callId: string, said: string) =>
  `The call '${callId}' of tool 'order', with the handle <data>{"job":${job}}</data>, is over. Its result: <data>${said}</data>`

/** What the model has read by a request: the settlements, and the messages of users after the first one. */
const readBy = (model: ScriptedModel.ScriptedModel, index = -1) => {
  const messages = model.requests.at(index)?.messages ?? []
  const users = messages.flatMap((message) => (message.role === "user" ? [Message.textOf(message)] : []))
  return { texts: settlements(messages), said: users.slice(1) }
}

it.run("the call is settled at once as deferred, and its result comes in one message [P1524 P401]", (run) =>
  Effect.gen(function* () {
    const { begun, cancelled, tokenOf, tool } = deferring({ wait: "continue" })
    const other = scripted("other", Effect.as(Effect.sleep("1 minute"), "fine"))
    const log = eventLog()
    const model = yield* make(batch("order"), batch("other"), text("so far"), done)
    const fiber = yield* Effect.forkChild(
      run(agentWith(tool, other.tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    )
    yield* calm
    // it has been read while the other tool is at work
    assert.deepStrictEqual(readBy(model), { texts: [deferredText], said: [] })
    assert.isFalse(Message.isError({ kind: "deferred", text: "" }))
    yield* TestClock.adjust("1 minute")
    // the model has answered, and the run waits
    assert.lengthOf(model.requests, 3)
    assert.isUndefined(fiber.pollUnsafe())
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 })), { _tag: "Counted" })
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 8 })), {
      _tag: "NotCounted",
      reason: "already-settled"
    })
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.deepStrictEqual(readBy(model), {
      texts: [deferredText, "result: fine"],
      said: [resultOf(1, "c1", '{"at":7}')]
    })
    assert.lengthOf(begun, 1)
    assert.deepStrictEqual(cancelled, [])
    const [end] = log.of("tool-end")
    assert.deepStrictEqual([end?.use.settlement.kind, end?.use.attempts], ["deferred", 1])
    assert.deepStrictEqual(
      log.of("tool-result").map(({ callId, handle, settlement, tool }) => ({ callId, handle, settlement, tool })),
      [{ callId: "c1", tool: "order", handle: { job: 1 }, settlement: { kind: "result", text: '{"at":7}' } }]
    )
  })
)

it.run("a result that comes before the next safe point is read there, one that comes early too [P1524 P1501]", (run) =>
  Effect.gen(function* () {
    const { tool } = deferring({
      wait: "continue",
      start: ({ n = 0, token }) => Effect.as(Effect.orDie(Tool.settle(token, Exit.succeed({ at: n }))), { job: 1 })
    })
    const model = yield* make(batch("order", "order"), done)
    assert.strictEqual(yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(readBy(model).said, [resultOf(1, "c1", '{"at":0}'), resultOf(1, "c2", '{"at":0}')])
  })
)

for (const [what, before, expected] of [
  ["a settlement at the deadline counts", 3_600_000, /Its result: <data>{"at":7}<\/data>$/],
  ["one after it does not, and the work is cancelled", 3_600_001, /did not end within 1h/]
] as const) {
  it.run(`${what} [P1524 P1525]`, (run) =>
    Effect.gen(function* () {
      const { cancelled, tokenOf, tool } = deferring({ wait: "continue" })
      const busy = scripted("busy", Effect.as(Effect.sleep("3 hours"), "fine"))
      const model = yield* make(batch("order", "busy"), done)
      const fiber = yield* Effect.forkChild(
        run(agentWith(tool, busy.tool).pipe(Agent.toolDefaults({ orElse: Recovery.tell() })), "go").pipe(
          Effect.provide(model.layer)
        )
      )
      yield* calm
      yield* TestClock.adjust(before)
      const receipt = yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 }))
      assert.strictEqual(receipt._tag, before === 3_600_000 ? "Counted" : "NotCounted")
      assert.deepStrictEqual(cancelled, [])
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      assert.match(readBy(model).said[0] ?? "", expected)
      assert.deepStrictEqual(cancelled, before === 3_600_000 ? [] : [1])
    })
  )
}

it.run("a run that waits for a result wakes at the deadline; unsafe work is of unknown outcome [P1524 P1525]", (run) =>
  Effect.gen(function* () {
    for (const [isConfirmed, expected] of [
      [true, /did not end within 1h/],
      [false, /may have taken effect/]
    ] as const) {
      const cancel = () => (isConfirmed ? Effect.void : Effect.fail("no"))
      const { cancelled, tool } = deferring({ wait: "continue", sideEffects: "unsafe", cancel })
      const log = eventLog()
      const model = yield* make(batch("order"), text("so far"), done)
      const fiber = yield* Effect.forkChild(
        run(agentWith(tool).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }), log.listen), "go").pipe(
          Effect.provide(model.layer)
        )
      )
      yield* calm
      yield* TestClock.adjust("59 minutes")
      assert.lengthOf(model.requests, 2)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      assert.match(readBy(model).said[0] ?? "", expected)
      assert.deepStrictEqual(cancelled, [1])
      assert.strictEqual(log.of("tool-result")[0]?.settlement.kind, isConfirmed ? "told" : "unknown")
    }
  })
)

it.run("what has expired comes first, then what has arrived [P1524 P1501]", (run) =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring({ wait: "continue" })
    const short = deferring({ wait: "continue", name: "short", deadline: "1 minute" })
    const busy = scripted("busy", Effect.as(Effect.sleep("2 minutes"), "fine"))
    const model = yield* make(batch("order", "short", "busy"), done)
    const fiber = yield* Effect.forkChild(
      run(agentWith(tool, short.tool, busy.tool).pipe(Agent.toolDefaults({ orElse: Recovery.tell() })), "go").pipe(
        Effect.provide(model.layer)
      )
    )
    yield* calm
    yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 }))
    yield* TestClock.adjust("2 minutes")
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.match(readBy(model).said[0] ?? "", /tool 'short'.*did not end/)
    assert.match(readBy(model).said[1] ?? "", /tool 'order'.*{"at":7}/)
  })
)

it.run("an interruption cancels the work, and no settlement counts from then on [P1524 P1526]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tokenOf, tool } = deferring({ wait: "continue" })
    const log = eventLog()
    const model = yield* make(batch("order"), text("so far"))
    const exit = yield* interruptedAt(1, run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.isTrue(Exit.isFailure(exit))
    assert.deepStrictEqual(cancelled, [1])
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 })), {
      _tag: "NotCounted",
      reason: "run-over"
    })
    const [end] = log.of("run-interrupted")
    assert.deepStrictEqual(settlements(end?.transcript ?? []), [deferredText])
  })
)

it.run("a run that fails cancels the work too [P1524 P1526]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tool } = deferring({ wait: "continue" })
    const broken = scripted("broken", Effect.die("broken"))
    const model = yield* make(batch("order"), batch("broken"))
    const exit = yield* Effect.exit(run(agentWith(tool, broken.tool), "go").pipe(Effect.provide(model.layer)))
    assert.isTrue(Exit.hasDies(exit))
    assert.deepStrictEqual(cancelled, [1])
  })
)

it.run(
  "a run that fails undoes the work whose result has come, read or not, and cancels the rest [P1524 P1520]",
  (run) =>
    Effect.gen(function* () {
      for (const isRead of [true, false]) {
        const undone: Array<unknown> = []
        const { cancelled, tokenOf, tool } = deferring({ wait: "continue" })
        const undoing = tool.pipe(Tool.compensate(({ result }) => Effect.sync(() => void undone.push(result))))
        const slow = Effect.as(Effect.sleep("1 minute"), "fine")
        const broken = scripted("broken", slow, Effect.andThen(slow, Effect.fail(busy())))
        const model = yield* make(batch("order", "order"), batch("broken"), batch("broken"))
        const fiber = yield* Effect.forkChild(
          Effect.exit(run(agentWith(undoing, broken.tool), "go").pipe(Effect.provide(model.layer)))
        )
        yield* calm
        if (!isRead) yield* TestClock.adjust("1 minute")
        yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 }))
        yield* TestClock.adjust("2 minutes")
        assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
        assert.lengthOf(readBy(model).said, isRead ? 1 : 0)
        assert.deepStrictEqual(undone, [{ at: 7 }])
        assert.deepStrictEqual(cancelled, [2])
      }
    })
)

it.run("polls go on beside the run, and find the result [P1524 P1527]", (run) =>
  Effect.gen(function* () {
    for (const isBroken of [false, true]) {
      let polls = 0
      const tool = Tool.deferred("order", {
        description: "Orders.",
        parameters: Schema.Struct({}),
        success: Schema.Struct({ at: Schema.Finite }),
        start: () => Effect.succeed({ job: 1 }),
        wait: "continue",
        deadline: "1 hour",
        poll: {
          every: Schedule.spaced("1 minute"),
          check: () =>
            Effect.suspend(() => {
              polls++
              if (isBroken) return Effect.die("broken")
              return Effect.succeed(polls < 3 ? Option.none() : Option.some({ at: polls }))
            })
        }
      })
      const model = yield* make(batch("order"), text("so far"), ...(isBroken ? [] : [done]))
      const fiber = yield* Effect.forkChild(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
      yield* calm
      yield* TestClock.adjust("10 minutes")
      const exit = yield* Fiber.await(fiber)
      if (isBroken) {
        assert.isTrue(Exit.hasDies(exit))
        assert.strictEqual(polls, 1)
        continue
      }
      assert.deepStrictEqual(exit, Exit.succeed("done"))
      assert.deepStrictEqual(readBy(model).said, [resultOf(1, "c1", '{"at":3}')])
      assert.strictEqual(polls, 3)
    }
  })
)

it.run("Budget.answer withdraws the work, and reads what has come [P1524 P1594]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tokenOf, tool } = deferring({ wait: "continue" })
    const early = deferring({
      name: "other",
      wait: "continue",
      start: ({ token }) => Effect.as(Effect.orDie(Tool.settle(token, Exit.succeed({ at: 1 }))), { job: 5 })
    })
    const agent = Agent.make("worker", {
      budget: { maxDuration: "1 day", maxTurns: 1 },
      skills: [Skill.make("work", { description: "Works.", tools: [tool, early.tool] })]
    }).pipe(Agent.onBudgetExceeded(() => Budget.answer))
    const model = yield* make(batch("order", "other"), text("half of it"))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "half of it")
    assert.deepStrictEqual(cancelled, [1])
    assert.lengthOf(readBy(model).said, 2)
    assert.match(readBy(model).said[0] ?? "", /tool 'other'.*{"at":1}/)
    assert.strictEqual((yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 })))._tag, "NotCounted")
  })
)

effectIt.effect("outside of a run it waits, as there is nothing to go on with [P1524]", () =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring({ wait: "continue" })
    const fiber = yield* Effect.forkChild(Tool.call(tool, {}))
    yield* calm
    yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 }))
    assert.deepStrictEqual(yield* Fiber.join(fiber), { at: 7 })
  })
)
