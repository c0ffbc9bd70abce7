/** Fields of `extra` and of the options of a request: each reaches the body, or is refused by name. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import type * as Model from "@kintsugi/core/Model"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import type * as Provider from "@kintsugi/providers/Provider"
import { Predicate, type Schema } from "effect"
import * as fc from "fast-check"
import * as Extra from "../../../packages/providers/src/codec/Extra.ts"
import * as BedrockConverse from "../../../packages/providers/src/codec/bedrock/BedrockConverse.ts"

type Fields = Readonly<Record<string, Schema.Json>>

const source = { provider: "p", model: "anthropic.claude-sonnet-4-6", secrets: [] }
const common = { temperature: 0.5, topP: 0.9, maxTokens: 10, toolChoice: "required" } as const
const plainDialect = { capabilities: OpenAiResponses.capabilities, items: "plain" } as const

/** The formats, with options that are set, and without. */
const makers: Readonly<Record<string, (extra: Fields, isSet: boolean) => Provider.Codec>> = {
  "Anthropic's Messages": (extra, isSet) =>
    AnthropicMessages.make(source, { ...(isSet ? { ...common, reasoning: "low", promptCache: {} } : {}), extra }),
  "Bedrock's Converse": (extra, isSet) =>
    BedrockConverse.make(source, { ...(isSet ? { ...common, reasoning: "low", promptCache: {} } : {}), extra }),
  Gemini: (extra, isSet) =>
    GeminiContent.make(source, { ...(isSet ? { ...common, seed: 1, reasoning: "low" } : {}), extra }),
  Ollama: (extra, isSet) =>
    OllamaChat.make(source, {
      ...(isSet ? { temperature: 0.5, numCtx: 99, reasoning: true, keepAlive: 1 } : {}),
      extra
    }),
  "chat completions": (extra, isSet) =>
    OpenAiChat.make(source, {
      ...(isSet ? { ...common, reasoning: "low", parallelToolCalls: false, promptCache: { key: "k" } } : {}),
      extra
    }),
  responses: (extra, isSet) =>
    OpenAiResponses.make(source, {
      ...(isSet ? { ...common, reasoning: "low", parallelToolCalls: false, promptCache: { key: "k" } } : {}),
      extra
    }),
  "responses in the plain form": (extra, isSet) =>
    OpenAiResponses.make(source, { ...(isSet ? { ...common, reasoning: "low" } : {}), extra }, plainDialect)
}

const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }
const full: Model.Request = {
  messages: [Message.system("Be brief."), Message.user("hi")],
  tools: [{ name: "look", description: "", parameters: { type: "object", properties: {} } }],
  toolChoice: "auto",
  output: { name: "o", schema: { type: "object", properties: { a: { type: "string" } } } }
}
const requests: ReadonlyArray<Model.Request> = [plain, full, { ...full, tools: [] }]

/** Names that a format writes, merges or knows, beside any others. */
const usual = [
  ..."include input max_tokens maxTokens messages metadata model n options output_config parallel_tool_calls".split(
    " "
  ),
  ..."reasoning response_format format safetySettings store stop stream stream_options system temperature text".split(
    " "
  ),
  ..."think thinking toolConfig tool_choice tools truncate generationConfig inferenceConfig cachedContent".split(" "),
  ..."additionalModelRequestFields background contents seed service_tier __proto__ constructor toString".split(" ")
]
const names = fc.oneof(fc.constantFrom(...usual), fc.string())
const values = fc.letrec<{ json: Schema.Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 2, depthSize: "small" },
    fc.constantFrom<Schema.Json>(null, true, false, 0, 1, 2, "auto", "x"),
    fc.array(tie("json"), { maxLength: 2 }),
    fc.dictionary(
      fc.oneof(fc.constantFrom("type", "temperature", "effort", "num_ctx", "tools", "__proto__"), fc.string()),
      tie("json"),
      {
        maxKeys: 3
      }
    )
  )
})).json

