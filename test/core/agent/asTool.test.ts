import { assert } from "@effect/vitest"
import { Agent, Completion, LlmError, Recovery, Skill, Tool, ToolError, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Duration, Effect, Exit, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  done,
  eventLog,
  isTerminal,
  play,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"

const { call, calls, fails, make, text } = ScriptedModel

/** One call of the tool `ask`. */
const calling = calls(call("ask", { input: "why?" }, "outer-call"))

const description = "Asks an expert."

/** An agent with these tools and a model of its own. */
const expertWith = <const Tools extends ReadonlyArray<Tool.AnyTool>>(
  model: ScriptedModel.ScriptedModel,
  ...tools: Tools
) => Agent.make("expert", { model: model.layer, skills: [Skill.make("know", { description: "Knows.", tools })] })

it.run("rows for all tools do not repeat an agent with an unsafe tool [P601 A1111]", (run) =>
  Effect.gen(function* () {
    const payer = (options: { readonly sideEffects?: "idempotent" }) =>
      Effect.gen(function* () {
        const { runs, tool } = play("pay", { sideEffects: "unsafe" }, [Effect.succeed("paid"), Effect.succeed("paid")])
        const inner = yield* make(
          batch("pay"),
          fails(LlmError.ServerError.make({ model: "m" })),
          ...(options.sideEffects === undefined ? [] : [batch("pay"), done])
        )
        const ask = Agent.asTool(expertWith(inner, tool), { name: "ask", description, ...options })
        const agent = agentWith(ask).pipe(
          Agent.toolDefaults({ ServerError: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()) })
        )
        const model = yield* make(calling, done)
        yield* run(agent, "go").pipe(Effect.provide(model.layer))
        return runs.length
      })
    assert.strictEqual(yield* payer({}), 1)
    assert.strictEqual(yield* payer({ sideEffects: "idempotent" }), 2)
  })
)

it("an agent is as unsafe as the tools of any of its skills; functions have none [P601 A1111]", () => {
  const echo = Skill.deterministic("echo", { description: "Echoes.", run: (input: string) => Effect.succeed(input) })
  const skillOf = <const T extends Tool.AnyTool>(tool: T) =>
    Skill.make("work", { description: "Works.", tools: [tool] })
  const { tool: pay } = play("pay", { sideEffects: "unsafe" }, [])
  const paying = Agent.make("expert", { skills: [echo, skillOf(pay)] })
  const looking = Agent.make("expert", { skills: [echo, skillOf(scripted("look").tool)] })
  const table = { ServerError: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()) }
  const options = { name: "ask", description } as const
  const cautious = agentWith(Agent.asTool(paying, options)).pipe(Agent.toolDefaults(table))
  assert.strictEqual(Agent.explain(cautious).tools.get("ask")?.worst.attempts, 1)
  const carefree = agentWith(Agent.asTool(looking, options)).pipe(Agent.toolDefaults(table))
  assert.strictEqual(Agent.explain(carefree).tools.get("ask")?.worst.attempts, 2)
})

it.run("a model calls an agent with one text, and reads its answer [A1110]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make(text("because"))
    const model = yield* make(calling, done)
    const ask = Agent.asTool(expertWith(inner), { name: "ask", description })
    assert.strictEqual(yield* run(agentWith(ask), "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(read(model), ["result: because"])
    assert.deepStrictEqual(inner.requests[0]?.messages, [{ role: "user", content: [{ type: "text", text: "why?" }] }])
    const [spec] = model.requests[0]?.tools ?? []
    assert.deepInclude(spec, { name: "ask", description })
    assert.deepNestedInclude(spec?.parameters, {
      "properties.input.type": "string",
      "properties.input.description": "What to do, with all that has to be known for it",
      required: ["input"]
    })
  })
)

