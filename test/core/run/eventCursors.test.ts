/** Readers of a started run that come back: at any cursor, at once, after a suspension, and after more than is kept. */
import { assert, it } from "@effect/vitest"
import { Agent, AgentEvent, Budget, LlmError, Recovery, Snapshot, Tool } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Deferred, Effect, Exit, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, batch, callingOnce, done, scripted } from "../../_support/dialogue.ts"
import { started } from "./_support/saying.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })

const half = { type: "text-delta" as const, text: "The grey sea" }

/** A run that asks a sub-agent, whose first attempt is discarded, and that discards an attempt of its own. */
const sea = Effect.gen(function* () {
  const expert = Agent.make("expert", {}).pipe(
    Agent.onLlmError({ orElse: Recovery.retry({ retries: 2 }) }, { onPartial: "restart" })
  )
  const tool = Agent.asTool(expert, {
    name: "ask",
    description: "Asks.",
    parameters: Schema.Struct({ q: Schema.String }),
    toInput: ({ q }) => q
  })
  const agent = Agent.make("worker", { tools: [tool] }).pipe(
    Agent.onLlmError({ orElse: Recovery.retry({ retries: 2 }) }, { onPartial: "restart" })
  )
  const model = yield* ScriptedModel.make(
    ScriptedModel.cutOff(half),
    ScriptedModel.calls(ScriptedModel.call("ask", { q: "why?" })),
    ScriptedModel.fails(overloaded, half, half),
    ScriptedModel.text("The blue sea"),
    ScriptedModel.text("It is blue.")
  )
  const run = yield* Effect.provide(agent.start("go"), model.layer)
  yield* Effect.forkChild(TestClock.adjust("1 hour"))
  yield* run.outcome
  return run
})

it.effect(
  "a reader comes back at each cursor of a run with sub-agents and discarded attempts [P1370 P1540 P1541]",
  () =>
    Effect.gen(function* () {
      const run = yield* sea
      const all = yield* Stream.runCollect(run.events({}))
      assert.isAtLeast(all.filter(({ type }) => type === "attempt-discarded").length, 1)
      assert.strictEqual(new Set(all.map(({ runId }) => runId)).size, 2)
      for (const [index, { cursor }] of all.entries()) {
        assert.deepStrictEqual(yield* Stream.runCollect(run.events({ after: cursor })), all.slice(index + 1))
      }
      // an event with its cursor is JSON like any other
      const codec = Schema.fromJsonString(AgentEvent.AgentEvent)
      const [first] = all
      assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(first!)), first)
      // and each is the event that the others heard
      const plain = yield* Stream.runCollect(run.events)
      assert.deepStrictEqual(
        all.map(({ cursor, ...event }) => (cursor === undefined ? undefined : event)),
        plain
      )
    })
)

it.effect("a cursor of a composition counts the events of all its parts [P1540 P1541]", () =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(ScriptedModel.text("one"), ScriptedModel.text("two"))
    const both = Agent.andThen(Agent.make("first", {}), Agent.make("second", {}))
    const run = yield* Effect.provide(both.start("go"), model.layer)
    yield* run.outcome
    const all = yield* Stream.runCollect(run.events({}))
    assert.strictEqual(new Set(all.map(({ runId }) => runId)).size, 3)
    assert.strictEqual(new Set(all.map(({ cursor = "" }) => Cursor.read(cursor)?.runId)).size, 1)
    for (const [index, { cursor }] of all.entries()) {
      assert.deepStrictEqual(yield* Stream.runCollect(run.events({ after: cursor })), all.slice(index + 1))
    }
  })
)

it.effect("a reader that leaves stops nothing, and two that come back at once get each event once [P1544 P1546]", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<string>()
    const slow = scripted("slow", Deferred.await(gate))
    const model = yield* callingOnce("slow")
    const run = yield* Effect.provide(agentWith(slow.tool).start("go"), model.layer)
    const had = yield* Stream.runCollect(Stream.takeUntil(run.events({}), ({ type }) => type === "tool-start"))
    const after = had.at(-1)?.cursor
    const readers = yield* Effect.forEach([1, 2, 3], () =>
      Effect.forkChild(Stream.runCollect(run.events({ after })), { startImmediately: true })
    )
    const [leaving, ...others] = readers
    yield* Fiber.interrupt(leaving!)
    yield* Deferred.succeed(gate, "seen")
    assert.strictEqual((yield* run.outcome)._tag, "Completed")
    const all = yield* Stream.runCollect(run.events({}))
    for (const other of others) assert.deepStrictEqual(yield* Fiber.join(other), all.slice(had.length))
  })
)

