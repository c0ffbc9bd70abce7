/** Deferred calls of a run that may be suspended, while other calls of the reply are at work. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Budget, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Exit, Fiber, Option, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, Declined, deferring } from "../tool/_support/deferring.ts"
import { batch, busy, calm, callingOnce, eventLog, read, scripted, settlements } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const { make } = ScriptedModel

const counted: Tool.Receipt = { _tag: "Counted" }
const suspended: Tool.Receipt = { _tag: "NotCounted", reason: "suspended" }

const result = (at: number) => Exit.succeed({ at })

/** A call that takes half an hour. */
const slow = () => scripted("other", Effect.as(Effect.sleep("30 minutes"), "fine"), Effect.succeed("fine again")).tool

const telling = (tool: ReturnType<typeof deferring<"undeclared", "suspend">>["tool"]) =>
  tool.pipe(
    Tool.onError({
      ToolTimeoutError: Recovery.tell(({ message }) => message),
      Declined: Recovery.retry({ retries: 1 })
    })
  )

it.effect("a settlement counts while others are at work, and the run goes on without a suspension [P1521 P1523]", () =>
  Effect.gen(function* () {
    const { begun, cancelled, tokenOf, tool } = deferring()
    const log = eventLog()
    const model = yield* callingOnce("order", "other")
    const agent = agentWith(tool, slow()).pipe(log.listen)
    const fiber = yield* Effect.forkChild(outcomeOf(agent, "go", model))
    yield* calm
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), result(7)), counted)
    assert.strictEqual((yield* Tool.settle(tokenOf(), result(8)))._tag, "NotCounted")
    yield* TestClock.adjust("29 minutes")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Completed")
    assert.deepStrictEqual(read(model), ['result: {"at":7}', "result: fine"])
    assert.deepStrictEqual(cancelled, [])
    assert.strictEqual(begun.length, 1)
    assert.deepStrictEqual(
      log.all.flatMap(({ type }) => (["tool-waiting", "tool-end", "run-suspended"].includes(type) ? type : [])),
      ["tool-waiting", "tool-end", "tool-end"]
    )
  })
)

it.effect(
  "deferred calls wait in memory as long as all calls of the reply may run at once, and hold up no other [P1523]",
  () =>
    Effect.gen(function* () {
      const endWith = (toolConcurrency: number) =>
        Effect.gen(function* () {
          const { tokenOf, tool } = deferring()
          const other = slow()
          const agent = Agent.make("worker", {
            tools: [tool, other],
            budget: { toolConcurrency, maxDuration: "2 hours" }
          })
          const model =
            toolConcurrency === 1 ? yield* make(batch("order", "other")) : yield* callingOnce("order", "other")
          const fiber = yield* Effect.forkChild(outcomeOf(agent, "go", model))
          yield* calm
          const receipt = yield* Tool.settle(tokenOf(), result(7))
          yield* TestClock.adjust("30 minutes")
          return [receipt, (yield* Fiber.join(fiber))._tag]
        })
      assert.deepStrictEqual(yield* endWith(1), [suspended, "Suspended"])
      assert.deepStrictEqual(yield* endWith(2), [counted, "Completed"])
    })
)

it.effect(
  "at the instant at which the last other call ends, a settlement counts or is refused, and so the run goes [P1521]",
  () =>
    Effect.gen(function* () {
      for (const isFirst of [true, false]) {
        const { tokenOf, tool } = deferring()
        const arriving = Effect.delay(
          Effect.suspend(() => Tool.settle(tokenOf(), result(7))),
          "30 minutes"
        )
        const model = yield* callingOnce("order", "other")
        const early = isFirst ? yield* Effect.forkChild(arriving, { startImmediately: true }) : undefined
        const fiber = yield* Effect.forkChild(outcomeOf(agentWith(tool, slow()), "go", model))
        yield* calm
        const arrived = early ?? (yield* Effect.forkChild(arriving, { startImmediately: true }))
        yield* TestClock.adjust("30 minutes")
        const receipt = yield* Fiber.join(arrived)
        const end = yield* Fiber.join(fiber)
        assert.deepStrictEqual(receipt, end._tag === "Completed" ? counted : suspended)
        if (end._tag === "Suspended") {
          const next = { from: yield* snapshotOf(end), settlements: [{ token: tokenOf(), exit: result(7) }] }
          assert.strictEqual((yield* outcomeOf(Agent.resume(agentWith(tool, slow())), next, model))._tag, "Completed")
        }
        assert.deepStrictEqual(read(model), ['result: {"at":7}', "result: fine"])
      }
    })
)

