/** A message that supersedes beside decisions, settlements and expiries: what is recorded first counts. */
import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent, Approval, Budget, Message, Recovery, Snapshot, Tool } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Deferred, Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { deferring } from "../tool/_support/deferring.ts"
import { agentWith, calm, done, settlements } from "../../_support/dialogue.ts"
import { deciding, only, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { accounted, eventsOf, lines, runIdOf, slowTool, started } from "./_support/saying.ts"

const { call, calls, make, text } = ScriptedModel

const superseding = [{ message: "never mind", supersede: true }]
const superseded = "interrupted: The call was not run: superseded by a message of the user."
const supersededAtWork = "interrupted: The call was interrupted before it ended: superseded by a message of the user."

const fatesOf = (outcome: Agent.Outcome<unknown>) =>
  outcome.decisions?.map((answer) => (answer._tag === "Counted" ? answer._tag : answer.reason))

const pay = (...cents: ReadonlyArray<number>) => calls(...cents.map((one) => call("pay", { cents: one }, `c${one}`)))

it.effect(
  "with decisions and a message that supersedes, what is decided stays and the rest is withdrawn [P1533 P1584 P1585]",
  () =>
    Effect.gen(function* () {
      const { runs, tool } = paying()
      const agent = agentWith(tool)
      const model = yield* make(pay(1, 2), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const [first = ""] = Snapshot.requestsOf(from).map(({ digest }) => digest)
      const decisions = [
        { digest: first, decision: Approval.approve },
        { digest: first, decision: Approval.refuse("too late") }
      ]
      const run = yield* started(Agent.resume(agent).start({ from, decisions, say: superseding }), model)
      const outcome = yield* run.outcome
      assert.deepStrictEqual(fatesOf(outcome), ["Counted", "already-decided"])
      assert.deepStrictEqual(runs, [1])
      assert.deepStrictEqual(settlements(yield* run.transcript), ["result: paid 1", superseded])
      assert.deepStrictEqual(lines(yield* run.transcript).slice(-2), ["user: never mind", "model: done"])
      yield* accounted(run)
    })
)

it.effect(
  "a message that was recorded before the suspension comes before decisions and settlements: they do not count [P1533 P1584]",
  () =>
    Effect.gen(function* () {
      for (const isNested of [false, true]) {
        const { runs, tool } = paying()
        const order = deferring()
        const slow = slowTool("look")
        const inner = Agent.make("inner", { tools: [tool, order.tool] })
        const asTool = Agent.asTool(inner, { description: "Pays." })
        // the reply of the helper passes the limit while the message waits
        const helper = Agent.asTool(Agent.make("helper", { tools: [slow.tool] }), { description: "Helps." })
        const outer = Agent.make("worker", {
          tools: isNested ? [asTool, helper] : [tool, order.tool, helper],
          budget: { maxTokens: isNested ? 55 : 40 }
        }).pipe(Agent.onBudgetExceeded(() => Budget.checkpoint))
        const requests = [call("pay", { cents: 5 }, "p"), call("order", {}, "o")]
        const helping = call("helper", { input: "look" }, "h")
        const model = yield* make(
          ...(isNested
            ? [calls(call("inner", { input: "go" }, "i"), helping), calls(...requests), calls(call("look", {}))]
            : [calls(...requests, helping), calls(call("look", {}))]),
          text("looked"),
          ...(isNested ? [text("not paid"), done] : [done])
        )
        const run = yield* started(outer.start("go"), model)
        yield* slow.begun
        yield* calm
        yield* run.say("never mind", { supersede: true })
        yield* slow.end
        const from = yield* snapshotOf(yield* Effect.orDie(run.outcome))
        assert.lengthOf(Snapshot.requestsOf(from), 1)
        const resumption = {
          ...deciding(from),
          settlements: Snapshot.waitingOf(from).flatMap((one) =>
            one.type === "deferred" ? { token: one.token, exit: Exit.succeed({ at: 1 }) } : []
          ),
          budget: { maxTokens: 1_000 }
        }
        const resumed = yield* started(Agent.resume(outer).start(resumption), model)
        const outcome = yield* Effect.orDie(resumed.outcome)
        assert.deepInclude(outcome, { _tag: "Completed", output: "done" })
        assert.deepStrictEqual(fatesOf(outcome), ["withdrawn"])
        assert.deepStrictEqual(runs, [])
        assert.deepStrictEqual(order.cancelled, [1])
        if (!isNested)
          assert.deepStrictEqual(settlements(yield* resumed.transcript).slice(0, 2), [superseded, superseded])
        assert.include(lines(yield* resumed.transcript), "user: never mind")
      }
    })
)

it.effect("a message that supersedes after a recorded decision changes nothing about that call [P1533 P1584]", () =>
  Effect.gen(function* () {
    for (const when of ["at once", "while another runs"] as const) {
      const slow = slowTool("look")
      const { runs, tool } = paying()
      const guarded = slow.tool.pipe(Tool.requireApproval())
      const agent = Agent.make("worker", { tools: [guarded, tool], budget: { toolConcurrency: 1 } })
      const model = yield* make(
        calls(call("look", {}, "c1"), call("pay", { cents: 2 }, "c2"), call("pay", { cents: 3 }, "c3")),
        done
      )
      const from = yield* snapshotOf(yield* Effect.orDie(outcomeOf(agent, "go", model)))
      const decisions = deciding(from).decisions.slice(0, 2)
      const run = yield* started(Agent.resume(agent).start({ from, decisions }), model)
      if (when === "while another runs") yield* slow.begun
      yield* run.say("never mind", { supersede: true })
      yield* slow.end
      const outcome = yield* Effect.orDie(run.outcome)
      assert.deepStrictEqual(fatesOf(outcome), ["Counted", "Counted"], when)
      assert.deepStrictEqual(runs, [2], when)
      assert.deepStrictEqual(settlements(yield* run.transcript).slice(1), ["result: paid 1", superseded], when)
      yield* accounted(run)
    }
  })
)

it.effect(
  "a superseded question about a failed call is not run again, and stays unknown where it may have taken effect [P1511 P1584]",
  () =>
    Effect.gen(function* () {
      for (const sideEffects of ["none", "unsafe"] as const) {
        const runs: Array<string> = []
        const tool = Tool.make("send", {
          description: "Sends.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          sideEffects,
          timeout: "1 second",
          run: () =>
            Effect.andThen(
              Effect.sync(() => runs.push("send")),
              Effect.never
            )
        })
        const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.ask() })))
        const model = yield* make(calls(call("send", {}, "c1")), done)
        const first = yield* Effect.forkChild(Effect.orDie(outcomeOf(agent, "go", model)))
        while (runs.length === 0) yield* Effect.yieldNow
        yield* calm
        yield* TestClock.adjust("1 second")
        const from = yield* snapshotOf(yield* Fiber.join(first))
        const run = yield* started(Agent.resume(agent).start({ from, say: superseding }), model)
        assert.deepInclude(yield* Effect.orDie(run.outcome), { output: "done" })
        assert.lengthOf(runs, 1)
        assert.deepStrictEqual(settlements(yield* run.transcript), [
          sideEffects === "none" ? supersededAtWork : `${Message.unknown.kind}: ${Message.unknown.text}`
        ])
        yield* accounted(run)
      }
    })
)

