import { assert, it } from "@effect/vitest"
import { Agent, Backoff, Budget, Compaction, Explanation, Model, Recovery, Router, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Transport } from "@kintsugi/providers"
import { Duration, Effect, Schema } from "effect"
import { busy } from "../../_support/dialogue.ts"

const failing = (limits: { readonly timeout?: Duration.Input; readonly callTimeout?: Duration.Input } = {}) =>
  Tool.make("fetch", {
    description: "Fetches.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    ...limits,
    run: () => Effect.fail(busy())
  })

/** An agent of so many turns that asks its model so often in each, with so long a wait before each repetition. */
const boundsOf = (maxTurns: number, maxAttempts = 1, initialBackoff: Duration.Input = 0) =>
  Agent.make("asking", { budget: { maxTurns } }).pipe(
    Agent.onLlmError({ NetworkError: Recovery.retry({ maxAttempts, initialBackoff, factor: 1, maxHint: 0 }) })
  )

const inNumbers = ({ time, ...counts }: Explanation.RunExplanation["worst"]) => ({
  ...counts,
  millis: Duration.toMillis(time)
})

const workerWith = (tool: Tool.AnyTool) =>
  Agent.make("worker", {
    budget: { maxTurns: 2, maxToolCalls: 5 },
    skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
  })

it("a run without tables and tools calls its model once in each turn [P1102]", () => {
  const explained = Agent.explain(Agent.make("worker", {}))
  assert.deepStrictEqual(inNumbers(explained.worst), {
    turns: 8,
    toolCalls: 0,
    modelCalls: 8,
    requests: 8,
    fixerRuns: 0,
    millis: 0
  })
  assert.deepStrictEqual(explained.model.rows, [])
  assert.isFalse("routing" in explained)
  assert.isFalse("outputRetries" in explained)
})

it("the money of a run is known where prices and the tokens of a request are known, the last turn included [P1594]", () => {
  const prices = {
    small: { usdPerMillionTokens: { input: 1, output: 10 } },
    large: { usdPerMillionTokens: { input: 3, cacheWrite: 4, output: 15 } }
  }
  const agent = Agent.make("worker", { budget: { maxTurns: 2, prices } })
  const tokens = { input: 100_000, output: 2000 }
  // two requests of the dearest model: 0.4 of input that is written into a cache, and 0.03 of output
  const explained = Agent.explain(agent, { tokens })
  assert.closeTo(explained.worst.cost ?? 0, 0.86, 1e-9)
  assert.include(Explanation.formatRun(explained), "2 model calls, a cost of $0.86, ")
  const answering = Agent.onBudgetExceeded(() => Budget.answer)
  assert.closeTo(Agent.explain(answering(agent), { tokens }).worst.cost ?? 0, 1.29, 1e-9)
  const retried = agent.pipe(Agent.onLlmError({ NetworkError: Recovery.retry({ maxAttempts: 3 }) }))
  assert.closeTo(Agent.explain(retried, { tokens }).worst.cost ?? 0, 3 * 0.86, 1e-9)
  assert.isFalse("cost" in Agent.explain(agent).worst)
  assert.isFalse("cost" in Agent.explain(Agent.make("worker", {}), { tokens }).worst)
})

