/** What a model reads of texts with secrets, and what the log lines of a run show. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Logger, Redacted, Schema } from "effect"
import { agentWith, batch, busy, done, fixer, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const secret = "crm-9f31-KEY-77aa-00"

/** A text of a user's own, with everything that would be replaced in a text from elsewhere. */
const words = `look at https://shop.example/orders?key=a1b2c3d4e5&sort_key=date, password=hunter2, pk_customers, Bearer abcdefghijklmnop01 ${"x".repeat(9000)}`

it.run("a text of the user's own reaches the model as it is written, and whole [P1330]", (run) =>
  Effect.gen(function* () {
    const rendered = scripted("rendered", Effect.fail(busy()))
    const escalated = scripted("escalated", Effect.fail(busy()))
    const chosen = scripted("chosen", Effect.fail(busy()))
    const denied = scripted("denied", Effect.succeed("never"))
    const giving = fixer(Effect.fail(ToolError.EscalationError.make({ source: "fixer", reason: words })))
    const model = yield* ScriptedModel.make(batch("rendered", "escalated", "chosen", "denied"), done)
    const agent = agentWith(
      rendered.tool.pipe(Tool.onError({ Busy: Recovery.tell(() => words) })),
      escalated.tool.pipe(Tool.onError({ Busy: Recovery.fix(giving.agent) })),
      chosen.tool.pipe(Tool.onError({ Busy: Recovery.when(() => Recovery.tell(() => words)) })),
      denied.tool
    ).pipe(
      Agent.toolPolicy(({ tool }) =>
        Effect.succeed(tool === "denied" ? ({ type: "deny", reason: words } as const) : ({ type: "allow" } as const))
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const texts = read(model)
    assert.strictEqual(texts.length, 4)
    for (const text of texts) assert.include(text, words)
  })
)

it.run("corrected arguments are what the fixer answered, to the letter [P1330]", (run) =>
  Effect.gen(function* () {
    const corrected = { url: "https://shop.example/orders?api_key=hunter2hunter2", note: `password=hunter2 ${secret}` }
    const seen: Array<unknown> = []
    const tool = Tool.make("fetch", {
      description: "Fetches an order.",
      parameters: Schema.Struct({ url: Schema.String, note: Schema.String }),
      success: Schema.String,
      run: (params) => Effect.sync(() => (seen.push(params), "ok"))
    })
    const giving = fixer(Effect.succeed(JSON.stringify(corrected)))
    const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("fetch", { url: 1 }, "c1")), done)
    const agent = agentWith(
      tool.pipe(
        Tool.onError({ InvalidArgs: Recovery.fix(giving.agent), DeserializationError: Recovery.fix(giving.agent) })
      )
    ).pipe(Agent.secrets([Redacted.make(secret)]))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(seen, [corrected])
  })
)

it.run("a secret of the agent is in no text for the model and in no event, from any author [P1330 P1331]", (run) =>
  Effect.gen(function* () {
    const held = Redacted.make("clerk-0815-KEY-4711-zz")
    const value = Redacted.value(held)
    const failing = () =>
      Effect.fail(new ToolError.EscalationError({ message: "m", source: "s", reason: `no: ${value}`, severity: "LOW" }))
    const plain = scripted("plain", Effect.fail(busy(`refused ${value}`)))
    const rendered = scripted("rendered", Effect.fail(busy()))
    const escalated = scripted("escalated", Effect.fail(busy()))
    const events: Array<string> = []
    const model = yield* ScriptedModel.make(batch("plain", "rendered", "escalated"), done)
    const agent = agentWith(
      plain.tool.pipe(Tool.onError({ Busy: Recovery.tell() })),
      rendered.tool.pipe(Tool.onError({ Busy: Recovery.tell(() => `my own words with ${encodeURIComponent(value)}`) })),
      escalated.tool.pipe(Tool.onError({ Busy: Recovery.fix(fixer(failing()).agent) }))
    ).pipe(
      Agent.secrets([held]),
      Agent.onEvent((event) =>
        Effect.sync(() => events.push(JSON.stringify(Schema.encodeSync(AgentEvent.AgentEvent)(event))))
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(read(model).length, 3)
    assert.isAbove(events.length, 10)
    for (const text of [...read(model), ...events]) assert.notInclude(text, "0815-KEY")
    for (const text of read(model)) assert.include(text, "<redacted>")
  })
)

it.run("log lines show no key of a listener, a renderer, or a compensation that failed [P1394]", (run) =>
  Effect.gen(function* () {
    const key = `sk-proj-${"a1B2c3D4".repeat(6)}`
    const lines: Array<string> = []
    const logger = Logger.make(({ cause, message }) => {
      lines.push(JSON.stringify(message) + Cause.pretty(cause))
    })
    const broken = () => Effect.die(new Error(`cannot reach it with ${key}`))
    const one = scripted("one", Effect.fail(busy()))
    const two = scripted("two", Effect.succeed("done"))
    const three = scripted("three", Effect.fail(busy()))
    const model = yield* ScriptedModel.make(batch("one", "two"), batch("three"))
    const agent = agentWith(
      one.tool.pipe(Tool.onError({ Busy: Recovery.tell(() => Effect.fail(new Error(`no words for ${key}`))) })),
      two.tool.pipe(Tool.compensate(() => Effect.fail(new Error(`not undone with ${key}`)))),
      three.tool.pipe(Tool.onError({ Busy: Recovery.rethrow }))
    ).pipe(Agent.onEvent(({ type }) => (type === "run-start" ? broken() : Effect.void)))
    yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(Logger.layer([logger]))))
    assert.strictEqual(lines.filter((line) => /listener failed|renderer failed|not be undone/.test(line)).length, 3)
    for (const line of lines) {
      assert.notInclude(line, "a1B2c3D4")
      if (/failed|undone/.test(line)) assert.include(line, "<redacted>")
    }
  })
)
