/** Calls of tools that are there, but not to be called just now. */
import { assert } from "@effect/vitest"
import { Recovery, RunError, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, busy, done, eventLog, read, scripted, settlements } from "../../_support/dialogue.ts"

const { make } = ScriptedModel

it.run(
  "a tool that is withheld is not run when the model calls it all the same, and is back in the turn after [P701]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = scripted(
        "fetch",
        ...["1", "2", "3", "4"].map((n) => Effect.fail(busy(`no host ${n}`))),
        Effect.succeed("found")
      )
      const telling = tool.pipe(Tool.onError({ Busy: Recovery.tell((error) => error.message) }))
      const model = yield* make(...Array.from({ length: 6 }, () => batch("fetch")), done)
      yield* run(agentWith(telling), "go").pipe(Effect.provide(model.layer))
      assert.strictEqual(runs.length, 5)
      assert.deepStrictEqual(
        read(model).map((line) => line.split(":")[0]),
        ["told", "told", "told", "told", "denied", "result"]
      )
      assert.match(read(model)[4] ?? "", /'fetch' failed too often in the same way/)
      assert.deepStrictEqual(
        model.requests.map(({ tools }) => tools.length),
        [1, 1, 1, 1, 0, 1, 1]
      )
    })
)

it.run("a model that calls tools nevertheless is denied for one more turn, then the run ends [K12]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch", Effect.fail(busy()))
    const off = tool.pipe(Tool.onError({ Busy: Recovery.tell(() => "off", { then: "tools-off" }) }))
    const model = yield* make(batch("fetch"), batch("fetch", "other"), batch("fetch"))
    const log = eventLog()
    const agent = agentWith(off).pipe(log.listen)
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert(error instanceof RunError.BudgetExceededError)
    assert.deepInclude(error, { reason: "toolsOff", limit: 1, spent: 2 })
    const text = "No tool can be called any more. Answer in words."
    assert.deepStrictEqual(
      log.of("tool-denied").map(({ callId, settlement, tool, turn }) => ({ turn, callId, tool, settlement })),
      [
        { turn: 2, callId: "c1", tool: "fetch", settlement: { kind: "denied", text } },
        { turn: 2, callId: "c2", tool: "other", settlement: { kind: "denied", text } },
        { turn: 3, callId: "c1", tool: "fetch", settlement: { kind: "denied", text } }
      ]
    )
    assert.deepStrictEqual(settlements(error.transcript), [
      "told: off",
      "denied: No tool can be called any more. Answer in words.",
      "denied: No tool can be called any more. Answer in words.",
      "denied: No tool can be called any more. Answer in words."
    ])
    assert.strictEqual(runs.length, 1)
  })
)