it.effect("a stop is another thing: the run ends, and each reader reads that [P1544]", () =>
  Effect.gen(function* () {
    const slow = scripted("slow", Effect.never)
    const model = yield* ScriptedModel.make(batch("slow"))
    const run = yield* Effect.provide(agentWith(slow.tool).start("go"), model.layer)
    const had = yield* Stream.runCollect(Stream.takeUntil(run.events({}), ({ type }) => type === "tool-start"))
    yield* run.interrupt
    const rest = yield* Stream.runCollect(run.events({ after: had.at(-1)?.cursor }))
    assert.strictEqual(rest.at(-1)?.type, "run-interrupted")
  })
)

it.effect("the reader of `agent.stream` owns its run: it stops with it [P1544]", () =>
  Effect.gen(function* () {
    let isStopped = false
    const stopped = Effect.sync(() => void (isStopped = true))
    const begun = yield* Deferred.make<void>()
    const slow = scripted(
      "slow",
      Effect.andThen(
        Deferred.succeed(begun, undefined),
        Effect.onInterrupt(Effect.never as Effect.Effect<string>, () => stopped)
      )
    )
    const model = yield* ScriptedModel.make(batch("slow"))
    const reading = yield* Effect.forkChild(
      Effect.provide(Stream.runDrain(agentWith(slow.tool).stream("go")), model.layer)
    )
    yield* Deferred.await(begun)
    yield* Fiber.interrupt(reading)
    assert.isTrue(isStopped)
  })
)

it.effect(
  "a resumed run begins a new epoch: an older cursor is gone, also if the run is resumed twice [P1540 P1542]",
  () =>
    Effect.gen(function* () {
      const { tool } = paying()
      const agent = agentWith(tool)
      const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 })), done, done)
      const run = yield* Effect.provide(agent.start("go"), model.layer)
      const from = yield* snapshotOf(yield* run.outcome)
      const before = yield* Stream.runCollect(run.events({}))
      const resumed = Effect.provide(Agent.resume(agent).start({ ...deciding(from), repeat: true }), model.layer)
      const [first, second] = [yield* resumed, yield* resumed]
      yield* first.outcome
      yield* second.outcome
      const epochs = yield* Effect.forEach([run, first, second], (one) =>
        Effect.map(Stream.runCollect(one.events({})), ([event]) => Cursor.read(event?.cursor ?? ""))
      )
      assert.strictEqual(new Set(epochs.map((read) => read?.runId)).size, 1)
      assert.strictEqual(new Set(epochs.map((read) => read?.epoch)).size, 3)
      const after = before.at(-1)?.cursor
      assert.deepInclude(yield* Effect.flip(Stream.runCollect(first.events({ after }))), { _tag: "CursorExpiredError" })
      const [state, ...rest] = yield* Stream.runCollect(first.events({ after, onGap: "state" }))
      // what the reader had is in the state, and what follows is applied to it
      assert.deepInclude(state, { type: "events-lost", transcript: from.transcript })
      assert.deepStrictEqual(AgentEvent.transcriptOf([state!, ...rest]), yield* first.transcript)
      assert.deepStrictEqual(
        rest.map(({ type }) => type),
        (yield* Stream.runCollect(first.events)).map(({ type }) => type)
      )
    })
)

it.effect("what a run waits for does not depend on the events that are kept [P1542]", () =>
  Effect.gen(function* () {
    const chatty = Tool.make("chatty", {
      description: "d",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: (_, { progress }) =>
        Effect.as(
          Effect.forEach(Array.from({ length: 5000 }), (_, index) => progress(index), { discard: true }),
          "done"
        )
    })
    const { tool } = paying()
    const ask = Agent.asTool(agentWith(tool), {
      name: "ask",
      description: "Asks.",
      parameters: Schema.Struct({ q: Schema.String }),
      toInput: ({ q }) => q
    })
    const agent = agentWith(ask, chatty)
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("ask", { q: "pay" }), ScriptedModel.call("chatty", {})),
      ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 }))
    )
    const run = yield* started(agent.start("go"), model)
    const outcome = yield* run.outcome
    const from = yield* snapshotOf(outcome)
    const [first] = yield* Stream.runCollect(run.events({}))
    assert.strictEqual(first?.type, "events-lost")
    assert.deepStrictEqual(yield* run.waiting, Snapshot.waitingOf(from))
    assert.isNotEmpty(yield* run.waiting)
  })
)

