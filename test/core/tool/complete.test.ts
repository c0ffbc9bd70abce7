import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Completion, Recovery, Skill, Telemetry, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Metric, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  done,
  eventLog,
  lastUsage,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"

const { call, calls } = ScriptedModel

const closed = "result: The task is closed."
const cut = "interrupted: The call was not run: the run stopped before it."

const asCompletion = (output: unknown): Completion.Completion => {
  assert.instanceOf(output, Completion.Completion)
  // the line above has failed otherwise
  return output as Completion.Completion
}

/** The turns of a run's transcript, as its events tell them. */
const turnsOf = (log: ReturnType<typeof eventLog>) => settlements(log.of("turn-end").map(({ message }) => message))

it.run("complete ends the run with a Completion, its own call settled before [T28 A411]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const args = { summary: "Three keys", result: { keys: 3 }, metadata: { took: "1s" } }
    const model = yield* ScriptedModel.make(calls(call("complete", args, "c1")))
    const output = yield* run(agentWith(Tool.complete).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      asCompletion(output),
      new Completion.Completion({
        summary: "Three keys",
        isSuccess: true,
        result: { keys: 3 },
        metadata: { took: "1s" }
      })
    )
    assert.deepInclude(log.end(), { type: "run-completed", output })
    assert.deepStrictEqual(turnsOf(log), [closed])
    assert.deepStrictEqual(yield* asCompletion(output).resultAs(Schema.Struct({ keys: Schema.Finite })), { keys: 3 })
  })
)

it.run("a task that cannot be done is a success of the run: no failure, no failure listener, no metric [T28]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const escaped: Array<unknown> = []
    const args = { summary: "No API", success: false, reason: "it is down", metadata: { tries: 2 } }
    const model = yield* ScriptedModel.make(calls(call("complete", args, "c1")))
    const agent = agentWith(Tool.complete).pipe(
      log.listen,
      Agent.onFailure((failure) => Effect.sync(() => void escaped.push(failure)))
    )
    const [output, counts] = yield* run(agent, "go").pipe(
      Effect.flatMap((output) => Effect.map(Metric.snapshot, (metrics) => [output, metrics] as const)),
      Effect.provide([model.layer, Telemetry.layer]),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
    assert.deepInclude(asCompletion(output), {
      summary: "No API",
      isSuccess: false,
      hasResult: false,
      metadata: { tries: 2, reason: "it is down" }
    })
    assert.deepStrictEqual(escaped, [])
    assert.deepStrictEqual(
      counts.filter(({ id }) => id === "kintsugi.errors"),
      []
    )
    assert.deepStrictEqual(log.types(), [
      "run-start",
      "turn-start",
      "model-start",
      "model-end",
      "tool-start",
      "turn-end",
      "run-completed"
    ])
  })
)

it.run("among other calls it is alone, and the first built-in of several counts [T28 A411]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { runs, tool } = scripted("fetch")
    const model = yield* ScriptedModel.make(
      calls(
        call("fetch", {}, "c1"),
        call("complete", { summary: "first" }, "c2"),
        call("escalate", { reason: "second" }, "c3"),
        call("complete", { summary: "third" }, "c4")
      )
    )
    const agent = agentWith(tool, Tool.escalate, Tool.complete).pipe(log.listen)
    const output = yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(asCompletion(output).summary, "first")
    assert.deepStrictEqual(runs, [])
    assert.deepStrictEqual(turnsOf(log), [cut, closed, cut, cut])
  })
)

it.run("complete works in a longer run, and an agent with it may answer in words all the same [T28]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { tool } = scripted("fetch", Effect.succeed("a page"))
    const agent = agentWith(tool, Tool.complete).pipe(log.listen)
    const model = yield* ScriptedModel.make(batch("fetch"), calls(call("complete", { summary: "read" }, "c2")))
    assert.strictEqual(asCompletion(yield* run(agent, "go").pipe(Effect.provide(model.layer))).summary, "read")
    assert.deepStrictEqual(turnsOf(log), ["result: a page", closed])
    assert.deepInclude(lastUsage(log.end()), { inputTokens: 20, outputTokens: 10 })

    const talking = yield* ScriptedModel.make(done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(talking.layer)), "done")
  })
)

it.run("complete is not in the request and not callable until a skill lists it [A403]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look")
    const model = yield* ScriptedModel.make(calls(call("complete", { summary: "done" }, "c1")), done)
    assert.strictEqual(yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(
      model.requests[0]?.tools.map(({ name }) => name),
      ["look"]
    )
    assert.deepStrictEqual(read(model), ["told: unknown tool: complete; available tools: look"])

    const listing = yield* ScriptedModel.make(done)
    yield* run(agentWith(Tool.complete), "go").pipe(Effect.provide(listing.layer))
    const [spec] = listing.requests[0]?.tools ?? []
    assert.strictEqual(spec?.name, "complete")
    assert.deepInclude(spec?.parameters, { type: "object", required: ["summary"], additionalProperties: false })
    assert.deepNestedInclude(spec?.parameters, { "properties.success.type": "boolean" })
  })
)

