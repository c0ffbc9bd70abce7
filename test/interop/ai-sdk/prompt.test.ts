/** Requests as the options of one call to a language model of the AI SDK. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import type { Json } from "effect/Schema"
import { isTaken, optionsOf, type Sent } from "../../../packages/interop/src/ai-sdk/prompt.ts"
import type { Version } from "../../../packages/interop/src/ai-sdk/specification.ts"

const plain: Sent = { messages: [], tools: [], toolChoice: "auto" }

const to = (version: Version = "v4", provider = "p") => ({ version, provider, providerTools: [] })

/** The prompt of some messages. */
const promptOf = (messages: Message.Transcript, addressee: ReturnType<typeof to> = to()) =>
  optionsOf({ ...plain, messages }, addressee).prompt

type Content = Message.Assistant["content"]

/** The content of an assistant message, and the results behind it. */
const assistant = (content: Content, addressee?: ReturnType<typeof to>) => {
  const prompt = promptOf([{ role: "assistant", content }], addressee)
  return prompt.map(({ content, role }) => [role, content])
}

const item = (data: Json, provider = "p"): Content[number] => ({
  type: "provider-item",
  kind: "any",
  opaque: { provider, data }
})

const callWith = (args: Json, settlement: Message.Settlement, opaque?: Message.Opaque): Content[number] => ({
  type: "settled-call",
  call: { type: "tool-call", id: "c", name: "look", arguments: args, ...(opaque === undefined ? {} : { opaque }) },
  settlement
})

describe("the options of a call", () => {
  it("are its prompt, and what it has beside it [P1381]", () => {
    assert.deepStrictEqual(optionsOf(plain, to()), { prompt: [] })
    assert.deepStrictEqual(optionsOf({ ...plain, options: { a: { x: 1 }, b: 2 } }, to()), {
      prompt: [],
      providerOptions: { a: { x: 1 } }
    })
    assert.deepStrictEqual(optionsOf({ ...plain, options: {} }, to()), { prompt: [], providerOptions: {} })
    const schema = { type: "object" }
    assert.deepStrictEqual<unknown>(optionsOf({ ...plain, output: { name: "answer", schema } }, to()), {
      prompt: [],
      responseFormat: { type: "json", name: "answer", schema }
    })
    const list = { ...plain, messages: [Message.system("be kind")], output: { name: "a", schema: { type: "array" } } }
    assert.deepStrictEqual<unknown>(optionsOf(list, to()), {
      prompt: [
        { role: "system", content: 'Answer with JSON alone that fits this JSON Schema: {"type":"array"}' },
        { role: "system", content: "be kind" }
      ]
    })
  })

  it("have the tools of both kinds, and the choice only with tools [P1381]", () => {
    const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }]
    const search = { id: "a.search", name: "search", args: { n: 1 } } as const
    const own = { type: "function", name: "look", description: "Looks.", inputSchema: { type: "object" } }
    for (const [version, type] of [
      ["v2", "provider-defined"],
      ["v3", "provider"],
      ["v4", "provider"]
    ] as const) {
      const both = optionsOf({ ...plain, tools, toolChoice: "required" }, { ...to(version), providerTools: [search] })
      assert.deepStrictEqual<unknown>(both, {
        prompt: [],
        tools: [own, { ...search, type }],
        toolChoice: { type: "required" }
      })
      const theirs = optionsOf({ ...plain, toolChoice: "none" }, { ...to(version), providerTools: [search] })
      assert.deepStrictEqual<unknown>(theirs, {
        prompt: [],
        tools: [{ ...search, type }],
        toolChoice: { type: "none" }
      })
    }
    const named = optionsOf({ ...plain, tools, toolChoice: { tool: "look" } }, to())
    assert.deepStrictEqual<unknown>(named.toolChoice, { type: "tool", toolName: "look" })
    assert.deepStrictEqual(optionsOf({ ...plain, toolChoice: "none" }, to()), { prompt: [] })
  })
})

