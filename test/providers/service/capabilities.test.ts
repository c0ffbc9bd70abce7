/** The option `capabilities` of a layer: what it knows better than the table, and whether it adapts or refuses. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Message, Model } from "@kintsugi/core"
import { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, Perplexity } from "@kintsugi/providers"
import { Effect, Layer, Logger, Redacted, References, Schema } from "effect"
import { eventLog } from "../../_support/dialogue.ts"
import {
  failureOf as failed,
  fakeNetwork,
  generate,
  ok,
  type Reaction,
  respond,
  streamParts
} from "../../_support/network.ts"
import { specOf } from "../_support/toolSpecs.ts"

const apiKey = Redacted.make("k")

type AnyLayer = ReturnType<typeof OpenAi.layer>

const searchSpec = specOf("search", Schema.Struct({}))

const request: Model.Request = { messages: [Message.user("hi")], tools: [searchSpec], toolChoice: "auto" }

const failureOf = <A, E, R>(asked: Effect.Effect<A, E, R>) => Effect.map(Effect.exit(asked), failed)

const generating = (request: Model.Request) => Effect.flatMap(Model.Model, (model) => model.generate(request))

const at = (layer: AnyLayer, reaction: Reaction = ok) => {
  const network = fakeNetwork(() => reaction())
  const provided = Layer.provide(layer, network.layer)
  return {
    bodies: () => network.sent.map(({ body }) => JSON.parse(body) as Record<string, unknown>),
    ask: (asked = request) => Effect.provide(generating(asked), provided),
    stream: Effect.provide(streamParts, provided),
    model: Effect.provide(Effect.service(Model.Model), provided),
    provided
  }
}

const answer = { type: "message", role: "assistant", content: [{ type: "text", text: "hi" }], stop_reason: "end_turn" }
const claude = (options: Partial<Parameters<typeof Anthropic.layer>[0]>, reaction: Reaction = respond(200, answer)) =>
  at(Anthropic.layer({ model: "claude-opus-5-5", apiKey, ...options }), reaction)

describe("the option capabilities", () => {
  it.effect("each entry wins over the table, and the rest of the table stays [P1410]", () =>
    Effect.gen(function* () {
      const options = { temperature: 0.5, toolChoice: "required", reasoning: "none" } as const
      const { ask, bodies, model } = claude({
        ...options,
        capabilities: { sampling: "always", toolChoice: ["required"], contextWindow: 9000, maxTokens: 70 }
      })
      yield* ask()
      assert.deepInclude(bodies()[0], {
        temperature: 0.5,
        tool_choice: { type: "any" },
        // beside a forced call no thinking is sent
        output_config: { effort: "low" }
      })
      const service = yield* model
      assert.strictEqual(service.contextWindow, 9000)
      assert.deepStrictEqual(service.adapts?.(request), {
        family: "claude-opus-5.5",
        changes: [{ option: "reasoning", asked: "none", sent: "low" }]
      })
    })
  )

  it.effect("a model of no family is sent as asked, unless the layer says what it takes [P1410]", () =>
    Effect.gen(function* () {
      const asked = { model: "my-model", apiKey, temperature: 0, reasoning: "none" } as const
      const plain = at(OpenAi.layer(asked))
      yield* plain.ask()
      assert.deepInclude(plain.bodies()[0], { temperature: 0, reasoning_effort: "none" })
      const service = yield* plain.model
      assert.isUndefined(service.adapts?.(request))
      assert.isUndefined(service.contextWindow)
      const fitted = at(
        OpenAi.layer({ ...asked, capabilities: { sampling: "never", efforts: ["low"], reasoningOff: false } })
      )
      yield* fitted.ask()
      assert.notProperty(fitted.bodies()[0], "temperature")
      assert.deepInclude(fitted.bodies()[0], { reasoning_effort: "low" })
      assert.strictEqual((yield* fitted.model).adapts?.(request)?.family, "the layer")
    })
  )

  it.effect("refuse sends nothing that the model does not take, whole and streamed [P1410]", () =>
    Effect.gen(function* () {
      const { ask, bodies, model, stream } = claude({ temperature: 0, capabilities: { unsupported: "refuse" } })
      for (const error of [yield* failureOf(ask()), yield* failureOf(stream)]) {
        assert(error._tag === "CapabilityMismatchError")
        assert.strictEqual(error.capability, "other")
        assert.strictEqual(
          error.message,
          "Model 'claude-opus-5-5' of anthropic does not support what the request asks for: claude-opus-5.5 takes no temperature 0, by " +
            "pages of 2026-11-26; ask without it, or override it with the option capabilities. Ask a model that can, or do without"
        )
      }
      assert.lengthOf(bodies(), 0)
      assert.isUndefined((yield* model).adapts?.(request))
      const taken = claude({ reasoning: "high", capabilities: { unsupported: "refuse" } })
      yield* taken.ask()
      assert.lengthOf(taken.bodies(), 1)
    })
  )

  it.effect("a refusal names the capability and what to ask instead [P1410]", () =>
    Effect.gen(function* () {
      const refuse = { capabilities: { unsupported: "refuse" } } as const
      const forced = yield* failureOf(claude({ ...refuse, toolChoice: { tool: "search" } }).ask())
      assert.deepInclude(forced, { _tag: "CapabilityMismatchError", capability: "toolChoice" })
      assert.include(forced.message, 'takes no toolChoice {"tool":"search"}')
      assert.include(forced.message, 'ask with "auto"')
      const off = yield* failureOf(claude({ ...refuse, reasoning: "none" }).ask())
      assert.deepInclude(off, { _tag: "CapabilityMismatchError", capability: "thinking" })
      const chat = yield* failureOf(at(OpenAi.layer({ model: "gpt-5.6", apiKey, ...refuse })).ask())
      assert.include(
        chat.message,
        'gpt-5.6 takes no request without reasoning, by pages of 2026-11-26; ask with "none"'
      )
    })
  )

  it.effect("a refusal by an entry of the layer quotes no pages [P1410]", () =>
    Effect.gen(function* () {
      const model = "claude-sonnet-4-6"
      const own = { sampling: "never", unsupported: "refuse" } as const
      const { message } = yield* failureOf(claude({ model, temperature: 0, capabilities: own }).ask())
      assert.include(message, "claude-4.6 takes no temperature 0; ask without it")
      const ofTable = claude({ model, temperature: 0, reasoning: "high", capabilities: { unsupported: "refuse" } })
      assert.include((yield* failureOf(ofTable.ask())).message, "takes no temperature 0, by pages of")
    })
  )

  it.effect("what is changed is logged at debug level, outside of runs too, whole and streamed [P1410]", () =>
    Effect.gen(function* () {
      const logs: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => void logs.push([logLevel, message]))
      const { ask, stream } = claude({ temperature: 0 })
      const changes = [{ option: "temperature", asked: 0 }]
      const logging = Layer.mergeAll(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "Debug"))
      const words = "A request to model 'claude-opus-5-5' of anthropic is adapted"
      const once = ["Debug", [words, { family: "claude-opus-5.5", changes }]]
      yield* Effect.provide(Effect.andThen(ask(), Effect.exit(stream)), logging)
      assert.deepStrictEqual(logs, [once, once])
      yield* Effect.provide(ask(), Logger.layer([logger]))
      yield* Effect.provide(claude({}).ask(), logging)
      assert.lengthOf(logs, 2)
    })
  )

  it.effect("fields of extra and the options of a request are sent as they are [P1410]", () =>
    Effect.gen(function* () {
      const { ask, bodies } = claude({ extra: { temperature: 0.2 } })
      yield* ask({ ...request, options: { top_p: 0.1 } })
      assert.deepInclude(bodies()[0], { temperature: 0.2, top_p: 0.1 })
      const extra = { temperature: 0.2, top_p: 0.1, max_output_tokens: 9 }
      const responses = at(OpenAi.layerResponses({ model: "gpt-5.6", apiKey, extra }))
      yield* Effect.exit(responses.ask())
      assert.deepInclude(responses.bodies()[0], extra)
    })
  )

  it.effect("a run that adapts its forced first call lets the next be as it is [P1410]", () =>
    Effect.gen(function* () {
      const { model } = claude({ toolChoice: "required" })
      const service = yield* model
      assert.deepStrictEqual(service.adapts?.(request)?.changes, [
        { option: "toolChoice", asked: "required", sent: "auto" }
      ])
      const so: Message.Assistant = { role: "assistant", content: [Message.text("so")] }
      const later = { ...request, messages: [...request.messages, so] }
      assert.isUndefined(service.adapts?.(later))
      assert.isUndefined(service.adapts?.({ ...request, tools: [] }))
      assert.deepStrictEqual(service.adapts?.({ ...later, toolChoice: { tool: "search" } })?.changes, [
        { option: "toolChoice", asked: { tool: "search" }, sent: "auto" }
      ])
    })
  )
})

describe("marks in the cache of OpenAI", () => {
  const said: Model.Request = {
    ...request,
    messages: [Message.system("Greet."), Message.system("Be brief."), Message.user("hi"), Message.system("Now.")]
  }
  const mark = { prompt_cache_breakpoint: { mode: "explicit" } }

  it.effect("stand behind the instructions at the beginning, for models that take them [P1410]", () =>
    Effect.gen(function* () {
      const promptCache = { key: "desk", breakpoints: ["system"] } as const
      const chat = at(OpenAi.layer({ model: "gpt-5.6-sol", apiKey, promptCache }))
      yield* chat.ask(said)
      assert.strictEqual(chat.bodies()[0]?.["prompt_cache_key"], "desk")
      assert.deepStrictEqual(chat.bodies()[0]?.["messages"], [
        { role: "system", content: "Greet." },
        { role: "system", content: [{ type: "text", text: "Be brief.", ...mark }] },
        { role: "user", content: "hi" },
        { role: "system", content: "Now." }
      ])
      const responses = at(OpenAi.layerResponses({ model: "gpt-5.6-sol", apiKey, promptCache }))
      yield* Effect.exit(responses.ask(said))
      assert.deepStrictEqual(responses.bodies()[0]?.["input"], [
        { role: "system", content: "Greet." },
        { role: "system", content: [{ type: "input_text", text: "Be brief.", ...mark }] },
        { role: "user", content: "hi" },
        { role: "system", content: "Now." }
      ])
      assert.isUndefined((yield* responses.model).adapts?.(said))
      // without instructions there is nothing to mark
      yield* chat.ask()
      assert.deepStrictEqual(chat.bodies()[1]?.["messages"], [{ role: "user", content: "hi" }])
    })
  )

  it.effect("are left out for models that refuse them, with an event [P1410]", () =>
    Effect.gen(function* () {
      const breakpoints = ["system"] as const
      const chat = at(OpenAi.layer({ model: "gpt-5.5", apiKey, promptCache: { key: "desk", breakpoints } }))
      yield* chat.ask(said)
      assert.strictEqual(chat.bodies()[0]?.["prompt_cache_key"], "desk")
      assert.notInclude(JSON.stringify(chat.bodies()), "prompt_cache_breakpoint")
      assert.deepStrictEqual((yield* chat.model).adapts?.(said)?.changes, [
        { option: "promptCache", asked: { key: "desk", breakpoints: ["system"] }, sent: { key: "desk" } }
      ])
      const keyless = at(OpenAi.layerResponses({ model: "gpt-5.5", apiKey, promptCache: { breakpoints } }))
      assert.deepStrictEqual((yield* keyless.model).adapts?.(said)?.changes, [
        { option: "promptCache", asked: { breakpoints: ["system"] } }
      ])
    })
  )
})

describe("what a model declares", () => {
  it.effect("its window and whether it goes on come from its family [P1410]", () =>
    Effect.gen(function* () {
      const declared = Effect.fnUntraced(function* (layer: AnyLayer) {
        const { contextWindow, continuation } = yield* at(layer).model
        return [contextWindow, continuation]
      })
      const claudeOf = (model: string) => Anthropic.layer({ model, apiKey })
      assert.deepStrictEqual(yield* declared(claudeOf("claude-opus-5-5")), [1_000_000, undefined])
      assert.deepStrictEqual(yield* declared(claudeOf("claude-sonnet-4-5")), [200_000, "rest"])
      assert.deepStrictEqual(yield* declared(claudeOf("claude-of-tomorrow")), [undefined, undefined])
      assert.deepStrictEqual(yield* declared(OpenAi.layer({ model: "gpt-5", apiKey })), [400_000, undefined])
      assert.deepStrictEqual(yield* declared(Gemini.layer({ model: "gemini-3.8-flash", apiKey })), [
        1_048_576,
        undefined
      ])
      assert.deepStrictEqual(yield* declared(Kimi.layer({ model: "kimi-k3", apiKey })), [1_048_576, "rest"])
      assert.deepStrictEqual(yield* declared(DeepSeek.layer({ model: "deepseek-v4-pro", apiKey })), [1_000_000, "rest"])
      const capabilities = { contextWindow: 8192, continuation: "none" } as const
      assert.deepStrictEqual(yield* declared(Ollama.layer({ model: "qwen3", capabilities })), [8192, undefined])
      assert.deepStrictEqual(yield* declared(DeepSeek.layer({ model: "deepseek-v4-pro", apiKey, capabilities })), [
        8192,
        undefined
      ])
    })
  )
})

describe("a model that its provider ends", () => {
  it.effect("is warned of once, before the first request of its layer [P1410]", () =>
    Effect.gen(function* () {
      const warnings: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => void warnings.push([logLevel, String(message)]))
      const log = eventLog()
      const { provided } = at(DeepSeek.layer({ model: "deepseek-chat", apiKey }))
      yield* Effect.gen(function* () {
        const agent = Agent.make("clerk", {}).pipe(log.listen)
        yield* agent("one")
        yield* agent("two")
      }).pipe(Effect.provide(provided), Effect.provide(Logger.layer([logger])))
      assert.deepStrictEqual(warnings, [
        [
          "Warn",
          "The model 'deepseek-chat' of deepseek ends, or has ended, on 2026-07-24; the provider names deepseek-flash in its place " +
            "(https://github.com/arikusi/deepseek-mcp-server/releases/tag/v2.0.0)"
        ]
      ])
      const sonar = yield* at(Perplexity.layer({ model: "sonar", apiKey })).model
      assert.isUndefined(sonar.contextWindow)
    })
  )

  it.effect("is warned of by the agent API of Perplexity, too, by its older names alone [P1410]", () =>
    Effect.gen(function* () {
      const warningsOf = Effect.fnUntraced(function* (model: string) {
        const warnings: Array<string> = []
        const logger = Logger.make(({ message }) => void warnings.push(String(message)))
        const { provided } = at(Perplexity.layer({ model, apiKey }))
        yield* Effect.exit(Effect.provide(generate, Layer.merge(provided, Logger.layer([logger]))))
        return warnings
      })
      for (const model of ["sonar", "sonar-pro", "sonar-reasoning-pro", "sonar-deep-research"]) {
        assert.match((yield* warningsOf(model)).join(), /2026-09-27; the provider names perplexity\/sonar or a preset/)
      }
      for (const model of ["perplexity/sonar", "openai/gpt-5.6-sol", "fast", "pro-search"]) {
        assert.deepStrictEqual(yield* warningsOf(model), [], model)
      }
    })
  )
})
