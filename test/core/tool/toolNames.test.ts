/** The names under which models know tools. */
import { assert } from "@effect/vitest"
import { Agent, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import fc from "fast-check"
import { agentWith, done, eventLog } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const options = {
  description: "Does something.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("done")
}

const foreign = ["", "two words", "a.b", "naïve", "line\n", "emoji 🏺", "a".repeat(65), "tool/1"]

it("a name that some provider refuses is refused when the tool is made, and shown [P1304]", () => {
  for (const name of foreign) {
    const shown = JSON.stringify(name)
    for (const make of [
      () => Tool.make(name, options),
      () => Tool.fromFunction(name, { ...options, run: () => "done" })
    ]) {
      assert.throws(make, TypeError, `Tool: ${shown} is no name of a tool. Providers admit 1 to 64 of A-Z, a-z, 0-9`)
    }
  }
  assert.throws(() => Tool.make(undefined as unknown as string, options), TypeError, "undefined is no name of a tool")
  assert.throws(() => Tool.make("x y".repeat(100_000), options), /^.{0,200}$/)
  assert.throws(() => Tool.make("complete", options), /'complete' is the name of a built-in tool/)
  for (const name of ["a", "A-1_b", "a".repeat(64)]) assert.strictEqual(Tool.make(name, options).name, name)
})

it("an agent whose name is none of a tool needs one as a tool [P1304]", () => {
  const agent = Agent.make("support desk", { tools: [Tool.make("ping", options)] })
  assert.throws(
    () => Agent.asTool(agent, { description: "Helps." }),
    TypeError,
    'Tool: "support desk" is no name of a tool'
  )
  assert.strictEqual(Agent.asTool(agent, { name: "support", description: "Helps." }).name, "support")
})

it("foreign names are replaced, cut and numbered, and those that providers admit stay [P1107]", () => {
  const long = "a".repeat(70)
  const cases: ReadonlyArray<[ReadonlyArray<string>, ReadonlyArray<string>]> = [
    [[], []],
    [["search"], ["search"]],
    [
      ["pull.request", "pull/request", "search"],
      ["pull_request", "pull_request_2", "search"]
    ],
    // one that is admitted keeps its name, wherever it stands
    [
      ["a.b", "a_b", "a_b", "a_b_2"],
      ["a_b_3", "a_b", "a_b_4", "a_b_2"]
    ],
    [
      ["", " ", "🏺"],
      ["_", "__2", "__"]
    ],
    [
      ["complete", "escalate"],
      ["complete_", "escalate_"]
    ],
    [
      [long, `${long}b`],
      ["a".repeat(64), `${"a".repeat(57)}_2`]
    ]
  ]
  for (const [names, expected] of cases) assert.deepStrictEqual(Tool.namesFor(names), expected)
})

it("each foreign name gets a name of its own that a tool may have [P1107]", () => {
  const odd = fc.oneof(fc.string({ maxLength: 70 }), fc.constantFrom("a.b", "a_b", "a_b_2", "a/b", "complete", ""))
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 12 }), (names) => {
      const toolNames = Tool.namesFor(names)
      assert.strictEqual(new Set(toolNames).size, names.length)
      for (const name of toolNames) assert.strictEqual(Tool.make(name, options).name, name)
      // what is admitted stays, and what they are called is admitted
      assert.deepStrictEqual(Tool.namesFor(toolNames), toolNames)
    })
  )
})

it.run("the event of a call has the foreign name of a tool too, where it has another [P1107]", (run) =>
  Effect.gen(function* () {
    const tools = [
      Tool.make("pull_request", { ...options, foreignName: "pull.request" }),
      Tool.make("search", { ...options, foreignName: "search" })
    ]
    const log = eventLog()
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("pull_request", {}), ScriptedModel.call("search", {})),
      done
    )
    yield* run(agentWith(...tools).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const started = log.all.flatMap((event) =>
      event.type === "tool-start" ? [{ tool: event.tool, foreign: event.foreignName, has: "foreignName" in event }] : []
    )
    assert.deepStrictEqual(started, [
      { tool: "pull_request", foreign: "pull.request", has: true },
      { tool: "search", foreign: undefined, has: false }
    ])
  })
)

it.run("the event of a call says what a second run of its tool would do, where the tool declares it [P1707]", (run) =>
  Effect.gen(function* () {
    const declared = ["none", "idempotent", "unsafe"] as const
    const tools = [
      ...declared.map((sideEffects) => Tool.make(sideEffects, { ...options, sideEffects })),
      Tool.make("undeclared", options)
    ]
    const log = eventLog()
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(...tools.map(({ name }) => ScriptedModel.call(name, {}, name))),
      done
    )
    yield* run(agentWith(...tools).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const started = log.all.flatMap((event) => (event.type === "tool-start" ? [[event.tool, event.sideEffects]] : []))
    assert.deepStrictEqual(started, [...declared.map((one) => [one, one]), ["undeclared", undefined]])
  })
)
