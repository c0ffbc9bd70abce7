import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import type * as Provider from "@kintsugi/providers/Provider"
import type { Schema } from "effect"

const source: Provider.Source = { provider: "gemini", model: "gemini-2.5-flash", secrets: [] }
const third: Provider.Source = { ...source, model: "gemini-3-pro-preview" }

const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

const encode = (
  request: Partial<Model.Request>,
  parameters?: Parameters<typeof GeminiContent.make>[1],
  from = source
) => JSON.parse(GeminiContent.make(from, parameters).encode({ ...plain, ...request }, "whole"))

const contentsOf = (messages: ReadonlyArray<Message.Message>, from = source) => encode({ messages }, {}, from).contents

const call = (id: string, args: Message.ToolCall["arguments"], opaque?: Message.Opaque): Message.ToolCall => ({
  type: "tool-call",
  id,
  name: "search",
  arguments: args,
  ...(opaque === undefined ? {} : { opaque })
})

const answered = (toolCall: Message.ToolCall, kind: Message.Settlement["kind"], text: string): Message.SettledCall => ({
  type: "settled-call",
  call: toolCall,
  settlement: { kind, text }
})

const said = (...content: Message.Assistant["content"]): Message.Assistant => ({ role: "assistant", content })

const tool: Message.ToolSpec = { name: "search", description: "Searches.", parameters: { type: "object" } }

const signed = (thoughtSignature: string, id?: string): Message.Opaque => ({
  provider: "gemini",
  data: { ...(id === undefined ? {} : { id }), thoughtSignature }
})

describe("messages", () => {
  it("name a stored file by its name or by its address", () => {
    const uriOf = (url: string) =>
      contentsOf([Message.user([Message.file("application/pdf", { url })])])[0].parts[0].fileData.fileUri
    assert.strictEqual(uriOf("files/abc-1"), "https://generativelanguage.googleapis.com/v1beta/files/abc-1")
    for (const url of ["files/abc/1", "files/", "my/files/abc", "https://a.test/files/abc"]) {
      assert.strictEqual(uriOf(url), url)
    }
  })

  it("have images in results from the third generation on, and the texts beside them as their output", () => {
    const image = Message.image("image/png", { data: "AQID" })
    const result: Message.SettledCall = {
      ...answered(call("c1", {}), "result", "described"),
      settlement: { kind: "result", text: "described", parts: [Message.text("one"), image, Message.text("two")] }
    }
    const response = (model: string) => {
      const [, , { parts }] = contentsOf([Message.user("go"), said(result)], { ...source, model })
      return parts[0].functionResponse
    }
    for (const model of ["gemini-3-pro-preview", "gemini-9-pro", "gemini-10-pro", "models/gemini-3-pro"]) {
      assert.deepStrictEqual(response(model), {
        name: "search",
        response: { output: "one\ntwo" },
        parts: [{ inlineData: { mimeType: "image/png", data: "AQID" } }]
      })
    }
    for (const model of ["gemini-2.5-pro", "gemini-1.5-pro", "gemma-3"]) {
      assert.deepStrictEqual(response(model), { name: "search", response: { output: "described" } })
    }
  })

  it("are contents of user and model, or the instruction of the system; nothing else is sent that is not given", () => {
    const foreign = said({ type: "reasoning", text: "hm", opaque: { provider: "anthropic", data: "s" } })
    const messages = [
      Message.system("be brief"),
      Message.user([
        Message.text("a"),
        Message.image("image/png", { data: "aGk=" }),
        Message.image("image/png", { url: "https://example.org/a.png" }),
        Message.file("application/pdf", { data: "aGk=" }, "a.pdf"),
        Message.file("application/pdf", { url: "https://example.org/a.pdf" })
      ]),
      Message.assistant("hello"),
      foreign,
      said(),
      Message.assistant(""),
      Message.system("be kind"),
      Message.user([])
    ]
    const { encode, refuses } = GeminiContent.make(source)
    for (const mode of ["whole", "streamed"] as const) {
      assert.deepStrictEqual(JSON.parse(encode({ ...plain, messages }, mode)), {
        contents: [
          {
            role: "user",
            parts: [
              { text: "a" },
              { inlineData: { mimeType: "image/png", data: "aGk=" } },
              { fileData: { mimeType: "image/png", fileUri: "https://example.org/a.png" } },
              { inlineData: { mimeType: "application/pdf", data: "aGk=" } },
              { fileData: { mimeType: "application/pdf", fileUri: "https://example.org/a.pdf" } }
            ]
          },
          { role: "model", parts: [{ text: "hello" }] },
          { role: "user", parts: [{ text: "" }] }
        ],
        systemInstruction: { parts: [{ text: "be brief" }, { text: "be kind" }] }
      })
    }
    assert.isUndefined(refuses?.({ ...plain, messages, toolChoice: "required" }))
  })
})

