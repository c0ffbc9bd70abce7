import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Agent, Skill, Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("seen")
})
const skill = Skill.make("watch", { description: "Watches.", tools: [look] })
const plain = Skill.deterministic("plain", { description: "A function.", run: Effect.succeed })
const agent = Agent.make("clerk", { skills: [skill] })
const both = Agent.andThen(
  agent,
  Agent.deterministic("upper", (text: string) => Effect.succeed(text.toUpperCase()))
)

describe("guards", () => {
  const foreign = [undefined, null, "clerk", {}, [], () => "x", Effect.void, { name: "x", description: "d" }]

  it("isTool, isAgent and isSkill know what they are for, and nothing else [P1306]", () => {
    const kindsOf = (value: unknown) => [Tool.isTool(value), Agent.isAgent(value), Skill.isSkill(value)]
    for (const tool of [look, look.pipe(Tool.onError({})), Tool.complete, Agent.asTool(agent, { description: "d" })]) {
      assert.deepStrictEqual(kindsOf(tool), [true, false, false])
    }
    for (const one of [agent, both, Agent.seal(agent), Agent.named("x")(both)]) {
      assert.deepStrictEqual(kindsOf(one), [false, true, false])
    }
    for (const one of [skill, plain]) assert.deepStrictEqual(kindsOf(one), [false, false, true])
    const nearly = { name: "x", description: "d", tools: [{ name: "look" }] }
    for (const value of [...foreign, nearly]) assert.deepStrictEqual(kindsOf(value), [false, false, false])
  })
})

describe("what is shown of a tool and of an agent", () => {
  const tool = { _id: "Tool", name: "look", description: "Looks.", kind: "local", sideEffects: "undeclared" }

  it.each([
    ["a tool", look, tool],
    ["an agent", agent, { _id: "Agent", name: "clerk", skills: [{ name: "watch", tools: ["look"] }] }],
    ["a composition", both, { _id: "Agent", name: "andThen", parts: ["clerk", "upper"] }]
  ] as const)("is data, as JSON, as text and in a console: %s [P1306]", (_, value, data) => {
    assert.deepStrictEqual(JSON.parse(JSON.stringify(value)), data)
    assert.strictEqual(inspect(value), inspect(data))
    assert.deepStrictEqual(JSON.parse(String(value)), data)
  })
})
