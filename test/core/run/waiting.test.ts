/** What a run waits for, as its handle and its snapshot list it. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, Message, Recovery, Skill, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { batch, busy, calm, done, play } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, paying, snapshotOf } from "../../_support/suspension.ts"
import { deferring } from "../tool/_support/deferring.ts"
import { slowReply, started } from "./_support/saying.ts"

const { call, calls, make, text } = ScriptedModel

const hour = 3_600_000

/** What waits, as short lines. */
const lines = (waiting: ReadonlyArray<Snapshot.Waiting>): ReadonlyArray<string> =>
  waiting.map((one) =>
    one.type === "message"
      ? `message of ${one.agent}: ${Message.textOf(one.message)}`
      : `${one.type} of ${one.agent}: ${one.tool} ${one.callId} until ${one.expiresAt / hour} h`
  )

/** A tool that a person is asked about after its failure. */
const helped = (validFor: "2 hours" | "3 hours" = "2 hours") =>
  play("open", {}, [Effect.fail(busy()), Effect.succeed("open")]).tool.pipe(
    Tool.onError({ Busy: Recovery.ladder(Recovery.ask({ validFor }), Recovery.tell()) })
  )

const slow = () => play("slow", {}, [Effect.as(Effect.sleep("30 minutes"), "slept")]).tool

/** An agent that waits for three things while one of its tools is at work. */
const worker = () => {
  const { begun, tokenOf, tool: order } = deferring({ deadline: "5 hours" })
  const pay = paying({ validFor: "1 hour" })
  const tools = [pay.tool, helped(), order, slow()] as const
  const agent = Agent.make("worker", {
    budget: { maxDuration: "1 day" },
    skills: [Skill.make("work", { description: "Works.", tools })]
  })
  const reply = calls(
    call("pay", { cents: 5 }, "c1"),
    call("open", {}, "c2"),
    call("order", {}, "c3"),
    call("slow", {}, "c4")
  )
  return { agent, begun, pay, reply, tokenOf }
}

const three = [
  "approval of worker: pay c1 until 1 h",
  "ask of worker: open c2 until 2 h",
  "deferred of worker: order c3 until 5 h"
]

it.effect("a run lists what it waits for while it is at work, suspended and resumed, and nothing at its end", () =>
  Effect.gen(function* () {
    const { agent, reply, tokenOf } = worker()
    const model = yield* make(reply, done)
    const run = yield* started(agent.start("go"), model)
    yield* calm
    assert.deepStrictEqual(lines(yield* run.waiting), three)
    const id = yield* run.say("be quick")
    const said = "message of worker: be quick"
    assert.deepStrictEqual(lines(yield* run.waiting), [...three, said])
    yield* TestClock.adjust("30 minutes")
    const outcome = yield* run.outcome
    const from = yield* snapshotOf(outcome)
    const waiting = yield* run.waiting
    assert.deepStrictEqual(lines(waiting), [...three, said])
    assert.deepStrictEqual(waiting.at(-1), {
      type: "message",
      runId: from.runId,
      agent: "worker",
      id,
      message: Message.user("be quick")
    })
    // a document has the token besides; its schema does not
    const stored = Snapshot.waitingOf(from)
    assert.deepStrictEqual(lines(stored), lines(waiting))
    const deferred = stored.find(({ type }) => type === "deferred")
    assert(deferred?.type === "deferred")
    assert.strictEqual(deferred.token, tokenOf())
    const json = Schema.encodeSync(Schema.toCodecJson(Schema.Array(Snapshot.Waiting)))
    assert.deepStrictEqual(json(stored), json(waiting))
    assert.notInclude(JSON.stringify(waiting), tokenOf())
    // one is decided: the others wait on, and the run is suspended again
    const [first] = Snapshot.requestsOf(from)
    const decisions = [{ digest: first?.digest ?? "", decision: Approval.approve }]
    const next = yield* started(Agent.resume(agent).start({ from, decisions }), model)
    const second = yield* snapshotOf(yield* next.outcome)
    const rest = [...three.slice(1), said]
    assert.deepStrictEqual([lines(yield* next.waiting), lines(Snapshot.waitingOf(second))], [rest, rest])
    const settlements = [{ token: tokenOf(), exit: Exit.succeed({ at: 1 }) }]
    const last = yield* started(Agent.resume(agent).start({ ...deciding(second), settlements }), model)
    assert.strictEqual((yield* last.outcome)._tag, "Completed")
    assert.deepStrictEqual(yield* last.waiting, [])
  })
)

