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

  it("writes messages of user and model as contents, and those of the system as its instruction", () => {
    const messages = [
      Message.system("be brief"),
      Message.user([Message.text("a"), Message.text("b")]),
      Message.assistant("hello"),
      Message.system("be kind")
    ]
    assert.deepStrictEqual(encode({ messages }), {
      contents: [
        { role: "user", parts: [{ text: "a" }, { text: "b" }] },
        { role: "model", parts: [{ text: "hello" }] }
      ],
      systemInstruction: { parts: [{ text: "be brief" }, { text: "be kind" }] }
    })
  })

  it("leaves out a message of which nothing is left, and writes an empty one of a user as an empty text", () => {
    const foreign = said({ type: "reasoning", text: "hm", opaque: { provider: "anthropic", data: "s" } })
    assert.deepStrictEqual(contentsOf([Message.user([]), foreign, said(), Message.assistant("")]), [
      { role: "user", parts: [{ text: "" }] }
    ])
  })

  it("writes images and files, by their bytes or their address", () => {
    const user = Message.user([
      Message.image("image/png", { data: "aGk=" }),
      Message.image("image/png", { url: "https://example.org/a.png" }),
      Message.file("application/pdf", { data: "aGk=" }, "a.pdf"),
      Message.file("application/pdf", { url: "https://example.org/a.pdf" })
    ])
    assert.deepStrictEqual(contentsOf([user])[0].parts, [
      { inlineData: { mimeType: "image/png", data: "aGk=" } },
      { fileData: { mimeType: "image/png", fileUri: "https://example.org/a.png" } },
      { inlineData: { mimeType: "application/pdf", data: "aGk=" } },
      { fileData: { mimeType: "application/pdf", fileUri: "https://example.org/a.pdf" } }
    ])
    assert.isUndefined(GeminiContent.make(source).refuses?.({ ...plain, messages: [user], toolChoice: "required" }))
  })
})

describe("settled calls", () => {
  it("writes one response per call in a turn of the user, an error under the name of one [C1 C2]", () => {
    const assistant = said(
      Message.text("let me see"),
      answered(call("c1", '{"q":1}'), "result", "one"),
      answered(call("c2", { q: 2 }), "told", "two failed")
    )
    assert.deepStrictEqual(contentsOf([Message.user("go"), assistant, Message.user("and?")]), [
      { role: "user", parts: [{ text: "go" }] },
      {
        role: "model",
        parts: [
          { text: "let me see" },
          { functionCall: { name: "search", args: { q: 1 } } },
          { functionCall: { name: "search", args: { q: 2 } } }
        ]
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "search", response: { output: "one" } } },
          { functionResponse: { name: "search", response: { error: "two failed" } } }
        ]
      },
      { role: "user", parts: [{ text: "and?" }] }
    ])
  })

  it("every settlement that is no result is an error [C2]", () => {
    for (const kind of ["told", "denied", "interrupted", "truncated", "unknown"] as const) {
      const [, responses] = contentsOf([said(answered(call("c1", null), kind, "x"))])
      assert.deepStrictEqual(responses.parts[0].functionResponse.response, { error: "x" })
    }
  })

  it("sends back the ids that Gemini gave, in call and response, and none of any other origin", () => {
    const [own, ownResponse] = contentsOf([said(answered(call("fc-1", {}, signed("s", "fc-1")), "result", "x"))])
    assert.strictEqual(own.parts[0].functionCall.id, "fc-1")
    assert.strictEqual(ownResponse.parts[0].functionResponse.id, "fc-1")
    const foreign = { provider: "openai", data: { id: "c1", thoughtSignature: "s" } }
    for (const made of [call("c1", {}), call("c1", {}, foreign)]) {
      const [model, response] = contentsOf([said(answered(made, "result", "x"))])
      assert.deepStrictEqual(model.parts, [{ functionCall: { name: "search", args: {} } }])
      assert.notProperty(response.parts[0].functionResponse, "id")
    }
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

  it("sends signatures back on their part, and to no other provider [P1002]", () => {
    const assistant = said(
      { type: "reasoning", text: "hmm", opaque: { provider: "gemini", data: { thoughtSignature: "s1" } } },
      { type: "reasoning", text: "so", opaque: { provider: "gemini", data: {} } },
      Message.text("first last"),
      item("thoughtSignature", { thoughtSignature: "s2", length: 4 }),
      Message.text("more"),
      item("thoughtSignature", { thoughtSignature: "s3", length: 0 }),
      answered(call("c1", {}, signed("s4")), "result", "x")
    )
    const parts = [
      { text: "hmm", thought: true, thoughtSignature: "s1" },
      { text: "so", thought: true },
      { text: "first " },
      { text: "last", thoughtSignature: "s2" },
      { text: "more" },
      { text: "", thoughtSignature: "s3" },
      { functionCall: { name: "search", args: {} }, thoughtSignature: "s4" }
    ]
    assert.deepStrictEqual(contentsOf([assistant])[0].parts, parts)
    const elsewhere = JSON.stringify(contentsOf([assistant], { ...source, provider: "vertex" }))
    assert.notInclude(elsewhere, "s1")
    assert.notInclude(elsewhere, "thoughtSignature")
    assert.notInclude(elsewhere, "hmm")
  })

  it("sends provider-side items back unchanged, but not the metadata beside the content", () => {
    const code = { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "s" }
    const result = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } }
    const assistant = said(
      item("executableCode", code),
      item("codeExecutionResult", result),
      Message.text("1"),
      item("groundingMetadata", { webSearchQueries: ["x"] }),
      item("web_search_call", { type: "web_search_call" }, "openai")
    )
    assert.deepStrictEqual(contentsOf([assistant])[0].parts, [code, result, { text: "1" }])
  })

  it("marks the first of another model's calls, for the models that refuse calls without a signature [P1002]", () => {
    const assistant = said(answered(call("c1", {}), "result", "x"), answered(call("c2", {}), "result", "y"))
    const signatures = (from: Provider.Source) =>
      contentsOf([assistant], from)[0].parts.map((part: object) => Reflect.get(part, "thoughtSignature"))
    assert.deepStrictEqual(signatures(third), ["skip_thought_signature_validator", undefined])
    assert.deepStrictEqual(signatures(source), [undefined, undefined])
    const own = said(answered(call("c1", {}, signed("real")), "result", "x"))
    assert.strictEqual(contentsOf([own], third)[0].parts[0].thoughtSignature, "real")
  })
})

