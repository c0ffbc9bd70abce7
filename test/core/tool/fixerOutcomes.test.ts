import { assert } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
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
  gone,
  instantsOf,
  isTerminal,
  lastUsage,
  overADay,
  paramsOf,
  play,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"

it.run("a fixer that escalates ends the fix at once: the call is told, the rest of r is unused [A310]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch", Effect.fail(busy()))
    const mender = fixer(
      Effect.fail(ToolError.EscalationError.make({ source: "fixer", reason: "Use n = 2", severity: "LOW" }))
    )
    const model = yield* callingOnce("fetch")
    const verdict = Recovery.ladder(Recovery.fix(mender.agent, { retries: 5 }), Recovery.raise)
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: verdict })))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.strictEqual(mender.inputs.length, 1)
    assert.strictEqual(runs.length, 1)
    assert.deepStrictEqual(read(model), [
      "told: ERROR: Tool 'fetch' failed: Use n = 2 (severity: LOW). Please retry with corrected arguments."
    ])
  })
)

it.run("a fixer with a model ends it by a built-in tool [A310 A311]", (run) =>
  Effect.gen(function* () {
    for (const name of ["escalate", "throwException"] as const) {
      const { tool } = scripted("fetch", Effect.fail(busy()))
      const fixerModel = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call(name, { reason: "no keys" })))
      const mender = Agent.make("mender", {
        model: fixerModel.layer,
        skills: [Skill.make("mend", { description: "Mends.", tools: [Tool.escalate, Tool.throwException] })]
      })
      const model = yield* name === "escalate" ? callingOnce("fetch") : ScriptedModel.make(batch("fetch"))
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(mender, { retries: 5 }) })))
      const ended = yield* Effect.result(run(agent, "go").pipe(Effect.provide(model.layer)))
      if (name === "escalate") assert.include(read(model)[0], "failed: no keys (severity: HIGH)")
      else assert.deepInclude(ended._tag === "Failure" ? asHard(ended.failure) : {}, { message: "no keys" })
    }
  })
)

it.run("a fixer that fails hard ends the run with that error; the rest of r is unused [A311]", (run) =>
  Effect.gen(function* () {
    const failure = ToolError.ToolExecutionError.make({ tool: "fixer", message: "hopeless" })
    const { runs, tool } = scripted("fetch", Effect.fail(busy()))
    const mender = fixer(Effect.fail(failure))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const verdict = Recovery.ladder(Recovery.fix(mender.agent, { retries: 5 }), Recovery.tell())
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: verdict })))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(error, failure)
    assert.strictEqual(mender.inputs.length, 1)
    assert.strictEqual(runs.length, 1)
  })
)

it.run(
  "any other failure of the fixer is one failed repair, kept in order; then ToolExecutionError [A312 A313 P1337]",
  (run) =>
    Effect.gen(function* () {
      const script = [busy("first"), busy("second")] as const
      const { runs, tool } = scripted("fetch", Effect.fail(script[0]), Effect.fail(script[1]))
      const lazy = { _tag: "Lazy" } as const
      const mender = fixer(Effect.fail(lazy), Effect.succeed('{"n":1}'), Effect.fail(lazy))
      const log = eventLog()
      const model = yield* ScriptedModel.make(batch("fetch"))
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(mender.agent, { retries: 3 }) })))
      const error = asHard(yield* Effect.flip(run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer))))
      assert.deepStrictEqual(error.attempts, [script[0], lazy, script[1], lazy])
      assert.strictEqual(error.cause, script[1])
      assert.include(error.message, "Tool 'fetch' failed after 2 attempts")
      assert.include(error.message, "second; its fixer failed: ")
      assert.deepStrictEqual(paramsOf(runs), [{}, { n: 1 }])
      assert.deepStrictEqual(
        log.of("fix-failed").map((event) => [event.repair, event.error]),
        [
          [1, lazy],
          [3, lazy]
        ]
      )
    })
)

