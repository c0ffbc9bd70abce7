/** An agent as it is described before anything runs. */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import * as core from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { describe as suite, expect, it } from "vitest"
import { describe, failingOf } from "../../../packages/view/src/serve/describing.ts"
import { type AnyAgent, definitionOf, isAgent, toolsOf } from "../../../packages/view/src/serve/inside.ts"
import { Locked, lookUp } from "./_support/desk.ts"

const facts = {
  core,
  where: "desk.ts#desk",
  hasModel: false,
  hasKey: false,
  seen: new Map<string, ReadonlySet<string>>()
}

const described = (agent: AnyAgent, fields: Partial<typeof facts> = {}) => describe(agent, { ...facts, ...fields })

const plain = Tool.make("plain", {
  description: "Plain.",
  parameters: Schema.Struct({ id: Schema.String }),
  success: Schema.String,
  run: () => Effect.succeed("ok")
})

suite("an agent before a run [P1281]", () => {
  it("has its name, its limits and its worst case [P1281]", () => {
    const { budget, input, kind, model, name, prompt, tools, where, worst } = described(Agent.make("bare", {}))
    expect([name, kind, where, prompt, tools, input]).toEqual(["bare", "agent", "desk.ts#desk", "", [], undefined])
    expect(budget.map(([limit]) => limit)).toEqual(["turns", "tool calls", "duration", "cost"])
    expect(budget.at(-1)).toEqual(["cost", "no limit"])
    expect(model.rows).toEqual([])
    expect(worst).toBe("8 turns, 0 tool calls, 8 model calls, 0s of waits and timeouts")
    const bounded = Agent.make("bounded", {
      budget: { maxTurns: 2, maxToolCalls: 3, maxDuration: "1 minute", maxTokens: 50, maxCost: 0.5 }
    })
    expect(described(bounded).budget).toEqual([
      ["turns", "2"],
      ["tool calls", "3"],
      ["duration", "1m"],
      ["tokens", "50"],
      ["cost", "$0.5"]
    ])
  })

  it("has the rows of its model calls, and the errors without one [P1281]", () => {
    const agent = Agent.make("bare", {}).pipe(
      Agent.onLlmError({ RateLimitError: Recovery.ladder(Recovery.retry({ retries: 2 }), Recovery.rethrow) })
    )
    const { rows, missing } = described(agent).model
    expect(rows).toEqual([{ key: "RateLimitError", verdicts: "retry 2, then rethrow" }])
    expect(missing).toContain("NetworkError")
    expect(missing).toContain("ContextTooLongError")
    for (const name of ["RateLimitError", "LlmError"]) expect(missing).not.toContain(name)
    expect(described(Agent.onLlmError(agent, { orElse: Recovery.retry({ retries: 1 }) })).model.missing).toEqual([])
  })

  it("takes its own model where there is a key [P1281]", () => {
    const bare = Agent.make("bare", {})
    const own = Agent.make("own", { model: ScriptedModel.answering(() => ScriptedModel.text("Hi")) })
    const models = [
      described(bare),
      described(bare, { hasKey: true }),
      described(bare, { hasModel: true }),
      described(own, { hasKey: true })
    ].map(({ hasModel, prefersModel }) => [hasModel, prefersModel])
    expect(models).toEqual([
      [false, false],
      [false, false],
      [true, false],
      [true, true]
    ])
  })

  it("has the schema of its input, and says what a composition is [P1281]", () => {
    const typed = Agent.make("typed", { input: Schema.Struct({ id: Schema.String }) })
    expect(described(typed).input).toMatchObject({ type: "object", properties: { id: { type: "string" } } })
    const shout = Agent.deterministic("shout", (text: string) => Effect.succeed(text))
    expect(described(shout)).toMatchObject({
      kind: "function",
      tools: [],
      model: { rows: [], missing: [] },
      worst: "0 model calls, 0 of waits and timeouts"
    })
    expect(described(Agent.andThen(Agent.make("bare", {}), shout))).toMatchObject({ kind: "composition" })
  })
})

