/** Tools on demand: what requests list, how a model finds a tool, and what a call of it is. */
import { assert } from "@effect/vitest"
import { Agent, Router, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { done, eventLog, gone, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { call, calls, make } = ScriptedModel

const tool = <const Name extends string>(name: Name, description = `Does ${name}.`) =>
  Tool.make(name, {
    description,
    parameters: Schema.Struct({ order: Schema.String.annotate({ description: "The number of an order" }) }),
    success: Schema.String,
    run: ({ order }) => Effect.succeed(`${name} ${order}`)
  })

const catalogue = Array.from({ length: 399 }, (_, n) => tool(`tool_${n}`, `Does the work number ${n}.`))

const searching = (query: string) => calls(call("search_tools", { query }, "s1"))
const passing = (name: string, args: Schema.Json, id = "c1") => call("call_tool", { name, arguments: args }, id)

/** The names in a result of `search_tools`. */
const namesIn = (text: string | undefined): ReadonlyArray<string> => {
  const { tools } = JSON.parse((text ?? "").replace(/^result: /, "")) as { tools: ReadonlyArray<{ name: string }> }
  return tools.map(({ name }) => name)
}

it.run("of 400 tools, requests list the eager ones and two more, and are equal to the end [P1385]", (run) =>
  Effect.gen(function* () {
    const refund = tool("refund", "Pays the money for an order back.")
    const tools = [tool("status"), ...Tool.onDemand([...catalogue, refund])]
    const model = yield* make(
      searching("pay money back"),
      calls(passing("refund", { order: "O-1" })),
      calls(passing("tool_7", { order: "O-2" })),
      done
    )
    const log = eventLog()
    yield* run(Agent.make("desk", { tools, prompt: "Help." }).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.lengthOf(model.requests, 4)
    for (const request of model.requests) {
      assert.deepStrictEqual(request.tools, model.requests[0]?.tools)
      assert.deepStrictEqual(
        request.tools.map(({ name }) => name),
        ["status", "search_tools", "call_tool"]
      )
    }
    const [search, ...results] = read(model)
    assert.strictEqual(namesIn(search)[0], "refund")
    assert.include(search, '"The number of an order"')
    assert.deepStrictEqual(results, ["result: refund O-1", "result: tool_7 O-2"])
    assert.deepStrictEqual(
      log.of("tool-start").map(({ arguments: args, calledAs, tool }) => ({ args, calledAs, tool })),
      [
        { args: { query: "pay money back" }, calledAs: undefined, tool: "search_tools" },
        { args: { order: "O-1" }, calledAs: "call_tool", tool: "refund" },
        { args: { order: "O-2" }, calledAs: "call_tool", tool: "tool_7" }
      ]
    )
    // the transcript keeps what the model wrote
    const written = (model.requests.at(-1)?.messages ?? []).flatMap((message) =>
      message.role === "assistant"
        ? message.content.flatMap((part) => (part.type === "settled-call" ? part.call.name : []))
        : []
    )
    assert.deepStrictEqual(written, ["search_tools", "call_tool", "call_tool"])
  })
)

it.run("a direct call by name runs too; a tool that does not exist is answered without the catalogue [P1385]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("desk", { tools: [tool("status"), ...Tool.onDemand([tool("refund"), ...catalogue])] })
    const model = yield* make(
      calls(call("refund", { order: "O-1" }, "c1"), passing("refnd", {}, "c2"), call("call_tool", {}, "c3")),
      done
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const [direct, unknown, nameless] = read(model)
    assert.strictEqual(direct, "result: refund O-1")
    assert.strictEqual(unknown, "told: unknown tool: refnd; available tools: status, search_tools, call_tool")
    assert.match(nameless ?? "", /^told: .*call_tool.*name/s)
  })
)

it.run(
  "a search gives at most its limit, the text has room for 50,000 characters, and the best tool is in it [P1385]",
  (run) =>
    Effect.gen(function* () {
      const wide = [1, 2, 3].map((n) => tool(`wide_${n}`, `Wide. ${"x".repeat(30_000)}`))
      const huge = [1, 2].map((n) => tool(`huge_${n}`, `Huge. ${"x".repeat(60_000)}`))
      const model = yield* make(...["work", "wide", "huge", "paint"].map(searching), done)
      const agent = Agent.make("desk", { tools: Tool.onDemand([...catalogue, ...wide, ...huge], { limit: 3 }) })
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      const [some, one, best, none] = read(model)
      assert.deepStrictEqual(namesIn(some), ["tool_0", "tool_1", "tool_2"])
      assert.deepStrictEqual(namesIn(one), ["wide_1"])
      assert.deepStrictEqual(namesIn(best), ["huge_1"])
      assert.deepStrictEqual(JSON.parse(none?.replace("result: ", "") ?? ""), {
        tools: [],
        hint: "No tool fits these words. Try other words for what it should do."
      })
    })
)

it.run(
  "another search takes the place of the words: it is made once, its failure is read, strange names are left out [P1385]",
  (run) =>
    Effect.gen(function* () {
      const made: Array<number> = []
      const search: Tool.Search = (tools) => {
        made.push(tools.length)
        return (query) =>
          query === "fail" ? Effect.fail(gone("index is down")) : Effect.succeed(["b", "none", "b", query])
      }
      const agent = Agent.make("desk", { tools: Tool.onDemand([tool("a"), tool("b")], { search }) })
      const model = yield* make(searching("a"), searching("fail"), searching("x"), done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      const [first, second, third] = read(model)
      assert.deepStrictEqual(namesIn(first), ["b", "a"])
      assert.include(second, "index is down")
      assert.deepStrictEqual(namesIn(third), ["b"])
      assert.deepStrictEqual(made, [2])
    })
)

it.run("each skill searches its own tools; tools of several calls are searched together [P1385]", (run) =>
  Effect.gen(function* () {
    const [refund] = Tool.onDemand([tool("refund")])
    const skill = Skill.make("pay", { description: "Pays.", tools: [...Tool.onDemand([tool("pay")]), refund] })
    const other = Skill.make("look", { description: "Looks.", tools: Tool.onDemand([tool("look_order")]) })
    const agent = Agent.make("desk", { skills: [skill, other] }).pipe(Agent.route(Router.byRule(() => "pay")))
    const model = yield* make(searching("order pay refund look"), done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.sameMembers([...namesIn(read(model)[0])], ["pay", "refund"])
  })
)

it.effect("tools that cannot be on demand, and options that do not fit, are refused when they are made [P1385]", () =>
  Effect.sync(() => {
    const one = tool("one")
    const cases: ReadonlyArray<
      readonly [make: () => unknown, kind: typeof TypeError | typeof RangeError, words: string]
    > = [
      [() => Tool.onDemand([one], { limit: 0 }), RangeError, "limit must be a whole number of at least 1, got 0"],
      [() => Tool.onDemand([one], { limt: 1 } as never), TypeError, "limt"],
      [() => Tool.onDemand([one], { search: "words" as never }), TypeError, "search must be a function"],
      [() => Tool.onDemand([{ name: "x" } as never]), TypeError, "Tool.onDemand: tools"],
      [
        () => Agent.make("desk", { tools: [...Tool.onDemand([one], { limit: 2 }), ...Tool.onDemand([tool("two")])] }),
        TypeError,
        "need the same options"
      ],
      [
        () => Agent.make("desk", { tools: [tool("call_tool"), ...Tool.onDemand([one])] }),
        TypeError,
        "two tools named 'call_tool'"
      ]
    ]
    for (const [make, kind, words] of cases) {
      try {
        make()
        assert.fail(words)
      } catch (error) {
        assert.instanceOf(error, kind)
        assert.include((error as Error).message, words)
      }
    }
  })
)

it.run("a search that throws is read like one that fails [P1385]", (run) =>
  Effect.gen(function* () {
    const search: Tool.Search = () => () => {
      throw gone("no index")
    }
    const model = yield* make(searching("a"), done)
    yield* run(Agent.make("desk", { tools: Tool.onDemand([tool("a")], { search }) }), "go").pipe(
      Effect.provide(model.layer)
    )
    assert.include(read(model)[0], "no index")
  })
)