/** A part of a composition is not suspended: it waits for its approver, or for a settlement. */
const playedInMemory = (
  tool: Tool.AnyTool,
  name: string,
  args: Schema.Json,
  decide: Effect.Effect<Approval.Decision>
) =>
  Effect.gen(function* () {
    const both = Agent.make("first", { tools: [tool], budget: { maxDuration: "1 day" } }).pipe(
      Agent.andThen(Agent.make("second", {}))
    )
    // the part is at work until the message is said
    const goOn = Deferred.makeUnsafe<void>()
    const one = ScriptedModel.reply({ content: [{ type: "text", text: "one" }] })
    const slow = ScriptedModel.answers(() => Effect.as(Deferred.await(goOn), one))
    let seen: Message.Transcript = []
    const model = ScriptedModel.answering(({ messages }) => {
      seen = seen.length < 2 ? [...messages] : seen
      return messages.length === 1 && seen.length === 1 ? calls(call(name, args)) : slow
    })
    const run: Agent.Run<unknown, unknown> = yield* (
      both.start("go") as Effect.Effect<Agent.Run<unknown, unknown>>
    ).pipe(Effect.provide(model), Effect.provideService(Approval.Approver, { decide: () => decide }))
    yield* calm
    const say = Effect.orDie(run.say("never mind", { supersede: true, to: yield* runIdOf(run, "first") }))
    const settlement = Effect.sync(() => settlements(seen)[0])
    const end = Effect.andThen(Deferred.succeed(goOn, undefined), Effect.orDie(run.outcome))
    return { run, say, settlement, end }
  })

