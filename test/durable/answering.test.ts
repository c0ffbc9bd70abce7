/** A durable run that answers at its limit waits for nothing more. */
import { assert, it } from "@effect/vitest"
import { Agent, Budget, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Layer, Option, Schema } from "effect"
import { done, scripted, settlements } from "../_support/dialogue.ts"
import { paying } from "../_support/suspension.ts"
import { deferring } from "../core/tool/_support/deferring.ts"
import { process, watched } from "./_support/engines.ts"
import { quiet } from "./_support/waits.ts"

const { call, calls } = ScriptedModel

// Finds out nothing of its own: the subject is what core withdraws before its answer, here under the engine and its replays
it.effect("approvals and deferred calls of a reply that passes its limit are withdrawn before the answer [P1594]", () =>
  Effect.gen(function* () {
    for (const isForgetful of [false, true]) {
      const { runs, tool } = paying()
      const order = deferring()
      const agent = Agent.make("worker", {
        tools: [tool, order.tool, scripted("look").tool],
        budget: { maxToolCalls: 2, maxDuration: "9 days" }
      }).pipe(
        Agent.toolDefaults({ orElse: Recovery.tell() }),
        Agent.onBudgetExceeded(() => Budget.answer)
      )
      const read: Array<string> = []
      const model = ScriptedModel.answering(({ messages }) => {
        if (messages.length === 1) return calls(call("pay", { cents: 1 }), call("order", {}), call("look", {}))
        read.push(...settlements(messages))
        return done
      })
      const engine = yield* watched(isForgetful)
      const durable = Durable.workflow(agent, { name: "answers", input: Schema.String, output: Schema.String })
      const on = Effect.provideContext(yield* Layer.build(engine.layer))
      yield* process(durable.layer.pipe(Layer.provide(model), Layer.provide(engine.layer)))
      const executionId = yield* Durable.start(durable, { id: "one", input: "go" }).pipe(on)
      yield* quiet
      const over = Option.getOrUndefined(yield* Durable.poll(durable, executionId).pipe(on))
      assert.deepStrictEqual(over?._tag === "Complete" ? over.exit : over, Exit.succeed("done"))
      assert.deepStrictEqual([runs, order.cancelled], [[], [1]])
      assert.deepStrictEqual(read.slice(0, 3), [
        "interrupted: The call was not run: it was still waiting for approval.",
        "interrupted: The call was interrupted before it ended.",
        "interrupted: The call was not run: the run stopped before it."
      ])
    }
  })
)
