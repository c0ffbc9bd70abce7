/** A call that has ended when a message of the user interrupts the calls of its reply. */
import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { batch, done, scripted } from "../../_support/dialogue.ts"
import { accounted, eventsOf, lines, slowTool, started } from "./_support/saying.ts"

it.effect(
  "a message that comes with the end of a call leaves the call as it is, and interrupts the others [P1583]",
  () =>
    Effect.gen(function* () {
      for (const names of [["slow", "quick"], ["quick"]] as const) {
        const quick = scripted("quick", Effect.as(Effect.yieldNow, "at once"))
        const slow = slowTool("slow")
        const model = yield* ScriptedModel.make(batch(...names), done)
        let say = Effect.void as Effect.Effect<unknown, unknown>
        const observer = (event: AgentEvent.AgentEvent): void => {
          if (event.type === "tool-end" && event.tool === "quick") Effect.runFork(say)
        }
        const run = yield* started(Agent.make("worker", { tools: [quick.tool, slow.tool] }).start("go"), model).pipe(
          Effect.provideService(RunContext.Observers, [() => observer])
        )
        say = run.say("stop", { interrupt: "tools" })
        yield* run.outcome
        const kinds = ["slow: interrupted", "quick: result"].slice(-names.length)
        assert.deepStrictEqual(lines(yield* run.transcript), [
          "user: go",
          `model: ${kinds.join(", ")}`,
          "user: stop",
          "model: done"
        ])
        const ends = (yield* eventsOf(run)).flatMap((event) => (event.type === "tool-end" ? [event.tool] : []))
        assert.sameMembers(ends, [...names])
        yield* accounted(run)
      }
    })
)