describe("tools", () => {
  it("knows the generations that take tools and a schema together by their names", () => {
    const output = { name: "answer", schema: { type: "object" } }
    const isShaped = (model: string) =>
      "generationConfig" in encode({ output, tools: [tool] }, {}, { ...source, model })
    assert.deepStrictEqual(
      ["gemini-2.5-pro", "gemini-3-pro", "models/gemini-4", "gemini-10-pro", "my-gemini-3", "gemini-1"].map(isShaped),
      [false, true, true, true, false, false]
    )
  })

  it("declares them by their JSON Schema, the provider's own beside them", () => {
    assert.deepStrictEqual(encode({ tools: [tool] }, { providerTools: [{ googleSearch: {} }] }).tools, [
      {
        functionDeclarations: [{ name: "search", description: "Searches.", parametersJsonSchema: { type: "object" } }]
      },
      { googleSearch: {} }
    ])
    assert.notProperty(encode({}), "tools")
  })

  it("takes the schema of a tool's parameters out of the definitions", () => {
    const $defs = { Query: { type: "object", properties: { q: { type: "string" } } } }
    const named = { ...tool, parameters: { $ref: "#/$defs/Query", $defs } }
    const { tools } = encode({ tools: [named] })
    assert.deepStrictEqual(tools[0].functionDeclarations[0].parametersJsonSchema, { ...$defs.Query, $defs })
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

  it("goes as a JSON Schema, beside tools only where the model takes both [P301]", () => {
    assert.deepStrictEqual(encode({ output }, { temperature: 0 }).generationConfig, { temperature: 0, ...config })
    assert.notProperty(encode({ output, tools: [tool] }), "generationConfig")
    assert.deepStrictEqual(encode({ output, tools: [tool] }, {}, third).generationConfig, config)
  })
})

describe("the rest of the body", () => {
  it("sends no parameter that is not given, whole and streamed", () => {
    const body = { contents: [{ role: "user", parts: [{ text: "hi" }] }] }
    assert.deepStrictEqual(encode({}), body)
    assert.deepStrictEqual(JSON.parse(GeminiContent.make(source).encode(plain, "streamed")), body)
  })

  it("sends the given parameters, under the names of the wire", () => {
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
  })

  it("leaves the output schema to a user who set one, and adds no text for it", () => {
    const output = { name: "answer", schema: { type: "object" } }
    const words = (generationConfig: Record<string, Schema.Json>) =>
      JSON.stringify(encode({ output, tools: [tool] }, { extra: { generationConfig } }).systemInstruction ?? "none")
    assert.notStrictEqual(words({}), JSON.stringify("none"))
    for (const name of ["responseSchema", "responseJsonSchema"]) {
      assert.strictEqual(words({ [name]: { type: "object" } }), JSON.stringify("none"))
    }
  })

  it("writes how much to think in the words of the model", () => {
    const thinkingOf = (parameters: Parameters<typeof GeminiContent.make>[1], from = source) =>
      encode({}, parameters, from).generationConfig.thinkingConfig
    assert.deepStrictEqual(thinkingOf({ reasoning: { maxTokens: 9 } }), { thinkingBudget: 9, includeThoughts: true })
    assert.deepStrictEqual(thinkingOf({ reasoning: "high" }, third), { thinkingLevel: "high", includeThoughts: true })
    assert.deepStrictEqual(thinkingOf({ reasoning: "none" }), { thinkingBudget: 0 })
    assert.deepStrictEqual(thinkingOf({ includeThoughts: true }), { includeThoughts: true })
    assert.deepStrictEqual(thinkingOf({ reasoning: "low", includeThoughts: false }, third), {
      thinkingLevel: "low",
      includeThoughts: false
    })
  })
})

describe("the cached encoding", () => {
  it("a later turn begins with the contents of the one before [P1110]", () => {
    const codec = GeminiContent.make(source)
    const messages = [Message.user("b"), said(answered(call("c1", "{}"), "told", "no"))]
    const first = codec.encode({ ...plain, messages }, "whole")
    const second = codec.encode({ ...plain, messages: [...messages, Message.assistant("c")] }, "whole")
    assert.isTrue(second.startsWith(first.slice(0, -2)))
  })
})
