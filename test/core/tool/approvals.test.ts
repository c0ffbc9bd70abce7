import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Approval, type Model, Recovery, Snapshot, Tool, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, type Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { agentWith, done, eventLog, read, settlements } from "../../_support/dialogue.ts"
import type { ApprovalOptions } from "../../../packages/core/src/tool/requireApproval.ts"

const { call, calls, make } = ScriptedModel

/** A tool that needs approval above 100, and what it was run with. */
const paying = (options: ApprovalOptions<{ readonly cents: number }, never> = {}) => {
  const runs: Array<number> = []
  const tool = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    coercion: [],
    run: ({ cents }) =>
      Effect.sync(() => {
        runs.push(cents)
        return `paid ${cents}`
      })
  }).pipe(Tool.requireApproval(options))
  return { runs, tool }
}

const pay = (args: Schema.Json, id = "c1") => calls(call("pay", args, id))

/** Answers with these decisions, one after the other. */
const deciding = (...decisions: ReadonlyArray<Approval.Decision | Effect.Effect<Approval.Decision>>) => {
  const requests: Array<Approval.ApprovalRequest> = []
  const layer: Layer.Layer<Approval.Approver> = Approval.layer((request) => {
    const decision = decisions[requests.push(request) - 1] ?? Effect.die(new Error("not expected to be asked"))
    return Effect.isEffect(decision) ? decision : Effect.succeed(decision)
  })
  return { layer, requests }
}

it.run("approval is the last gate: bad arguments and denied calls never reach a person [P901]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const { layer, requests } = deciding(Approval.approve)
    const model = yield* make(
      calls(
        call("pay", "{", "c1"),
        call("pay", { cents: "x" }, "c2"),
        call("pay", { cents: 13 }, "c3"),
        call("pay", { cents: 5 }, "c4")
      ),
      done
    )
    const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.tell() }))).pipe(
      Agent.toolPolicy(({ params }) =>
        (params as { readonly cents: number }).cents === 13 ? ToolPolicy.deny("unlucky") : ToolPolicy.allow
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    assert.deepStrictEqual(runs, [5])
    assert.strictEqual(requests.length, 1)
    assert.deepInclude(requests[0], { tool: "pay", callId: "c4", arguments: { cents: 5 }, agent: "worker" })
    assert.match(requests[0]?.digest ?? "", /^[0-9a-f]{64}$/)
  })
)

it.run("a predicate chooses the calls that need approval; if it fails, the call needs approval [P906]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying({
      when: ({ cents }) => (cents === 0 ? Effect.fail("no idea") : cents > 100),
      reason: "a lot of money"
    })
    const { layer, requests } = deciding(Approval.approve, Approval.approve)
    const model = yield* make(pay({ cents: 5 }), pay({ cents: 500 }), pay({ cents: 0 }), done)
    yield* run(agentWith(tool), "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    assert.deepStrictEqual(runs, [5, 500, 0])
    assert.deepStrictEqual(
      requests.map(({ arguments: args, reason }) => [args, reason]),
      [
        [{ cents: 500 }, "a lot of money"],
        [{ cents: 0 }, "a lot of money"]
      ]
    )
  })
)

it.run("the model reads the reason of a refusal, and no row decides [P905]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const { layer } = deciding(Approval.refuse("too much"))
    const log = eventLog()
    const model = yield* make(pay({ cents: 5 }), done)
    const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.retry({ retries: 3 }) }))).pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    assert.deepStrictEqual(runs, [])
    assert.deepStrictEqual(read(model), ["denied: The call of tool 'pay' was denied and not run: too much"])
    assert.deepStrictEqual(
      log.of("approval-decided").map(({ decision }) => decision),
      [Approval.refuse("too much")]
    )
  })
)

