import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Logger, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  callingOnce,
  done,
  fixer,
  gone,
  interruptedAt,
  scripted,
  settlements
} from "../../_support/dialogue.ts"
import type { Escaped } from "../../../packages/core/src/agent/listeners.ts"

/** A hook that writes down what escapes. */
const watching = () => {
  const escaped: Array<Escaped> = []
  return { escaped, hook: Agent.onFailure((failure) => Effect.sync(() => escaped.push(failure)).pipe(Effect.asVoid)) }
}

it.run("the failure listener gets a failure once, after every recovery, with transcript and usage [A603]", (run) =>
  Effect.gen(function* () {
    const { escaped, hook } = watching()
    const { tool } = scripted("fetch", Effect.fail(busy("1")), Effect.fail(busy("2")))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }) }))).pipe(hook)
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert(error instanceof ToolError.ToolExecutionError)
    assert.strictEqual(escaped.length, 1)
    const [failure] = escaped
    assert.strictEqual(failure?.error, error)
    assert.deepInclude(failure, {
      code: "KINTSUGI-TOOL-EXECUTION",
      isRetryable: false,
      isDefect: false,
      agent: "worker"
    })
    assert.deepStrictEqual(failure?.transcript, error.transcript)
    assert.deepStrictEqual(failure?.usage, error.usage)
    // one run has failed, in one way
    assert.notProperty(failure, "reasons")
    assert.match(settlements(failure?.transcript ?? [])[0] ?? "", /^told: ERROR: /)
  })
)

it.run("the failure listener gets a user's own failure as that very object, and a defect as a defect [A603]", (run) =>
  Effect.gen(function* () {
    const own = gone("away")
    const bug = new Error("bug")
    for (const [step, expected] of [
      [Effect.fail(own), { error: own, code: "Gone", isDefect: false }],
      [Effect.die(bug), { error: bug, code: "UNKNOWN", isDefect: true }]
    ] as const) {
      const { escaped, hook } = watching()
      const { tool } = scripted("fetch", step)
      const model = yield* ScriptedModel.make(batch("fetch"))
      yield* Effect.exit(run(agentWith(tool).pipe(hook), "go").pipe(Effect.provide(model.layer)))
      assert.strictEqual(escaped.length, 1)
      assert.deepInclude(escaped[0], expected)
      assert.strictEqual(escaped[0]?.error, expected.error)
    }
  })
)

it.run("the failure listener gets no success, no recovery, no interruption and no fixer's failure [A603]", (run) =>
  Effect.gen(function* () {
    const { escaped, hook } = watching()
    const failing = scripted("fetch", Effect.fail(busy()))
    const succeeding = yield* callingOnce("fetch")
    const telling = agentWith(failing.tool.pipe(Tool.onError({ Busy: Recovery.tell() }))).pipe(hook)
    yield* run(telling, "go").pipe(Effect.provide(succeeding.layer))
    const hopeless = fixer(Effect.fail(gone()))
    const mended = scripted("fetch", Effect.fail(busy()))
    const fixing = Recovery.ladder(Recovery.fix(hopeless.agent), Recovery.tell())
    const repairing = yield* callingOnce("fetch")
    yield* run(agentWith(mended.tool.pipe(Tool.onError({ Busy: fixing }))).pipe(hook), "go").pipe(
      Effect.provide(repairing.layer)
    )
    const slow = scripted("fetch", Effect.as(Effect.sleep("1 hour"), "late"))
    const waiting = yield* ScriptedModel.make(batch("fetch"))
    yield* interruptedAt(1000, run(agentWith(slow.tool).pipe(hook), "go").pipe(Effect.provide(waiting.layer)))
    assert.deepStrictEqual(escaped, [])
  })
)

it.run("cannot change how the run ends; its own failure is logged with the run's labels [A603]", (run) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => {
      lines.push(String(message))
    })
    const own = gone("away")
    const { tool } = scripted("fetch", Effect.fail(own))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool).pipe(Agent.onFailure(() => Effect.die(new Error("hook"))))
    const error = yield* Effect.flip(
      run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(Logger.layer([logger])))
    )
    assert.strictEqual(error, own)
    assert.isTrue(lines.some((line) => line.includes("A listener failed on 'run-failed' of agent 'worker'")))
  })
)

it.run("a tool may flag its own value as an error text: it counts as a success all the same [K20]", (run) =>
  Effect.gen(function* () {
    const search = Tool.make("search", {
      description: "Searches.",
      parameters: Schema.Struct({}),
      success: Schema.Array(Schema.String),
      isError: (hits) => hits.length === 0,
      run: () => Effect.succeed([])
    })
    const { tool } = scripted("fetch", Effect.fail(busy()), Effect.fail(busy()))
    const model = yield* ScriptedModel.make(batch("fetch"), batch("search"), batch("fetch"), done)
    const used: Array<boolean> = []
    const agent = agentWith(tool, search).pipe(
      Agent.toolDefaults(Recovery.presets.tellThenToolsOff({ retryAttempts: 1 })),
      Agent.onToolUse((_name, _args, { isError }) => Effect.sync(() => used.push(isError)).pipe(Effect.asVoid))
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const last = model.requests.at(-1)
    assert.deepStrictEqual(settlements(last?.messages ?? []), ["told: busy", "told: []", "told: busy"])
    // two failing batches in a row would have switched tools off
    assert.strictEqual(last?.toolChoice, "auto")
    assert.deepStrictEqual(used, [true, true, true])
  })
)
