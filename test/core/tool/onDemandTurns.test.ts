/** Tools on demand in turns that allow only some tools: what a search shows, and what `Agent.prepareTurn` demands. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { done, gone, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { call, calls, make } = ScriptedModel

const tool = <const Name extends string>(name: Name, options: { readonly maxCalls?: number } = {}) =>
  Tool.make(name, {
    description: "Does the work of an order.",
    parameters: Schema.Struct({ order: Schema.optionalKey(Schema.String) }),
    success: Schema.String,
    ...options,
    run: ({ order = "none" }) => (order === "bad" ? Effect.fail(gone()) : Effect.succeed(`${name} ${order}`))
  }).pipe(Tool.onError({ Gone: Recovery.tell(), orElse: Recovery.tell() }))

const searching = (id = "s") => call("search_tools", { query: "work of an order" }, id)
const passing = (name: string, order: string, id: string) => call("call_tool", { name, arguments: { order } }, id)

/** The names in a result of `search_tools`. */
const namesIn = (text: string | undefined): ReadonlyArray<string> =>
  (JSON.parse((text ?? "").replace(/^result: /, "")) as { tools: ReadonlyArray<{ name: string }> }).tools
    .map(({ name }) => name)
    .toSorted()

it.run("a search shows no tool that the turn leaves out, and the tools behind it move up [P1385 P1550]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("desk", { tools: Tool.onDemand([tool("a"), tool("b"), tool("c")], { limit: 2 }) }).pipe(
      Agent.prepareTurn(({ turn }) => Effect.succeed(turn === 1 ? { tools: ["b", "c"] as const } : {}))
    )
    const model = yield* make(calls(searching()), calls(searching("t")), done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model).map(namesIn), [
      ["b", "c"],
      ["a", "b"]
    ])
  })
)

it.run("a search shows no tool that is withheld, or at its limit of calls [P1385]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("desk", {
      tools: Tool.onDemand([tool("failing"), tool("once", { maxCalls: 1 }), tool("free")]),
      budget: { repeatedFailures: { hint: 1, withhold: 2 } }
    })
    const model = yield* make(
      calls(searching("s1")),
      calls(passing("failing", "bad", "c1"), passing("once", "O-1", "c2")),
      calls(passing("failing", "bad", "c3")),
      calls(searching("s2"), passing("once", "O-2", "c4"), passing("failing", "O-3", "c5")),
      done
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const results = read(model)
    assert.deepStrictEqual(namesIn(results[0]), ["failing", "free", "once"])
    assert.deepStrictEqual(namesIn(results[4]), ["free"])
    assert.include(results[5], "limit of 1 call reached")
    assert.match(results[6] ?? "", /^denied: /)
  })
)

it.run("a tool on demand that a turn demands is listed in that turn, and demanded of the model [P1385 P1550]", (run) =>
  Effect.gen(function* () {
    const refund = tool("refund")
    const agent = Agent.make("desk", { tools: [tool("status"), ...Tool.onDemand([refund, tool("track")])] }).pipe(
      Agent.prepareTurn(({ turn }) => Effect.succeed(turn === 2 ? { toolChoice: { tool: "refund" } as const } : {}))
    )
    const model = yield* make(calls(searching()), calls(call("refund", { order: "O-1" }, "c1")), done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const usual = ["status", "search_tools", "call_tool"]
    assert.deepStrictEqual(
      model.requests.map(({ toolChoice, tools }) => [toolChoice, tools.map(({ name }) => name)]),
      [
        ["auto", usual],
        [{ tool: "refund" }, [...usual, "refund"]],
        ["auto", usual]
      ]
    )
    assert.deepStrictEqual(model.requests[1]?.tools.at(-1), refund.definition.spec())
    assert.strictEqual(read(model)[1], "result: refund O-1")
  })
)

it.run("a demand for a withheld tool on demand is dropped, as for any other tool [P1385 P1550]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("desk", {
      tools: Tool.onDemand([tool("refund"), tool("track")]),
      budget: { repeatedFailures: { hint: 1, withhold: 2 } }
    }).pipe(Agent.prepareTurn(() => Effect.succeed({ toolChoice: { tool: "refund" } as const })))
    const failing = calls(call("refund", { order: "bad" }))
    const model = yield* make(failing, failing, done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      model.requests.map(({ toolChoice, tools }) => [toolChoice, tools.at(-1)?.name]),
      [
        [{ tool: "refund" }, "refund"],
        [{ tool: "refund" }, "refund"],
        ["auto", "call_tool"]
      ]
    )
  })
)
