import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  type Busy,
  eventLog,
  failureOf,
  isTerminal,
  lastTranscript,
  overADay,
  play,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"

it.run(
  "without a row a failure of run escapes as itself: same reference, nothing told, batch settled [A107 A507]",
  (run) =>
    Effect.gen(function* () {
      const failure = busy("no line")
      const { tool } = scripted("fetch", Effect.fail(failure))
      const other = scripted("look", Effect.succeed("seen"))
      const log = eventLog()
      const model = yield* ScriptedModel.make(batch("fetch", "look"))
      const error = yield* Effect.flip(
        run(agentWith(tool, other.tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      )
      assert.strictEqual(error, failure)
      assert.deepStrictEqual(settlements(lastTranscript(log.end())), [
        "told: ERROR: no line",
        "interrupted: The call was not run: the run stopped before it."
      ])
      assert.strictEqual(model.requests.length, 1)
    })
)

it.run("the same object reaches the row, and the cause and attempts of ToolExecutionError [A107]", (run) =>
  Effect.gen(function* () {
    const first = busy("first")
    const second = busy("second")
    const seen: Array<unknown> = []
    const { tool } = scripted("fetch", Effect.fail(first), Effect.fail(second))
    const guarded = tool.pipe(
      Tool.onError({
        Busy: Recovery.when((error) => {
          seen.push(error)
          return Recovery.retry({ retries: 1 })
        })
      })
    )
    const model = yield* ScriptedModel.make(batch("fetch"))
    const error = yield* Effect.flip(run(agentWith(guarded), "go").pipe(Effect.provide(model.layer)))
    if (!(error instanceof ToolError.ToolExecutionError)) return assert.fail(`not expected: ${error.message}`)
    assert.strictEqual(seen[0], first)
    assert.strictEqual(seen[1], second)
    assert.strictEqual(error.cause, second)
    assert.strictEqual(error.attempts[0], first)
    assert.strictEqual(error.attempts[1], second)
    assert.strictEqual(error.attempts.length, 2)
    return undefined
  })
)

it.run("a row for ExecutionError reads tool, call, arguments, kind and category around the original [A108]", (run) =>
  Effect.gen(function* () {
    const failure = { _tag: "Slow", category: "network", message: "too slow" } as const
    const { tool } = play("fetch", { kind: "web-service" }, [Effect.fail(failure)])
    const seen: Array<ToolError.ExecutionError> = []
    const guarded = tool.pipe(
      Tool.onError({
        ExecutionError: Recovery.tell((error) => {
          seen.push(error)
          return error.message
        })
      })
    )
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("fetch", '{"n":7}', "c9")),
      ScriptedModel.text("done")
    )
    yield* run(agentWith(guarded), "go").pipe(Effect.provide(model.layer))
    const [error] = seen
    assert.instanceOf(error, ToolError.ExecutionError)
    assert.strictEqual(error?.cause, failure)
    assert.deepInclude(error, {
      tool: "fetch",
      callId: "c9",
      args: { n: 7 },
      kind: "web-service",
      category: "network",
      message: "too slow",
      isRetryable: true
    })
    assert.deepStrictEqual(read(model), ["told: too slow"])
  })
)

it.run("rethrow in it gives back the original, not the wrapper [A108]", (run) =>
  Effect.gen(function* () {
    const failure = busy()
    const { tool } = scripted("fetch", Effect.fail(failure))
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool.pipe(Tool.onError({ ExecutionError: Recovery.rethrow })))
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual(error, failure)
  })
)

it.run(
  "a defect is offered to no row; siblings are interrupted, every call is settled, the run dies [A110 P401]",
  (run) =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const ended: Array<string> = []
      const bug = new Error("bug")
      const quick = scripted("quick", Effect.succeed("seen"))
      const broken = scripted("broken", Effect.andThen(Effect.sleep("1 second"), Effect.die(bug)))
      const slow = scripted(
        "slow",
        Effect.onInterrupt(Effect.as(Effect.sleep("1 hour"), "late"), () => Effect.sync(() => ended.push("slow")))
      )
      const log = eventLog()
      const agent = agentWith(quick.tool, broken.tool, slow.tool).pipe(
        Agent.toolDefaults({
          orElse: Recovery.when((error) => {
            asked.push(error)
            return Recovery.tell()
          })
        }),
        log.listen
      )
      const model = yield* ScriptedModel.make(batch("quick", "broken", "slow"))
      const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      if (!Exit.isFailure(exit)) return assert.fail("the run must die")
      assert.strictEqual(Cause.squash(exit.cause), bug)
      assert.isFalse(Cause.hasInterrupts(exit.cause))
      assert.deepStrictEqual(asked, [])
      assert.deepStrictEqual(ended, ["slow"])
      const end = log.end()
      assert.strictEqual(end?.type, "run-failed")
      assert.strictEqual(end?.at, 1000)
      assert.strictEqual(log.all.filter(isTerminal).length, 1)
      assert.deepStrictEqual(settlements(lastTranscript(end)), [
        "result: seen",
        "interrupted: The call was interrupted before it ended.",
        "interrupted: The call was interrupted before it ended."
      ])
      return undefined
    })
)

it.run("a throw out of run is a defect too [A110]", (run) =>
  Effect.gen(function* () {
    const bug = new Error("thrown")
    const throwing = Tool.make("throwing", {
      description: "Throws.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: (): Effect.Effect<string, Busy> => {
        throw bug
      }
    }).pipe(Tool.onError({ orElse: Recovery.tell() }))
    const log = eventLog()
    const model = yield* ScriptedModel.make(batch("throwing"))
    const exit = yield* Effect.exit(run(agentWith(throwing).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === bug)
    assert.deepInclude(log.end(), { type: "run-failed", error: bug })
  })
)

it.run("a failure beside a defect in one cause is offered to no row [A110]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("both", Effect.failCause(Cause.combine(Cause.fail(busy()), Cause.die(new Error("bug")))))
    const model = yield* ScriptedModel.make(batch("both"))
    const exit = yield* Effect.exit(
      run(agentWith(tool.pipe(Tool.onError({ orElse: Recovery.tell() }))), "go").pipe(Effect.provide(model.layer))
    )
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
  })
)

it.run("a hard failure lets its siblings end; the first in request order is the run's failure [P605 P401]", (run) =>
  Effect.gen(function* () {
    const late = busy("late but first")
    const early = busy("early but second")
    const a = scripted("a", Effect.andThen(Effect.sleep("2 seconds"), Effect.fail(late)))
    const b = scripted("b", Effect.andThen(Effect.sleep("1 second"), Effect.fail(early)))
    const c = scripted("c", Effect.as(Effect.sleep("3 seconds"), "seen"))
    const log = eventLog()
    const model = yield* ScriptedModel.make(batch("a", "b", "c"))
    const exit = yield* overADay(
      run(agentWith(a.tool, b.tool, c.tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    )
    assert.strictEqual(yield* failureOf(exit), late)
    assert.strictEqual(log.end()?.at, 3000)
    assert.deepStrictEqual(settlements(lastTranscript(log.end())), [
      "told: ERROR: late but first",
      "told: ERROR: early but second",
      "result: seen"
    ])
  })
)
