import { assert } from "@effect/vitest"
import { Agent, Model, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  asHard,
  batch,
  busy,
  callingOnce,
  done,
  eventLog,
  fixer,
  lastTranscript,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"
import { Severity } from "../../../packages/core/src/errors/Kinds.ts"

const { call, calls } = ScriptedModel

const asEscalation = (error: unknown): ToolError.EscalationError => {
  assert.instanceOf(error, ToolError.EscalationError)
  // the line above has failed otherwise
  return error as ToolError.EscalationError
}

it.run("the escalation text, word by word; the reason is the error's message, HIGH by default [A401 A410]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.fail(busy("no line")))
    const model = yield* callingOnce("fetch")
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.escalate() })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), [
      "told: ERROR: Tool 'fetch' failed: no line (severity: HIGH). Please retry with corrected arguments."
    ])
  })
)

it.run("every severity reaches the text [A405 A410]", (run) =>
  Effect.gen(function* () {
    for (const severity of Severity.literals) {
      const { tool } = scripted("fetch", Effect.fail(busy("no line")))
      const model = yield* callingOnce("fetch")
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.escalate({ severity }) })))
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.include(read(model)[0], `failed: no line (severity: ${severity}). Please`)
    }
    assert.deepStrictEqual(Severity.literals, ["LOW", "MEDIUM", "HIGH", "CRITICAL"])
  })
)

it.run("an escalated call is told, siblings go on, and a new call has fresh counts [A402]", (run) =>
  Effect.gen(function* () {
    const failures = Array.from({ length: 4 }, () => Effect.fail(busy("no line")))
    const { runs, tool } = scripted("fetch", ...failures)
    const other = scripted("look", Effect.succeed("seen"))
    const model = yield* ScriptedModel.make(batch("fetch", "look"), batch("fetch"), done)
    const verdict = Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.escalate())
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: verdict })), other.tool)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.strictEqual(runs.length, 4)
    const expected =
      "told: ERROR: Tool 'fetch' failed: no line (severity: HIGH). Please retry with corrected arguments."
    assert.deepStrictEqual(read(model), [expected, "result: seen", expected])
  })
)

it.run("the built-in tools are not in the request and not callable until a skill lists them [A403]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look")
    const model = yield* ScriptedModel.make(batch("escalate", "throwException"), done)
    yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      model.requests[0]?.tools.map(({ name }) => name),
      ["look"]
    )
    assert.deepStrictEqual(read(model), [
      "told: unknown tool: escalate; available tools: look",
      "told: unknown tool: throwException; available tools: look"
    ])

    const listing = yield* ScriptedModel.make(done)
    yield* run(agentWith(Tool.escalate, Tool.throwException), "go").pipe(Effect.provide(listing.layer))
    assert.deepStrictEqual(
      listing.requests[0]?.tools.map(({ name }) => name),
      ["escalate", "throwException"]
    )
  })
)

const spoken: ReadonlyArray<
  readonly [unknown: Parameters<typeof call>[1], reason: string, severity: ToolError.Severity]
> = [
  [{ reason: "r", severity: "low" }, "r", "LOW"],
  [{ reason: "r", severity: " Critical " }, "r", "CRITICAL"],
  [{ reason: "r", severity: "MEDIUM" }, "r", "MEDIUM"],
  [{ reason: "r", severity: "urgent" }, "r", "HIGH"],
  [{ reason: "r" }, "r", "HIGH"],
  [{ severity: "LOW" }, "no reason was given", "LOW"],
  [{ reason: "", severity: "LOW" }, "no reason was given", "LOW"],
  [{ reason: " \n" }, "no reason was given", "HIGH"],
  ["", "no reason was given", "HIGH"],
  [null, "no reason was given", "HIGH"],
  // malformed arguments do not stop it: their text is the reason
  ["I give up: {", "I give up: {", "HIGH"],
  [{ reason: [5], severity: "LOW" }, '{"reason":[5],"severity":"LOW"}', "LOW"],
  [{ reason: 5, severity: "LOW" }, "5", "LOW"],
  [{ reason: "r", severity: null }, "r", "HIGH"],
  [{ reason: "r", json: { a: 1 } }, "r", "HIGH"]
]

