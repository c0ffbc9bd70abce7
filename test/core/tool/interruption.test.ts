import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  callingOnce,
  eventLog,
  interruptedAt,
  isTerminal,
  lastTranscript,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"

it.run("interruption in a tool: its finalizer runs once, no row, no retry; the call is settled [A111 P401]", (run) =>
  Effect.gen(function* () {
    const ended: Array<string> = []
    const { runs, tool } = scripted(
      "slow",
      Effect.ensuring(
        Effect.as(Effect.sleep("1 minute"), "late"),
        Effect.sync(() => ended.push("slow"))
      )
    )
    const quick = scripted("quick", Effect.succeed("seen"))
    const log = eventLog()
    const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.retry({ retries: 3 }) })), quick.tool)
    const model = yield* ScriptedModel.make(batch("slow", "quick"))
    const exit = yield* interruptedAt(500, run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    assert.strictEqual(runs.length, 1)
    assert.deepStrictEqual(ended, ["slow"])
    assert.deepStrictEqual(log.of("verdict"), [])
    const terminal = log.all.filter(isTerminal)
    assert.deepStrictEqual(
      terminal.map(({ at, type }) => [type, at]),
      [["run-interrupted", 500]]
    )
    assert.deepStrictEqual(settlements(lastTranscript(terminal[0])), [
      "interrupted: The call was interrupted before it ended.",
      "result: seen"
    ])
  })
)

it.run("interruption in the wait before a retry: nothing runs later [A111]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch", Effect.fail(busy()))
    const log = eventLog()
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(
      tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 3, initialBackoff: "10 seconds" }) }))
    )
    const exit = yield* interruptedAt(9999, run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    assert.strictEqual(runs.length, 1)
    assert.deepStrictEqual(settlements(lastTranscript(log.end())), [
      "interrupted: The call was interrupted before it ended."
    ])
  })
)

it.run("interruption in a fixer, and in a handler, starts nothing else [A111]", (run) =>
  Effect.gen(function* () {
    for (const where of ["fixer", "handler"] as const) {
      const ended: Array<string> = []
      const stuck = Effect.ensuring(
        Effect.as(Effect.sleep("1 hour"), "{}"),
        Effect.sync(() => ended.push(where))
      )
      const { runs, tool } = scripted("fetch", Effect.fail(busy()))
      const verdict =
        where === "fixer"
          ? Recovery.fix(
              Agent.deterministic("stuck", () => stuck),
              { retries: 3 }
            )
          : Recovery.respondWith(() => stuck)
      const log = eventLog()
      const model = yield* ScriptedModel.make(batch("fetch"))
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.ladder(verdict, Recovery.tell()) })))
      const exit = yield* interruptedAt(1000, run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
      assert.strictEqual(runs.length, 1)
      assert.deepStrictEqual(ended, [where])
      assert.deepStrictEqual(log.of("fix-failed"), [])
      assert.strictEqual(log.end()?.type, "run-interrupted")
      assert.strictEqual(log.all.filter(isTerminal).length, where === "fixer" ? 2 : 1)
    }
  })
)

it.run("a tool that interrupts itself interrupts the run [A111]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("quit", Effect.interrupt)
    const log = eventLog()
    const model = yield* ScriptedModel.make(batch("quit"))
    const exit = yield* Effect.exit(
      run(agentWith(tool.pipe(Tool.onError({ orElse: Recovery.tell() }))).pipe(log.listen), "go").pipe(
        Effect.provide(model.layer)
      )
    )
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    assert.strictEqual(log.end()?.type, "run-interrupted")
  })
)

it.run("a tool whose own parts run concurrently fails with its failure, though parts were interrupted [A111]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted(
      "fan",
      Effect.as(Effect.all([Effect.never, Effect.fail(busy("one part"))], { concurrency: "unbounded" }), "never")
    )
    const model = yield* callingOnce("fan")
    yield* run(agentWith(tool.pipe(Tool.onError({ Busy: Recovery.tell((error) => error.message) }))), "go").pipe(
      Effect.provide(model.layer)
    )
    assert.deepStrictEqual(read(model), ["told: one part"])
  })
)
