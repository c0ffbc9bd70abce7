/** Options that are one of a few texts, given by JavaScript. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Redacted, Stream } from "effect"

const agent = Agent.make("worker", {})

it("an `onPartial` or a `continueBy` that is none is refused when the agent is made [P1560]", () => {
  const rows = { NetworkError: Recovery.retry({ retries: 1 }) }
  const made = (options: object) => () => Agent.onLlmError(agent, rows, options)
  assert.throws(made({ onPartial: "x" }), "Agent.onLlmError: onPartial must be 'fail', 'restart', 'continue', got 'x'")
  assert.throws(made({ onPartial: null }), "got null")
  assert.throws(made({ onPartial: "continue", continueBy: "user" }), "continueBy must be 'message', got 'user'")
  for (const onPartial of ["fail", "restart", "continue", undefined]) made({ onPartial, continueBy: undefined })()
})

it.effect("an `incomplete` that is none is a defect that names it [P1563]", () =>
  Effect.gen(function* () {
    const from = [Message.user("go"), { ...Message.assistant("half"), incomplete: true as const }]
    const { layer } = yield* ScriptedModel.make()
    const resumption = { from, incomplete: "x" as "keep" }
    const started = Effect.flatMap(Agent.resume(agent).start(resumption), ({ outcome }) => outcome)
    const ways = [Agent.resume(agent)(resumption), Stream.runDrain(Agent.resume(agent).stream(resumption)), started]
    for (const way of ways) {
      const exit = yield* Effect.exit(Effect.provide(way, layer))
      assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      const says = "TypeError: Agent.resume: incomplete must be 'keep', 'continue', 'drop', got 'x'"
      assert.strictEqual(String(Cause.squash(exit.cause)), says)
    }
  })
)

it("options of an agent that are none are refused by name when it is made", () => {
  // as programs without types call it
  const make = Agent.make as unknown as (...given: ReadonlyArray<unknown>) => unknown
  const cases: ReadonlyArray<readonly [ReadonlyArray<unknown>, string]> = [
    [[{ name: "clerk", tools: [] }], "Agent.make: the name must be a text, got object"],
    [[], "Agent.make: the name must be a text, got undefined"],
    [["clerk"], "Agent 'clerk' must be given options, got undefined"],
    [["clerk", null], "Agent 'clerk' must be given options, got null"],
    [["clerk", { model: "gpt-5" }], "Agent 'clerk': model must be a Layer, got 'gpt-5'"],
    [["clerk", { model: null }], "Agent 'clerk': model must be a Layer, got null"],
    [["clerk", { prompt: 3 }], "Agent 'clerk': prompt must be a text, got number"],
    [["clerk", { prompt: () => "hello" }], "Agent 'clerk': prompt must be a text, got function"],
    [["clerk", { output: 5 }], "Agent 'clerk': output must be a Schema of Effect, got number"],
    [["clerk", { input: "text" }], "Agent 'clerk': input must be a Schema of Effect, got 'text'"],
    [["clerk", { tools: [3] }], "Agent 'clerk': each of its tools must be a tool, got number"],
    [["clerk", { tools: [{ name: "pay" }] }], "Agent 'clerk': each of its tools must be a tool, got object"],
    [["clerk", { skills: ["pay"] }], "Agent 'clerk': each of its skills must be a skill, got 'pay'"]
  ]
  for (const [given, says] of cases) assert.throws(() => make(...given), says)
  make("clerk", { model: undefined, prompt: undefined, tools: undefined, skills: undefined })
  const withModel = Agent.withModel as unknown as (agent: unknown, model: unknown) => unknown
  assert.throws(() => withModel(agent, "gpt-5"), "Agent 'worker': model must be a Layer, got 'gpt-5'")
  const provide = Agent.provide as unknown as (agent: unknown, layer: unknown) => unknown
  const policed = Agent.toolPolicy as unknown as (agent: unknown, policy: unknown) => unknown
  assert.throws(() => policed(agent, "deny"), "the policy of Agent.toolPolicy must be a function, got 'deny'")
  const limited = Agent.onBudgetExceeded as unknown as (agent: unknown, decide: unknown) => unknown
  assert.throws(() => limited(agent, "stop"), "what decides in Agent.onBudgetExceeded must be a function, got 'stop'")
  const heard = Agent.onEvent as unknown as (agent: unknown, listener: unknown) => unknown
  assert.throws(() => heard(agent, {}), "the listener of Agent.onEvent must be a function, got object")
  assert.throws(() => provide(agent, {}), "Agent 'worker': what Agent.provide gives must be a Layer, got object")
})

it("options of a compaction, of results put aside, and of `explain` that are none are refused by name", () => {
  const compactAt = Agent.compactAt as unknown as (options?: unknown) => (self: unknown) => unknown
  const putAside = Tool.putAside as unknown as (options?: unknown) => unknown
  for (const [given, shown] of [
    [undefined, "undefined"],
    [null, "null"],
    [5, "number"]
  ] as const) {
    assert.throws(() => compactAt(given)(agent), `Agent 'worker': compactAt must be given options, got ${shown}`)
    assert.throws(() => putAside(given), `Tool.putAside must be given options, got ${shown}`)
  }
  const priced = Agent.make("worker", { budget: { prices: { m: { usdPerMillionTokens: { input: 1, output: 1 } } } } })
  const explain = (options: unknown) => () => Agent.explain(priced, options as undefined)
  assert.throws(explain(null), "Agent.explain must be given options, got null")
  const counts = "Agent.explain: tokens must be the counts { input, output }, got"
  assert.throws(explain({ tokens: null }), `${counts} null`)
  assert.throws(explain({ tokens: 5 }), `${counts} number`)
  assert.throws(explain({ tokens: Number.NaN }), `${counts} NaN`)
  const number = "must be a finite number of at least 0, got"
  assert.throws(explain({ tokens: {} }), `Agent.explain: tokens.input ${number} undefined`)
  assert.throws(explain({ tokens: { input: 1 } }), `Agent.explain: tokens.output ${number} undefined`)
  for (const [input, shown] of [
    [-1, "-1"],
    [Number.NaN, "NaN"],
    [Infinity, "Infinity"],
    ["5", "string"]
  ] as const)
    assert.throws(explain({ tokens: { input, output: 1 } }), `Agent.explain: tokens.input ${number} ${shown}`)
  assert.strictEqual(Agent.explain(priced, { tokens: { input: 0, output: 0 } }).worst.cost, 0)
})

it("what is no option of a skill, no secret, and no option of a resilient agent is refused by name", () => {
  type Untyped = (...given: ReadonlyArray<unknown>) => unknown
  const [resilient, secrets] = [Agent.resilient as Untyped, Agent.secrets as Untyped]
  for (const [given, shown] of [
    [null, "null"],
    [5, "number"]
  ] as const) {
    assert.throws(() => resilient(agent, given), `Agent.resilient must be given options, got ${shown}`)
    assert.throws(() => agent.pipe(resilient(given) as Untyped), `Agent.resilient must be given options, got ${shown}`)
    for (const made of [Skill.make, Skill.deterministic, Skill.fromFunction] as ReadonlyArray<unknown>) {
      const make = made as Untyped
      assert.throws(() => make("pay", given), `Skill 'pay' must be given options, got ${shown}`)
      assert.throws(() => make("pay"), "Skill 'pay' must be given options, got undefined")
      assert.throws(() => make(given, { description: "Pays." }), `Skill: the name must be a text, got ${shown}`)
    }
  }
  for (const given of [undefined, null, 5, "hunter2", ["hunter2"]])
    assert.throws(() => secrets(agent, given), /^Agent 'worker': secrets must be a list of Redacted$/)
  secrets(agent, [Redacted.make("hunter2")])
})
