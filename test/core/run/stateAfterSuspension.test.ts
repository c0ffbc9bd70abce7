/** What survives a suspension, as JSON, besides the conversation itself. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, Message, Recovery, Skill, Snapshot, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Queue, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { agentWith, batch, busy, type Busy, done, eventLog, read, scripted } from "../../_support/dialogue.ts"
import { deciding, kindOf, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make, replies } = ScriptedModel

/** The first run fails as it is told to. */
const paying = (first: Effect.Effect<string, Busy> = Effect.succeed("paid")) => {
  const runs: Array<number> = []
  const tool = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    run: ({ cents }) => Effect.suspend(() => (runs.push(cents) === 1 ? first : Effect.succeed("paid")))
  }).pipe(Tool.requireApproval())
  const mended = tool.pipe(
    Tool.onError({ Busy: Recovery.fix((_raw: string) => Effect.succeed('{"cents":9}')), orElse: Recovery.tell() })
  )
  return { runs, tool, mended }
}

const pay = (cents = 5, id = "c1") => call("pay", { cents }, id)

/** An approver that gives these decisions, one after the other, and the requests that it got. */
const answering = (...decisions: ReadonlyArray<Approval.Decision>) => {
  const shown: Array<unknown> = []
  const layer = Approval.layer((request) => {
    const decision = decisions[shown.push(request.arguments) - 1]
    return decision === undefined ? Effect.die(new Error("no approver is to be asked again")) : Effect.succeed(decision)
  })
  return { shown, layer }
}

it.run("who has edited arguments has approved of these, and not of what a repair makes of them [P904]", (run) =>
  Effect.gen(function* () {
    const { mended, runs } = paying(Effect.fail(busy()))
    const { layer, shown } = answering(Approval.approveWith({ cents: 7 }), Approval.refuse("not that"))
    const model = yield* make(calls(pay()), done)
    yield* run(agentWith(mended), "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    assert.deepStrictEqual(shown, [{ cents: 5 }, { cents: 9 }])
    assert.deepStrictEqual(runs, [7])
    assert.match(read(model)[0] ?? "", /^denied: .*not that/)
  })
)

it.run(
  "who has edited arguments before a resumption has not approved of what a repair makes of them [P904 P903]",
  (run) =>
    Effect.gen(function* () {
      const { mended, runs } = paying(Effect.fail(busy()))
      const { layer, shown } = answering(Approval.refuse("not that"))
      const model = yield* make(calls(pay()), done)
      const agent = agentWith(mended)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const resumed = run(Agent.resume(agent), deciding(from, Approval.approveWith({ cents: 7 })))
      yield* resumed.pipe(Effect.provide(layer), Effect.provide(model.layer))
      assert.deepStrictEqual(shown, [{ cents: 9 }])
      assert.deepStrictEqual(runs, [7])
    })
)

it.run("an approval does not hold for the arguments of a snapshot that was changed [P904 P903]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const model = yield* make(calls(pay()), done)
    const agent = agentWith(tool)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const text = JSON.stringify(Snapshot.toJson(from)).replaceAll('{"cents":5}', '{"cents":500}')
    const refused = yield* Effect.flip(Snapshot.fromJson(JSON.parse(text)))
    assert.include(String(refused), '["calls"][0]["request"]')
    // by its shape alone it is one
    const changed = yield* Schema.decodeUnknownEffect(Schema.toCodecJson(Snapshot.Snapshot))(JSON.parse(text))
    assert.deepStrictEqual(
      Snapshot.requestsOf(changed).map(({ arguments: args }) => args),
      [{ cents: 500 }]
    )
    const { layer, shown } = answering(Approval.refuse("not so much"))
    const resumed = run(Agent.resume(agent), deciding(changed))
    yield* resumed.pipe(Effect.provide(layer), Effect.provide(model.layer))
    assert.deepStrictEqual(shown, [{ cents: 500 }])
    assert.deepStrictEqual(runs, [])
  })
)