it("a tool that needs approval waits for its person, once more after each repair, as long as a decision may take [P1102 P1530]", () => {
  const fixed = Recovery.fix((_raw: string) => Effect.succeed("{}"), { retries: 2 })
  const repaired = failing().pipe(Tool.onError({ InvalidArgs: fixed, DeserializationError: Recovery.tell() }))
  const retry = Recovery.retry({ retries: 2, initialBackoff: 0, maxHint: 0 })
  const validFor = "2 hours"
  const worstOf = (tool: Tool.AnyTool) => {
    const { worst } = Agent.explain(workerWith(tool)).tools.get("fetch") ?? {}
    return [worst?.asks, Duration.toHours(worst?.time ?? 0)]
  }
  const refuse = { validFor, onExpiry: "refuse" } as const
  assert.deepStrictEqual(worstOf(failing()), [undefined, 0])
  assert.deepStrictEqual(worstOf(failing().pipe(Tool.requireApproval(refuse))), [1, 2])
  assert.deepStrictEqual(worstOf(repaired.pipe(Tool.requireApproval(refuse))), [3, 6])
  assert.deepStrictEqual(worstOf(failing().pipe(Tool.requireApproval(refuse), Tool.onError({ orElse: retry }))), [1, 2])
  assert.deepStrictEqual(
    worstOf(failing().pipe(Tool.requireApproval({ validFor, onExpiry: "fail" }), Tool.onError({ orElse: retry }))),
    [3, 6]
  )
  assert.deepStrictEqual(worstOf(failing().pipe(Tool.requireApproval({ validFor }))), [1, Infinity])
  // the limit of a call goes on while it waits
  assert.deepStrictEqual(worstOf(failing({ callTimeout: "1 hour" }).pipe(Tool.requireApproval(refuse))), [1, 1])
  const asked = Recovery.ask({ validFor, onExpiry: "refuse" })
  assert.deepStrictEqual(worstOf(failing().pipe(Tool.onError({ orElse: asked }), Tool.requireApproval(refuse))), [2, 4])
  const explained = Agent.explain(workerWith(failing().pipe(Tool.requireApproval(refuse))))
  assert.strictEqual(Duration.toHours(explained.worst.time), 5 * 2)
  assert.include(
    Explanation.formatRun(explained),
    "tool fetch\nat worst: 1 attempt, 1 decision of a person, 0s of waits, 2h in all\n"
  )
  const unbounded = Explanation.formatRun(Agent.explain(workerWith(failing().pipe(Tool.requireApproval()))))
  assert.include(unbounded, "1 decision of a person, 0s of waits, no bound in all\n")
  assert.include(unbounded, "waits unknown")
})

it("an answer at a limit is one turn more, and its model call, which no part of the bound is without [P1594]", () => {
  const answering = Agent.onBudgetExceeded(() => Budget.answer)
  const explained = Agent.explain(boundsOf(2, 3, "1 second").pipe(answering))
  assert.isTrue(explained.answerTurn)
  assert.deepInclude(inNumbers(explained.worst), { turns: 2, modelCalls: 9, millis: 6000 })
  const text = Explanation.formatRun(explained)
  assert.include(text, "a run, at worst: 2 turns, 1 more for an answer at a limit, 0 tool calls, 9 model calls")
  assert.isFalse("answerTurn" in Agent.explain(boundsOf(2)))
  // of an agent that is a tool, the turns of its caller are the bound
  const tool = Agent.asTool(answering(Agent.make("asked", { budget: { maxTurns: 5 } })), { description: "Asks." })
  assert.deepInclude(inNumbers(Agent.explain(workerWith(tool)).worst), { turns: 2, modelCalls: 2 })
  assert.deepInclude(inNumbers(Agent.explain(answering(workerWith(tool))).worst), { turns: 2, modelCalls: 3 })
})

it("each request of a run counts with all that the transport sends for it [P1102]", () => {
  const transport = Transport.explain()
  const { model, worst } = Agent.explain(boundsOf(2, 3), { transport })
  assert.deepInclude(worst, { modelCalls: 6, requests: 6 * transport.worst.requests })
  assert.strictEqual(model.worst.requests, 3 * transport.worst.requests)
})

it("failures that are given reach the tables of models, of tools and of routers [P1102]", () => {
  class Later extends Schema.TaggedError<Later>()("Later", {}) {
    readonly isRetryable = true
    readonly suggestedDelay = Duration.seconds(1)
    readonly maxAttempts = 9
  }
  const table = { orElse: Recovery.retry(Backoff.suggested()) }
  const desk = Agent.make("desk", {
    budget: { maxTurns: 2 },
    skills: [
      Skill.make("one", { description: "Is one.", tools: [failing().pipe(Tool.onError(table))] }),
      Skill.make("two", { description: "Is another." })
    ]
  }).pipe(Agent.onLlmError(table), Agent.route(Router.byModel().pipe(Router.onLlmError(table))))
  const { model, routing: alone, tools } = Agent.explain(desk, { errors: [new Later()] })
  assert.deepStrictEqual(
    [model, alone, tools.get("fetch")].map((part) => part?.worst.attempts),
    [9, 9, 9]
  )
  const transport = Transport.explain()
  const { routing } = Agent.explain(desk, { errors: [new Later()], transport })
  assert.strictEqual(routing?.worst.requests, 9 * transport.worst.requests)
})