for (const toolConcurrency of [1, 2])
  it.effect(`what waits when a run goes on waits still, once, with ${toolConcurrency} calls at a time`, () =>
    Effect.gen(function* () {
      const pay = paying({ validFor: "1 hour" })
      const slowly = slow().pipe(Tool.requireApproval({ validFor: "4 hours" }))
      const agent = Agent.make("worker", { tools: [slowly, pay.tool], budget: { toolConcurrency } })
      const model = yield* make(calls(call("slow", {}, "c1"), call("pay", { cents: 1 }, "c2")))
      const first = yield* started(agent.start("go"), model)
      const from = yield* snapshotOf(yield* first.outcome)
      const both = ["approval of worker: slow c1 until 4 h", "approval of worker: pay c2 until 1 h"]
      assert.deepStrictEqual(lines(Snapshot.waitingOf(from)), both)
      const decisions = deciding(from).decisions.slice(0, 1)
      const run = yield* started(Agent.resume(agent).start({ from, decisions }), model)
      yield* calm
      assert.deepStrictEqual(lines(yield* run.waiting), both.slice(1))
      yield* run.interrupt
      assert.deepStrictEqual(yield* run.waiting, [])
    })
  )

it.effect("what a limit withdraws waits no longer in the last turn, also of a sub-agent that is suspended", () =>
  Effect.gen(function* () {
    const pays = yield* make(calls(call("pay", { cents: 1 }, "c1")))
    const looks = yield* make(batch("look"), batch("look"))
    const pay = () => paying({ validFor: "1 hour" }).tool
    const look = play("look", {}, [Effect.succeed("seen"), Effect.succeed("seen")]).tool
    const inner = Agent.make("inner", { tools: [pay()], model: pays.layer })
    const looker = Agent.make("looker", { tools: [look], model: looks.layer })
    const description = "Works."
    const agent = Agent.make("worker", {
      tools: [Agent.asTool(inner, { description }), pay(), Agent.asTool(looker, { description })],
      budget: { maxTurns: 4 }
    }).pipe(Agent.onBudgetExceeded(() => Budget.answer))
    const reply = calls(
      call("inner", { input: "go" }, "p1"),
      call("pay", { cents: 2 }, "p2"),
      call("looker", { input: "go" }, "p3")
    )
    const last = slowReply(ScriptedModel.reply({ content: [{ type: "text", text: "so far" }] }))
    const model = yield* make(reply, last.step)
    const run = yield* started(agent.start("go"), model)
    yield* last.begun
    const requested = yield* run.events.pipe(
      Stream.takeUntil(({ type }) => type === "tool-skipped"),
      Stream.filter(({ type }) => type === "approval-requested"),
      Stream.runCount
    )
    assert.strictEqual(requested, 2)
    assert.deepStrictEqual(yield* run.waiting, [])
    yield* last.end
    assert.strictEqual((yield* run.outcome)._tag, "Completed")
  })
)

it.effect(
  "the waits of a sub-agent are those of its run, while other calls are at work and when both are suspended",
  () =>
    Effect.gen(function* () {
      const { agent: inner, reply } = worker()
      const boss = Agent.make("boss", {
        budget: { maxDuration: "1 day" },
        tools: [
          Agent.asTool(inner, { description: "Works." }),
          play("wait", {}, [Effect.as(Effect.sleep("1 hour"), "ok")]).tool
        ]
      })
      const model = yield* make(calls(call("worker", { input: "go" }, "p1"), call("wait", {}, "p2")), reply)
      const run = yield* started(boss.start("go"), model)
      yield* calm
      assert.deepStrictEqual(lines(yield* run.waiting), three)
      yield* TestClock.adjust("30 minutes")
      // the sub-agent is suspended, its parent is at work
      assert.deepStrictEqual(lines(yield* run.waiting), three)
      yield* TestClock.adjust("30 minutes")
      const from = yield* snapshotOf(yield* run.outcome)
      const waiting = yield* run.waiting
      assert.deepStrictEqual([lines(waiting), lines(Snapshot.waitingOf(from))], [three, three])
      assert.isTrue(waiting.every(({ runId }) => runId !== undefined && runId !== from.runId))
      const next = yield* started(Agent.resume(boss).start({ from }), model)
      yield* next.outcome
      assert.deepStrictEqual(lines(yield* next.waiting), three)
    })
)

