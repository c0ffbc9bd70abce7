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

it("each composition has its name and shows its parts [P1306]", () => {
  const [a, b] = ["a", "b"].map((name) => Agent.deterministic(name, (input: string) => Effect.succeed(input)))
  assert(a !== undefined && b !== undefined)
  const tagged = Agent.map(a, () => ({ _tag: "B" as const }))
  const captain = Agent.deterministic("captain", () => Effect.succeed(1))
  const compositions = [
    Agent.andThen(a, b),
    Agent.branch(tagged, { B: Agent.deterministic("b", (_input: { readonly _tag: "B" }) => Effect.succeed(1)) }),
    Agent.loopUntil(a, () => true, { maxIterations: 1, feedback: () => "" }),
    Agent.parallel({ a, b }),
    Agent.forum({ a, b }, captain),
    Agent.firstOf(a, b),
    Agent.speculative(a, 2, { hedgeAfter: 1 }),
    Agent.fallback(a, b),
    Agent.withBudget(a, { maxTurns: 1 }),
    Agent.named(Agent.andThen(a, b), "both")
  ]
  assert.deepStrictEqual(
    compositions.map((one) => [one.name, JSON.parse(JSON.stringify(one))]),
    [
      ["andThen", ["a", "b"]],
      ["branch", ["a", "b"]],
      ["loopUntil", ["a"]],
      ["parallel", ["a", "b"]],
      ["forum", ["a", "b", "captain"]],
      ["firstOf", ["a", "b"]],
      ["speculative", ["a"]],
      ["fallback", ["a", "b"]],
      ["a", ["a"]],
      ["both", ["a", "b"]]
    ].map(([name, parts]) => [name, { _id: "Agent", name, parts }])
  )
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