it("the call that routes takes one of the turns, with the dearer one of both tables [P1102]", () => {
  const desk = (router: number, model: number, maxTurns = 3) =>
    Agent.make("desk", {
      budget: { maxTurns },
      skills: [Skill.make("one", { description: "Is one." }), Skill.make("two", { description: "Is another." })]
    }).pipe(
      Agent.onLlmError({ NetworkError: Recovery.retry({ maxAttempts: model }) }),
      Agent.route(Router.byModel().pipe(Router.onLlmError({ NetworkError: Recovery.retry({ maxAttempts: router }) })))
    )
  assert.strictEqual(Agent.explain(desk(5, 2)).worst.modelCalls, 5 + 2 * 2)
  assert.strictEqual(Agent.explain(desk(1, 2)).worst.modelCalls, 3 * 2)
  const plain = Agent.make("plain", {
    budget: { maxTurns: 3 },
    skills: [
      Skill.deterministic("one", { description: "Is one.", run: (input: string) => Effect.succeed(input) }),
      Skill.deterministic("two", { description: "Is another.", run: (input: string) => Effect.succeed(input) })
    ]
  }).pipe(Agent.route(Router.byModel().pipe(Router.onLlmError({ NetworkError: Recovery.retry({ maxAttempts: 4 }) }))))
  assert.deepInclude(Agent.explain(plain).worst, { turns: 1, modelCalls: 4, toolCalls: 0 })
})

it("a tool takes as long as its timeouts admit, and a run as long as all of its calls [P1102]", () => {
  const retry = Recovery.retry({ retries: 3, maxHint: 0 })
  const time = (limits: Parameters<typeof failing>[0]) => {
    const { tools, worst } = Agent.explain(
      workerWith(failing(limits).pipe(Tool.onError({ Busy: retry, ToolTimeoutError: retry })))
    )
    return [tools.get("fetch")?.worst.time ?? Duration.zero, worst.time].map(Duration.toMillis)
  }
  assert.deepStrictEqual(time({}), [0, 0])
  assert.deepStrictEqual(time({ timeout: "1 second" }), [7000, 5 * 7000])
  assert.deepStrictEqual(time({ timeout: "1 second", callTimeout: "2 seconds" }), [2000, 5 * 2000])
  assert.deepStrictEqual(time({ timeout: "1 second", callTimeout: "9 seconds" }), [7000, 5 * 7000])
})

it("a tool that is an agent counts the model calls and the waits of one run of it [P1102]", () => {
  const ask = (agent: ReturnType<typeof boundsOf>) =>
    workerWith(Agent.asTool(agent, { name: "ask", description: "Asks." }))
  const patient = Agent.explain(ask(boundsOf(3, 2, "10 seconds")))
  assert.strictEqual(patient.tools.get("ask")?.worst.modelCalls, 3 * 2)
  assert.strictEqual(Duration.toMillis(patient.tools.get("ask")?.worst.time ?? Duration.zero), 3 * 10_000)
  // 5 calls of it are 30 model calls, but in 2 turns of the run there is time for 2 of them each
  assert.deepInclude(patient.worst, { modelCalls: 2 * 2 })
  const hasty = Agent.explain(ask(boundsOf(3)))
  assert.deepInclude(hasty.tools.get("ask")?.worst, { attempts: 1, requests: 1, fixerRuns: 0, modelCalls: 3 })
  assert.deepStrictEqual(hasty.tools.get("ask")?.rows, [])
  const free = Agent.explain(workerWith(failing()))
  assert.strictEqual(free.tools.get("fetch")?.worst.modelCalls, 0)
})

it("fixers and compactions spend the turns of their run, each as dear as its dearest turn [P1102]", () => {
  const fix = (attempts: number) => Recovery.fix(boundsOf(3, attempts), { retries: 2 })
  const modelCalls = (verdict: Recovery.AnyVerdict) =>
    // any verdict will do: nothing of it is run
    Agent.explain(workerWith(failing().pipe(Tool.onError({ Busy: verdict } as {})))).worst.modelCalls
  assert.strictEqual(modelCalls(Recovery.tell()), 2)
  assert.strictEqual(modelCalls(fix(4)), 2 * 4)
  assert.strictEqual(modelCalls(Recovery.ladder(Recovery.retry({ retries: 1 }), fix(4), fix(3))), 2 * 4)
  assert.strictEqual(modelCalls(Recovery.ladder(fix(3), fix(4))), 2 * 4)
  const named = Recovery.when(() => fix(4), { among: [fix(4), Recovery.raise] })
  assert.strictEqual(modelCalls(named), 2 * 4)
  // its choice is unknown: its calls are bounded by what the fixers of all calls may ask
  const unnamed = modelCalls(Recovery.when(() => fix(4)))
  assert.isAtLeast(unnamed, 2)
  assert.isAbove(
    modelCalls(
      Recovery.ladder(
        fix(4),
        Recovery.when(() => Recovery.raise)
      )
    ),
    2 * 4
  )
  assert.isAbove(
    modelCalls(
      Recovery.ladder(
        Recovery.when(() => Recovery.raise),
        fix(4)
      )
    ),
    2 * 4
  )
  const compacting = (attempts: number) =>
    Agent.explain(
      Agent.make("worker", { budget: { maxTurns: 2 } }).pipe(
        Agent.onLlmError({ ContextTooLongError: Recovery.compact(Compaction.summarise(boundsOf(1, attempts))) })
      )
    ).worst.modelCalls
  assert.strictEqual(compacting(1), 2 * 3)
  assert.strictEqual(compacting(4), 2 * 4)
})