it.effect("a request that is asked again replaces the one that has expired", () =>
  Effect.gen(function* () {
    const pay = paying({ validFor: "1 hour" })
    const agent = Agent.make("worker", { tools: [pay.tool] })
    const model = yield* make(calls(call("pay", { cents: 1 }, "c1")))
    const first = yield* started(agent.start("go"), model)
    const from = yield* snapshotOf(yield* first.outcome)
    yield* TestClock.adjust("2 hours")
    const run = yield* started(Agent.resume(agent).start(deciding(from)), model)
    yield* run.outcome
    assert.deepStrictEqual(lines(yield* run.waiting), ["approval of worker: pay c1 until 3 h"])
  })
)

it.effect("an agent that a tool calls waits in this process, and its waits end with its answers or with the call", () =>
  Effect.gen(function* () {
    const pay = paying({ validFor: "1 hour" })
    const { tokenOf, tool: order } = deferring({ deadline: "5 hours" })
    const inner = Agent.make("inner", { tools: [pay.tool, order], budget: { maxDuration: "1 day" } }).pipe(
      Agent.toolDefaults({ Declined: Recovery.tell(), ToolTimeoutError: Recovery.tell() })
    )
    const delegate = Tool.make("delegate", {
      description: "Delegates.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => inner("go")
    })
    const agent = Agent.make("worker", { tools: [delegate], budget: { maxDuration: "1 day" } }).pipe(
      Agent.toolDefaults({ orElse: Recovery.tell() })
    )
    const both = calls(call("pay", { cents: 1 }, "c1"), call("order", {}, "c2"))
    const model = yield* make(batch("delegate"), both, text("inner done"), done)
    const answer = yield* Effect.forkChild(
      Effect.gen(function* () {
        const run = yield* agent.start("go")
        yield* calm
        const before = lines(yield* run.waiting)
        yield* TestClock.adjust("30 minutes")
        const decided = lines(yield* run.waiting)
        yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 }))
        yield* run.outcome
        return [before, decided, yield* run.waiting]
      }).pipe(
        Effect.provide(model.layer),
        Effect.provide(Approval.layer(() => Effect.as(Effect.sleep("30 minutes"), Approval.approve)))
      )
    )
    assert.deepStrictEqual(yield* Fiber.join(answer), [
      ["approval of inner: pay c1 until 1 h", "deferred of inner: order c2 until 5 h"],
      ["deferred of inner: order c2 until 5 h"],
      []
    ])
  })
)

it.effect("a failed attempt of a deferred call no longer waits, and its next attempt does", () =>
  Effect.gen(function* () {
    const { tool } = deferring({ deadline: "1 hour" })
    const order = tool.pipe(
      Tool.onError({
        ToolTimeoutError: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell())
      })
    )
    const agent = Agent.make("worker", { tools: [order], budget: { maxDuration: "1 day" } })
    const model = yield* make(batch("order"))
    const first = yield* started(agent.start("go"), model)
    const from = yield* snapshotOf(yield* first.outcome)
    yield* TestClock.adjust("61 minutes")
    const run = yield* started(Agent.resume(agent).start({ from }), model)
    yield* run.outcome
    assert.match(lines(yield* run.waiting).join(), /^deferred of worker: order c1 until 2\.0/)
  })
)

it.effect("what a part of a composition waits for is listed until it is settled", () =>
  Effect.gen(function* () {
    for (const wait of ["suspend", "continue"] as const) {
      const { tokenOf, tool } = deferring({ deadline: "5 hours", wait })
      const order = tool.pipe(Tool.onError({ Declined: Recovery.tell() })) as unknown as Tool.AnyTool
      const first = Agent.make("first", { tools: [order], budget: { maxDuration: "1 day" } })
      const model = yield* make(batch("order"), ...(wait === "continue" ? [text("so far")] : []), text("first"), done)
      const both = first.pipe(Agent.andThen(Agent.make("second", {}))) as unknown as ReturnType<typeof worker>["agent"]
      const run = yield* started(both.start("go"), model)
      yield* calm
      assert.deepStrictEqual(lines(yield* run.waiting), ["deferred of first: order c1 until 5 h"])
      assert.strictEqual((yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })))._tag, "Counted")
      assert.strictEqual((yield* run.outcome)._tag, "Completed")
      assert.deepStrictEqual(yield* run.waiting, [])
    }
  })
)
