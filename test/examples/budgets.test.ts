import { assert, it } from "@effect/vitest"
import type { LlmError, Model, RunError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Reader from "@kintsugi/examples/11-budgets"
import { Effect, Layer } from "effect"
import { sameType } from "../types/_support/Identity.ts"

const { call, calls, make, reply, replies, text } = ScriptedModel

/** What comes of it, and which topics were looked up. */
const read = Effect.fnUntraced(function* (...steps: ReadonlyArray<ReturnType<typeof text>>) {
  const topics: Array<string> = []
  const model = yield* make(...steps)
  const library = Layer.succeed(Reader.Library, {
    look: (topic) => Effect.sync(() => `${topic} ${topics.push(topic)}`)
  })
  return { ...(yield* Effect.provide(Reader.program, Layer.merge(model.layer, library))), topics }
})

const looking = (topic: string) => calls(call("look", { topic }))

/** By the price of `*`. */
const perReply = (10 * 5 + 5 * 25) / 1_000_000

it.effect("11-budgets: two turns are not enough, and there is a third one", () =>
  Effect.gen(function* () {
    type Read = { answer: string; costs: Map<string, number> }
    type Failure = LlmError.LlmError | RunError.UnknownPriceError
    sameType<Effect.Effect<Read, Failure, Model.Model | Reader.Library>>()(Reader.program)
    const { answer, costs, topics } = yield* read(looking("bridge"), looking("builder"), text("Peter Parler."))
    assert.strictEqual(answer, "Peter Parler.")
    assert.deepStrictEqual(topics, ["bridge", "builder"])
    assert.deepStrictEqual([...costs.keys()], ["scripted"])
    assert.closeTo(costs.get("scripted") ?? 0, 3 * perReply, 1e-12)
  })
)

it.effect("11-budgets: there is no fourth turn, and the costs are reported all the same", () =>
  Effect.gen(function* () {
    const { answer, costs } = yield* read(looking("bridge"), looking("builder"), looking("king"))
    assert.strictEqual(answer, "stopped by maxTurns, 3")
    assert.closeTo(costs.get("scripted") ?? 0, 3 * perReply, 1e-12)
  })
)

it.effect("11-budgets: a run that costs too much is stopped", () =>
  Effect.gen(function* () {
    const dear = reply({ content: [call("look", { topic: "bridge" })] })
    const { answer, costs, topics } = yield* read(
      replies({ ...dear, usage: { ...dear.usage, inputTokens: 100_000, outputTokens: 4000 } })
    )
    assert.strictEqual(answer, "stopped by maxCost, 0.5")
    assert.closeTo(costs.get("scripted") ?? 0, 0.6, 1e-12)
    assert.deepStrictEqual(topics, [])
  })
)
