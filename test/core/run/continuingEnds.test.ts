/** Deferred calls whose run goes on: wherever their run is interrupted, nothing of them is left, and nothing is done twice. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, type Message, Recovery, Tool } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { batch, calm, done, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { only } from "../../_support/suspension.ts"
import { deferring } from "../tool/_support/deferring.ts"

const { make, text } = ScriptedModel

const kindsOf = (transcript: Message.Transcript) =>
  transcript.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) => (part.type === "settled-call" ? [part.settlement.kind] : []))
      : []
  )

it.run(
  "wherever a run is interrupted, its work is read or cancelled, once, and each call is settled [P1524 P1526 P401]",
  (run) =>
    Effect.gen(function* () {
      /** A run of which one result comes after 30 s, and another never; it is interrupted at its n-th event. */
      const played = (at: number) =>
        Effect.gen(function* () {
          const { begun, cancelled, tokenOf, tool } = deferring({ wait: "continue", deadline: "1 hour" })
          const minute = Effect.as(Effect.sleep("1 minute"), "fine")
          const slow = scripted("slow", minute, minute)
          const events: Array<AgentEvent.AgentEvent> = []
          let stop: Effect.Effect<unknown> = Effect.void
          const observer = (event: AgentEvent.AgentEvent) => {
            if (events.push(event) === at) Effect.runFork(stop)
          }
          const agent = Agent.make("worker", { tools: [tool, slow.tool], budget: { maxDuration: "1 day" } }).pipe(
            Agent.toolDefaults({ orElse: Recovery.tell() })
          )
          // a scope that stays open: a script that is not played to its end is no mistake here
          const scripting = make(batch("order", "order"), batch("slow"), text("so far"), text("more"), done)
          const model = yield* Scope.provide(scripting, yield* Scope.make())
          const fiber = yield* Effect.forkChild(
            run(agent, "go").pipe(
              Effect.provide(model.layer),
              Effect.provideService(RunContext.Observers, [() => observer])
            )
          )
          stop = Fiber.interrupt(fiber)
          yield* calm
          yield* TestClock.adjust("30 seconds")
          const receipt = yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 }))
          yield* TestClock.adjust("2 hours")
          yield* Fiber.await(fiber)
          return { begun, cancelled, events, receipt, tokenOf }
        })
      let interruptions = 0
      const kinds = ["deferred", "interrupted", "result"]
      for (let at = 1; at < 60; at++) {
        const { begun, cancelled, events, receipt, tokenOf } = yield* played(at)
        const results = only(events, "tool-result")
        const read = results.filter(({ settlement }) => settlement.kind === "result").length
        // what was settled and not read has ended: there is nothing to cancel
        const isUnread = receipt._tag === "Counted" && read === 0
        assert.lengthOf(cancelled, begun.length - read - (isUnread ? 1 : 0), `event ${at}`)
        assert.lengthOf(new Set(cancelled), cancelled.length)
        for (const index of begun.keys()) {
          const late = yield* Tool.settle(tokenOf(index), Exit.succeed({ at: 1 }))
          assert.strictEqual(late._tag, "NotCounted", `event ${at}`)
        }
        const end = events.at(-1)
        assert(end !== undefined && AgentEvent.isTerminal(end))
        if (end.type === "run-completed") break
        interruptions++
        assert(end.type === "run-interrupted")
        assert.sameMembers([...new Set([...kindsOf(end.transcript), ...kinds])], [...kinds])
        assert.deepStrictEqual(AgentEvent.transcriptOf(events), end.transcript)
      }
      assert.isAbove(interruptions, 20)
    })
)
