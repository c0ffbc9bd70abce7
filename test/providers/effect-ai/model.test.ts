/** A model of `effect/ai` under agents of ours: whole and streamed, with recovery, and with nothing lost on the way. */
import { assert, describe } from "@effect/vitest"
import { Agent, LlmError, Message, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Cause, Duration, Effect, Exit, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { AiError, type LanguageModel, Prompt, type Response, Tool as AiTool } from "effect/ai"
import { agentWith, busy, calm, eventLog, lastUsage, scripted } from "../../_support/dialogue.ts"
import { asked } from "../../_support/namedModels.ts"
import { it } from "../../_support/run.ts"
import * as Script from "./_support/scriptedLanguageModel.ts"

const failing = (reason: AiError.AiErrorReason) => AiError.make({ module: "OpenAi", method: "create", reason })

const overloaded = failing(new AiError.InternalProviderError({ description: "Overloaded" }))
const limited = failing(new AiError.RateLimitError({ retryAfter: Duration.seconds(7) }))

const info = { name: "script-1", provider: "scripts", isScripted: true }

/** The prompt of a request without what `effect/ai` adds to each part. */
const promptOf = (script: Script.Script, index: number) => {
  const { prompt } = script.requests[index] ?? { prompt: Prompt.empty }
  return Schema.encodeSync(Prompt.Prompt)(prompt).content
}

describe("agents on a model of effect/ai", () => {
  it.run(
    "the model gets the tools of the agent, runs none by itself, and reads that a tool is undeclared [P405 P1107]",
    (run) =>
      Effect.gen(function* () {
        const script = yield* Script.make(
          Script.calls(
            Script.call("look", { n: 1 }, "c1"),
            Script.call("look", { n: 2 }, "c2"),
            Script.call("lok", { n: 3 }, "c3")
          ),
          Script.says("done")
        )
        const { runs, tool } = scripted("look", Effect.succeed("seen"), Effect.fail(busy("not now")))
        const telling = tool.pipe(Tool.onError({ Busy: Recovery.tell() }))
        const text = yield* run(agentWith(telling), "go").pipe(
          Effect.provide(EffectAi.model({ isScripted: true })),
          Effect.provide(script.layer)
        )
        assert.strictEqual(text, "done")
        assert.deepStrictEqual(
          runs.map(({ params }) => params),
          [{ n: 1 }, { n: 2 }]
        )
        const [first] = script.requests
        assert.deepStrictEqual(first?.toolChoice, "auto")
        const [declared] = first?.tools ?? []
        assert(declared !== undefined)
        assert.strictEqual(declared.name, "look")
        assert.strictEqual(AiTool.getStrictMode(declared), false)
        assert.deepInclude(AiTool.getJsonSchema(declared), { type: "object", additionalProperties: false })
        const [user, assistant, results] = promptOf(script, 1)
        const [failed, undeclared] = failuresIn(results)
        assert.deepInclude(user, { role: "user", content: "go" })
        assert.deepStrictEqual(
          [assistant?.content, results?.content].map((content) =>
            Array.isArray(content) ? content.map(plain) : content
          ),
          [
            [
              { type: "tool-call", id: "c1", name: "look", params: { n: 1 } },
              { type: "tool-call", id: "c2", name: "look", params: { n: 2 } },
              { type: "tool-call", id: "c3", name: "lok", params: { n: 3 } }
            ],
            [
              { type: "tool-result", id: "c1", name: "look", isFailure: false, result: "seen" },
              { type: "tool-result", id: "c2", name: "look", isFailure: true, result: failed },
              { type: "tool-result", id: "c3", name: "lok", isFailure: true, result: undeclared }
            ]
          ]
        )
        assert.include(failed, "not now")
        assert.include(undeclared, "look")
      })
  )

  it.run(
    "its failures go the way of ours: they are retried after the requested wait, and end the run with their cause [P801 P1107]",
    (run) =>
      Effect.gen(function* () {
        const script = yield* Script.make(Script.fails(limited), Script.fails(overloaded), Script.fails(limited))
        const agent = Agent.make("a", {}).pipe(
          Agent.onLlmError({
            RateLimitError: Recovery.retry({ retries: 1 }),
            ModelOverloadedError: Recovery.retry({ retries: 1 })
          })
        )
        const fiber = yield* Effect.forkChild(
          run(agent, "go").pipe(
            Effect.provide(EffectAi.model({ isScripted: true })),
            Effect.provide(script.layer),
            Effect.flip
          )
        )
        yield* calm
        assert.strictEqual(script.requests.length, 1)
        yield* TestClock.adjust("6999 millis")
        assert.strictEqual(script.requests.length, 1)
        yield* TestClock.adjust("1 millis")
        yield* calm
        yield* TestClock.adjust("1 minute")
        const error = yield* Fiber.join(fiber)
        assert.instanceOf(error, LlmError.RateLimitError)
        assert.deepInclude(error, { service: "scripts", model: "script-1", cause: limited })
        assert.strictEqual(script.requests.length, 3)
      })
  )

  it.run("an agent with an output requests an object of its schema, and reads a misfit by itself [P1107]", (run) =>
    Effect.gen(function* () {
      const script = yield* Script.make(Script.says("it is 3"), Script.says('{"count": "3"}'))
      const log = eventLog()
      const agent = Agent.make("a", { output: Schema.Struct({ count: Schema.Finite }) }).pipe(log.listen)
      const output = yield* run(agent, "go").pipe(
        Effect.provide(EffectAi.model({ isScripted: true })),
        Effect.provide(script.layer)
      )
      assert.deepStrictEqual(output, { count: 3 })
      const [first, second] = script.requests
      assert.deepInclude(first?.responseFormat, { type: "json", objectName: "a" })
      assert.strictEqual(second?.responseFormat.type, "json")
      // what did not fit was paid for as well
      assert.strictEqual(lastUsage(log.end())?.inputTokens, 20)
    })
  )
})

const plain = ({
  options: _options,
  providerExecuted: _where,
  ...part
}: Prompt.PartEncoded & { providerExecuted?: boolean | undefined }) => part

const failuresIn = (message: Prompt.MessageEncoded | undefined): ReadonlyArray<string> =>
  message?.role === "tool"
    ? message.content.flatMap((part) => (part.type === "tool-result" && part.isFailure ? [String(part.result)] : []))
    : []

describe("a reply of a model of effect/ai", () => {
  const signed: ReadonlyArray<Response.PartEncoded> = [
    { type: "response-metadata", id: "r1", modelId: "script-1-2026" },
    { type: "reasoning", text: "hmm", metadata: { scripts: { signature: "s1" } } },
    { type: "text", text: "Look: " },
    { type: "text", text: "here", metadata: { scripts: { itemId: "m1" } } },
    Script.call("look", { n: 1 }, "c1", { scripts: { thoughtSignature: "s2" } }),
    { type: "file", mediaType: "image/png", data: "AQID", metadata: { scripts: { fileId: "f1" } } },
    { type: "source", sourceType: "url", id: "u1", url: "https://a.test/", title: "A" },
    Script.finish("tool-calls")
  ]

  asked("keeps its kind: thoughts, texts, calls, files, the end and the bill [P703 P1107 P1407]", (ask) =>
    Effect.gen(function* () {
      const { service } = yield* Script.make(signed)
      const reply = yield* ask(EffectAi.fromLanguageModel(service, info))
      assert.deepStrictEqual(
        reply.content.map((part) => (part.type === "provider-item" ? `${part.type} ${part.kind}` : part.type)),
        ["reasoning", "text", "provider-item text", "tool-call", "provider-item file", "provider-item source"]
      )
      assert.strictEqual(Message.textOf(reply), "Look: here")
      assert.deepInclude(reply, {
        finish: "tool-calls",
        model: "script-1-2026",
        responseId: "r1",
        usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 2, cacheWriteTokens: 1, reasoningTokens: 2 }
      })
    })
  )

  asked("goes back to it with the signatures that it came with, each at its own part [P1002 P1107]", (ask) =>
    Effect.gen(function* () {
      const script = yield* Script.make(signed, Script.says("done"))
      const model = EffectAi.fromLanguageModel(script.service, info)
      const reply = yield* ask(model)
      const messages = [Message.user("hello"), Message.settle(reply, [{ kind: "result", text: '{"seen":true}' }])]
      yield* ask(model, { messages, tools: [], toolChoice: "auto" })
      const [, assistant, results] = promptOf(script, 1)
      assert.deepStrictEqual(
        Array.isArray(assistant?.content) ? assistant.content.map(({ providerExecuted: _where, ...part }) => part) : [],
        [
          { type: "reasoning", text: "hmm", options: { scripts: { signature: "s1" } } },
          { type: "text", text: "Look: ", options: {} },
          { type: "text", text: "here", options: { scripts: { itemId: "m1" } } },
          {
            type: "tool-call",
            id: "c1",
            name: "look",
            params: { n: 1 },
            options: { scripts: { thoughtSignature: "s2" } }
          },
          { type: "file", mediaType: "image/png", data: "AQID", options: { scripts: { fileId: "f1" } } }
        ]
      )
      assert.deepInclude(Array.isArray(results?.content) ? results.content[0] : {}, { result: { seen: true } })
    })
  )

  asked("it gets bytes, addresses and file ids of a user as effect/ai writes them [P1408]", (ask) =>
    Effect.gen(function* () {
      const script = yield* Script.make(Script.says("done"))
      const inline = { type: "image", mediaType: "image/png", url: "data:image/png;base64,AQID" } as const
      const parts = [inline, Message.file("application/pdf", { url: "file-abc123" }, "a.pdf")]
      const request: Parameters<typeof ask>[1] = { messages: [Message.user(parts)], tools: [], toolChoice: "auto" }
      yield* ask(EffectAi.fromLanguageModel(script.service, info), request)
      const [message] = script.requests[0]?.prompt.content ?? []
      const files = message?.role === "user" ? message.content.filter((part) => part.type === "file") : []
      assert.deepStrictEqual(
        files.map(({ data, fileName }) => [data, fileName]),
        [
          [new Uint8Array([1, 2, 3]), undefined],
          ["file-abc123", "a.pdf"]
        ]
      )
    })
  )

  asked("another model reads none of it, and it reads none of another's [P1002 P1107]", (ask) =>
    Effect.gen(function* () {
      const script = yield* Script.make(Script.says("done"))
      const opaque = { provider: "anthropic", data: { signature: "x" } }
      const reply: Message.Reply = {
        content: [
          { type: "reasoning", text: "hmm", opaque },
          { type: "provider-item", kind: "server_tool_use", opaque },
          { ...Message.text("hi") }
        ],
        finish: "stop",
        usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
      }
      const messages = [Message.user("a"), Message.settle(reply, []), Message.user("b")]
      yield* ask(EffectAi.fromLanguageModel(script.service, info), { messages, tools: [], toolChoice: "auto" })
      assert.deepStrictEqual(
        promptOf(script, 0).map(({ content, role }) => [role, content]),
        [
          ["user", "a"],
          ["assistant", "hi"],
          ["user", "b"]
        ]
      )
    })
  )

  asked("a provider-side call is stored for its provider, and is no call of ours [P1107]", (ask) =>
    Effect.gen(function* () {
      const tool = AiTool.providerDefined({
        id: "scripts.search",
        customName: "Search",
        providerName: "search",
        parameters: Schema.Struct({ q: Schema.String }),
        success: Schema.Struct({ hits: Schema.Finite })
      })()
      const searched: Script.Step = [
        { ...Script.call("Search", { q: "x" }, "s1", { scripts: { a: 1 } }), providerExecuted: true },
        {
          type: "tool-result",
          id: "s1",
          name: "Search",
          isFailure: false,
          result: { hits: 2 },
          providerExecuted: true
        },
        Script.text("2 hits"),
        Script.finish()
      ]
      const script = yield* Script.make(searched, Script.says("done"))
      const model = EffectAi.fromLanguageModel(script.service, { ...info, providerTools: [tool] })
      // guardrails of the input pass before such a model is called
      assert.isTrue(model.providerTools)
      assert.isUndefined(EffectAi.fromLanguageModel(script.service, info).providerTools)
      const reply = yield* ask(model)
      assert.deepStrictEqual(
        script.requests[0]?.tools.map(({ name }): string => name),
        ["Search"]
      )
      assert.deepStrictEqual(Message.callsOf(reply), [])
      assert.deepStrictEqual(
        reply.content.flatMap((part) => (part.type === "provider-item" ? [part.kind] : [])),
        ["Search", "Search result"]
      )
      yield* ask(model, { messages: [Message.user("a"), Message.settle(reply, [])], tools: [], toolChoice: "auto" })
      const [, assistant] = promptOf(script, 1)
      assert.deepStrictEqual(Array.isArray(assistant?.content) ? assistant.content.slice(0, 2) : [], [
        {
          type: "tool-call",
          id: "s1",
          name: "Search",
          params: { q: "x" },
          providerExecuted: true,
          options: { scripts: { a: 1 } }
        },
        {
          type: "tool-result",
          id: "s1",
          name: "Search",
          isFailure: false,
          result: { hits: 2 },
          providerExecuted: true,
          options: {}
        }
      ])
    })
  )

  asked("an error in the place of a part, or as the end, is a failure [P404 P501 P1107]", (ask) =>
    Effect.gen(function* () {
      const ended = yield* Script.make([Script.text("hi"), Script.finish("error")])
      const error = yield* Effect.flip(ask(EffectAi.fromLanguageModel(ended.service, info)))
      assert.instanceOf(error, LlmError.ServerError)
      assert.strictEqual(error.usage?.inputTokens, 10)
    })
  )

  it.effect("an error that is streamed is ours, behind the parts before it [P501 P1107]", () =>
    Effect.gen(function* () {
      const { service } = yield* Script.make()
      const parts: ReadonlyArray<Response.StreamPartEncoded> = [
        { type: "text-delta", id: "t", delta: "he" },
        { type: "error", error: overloaded }
      ]
      // it streams this for every request
      const streamText = (() => Stream.fromIterable(parts)) as unknown as LanguageModel.LanguageModel["streamText"]
      const model = EffectAi.fromLanguageModel({ ...service, streamText }, info)
      const seen: Array<string> = []
      const error = yield* model.stream({ messages: [Message.user("a")], tools: [], toolChoice: "auto" }).pipe(
        Stream.runForEach((part) => Effect.sync(() => void seen.push(part.type))),
        Effect.flip
      )
      assert.instanceOf(error, LlmError.ModelOverloadedError)
      assert.deepStrictEqual(seen, ["text-delta"])
    })
  )

  asked("it counts as real under noRealModels, unless it is said to be scripted [P1106]", (ask) =>
    Effect.gen(function* () {
      const { service } = yield* Script.make(Script.says("done"))
      const { isScripted: _isScripted, ...real } = info
      const exit = yield* Effect.exit(
        Effect.provide(ask(EffectAi.fromLanguageModel(service, real)), ScriptedModel.noRealModels)
      )
      assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      const reply = yield* Effect.provide(ask(EffectAi.fromLanguageModel(service, info)), ScriptedModel.noRealModels)
      assert.strictEqual(Message.textOf(reply), "done")
    })
  )
})