it.effect("a run keeps as many events as its budget says, and a composition too [P1542]", () =>
  Effect.gen(function* () {
    const budget = { maxBufferedEvents: 3 }
    const model = yield* ScriptedModel.make(
      ScriptedModel.text("one"),
      ScriptedModel.text("two"),
      ScriptedModel.text("three")
    )
    const alone = Agent.make("first", { budget })
    const both = Agent.andThen(Agent.make("first", {}), Agent.make("second", {})).pipe(Agent.withBudget(budget))
    for (const agent of [alone, both]) {
      const run = yield* Effect.provide(agent.start("go"), model.layer)
      yield* run.outcome
      assert.strictEqual((yield* Stream.runCollect(run.events({}))).length, 4)
    }
    for (const limits of [{ maxBufferedEvents: Infinity }, { maxBufferedBytes: 0 }]) {
      assert.throws(() => Budget.make(limits), /maxBuffered\w+ must be a whole number/)
    }
  })
)

it.effect("a run that was refused has no events, and no cursors [P1542]", () =>
  Effect.gen(function* () {
    const { tool } = paying()
    const agent = agentWith(tool)
    const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 })), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const resumed = Effect.provide(Agent.resume(agent).start(deciding(from)), model.layer)
    yield* Effect.flatMap(resumed, (run) => run.outcome)
    const refused = yield* resumed
    assert.isTrue(Exit.isFailure(yield* Effect.exit(refused.outcome)))
    assert.deepStrictEqual(yield* Stream.runCollect(refused.events({})), [])
    const after = Cursor.of({ runId: from.runId, epoch: "e", number: 1 })
    assert.deepInclude(yield* Effect.flip(Stream.runCollect(refused.events({ after }))), { oldest: "" })
  })
)

it.effect("a reader that comes before the run has begun waits for its first event [P1541]", () =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(batch("look"), done)
    const { tool } = scripted("look", Effect.succeed("seen"))
    const run = yield* Effect.provide(agentWith(tool).start("go"), model.layer)
    const reader = yield* Effect.forkChild(Stream.runCollect(run.events({})), { startImmediately: true })
    yield* run.outcome
    const events = yield* Fiber.join(reader)
    assert.deepStrictEqual([events[0]?.type, events.at(-1)?.type], ["run-start", "run-completed"])
  })
)

/** A run whose tool tells of these while it works: how many of its events are kept, and of which type the first is. */
const readOf = (data: ReadonlyArray<unknown>) =>
  Effect.gen(function* () {
    const telling = Tool.make("tell", {
      description: "Tells.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: (_, { progress }) => Effect.as(Effect.forEach(data, progress, { discard: true }), "told")
    })
    const model = yield* callingOnce("tell")
    const run = yield* Effect.provide(agentWith(telling).start("go"), model.layer)
    yield* run.outcome
    const events = yield* Stream.runCollect(run.events)
    return { count: events.length, first: events[0]?.type }
  })

it.effect("a handle keeps 4,096 events, or 4 MiB, where its budget says nothing else [P1542]", () =>
  Effect.gen(function* () {
    const none = yield* readOf([])
    const fitting = Array.from({ length: 4096 - none.count }, (_, index) => index)
    assert.deepStrictEqual(yield* readOf(fitting), { count: 4096, first: "run-start" })
    assert.deepStrictEqual(yield* readOf([...fitting, ...fitting.slice(0, 10)]), { count: 4097, first: "events-lost" })
    const mebibyte = 1024 * 1024
    const large = (size: number) => ["x".repeat(2 * mebibyte), "x".repeat(size)]
    assert.strictEqual((yield* readOf(large(2 * mebibyte - 16_384))).first, "run-start")
    assert.strictEqual((yield* readOf(large(2 * mebibyte))).first, "events-lost")
  })
)

it.effect("options of a reader that are none are refused by name [P1542]", () =>
  Effect.gen(function* () {
    const run = yield* sea
    const reading = (options: unknown) => () => run.events(options as {})
    for (const [options, says] of [
      [undefined, "run.events must be given options, got undefined"],
      [null, "run.events must be given options, got null"],
      ["x", "run.events must be given options, got 'x'"],
      [{ onGap: "x" }, "run.events: onGap must be 'fail', 'state', got 'x'"],
      [{ onGap: null }, "run.events: onGap must be 'fail', 'state', got null"]
    ] as const)
      assert.throws(reading(options), says)
    reading({ after: undefined, onGap: undefined })()
  })
)