it.run("parameters and answers may have schemas of their own [A1110]", (run) =>
  Effect.gen(function* () {
    const Point = Schema.Struct({ x: Schema.Finite, at: Schema.DateFromString })
    const doubling = Agent.deterministic("doubling", (x: number) => Effect.succeed({ x: 2 * x, at: new Date(0) }))
    const parameters = Schema.Struct({ half: Schema.Finite })
    const double = Agent.asTool(doubling, { description, parameters, toInput: ({ half }) => half, success: Point })
    assert.strictEqual(double.name, "doubling")
    const model = yield* make(calls(call("doubling", { half: "2" }, "c1")), done)
    yield* run(agentWith(double), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ['result: {"x":4,"at":"1970-01-01T00:00:00.000Z"}'])
    assert.deepStrictEqual(yield* Tool.call(double, { half: 2 }), { x: 4, at: new Date(0) })
  })
)

it.run("an agent's failure, behind its own tables, is the tool's, the same object [A1110]", (run) =>
  Effect.gen(function* () {
    const failure = busy("no line")
    for (const isTelling of [false, true]) {
      const inner = yield* make(batch("look"), ...(isTelling ? [text("told")] : []))
      const { tool } = scripted("look", Effect.fail(failure))
      const expert = expertWith(inner, tool.pipe(Tool.onError(isTelling ? { Busy: Recovery.tell() } : {})))
      const ask = Agent.asTool(expert, { name: "ask", description })
      const model = yield* make(calling, ...(isTelling ? [done] : []))
      const exit = yield* Effect.exit(run(agentWith(ask), "go").pipe(Effect.provide(model.layer)))
      if (isTelling) assert.deepStrictEqual(exit, Exit.succeed("done"))
      else assert.strictEqual(Cause.squash(Exit.isFailure(exit) ? exit.cause : Cause.empty), failure)
    }
  })
)

it.run("the tables around the tool recover its failures, by their tags [A1110]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make(batch("look"), batch("look"), text("seen"))
    const { tool } = scripted("look", Effect.fail(busy()), Effect.succeed("a page"))
    const ask = Agent.asTool(expertWith(inner, tool), { name: "ask", description })
    const model = yield* make(calling, done)
    const agent = agentWith(ask).pipe(Agent.onToolError({ ask: { Busy: Recovery.retry({ retries: 1 }) } }))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(read(model), ["result: seen"])
    // the second attempt is a fresh run
    assert.deepStrictEqual(
      inner.requests.map(({ messages }) => messages.length),
      [1, 1, 2]
    )
  })
)

it.run("an agent that escalates, or gives up, fails the tool so: a row may tell it [A1110]", (run) =>
  Effect.gen(function* () {
    for (const [name, tag] of [
      ["escalate", "EscalationError"],
      ["throwException", "ToolExecutionError"]
    ] as const) {
      const giving = calls(call(name, { reason: "too hard" }, "c1"))
      const inner = yield* make(giving, giving)
      const expert = expertWith(inner, Tool.escalate, Tool.throwException)
      const ask = Agent.asTool(expert, { name: "ask", description })
      const bare = yield* make(calling)
      const error = yield* Effect.flip(run(agentWith(ask), "go").pipe(Effect.provide(bare.layer)))
      assert.strictEqual(error._tag, tag)
      // it is the agent's own, with the agent's own transcript
      if (error instanceof ToolError.ToolExecutionError) {
        assert.strictEqual(error.tool, "expert")
        assert.deepStrictEqual(settlements(error.transcript ?? []), ["result: The task is given back."])
      }
      const model = yield* make(calling, done)
      const rows = { EscalationError: Recovery.escalate(), ToolExecutionError: Recovery.escalate() }
      yield* run(agentWith(ask.pipe(Tool.onError(rows))), "go").pipe(Effect.provide(model.layer))
      assert.match(read(model)[0] ?? "", /^told: ERROR: Tool 'ask' failed: .*too hard.* \(severity: HIGH\)/)
    }
  })
)

