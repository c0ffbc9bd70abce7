/** What a fixer reads that a model drives, by what it can do. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Recovery, Router, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, asHard, done, fixer, read, scripted } from "../../_support/dialogue.ts"

const { call, calls, make, text } = ScriptedModel

it.run("a fixer that may call a model reads the report, also if another of its skills is a function [A303]", (run) =>
  Effect.gen(function* () {
    const mender = Agent.make("mender", {
      skills: [
        Skill.deterministic("quick", { description: "Mends.", run: () => Effect.succeed('{"n":1}') }),
        Skill.make("slow", { description: "Mends by model." })
      ]
    }).pipe(Agent.route(Router.byRule(() => "slow")))
    const fetch = Tool.make("fetch", {
      description: "Fetches.",
      parameters: Schema.Struct({ n: Schema.Finite }),
      success: Schema.String,
      run: () => Effect.succeed("page")
    }).pipe(Tool.onError({ orElse: Recovery.fix(mender) }))
    const model = yield* make(calls(call("fetch", '{"n":', "c1")), text('{"n":2}'), done)
    yield* run(agentWith(fetch), "go").pipe(Effect.provide(model.layer))
    const words = JSON.stringify(model.requests[1]?.messages)
    assert.include(words, "A call of tool 'fetch' failed.")
    assert.deepStrictEqual(read(model), ["result: page"])
  })
)

const broken = '{"n": two'

/** A tool that takes a number, and what it was run with. Nothing but its fixer mends its arguments. */
const counting = () => {
  const seen: Array<number> = []
  const tool = Tool.make("count", {
    description: "Counts.",
    parameters: Schema.Struct({ n: Schema.Finite }),
    success: Schema.String,
    coercion: [],
    run: ({ n }) => Effect.sync(() => `${seen.push(n)} counted`)
  })
  return { seen, tool }
}

const look = scripted("look", Effect.succeed("looked")).tool

for (const [means, tools, last] of [
  ["has no tools", [], "Answer with the corrected arguments as JSON and nothing else."],
  ["has tools that do not end it", [look], "Answer with the corrected arguments as JSON and nothing else."],
  [
    "may escalate",
    [look, Tool.escalate],
    "Answer with the corrected arguments as JSON and nothing else, or end with a tool where that cannot be known."
  ],
  [
    "can only escalate",
    [Tool.escalate, Tool.throwException],
    "End with one of your tools. A text is taken for the corrected arguments as JSON."
  ]
] as const) {
  it.run(`the report to a fixer that ${means} ends with what it can do [P1336]`, (run) =>
    Effect.gen(function* () {
      const mender = Agent.make("mender", { tools })
      const { seen, tool } = counting()
      const model = yield* make(calls(call("count", broken, "c1")), text('{"n":2}'), done)
      const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(mender) })))
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(seen, [2])
      const report = model.requests[1]?.messages.at(-1)
      assert(report?.role === "user" && report.content[0]?.type === "text")
      const lines = report.content[0].text.split("\n")
      assert.strictEqual(lines.at(-1), `This is repair attempt 1 of 1. ${last}`)
      assert.include(lines, `Arguments: ${broken}`)
    })
  )
}

it.run("of a cheap fixer and a model behind it each reads its own, in any composition [P1336 A303]", (run) =>
  Effect.gen(function* () {
    for (const compose of [
      (cheap: Cheap, mender: Mender) => Agent.fallback(cheap, mender, { when: () => true }),
      (cheap: Cheap, mender: Mender) => Agent.firstOf(cheap, mender),
      (cheap: Cheap, mender: Mender) =>
        Agent.fallback(Agent.andThen(cheap, cheap), Agent.withBudget(mender, { maxTurns: 2 }), { when: () => true })
    ]) {
      const { seen, tool } = counting()
      const cheap = fixer(Effect.fail("no idea"))
      const model = yield* make(calls(call("count", broken, "c1")), text('{"n":2}'), done)
      const both = compose(cheap.agent, Agent.make("mender", {}))
      const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(both) })))
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual([seen, cheap.inputs], [[2], [broken]])
      assert.include(JSON.stringify(model.requests[1]?.messages), "A call of tool 'count' failed.")
    }
  })
)

type Cheap = ReturnType<typeof fixer<[Effect.Effect<never, string>]>>["agent"]
const mender = Agent.make("mender", {})
type Mender = typeof mender

it.run("where a composition makes one text of its input, all of it reads the arguments [A303]", (run) =>
  Effect.gen(function* () {
    const { seen, tool } = counting()
    const cheap = fixer(Effect.succeed("one"))
    const captain = Agent.deterministic("captain", ({ input }: Agent.Forum<string, unknown>) =>
      Effect.succeed(input === broken ? '{"n":3}' : "no")
    )
    const model = yield* make(calls(call("count", broken, "c1")), text("two"), done)
    const agent = agentWith(
      tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(Agent.forum({ cheap: cheap.agent, mender }, captain)) }))
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual([seen, cheap.inputs], [[3], [broken]])
  })
)

it.run("the event of a fixer that is a composition has its input as a text [P1336 A603]", (run) =>
  Effect.gen(function* () {
    const { tool } = counting()
    const inputs: Array<unknown> = []
    const both = Agent.fallback(fixer(Effect.fail("no")).agent, mender, { when: () => true }).pipe(
      Agent.onEvent((event) => Effect.sync(() => event.type === "run-start" && void inputs.push(event.input)))
    )
    const model = yield* make(calls(call("count", broken, "c1")), text('{"n":2}'), done)
    const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(both) })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(inputs[0], broken)
    for (const input of inputs) assert.isString(input)
  })
)

it.run("a call that no fixer could mend speaks of the arguments, and of the fixer beside them [P1337]", (run) =>
  Effect.gen(function* () {
    const { seen, tool } = counting()
    const model = yield* make(calls(call("count", { n: "two" }, "c1")))
    const down = Agent.deterministic("down", () => Effect.fail(LlmError.ServerError.make({ model: "m" })))
    const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(down) })))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepStrictEqual(seen, [])
    assert.match(error.message, /^Tool 'count' was never run \(call c1\).*n: .*; its fixer failed: .*'m'/)
    assert.instanceOf(error.cause, ToolError.DeserializationError)
    assert.deepStrictEqual(
      error.attempts.map((one) => (one as { readonly _tag: string })._tag),
      ["DeserializationError", "ServerError"]
    )
  })
)

it.run("runs of the tool are counted, and not what was tried of its arguments [P1337]", (run) =>
  Effect.gen(function* () {
    const busy = new Error("busy")
    const { tool } = scripted("count", Effect.fail(busy), Effect.fail(busy))
    const mend = fixer(Effect.succeed('{"n":1}'), Effect.succeed('{"n":2}'))
    const model = yield* make(calls(call("count", { n: "two" }, "c1")))
    const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.fix(mend.agent, { retries: 2 }) })))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.include(error.message, "Tool 'count' failed after 2 attempts")
    assert.strictEqual(error.cause, busy)
  })
)