describe("settled calls", () => {
  it("writes one response per call in a turn of the user, as an error unless it is a result, with an id that Gemini gave [C1 C2]", () => {
    const kinds = ["told", "denied", "interrupted", "truncated", "unknown"] as const
    const foreign = { provider: "openai", data: { id: "c1", thoughtSignature: "s" } }
    const assistant = said(
      Message.text("let me see"),
      answered(call("c1", '{"q":1}'), "result", "one"),
      answered(call("fc-2", { q: 2 }, signed("s", "fc-2")), "result", "two"),
      answered(call("c3", {}, foreign), "result", "three"),
      ...kinds.map((kind) => answered(call(kind, null), kind, `it was ${kind}`))
    )
    const made = (args: object, more: object = {}) => ({ functionCall: { ...more, name: "search", args } })
    const response = (response: object, more: object = {}) => ({
      functionResponse: { ...more, name: "search", response }
    })
    assert.deepStrictEqual(contentsOf([Message.user("go"), assistant, Message.user("and?")]), [
      { role: "user", parts: [{ text: "go" }] },
      {
        role: "model",
        parts: [
          { text: "let me see" },
          made({ q: 1 }),
          { ...made({ q: 2 }, { id: "fc-2" }), thoughtSignature: "s" },
          made({}),
          ...kinds.map(() => made({}))
        ]
      },
      {
        role: "user",
        parts: [
          response({ output: "one" }),
          response({ output: "two" }, { id: "fc-2" }),
          response({ output: "three" }),
          ...kinds.map((kind) => response({ error: `it was ${kind}` }))
        ]
      },
      { role: "user", parts: [{ text: "and?" }] }
    ])
  })

  it("writes any arguments as an object", () => {
    const argsOf = (args: Message.ToolCall["arguments"]) =>
      contentsOf([said(answered(call("c1", args), "told", "x"))])[0].parts[0].functionCall.args
    for (const [args, wire] of [
      ['{"a": [1]}', { a: [1] }],
      [{ a: null }, { a: null }],
      [null, {}],
      ["", {}],
      ["nonsense", { arguments: "nonsense" }],
      ["[1]", { arguments: "[1]" }],
      [[1], { arguments: [1] }]
    ] as const) {
      assert.deepStrictEqual(argsOf(args), wire)
    }
  })
})

describe("data that Gemini demands back", () => {
  const item = (kind: string, data: Message.Opaque["data"], provider = "gemini"): Message.ProviderItem => ({
    type: "provider-item",
    kind,
    opaque: { provider, data }
  })

  it("sends signatures back on their part and its own items as they are, without the metadata, and none to others [P1002]", () => {
    const code = { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "s0" }
    const result = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } }
    const assistant = said(
      item("executableCode", code),
      item("codeExecutionResult", result),
      { type: "reasoning", text: "hmm", opaque: { provider: "gemini", data: { thoughtSignature: "s1" } } },
      { type: "reasoning", text: "so", opaque: { provider: "gemini", data: {} } },
      Message.text("first last"),
      item("thoughtSignature", { thoughtSignature: "s2", length: 4 }),
      Message.text("more"),
      item("thoughtSignature", { thoughtSignature: "s3", length: 0 }),
      answered(call("c1", {}, signed("s4")), "result", "x"),
      item("groundingMetadata", { webSearchQueries: ["x"] }),
      item("web_search_call", { type: "web_search_call" }, "openai")
    )
    const parts = [
      code,
      result,
      { text: "hmm", thought: true, thoughtSignature: "s1" },
      { text: "so", thought: true },
      { text: "first " },
      { text: "last", thoughtSignature: "s2" },
      { text: "more" },
      { text: "", thoughtSignature: "s3" },
      { functionCall: { name: "search", args: {} }, thoughtSignature: "s4" }
    ]
    assert.deepStrictEqual(contentsOf([assistant])[0].parts, parts)
    assert.deepStrictEqual(contentsOf([assistant], { ...source, provider: "vertex" })[0].parts, [
      { text: "first last" },
      { text: "more" },
      { functionCall: { name: "search", args: {} } }
    ])
  })
})

