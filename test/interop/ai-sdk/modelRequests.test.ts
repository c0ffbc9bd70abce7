/** What language models of the AI SDK are called with. */
import { assert, describe } from "@effect/vitest"
import { LlmError, Message, Model } from "@kintsugi/core"
import * as AiSdkModel from "@kintsugi/interop/AiSdkModel"
import { Effect, type Schema } from "effect"
import { it } from "../../_support/run.ts"
import * as Script from "./_support/languageModel.ts"

const { plainRequest, failures, says, scripted, versions } = Script

const png = "iVBORw0KGgo="
const page = "https://a.example/cat.png"
const look = { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } }

/** The options of the one call that a request leads to. */
const sent = (
  version: Script.Version,
  request: Partial<Model.Request>,
  options: NonNullable<Parameters<typeof AiSdkModel.layer>[1]> = {},
  of: Parameters<typeof scripted>[2] = {}
) =>
  Effect.gen(function* () {
    const { called, model } = scripted(version, [says("done")], of)
    const { generate } = yield* Effect.provide(Model.Model, AiSdkModel.layer(model, options))
    yield* generate({ ...plainRequest, ...request })
    const [call] = called
    assert(call !== undefined)
    return call
  })

const result = (parts: Message.UserContent): ReadonlyArray<Message.Message> => [
  Message.user("look"),
  {
    role: "assistant",
    content: [
      {
        type: "settled-call",
        call: { type: "tool-call", id: "c1", name: "look", arguments: "{}" },
        settlement: { kind: "result", text: "an image", parts }
      }
    ]
  }
]