/** Whether a body has all of these fields: objects may have more, and lists too. */
const has = (body: unknown, wanted: Schema.Json): boolean => {
  if (Array.isArray(wanted)) return Array.isArray(body) && wanted.every((one) => body.some((item) => has(item, one)))
  if (!Predicate.isObject(wanted)) return Object.is(body, wanted)
  return (
    Predicate.isObject(body) &&
    // values within JSON are JSON
    Object.entries(wanted).every(([name, value]) => Object.hasOwn(body, name) && has(body[name], value as Schema.Json))
  )
}

const copy = <A>(value: A): A => JSON.parse(JSON.stringify(value))

const refusalOf = (make: () => Provider.Codec): string | undefined => {
  try {
    make()
    return undefined
  } catch (error) {
    assert.instanceOf(error, RangeError)
    return error.message
  }
}

const equals = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Demands that a format sends these fields, or refuses one of them by its name; of a layer as of a request. */
const check = (make: (typeof makers)[string], fields: Fields, isSet: boolean) => {
  const refusal = refusalOf(() => make(fields, isSet))
  const ask = make({}, isSet)
  // an object without fields says nothing: the library writes its own only where that has any
  const said = Object.fromEntries(Object.entries(fields).filter(([, value]) => !equals(value, {})))
  for (const request of requests) {
    const asked = { ...request, options: fields }
    const refused = ask.refuses?.(asked)
    assert.strictEqual(refused === undefined, refusal === undefined, refusal)
    if (refusal !== undefined) {
      assert.strictEqual(refused?._tag, "InvalidRequestError")
      assert.isTrue(
        Object.keys(fields).some((field) => refusal.includes(`'${field}`)),
        refusal
      )
      continue
    }
    for (const mode of ["whole", "streamed"] as const) {
      // the wire refuses it where nothing is streamed
      const { stream_options: _, ...ofWhole } = said
      const sent = make(fields, isSet).encode(request, mode)
      assert.isTrue(has(JSON.parse(sent), mode === "streamed" ? said : ofWhole), sent)
      assert.deepStrictEqual(JSON.parse(ask.encode(asked, mode)), JSON.parse(sent))
    }
  }
}

describe("every field", () => {
  for (const [name, make] of Object.entries(makers)) {
    it(`of extra and of the options of a request reaches the body or is refused: ${name} [P1416]`, () => {
      for (const field of usual) {
        for (const value of [null, 2, "x", ["x"], { x: 1, type: "x" }]) {
          check(make, copy(Object.fromEntries([[field, value]])), value !== 2)
        }
      }
      const some = fc.dictionary(names, values, { maxKeys: 3 })
      fc.assert(fc.property(some, fc.boolean(), (fields, isSet) => check(make, copy(fields), isSet)))
    })
  }
})

it("requests with the same options go on with one codec, which has the beginning of the conversation [P1416]", () => {
  const made: Array<Fields | undefined> = []
  const codec = Extra.perRequest(
    source,
    { merged: {}, written: {} },
    ({ extra }: { readonly extra?: Fields }) => {
      made.push(extra)
      return OpenAiChat.make(source)
    },
    { extra: { a: 1 } }
  )
  for (const b of [1, 1, 2, 2, 1]) codec.encode({ ...plain, options: { b } }, "whole")
  codec.encode(plain, "whole")
  assert.deepStrictEqual(made, [{ a: 1 }, { a: 1, b: 1 }, { a: 1, b: 2 }, { a: 1, b: 1 }])
})

it("a field that is merged has to have its type, and the refusal says which [P1416]", () => {
  const own = { merged: { tools: "list", limits: "object" }, written: {} } as const
  const make = (extra: Fields) => () => Extra.perRequest(source, own, () => OpenAiChat.make(source), { extra })
  assert.include(refusalOf(make({ tools: {} })), "the field 'tools' has to be a list")
  assert.include(refusalOf(make({ limits: [] })), "the field 'limits' has to be an object")
  assert.isUndefined(refusalOf(make({ tools: [], limits: {} })))
})