it.effect("a decision and a message at one instant: one of them counts, and all show the same one [P1533 P1584]", () =>
  Effect.gen(function* () {
    const found = new Set<string>()
    for (const offset of [-1, 0, 1])
      for (const isEarly of [true, false]) {
        const { runs, tool } = paying()
        const gate = Deferred.makeUnsafe<void>()
        const decide = Effect.as(
          isEarly ? Effect.sleep(1_000) : Effect.andThen(Deferred.await(gate), Effect.sleep(1_000)),
          Approval.approve
        )
        const { end, run, say, settlement } = yield* playedInMemory(tool, "pay", { cents: 5 }, decide)
        const saying = yield* Effect.forkChild(Effect.andThen(Effect.sleep(1_000 + offset), say))
        yield* calm
        yield* Deferred.succeed(gate, undefined)
        yield* calm
        yield* TestClock.adjust(2_000)
        yield* Fiber.join(saying)
        yield* end
        const counts = only(yield* eventsOf(run), "approval-decided").length
        assert.lengthOf(runs, counts)
        assert.strictEqual(yield* settlement, counts === 1 ? "result: paid 1" : superseded)
        if (offset !== 0) assert.strictEqual(counts, offset === 1 ? 1 : 0)
        found.add(`${offset} ${counts}`)
        yield* accounted(run)
      }
    assert.isAtLeast(found.size, 3)
  })
)

it.effect(
  "a superseded deferred call is cancelled, where it waits in a snapshot, is suspended, or waits in memory [P1526 P1584]",
  () =>
    Effect.gen(function* () {
      for (const when of ["at work", "suspended", "in memory"] as const) {
        const order = deferring()
        if (when === "in memory") {
          const { end, say, settlement } = yield* playedInMemory(order.tool, "order", {}, Effect.never)
          yield* say
          yield* end
          assert.strictEqual(yield* settlement, superseded)
        } else {
          const slow = slowTool("look")
          const agent = agentWith(order.tool, slow.tool)
          const model = yield* make(calls(call("order", {}, "c1"), call("look", {}, "c2")), done)
          let run: Agent.Run<unknown, unknown> = yield* started(agent.start("go"), model)
          yield* slow.begun
          yield* calm
          if (when === "at work") yield* run.say("never mind", { supersede: true })
          yield* slow.end
          if (when === "suspended") {
            const from = yield* snapshotOf(yield* Effect.orDie(run.outcome))
            assert.deepStrictEqual(order.cancelled, [])
            run = yield* started(Agent.resume(agent).start({ from, say: superseding }), model)
          }
          assert.deepInclude(yield* Effect.orDie(run.outcome), { output: "done" })
          assert.deepStrictEqual(settlements(yield* run.transcript), [superseded, "result: look is through"], when)
          yield* accounted(run)
        }
        assert.deepStrictEqual(order.cancelled, [1], when)
        assert.deepStrictEqual(yield* Tool.settle(order.tokenOf(), Exit.succeed({ at: 1 })), {
          _tag: "NotCounted",
          reason: "run-over"
        })
      }
    })
)

