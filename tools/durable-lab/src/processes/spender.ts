/**
 * A process with a share of one budget: `spender.ts url used`. Each call reserves 100 tokens of 3,000 and uses so many. It waits for a line,
 * so that several begin together, calls until it is refused, and says as JSON how often it was answered. With `hang` for the usage it stays
 * in its first call.
 */
import { once } from "node:events"
import { Model, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable, SharedBudget } from "@kintsugi/durable"
import { Effect, Layer, Redacted } from "effect"

const [url = "", used = ""] = process.argv.slice(2)

const say = (line: object) => Effect.sync(() => process.stdout.write(`${JSON.stringify(line)}\n`))

const model = ScriptedModel.answering(() =>
  used === "hang"
    ? ScriptedModel.answers(() => Effect.andThen(say({ hangs: true }), Effect.never))
    : ScriptedModel.replies(ScriptedModel.reply({ usage: Usage.make({ inputTokens: Number(used) }) }))
)

const spend = Effect.gen(function* () {
  const { generate } = yield* Model.Model
  yield* say({ ready: true })
  yield* Effect.promise(() => once(process.stdin, "data"))
  let answered = 0
  const call = Effect.tap(generate({ messages: [], tools: [], toolChoice: "auto" }), () =>
    Effect.sync(() => answered++)
  )
  const refusal = yield* Effect.flip(Effect.forever(call))
  yield* say({ answered, refusal: refusal._tag })
  process.stdin.destroy()
})

const database = Durable.layerPostgres({ url: Redacted.make(url), runner: "client" })
const shared = SharedBudget.layer(model, { key: "all", tokens: 3000, reserve: 100 })
await Effect.runPromise(Effect.provide(spend, Layer.provide(shared, Layer.provide(SharedBudget.layerSql, database))))