it.effect("the deadline cancels the work while others are at work, once [P1525]", () =>
  Effect.gen(function* () {
    const { cancelled, tokenOf, tool } = deferring({ deadline: "10 minutes" })
    const model = yield* callingOnce("order", "other")
    const fiber = yield* Effect.forkChild(outcomeOf(agentWith(telling(tool), slow()), "go", model))
    yield* calm
    yield* TestClock.adjust(599_999)
    assert.deepStrictEqual(cancelled, [])
    yield* TestClock.adjust(1)
    assert.deepStrictEqual(cancelled, [1])
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), result(7)), { _tag: "NotCounted", reason: "late" })
    yield* TestClock.adjust("1 hour")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Completed")
    assert.match(read(model)[0] ?? "", /^told: .*did not end within 10m/)
    assert.deepStrictEqual(cancelled, [1])
  })
)

it.effect("callTimeout ends the wait while others are at work, and they go on [P1525]", () =>
  Effect.gen(function* () {
    const cancelled: Array<number> = []
    const order = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      start: () => Effect.succeed(1),
      wait: "suspend",
      deadline: "1 hour",
      callTimeout: "1 minute",
      cancel: (job) => Effect.sync(() => void cancelled.push(job))
    })
    const late = deferring({ name: "late" })
    const model = yield* make(batch("order", "late", "other"))
    const fiber = yield* Effect.forkChild(Effect.flip(outcomeOf(agentWith(order, late.tool, slow()), "go", model)))
    yield* calm
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(cancelled, [1])
    yield* TestClock.adjust("30 minutes")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "ToolExecutionError")
    assert.deepStrictEqual(late.cancelled, [1])
  })
)

it.effect("a failure is asked of the rows at once, and all that waits is suspended together [P1522 P1523]", () =>
  Effect.gen(function* () {
    const { begun, cancelled, tokenOf, tool } = deferring()
    const second = deferring({ name: "second" })
    const agent = agentWith(telling(tool), second.tool, slow())
    const model = yield* callingOnce("order", "second", "other")
    const fiber = yield* Effect.forkChild(outcomeOf(agent, "go", model))
    yield* calm
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.fail(new Declined({ why: "no" }))), counted)
    yield* TestClock.adjust("2 minutes")
    assert.strictEqual(begun.length, 2)
    yield* TestClock.adjust("28 minutes")
    const from = yield* snapshotOf(yield* Fiber.join(fiber))
    const tokens = Snapshot.waitingOf(from).flatMap((one) => (one.type === "deferred" ? one.token : []))
    assert.deepStrictEqual(tokens, [tokenOf(1), second.tokenOf()])
    for (const token of tokens) assert.deepStrictEqual(yield* Tool.settle(token, result(1)), suspended)
    const settlements = tokens.map((token, at) => ({ token, exit: result(at) }))
    assert.strictEqual((yield* outcomeOf(Agent.resume(agent), { from, settlements }, model))._tag, "Completed")
    assert.deepStrictEqual(read(model), ['result: {"at":0}', 'result: {"at":1}', "result: fine"])
    assert.deepStrictEqual(cancelled, [])
  })
)

it.effect("a call that waits for a person is not at work: the run is suspended at once [P1523]", () =>
  Effect.gen(function* () {
    const { tool } = deferring()
    const model = yield* make(
      ScriptedModel.calls(ScriptedModel.call("order", {}, "c1"), ScriptedModel.call("pay", { cents: 1 }, "c2"))
    )
    const end = yield* outcomeOf(agentWith(tool, paying().tool), "go", model)
    assert(end._tag === "Suspended")
    assert.deepStrictEqual(
      Snapshot.waitingOf(end.snapshot).map(({ type }) => type),
      ["deferred", "approval"]
    )
  })
)

it.effect("it is so where the run goes on from a snapshot, and in a sub-agent [P1521 P1528]", () =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring()
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.as(Effect.sleep("30 minutes"), "paid")
    }).pipe(Tool.requireApproval())
    const child = Agent.make("child", { tools: [tool, pay], budget: { maxDuration: "1 day" } })
    const agent = agentWith(Agent.asTool(child, { description: "Works." }))
    const model = yield* make(
      ScriptedModel.calls(ScriptedModel.call("child", { input: "go" }, "x")),
      batch("order", "pay"),
      ScriptedModel.text("all is done"),
      ScriptedModel.text("done")
    )
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const fiber = yield* Effect.forkChild(outcomeOf(Agent.resume(agent), deciding(from, Approval.approve), model))
    yield* calm
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), result(7)), counted)
    yield* TestClock.adjust("29 minutes")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Completed")
    assert.strictEqual(begun.length, 1)
    assert.deepStrictEqual(read(model), ["result: all is done"])
    const inner = model.requests.at(-2)?.messages ?? []
    assert.deepStrictEqual(settlements(inner), ['result: {"at":7}', "result: paid"])
  })
)

