/** What becomes of `reasoning` at Claude: the table decides it, with an event, and what is sent is valid. */
import { assert, describe, it } from "@effect/vitest"
import { type LlmError, Message, Model } from "@kintsugi/core"
import { Anthropic } from "@kintsugi/providers"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import { agentWith, eventLog, scripted } from "../../_support/dialogue.ts"
import { fakeNetwork, respond } from "../../_support/network.ts"
import { specOf } from "../_support/toolSpecs.ts"

const plain: Model.Request = {
  messages: [Message.user("hi")],
  tools: [specOf("search", Schema.Struct({}))],
  toolChoice: "auto"
}
const answer = { type: "message", role: "assistant", content: [{ type: "text", text: "hi" }], stop_reason: "end_turn" }

type Options = Partial<Parameters<typeof Anthropic.layer>[0]>

/** The body that is sent, the same whole and streamed, and what the event says. */
const played = Effect.fnUntraced(function* (options: Options, asked: Model.Request = plain) {
  const network = fakeNetwork(() => respond(200, answer)())
  const layer = Anthropic.layer({ model: "claude-sonnet-4-5", apiKey: Redacted.make("k"), ...options })
  const model = yield* Effect.provide(Effect.service(Model.Model), Layer.provide(layer, network.layer))
  yield* model.generate(asked)
  yield* Stream.runDrain(model.stream(asked))
  const [body, streamed] = network.sent.map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>)
  assert.deepStrictEqual(streamed, { ...body, stream: true })
  return { body: body ?? {}, changes: model.adapts?.(asked)?.changes }
})

const calling = (...before: Message.Assistant["content"]): Message.Assistant => ({
  role: "assistant",
  content: [
    ...before,
    {
      type: "settled-call",
      call: { type: "tool-call", id: "c1", name: "search", arguments: {} },
      settlement: { kind: "result", text: "rain" }
    }
  ]
})
const after = (...messages: Message.Transcript): Model.Request => ({
  ...plain,
  messages: [Message.user("hi"), ...messages]
})
const budget = { maxTokens: 5000 }
const enabled = { thinking: { type: "enabled", budget_tokens: 5000 } }

describe("thinking beside a forced call", () => {
  it.effect("is sent as asked by a model of no family, and by one that takes both [P1410]", () =>
    Effect.gen(function* () {
      const forced = { tool_choice: { type: "any" } }
      const unknown = { model: "claude-opus-6", toolChoice: "required" } as const
      for (const capabilities of [{}, { unsupported: "refuse" } as const]) {
        const { body, changes } = yield* played({ ...unknown, reasoning: budget, capabilities })
        assert.deepInclude(body, { ...enabled, ...forced })
        assert.isUndefined(changes)
      }
      const adaptive = { thinking: { type: "adaptive" }, ...forced }
      const taken = yield* played({ model: "claude-sonnet-5", reasoning: "high", toolChoice: "required" })
      assert.deepInclude(taken.body, adaptive)
      assert.isUndefined(taken.changes)
    })
  )

  it.effect("is left out with an event if the family refuses it, unless the layer knows better [P1410]", () =>
    Effect.gen(function* () {
      const asked = { reasoning: budget, toolChoice: "required" } as const
      const { body, changes } = yield* played(asked)
      assert.notProperty(body, "thinking")
      assert.deepStrictEqual(changes, [{ option: "reasoning", asked: budget }])
      const allowed = yield* played({ ...asked, capabilities: { forcedBesideBudget: true } })
      assert.deepInclude(allowed.body, enabled)
      assert.isUndefined(allowed.changes)
      const refused = yield* played({ ...asked, reasoning: "high", capabilities: { forcedBesideReasoning: false } })
      assert.notProperty(refused.body, "thinking")
    })
  )

  it.effect("is sent if it is a field of extra [P1410]", () =>
    Effect.gen(function* () {
      const extra = { thinking: { type: "enabled", budget_tokens: 5000 } }
      for (const model of ["claude-opus-6", "claude-sonnet-4-5"]) {
        const { body } = yield* played({ model, extra, toolChoice: "required" }, after(calling()))
        assert.deepInclude(body, extra, model)
      }
    })
  )
})

