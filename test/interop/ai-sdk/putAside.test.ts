/** Long results of tools of the AI SDK are put aside as those of any other tool. */
import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as AiSdk from "@kintsugi/interop/AiSdk"
import { Effect } from "effect"
import { agentWith, batch, done, read } from "../../_support/dialogue.ts"

const foreign = {
  inputSchema: { _type: undefined, jsonSchema: { type: "object" as const, properties: {} } },
  execute: () => "0123456789".repeat(2)
}

it.effect("a long result of a tool of the AI SDK is put aside, unless it is cut [P1375 P1535]", () =>
  Effect.gen(function* () {
    const tool = AiSdk.tool("list", foreign, { putAside: Tool.putAside({ above: 10 }) })
    const model = yield* ScriptedModel.make(batch("list"), done)
    yield* agentWith(tool)("go").pipe(Effect.provide(model.layer))
    assert.match(read(model)[0] ?? "", /^result: 0123456789\n\n\[Characters 0 to 10 of 20\. The result is put aside/)
    assert.throws(
      () => AiSdk.tool("list", foreign, { putAside: Tool.putAside({ above: 10 }), maxResultChars: 5 }),
      /cut by maxResultChars, or put aside by putAside, and not both/
    )
  })
)