describe("a message of an assistant", () => {
  it("has its texts, its own thoughts, and its calls with their results behind it [P1381]", () => {
    const thought = (provider: string): Content[number] => ({
      type: "reasoning",
      text: provider,
      opaque: { provider, data: { metadata: { a: { x: 1 } } } }
    })
    const content: Content = [
      { type: "reasoning", text: "hmm" },
      thought("p"),
      thought("q"),
      Message.text("so"),
      callWith('{"n":1}', { kind: "result", text: "seen" }, { provider: "p", data: { metadata: { b: {} } } }),
      callWith('{"n":2}', { kind: "deferred", text: "later" }, { provider: "q", data: { metadata: { b: {} } } }),
      callWith('{"n":3}', { kind: "told", text: "no" })
    ]
    const call = (n: number) => ({ type: "tool-call", toolCallId: "c", toolName: "look", input: { n } })
    const result = (type: string, value: string) => ({
      type: "tool-result",
      toolCallId: "c",
      toolName: "look",
      output: { type, value }
    })
    assert.deepStrictEqual<unknown>(assistant(content), [
      [
        "assistant",
        [
          { type: "reasoning", text: "hmm" },
          { type: "reasoning", text: "p", providerOptions: { a: { x: 1 } } },
          { type: "text", text: "so" },
          { ...call(1), providerOptions: { b: {} } },
          call(2),
          call(3)
        ]
      ],
      ["tool", [result("text", "seen"), result("text", "later"), result("error-text", "no")]]
    ])
    assert.deepStrictEqual<unknown>(assistant([Message.text("so")]), [["assistant", [{ type: "text", text: "so" }]]])
    assert.deepStrictEqual(assistant([]), [])
    assert.deepStrictEqual(assistant([thought("q"), item({}, "q")]), [])
  })

  it("has an object for the arguments of each call [P1381]", () => {
    const inputs = [null, "", "{oops", "[1]", '"x"', "null", '{"n":1}', { n: 2 }, [3], 4, true]
    const content = inputs.map((args) => callWith(args, { kind: "result", text: "" }))
    const [, calls] = assistant(content)[0] ?? []
    assert(Array.isArray(calls))
    assert.deepStrictEqual(
      calls.map((part) => part.type === "tool-call" && part.input),
      [
        {},
        {},
        { arguments: "{oops" },
        { arguments: "[1]" },
        { arguments: '"x"' },
        { arguments: "null" },
        { n: 1 },
        { n: 2 },
        { arguments: [3] },
        { arguments: 4 },
        { arguments: true }
      ]
    )
  })

  it("has the parts that its provider made, and no others [P1381]", () => {
    const parts = (data: Json, version: Version = "v4") =>
      (assistant([item(data)], to(version))[0]?.[1] ?? []) as ReadonlyArray<unknown>
    const metadata = { a: { x: 1 } }
    const own = { providerOptions: metadata }
    const ran = { type: "tool-call", toolCallId: "c", toolName: "search", providerExecuted: true }
    assert.deepStrictEqual(parts({ metadata, part: { ...ran, input: '{"q":1}' } }), [
      { ...ran, input: { q: 1 }, ...own }
    ])
    assert.deepStrictEqual(parts({ part: { type: "tool-call" } }), [
      { type: "tool-call", toolCallId: "", toolName: "", input: {}, providerExecuted: true }
    ])
    const result = { type: "tool-result", toolCallId: "c", toolName: "search" }
    assert.deepStrictEqual(parts({ metadata, part: { ...result, result: [1] } }), [
      { ...result, output: { type: "json", value: [1] }, ...own }
    ])
    assert.deepStrictEqual(parts({ part: { ...result, isError: true } }), [
      { ...result, output: { type: "error-json", value: null } }
    ])
    assert.deepStrictEqual(parts({ part: { ...result, isError: "true", result: "no" } }), [
      { ...result, output: { type: "json", value: "no" } }
    ])
    const file = { type: "file", mediaType: "image/png", data: "AAAA" }
    assert.deepStrictEqual(parts({ metadata, part: file }, "v3"), [{ ...file, ...own }])
    assert.deepStrictEqual(parts({ metadata, part: file }), [{ ...file, data: { type: "data", data: "AAAA" }, ...own }])
    assert.deepStrictEqual(parts({ part: { type: "file", mediaType: "image/png" } }), [])
    const custom = { type: "custom", kind: "openai.x" }
    assert.deepStrictEqual(parts({ metadata, part: { ...custom, more: 1 } }), [{ ...custom, ...own }])
    for (const version of ["v2", "v3"] as const) assert.deepStrictEqual(parts({ metadata, part: custom }, version), [])
    assert.deepStrictEqual(parts({ metadata, part: { type: "source" } }), [])
  })

  it("has the metadata of a text at the characters that it belongs to [P1381]", () => {
    const metadata = { a: { x: 1 } }
    const marked = (text: string, length: Json) =>
      assistant([...(text === "" ? [] : [Message.text(text)]), item({ metadata, length })])[0]?.[1]
    const part = (text: string) => ({ type: "text", text })
    const own = (text: string) => ({ type: "text", text, providerOptions: metadata })
    assert.deepStrictEqual<unknown>(marked("hello", 5), [own("hello")])
    assert.deepStrictEqual<unknown>(marked("hello", 2), [part("hel"), own("lo")])
    // characters that are not there
    for (const odd of [6, 0, null, "2"]) assert.deepStrictEqual<unknown>(marked("hello", odd), [part("hello"), own("")])
    assert.deepStrictEqual<unknown>(marked("", 2), [own("")])
    const content: Content = [
      Message.text("hello"),
      callWith({}, { kind: "result", text: "" }),
      item({ metadata, length: 2 })
    ]
    const call = { type: "tool-call", toolCallId: "c", toolName: "look", input: {} }
    assert.deepStrictEqual<unknown>(assistant(content)[0]?.[1], [part("hello"), call, own("")])
  })
})

