/** What the codec says of itself, and of requests, beside their bodies. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import { refusesOwn } from "../_support/ownFields.ts"
import { answered, call, encode, said, source } from "./_support/requests.ts"

const png = Message.image("image/png", { data: "AQID" })

describe("the codec", () => {
  it("takes images in results, unless the model takes none, and binds thoughts to the tools of the provider", () => {
    const providerTools = [{ type: "web_search_20260209", name: "web_search" }]
    for (const [parameters, able, says] of [
      [{}, {}, [true, [], false]],
      [{}, { images: ["data"] }, [true, [], false]],
      [{ providerTools }, { images: [] }, [undefined, providerTools, true]]
    ] as const) {
      const codec = AnthropicMessages.make(source, parameters, able)
      assert.deepStrictEqual<unknown>([codec.takes?.(png), codec.bindsThoughts, codec.providerTools], says)
    }
  })

  it("continues a message of the model where nothing speaks against it", () => {
    const continuationOf = (parameters: Parameters<typeof AnthropicMessages.make>[1], able: object = {}) =>
      AnthropicMessages.make(source, parameters, { continuation: "rest", ...able }).continuation
    for (const parameters of [
      {},
      { reasoning: "none" },
      { reasoning: { maxTokens: 0 } },
      { toolChoice: "auto" },
      { toolChoice: "none" },
      { extra: { output_config: { effort: "low" } } },
      { extra: { thinking: { type: "disabled" } } }
    ] as const) {
      assert.strictEqual(continuationOf(parameters), "rest", JSON.stringify(parameters))
    }
    for (const parameters of [
      { reasoning: "low" },
      { reasoning: { maxTokens: 2000 } },
      { includeThoughts: true },
      { toolChoice: "required" },
      { toolChoice: { tool: "search" } },
      { extra: { output_config: { format: { type: "json_schema", schema: {} } } } },
      { extra: { thinking: { type: "adaptive" } } }
    ] as const) {
      assert.isUndefined(continuationOf(parameters), JSON.stringify(parameters))
    }
    assert.isUndefined(continuationOf({}, { continuation: "none" }))
    assert.isUndefined(AnthropicMessages.make(source).continuation)
  })
})

it("the fields that the library writes are no further fields: the refusal says what to use instead; `output_config` is merged", () => {
  refusesOwn((extra) => AnthropicMessages.make(source, { extra }), {
    written: {
      messages: "the messages of the request",
      model: "the option model",
      stream: "Model.stream or a streamed run",
      system: "the prompt of the agent",
      tool_choice: "the options toolChoice and parallelToolCalls",
      tools: "the tools of the agent, or the option providerTools"
    },
    merged: { output_config: "an object" },
    single: []
  })
  const { output_config } = encode({}, { reasoning: "low", extra: { output_config: { a: 1 } } })
  assert.deepStrictEqual(output_config, { effort: "low", a: 1 })
})

describe("the check for stored files", () => {
  const stored = Message.file("application/pdf", { url: "file_1" })
  const at = Message.file("application/pdf", { url: "https://a.test/a.pdf" })
  const result = (kind: "result" | "told", ...parts: ReadonlyArray<typeof stored>): Message.SettledCall => ({
    ...answered(call("c1")),
    settlement: { kind, text: "found", parts }
  })
  const namesFile = AnthropicMessages.namesFile()
  const names = (...messages: Message.Transcript) => namesFile({ messages, tools: [], toolChoice: "auto" })

  it("finds them in the words of the user and in results, and nowhere else [P1408]", () => {
    for (const message of [
      Message.user([Message.text("see"), stored]),
      said(Message.text("so"), result("result", at, stored)),
      said(result("result", stored), result("result", at))
    ]) {
      assert.isTrue(names(Message.system("Look."), Message.user("hi"), message), JSON.stringify(message))
    }
    for (const message of [
      Message.system("file_1"),
      Message.user("file_1"),
      Message.user([at]),
      Message.assistant("file_1"),
      said(answered(call("c1"))),
      said(result("result", at)),
      said(result("told", stored)),
      said()
    ]) {
      assert.isFalse(names(message), JSON.stringify(message))
    }
  })
})
