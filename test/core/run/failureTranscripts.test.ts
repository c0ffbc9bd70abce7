/** The transcript and the usage of a run that fails. */
import { assert } from "@effect/vitest"
import { Agent, type Budget, Recovery, RunError, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  batch,
  busy,
  eventLog,
  failureOf,
  lastTranscript,
  overADay,
  scripted,
  settlements
} from "../../_support/dialogue.ts"

const { make } = ScriptedModel

/** A tool that fails whenever it is called, in other words each time. */
const looking = () => scripted("look", ...["a", "b", "c"].map((words) => Effect.fail(busy(words)))).tool

/** How runs end by our own errors: two replies were heard, the second of which ended it. */
const ends: ReadonlyArray<
  readonly [
    title: string,
    kind: "BudgetExceededError" | "ToolExecutionError",
    tools: () => ReadonlyArray<Tool.AnyTool>,
    budget: Budget.Limits,
    second: ScriptedModel.ScriptedStep
  ]
> = [
  ["maxTurns", "BudgetExceededError", () => [telling(looking())], { maxTurns: 2 }, batch("look")],
  ["maxToolCalls", "BudgetExceededError", () => [telling(looking())], { maxToolCalls: 1 }, batch("look")],
  [
    "repeatedFailure",
    "BudgetExceededError",
    () => [telling(scripted("look", Effect.fail(busy()), Effect.fail(busy())).tool)],
    { repeatedFailures: { stop: 2 } },
    batch("look")
  ],
  [
    "a retry that is used up",
    "ToolExecutionError",
    () => [
      scripted("look", Effect.succeed("seen"), Effect.fail(busy()), Effect.fail(busy())).tool.pipe(
        Tool.onError({ Busy: Recovery.retry({ retries: 1 }) })
      )
    ],
    {},
    batch("look")
  ],
  [
    "raise",
    "ToolExecutionError",
    () => [
      scripted("look", Effect.succeed("seen"), Effect.fail(busy())).tool.pipe(Tool.onError({ Busy: Recovery.raise }))
    ],
    {},
    batch("look")
  ],
  [
    "throwException",
    "ToolExecutionError",
    () => [telling(looking()), Tool.throwException],
    {},
    batch("look", "throwException")
  ],
  ["callTimeout", "ToolExecutionError", () => [slow()], {}, batch("look")]
]

const telling = (tool: ReturnType<typeof looking>) => tool.pipe(Tool.onError({ Busy: Recovery.tell() }))

const slow = () => {
  let runs = 0
  return Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    callTimeout: "1 minute",
    run: () => (runs++ === 0 ? Effect.succeed("seen") : Effect.as(Effect.never, "seen"))
  })
}

for (const [title, kind, tools, budget, second] of ends) {
  it.run(`${kind} carries transcript and usage: ${title} [P406]`, (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const skills = [Skill.make("look", { description: "Looks.", tools: tools() })] as const
      const agent = Agent.make("worker", { skills, budget, prompt: "Look." }).pipe(log.listen)
      const model = yield* make(batch("look"), second)
      // the failures of any tools are not in the type
      const running = run(agent, "go").pipe(Effect.provide(model.layer)) as Effect.Effect<string, unknown>
      const error = yield* failureOf(yield* overADay(running))
      if (!(error instanceof RunError.BudgetExceededError || error instanceof ToolError.ToolExecutionError)) {
        return assert.fail(`ended with ${String(error)}`)
      }
      assert.strictEqual(error._tag, kind)
      assert.deepInclude(error.usage, { inputTokens: 20, outputTokens: 10 })
      assert.deepStrictEqual(
        error.transcript?.map(({ role }) => role),
        ["system", "user", "assistant", "assistant"]
      )
      assert.strictEqual(settlements(error.transcript ?? []).length, title === "throwException" ? 3 : 2)
      const end = log.end()
      assert(end?.type === "run-failed")
      assert.strictEqual(end.error, error)
      assert.deepStrictEqual(end.usage, error.usage)
      assert.deepStrictEqual(lastTranscript(end), error.transcript)
    })
  )
}

it.run("a user's own error leaves as itself; the failed event carries transcript and usage [P406]", (run) =>
  Effect.gen(function* () {
    const failure = busy("no more")
    const log = eventLog()
    const { tool } = scripted("look", Effect.succeed("seen"), Effect.fail(failure))
    const skills = [Skill.make("look", { description: "Looks.", tools: [tool] })] as const
    const model = yield* make(batch("look"), batch("look", "look"))
    const agent = Agent.make("worker", { skills, budget: { maxToolCalls: 2 } }).pipe(log.listen)
    assert.strictEqual(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), failure)
    assert.notProperty(failure, "transcript")
    const end = log.end()
    assert(end?.type === "run-failed")
    assert.strictEqual(end.error, failure)
    assert.deepInclude(end.usage, { inputTokens: 20, outputTokens: 10 })
    assert.deepStrictEqual(settlements(end.transcript), [
      "result: seen",
      "told: ERROR: no more",
      "interrupted: The call was not run: the run stopped before it."
    ])
  })
)