it.run("what is no decision refuses: JSON that was not decoded approves of nothing [P905]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    // not by its type
    const { layer } = deciding({ type: "deny", reason: "no" } as unknown as Approval.Decision)
    const model = yield* make(pay({ cents: 5 }), done)
    yield* run(agentWith(tool), "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    assert.deepStrictEqual(runs, [])
    assert.deepStrictEqual(read(model), ["denied: The call of tool 'pay' was denied and not run: no"])
  })
)

it.run(
  "arguments that an approver has edited are denied where they are nested too deeply, and every event is written down [P904 P1393]",
  (run) =>
    Effect.gen(function* () {
      const runs: Array<Schema.Json> = []
      const tool = Tool.make("keep", {
        description: "Keeps.",
        parameters: Schema.Struct({ what: Schema.Json }),
        success: Schema.String,
        run: ({ what }) => Effect.sync(() => (runs.push(what), "kept"))
      }).pipe(Tool.requireApproval())
      const nested = (levels: number): Schema.Json => JSON.parse("[".repeat(levels) + "]".repeat(levels))
      const depths = [900, 1001, 6000]
      const { layer } = deciding(...depths.map((levels) => Approval.approveWith({ what: nested(levels) })))
      const model = yield* make(...depths.map(() => calls(call("keep", { what: 1 }, "c1"))), done)
      const log = eventLog()
      yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
      const written = JSON.stringify(
        Schema.encodeSync(Schema.Array(Schema.toCodecJson(AgentEvent.AgentEvent)))(log.all)
      )
      assert.strictEqual(written.split('"approval-decided"').length, 1 + depths.length)
      assert.deepStrictEqual(runs, [nested(900)])
      const denied =
        "denied: The call of tool 'keep' was denied and not run: the edited arguments are nested too deeply"
      assert.deepStrictEqual(read(model), ["result: kept", denied, denied])
    })
)

it.run("edited arguments pass all gates once more, except for the person who edited them [P904]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const { layer, requests } = deciding(
      Approval.approveWith({ cents: 7 }),
      Approval.approveWith({ cents: 13 }),
      Approval.approveWith({ cents: "many" })
    )
    const asked: Array<unknown> = []
    const model = yield* make(pay({ cents: 5 }), pay({ cents: 6 }), pay({ cents: 8 }), done)
    const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.tell(() => "bad") }))).pipe(
      Agent.toolPolicy(({ params }) => {
        asked.push(params)
        return (params as { readonly cents: number }).cents === 13 ? ToolPolicy.deny("unlucky") : ToolPolicy.allow
      })
    )
    yield* run(agent, "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    assert.deepStrictEqual(runs, [7])
    assert.strictEqual(requests.length, 3)
    assert.deepStrictEqual(asked, [{ cents: 5 }, { cents: 7 }, { cents: 6 }, { cents: 13 }, { cents: 8 }])
    assert.deepStrictEqual(read(model), [
      "result: paid 7",
      "denied: The call of tool 'pay' was denied and not run: unlucky",
      "told: bad"
    ])
  })
)

it.run("a decision that comes too late leads to another request for approval [P903]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying({ validFor: "1 minute" })
    const slow = Effect.as(TestClock.adjust("2 minutes"), Approval.approve)
    const { layer, requests } = deciding(slow, Approval.approve)
    const model = yield* make(pay({ cents: 5 }), done)
    yield* run(agentWith(tool), "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    assert.deepStrictEqual(runs, [5])
    assert.strictEqual(requests.length, 2)
    assert.notStrictEqual(requests[0]?.digest, requests[1]?.digest)
    assert.strictEqual((requests[1]?.expiresAt ?? 0) - (requests[0]?.expiresAt ?? 0), 120_000)
  })
)

it.run("approval spends no count, and a repaired call needs another approval [P907]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const { layer, requests } = deciding(Approval.approve, Approval.approve)
    const mending = Recovery.fix((_raw: string) => Effect.succeed('{"cents":9}'))
    const model = yield* make(pay("{cents:"), pay({ cents: 2 }), done)
    const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: mending })))
    yield* run(agent, "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    assert.deepStrictEqual(runs, [9, 2])
    assert.deepStrictEqual(
      requests.map(({ arguments: args }) => args),
      [{ cents: 9 }, { cents: 2 }]
    )
  })
)