it.run("a fixer that runs out of its own budget is a failed repair [A312]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const looping = scripted("look", Effect.succeed("nothing"))
    const fixerModel = yield* ScriptedModel.make(batch("look"))
    const mender = Agent.make("mender", {
      model: fixerModel.layer,
      budget: { maxTurns: 1 },
      skills: [Skill.make("mend", { description: "Mends.", tools: [looping.tool] })]
    })
    const model = yield* callingOnce("fetch")
    const verdict = Recovery.ladder(Recovery.fix(mender), Recovery.escalate({ severity: "CRITICAL" }))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: verdict })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), [
      "told: ERROR: Tool 'fetch' failed: busy (severity: CRITICAL). Please retry with corrected arguments."
    ])
  })
)

it.run("when all repairs are used, the next rung decides [A313]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch", Effect.fail(busy("a")), Effect.fail(busy("b")), Effect.succeed("page"))
    const mender = fixer(Effect.succeed('{"n":1}'))
    const model = yield* callingOnce("fetch")
    const verdict = Recovery.ladder(
      Recovery.fix(mender.agent),
      Recovery.retry({ retries: 1, initialBackoff: "1 second" })
    )
    yield* overADay(run(agentWith(tool.pipe(Tool.onError({ Busy: verdict }))), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(paramsOf(runs), [{}, { n: 1 }, { n: 1 }])
    assert.deepStrictEqual(instantsOf(runs), [0, 0, 1000])
    assert.deepStrictEqual(read(model), ["result: page"])
  })
)

it.run("a call takes at most 8 repairs over all rows and rungs; the error names the cap [A314]", (run) =>
  Effect.gen(function* () {
    const failures = Array.from({ length: 20 }, (_, i) =>
      Effect.fail(i % 2 === 0 ? busy(`${i}`) : { _tag: "Odd" as const })
    )
    const { runs, tool } = scripted("fetch", ...failures)
    const mender = fixer(...Array.from({ length: 20 }, () => Effect.succeed("{}")))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const row = Recovery.fix(mender.agent, { retries: 10 })
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: row, Odd: Recovery.ladder(row, row) })))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(mender.inputs.length, 8)
    assert.strictEqual(runs.length, 9)
    assert.match(error.message, /cap of 8 repairs/)
  })
)

it.run("where the last rung of a ladder is stopped by that cap, the error names the cap as well [A314 P1101]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", ...Array.from({ length: 20 }, () => Effect.fail(busy())))
    const mender = fixer(...Array.from({ length: 20 }, () => Effect.succeed("{}")))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const ladder = Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.fix(mender.agent, { retries: 20 }))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: ladder })))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(mender.inputs.length, 8)
    assert.match(error.message, /cap of 8 repairs/)
    assert.deepStrictEqual(
      error.trail?.map(({ gaveUp, verdict }) => [verdict, gaveUp]),
      [["retry", false], ["retry", true], ...Array.from({ length: 8 }, () => ["fix", false]), ["fix", true]]
    )
  })
)

it.effect("a call of 10,000 attempts is repaired no more; the error names that cap [A210 A314]", () =>
  Effect.gen(function* () {
    let runs = 0
    const tool = Tool.make("fetch", {
      description: "Fetches.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.suspend(() => Effect.fail(++runs < 10_000 ? busy() : gone()))
    })
    const mender = fixer(Effect.succeed("{}"))
    const many = Recovery.retry({ retries: 1_000_000 })
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: many, Gone: Recovery.fix(mender.agent) })))
    const error = asHard(yield* Effect.flip(agent("go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(runs, 10_000)
    assert.deepStrictEqual(mender.inputs, [])
    assert.match(error.message, /cap of 10000 attempts/)
  })
)

it.run("a failure inside the fixer's own tools never starts the same fixer a second time [A315]", (run) =>
  Effect.gen(function* () {
    const started: Array<string> = []
    const inner = scripted("look", Effect.fail(busy("inner")))
    const fixerModel = yield* ScriptedModel.make(batch("look"))
    const mender = (input: string): Effect.Effect<string, unknown> => {
      started.push(input)
      return surgeon(input)
    }
    const surgeon = Agent.make("surgeon", {
      model: fixerModel.layer,
      skills: [
        Skill.make("mend", {
          description: "Mends.",
          tools: [inner.tool.pipe(Tool.onError({ Busy: Recovery.fix(mender, { retries: 3 }) }))]
        })
      ]
    })
    const { tool } = scripted("fetch", Effect.fail(busy("outer")))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(mender, { retries: 3 }) })))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepStrictEqual(started, ["{}"])
    assert.strictEqual(error.tool, "look")
    assert.match(error.message, /^Tool 'look' failed after 1 attempt \(call c1\): inner\. /)
  })
)

