import { assert, it } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { program } from "@kintsugi/examples/16-resilience"
import { Effect } from "effect"

it.effect("16-resilience: what one agent found out another one knows, and the model is not called", () =>
  Effect.gen(function* () {
    const sick = ScriptedModel.fails(LlmError.ModelOverloadedError.make({ model: "scripted" }))
    // a third request would be one too many for the script
    const model = yield* ScriptedModel.make(sick, sick)
    const [first, second, third] = yield* program(model.layer)
    assert.include(first, "overloaded")
    assert.strictEqual(second, first)
    assert.include(third, "the circuit is open for another 30s, the model was not called")
    assert.strictEqual(model.requests.length, 2)
  })
)