describe("a budget behind results of calls", () => {
  it.effect("is left out with an event if no thoughts stand before the calls [P1410]", () =>
    Effect.gen(function* () {
      const { body, changes } = yield* played({ reasoning: budget }, after(calling()))
      assert.notProperty(body, "thinking")
      assert.deepStrictEqual(changes, [{ option: "reasoning", asked: budget }])
      const thought: Message.Reasoning = {
        type: "reasoning",
        text: "hm",
        opaque: { provider: "anthropic", data: "signed" }
      }
      const own = yield* played({ reasoning: budget }, after(calling(thought)))
      assert.deepInclude(own.body, enabled)
      assert.isUndefined(own.changes)
      // these thoughts are left out, because another model wrote them
      const other = { ...thought, opaque: { provider: "anthropic", data: "signed", family: "claude-opus-5-5" } }
      const moved = yield* played({ reasoning: budget }, after(calling(other)))
      assert.notProperty(moved.body, "thinking")
      assert.deepStrictEqual(moved.changes, [{ option: "reasoning", asked: budget }])
    })
  )

  it.effect("is sent in the whole of a turn that has begun with thoughts, also behind calls without them [P1410]", () =>
    Effect.gen(function* () {
      const usage = { input_tokens: 1, output_tokens: 1 }
      const says = (content: ReadonlyArray<object>, stop_reason = "tool_use") =>
        respond(200, { type: "message", role: "assistant", model: "claude-sonnet-4-5", content, stop_reason, usage })
      const use = (id: string) => ({ type: "tool_use", id, name: "look", input: { n: 1 } })
      const network = fakeNetwork([
        says([{ type: "thinking", thinking: "hm", signature: "signed" }, use("c1")]),
        says([{ type: "text", text: "More." }, use("c2")]),
        says([use("c3")]),
        says([{ type: "text", text: "done" }], "end_turn")
      ])
      const layer = Anthropic.layer({ model: "claude-sonnet-4-5", apiKey: Redacted.make("k"), reasoning: budget })
      const log = eventLog()
      const rain = Effect.succeed("rain")
      const agent = agentWith(scripted("look", rain, rain, rain).tool).pipe(log.listen)
      assert.strictEqual(yield* Effect.provide(agent("go"), Layer.provide(layer, network.layer)), "done")
      const bodies = network.sent.map(({ body }) => JSON.parse(body))
      assert.strictEqual(bodies.length, 4)
      for (const body of bodies) assert.deepInclude(body, enabled)
      assert.strictEqual(bodies[3].messages[1].content[0].type, "thinking")
      assert.deepStrictEqual(log.of("request-adapted"), [])
    })
  )

  it.effect("is sent as asked to a model of no family, and where the layer allows it [P1410]", () =>
    Effect.gen(function* () {
      for (const options of [{ model: "claude-opus-6" }, { capabilities: { budgetAfterPlainCalls: true } }]) {
        const { body, changes } = yield* played({ ...options, reasoning: budget }, after(calling()))
        assert.deepInclude(body, enabled)
        assert.isUndefined(changes)
      }
    })
  )

  it.effect("is refused if the layer refuses, and nothing is sent [P1410]", () =>
    Effect.gen(function* () {
      const refuse = { reasoning: budget, capabilities: { unsupported: "refuse" } } as const
      const error = yield* Effect.flip(played(refuse, after(calling())) as Effect.Effect<unknown, LlmError.LlmError>)
      assert.strictEqual(error._tag, "CapabilityMismatchError")
      assert.include(error.message, 'claude-4.5 takes no reasoning {"maxTokens":5000}')
    })
  )
})