it.effect("a turn that routes may be the dearest, with all that a single call of the model may do [P1102]", () =>
  Effect.gen(function* () {
    const [a, b] = [yield* ScriptedModel.make(), yield* ScriptedModel.make()]
    const expert = Agent.asTool(boundsOf(9, 2), { name: "ask", description: "Asks." })
    const skills = [
      Skill.make("one", { description: "Is one.", tools: [expert] }),
      Skill.make("two", { description: "Is another." })
    ] as const
    const desk = Agent.make("desk", { budget: { maxTurns: 3 }, model: Model.fallback(a.layer, b.layer), skills }).pipe(
      Agent.route(Router.byModel().pipe(Router.onLlmError({ NetworkError: Recovery.retry({ maxAttempts: 4 }) })))
    )
    assert.strictEqual(Agent.explain(desk).worst.modelCalls, 3 * 4 * 2)
  })
)

it.effect("of a sub-agent's model that heeds advice, the most generous advice counts [P1102]", () =>
  Effect.gen(function* () {
    const { layer } = yield* ScriptedModel.make()
    const model = layer.pipe(Model.onError({ orElse: Recovery.retry(Backoff.suggested()) }))
    const expert = Agent.make("expert", { model, budget: { maxTurns: 9 } })
    const inEachTurn = Agent.explain(expert).worst.modelCalls / 9
    assert.isAbove(inEachTurn, 1)
    const asked = Agent.explain(workerWith(Agent.asTool(expert, { description: "Knows." })))
    assert.strictEqual(asked.worst.modelCalls, 2 * inEachTurn)
  })
)

it("a tool that is made of agents without models counts no model calls, and a look-up needs no timeout [P1102]", () => {
  const clerk = Agent.deterministic("clerk", (input: string) => Effect.succeed(input))
  const both = Agent.asTool(
    Agent.map(clerk, (said) => `${said}!`),
    { name: "both", description: "Asks." }
  )
  assert.deepInclude(inNumbers(Agent.explain(workerWith(both)).worst), { modelCalls: 2, requests: 2, millis: 0 })
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects: "unsafe",
    run: () => Effect.succeed("paid"),
    verify: () => Effect.succeedNone
  })
  assert.deepInclude(inNumbers(Agent.explain(workerWith(pay)).worst), { modelCalls: 2, millis: 0 })
})

it("what a nearer table has caught reaches no farther one [P1102]", () => {
  const retry = Recovery.retry({ retries: 1 })
  const keys = (near: object, far: object) =>
    Agent.explain(
      // any table will do: nothing of it is run
      workerWith(failing().pipe(Tool.onError(near as {}))).pipe(Agent.toolDefaults(far as {}))
    )
      .tools.get("fetch")
      ?.rows.map(({ key }) => key)
  assert.deepStrictEqual(keys({ Busy: retry }, { InvalidArgs: retry, orElse: retry }), [
    "Busy",
    "InvalidArgs",
    "orElse"
  ])
  assert.deepStrictEqual(keys({ orElse: retry }, { Busy: retry, InvalidArgs: retry }), ["orElse"])
  assert.deepStrictEqual(keys({ ExecutionError: retry }, { Busy: retry, InvalidArgs: retry }), [
    "ExecutionError",
    "InvalidArgs"
  ])
  assert.deepStrictEqual(keys({ InvalidArgs: retry }, { Busy: retry, DeserializationError: retry }), [
    "InvalidArgs",
    "Busy"
  ])
  assert.deepStrictEqual(keys({ ExecutionError: retry, InvalidArgs: retry }, { orElse: retry }), [
    "ExecutionError",
    "InvalidArgs"
  ])
  assert.deepStrictEqual(keys({ ExecutionError: retry }, { orElse: retry }), ["ExecutionError", "orElse"])
  assert.deepStrictEqual(keys({ Busy: retry }, { UnknownToolError: retry, Busy: retry }), ["Busy"])
})
