import { assert, it } from "@effect/vitest"
import type { LlmError, Model, RunError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { LoopbackServer } from "@kintsugi/providers/testing"
import * as Shop from "@kintsugi/examples/15-telemetry"
import { Effect, Layer } from "effect"
import { sameType } from "../types/_support/Identity.ts"

it.effect("15-telemetry: the collector gets the request, the run, the retried call, and its log", () =>
  Effect.gen(function* () {
    sameType<Effect.Effect<string, LlmError.LlmError | RunError.BudgetExceededError, Model.Model | Shop.Warehouse>>()(
      Shop.program
    )
    const { requests, url } = yield* LoopbackServer.make(() => Effect.succeed({ body: "{}" }))
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("stock", { item: "screws" })),
      ScriptedModel.text("There are 12.")
    )
    let counts = 0
    const warehouse = Layer.succeed(Shop.Warehouse, {
      count: () =>
        Effect.suspend(() =>
          ++counts < 3 ? Effect.fail(new Shop.Locked({ message: "a customer is in there" })) : Effect.succeed(12)
        )
    })
    const said = yield* Shop.program.pipe(
      Effect.provide(Layer.merge(model.layer, warehouse)),
      Effect.provide(Shop.observed(url))
    )
    assert.strictEqual(said, "There are 12.")
    const sent = (yield* requests).map(({ path, text }) => `${path} ${text}`).join("\n")
    for (const name of ["GET /stock", "invoke_agent clerk", "chat scripted", "execute_tool stock"]) {
      assert.include(sent, `"name":"${name}"`)
    }
    assert.strictEqual(sent.split('"name":"kintsugi.verdict"').length - 1, 2)
    assert.include(sent, "/v1/logs")
    assert.include(sent, '"stringValue":"counting"')
    // of what was said, nothing
    assert.notInclude(sent, "screws")
    assert.notInclude(sent, "a customer is in there")
  })
)

it.effect("15-telemetry: a collector that refuses everything fails no run", () =>
  Effect.gen(function* () {
    const { requests, url } = yield* LoopbackServer.make(() => Effect.succeed({ status: 400, body: "{}" }))
    const model = yield* ScriptedModel.make(ScriptedModel.text("There are 12."))
    const warehouse = Layer.succeed(Shop.Warehouse, { count: () => Effect.succeed(12) })
    const said = yield* Shop.program.pipe(
      Effect.provide(Layer.merge(model.layer, warehouse)),
      Effect.provide(Shop.observed(url))
    )
    assert.strictEqual(said, "There are 12.")
    assert.isAbove((yield* requests).length, 0)
  })
)