describe("a budget of thinking", () => {
  const sent = (options: Options) =>
    Effect.map(played(options), ({ body: { max_tokens, thinking }, changes }) => ({ max_tokens, thinking, changes }))
  const of = (tokens: number) => ({ type: "enabled", budget_tokens: tokens })

  it.effect("leaves room for an answer within the longest reply [P1410]", () =>
    Effect.gen(function* () {
      const changed = (asked: string | { readonly maxTokens: number }, tokens: number) => [
        { option: "reasoning", asked, sent: { maxTokens: tokens } }
      ]
      // the scenario `thinking` of `providers:live`
      assert.deepStrictEqual(yield* sent({ model: "claude-haiku-4-5", reasoning: "high", maxTokens: 16_000 }), {
        max_tokens: 16_000,
        thinking: of(8000),
        changes: changed("high", 8000)
      })
      assert.deepStrictEqual(yield* sent({ reasoning: budget, maxTokens: 5000 }), {
        max_tokens: 5000,
        thinking: of(2500),
        changes: changed(budget, 2500)
      })
      const fits = { max_tokens: 5001, thinking: of(5000), changes: undefined }
      assert.deepStrictEqual(yield* sent({ reasoning: budget, maxTokens: 5001 }), fits)
      const none = { max_tokens: 13_192, thinking: of(5000), changes: undefined }
      assert.deepStrictEqual(yield* sent({ reasoning: budget }), none)
    })
  )

  it.effect("has the least number that the model takes, and is left out where that leaves no room [P1410]", () =>
    Effect.gen(function* () {
      const few = { maxTokens: 500 }
      assert.deepStrictEqual(yield* sent({ reasoning: few }), {
        max_tokens: 9216,
        thinking: of(1024),
        changes: [{ option: "reasoning", asked: few, sent: { maxTokens: 1024 } }]
      })
      const left = { max_tokens: 1024, thinking: undefined, changes: [{ option: "reasoning", asked: few }] }
      assert.deepStrictEqual(yield* sent({ reasoning: few, maxTokens: 1024 }), left)
      assert.deepStrictEqual((yield* sent({ reasoning: few, maxTokens: 1025 })).thinking, of(1024))
    })
  )

  it.effect("may exceed the longest reply if the thinking is interleaved, unless it stands for an effort [P1410]", () =>
    Effect.gen(function* () {
      const beta = "interleaved-thinking-2025-05-14"
      for (const more of [{ betas: [beta] }, { headers: { "Anthropic-Beta": `${beta},other` } }]) {
        const asked = { ...more, model: "claude-opus-4-5", maxTokens: 3000 }
        const above = { max_tokens: 3000, thinking: of(5000), changes: undefined }
        assert.deepStrictEqual(yield* sent({ ...asked, reasoning: budget }), above)
        assert.deepStrictEqual((yield* sent({ ...asked, reasoning: "high" })).thinking, of(1500))
        const within = { ...asked, reasoning: budget, capabilities: { budgetWithinMaxTokens: true } }
        assert.deepStrictEqual((yield* sent(within)).thinking, of(1500))
      }
      const other = { betas: ["files-api-2025-04-14"], maxTokens: 3000, reasoning: budget }
      assert.deepStrictEqual((yield* sent(other)).thinking, of(1500))
    })
  )

  it.effect("is sent as the layer says [P1410]", () =>
    Effect.gen(function* () {
      const above = { reasoning: budget, maxTokens: 3000, capabilities: { budgetWithinMaxTokens: false } }
      assert.deepStrictEqual((yield* sent(above)).thinking, of(5000))
      const least = { reasoning: { maxTokens: 500 }, capabilities: { leastBudget: 400 } }
      assert.deepStrictEqual((yield* sent(least)).thinking, of(500))
      const unknown = { model: "claude-opus-6", reasoning: { maxTokens: 500 }, maxTokens: 400 }
      assert.deepStrictEqual((yield* sent(unknown)).thinking, of(500))
    })
  )

  it.effect("and an effort are left out for models that never think, and `none` without an event [P1410]", () =>
    Effect.gen(function* () {
      for (const model of ["claude-3-haiku-20240307", "claude-3-5-sonnet-latest", "claude-2.1", "claude-instant-1.2"]) {
        for (const reasoning of ["high", budget]) {
          const left = { max_tokens: 4096, thinking: undefined, changes: [{ option: "reasoning", asked: reasoning }] }
          assert.deepStrictEqual(yield* sent({ model, reasoning, maxTokens: 4096 }), left, model)
        }
        const off = { model, reasoning: "none", temperature: 0.5, capabilities: { unsupported: "refuse" } } as const
        const { body } = yield* played(off)
        assert.notProperty(body, "thinking")
        assert.propertyVal(body, "temperature", 0.5)
      }
      const sonnet = { model: "claude-3-7-sonnet-latest", reasoning: "low" } as const
      assert.deepStrictEqual((yield* sent(sonnet)).thinking, of(1024))
    })
  )
})

describe("sampling beside thinking", () => {
  it.effect("stays where Claude up to 4.6 takes it, and is left out with an event elsewhere [P1410]", () =>
    Effect.gen(function* () {
      const sampled = (options: Options) =>
        Effect.map(played({ reasoning: "high", maxTokens: 30_000, ...options }), ({ body, changes = [] }) => [
          body["temperature"],
          body["top_p"],
          body["top_k"],
          changes.flatMap(({ option }) => (option === "reasoning" ? [] : [option]))
        ])
      for (const model of ["claude-haiku-4-5", "claude-sonnet-4-6"]) {
        assert.deepStrictEqual(yield* sampled({ model, temperature: 1 }), [1, undefined, undefined, []])
        for (const topP of [0.95, 0.97, 1]) {
          assert.deepStrictEqual(yield* sampled({ model, topP }), [undefined, topP, undefined, []])
        }
        const none = [undefined, undefined, undefined]
        assert.deepStrictEqual(yield* sampled({ model, temperature: 0.5 }), [...none, ["temperature"]])
        assert.deepStrictEqual(yield* sampled({ model, topP: 0.9, topK: 1 }), [...none, ["topP", "topK"]])
        const off = { model, reasoning: "none", temperature: 0.5, topK: 5 }
        assert.deepStrictEqual(yield* sampled(off), [0.5, undefined, 5, []])
        const only = { sampling: "without-reasoning" } as const
        assert.deepStrictEqual(yield* sampled({ model, temperature: 1, capabilities: only }), [
          ...none,
          ["temperature"]
        ])
      }
      const newer = yield* sampled({ model: "claude-opus-4-8", temperature: 1 })
      assert.deepStrictEqual(newer, [undefined, undefined, undefined, ["temperature"]])
    })
  )
})