it("no tool of a user is named complete [A1005]", () => {
  assert.throws(() => scripted("complete"), /'complete' is the name of a built-in tool/)
})

const spoken: ReadonlyArray<
  readonly [args: Parameters<typeof call>[1], said: Partial<typeof Completion.Completion.Type>]
> = [
  [{ summary: "s" }, { summary: "s", isSuccess: true, metadata: {} }],
  [
    { summary: "s", success: true, result: null },
    { isSuccess: true, hasResult: true, result: null }
  ],
  [
    { summary: "s", success: null },
    { isSuccess: true, hasResult: false }
  ],
  [{ summary: "s", success: " True " }, { isSuccess: true }],
  // no claim of success but a plain one
  [{ summary: "s", success: "false" }, { isSuccess: false }],
  [{ summary: "s", success: "partly" }, { isSuccess: false }],
  [{ summary: "s", success: 0 }, { isSuccess: false }],
  [{ summary: 5 }, { summary: "5" }],
  [{}, { summary: "no summary was given", isSuccess: true }],
  ["", { summary: "no summary was given" }],
  [null, { summary: "no summary was given" }],
  [
    { summary: " \n", success: false, reason: "r" },
    { summary: "r", isSuccess: false, metadata: { reason: "r" } }
  ],
  [
    { summary: "s", reason: " ", metadata: { reason: "m" } },
    { summary: "s", metadata: { reason: "m" } }
  ],
  // bad arguments do not stop it: what fits of them counts, else their text is the summary
  ["all done: {", { summary: "all done: {", isSuccess: true, metadata: {} }],
  [
    { summary: ["s"], success: false },
    { summary: '{"summary":["s"],"success":false}', isSuccess: false }
  ],
  [
    { summary: "s", metadata: "none", result: [1], extra: 1, success: false },
    { summary: "s", isSuccess: false, result: [1], metadata: {} }
  ]
]

it.run("bad arguments do not stop it; what is no yes is no success [T28]", (run) =>
  Effect.gen(function* () {
    for (const [args, said] of spoken) {
      const model = yield* ScriptedModel.make(calls(call("complete", args, "c1")))
      const output = yield* run(agentWith(Tool.complete), "go").pipe(Effect.provide(model.layer))
      assert.deepInclude(asCompletion(output), said)
    }
  })
)

it.run("no table and no policy sees it [A409 T28]", (run) =>
  Effect.gen(function* () {
    const asked: Array<unknown> = []
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const all = Recovery.when((error: unknown) => {
      asked.push(error)
      return Recovery.retry({ retries: 3 })
    })
    const model = yield* ScriptedModel.make(calls(call("complete", '{"summary":', "c1")))
    const agent = agentWith(tool, Tool.complete).pipe(
      Agent.toolDefaults({ orElse: all }),
      Agent.toolPolicy((seen) => {
        asked.push(seen)
        return { type: "allow" }
      })
    )
    asCompletion(yield* run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(asked, [])
  })
)

it.run("a call that was cut off does not end the run [T28]", (run) =>
  Effect.gen(function* () {
    const content = [call("complete", { summary: "half a" }, "c1")]
    const model = yield* ScriptedModel.make(
      ScriptedModel.replies(ScriptedModel.reply({ content, finish: "length" })),
      done
    )
    assert.strictEqual(yield* run(agentWith(Tool.complete), "go").pipe(Effect.provide(model.layer)), "done")
    assert.match(read(model)[0] ?? "", /^truncated: /)
  })
)

it.run("of several skills only those that list complete can end by it [T28]", (run) =>
  Effect.gen(function* () {
    const closing = Skill.make("closing", { description: "Closes.", tools: [Tool.complete] })
    const talking = Skill.make("talking", { description: "Talks." })
    const agent = Agent.make("both", { skills: [closing, talking] })
    const choosing = (skill: string) => ScriptedModel.text(JSON.stringify({ name: skill, confidence: 1 }))
    const model = yield* ScriptedModel.make(choosing("closing"), calls(call("complete", { summary: "closed" }, "c1")))
    assert.strictEqual(asCompletion(yield* run(agent, "go").pipe(Effect.provide(model.layer))).summary, "closed")
    const other = yield* ScriptedModel.make(choosing("talking"), batch("complete"), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(other.layer)), "done")
  })
)

it.run("run-completed with a Completion survives JSON [T28]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* ScriptedModel.make(calls(call("complete", { summary: "s", result: [1] }, "c1")))
    yield* run(agentWith(Tool.complete).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const codec = Schema.fromJsonString(AgentEvent.AgentEvent)
    const text = yield* Schema.encodeEffect(codec)(log.all.at(-1) ?? assert.fail("no event"))
    assert.deepNestedInclude(yield* Schema.decodeEffect(codec)(text), {
      type: "run-completed",
      output: { summary: "s", isSuccess: true, result: [1], metadata: {} }
    })
  })
)
