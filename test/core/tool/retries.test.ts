import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  asHard,
  batch,
  busy,
  callingOnce,
  done,
  eventLog,
  failureOf,
  gone,
  instantsOf,
  messagesOf,
  overADay,
  play,
  read,
  scripted
} from "../../_support/dialogue.ts"

const failing = (times: number) => Array.from({ length: times }, (_, i) => Effect.fail(busy(`${i + 1}`)))

it.run("retries: n runs the tool at most 1 + n times; the first success ends it [A201]", (run) =>
  Effect.gen(function* () {
    for (const failures of [0, 1, 2, 3]) {
      const { runs, tool } = scripted("fetch", ...failing(failures), Effect.succeed("page"))
      const model = yield* callingOnce("fetch")
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 3 }) })))
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      assert.strictEqual(runs.length, failures + 1)
      assert.deepStrictEqual(read(model), ["result: page"])
    }
    const { runs, tool } = scripted("fetch", ...failing(4))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 3 }) })))
    asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(runs.length, 4)
  })
)

it.run("maxAttempts: m runs the tool at most m times in all [A202]", (run) =>
  Effect.gen(function* () {
    for (const maxAttempts of [1, 2, 4]) {
      const { runs, tool } = scripted("fetch", ...failing(maxAttempts))
      const model = yield* ScriptedModel.make(batch("fetch"))
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.retry({ maxAttempts }) })))
      asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
      assert.strictEqual(runs.length, maxAttempts)
    }
  })
)

it.run(
  "a retry without a delay runs at once; with a delay, waits double, and none follows the end [A205 A206]",
  (run) =>
    Effect.gen(function* () {
      const plain = scripted("fetch", ...failing(4))
      const model = yield* ScriptedModel.make(batch("fetch"))
      const hasty = agentWith(plain.tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 3 }) })))
      yield* Effect.flip(run(hasty, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(instantsOf(plain.runs), [0, 0, 0, 0])

      const waiting = scripted("fetch", ...failing(4))
      const log = eventLog()
      const second = yield* ScriptedModel.make(batch("fetch"))
      const patient = agentWith(
        waiting.tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 3, initialBackoff: "500 millis" }) }))
      ).pipe(log.listen)
      asHard(yield* failureOf(yield* overADay(run(patient, "go").pipe(Effect.provide(second.layer)))))
      assert.deepStrictEqual(instantsOf(waiting.runs), [0, 500, 1500, 3500])
      assert.strictEqual(log.end()?.at, 3500)
    })
)

it.run("exhaustion is ToolExecutionError with every error in order; the last one is its cause [A207]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", ...failing(3))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 2 }) })))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepStrictEqual(messagesOf(error.attempts), ["1", "2", "3"])
    assert.strictEqual(error.cause, error.attempts[2])
    assert.deepInclude(error, { tool: "fetch", callId: "c1", cause: error.attempts[2] })
    assert.match(error.message, /^Tool 'fetch' failed after 3 attempts \(call c1\): 3\. /)
  })
)

it.run("retries: 0 means one attempt, then ToolExecutionError [A208]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch", ...failing(1))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 0 }) })))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(runs.length, 1)
    assert.deepStrictEqual(messagesOf(error.attempts), ["1"])
  })
)

it.run("every failure chooses its row anew: the row of its own tag decides [A209]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch", Effect.fail(busy()), Effect.fail(gone("moved")))
    const model = yield* callingOnce("fetch")
    const agent = agentWith(
      tool.pipe(
        Tool.onError({
          Busy: Recovery.retry({ retries: 9 }),
          Gone: Recovery.tell((error) => `gone: ${error.message}`)
        })
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(runs.length, 2)
    assert.deepStrictEqual(read(model), ["told: gone: moved"])
  })
)

it.run("each row keeps its count for the whole call: other tags do not reset it, counts add up [A210]", (run) =>
  Effect.gen(function* () {
    const script = [busy("b1"), gone("g1"), busy("b2"), gone("g2"), gone("g3"), busy("b3"), gone("g4")]
    const { runs, tool } = scripted("fetch", ...script.map((error) => Effect.fail(error)))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(
      tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 3 }), Gone: Recovery.retry({ retries: 3 }) }))
    )
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(runs.length, 7)
    assert.deepStrictEqual(messagesOf(error.attempts), ["b1", "g1", "b2", "g2", "g3", "b3", "g4"])
  })
)

it.run("the count of a row holds for one call: the next call of the model starts afresh [A210]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch", ...failing(1), Effect.succeed("a"), ...failing(1), Effect.succeed("b"))
    const model = yield* ScriptedModel.make(batch("fetch"), batch("fetch"), done)
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }) })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(runs.length, 4)
    assert.deepStrictEqual(read(model), ["result: a", "result: b"])
  })
)

it.run("retry on bad arguments gives up at once: no run, no wait [A211]", (run) =>
  Effect.gen(function* () {
    for (const raw of ["no json", '{"n":"one"}']) {
      const { runs, tool } = play("fetch", { coercion: [] }, [])
      const log = eventLog()
      const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("fetch", raw, "c1")))
      const agent = agentWith(
        tool.pipe(Tool.onError({ InvalidArgs: Recovery.retry({ retries: 3, initialBackoff: "1 second" }) }))
      ).pipe(log.listen)
      const error = asHard(yield* failureOf(yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))))
      assert.strictEqual(error.attempts.length, 1)
      assert.strictEqual(log.end()?.at, log.all[0]?.at)
      assert.deepStrictEqual(runs, [])
    }
  })
)