describe("the result of a call", () => {
  const png = Message.image("image/png", { data: "AAAA" })
  const outputOf = (
    parts: Message.UserContent | undefined,
    version: Version = "v4",
    provider = "anthropic.messages"
  ) => {
    const settlement = { kind: "result" as const, text: "an image", ...(parts === undefined ? {} : { parts }) }
    const content = promptOf([{ role: "assistant", content: [callWith({}, settlement)] }], to(version, provider))[1]
      ?.content
    assert(Array.isArray(content))
    return (content[0] as { readonly output: unknown }).output
  }
  const text = { type: "text", value: "an image" }

  it("has parts if one of them is more than a text, and all can be sent [P1376 P1381]", () => {
    const shown = { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } }
    assert.deepStrictEqual(outputOf([png]), { type: "content", value: [shown] })
    assert.deepStrictEqual(outputOf([Message.text("see"), png]), {
      type: "content",
      value: [{ type: "text", text: "see" }, shown]
    })
    for (const parts of [undefined, [], [Message.text("see")], [png, Message.file("audio/wav", { data: "AAAA" })]])
      assert.deepStrictEqual(outputOf(parts), text)
    // as events have it, without its bytes
    const stored: Message.UserContent[number] = { type: "image", mediaType: "image/png", bytes: 3 } as never
    assert.deepStrictEqual(outputOf([stored]), text)
    assert.deepStrictEqual(outputOf([png], "v4", "openai.chat"), text)
    // a failure is a text in any case
    const failed = callWith({}, { kind: "denied", text: "no", parts: [png] })
    const [, results] = promptOf([{ role: "assistant", content: [failed] }], to("v4", "anthropic"))
    assert.deepStrictEqual<unknown>(results?.content, [
      { type: "tool-result", toolCallId: "c", toolName: "look", output: { type: "error-text", value: "no" } }
    ])
  })

  it("is taken by providers that read images there, for what they read [P1376 P1381]", () => {
    const taken = (part: Parameters<typeof isTaken>[0], version: Version = "v4", provider = "anthropic.messages") =>
      isTaken(part, { provider, version })
    const image = (mediaType: string) => Message.image(mediaType, { data: "AAAA" })
    for (const type of ["png", "jpeg", "gif", "webp"]) assert.isTrue(taken(image(`image/${type}`)))
    for (const type of ["image/bmp", "image/pngx", "ximage/png", "application/pdf"]) assert.isFalse(taken(image(type)))
    const pdf = (mediaType: string) => Message.file(mediaType, { data: "AAAA" })
    assert.isTrue(taken(pdf("application/pdf")))
    for (const type of ["application/pdfx", "image/png"]) assert.isFalse(taken(pdf(type)))
    for (const provider of [
      "anthropic",
      "anthropic.messages",
      "google.generative-ai",
      "vertex.x",
      "amazon-bedrock",
      "bedrock",
      "openai.responses",
      "azure.responses",
      "vertex2.anthropic.messages"
    ])
      assert.isTrue(taken(png, "v4", provider), provider)
    for (const provider of ["openai.chat", "openai", "xanthropic", "googlex", "my.google", "responses", "a.responsesx"])
      assert.isFalse(taken(png, "v4", provider), provider)
    assert.isFalse(taken(Message.image("image/png", { data: "" })))
    assert.isFalse(taken(Message.image("image/png", { url: "file-1" })))
    for (const version of ["v3", "v4"] as const) {
      assert.isTrue(taken(Message.image("image/png", { url: "https://a.test/a" }), version))
      assert.isTrue(taken(Message.image("image/png", { url: "HTTP://a.test/a" }), version))
      assert.isFalse(taken(Message.image("image/png", { url: "gs://a/a" }), version))
    }
    assert.isFalse(taken(Message.image("image/png", { url: "https://a.test/a" }), "v2"))
    assert.isTrue(taken(png, "v2"))
  })
})