it.run(
  "escalate reads the severity in any case; unknown or missing is HIGH, a missing reason a placeholder [A404]",
  (run) =>
    Effect.gen(function* () {
      for (const [args, reason, severity] of spoken) {
        const model = yield* ScriptedModel.make(calls(call("escalate", args, "c1")))
        const error = asEscalation(
          yield* Effect.flip(run(agentWith(Tool.escalate), "go").pipe(Effect.provide(model.layer)))
        )
        assert.deepInclude(error, { source: "worker", reason, severity })
      }
    })
)

it.run("escalate ends the agent with EscalationError, its own call settled before [A406 A411]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* ScriptedModel.make(calls(call("escalate", { reason: "too hard", severity: "LOW" }, "c1")))
    const agent = agentWith(Tool.escalate).pipe(log.listen)
    const error = asEscalation(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, { source: "worker", reason: "too hard", severity: "LOW" })
    assert.deepInclude(log.end(), { type: "run-failed", error })
    assert.deepStrictEqual(settlements(lastTranscript(log.end())), ["result: The task is given back."])
  })
)

it.run("throwException ends it with ToolExecutionError, the message kept exactly [A406 A408 A411]", (run) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(calls(call("throwException", { reason: "no keys at all" }, "c1")))
    const error = asHard(
      yield* Effect.flip(run(agentWith(Tool.throwException), "go").pipe(Effect.provide(model.layer)))
    )
    assert.deepInclude(error, { tool: "worker", message: "no keys at all", attempts: [] })
    assert.deepStrictEqual(settlements(error.transcript ?? []), ["result: The task is given back."])
    assert.deepInclude(error.usage, { inputTokens: 10, outputTokens: 5 })
  })
)

it.run("among other calls a built-in is alone: no sibling runs, the first of several counts [A408 A411]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch")
    const model = yield* ScriptedModel.make(
      calls(
        call("fetch", {}, "c1"),
        call("throwException", { reason: "first" }, "c2"),
        call("escalate", { reason: "second" }, "c3"),
        call("nope", {}, "c4")
      )
    )
    const agent = agentWith(tool, Tool.escalate, Tool.throwException)
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(error.message, "first")
    assert.deepStrictEqual(runs, [])
    assert.deepStrictEqual(settlements(error.transcript ?? []), [
      "interrupted: The call was not run: the run stopped before it.",
      "result: The task is given back.",
      "interrupted: The call was not run: the run stopped before it.",
      "interrupted: The call was not run: the run stopped before it."
    ])
  })
)

it.run("a built-in that is called first is alone as well [A408]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch")
    const model = yield* ScriptedModel.make(
      calls(call("throwException", { reason: "first" }, "c1"), call("fetch", {}, "c2"))
    )
    const error = asHard(
      yield* Effect.flip(run(agentWith(tool, Tool.throwException), "go").pipe(Effect.provide(model.layer)))
    )
    assert.strictEqual(error.message, "first")
    assert.deepStrictEqual(runs, [])
    assert.deepStrictEqual(settlements(error.transcript ?? []), [
      "result: The task is given back.",
      "interrupted: The call was not run: the run stopped before it."
    ])
  })
)

it.run("the coercion of a built-in's arguments is emitted, and nothing where they fit nothing [A404]", (run) =>
  Effect.gen(function* () {
    for (const [args, changed] of [
      [{ reason: 5 }, ["/reason"]],
      ["I give up: {", []]
    ] as const) {
      const log = eventLog()
      const model = yield* ScriptedModel.make(calls(call("escalate", args, "c1")))
      yield* Effect.flip(run(agentWith(Tool.escalate).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual<ReadonlyArray<string>>(
        log.of("arguments-coerced").map(({ change }) => change.path.map((key) => `/${String(key)}`).join("")),
        changed
      )
    }
  })
)

it.run("a deterministic agent escalates by failing: told when soft, the end of the run when hard [A407]", (run) =>
  Effect.gen(function* () {
    const soft = fixer(
      Effect.fail(ToolError.EscalationError.make({ source: "fixer", reason: "try n = 1", severity: "MEDIUM" }))
    )
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const model = yield* callingOnce("fetch")
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(soft.agent) })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.include(read(model)[0], "failed: try n = 1 (severity: MEDIUM)")

    const alone = Agent.deterministic("alone", (reason: string) =>
      Effect.fail(ToolError.EscalationError.make({ source: "alone", reason }))
    )
    assert.deepInclude(asEscalation(yield* Effect.flip(run(alone, "stop"))), { source: "alone", reason: "stop" })
  })
)

