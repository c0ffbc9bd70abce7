import { assert } from "@effect/vitest"
import { Agent, Message, Recovery, Tool, type ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  asHard,
  busy,
  done,
  eventLog,
  fixer,
  gone,
  paramsOf,
  play,
  read,
  scripted,
  tagsOf
} from "../../_support/dialogue.ts"

const { call, calls } = ScriptedModel

const fetching = (raw: string) => ScriptedModel.make(calls(call("fetch", raw, "c1")), done)
const fetchingOnce = (raw: string) => ScriptedModel.make(calls(call("fetch", raw, "c1")))
const strict = { coercion: [] } as const

it.run("a deterministic fixer mends a trailing comma: one fixer run, one tool run, no model call [A301 A319]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("fetch", strict, [Effect.succeed("page")])
    const cleanup = fixer(Effect.succeed('{"n":1}'))
    const model = yield* fetching('{"n":1,}')
    const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(cleanup.agent) })))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(cleanup.inputs, ['{"n":1,}'])
    assert.deepStrictEqual(paramsOf(runs), [{ n: 1 }])
    assert.strictEqual(model.requests.length, 2)
    assert.deepStrictEqual(read(model), ["result: page"])
  })
)

it.run(
  "a fixer with a model reads a report: tool, arguments, schema, error, repair; its text is the answer [A301 A304]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = play("fetch", { ...strict, description: "Fetches page n." }, [Effect.succeed("page")])
      const fixerModel = yield* ScriptedModel.make(ScriptedModel.text("I cannot."), ScriptedModel.text('{"n":1}'))
      const mender = Agent.make("mender", { prompt: "Mend it.", model: fixerModel.layer })
      const model = yield* fetching('{"n":1,}')
      const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(mender, { retries: 2 }) })))
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(paramsOf(runs), [{ n: 1 }])
      const [first, second] = fixerModel.requests.map(({ messages }) => {
        const [system, user] = messages
        assert.deepInclude(system, { role: "system", text: "Mend it." })
        return user?.role === "user" ? Message.textOf(user) : ""
      })
      for (const part of ["'fetch'", "Fetches page n.", '{"n":1,}', '"additionalProperties":false', "JSON", "1 of 2"])
        assert.include(first, part)
      assert.include(first, "The arguments of tool 'fetch' are not valid JSON")
      for (const part of ["I cannot.", "2 of 2"]) assert.include(second, part)
    })
)

it.run(
  "the fixer runs once by default, at most r times with retries: r, m - 1 times with maxAttempts: m [A302]",
  (run) =>
    Effect.gen(function* () {
      for (const [options, repairs] of [
        [undefined, 1],
        [{ retries: 3 }, 3],
        [{ maxAttempts: 3 }, 2],
        [{ maxAttempts: 1 }, 0]
      ] as const) {
        const failures = Array.from({ length: repairs + 1 }, (_, i) => Effect.fail(busy(`${i}`)))
        const { runs, tool } = scripted("fetch", ...failures)
        const mender = fixer(...Array.from({ length: repairs }, (_, i) => Effect.succeed(`{"n":${i}}`)))
        const model = yield* fetchingOnce("{}")
        const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(mender.agent, options) })))
        const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
        assert.strictEqual(mender.inputs.length, repairs)
        assert.strictEqual(runs.length, repairs + 1)
        assert.strictEqual(error.attempts.length, repairs + 1)
      }
    })
)

it.run("a deterministic fixer reads the raw text exactly as the model sent it, for every kind of error [A303]", (run) =>
  Effect.gen(function* () {
    for (const raw of ['{"n":1,}', ' {"n" : "one"} ', ' {"n": 1}\n']) {
      const { tool } = play("fetch", strict, [Effect.fail(busy()), Effect.succeed("page")])
      const mender = fixer(Effect.succeed('{"n":5}'), Effect.succeed('{"n":5}'))
      const model = yield* fetching(raw)
      const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.fix(mender.agent, { retries: 2 }) })))
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.strictEqual(mender.inputs[0], raw)
    }
  })
)

it.run("an input function replaces the raw text and the report [A305]", (run) =>
  Effect.gen(function* () {
    const { tool } = play("fetch", strict, [Effect.succeed("page")])
    const fixerModel = yield* ScriptedModel.make(ScriptedModel.text('{"n":1}'))
    const mender = Agent.make("mender", { model: fixerModel.layer })
    const model = yield* fetching("broken")
    const input = ({ context, error }: { readonly error: unknown; readonly context: Recovery.FailureContext }) =>
      `${String((error as ToolError.InvalidArgs).rawArgs)} after ${context.attempt} attempt of ${context.tool}`
    const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(mender, { input }) })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(fixerModel.requests[0]?.messages, [
      { role: "user", content: [{ type: "text", text: "broken after 1 attempt of fetch" }] }
    ])
  })
)

it.run("the answer is coerced and decoded like the model's own arguments before the tool runs [A306]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch", Effect.fail(busy()), Effect.succeed("page"))
    const mender = fixer(Effect.succeed('Here: ```json\n{"n":2,}\n```'))
    const log = eventLog()
    const model = yield* fetching('{"n":1}')
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(mender.agent) }))).pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(paramsOf(runs), [{ n: 1 }, { n: 2 }])
    assert.isNotEmpty(log.of("arguments-coerced"))
  })
)