it.effect("polls follow their schedule while others are at work [P1527]", () =>
  Effect.gen(function* () {
    const polls: Array<number> = []
    const tool = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      start: () => Effect.succeed(1),
      wait: "suspend",
      deadline: "1 hour",
      poll: {
        every: Schedule.spaced("1 minute"),
        check: () =>
          Effect.map(Clock.currentTimeMillis, (at) => (polls.push(at) < 3 ? Option.none() : Option.some("here")))
      }
    })
    const model = yield* callingOnce("order", "other")
    const fiber = yield* Effect.forkChild(outcomeOf(agentWith(tool, slow()), "go", model))
    yield* calm
    yield* TestClock.adjust("30 minutes")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Completed")
    assert.deepStrictEqual(read(model), ["result: here", "result: fine"])
    assert.deepStrictEqual(polls, [60_000, 120_000, 180_000])
  })
)

it.effect("however the run ends while others are at work, the work is cancelled once [P1526]", () =>
  Effect.gen(function* () {
    for (const how of ["interrupt", "failure", "supersede", "tools"] as const) {
      const { cancelled, tokenOf, tool } = deferring()
      const fails = how === "failure" ? Effect.fail(busy()) : Effect.succeed("fine")
      const bad = scripted("bad", Effect.andThen(Effect.sleep("1 minute"), fails)).tool
      const model = yield* how === "supersede" || how === "tools"
        ? callingOnce("order", "bad")
        : make(batch("order", "bad"))
      const run = yield* agentWith(tool, bad).start("go").pipe(Effect.provide(model.layer))
      yield* calm
      if (how === "supersede") yield* run.say("never mind", { supersede: true })
      if (how === "tools") yield* run.say("stop", { interrupt: "tools" })
      if (how === "interrupt") yield* run.interrupt
      yield* calm
      yield* TestClock.adjust("1 minute")
      const end = yield* Effect.exit(run.outcome)
      assert.strictEqual(Exit.isSuccess(end), how === "supersede" || how === "tools", how)
      assert.deepStrictEqual(cancelled, [1], how)
      assert.strictEqual((yield* Tool.settle(tokenOf(), result(1)))._tag, "NotCounted")
    }
  })
)

it.effect(
  "a run that is suspended at a limit takes the call along, with a settlement that has counted [P1521 P1528]",
  () =>
    Effect.gen(function* () {
      for (const arrives of ["no", "before", "after"] as const) {
        const { begun, cancelled, tokenOf, tool } = deferring()
        const agent = Agent.make("worker", { budget: { maxDuration: "10 minutes" }, tools: [tool, slow()] }).pipe(
          Agent.onBudgetExceeded(() => Budget.checkpoint)
        )
        const model = yield* callingOnce("order", "other")
        const arriving = Effect.delay(
          Effect.suspend(() => Tool.settle(tokenOf(), result(7))),
          "10 minutes"
        )
        const early = arrives === "before" ? yield* Effect.forkChild(arriving, { startImmediately: true }) : undefined
        const fiber = yield* Effect.forkChild(outcomeOf(agent, "go", model))
        yield* calm
        const arrived =
          early ?? (arrives === "after" ? yield* Effect.forkChild(arriving, { startImmediately: true }) : undefined)
        yield* TestClock.adjust("10 minutes")
        const receipt = arrived && (yield* Fiber.join(arrived))
        const from = yield* snapshotOf(yield* Fiber.join(fiber))
        assert.deepStrictEqual(cancelled, [])
        const isCounted = receipt?._tag === "Counted"
        if (arrives === "before") assert.isTrue(isCounted)
        assert.strictEqual(Snapshot.waitingOf(from).length, isCounted ? 0 : 1)
        const settlements = isCounted ? [] : [{ token: tokenOf(), exit: result(7) }]
        const next = { from, settlements, budget: { maxDuration: "1 day" } } as const
        assert.strictEqual((yield* outcomeOf(Agent.resume(agent), next, model))._tag, "Completed")
        assert.strictEqual(read(model)[0], 'result: {"at":7}')
        assert.strictEqual(begun.length, 1)
      }
    })
)

it.effect("where calls wait for their place, a deferred call gives its place to the next [P1523]", () =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring()
    const agent = Agent.make("worker", { budget: { maxDuration: "1 day", toolConcurrency: 1 }, tools: [tool, slow()] })
    const model = yield* callingOnce("order", "other")
    const fiber = yield* Effect.forkChild(outcomeOf(agent, "go", model))
    yield* calm
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), result(7)), suspended)
    yield* TestClock.adjust("29 minutes")
    const from = yield* snapshotOf(yield* Fiber.join(fiber))
    const next = { from, settlements: [{ token: tokenOf(), exit: result(7) }] }
    assert.strictEqual((yield* outcomeOf(Agent.resume(agent), next, model))._tag, "Completed")
    assert.deepStrictEqual(read(model), ['result: {"at":7}', "result: fine"])
  })
)
