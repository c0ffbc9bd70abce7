/** Calls of tools on demand in UI messages. */
import { assert } from "@effect/vitest"
import { Agent, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { Effect } from "effect"
import { done, eventLog, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { call, calls, make } = ScriptedModel

it.run("a call of a tool on demand is a part of that tool, with its arguments [P1385]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { tool } = scripted("pay", Effect.succeed("paid"))
    const agent = Agent.make("desk", { tools: Tool.onDemand([tool]) }).pipe(log.listen)
    const model = yield* make(
      calls(call("call_tool", { name: "pay", arguments: { n: 5 } }, "c1"), call("call_tool", { arguments: {} }, "c2")),
      done
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const chunks = UiMessageStream.fromEvents(log.all)
    assert.deepStrictEqual(
      chunks.flatMap((chunk) => (chunk.type === "tool-input-available" ? [[chunk.toolName, chunk.input]] : [])),
      [
        ["pay", { n: 5 }],
        // it names no tool
        ["call_tool", { arguments: {} }]
      ]
    )
  })
)