suite("a tool before a run [P1281]", () => {
  const toolOf = (tool: Tool.AnyTool, seen = facts.seen) => {
    const [shown] = described(Agent.make("desk", { tools: [tool] }), { seen }).tools
    return shown
  }

  it("has its arguments, its rows, and the tags that no row handles [P1281]", () => {
    expect(toolOf(plain)).toEqual({
      name: "plain",
      description: "Plain.",
      parameters: plain.definition.spec().parameters,
      sideEffects: "undeclared",
      rows: [],
      tags: [],
      missing: ["InvalidArgs"]
    })
    const guarded = Tool.onError(lookUp, { Locked: Recovery.tell(), InvalidArgs: Recovery.tell() }).pipe(
      Tool.requireApproval({ reason: "money" })
    )
    expect(toolOf(guarded)).toMatchObject({
      sideEffects: "none",
      approval: "money",
      rows: [
        { key: "Locked", verdicts: "tell" },
        { key: "InvalidArgs", verdicts: "tell" }
      ],
      tags: ["StaleIndex", "Locked"],
      missing: ["StaleIndex"]
    })
  })

  it("says how often a fixer may run, if that is more than once [P1281]", () => {
    const fixer = () => Effect.succeed("{}")
    const guarded = Tool.onError(lookUp, {
      StaleIndex: Recovery.fix(fixer),
      Locked: Recovery.fix(fixer, { retries: 2 })
    })
    expect(toolOf(guarded)?.rows).toEqual([
      { key: "StaleIndex", verdicts: "fix fixer" },
      { key: "Locked", verdicts: "fix fixer 2" }
    ])
  })

  it("misses no row where one takes all other errors [P1281]", () => {
    expect(toolOf(Tool.onError(lookUp, { orElse: Recovery.tell() }))?.missing).toEqual([])
    expect(toolOf(Tool.onError(lookUp, { ExecutionError: Recovery.tell() }))?.missing).toEqual(["InvalidArgs"])
  })

  it("has the tags of rows for its own failures, which need no schema [P1281]", () => {
    const unlock = Tool.make("unlock", {
      description: "Opens.",
      parameters: Schema.Struct({ id: Schema.String }),
      success: Schema.String,
      run: ({ id }) => Effect.fail(new Locked({ by: id }))
    })
    const tool = Tool.onError(unlock, {
      Locked: Recovery.tell(),
      InvalidArgs: Recovery.tell(),
      DeserializationError: Recovery.tell(),
      ExecutionError: Recovery.tell(),
      orElse: Recovery.tell()
    })
    expect(toolOf(tool)?.rows.map(({ key }) => key)).toContain("DeserializationError")
    expect(toolOf(tool)?.tags).toEqual(["Locked"])
  })

  it("has the tags of its schema, of its rows and of recorded runs, each once [P1281]", () => {
    const seen = new Map([
      ["lookUp", new Set(["Locked", "Gone"])],
      ["other", new Set(["Other"])]
    ])
    const tool = Tool.onError(lookUp, { StaleIndex: Recovery.tell() })
    expect(toolOf(tool, seen)?.tags).toEqual(["StaleIndex", "Locked", "Gone"])
    const definition = definitionOf(Agent.make("desk", { tools: [tool] }))
    expect(failingOf(definition, seen).map(({ tool: { name } }) => name)).toEqual(["lookUp"])
  })
})

it("an agent is known by its mark, and has each tool once [P1281]", () => {
  const agent = Agent.make("desk", { tools: [plain] })
  expect([isAgent(agent), isAgent({}), isAgent(null), isAgent(undefined)]).toEqual([true, false, false, false])
  expect(toolsOf(definitionOf(agent)).filter(({ isBuiltIn }) => !isBuiltIn)).toEqual([plain.definition])
  // cast: it is no agent, and the message says so
  expect(() => definitionOf({} as AnyAgent)).toThrow("the value is no agent")
})