describe("tools", () => {
  it("declares them by their JSON Schema, a named one taken out of the definitions, the provider's own beside them", () => {
    const $defs = { Query: { type: "object", properties: { q: { type: "string" } } } }
    const named = { ...tool, name: "ask", parameters: { $ref: "#/$defs/Query", $defs } }
    assert.deepStrictEqual(encode({ tools: [tool, named] }, { providerTools: [{ googleSearch: {} }] }).tools, [
      {
        functionDeclarations: [
          { name: "search", description: "Searches.", parametersJsonSchema: { type: "object" } },
          { name: "ask", description: "Searches.", parametersJsonSchema: { ...$defs.Query, $defs } }
        ]
      },
      { googleSearch: {} }
    ])
    assert.notProperty(encode({}), "tools")
  })

  it("writes a choice among them, only where there are any", () => {
    const configOf = (toolChoice: Model.ToolChoice) => encode({ tools: [tool], toolChoice }).toolConfig
    assert.isUndefined(configOf("auto"))
    assert.deepStrictEqual(configOf("none"), { functionCallingConfig: { mode: "NONE" } })
    assert.deepStrictEqual(configOf("required"), { functionCallingConfig: { mode: "ANY" } })
    assert.deepStrictEqual(configOf({ tool: "search" }), {
      functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["search"] }
    })
    assert.notProperty(encode({ toolChoice: "none" }), "toolConfig")
    const asked = encode({ tools: [tool] }, { toolChoice: "required", extra: { toolConfig: { retrievalConfig: {} } } })
    assert.deepStrictEqual(asked.toolConfig, { retrievalConfig: {}, functionCallingConfig: { mode: "ANY" } })
  })
})

describe("the output", () => {
  const output: Model.OutputSpec = { name: "report", schema: { type: "object", properties: {} } }
  const config = { responseMimeType: "application/json", responseJsonSchema: output.schema }

  it("goes as a JSON Schema, beside tools only from the third generation on, which refuses calls without a signature [P301 P1002]", () => {
    assert.deepStrictEqual(encode({ output }, { temperature: 0 }).generationConfig, { temperature: 0, ...config })
    const two = said(answered(call("c1", {}), "result", "x"), answered(call("c2", {}), "result", "y"))
    const own = said(answered(call("c1", {}, signed("real")), "result", "x"))
    const sent = (model: string) => {
      const body = encode({ messages: [two, own], output, tools: [tool] }, {}, { ...source, model })
      const [others, , ours] = body.contents
      return [
        body.generationConfig,
        ...[...others.parts, ...ours.parts].map((part: object) => Reflect.get(part, "thoughtSignature"))
      ]
    }
    for (const model of ["gemini-3-pro", "models/gemini-4", "gemini-10-pro"]) {
      // the first of another model's calls has the mark that Google documents
      assert.deepStrictEqual(sent(model), [config, "skip_thought_signature_validator", undefined, "real"], model)
    }
    for (const model of ["gemini-2.5-pro", "my-gemini-3", "gemini-1"]) {
      assert.deepStrictEqual(sent(model), [undefined, undefined, undefined, "real"], model)
    }
  })

  it("is left to a user who set a schema, with no text for it", () => {
    const sent = (generationConfig: Record<string, Schema.Json>) => {
      const body = encode({ output, tools: [tool] }, { extra: { generationConfig } })
      return ["systemInstruction" in body, body.generationConfig]
    }
    assert.deepStrictEqual(sent({}), [true, undefined])
    for (const name of ["responseSchema", "responseJsonSchema"]) {
      assert.deepStrictEqual(sent({ [name]: { type: "array" } }), [false, { [name]: { type: "array" } }])
      const alone = encode({ output }, { extra: { generationConfig: { [name]: { type: "array" } } } })
      assert.deepStrictEqual(alone.generationConfig, {
        responseMimeType: "application/json",
        [name]: { type: "array" }
      })
    }
  })
})

describe("the rest of the body", () => {
  it("has the given parameters under the names of the wire, and how much to think in the words of the model", () => {
    const body = encode(
      {},
      {
        temperature: 0,
        topP: 0.5,
        maxTokens: 10,
        stop: ["x"],
        seed: 7,
        reasoning: { maxTokens: 512 },
        extra: { safetySettings: [], generationConfig: { topK: 3 } }
      }
    )
    assert.deepStrictEqual(body, {
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      generationConfig: {
        topK: 3,
        temperature: 0,
        topP: 0.5,
        maxOutputTokens: 10,
        stopSequences: ["x"],
        seed: 7,
        thinkingConfig: { thinkingBudget: 512, includeThoughts: true }
      },
      safetySettings: []
    })
    const thinkingOf = (parameters: Parameters<typeof GeminiContent.make>[1], from = source) =>
      encode({}, parameters, from).generationConfig.thinkingConfig
    assert.deepStrictEqual(thinkingOf({ reasoning: "high" }, third), { thinkingLevel: "high", includeThoughts: true })
    assert.deepStrictEqual(thinkingOf({ reasoning: "none" }), { thinkingBudget: 0 })
    assert.deepStrictEqual(thinkingOf({ includeThoughts: true }), { includeThoughts: true })
    assert.deepStrictEqual(thinkingOf({ reasoning: "low", includeThoughts: false }, third), {
      thinkingLevel: "low",
      includeThoughts: false
    })
  })
})