it.run("raise: no further run, fixer or model call; the message of the failure is kept [A408]", (run) =>
  Effect.gen(function* () {
    const failure = busy(`exactly this — message ${"x".repeat(6000)}`)
    const { runs, tool } = scripted("fetch", Effect.fail(failure))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.raise })))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, { tool: "fetch", callId: "c1", message: failure.message })
    assert.strictEqual(error.cause, failure)
    assert.strictEqual(runs.length, 1)
    assert.match(settlements(error.transcript ?? [])[0] ?? "", /^told: ERROR: exactly this — message x+…$/)
  })
)

it.run("built-in tools are outside of every table [A409]", (run) =>
  Effect.gen(function* () {
    const asked: Array<unknown> = []
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const all = Recovery.when((error: unknown) => {
      asked.push(error)
      return Recovery.retry({ retries: 3 })
    })
    const model = yield* ScriptedModel.make(calls(call("escalate", '{"reason":', "c1")))
    const agent = agentWith(tool, Tool.escalate).pipe(Agent.toolDefaults({ orElse: all }))
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.instanceOf(error, ToolError.EscalationError)
    assert.deepStrictEqual(asked, [])
  })
)

it.run("an agent keeps its own model under any parent, and needs none from outside [A413]", (run) =>
  Effect.gen(function* () {
    const inner = yield* ScriptedModel.make(ScriptedModel.text("inner answer"))
    const outer = yield* ScriptedModel.make(calls(call("ask", {}, "c1")), done)
    const expert = Agent.make("expert", { model: inner.layer })
    const { tool } = scripted("ask", Effect.orDie(expert("why?")))
    yield* run(agentWith(tool), "go").pipe(Effect.provide(outer.layer))
    assert.deepStrictEqual(read(outer), ["result: inner answer"])
    assert.strictEqual(inner.requests.length, 1)
  })
)

it.run("an agent's own model is for itself: a sub-agent without a model calls the model from outside [A413]", (run) =>
  Effect.gen(function* () {
    const own = yield* ScriptedModel.make(calls(call("ask", {}, "c1")), done)
    const outside = yield* ScriptedModel.make(ScriptedModel.text("from outside"))
    const expert = Agent.make("expert", {})
    const { tool } = scripted("ask", Effect.orDie(expert("why?")))
    const boss = Agent.make("boss", {
      model: own.layer,
      skills: [Skill.make("lead", { description: "Leads.", tools: [tool] })]
    })
    yield* run(boss, "go").pipe(Effect.provide(outside.layer))
    assert.strictEqual(outside.requests.length, 1)
    assert.deepStrictEqual(read(own), ["result: from outside"])
  })
)

it.run("an agent's own layer is built for all its runs; a layer that fails fails the run [A413 P1504]", (run) =>
  Effect.gen(function* () {
    const marks: Array<string> = []
    const scriptedModel = yield* ScriptedModel.make(done, done)
    const mark = (text: string) => Effect.sync(() => marks.push(text))
    const layer = Layer.merge(
      scriptedModel.layer,
      Layer.effectDiscard(Effect.acquireRelease(mark("open"), () => mark("close")))
    )
    const agent = Agent.make("keeper", { model: layer })
    assert.deepStrictEqual([yield* run(agent, "1"), yield* run(agent, "2")], ["done", "done"])
    assert.deepStrictEqual(marks, ["open"])

    const failure = busy("no key")
    const log = eventLog()
    const keyless = Agent.make("keyless", { model: Layer.effect(Model.Model, Effect.fail(failure)) }).pipe(log.listen)
    assert.strictEqual<unknown>(yield* Effect.flip(run(keyless, "go")), failure)
    assert.deepInclude(log.end(), { type: "run-failed", error: failure })
  })
)