const started = <A>(
  agent: { readonly start: (input: string) => Effect.Effect<Agent.Run<A, unknown>, never, unknown> },
  model: ScriptedModel.ScriptedModel
) =>
  // what it needs is the model, and the scope of the test
  Effect.flatMap(agent.start("go") as Effect.Effect<Agent.Run<A, unknown>, never, Model.Model>, (handle) =>
    Effect.map(handle.outcome, (outcome) => ({ handle, outcome }))
  ).pipe(Effect.provide(model.layer))

const overJson = (snapshot: Snapshot.Snapshot) =>
  Snapshot.fromJson(JSON.parse(JSON.stringify(Snapshot.toJson(snapshot))))

it.effect(
  "without a decision a run is suspended, its siblings settled; resumed, no sibling reruns [P902 T30 L1003]",
  () =>
    Effect.gen(function* () {
      const { runs, tool } = paying()
      const looked: Array<string> = []
      const look = Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.sync(() => `seen ${looked.push("x")}`)
      })
      const agent = agentWith(look, tool)
      const model = yield* make(
        calls(call("look", {}, "c1"), call("pay", { cents: 5 }, "c2"), call("look", {}, "c3")),
        done
      )
      const { handle, outcome } = yield* started(agent, model)
      assert(outcome._tag === "Suspended")
      assert.deepStrictEqual(runs, [])
      assert.strictEqual(looked.length, 2)
      assert.deepStrictEqual(settlements(yield* handle.transcript), [
        "result: seen 1",
        "interrupted: The call was not run: it was still waiting for approval.",
        "result: seen 2"
      ])
      const [request] = Snapshot.requestsOf(outcome.snapshot)
      assert.deepInclude(request, { tool: "pay", callId: "c2", arguments: { cents: 5 } })
      for (const from of [outcome.snapshot, yield* overJson(outcome.snapshot)]) {
        assert.deepStrictEqual(from, outcome.snapshot)
      }
      const decisions = [{ digest: request?.digest ?? "", decision: Approval.approve }]
      const resumed = yield* Effect.flatMap(
        Agent.resume(agent).start({ from: yield* overJson(outcome.snapshot), decisions }),
        (handle) => handle.outcome
      ).pipe(Effect.provide(model.layer))
      assert.deepInclude(resumed, { _tag: "Completed", output: "done", finish: "stop" })
      assert.deepStrictEqual(runs, [5])
      assert.strictEqual(looked.length, 2)
      assert.deepStrictEqual(read(model), ["result: seen 1", "result: paid 5", "result: seen 2"])
    })
)

it.effect("a decision about another call, or a late one, does not count: the run stays suspended [P903]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying({ validFor: "1 hour" })
    const agent = agentWith(tool)
    const model = yield* make(pay({ cents: 5 }))
    const { outcome } = yield* started(agent, model)
    assert(outcome._tag === "Suspended")
    const { snapshot } = outcome
    const [request] = Snapshot.requestsOf(snapshot)
    const resume = (digest: string) =>
      Effect.flatMap(
        Agent.resume(agent).start({
          from: snapshot,
          decisions: [{ digest, decision: Approval.approve }],
          repeat: true
        }),
        (handle) => handle.outcome
      ).pipe(Effect.provide(model.layer))
    assert.strictEqual((yield* resume("0".repeat(64)))._tag, "Suspended")
    yield* TestClock.adjust("2 hours")
    const late = yield* resume(request?.digest ?? "")
    assert(late._tag === "Suspended")
    assert.isAbove(Snapshot.requestsOf(late.snapshot)[0]?.expiresAt ?? 0, request?.expiresAt ?? 0)
    assert.deepStrictEqual(runs, [])
  })
)
