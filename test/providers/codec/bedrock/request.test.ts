/** What Converse is sent. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import { refusesOwn } from "../_support/ownFields.ts"
import * as BedrockConverse from "../../../../packages/providers/src/codec/bedrock/BedrockConverse.ts"

const model = "us.anthropic.claude-sonnet-4-6"

const source = (name = model) => ({ provider: "bedrock", model: name, secrets: [] })

type Parameters = NonNullable<Parameters_[1]>
type Attachment = globalThis.Parameters<NonNullable<ReturnType<typeof BedrockConverse.make>["takes"]>>[0]
type Parameters_ = globalThis.Parameters<typeof BedrockConverse.make>

const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

const weather: Message.ToolSpec = {
  name: "weather",
  description: "tells it",
  parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] }
}

const body = (request: Partial<Model.Request> = {}, parameters: Parameters = {}, name?: string) =>
  JSON.parse(BedrockConverse.make(source(name), parameters).encode({ ...plain, ...request }, "whole"))

const refusal = (request: Partial<Model.Request>, parameters: Parameters = {}, name?: string) =>
  BedrockConverse.make(source(name), parameters).refuses?.({ ...plain, ...request })

const calling = (id: string, settlement: Message.Settlement, args: Message.ToolCall["arguments"] = { at: "Rome" }) => ({
  type: "settled-call" as const,
  call: { type: "tool-call" as const, id, name: "weather", arguments: args },
  settlement
})

const result = (text: string): Message.Settlement => ({ kind: "result", text })
const failed = (text: string): Message.Settlement => ({ kind: "told", text })

describe("a request of Converse", () => {
  it("has instructions, a conversation whose sides alternate, and its options merged with those of extra [P1414]", () => {
    const messages = [
      Message.system("be brief"),
      Message.user("one"),
      Message.user(" "),
      Message.system("\n"),
      Message.user("two"),
      Message.assistant("yes"),
      Message.user("three")
    ]
    const sent = {
      system: [{ text: "be brief" }],
      messages: [
        { role: "user", content: [{ text: "one" }, { text: "two" }] },
        { role: "assistant", content: [{ text: "yes" }] },
        { role: "user", content: [{ text: "three" }] }
      ]
    }
    assert.deepStrictEqual(body({ messages }), sent)
    const guardrailConfig = { guardrailIdentifier: "g" }
    const additionalModelRequestFields = { top_k: 5 }
    const extra = { guardrailConfig, inferenceConfig: { maxTokens: 1 }, additionalModelRequestFields }
    assert.deepStrictEqual(body({ messages }, { temperature: 0.5, topP: 0.9, maxTokens: 100, stop: ["END"], extra }), {
      ...sent,
      guardrailConfig,
      inferenceConfig: { maxTokens: 1, temperature: 0.5, topP: 0.9, stopSequences: ["END"] },
      additionalModelRequestFields
    })
    const output = { name: "answer", schema: { type: "object", properties: {} } } as const
    const [brief, schema] = body({ messages, output }).system
    assert.include([brief, schema].map((part) => part?.text).join(""), JSON.stringify(output.schema))
  })

  it("offers tools, and forces a call [P1414]", () => {
    const toolSpec = { name: "weather", description: "tells it", inputSchema: { json: weather.parameters } }
    const bare: Message.ToolSpec = { ...weather, description: "" }
    assert.deepStrictEqual(body({ tools: [weather] }).toolConfig, { tools: [{ toolSpec }] })
    assert.notProperty(body({ tools: [bare] }).toolConfig.tools[0].toolSpec, "description")
    assert.deepStrictEqual(body({ tools: [weather], toolChoice: "required" }).toolConfig.toolChoice, { any: {} })
    assert.deepStrictEqual(body({ tools: [weather], toolChoice: { tool: "weather" } }).toolConfig.toolChoice, {
      tool: { name: "weather" }
    })
    assert.deepStrictEqual(body({ tools: [weather] }, { toolChoice: "required" }).toolConfig.toolChoice, { any: {} })
    assert.notProperty(body({ tools: [weather], toolChoice: "none" }), "toolConfig")
  })

  it("declares the tools of a transcript with calls, which the provider refuses without [P1414]", () => {
    const messages = [Message.user("hi"), { role: "assistant" as const, content: [calling("a", result("rain"))] }]
    const declared = { toolSpec: { name: "weather", inputSchema: { json: { type: "object", properties: {} } } } }
    assert.deepStrictEqual(body({ messages }).toolConfig, { tools: [declared] })
    const { toolConfig } = body({ messages, tools: [weather], toolChoice: "none" })
    assert.strictEqual(toolConfig.tools[0].toolSpec.description, "tells it")
    assert.notProperty(toolConfig, "toolChoice")
  })

  it("has calls and their results, with ids of its own form, and marks failures [P1414]", () => {
    const image = Message.image("image/png", { data: "AAAA" })
    const content = [
      Message.text("I look."),
      calling("a|b", result("rain")),
      calling("a_b", failed("no such place"), '{"at":'),
      calling("c", { kind: "result", text: "[image]", parts: [Message.text("see"), image] }, "")
    ]
    const messages = [Message.user("hi"), { role: "assistant" as const, content }, Message.user("go on")]
    const [, said, heard] = body({ messages, tools: [weather] }).messages
    assert.deepStrictEqual(said.content, [
      { text: "I look." },
      { toolUse: { toolUseId: "a_b", name: "weather", input: { at: "Rome" } } },
      { toolUse: { toolUseId: "a_b_2", name: "weather", input: { arguments: '{"at":' } } },
      { toolUse: { toolUseId: "c", name: "weather", input: {} } }
    ])
    assert.deepStrictEqual(heard.content, [
      { toolResult: { toolUseId: "a_b", content: [{ text: "rain" }] } },
      { toolResult: { toolUseId: "a_b_2", content: [{ text: "no such place" }], status: "error" } },
      {
        toolResult: {
          toolUseId: "c",
          content: [{ text: "see" }, { image: { format: "png", source: { bytes: "AAAA" } } }]
        }
      },
      { text: "go on" }
    ])
    const [, , others] = body({ messages }, {}, "mistral.mistral-large").messages
    assert.deepStrictEqual(others.content[1].toolResult, {
      toolUseId: "a_b_2",
      content: [{ text: "ERROR: no such place" }]
    })
  })

  it("gives each document a name of its own, also where many have the same [P1414]", () => {
    const named = (name: string) => Message.file("application/pdf", { data: "AQID" }, name)
    const files = ["a", "b/", "a", "a.", "a 2", "a", ""].map(named)
    const [{ content }] = body({ messages: [Message.user([Message.text("see"), ...files])] }).messages
    const names = content.flatMap((block: { document?: { name: string } }) => block.document?.name ?? [])
    assert.deepStrictEqual(names, ["a", "b", "a 2", "a 3", "a 2 2", "a 4", "document"])
  })

  it("carries in results what has bytes, and images only for some models [P1414]", () => {
    const takes = (name: string, part: Attachment) => BedrockConverse.make(source(name)).takes?.(part)
    const png = (data: string) => Message.image("image/png", { data })
    const pdf = (data: string) => Message.file("application/pdf", { data })
    for (const [name, isFull] of [
      [model, true],
      ["amazon.nova-pro-v1:0", true],
      ["meta.llama3-3-70b-instruct-v1:0", false]
    ] as const) {
      assert.deepStrictEqual([takes(name, png("AQID")), takes(name, pdf("AQID"))], [isFull, true], name)
      assert.deepStrictEqual([takes(name, png("")), takes(name, pdf(""))], [false, false], name)
      assert.isFalse(takes(name, Message.file("application/pdf", { url: "s3://b/k" })), name)
      assert.isFalse(takes(name, Message.file("application/zip", { data: "AQID" })), name)
    }
    // unless the layer says that the model takes none
    assert.isUndefined(BedrockConverse.make(source(), {}, { images: [] }).takes)
    assert.isDefined(BedrockConverse.make(source(), {}, { images: ["data"] }).takes)
  })

  it("has images and documents as bytes or from S3, each document with a name and beside a text [P1414]", () => {
    const messages = [
      Message.user([
        Message.image("image/jpeg", { data: "AAAA" }),
        Message.image("image/webp", { url: "s3://bucket/a.webp" }),
        Message.file("application/pdf", { data: "BBBB" }, "report: 2026.pdf"),
        Message.file("text/markdown", { data: "CCCC" }, "report: 2026.pdf")
      ])
    ]
    assert.deepStrictEqual(body({ messages }).messages[0].content, [
      { image: { format: "jpeg", source: { bytes: "AAAA" } } },
      { image: { format: "webp", source: { s3Location: { uri: "s3://bucket/a.webp" } } } },
      { document: { format: "pdf", name: "report 2026 pdf", source: { bytes: "BBBB" } } },
      { document: { format: "md", name: "report 2026 pdf 2", source: { bytes: "CCCC" } } },
      { text: "report 2026 pdf" }
    ])
  })

  it("names the format of each document by its media type [P1414]", () => {
    const formats = {
      "application/pdf": "pdf",
      "text/csv": "csv",
      "application/msword": "doc",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
      "application/vnd.ms-excel": "xls",
      "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
      "text/html": "html",
      "text/plain": "txt",
      "text/markdown": "md"
    }
    const files = Object.keys(formats).map((type) => Message.file(type, { data: "AQID" }))
    const [{ content }] = body({ messages: [Message.user([Message.text("see"), ...files])] }).messages
    const sent = content.flatMap((block: { document?: { format: string } }) => block.document?.format ?? [])
    assert.deepStrictEqual(sent, Object.values(formats))
  })

  it("has no further fields that the library writes: the refusal says what to use instead", () => {
    refusesOwn((extra) => BedrockConverse.make(source(), { extra }), {
      written: {
        messages: "the messages of the request",
        system: "the prompt of the agent",
        "toolConfig.toolChoice": "the option toolChoice",
        "toolConfig.tools": "the tools of the agent, or the option providerTools"
      },
      merged: { additionalModelRequestFields: "an object", inferenceConfig: "an object", toolConfig: "an object" },
      single: []
    })
  })

  it("is refused for the first part that cannot be sent, in any message [P1414]", () => {
    const bmp = Message.image("image/bmp", { data: "AQID" })
    const before = [Message.user("hi"), Message.assistant("ho")]
    for (const [part, capability, detail] of [
      [Message.image("image/png", { url: "https://a.test/a.png" }), "vision", "only an address of S3"],
      [Message.image("image/tiff", { data: "AAAA" }), "vision", "image/tiff is not taken"],
      [Message.file("application/zip", { data: "AAAA" }), "files", "application/zip is not taken"]
    ] as const) {
      for (const messages of [[Message.user([part])], [...before, Message.user([part, bmp])]]) {
        const error = refusal({ messages })
        assert(error instanceof LlmError.CapabilityMismatchError)
        assert.strictEqual(error.capability, capability)
        assert.include(error.message, detail)
      }
    }
    assert.isUndefined(refusal({ messages: [...before, Message.user("so")] }))
  })

  const own = (data: string | null) => ({ provider: "bedrock", data })
  it("has signed thoughts of this provider, and none at the end of a message [P1414]", () => {
    const redacted = { reasoningContent: { redactedContent: "xyz" } }
    const content = [
      { type: "reasoning" as const, text: "hm", opaque: own("sig") },
      { type: "reasoning" as const, text: "unsigned", opaque: own(null) },
      { type: "reasoning" as const, text: "foreign", opaque: { provider: "gemini", data: "s" } },
      { type: "provider-item" as const, kind: "redacted_thinking", opaque: { provider: "bedrock", data: redacted } },
      Message.text("so"),
      { type: "provider-item" as const, kind: "citations", opaque: { provider: "bedrock", data: [] } }
    ]
    const thought = { reasoningContent: { reasoningText: { text: "hm", signature: "sig" } } }
    const last = { type: "reasoning" as const, text: "more", opaque: own("sig2") }
    const messages = [Message.user("hi"), { role: "assistant" as const, content: [...content, last] }]
    assert.deepStrictEqual(body({ messages }).messages[1].content, [thought, redacted, { text: "so" }])
  })

  const fields = [
    [model, { maxTokens: 2000 }, { thinking: { type: "enabled", budget_tokens: 2000 } }],
    [model, "high", { thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
    [model, "none", { thinking: { type: "disabled" } }],
    [model, "between_tools", { thinking: { type: "between_tools" } }],
    ["us.amazon.nova-2-lite-v1:0", "low", { reasoningConfig: { type: "enabled", maxReasoningEffort: "low" } }],
    ["us.amazon.nova-2-lite-v1:0", "none", { reasoningConfig: { type: "disabled" } }],
    ["openai.gpt-oss-120b-1:0", "low", { reasoning_effort: "low" }]
  ] as const
  for (const [name, reasoning, expected] of fields) {
    it(`asks ${name} for reasoning ${JSON.stringify(reasoning)} in its own words [P1414]`, () => {
      assert.deepStrictEqual(body({}, { reasoning }, name).additionalModelRequestFields, expected)
    })
  }

  it("leaves room for an answer beside a budget, and is refused where reasoning has no field that is known [P1414]", () => {
    assert.strictEqual(body({}, { reasoning: { maxTokens: 2000 } }).inferenceConfig.maxTokens, 2000 + 8192)
    const profile = "arn:aws:bedrock:us-east-1:1:application-inference-profile/x"
    for (const name of [profile, "deepseek.r1-v1:0"]) {
      const error = refusal({}, { reasoning: "high" }, name)
      assert(error instanceof LlmError.CapabilityMismatchError)
      assert.strictEqual(error.capability, "thinking")
      assert.include(error.message, "additionalModelRequestFields of extra")
    }
    assert.strictEqual(refusal({}, {}, profile), undefined)
  })

  it("has cache points behind instructions, or tools without them, and behind the conversation [P1414]", () => {
    const messages = [Message.system("s"), Message.user("hi")]
    const point = { cachePoint: { type: "default" } }
    const both = body({ messages, tools: [weather] }, { promptCache: {} })
    assert.deepStrictEqual(both.system, [{ text: "s" }, point])
    assert.deepStrictEqual(both.messages[0].content, [{ text: "hi" }, point])
    assert.strictEqual(both.toolConfig.tools.length, 1)
    const bare = body({ tools: [weather] }, { promptCache: { breakpoints: ["system"], ttl: "1h" } })
    assert.deepStrictEqual(bare.toolConfig.tools[1], { cachePoint: { type: "default", ttl: "1h" } })
    assert.deepStrictEqual(bare.messages[0].content, [{ text: "hi" }])
  })
})