it.effect(
  "a cancel of superseded work has 5 s; an unsafe call without its confirmation stays unknown [P1526 P1584]",
  () =>
    Effect.gen(function* () {
      for (const isConfirmed of [true, false]) {
        const order = deferring({ sideEffects: "unsafe", cancel: () => (isConfirmed ? Effect.void : Effect.never) })
        const tool = order.tool.pipe(Tool.onError({ orElse: Recovery.tell() }))
        const { end, say, settlement } = yield* playedInMemory(tool, "order", {}, Effect.never)
        yield* say
        yield* calm
        if (!isConfirmed) {
          yield* TestClock.adjust(4_999)
          assert.isUndefined(yield* settlement)
          yield* TestClock.adjust(1)
        }
        yield* end
        assert.strictEqual(
          yield* settlement,
          isConfirmed ? superseded : `${Message.unknown.kind}: ${Message.unknown.text}`
        )
        assert.deepStrictEqual(order.cancelled, [1])
      }
    })
)

it.effect("of a settlement and a message at one instant, the first counts [P1521 P1584]", () =>
  Effect.gen(function* () {
    for (const first of ["settlement", "message", "message, not yet noticed"] as const) {
      const order = deferring()
      const isFirst = first !== "settlement"
      let noticed: Tool.Receipt | undefined
      // the message is in the inbox, and the call still waits
      const observer = (event: AgentEvent.AgentEvent) => {
        if (event.type === "message-queued" && first === "message, not yet noticed") noticed = Effect.runSync(settle)
      }
      const { end, say, settlement } = yield* playedInMemory(order.tool, "order", {}, Effect.never).pipe(
        Effect.provideService(RunContext.Observers, [() => observer])
      )
      const settle = Effect.orDie(Tool.settle(order.tokenOf(), Exit.succeed({ at: 1 })))
      const [receipt] = isFirst
        ? yield* Effect.map(Effect.zip(say, settle), ([, receipt]) => [receipt])
        : yield* Effect.zip(settle, say)
      yield* end
      assert.strictEqual((noticed ?? receipt)?._tag, isFirst ? "NotCounted" : "Counted")
      assert.strictEqual(yield* settlement, isFirst ? superseded : 'result: {"at":1}')
      assert.deepStrictEqual(order.cancelled, isFirst ? [1] : [])
    }
  })
)

it.effect("what has expired is not withdrawn, also at the instant of the message [P1501 P1530 P1584]", () =>
  Effect.gen(function* () {
    for (const offset of [-1, 0])
      for (const isFirst of [true, false]) {
        const order = deferring({ deadline: "1 second" })
        const tool = order.tool.pipe(Tool.onError({ orElse: Recovery.tell(() => "late") }))
        const { tool: paid } = paying()
        for (const [name, one, args, deadline] of [
          ["order", tool, {}, 1_000],
          ["pay", Tool.requireApproval(paid, { validFor: 1_000, onExpiry: "refuse" }), { cents: 5 }, 1_001]
        ] as const) {
          let say: Effect.Effect<unknown> = Effect.void
          const timer = Effect.andThen(
            Effect.sleep(deadline + offset),
            Effect.suspend(() => say)
          )
          const early = isFirst ? yield* Effect.forkChild(timer) : undefined
          yield* calm
          const played = yield* playedInMemory(one, name, args, Effect.never)
          say = played.say
          const late = isFirst ? undefined : yield* Effect.forkChild(timer)
          yield* calm
          yield* TestClock.adjust(5_000)
          yield* Fiber.join(early ?? late ?? (yield* Effect.forkChild(Effect.void)))
          yield* played.end
          const settlement = (yield* played.settlement) ?? ""
          if (offset === -1) assert.strictEqual(settlement, superseded, name)
          else assert.match(settlement, name === "order" ? /^told: late/ : /^denied: .*in time/, name)
        }
      }
  })
)
