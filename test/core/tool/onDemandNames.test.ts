/** Tools on demand whose names, or whose `call_tool`, a model writes in another way. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { busy, done, eventLog, play, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

const passing = (name: string, args: Schema.Json) => ({ name, arguments: args })

it.run("a misspelt call_tool, and one within another, call the tool that they name [P1385]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("pay", { sideEffects: "unsafe" }, [
      Effect.succeed("one"),
      Effect.succeed("two"),
      Effect.succeed("three"),
      Effect.succeed("four")
    ])
    const log = eventLog()
    const agent = Agent.make("desk", { tools: Tool.onDemand([tool]) }).pipe(log.listen)
    const inner = passing("pay", { n: 1 })
    const model = yield* make(
      calls(
        call("functions.call_tool", inner, "c1"),
        call("Call-Tool", JSON.stringify(passing("pay", { n: 2 })), "c2"),
        call("call_tool", passing("call_tool", passing("pay", { n: 3 })), "c3"),
        call("call_tool", JSON.stringify(passing("functions.call_tool", passing("call_tool", inner))), "c4"),
        call("call_tool", passing("call_tool", passing("call_tool", passing("call_tool", inner))), "c5")
      ),
      done
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      runs.map(({ params }) => params),
      [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 1 }]
    )
    const results = read(model)
    assert.deepStrictEqual(results.slice(0, 4), ["result: one", "result: two", "result: three", "result: four"])
    // the bound of what is read
    assert.include(results[4], "Call any other tool by its own name.")
    assert.deepStrictEqual(
      log.of("tool-start").map(({ calledAs, tool }) => [tool, calledAs]),
      [
        ["pay", "functions.call_tool"],
        ["pay", "Call-Tool"],
        ["pay", "call_tool"],
        ["pay", "call_tool"],
        ["call_tool", undefined]
      ]
    )
  })
)

it.run("a tool of the agent with a name like call_tool stays one of the agent [P1385]", (run) =>
  Effect.gen(function* () {
    const seen: Array<unknown> = []
    const own = Tool.make("CallTool", {
      description: "Calls a tool of another system.",
      parameters: Schema.Struct({ name: Schema.String }),
      success: Schema.String,
      run: (params) => Effect.sync(() => `called ${seen.push(params)}`)
    })
    const agent = Agent.make("desk", { tools: [own, ...Tool.onDemand([scripted("pay").tool])] })
    const model = yield* make(
      calls(call("CallTool", passing("pay", {}), "c1"), call("functions.call_tool", passing("pay", {}), "c2")),
      done
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const [first, second] = read(model)
    assert.strictEqual(first, "result: called 1")
    assert.deepStrictEqual(seen, [{ name: "pay" }])
    // either of the two may be meant
    assert.include(second, "unknown tool: functions.call_tool")
  })
)

it.effect("a tool on demand with a name like call_tool gets its own arguments, also after an approval [P1385]", () =>
  Effect.gen(function* () {
    const seen: Array<unknown> = []
    const own = Tool.make("CallTool", {
      description: "Calls a tool of another system.",
      parameters: Schema.Struct({ name: Schema.String, arguments: Schema.Json }),
      success: Schema.String,
      run: (params) => Effect.sync(() => `called ${seen.push(params)}`)
    }).pipe(Tool.requireApproval())
    const agent = Agent.make("desk", { tools: Tool.onDemand([own, scripted("pay").tool]) })
    const model = yield* make(calls(call("call_tool", passing("CallTool", passing("pay", { n: 1 })), "c1")), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.strictEqual(Snapshot.requestsOf(from)[0]?.tool, "CallTool")
    const read = yield* Snapshot.fromJson(JSON.parse(JSON.stringify(Snapshot.toJson(from))))
    yield* outcomeOf(Agent.resume(agent), deciding(read), model)
    assert.deepStrictEqual(seen, [{ name: "pay", arguments: { n: 1 } }])
  })
)

it.run("a call_tool that is longer than the limit of arguments is denied before it is read [P1385]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("pay", {}, [Effect.succeed("paid")])
    const agent = Agent.make("desk", { tools: Tool.onDemand([tool]), budget: { maxArgsBytes: 500 } })
    const written = JSON.stringify({ ...passing("pay", { n: 1 }), more: "x".repeat(500) })
    const short = JSON.stringify({ ...passing("pay", { n: 2 }), more: "x".repeat(300) })
    const model = yield* make(calls(call("call_tool", written, "c1"), call("call_tool", short, "c2")), done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const [long, paid] = read(model)
    assert.include(long, "The call of tool 'call_tool' was denied and not run: the arguments are longer than 500 bytes")
    assert.strictEqual(paid, "result: paid")
    assert.deepStrictEqual(
      runs.map(({ params }) => params),
      [{ n: 2 }]
    )
  })
)

it.run("the mending of a call_tool that is no JSON is emitted as that of the tool's own arguments is [P1385]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("pay", {}, [Effect.succeed("paid")])
    const log = eventLog()
    const agent = Agent.make("desk", { tools: Tool.onDemand([tool]) }).pipe(log.listen)
    const written = '```json\n{name: "pay", arguments: {"n": "5"}}\n```'
    const model = yield* make(calls(call("call_tool", written, "c1")), done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      runs.map(({ params }) => params),
      [{ n: 5 }]
    )
    const changes = log.of("arguments-coerced")
    assert.deepStrictEqual(
      changes.map(({ callId, change, tool }) => [tool, callId, change.step, change.path]),
      [
        ["pay", "c1", "strip-fences", []],
        ["pay", "c1", "repair", []],
        ["pay", "c1", "convert-number", ["n"]]
      ]
    )
    assert.strictEqual(changes[0]?.change.before, written)
  })
)

it.effect(
  "a person who is asked about a call with a misspelt name decides after the snapshot was read [P1385 P1510]",
  () =>
    Effect.gen(function* () {
      const madeBy = (way: (tool: Tool.AnyTool) => Tool.AnyTool) => {
        const { runs, tool } = play("look_up", {}, [Effect.fail(busy()), Effect.succeed("found")])
        const asked = tool.pipe(
          Tool.onError({ Busy: Recovery.ladder(Recovery.ask(), Recovery.tell()), orElse: Recovery.tell() })
        )
        return { runs, agent: Agent.make("desk", { tools: [way(asked)] }) }
      }
      const direct = madeBy((tool) => tool)
      const demanded = madeBy((tool) => Tool.onDemand([tool])[0] ?? tool)
      const cases = [
        [direct, call("functions.LookUp", { n: 1 })],
        [demanded, call("tools.call_tool", passing("look-up", { n: 1 }))]
      ] as const
      for (const [{ agent, runs }, written] of cases) {
        const model = yield* make(calls(written), done)
        const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
        assert.strictEqual(Snapshot.requestsOf(from)[0]?.tool, "look_up")
        const end = yield* outcomeOf(Agent.resume(agent), deciding(from), model)
        assert.deepInclude(end, { _tag: "Completed", output: "done" })
        assert.lengthOf(runs, 2)
        assert.deepStrictEqual(read(model), ["result: found"])
        // a request about another tool is still none about this call
        const document = JSON.stringify(Snapshot.toJson(from)).replaceAll('"tool":"look_up"', '"tool":"send"')
        const error = yield* Effect.flip(Snapshot.fromJson(JSON.parse(document)))
        assert.include(String(error), "about the call as it was made")
      }
    })
)