it.run("a fixer's usage is booked with its caller, its events name the call that started it [A316 A1204]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.fail(busy()), Effect.succeed("page"))
    const fixerModel = yield* ScriptedModel.make(ScriptedModel.text("{}"))
    const mender = Agent.make("mender", { model: fixerModel.layer })
    const log = eventLog()
    const model = yield* callingOnce("fetch")
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(mender) }))).pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const outer = log.all[0]?.runId
    const nested = log.all.filter((event) => event.agent === "mender")
    assert.deepStrictEqual(
      nested.map((event) => event.type).filter((type) => type.startsWith("run-")),
      ["run-start", "run-completed"]
    )
    for (const event of nested) assert.deepStrictEqual(event.parent, { runId: outer ?? "", callId: "c1" })
    assert.notStrictEqual(nested[0]?.runId, outer)
    assert.deepInclude(lastUsage(nested.find(isTerminal)), { inputTokens: 10, outputTokens: 5 })
    assert.deepInclude(lastUsage(log.end()), { inputTokens: 30, outputTokens: 15 })
    const types = log.types()
    assert.isBelow(types.indexOf("fix-start"), log.all.indexOf(nested[0] ?? log.all[0]!))
    assert.isBelow(log.all.indexOf(nested.at(-1) ?? log.all[0]!), types.indexOf("fix-end"))
  })
)

it.run("one fixer serves several calls and tools at once; its runs share nothing [A317]", (run) =>
  Effect.gen(function* () {
    const slow = Agent.deterministic("slow", (raw: string) =>
      Effect.as(Effect.sleep("1 second"), raw.replaceAll(",}", "}"))
    )
    const a = play("a", { coercion: [] }, [Effect.succeed("a1"), Effect.succeed("a2")])
    const b = play("b", { coercion: [] }, [Effect.succeed("b1")])
    const row = Recovery.fix(slow)
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(
        ScriptedModel.call("a", '{"n":1,}', "c1"),
        ScriptedModel.call("a", '{"n":2,}', "c2"),
        ScriptedModel.call("b", '{"n":3,}', "c3")
      ),
      done
    )
    const agent = agentWith(
      a.tool.pipe(Tool.onError({ InvalidArgs: row })),
      b.tool.pipe(Tool.onError({ InvalidArgs: row }))
    )
    yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(paramsOf(a.runs), [{ n: 1 }, { n: 2 }])
    assert.deepStrictEqual(paramsOf(b.runs), [{ n: 3 }])
    assert.deepStrictEqual(instantsOf([...a.runs, ...b.runs]), [1000, 1000, 1000])
  })
)

it.run("the transcript keeps the model's original call; the repaired arguments are in the events [A318]", (run) =>
  Effect.gen(function* () {
    const { tool } = play("fetch", { coercion: [] }, [Effect.succeed("page")])
    const mender = fixer(Effect.succeed('{"n":1}'))
    const log = eventLog()
    const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("fetch", '{"n":1,}', "c1")), done)
    const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(mender.agent) }))).pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const said = model.requests[1]?.messages.at(-1)
    const part = said?.role === "assistant" ? said.content[0] : undefined
    assert.deepInclude(part?.type === "settled-call" ? part.call : {}, { arguments: '{"n":1,}' })
    assert.deepStrictEqual(settlements(model.requests[1]?.messages ?? []), ["result: page"])
    const [use] = log.of("tool-end").map((event) => event.use)
    assert.deepInclude(use, { arguments: '{"n":1,}', params: { n: 1 }, recoveredBy: "fix" })
    assert.deepStrictEqual(
      log.of("fix-end").map(({ answer }) => answer),
      ['{"n":1}']
    )
  })
)
