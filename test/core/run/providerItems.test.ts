/** What a provider does on its own side is kept, goes back, and is no answer while it lasts. */
import { assert } from "@effect/vitest"
import { Agent, type Budget, Message, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"
import { done } from "../../_support/dialogue.ts"

const search: Message.ProviderItem = {
  type: "provider-item",
  kind: "web_search",
  opaque: { provider: "scripted", data: { id: "srv_1", query: "kintsugi" } }
}

const half: Message.Reply = {
  content: [Message.text("Let me look. "), search],
  finish: "paused",
  usage: { inputTokens: 5, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
}

const reader = (budget: Budget.Limits) =>
  Agent.make("reader", { budget, skills: [Skill.make("read", { description: "Reads.", tools: [] })] })

const agent = reader({ maxTurns: 3 })

it.run("a reply that its provider paused goes back to it as it is, and the run goes on", (run) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(ScriptedModel.replies(half), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    const said = model.requests[1]?.messages.at(-1)
    assert.deepStrictEqual(said, { role: "assistant", content: [Message.text("Let me look. "), search], paused: true })
  })
)

it.run("a transcript that ends in a paused reply is gone on with, not taken for an answer", (run) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(done)
    const transcript = [Message.user("go"), Message.settle(half, [])]
    const resumed = run(Agent.resume(agent), { from: transcript })
    assert.strictEqual(yield* resumed.pipe(Effect.provide(model.layer)), "done")
  })
)

it.run(
  "the work of a provider is priced by kind, and the cost that the provider reports wins over a price [P703 A909 P1382]",
  (run) =>
    Effect.gen(function* () {
      const price = { usdPerMillionTokens: { input: 1_000_000, output: 0 }, usdPerItem: { web_search: 0.25 } }
      for (const [priced, prices, cost] of [
        [{ ...half, cost: 0.5 }, undefined, 0.5],
        [{ ...half, cost: 0.5 }, { "*": price }, 0.5],
        [half, { "*": price }, 5 + 0.25]
      ] as const) {
        const model = yield* ScriptedModel.make(ScriptedModel.replies(priced), done)
        const costs: Array<number | undefined> = []
        const heard = reader({ maxTurns: 3, ...(prices === undefined ? {} : { prices }) }).pipe(
          Agent.onEvent((event) =>
            Effect.sync(() => {
              if (event.type === "model-end") costs.push(event.entry.cost)
            })
          )
        )
        yield* run(heard, "go").pipe(Effect.provide(model.layer))
        assert.strictEqual(costs[0], cost)
      }
    })
)

it.run("a kind that is named as a member of every object has no price [P1382]", (run) =>
  Effect.gen(function* () {
    const price = { usdPerMillionTokens: { input: 1_000_000, output: 0 }, usdPerItem: { web_search: 0.25 } }
    for (const kind of ["constructor", "toString", "hasOwnProperty", "__proto__"]) {
      const odd = { ...half, content: [Message.text("Let me look. "), { ...search, kind }] }
      const model = yield* ScriptedModel.make(ScriptedModel.replies(odd), done)
      const costs: Array<number | undefined> = []
      const heard = reader({ maxTurns: 3, maxCost: 100, prices: { "*": price } }).pipe(
        Agent.onEvent((event) =>
          Effect.sync(() => {
            if (event.type === "model-end") costs.push(event.entry.cost)
          })
        )
      )
      yield* run(heard, "go").pipe(Effect.provide(model.layer))
      assert.strictEqual(costs[0], 5)
    }
  })
)
