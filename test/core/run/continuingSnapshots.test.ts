/** Deferred calls whose run goes on, and is suspended before their results are there. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Recovery, Router, Skill, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Clock, Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, type Declined, deferring } from "../tool/_support/deferring.ts"
import { batch, calm, done, scripted, settlements } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make, text } = ScriptedModel

const saidIn = (model: ScriptedModel.ScriptedModel) =>
  (model.requests.at(-1)?.messages ?? [])
    .flatMap((message) => (message.role === "user" ? [Message.textOf(message)] : []))
    .slice(1)

const talk = Skill.make("talk", { description: "Talks." })
const work = <T extends ReturnType<typeof deferring>["tool"]>(tool: T) =>
  Skill.make("work", { description: "Works.", tools: [tool] })

const settlementFor = (token: string, at = 7) => [{ token, exit: Exit.succeed({ at }) }]

it.effect("a run with an answer is suspended until the result is there, and is asked again then [P1524 P1528]", () =>
  Effect.gen(function* () {
    const { begun, cancelled, tokenOf, tool } = deferring({ wait: "continue" })
    const agent = agentWith(tool)
    const model = yield* make(batch("order"), text("so far"), done)
    let from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const { runId } = from
    const waiting = { type: "deferred", runId, agent: "worker", tool: "order", callId: "c1" } as const
    assert.deepStrictEqual(Snapshot.waitingOf(from), [
      { ...waiting, token: tokenOf(), handle: { job: 1 }, expiresAt: 3_600_000 }
    ])
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })), {
      _tag: "NotCounted",
      reason: "suspended"
    })
    for (const settlements of [[], settlementFor("another")]) {
      from = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from, settlements }, model))
      assert.lengthOf(Snapshot.waitingOf(from), 1)
    }
    assert.lengthOf(model.requests, 2)
    const end = yield* outcomeOf(Agent.resume(agent), { from, settlements: settlementFor(tokenOf()) }, model)
    assert(end._tag === "Completed")
    assert.strictEqual(end.output, "done")
    assert.match(saidIn(model)[0] ?? "", /^The call 'c1' of tool 'order'.*<data>{"at":7}<\/data>$/)
    assert.match(settlements(model.requests.at(-1)?.messages ?? [])[0] ?? "", /^deferred: /)
    assert.lengthOf(begun, 1)
    assert.deepStrictEqual(cancelled, [])
    assert.strictEqual((yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })))._tag, "NotCounted")
  })
)

it.effect("it goes on with no agent whose tool is gone or waits, and in no skill without the tool [P1524]", () =>
  Effect.gen(function* () {
    const { tool } = deferring({ wait: "continue" })
    const model = yield* make(batch("order"), text("so far"))
    const from = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
    const endOf = <A, E>(outcome: Effect.Effect<A, E>) =>
      Effect.map(Effect.exit(outcome), (exit) => (Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : exit.value))
    const others: ReadonlyArray<ReturnType<typeof agentWith>> = [
      agentWith(),
      agentWith(scripted("order").tool),
      agentWith(deferring().tool)
    ]
    for (const other of others) {
      const end = yield* endOf(outcomeOf(Agent.resume(other), { from }, model))
      assert.match(String(end), /^SnapshotRefusedError: .*is about a run of another agent/)
    }
    // the tool is in another skill than before
    const orders = Skill.make("orders", { description: "Orders.", tools: [tool] })
    const moved = Agent.make("worker", { skills: [Skill.make("work", { description: "Works." }), orders] })
    const routed = Agent.route(
      Agent.make("worker", { skills: [talk, work(tool)] }),
      Router.byRule(() => "work")
    )
    const ofWork = yield* snapshotOf(yield* outcomeOf(routed, "go", yield* make(batch("order"), text("so far"))))
    const defect = "TypeError: Agent 'worker' has no tool 'order' to go on with"
    assert.strictEqual(yield* endOf(outcomeOf(Agent.resume(moved), { from: ofWork }, model)), defect)
  })
)

it.effect("new input that comes while a call waits is read by the skill of the call [P1524]", () =>
  Effect.gen(function* () {
    for (const given of [{ input: "more" }, { say: "more" }]) {
      const { tokenOf, tool } = deferring({ wait: "continue" })
      let routedTo: "talk" | "work" = "work"
      const agent = Agent.make("worker", { skills: [talk, work(tool)] }).pipe(
        Agent.route(Router.byRule(() => routedTo))
      )
      const model = yield* make(batch("order"), text("so far"), text("read"), done)
      const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      routedTo = "talk"
      const from = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from: first, ...given }, model))
      assert.deepStrictEqual([from.skill, saidIn(model)], ["work", ["more"]])
      const end = yield* outcomeOf(Agent.resume(agent), { from, settlements: settlementFor(tokenOf()) }, model)
      assert.strictEqual(end._tag, "Completed")
      assert.match(saidIn(model)[1] ?? "", /{"at":7}/)
    }
  })
)

it.effect("resumed in memory it waits there, and a settlement counts again [P1524 P1521]", () =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring({ wait: "continue" })
    const agent = agentWith(tool)
    const model = yield* make(batch("order"), text("so far"), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const fiber = yield* Effect.forkChild(Agent.resume(agent)({ from }).pipe(Effect.provide(model.layer)))
    yield* calm
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 3 })), { _tag: "Counted" })
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.match(saidIn(model)[0] ?? "", /{"at":3}/)
  })
)

it.effect(
  "the deadline is looked at on resumption: at it the settlement counts, after it the work is cancelled [P1524 P1526]",
  () =>
    Effect.gen(function* () {
      for (const [millis, isGiven, expected] of [
        [3_600_000, true, /{"at":7}/],
        [3_600_000, false, /did not end within/],
        [3_600_001, true, /did not end within/]
      ] as const) {
        const { cancelled, tokenOf, tool } = deferring({ wait: "continue" })
        const agent = agentWith(tool).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
        const model = yield* make(batch("order"), text("so far"), done)
        const begunAt = yield* Clock.currentTimeMillis
        const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
        yield* TestClock.setTime(begunAt + millis)
        const end = yield* outcomeOf(
          Agent.resume(agent),
          { from, settlements: isGiven ? settlementFor(tokenOf()) : [] },
          model
        )
        assert.strictEqual(end._tag, "Completed")
        assert.match(saidIn(model)[0] ?? "", expected)
        assert.deepStrictEqual(cancelled, expected.source.startsWith("{") ? [] : [1])
      }
    })
)

it.effect(
  "suspended for another reason, a result that had come is in the snapshot, and one that had not comes later [P1524]",
  () =>
    Effect.gen(function* () {
      for (const isEarly of [true, false]) {
        const { tokenOf, tool } = deferring({
          wait: "continue",
          start: ({ token }) =>
            Effect.as(isEarly ? Effect.orDie(Tool.settle(token, Exit.succeed({ at: 9 }))) : Effect.void, { job: 1 })
        })
        const pay = paying()
        const agent = agentWith(tool, pay.tool)
        const model = yield* make(
          calls(call("order", {}, "c1"), call("pay", { cents: 5 }, "c2")),
          ...(isEarly ? [] : [text("so far")]),
          done
        )
        const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
        assert.deepStrictEqual(
          Snapshot.waitingOf(from).map(({ type }) => type),
          isEarly ? ["approval"] : ["deferred", "approval"]
        )
        const decisions = Snapshot.requestsOf(from).map(({ digest }) => ({
          digest,
          decision: { type: "approve" as const }
        }))
        let end = yield* outcomeOf(Agent.resume(agent), { from, decisions }, model)
        if (isEarly)
          assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 9 })), {
            _tag: "NotCounted",
            reason: "already-settled"
          })
        else {
          const second = yield* snapshotOf(end)
          end = yield* outcomeOf(Agent.resume(agent), { from: second, settlements: settlementFor(tokenOf(), 9) }, model)
        }
        assert.strictEqual(end._tag, "Completed")
        assert.match(saidIn(model)[0] ?? "", /{"at":9}/)
        assert.lengthOf(saidIn(model), 1)
      }
    })
)

it.effect(
  "a failure that had come, and how far its policy was, are in the snapshot: its rows are asked on resumption [P1524 P1522]",
  () =>
    Effect.gen(function* () {
      for (const isRetried of [false, true]) {
        const { begun, tokenOf, tool } = deferring({
          wait: "continue",
          start: ({ n, token }) =>
            Effect.as(
              n === undefined
                ? Effect.orDie(Tool.settle(token, Exit.fail({ _tag: "Declined", why: "no" })))
                : Effect.void,
              { job: 1 }
            )
        })
        const pay = paying()
        const rung = Recovery.retry({ retries: 2 })
        const row = isRetried
          ? Recovery.ladder(
              rung,
              Recovery.tell(({ why }: Declined) => `why: ${why}`)
            )
          : Recovery.tell(({ why }: Declined) => `why: ${why}`)
        const agent = agentWith(tool.pipe(Tool.onError({ Declined: row })), pay.tool)
        const first = calls(call("order", {}, "c1"), call("pay", { cents: 5 }, "c2"))
        const model = yield* make(first, ...(isRetried ? [text("so far")] : []), done)
        const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
        assert.deepStrictEqual(
          from.late?.map(({ ended, result }) => [ended, result]),
          [[{ _tag: "Failure", error: { _tag: "Declined", why: "no" } }, undefined]]
        )
        assert.deepStrictEqual(
          Snapshot.waitingOf(from).map(({ type }) => type),
          ["approval"]
        )
        const end = yield* outcomeOf(Agent.resume(agent), deciding(from), model)
        // each new attempt fails at once, until the last rung tells
        assert.strictEqual(end._tag, "Completed")
        assert.lengthOf(begun, isRetried ? 3 : 1)
        assert.match(saidIn(model)[0] ?? "", /<data>why: no<\/data>$/)
        assert.strictEqual((yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })))._tag, "NotCounted")
      }
    })
)

it.effect("a ladder goes on in another process where it was [P1524 P1522]", () =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring({ wait: "continue" })
    const ladder = Recovery.ladder(
      Recovery.retry({ retries: 2 }),
      Recovery.tell(({ why }: Declined) => `at last: ${why}`)
    )
    const agent = agentWith(tool.pipe(Tool.onError({ Declined: ladder })))
    const model = yield* make(batch("order"), text("so far"), done)
    let from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    for (const index of [0, 1]) {
      const settlements = [{ token: tokenOf(index), exit: Exit.fail({ _tag: "Declined", why: `${index}` }) }]
      from = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), { from, settlements }, model))
      assert.lengthOf(begun, index + 2)
      assert.lengthOf(Snapshot.waitingOf(from), 1)
    }
    const settlements = [{ token: tokenOf(2), exit: Exit.fail({ _tag: "Declined", why: "2" }) }]
    const end = yield* outcomeOf(Agent.resume(agent), { from, settlements }, model)
    assert.strictEqual(end._tag, "Completed")
    assert.match(saidIn(model)[0] ?? "", /at last: 2<\/data>$/)
    assert.deepStrictEqual(
      begun.map(({ attempt }) => attempt),
      [1, 2, 3]
    )
    assert.lengthOf(new Set(begun.map(({ key }) => key)), 1)
  })
)

it.effect(
  "a document with the token of another call, and a settlement that does not fit, are refused [P1524 P1521]",
  () =>
    Effect.gen(function* () {
      const { tokenOf, tool } = deferring({ wait: "continue" })
      const agent = agentWith(tool)
      const model = yield* make(batch("order"), text("so far"))
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const forged = { ...from, late: (from.late ?? []).map((late) => ({ ...late, key: "another" })) }
      const error = yield* Effect.flip(Snapshot.fromJson(Snapshot.toJson(forged)))
      assert.isTrue(Schema.isSchemaError(error))
      const misfit = [{ token: tokenOf(), exit: Exit.succeed({ at: "soon" }) }]
      const refused = yield* Effect.flip(
        Agent.resume(agent)({ from, settlements: misfit }).pipe(Effect.provide(model.layer))
      )
      assert.strictEqual((refused as { readonly reason?: string }).reason, "malformed")
      // with a tool that waits, it is a snapshot of another agent
      const other = agentWith(deferring().tool)
      const foreign = yield* Effect.flip(Agent.resume(other)({ from }).pipe(Effect.provide(model.layer)))
      assert.strictEqual((foreign as { readonly reason?: string }).reason, "other-agent")
    })
)

it.effect("the call of a sub-agent is suspended with its parent [P1524]", () =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring({ wait: "continue" })
    const helper = Agent.make("helper", {
      budget: { maxDuration: "1 day" },
      skills: [Skill.make("help", { description: "Helps.", tools: [tool] })]
    })
    const agent = agentWith(Agent.asTool(helper, { description: "Helps." }))
    const model = yield* make(
      calls(call("helper", { input: "go" }, "h1")),
      batch("order"),
      text("so far"),
      text("helped"),
      done
    )
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.deepStrictEqual(
      Snapshot.waitingOf(from).map((one) => one.type === "deferred" && one.token),
      [tokenOf()]
    )
    const end = yield* outcomeOf(Agent.resume(agent), { from, settlements: settlementFor(tokenOf()) }, model)
    assert.strictEqual(end._tag, "Completed")
    assert.match(saidInRequest(model, 3)[0] ?? "", /{"at":7}/)
    assert.deepStrictEqual(settlements(model.requests.at(-1)?.messages ?? []), ["result: helped"])
    assert.lengthOf(begun, 1)
  })
)

it.effect(
  "a message of the user wakes a run that waits for results, and is read after those that have come [P1524 P1501]",
  () =>
    Effect.gen(function* () {
      const { tokenOf, tool } = deferring({ wait: "continue" })
      const agent = agentWith(tool)
      const model = yield* make(batch("order"), text("so far"), text("still"), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const end = yield* outcomeOf(Agent.resume(agent), { from, say: "hurry", settlements: [] }, model)
      const second = yield* snapshotOf(end)
      assert.deepStrictEqual(saidIn(model), ["hurry"])
      const last = yield* outcomeOf(
        Agent.resume(agent),
        { from: second, say: "and?", settlements: settlementFor(tokenOf()) },
        model
      )
      assert.strictEqual(last._tag, "Completed")
      assert.match(saidIn(model)[1] ?? "", /{"at":7}/)
      assert.strictEqual(saidIn(model)[2], "and?")
    })
)

const saidInRequest = (model: ScriptedModel.ScriptedModel, index: number) =>
  (model.requests.at(index)?.messages ?? [])
    .flatMap((message) => (message.role === "user" ? [Message.textOf(message)] : []))
    .slice(1)