it.run("a call of unknown outcome stays one while another call waits for its approval [P602 P902]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const began = yield* Queue.unbounded<void>()
    let sent = 0
    const send = Tool.make("send", {
      description: "Sends.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      sideEffects: "unsafe",
      timeout: "5 seconds",
      run: () => Effect.andThen(Queue.offer(began, void sent++), Effect.never)
    }).pipe(Tool.onError({ OutcomeUnknownError: Recovery.tell(() => "not looked up") }))
    const agent = agentWith(send, tool)
    const model = yield* make(calls(call("send", {}, "c1"), pay(5, "c2")), done)
    const starting = yield* Effect.forkChild(outcomeOf(agent, "go", model))
    yield* Queue.take(began)
    yield* TestClock.adjust("5 seconds")
    const from = yield* snapshotOf(yield* Fiber.join(starting))
    assert.deepStrictEqual(from.unfinished?.calls.map(kindOf), ["unknown", undefined])
    const { layer } = answering()
    const resumed = run(Agent.resume(agent), deciding(from))
    yield* resumed.pipe(Effect.provide(layer), Effect.provide(model.layer))
    assert.strictEqual(sent, 1)
    assert.deepStrictEqual(runs, [5])
    const [first, second] = read(model)
    assert.match(first ?? "", /^unknown: not looked up/)
    assert.strictEqual(second, "result: paid")
  })
)

it.run("what a provider wants back of its reply survives a suspension as it was [P902]", (run) =>
  Effect.gen(function* () {
    const { tool } = paying()
    const opaque = { provider: "test", data: { signature: "c2ln", parts: [1, null, "ä"] } }
    const content: Message.Reply["content"] = [
      { type: "reasoning", text: "Shall I?", opaque },
      { type: "text", text: "I pay." },
      { ...pay(), opaque: { ...opaque, data: "of the call" } },
      { type: "reasoning", text: "" }
    ]
    const usage = Usage.make({ inputTokens: 1, outputTokens: 2 })
    const reply: Message.Reply = { content, finish: "tool-calls", usage, model: "m-1" }
    const model = yield* make(replies(reply), done)
    const agent = agentWith(tool)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const { layer } = answering()
    const resumed = run(Agent.resume(agent), deciding(from))
    yield* resumed.pipe(Effect.provide(layer), Effect.provide(model.layer))
    const said = model.requests.at(-1)?.messages.at(-1)
    assert.deepStrictEqual(said, Message.settle(reply, [{ kind: "result", text: "paid" }]))
  })
)

it.run("the handler is not called after a suspension for a limit that was extended before it [A909 P902]", (run) =>
  Effect.gen(function* () {
    const { tool } = paying()
    const look = scripted("look", Effect.succeed("seen"), Effect.succeed("seen"))
    const asked: Array<number> = []
    const agent = Agent.make("worker", {
      budget: { maxTurns: 1 },
      skills: [Skill.make("work", { description: "Works.", tools: [tool, look.tool] })]
    }).pipe(
      Agent.onBudgetExceeded(({ limit }) => {
        asked.push(limit)
        return Budget.extend(limit + 3)
      })
    )
    const model = yield* make(batch("look"), calls(pay()), batch("look"), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.deepInclude(from.limits, { maxTurns: 4 })
    const { layer } = answering()
    const resumed = run(Agent.resume(agent), deciding(from))
    assert.strictEqual(yield* resumed.pipe(Effect.provide(layer), Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(asked, [1])
  })
)

it.run("a limit that is near is reported once, however often the run is suspended [A910]", (run) =>
  Effect.gen(function* () {
    for (const isNear of [true, false]) {
      const { tool } = paying()
      const log = eventLog()
      const agent = Agent.make("worker", {
        budget: { maxTurns: 4, warnAt: isNear ? 0.25 : 0.5 },
        skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
      }).pipe(log.listen)
      const model = yield* make(calls(pay()), calls(pay()), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      assert.deepStrictEqual(from.warned, isNear ? ["maxTurns"] : [])
      const next = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), deciding(from), model))
      const { layer } = answering()
      const resumed = run(Agent.resume(agent), deciding(next))
      yield* resumed.pipe(Effect.provide(layer), Effect.provide(model.layer))
      assert.deepStrictEqual(
        log.of("budget-warning").map(({ reason, spent }) => [reason, spent]),
        [["maxTurns", isNear ? 1 : 2]]
      )
    }
  })
)