it.run(
  "the events of an agent as a tool nest under the call, at every depth; the caller pays its usage [A1204 A1110]",
  (run) =>
    Effect.gen(function* () {
      const lowest = yield* make(text("3"))
      const clerk = Agent.asTool(Agent.make("clerk", { model: lowest.layer }), { name: "calc", description })
      const inner = yield* make(calls(call("calc", { input: "1 + 2" }, "inner-call")), text("three"))
      const log = eventLog()
      const model = yield* make(calling, done)
      const ask = Agent.asTool(expertWith(inner, clerk), { name: "ask", description })
      yield* run(agentWith(ask).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      const starts = log.of("run-start")
      const ids = starts.map(({ runId }) => runId)
      assert.deepStrictEqual(
        starts.map(({ agent, parent }) => [agent, parent]),
        [
          ["worker", undefined],
          ["expert", { runId: ids[0] ?? "", callId: "outer-call" }],
          ["clerk", { runId: ids[1] ?? "", callId: "inner-call" }]
        ]
      )
      assert.deepStrictEqual(
        log.of("run-completed").map(({ runId, usage }) => [ids.indexOf(runId), usage]),
        [
          [2, Usage.make({ inputTokens: 10, outputTokens: 5 })],
          [1, Usage.make({ inputTokens: 30, outputTokens: 15 })],
          [0, Usage.make({ inputTokens: 50, outputTokens: 25 })]
        ]
      )
      for (const id of ids) assert.strictEqual(log.all.filter((one) => one.runId === id && isTerminal(one)).length, 1)
      // nothing of the expert comes before its call has begun, or after it has ended
      const index = (found: (event: (typeof log.all)[number]) => boolean) => log.all.findIndex(found)
      assert.isBelow(
        index(({ type }) => type === "tool-start"),
        index(({ agent }) => agent === "expert")
      )
      assert.isAbove(
        index((event) => event.type === "tool-end" && event.callId === "outer-call"),
        log.all.findLastIndex(({ agent }) => agent === "expert")
      )
    })
)

it.run("the calling model reads a completion as text, as an error if it is none of success [T28 A1110]", (run) =>
  Effect.gen(function* () {
    for (const [args, settlement] of [
      [{ summary: "Found it" }, "result: Found it"],
      [{ summary: "Found it", result: { page: 3 } }, 'result: Found it\nResult: {"page":3}'],
      [{ summary: "Found it", result: "page 3" }, "result: Found it\nResult: page 3"],
      [{ summary: "Gave up", success: false, reason: "no line" }, "told: Gave up\nReason: no line"],
      [{ success: false, reason: "no line" }, "told: no line"]
    ] as const) {
      const inner = yield* make(calls(call("complete", args, "c1")))
      const model = yield* make(calling, done)
      const log = eventLog()
      const ask = Agent.asTool(expertWith(inner, Tool.complete), { name: "ask", description })
      const agent = agentWith(ask.pipe(Tool.onError({ orElse: Recovery.raise }))).pipe(log.listen)
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      assert.deepStrictEqual(read(model), [settlement])
      assert.deepStrictEqual(
        log.of("run-completed").map(({ agent, output }) => [agent, Completion.isCompletion(output)]),
        [
          ["expert", true],
          ["worker", false]
        ]
      )
      assert.deepStrictEqual(log.of("tool-failed"), [])
    }
  })
)

it.run("a fixer's text stands in for an answer, never for a completion [A309 A1110]", (run) =>
  Effect.gen(function* () {
    const lost = Agent.deterministic("lost", (input: string) =>
      input === "" ? Effect.succeed(0) : Effect.fail(busy())
    )
    for (const [answer, settlement] of [
      ["4", "result: 4"],
      ["four", "told: it is no number"]
    ] as const) {
      const fixing = Recovery.fix(() => Effect.succeed(answer), { as: "result" })
      const rows = {
        Busy: Recovery.ladder(
          fixing,
          Recovery.tell(() => "it is no number")
        )
      }
      const ask = Agent.asTool(lost, { name: "ask", description, success: Schema.Finite }).pipe(Tool.onError(rows))
      const model = yield* make(calling, done)
      yield* run(agentWith(ask), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), [settlement])
    }
  })
)