it.run("the rung after a retry decides about bad arguments instead [A211]", (run) =>
  Effect.gen(function* () {
    const { tool } = play("fetch", { coercion: [] }, [])
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("fetch", "no json", "c1")),
      ScriptedModel.text("done")
    )
    const verdict = Recovery.ladder(
      Recovery.retry({ retries: 3 }),
      Recovery.tell<ToolError.InvalidArgs | ToolError.DeserializationError>((error) => error._tag)
    )
    yield* run(agentWith(tool.pipe(Tool.onError({ InvalidArgs: verdict }))), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["told: InvalidArgs"])
  })
)

it.run("bad arguments of a tool further down are a failed run like any other [A211]", (run) =>
  Effect.gen(function* () {
    const inner = ToolError.InvalidArgs.make({ tool: "below", callId: "c9", rawArgs: "x", parseError: "no JSON" })
    for (const sideEffects of ["none", "unsafe"] as const) {
      const { runs, tool } = play("ask", { sideEffects }, [Effect.fail(inner), Effect.succeed("page")])
      const model = yield* callingOnce("ask")
      const verdict = Recovery.ladder(
        Recovery.retry({ retries: 1 }),
        Recovery.tell(() => "once is enough")
      )
      yield* run(agentWith(tool).pipe(Agent.toolDefaults({ InvalidArgs: verdict })), "go").pipe(
        Effect.provide(model.layer)
      )
      assert.strictEqual(runs.length, sideEffects === "none" ? 2 : 1)
      assert.deepStrictEqual(read(model), [sideEffects === "none" ? "result: page" : "told: once is enough"])
    }
  })
)

it.run(
  "every attempt sees the same params and key, and attempts 1, 2, … without gaps; calls differ in key [A212]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = scripted("fetch", ...failing(2), Effect.succeed("a"), Effect.succeed("b"))
      const model = yield* ScriptedModel.make(
        ScriptedModel.calls(ScriptedModel.call("fetch", '{"n":1}', "c1")),
        ScriptedModel.calls(ScriptedModel.call("fetch", '{"n":1}', "c1")),
        ScriptedModel.text("done")
      )
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 2 }) })))
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(
        runs.map(({ context }) => context.attempt),
        [1, 2, 3, 1]
      )
      for (const { params } of runs) assert.deepStrictEqual(params, { n: 1 })
      assert.strictEqual(runs[1]?.params, runs[0]?.params)
      const keys = runs.map(({ context }) => context.idempotencyKey)
      assert.strictEqual(new Set(keys.slice(0, 3)).size, 1)
      assert.notStrictEqual(keys[3], keys[0])
    })
)

it.run("the first run after a repair is attempt 1, with the key of its call [A212]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("fetch", { coercion: [] }, [Effect.fail(busy()), Effect.succeed("page")])
    const cleanup = Agent.deterministic("cleanup", () => Effect.succeed('{"n":1}'))
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("fetch", '{"n":1,}', "c1")),
      ScriptedModel.text("done")
    )
    const agent = agentWith(
      tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(cleanup), Busy: Recovery.retry({ retries: 1 }) }))
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      runs.map(({ context }) => context.attempt),
      [1, 2]
    )
    assert.strictEqual(runs[0]?.context.idempotencyKey, runs[1]?.context.idempotencyKey)
  })
)

it.run("in one batch, two flaky tools and a bare one each follow their own row only [A214]", (run) =>
  Effect.gen(function* () {
    const quick = scripted("quick", ...failing(2), Effect.succeed("quick page"))
    const slow = scripted("slow", Effect.fail(gone()), Effect.succeed("slow page"))
    const bare = scripted("bare", Effect.succeed("bare page"))
    const model = yield* callingOnce("quick", "slow", "bare")
    const agent = agentWith(
      quick.tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 2 }) })),
      slow.tool.pipe(Tool.onError({ Gone: Recovery.retry({ retries: 1, initialBackoff: "3 seconds" }) })),
      bare.tool
    )
    yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(
      [quick, slow, bare].map(({ runs }) => instantsOf(runs)),
      [[0, 0, 0], [0, 3000], [0]]
    )
    assert.deepStrictEqual(read(model), ["result: quick page", "result: slow page", "result: bare page"])
  })
)

it.run("the failure of a tool without a table ends the run, and no sibling is repeated [A214 P1350]", (run) =>
  Effect.gen(function* () {
    const failure = gone("bare")
    const quick = scripted("quick", ...failing(2), Effect.succeed("quick page"))
    const bare = scripted("bare", Effect.andThen(Effect.sleep("2 seconds"), Effect.fail(failure)))
    const model = yield* ScriptedModel.make(batch("bare", "quick"))
    const agent = agentWith(
      bare.tool,
      quick.tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 2, initialBackoff: "1 second" }) }))
    )
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual(yield* failureOf(exit), failure)
    assert.deepStrictEqual(instantsOf(quick.runs), [0, 1000])
  })
)