it.run("an answer that does not decode uses up a repair and is read next, together with its own error [A307]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("fetch", strict, [Effect.succeed("page")])
    const mender = fixer(Effect.succeed("still broken"), Effect.succeed('{"m":1}'), Effect.succeed('{"n":1}'))
    const seen: Array<unknown> = []
    const model = yield* fetching("broken")
    const log = eventLog()
    const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(mender.agent, { retries: 3 }) })))
    yield* run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    for (const { error, verdict } of log.of("verdict")) if (verdict === "fix") seen.push(error)
    assert.deepStrictEqual(mender.inputs, ["broken", "still broken", '{"m":1}'])
    assert.deepStrictEqual(tagsOf(seen), ["InvalidArgs", "InvalidArgs", "DeserializationError"])
    assert.deepInclude(seen[1], { rawArgs: "still broken" })
    assert.deepInclude(seen[2], { rawValue: { m: 1 } })
    assert.deepStrictEqual(paramsOf(runs), [{ n: 1 }])
  })
)

it.run(
  "an answer that does not decode never becomes the arguments: the next rung goes on with the model's [A307]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = scripted("fetch", Effect.fail(busy()), Effect.fail(busy()), Effect.succeed("page"))
      const first = fixer(Effect.succeed("nonsense"))
      const second = fixer(Effect.succeed("more nonsense"))
      const model = yield* fetching('{"n":1}')
      const verdict = Recovery.ladder(
        Recovery.fix(first.agent),
        Recovery.fix(second.agent),
        Recovery.retry({ retries: 2 })
      )
      yield* run(agentWith(tool.pipe(Tool.onError({ Busy: verdict }))), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual([first.inputs, second.inputs], [['{"n":1}'], ['{"n":1}']])
      assert.deepStrictEqual(paramsOf(runs), [{ n: 1 }, { n: 1 }, { n: 1 }])
      assert.deepStrictEqual(read(model), ["result: page"])
    })
)

it.run("a repaired call that fails with another tag is guarded by that tag's row [A308]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("fetch", strict, [Effect.fail(busy()), Effect.fail(gone()), Effect.succeed("page")])
    const mender = fixer(Effect.succeed('{"n":1}'))
    const model = yield* fetching("broken")
    const agent = agentWith(
      tool.pipe(
        Tool.onError({
          InvalidArgs: Recovery.fix(mender.agent),
          Busy: Recovery.retry({ retries: 1 }),
          Gone: Recovery.tell((error) => error.message)
        })
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(runs.length, 2)
    assert.deepStrictEqual(read(model), ["told: gone"])
  })
)

it.run('as: "result" settles the call with the decoded answer; the tool is not rerun [A309]', (run) =>
  Effect.gen(function* () {
    for (const [answer, text] of [
      ["5", "result: 5"],
      ["not a number", undefined]
    ] as const) {
      let runs = 0
      const count = Tool.make("fetch", {
        description: "Counts.",
        parameters: Schema.Struct({}),
        success: Schema.Finite,
        run: () => Effect.suspend(() => Effect.fail(busy(`run ${++runs}`)))
      })
      const mender = fixer(Effect.succeed("many"), Effect.succeed(answer))
      const model = yield* text === undefined ? fetchingOnce("{}") : fetching("{}")
      const verdict = Recovery.fix(mender.agent, { as: "result", retries: 2 })
      const ended = yield* Effect.result(
        run(agentWith(count.pipe(Tool.onError({ Busy: verdict }))), "go").pipe(Effect.provide(model.layer))
      )
      assert.strictEqual(runs, 1)
      assert.strictEqual(mender.inputs.length, 2)
      if (text !== undefined) assert.deepStrictEqual(read(model), [text])
      else
        assert.deepStrictEqual(ended._tag === "Failure" ? tagsOf(asHard(ended.failure).attempts) : [], [
          "Busy",
          "DeserializationError",
          "DeserializationError"
        ])
    }
  })
)

it.run('tool-end has `recoveredBy: "fix"` for the answer of a fixer as: "result" [A309 A602]', (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const mender = fixer(Effect.succeed("a page"))
    const model = yield* fetching("{}")
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(mender.agent, { as: "result" }) })))
    yield* run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      log.of("tool-end").map(({ use }) => [use.recoveredBy, use.settlement]),
      [["fix", { kind: "result", text: "a page" }]]
    )
  })
)

it.run('with a model, as: "result" requests the result and not arguments [A309]', (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const fixerModel = yield* ScriptedModel.make(ScriptedModel.text("a page"))
    const mender = Agent.make("mender", { model: fixerModel.layer })
    const model = yield* fetching("{}")
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(mender, { as: "result" }) })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["result: a page"])
    const report = JSON.stringify(fixerModel.requests[0]?.messages)
    assert.include(report, "the result that the tool should have given")
    assert.notInclude(report, "corrected arguments")
  })
)