it("an agent as a tool has the agent's name unless the options give one; a built-in tool's name is refused [A1110]", () => {
  const agent = Agent.deterministic("complete", (input: string) => Effect.succeed(input))
  assert.throws(() => Agent.asTool(agent, { description }), /'complete' is the name of a built-in tool/)
  assert.strictEqual(Agent.asTool(agent, { name: "finish", description }).name, "finish")
})

it("the model calls of an agent count with each call of its tool, within the turns of the run [P1102]", () => {
  const expert = Agent.make("expert", { budget: { maxTurns: 3 } }).pipe(
    Agent.onLlmError({ NetworkError: Recovery.retry({ maxAttempts: 2, initialBackoff: "1 second" }) })
  )
  const ask = Agent.asTool(expert, { name: "ask", description })
  const boss = (maxTurns: number, maxToolCalls: number) =>
    Agent.explain(
      Agent.make("boss", {
        budget: { maxTurns, maxToolCalls },
        skills: [Skill.make("lead", { description: "Leads.", tools: [ask] })]
      })
    )
  const { tools, worst } = boss(100, 4)
  assert.deepInclude(tools.get("ask")?.worst, { attempts: 1, modelCalls: 6 })
  // servers may ask for waits of a minute
  assert.deepStrictEqual(tools.get("ask")?.worst.time, Duration.minutes(3))
  assert.strictEqual(worst.modelCalls, 100 + 4 * 6)
  assert.deepStrictEqual(worst.time, Duration.minutes(4 * 3))
  // what the expert asks, it asks in turns of the boss
  assert.strictEqual(boss(5, 4).worst.modelCalls, 5 * 2)
  const clerk = Agent.asTool(
    Agent.deterministic("clerk", (input: string) => Effect.succeed(input)),
    { description }
  )
  assert.deepInclude(Agent.explain(agentWith(clerk)).worst, { modelCalls: 8 })
})

it.run("a fixer repairs the arguments of a call to an agent as of any tool [A316 A1110]", (run) =>
  Effect.gen(function* () {
    const inputs: Array<string> = []
    const cleanup = Agent.deterministic("cleanup", (raw: string) =>
      Effect.sync(() => (inputs.push(raw), '{"input":"why?"}'))
    )
    const inner = yield* make(text("because"))
    const ask = Agent.asTool(expertWith(inner), { name: "ask", description, coercion: [] }).pipe(
      Tool.onError({ InvalidArgs: Recovery.fix(cleanup) })
    )
    const model = yield* make(calls(call("ask", '{"input":', "c1")), done)
    yield* run(agentWith(ask), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(inputs, ['{"input":'])
    assert.deepStrictEqual(read(model), ["result: because"])
  })
)

it.run("two calls of one agent are two runs [A1110]", (run) =>
  Effect.gen(function* () {
    const echo = Agent.deterministic("echo", (input: string) => Effect.succeed(`${input}!`))
    const model = yield* make(calls(call("echo", { input: "a" }, "c1"), call("echo", { input: "b" }, "c2")), done)
    const log = eventLog()
    const agent = agentWith(Agent.asTool(echo, { description })).pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["result: a!", "result: b!"])
    assert.deepStrictEqual(
      log.of("run-start").flatMap(({ parent }) => parent?.callId ?? []),
      ["c1", "c2"]
    )
  })
)

it.effect("with a schema of its failures, an agent's own come back from JSON as what they were [P1108 A1110]", () =>
  Effect.gen(function* () {
    class NoEntry extends Schema.TaggedError<NoEntry>()("NoEntry", { topic: Schema.String }) {}
    const archivist = Agent.deterministic("archivist", (topic: string) => Effect.fail(new NoEntry({ topic })))
    const ask = Agent.asTool(archivist, { name: "ask", description, failure: NoEntry })
    const error = yield* Effect.flip(Tool.call(ask, { input: "why?" }))
    const codec = Schema.toCodecJson(Tool.errorSchema(ask))
    const back = Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeUnknownSync(codec)(error))))
    assert.instanceOf(back, NoEntry)
    assert.deepInclude(back, { topic: "why?" })
  })
)