describe.each(versions)("a request of version %s", (version) => {
  const isTagged = version === "v4"

  it.effect("has images and files of messages: as bytes, at an address, by an id [P1381]", () =>
    Effect.gen(function* () {
      const content = [
        Message.text("see"),
        Message.image("image/png", { data: png }),
        Message.image("image/png", { url: page }),
        Message.file("application/pdf", { url: `data:application/pdf;base64,${png}` }, "a.pdf"),
        Message.file("application/pdf", { url: "file-abc" })
      ]
      const { prompt } = yield* sent(version, { messages: [Message.system("be kind"), Message.user(content)] })
      const file = (mediaType: string, plain: unknown, tagged: object) => ({
        type: "file",
        mediaType,
        data: isTagged ? tagged : plain
      })
      assert.deepStrictEqual(prompt, [
        { role: "system", content: "be kind" },
        {
          role: "user",
          content: [
            { type: "text", text: "see" },
            file("image/png", png, { type: "data", data: png }),
            file("image/png", new URL(page), { type: "url", url: new URL(page) }),
            { ...file("application/pdf", png, { type: "data", data: png }), filename: "a.pdf" },
            file("application/pdf", "file-abc", { type: "reference", reference: { script: "file-abc" } })
          ]
        }
      ])
    })
  )

  it.effect("refuses an address that the model does not take: the SDK would load it [P1381]", () =>
    Effect.gen(function* () {
      const supportedUrls = { "image/*": [/^https:\/\/a\.example\//] }
      const withImage = (url: string) => ({ messages: [Message.user([Message.image("image/png", { url })])] })
      yield* sent(version, withImage(page), {}, { supportedUrls })
      yield* sent(version, withImage(page), {}, { supportedUrls: Promise.resolve(supportedUrls) })
      const { called, model } = scripted(version, [], { supportedUrls })
      const failure = yield* failures(AiSdkModel.layer(model), { ...plainRequest, ...withImage("https://b.example/") })
      assert(failure instanceof LlmError.CapabilityMismatchError)
      assert.include(failure.message, "it takes no image/png at this address: give its bytes")
      assert.strictEqual(called.length, 0)
    })
  )

  it.effect("has images in results for providers that read them there; others get the text [P1376 P1381]", () =>
    Effect.gen(function* () {
      const messages = result([Message.text("cat"), Message.image("image/png", { data: png })])
      const outputOf = ({ prompt }: Script.Called) => {
        const content = prompt.at(-1)?.content
        assert(Array.isArray(content))
        return (content[0] as { readonly output: unknown }).output
      }
      const shown = yield* sent(version, { messages }, {}, { provider: "anthropic.messages" })
      const image = {
        v2: { type: "media", data: png, mediaType: "image/png" },
        v3: { type: "image-data", data: png, mediaType: "image/png" },
        v4: { type: "file", data: { type: "data", data: png }, mediaType: "image/png" }
      }
      assert.deepStrictEqual(outputOf(shown), {
        type: "content",
        value: [{ type: "text", text: "cat" }, image[version]]
      })
      const described = yield* sent(version, { messages }, {}, { provider: "openai.chat" })
      assert.deepStrictEqual(outputOf(described), { type: "text", value: "an image" })
      // others are left out by providers of the SDK with a warning, or make them throw
      const audio = Message.file("audio/wav", { data: png })
      const mixed = { messages: result([Message.image("image/png", { data: png }), audio]) }
      const withAudio = yield* sent(version, mixed, {}, { provider: "anthropic.messages" })
      assert.deepStrictEqual(outputOf(withAudio), { type: "text", value: "an image" })
      // a run asks this before it decides
      const showing = (provider: string) =>
        Effect.map(Model.Model, ({ showsInResults }) =>
          showsInResults?.(Message.image("image/png", { url: page }))
        ).pipe(Effect.provide(AiSdkModel.layer(scripted(version, [], { provider }).model)))
      assert.strictEqual(yield* showing("google.generative-ai"), version !== "v2")
      assert.strictEqual(yield* showing("openai.chat"), false)
    })
  )

  it.effect("has the tools of the agent and those of the provider, and the choice among them [P1381]", () =>
    Effect.gen(function* () {
      const tool = { id: "anthropic.web_search", name: "web_search", args: { maxUses: 3 } } as const
      const options = { providerTools: [tool] }
      const both = yield* sent(version, { tools: [look], toolChoice: { tool: "look" } }, options)
      assert.deepStrictEqual(both.tools, [
        { type: "function", name: "look", description: "Looks.", inputSchema: look.parameters },
        { ...tool, type: version === "v2" ? "provider-defined" : "provider" }
      ])
      assert.deepStrictEqual(both.toolChoice, { type: "tool", toolName: "look" })
      const none = yield* sent(version, {})
      assert.notProperty(none, "tools")
      assert.notProperty(none, "toolChoice")
    })
  )

  it.effect("has the settings of the model, merged with the options of the request, which win [P1381 P1416]", () =>
    Effect.gen(function* () {
      const openai = { effort: "low", metadata: { a: 1 }, thinking: { type: "on", budget: 1 }, list: [1] }
      const byName = Object.fromEntries<Record<string, Schema.Json>>([
        ["openai", openai],
        ["mine", { b: 1 }],
        ["__proto__", { d: 5 }]
      ])
      const settings = { temperature: 0.5, maxOutputTokens: 9, providerOptions: byName }
      const options = {
        openai: { effort: "high", metadata: { b: 2 }, thinking: { type: "off" }, list: [2], user: "u" },
        other: { c: 4 }
      }
      const call = yield* sent(version, { options }, { settings })
      assert.deepInclude(call, { temperature: 0.5, maxOutputTokens: 9 })
      assert.strictEqual(
        JSON.stringify(call.providerOptions),
        '{"openai":{"effort":"high","metadata":{"a":1,"b":2},"thinking":{"type":"off"},"list":[2],"user":"u"},' +
          '"mine":{"b":1},"__proto__":{"d":5},"other":{"c":4}}'
      )
    })
  )

  it.effect("has the form of the output; one that is no object stands in the prompt [P1381]", () =>
    Effect.gen(function* () {
      const object = { type: "object", properties: {} }
      const call = yield* sent(version, { output: { name: "answer", schema: object } })
      assert.deepStrictEqual(call.responseFormat, { type: "json", name: "answer", schema: object })
      const text = yield* sent(version, { output: { name: "answer", schema: { type: "string" } } })
      assert.notProperty(text, "responseFormat")
      assert.deepStrictEqual(text.prompt[0], {
        role: "system",
        content: 'Answer with JSON alone that fits this JSON Schema: {"type":"string"}'
      })
    })
  )

  it.effect("has an object for the arguments of each call, and failed results as errors [P1381]", () =>
    Effect.gen(function* () {
      const callOf = (args: string, kind: Message.Settlement["kind"]) =>
        ({
          type: "settled-call",
          call: { type: "tool-call", id: "c", name: "look", arguments: args },
          settlement: { kind, text: "so" }
        }) as const
      const content = [callOf("{oops", "told"), callOf("", "result"), callOf('{"n":1}', "denied")]
      const { prompt } = yield* sent(version, { messages: [Message.user("hi"), { role: "assistant", content }] })
      const [, assistant, tool] = prompt
      const all = (message: typeof assistant) => message?.content as ReadonlyArray<Record<string, unknown>>
      assert.deepStrictEqual(
        all(assistant).map(({ input }) => input),
        [{ arguments: "{oops" }, {}, { n: 1 }]
      )
      assert.deepStrictEqual(
        all(tool).map(({ output }) => output),
        [
          { type: "error-text", value: "so" },
          { type: "text", value: "so" },
          { type: "error-text", value: "so" }
        ]
      )
    })
  )
})
