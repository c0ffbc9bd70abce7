/** What is a policy, among the values of a module. */
import * as core from "@kintsugi/core"
import { assert, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { policyOf } from "../../../packages/view/src/cli/policy.ts"

const { Agent, Model, Recovery, Tool } = core
const table = { A: Recovery.retry({ retries: 2 }) }
const explained = Recovery.explain(table)
const run = { model: explained, tools: new Map() }
const clerk = Agent.make("clerk", {})
const find = Tool.make("find", {
  description: "Finds.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("it")
}).pipe(Tool.onError({ InvalidArgs: Recovery.retry({ retries: 3 }) }))

it("policies are known by their marks and their fields [P1238]", () => {
  for (const [value, kind, what] of [
    [clerk, "agent", "an agent"],
    [Agent.explain(clerk), "agent", "an explanation of a run"],
    [run, "agent", "an explanation of a run"],
    [Agent.deterministic("shout", () => Effect.void), "composition", "an agent that is a function"],
    [Agent.andThen(clerk, clerk), "composition", "an agent that is made of others"],
    [find, "layer", "a tool"],
    [table.A, "layer", "a verdict"],
    [Schedule.recurs(2), "layer", "a schedule"],
    [{ generate: 1, stream: 1, provider: "p" }, "layer", "a model"],
    [explained, "layer", "an explanation"],
    [table, "layer", "a table"],
    [{ ...table, B: undefined }, "layer", "a table"]
  ] as const) {
    const policy = policyOf(value, core)
    assert.deepStrictEqual([policy?.kind, policy?.what], [kind, what])
  }
})

it("no other value is a policy [P1238]", () => {
  for (const value of [
    undefined,
    null,
    "text",
    1,
    {},
    [],
    [table.A],
    { A: table.A, B: 1 },
    { A: undefined },
    { generate: 1, stream: 1 },
    { generate: 1, provider: 1 },
    { stream: 1, provider: 1 },
    { rows: [] },
    { worst: 1 },
    { rows: "text", worst: 1 },
    { model: explained },
    { model: 1, tools: 1 },
    { tools: 1 }
  ])
    assert.isUndefined(policyOf(value, core), JSON.stringify(value))
})

it("a policy is explained as core does [P1238]", () => {
  const layer = (value: unknown) => {
    const policy = policyOf(value, core)
    return policy?.kind === "layer" ? policy.explanation : undefined
  }
  assert.deepStrictEqual(layer(table), explained)
  assert.strictEqual(layer(explained), explained)
  assert.deepStrictEqual(layer(table.A), Recovery.explain(table.A))
  assert.deepStrictEqual(layer(Schedule.recurs(2)), Recovery.explain(Recovery.retry(Schedule.recurs(2))))
  assert.deepStrictEqual(layer(find), Agent.explain(Agent.make("other", { tools: [find] })).tools.get("find"))
  const model = { name: "m", provider: "p", generate: () => Effect.never, stream: () => Effect.never }
  assert.deepStrictEqual(layer(model), Model.explain(model as never))
  const transport = Recovery.explain(Recovery.retry({ retries: 4 }))
  const agent = policyOf(clerk, core)
  const composed = policyOf(Agent.andThen(clerk, clerk), core)
  const given = policyOf(run, core)
  assert.isTrue(agent?.kind === "agent" && composed?.kind === "composition" && given?.kind === "agent")
  if (agent?.kind !== "agent" || composed?.kind !== "composition" || given?.kind !== "agent") return
  assert.deepStrictEqual(agent.run(), Agent.explain(clerk))
  assert.deepStrictEqual(agent.run(transport), Agent.explain(clerk, { transport }))
  assert.notDeepEqual(agent.run(transport), agent.run())
  assert.deepStrictEqual(composed.bounds(), Agent.bounds(Agent.andThen(clerk, clerk)))
  assert.deepStrictEqual(composed.bounds(transport), Agent.bounds(Agent.andThen(clerk, clerk), { transport }))
  assert.notDeepEqual(composed.bounds(transport), composed.bounds())
  assert.strictEqual<unknown>(given.run(), run)
})
