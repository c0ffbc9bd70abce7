import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import type * as Provider from "@kintsugi/providers/Provider"
import { Result } from "effect"
import { answerOf, failed, ok, streamed, whole } from "../../../_support/codec.ts"

const source: Provider.Source = { provider: "gemini", model: "gemini-2.5-flash", secrets: [] }
const codec = GeminiContent.make(source)

const chunk = (
  parts: ReadonlyArray<unknown> | undefined,
  finishReason?: string,
  more: object = {},
  top: object = {}
) => ({
  candidates: [{ content: parts === undefined ? {} : { role: "model", parts }, finishReason, index: 0, ...more }],
  modelVersion: "gemini-2.5-flash",
  responseId: "r-1",
  ...top
})

const usage = { promptTokenCount: 10, candidatesTokenCount: 3, thoughtsTokenCount: 4, totalTokenCount: 17 }

/** The same reply, whole and in chunks. */
const both = (parts: ReadonlyArray<unknown>, finishReason = "STOP", more: object = {}): Message.Reply => {
  const reply = ok(whole(codec, chunk(parts, finishReason, more)))
  const chunks = [...parts.map((part) => chunk([part])), chunk(undefined, finishReason, more)]
  assert.deepStrictEqual(ok(streamed(codec, chunks)), reply)
  return reply
}

const opaque = (data: Message.Opaque["data"]) => ({ opaque: { provider: "gemini", data } })

describe("parts", () => {
  it("have log probabilities if one of them is a text or a call, and none beside thoughts alone [P1407]", () => {
    const logprobsResult = { chosenCandidates: [{ token: "so" }] }
    const kinds = (...parts: ReadonlyArray<object>) => {
      const events = [chunk(parts, undefined, { logprobsResult }), chunk(undefined, "STOP")]
      return ok(streamed(codec, events)).content.map((part) => (part.type === "provider-item" ? part.kind : part.type))
    }
    const thought = { text: "hm", thought: true }
    assert.deepStrictEqual(kinds(thought, { text: "so" }), ["reasoning", "text", "logprobsResult"])
    assert.deepStrictEqual(kinds(thought, { functionCall: { name: "f" } }), [
      "reasoning",
      "tool-call",
      "logprobsResult"
    ])
    assert.deepStrictEqual(kinds(thought), ["reasoning"])
  })

  it("reads thoughts as reasoning, and signatures with the part that they came with", () => {
    const { content, finish } = both([
      { text: "hm", thought: true },
      { text: "so", thought: true, thoughtSignature: "s1" },
      { text: "a" },
      { text: "b", thoughtSignature: "s2" },
      { text: "", thoughtSignature: "s3" },
      { functionCall: { id: "fc-1", name: "f", args: { x: 1 } }, thoughtSignature: "s4" }
    ])
    assert.deepStrictEqual(content, [
      { type: "reasoning", text: "hm", ...opaque({}) },
      { type: "reasoning", text: "so", ...opaque({ thoughtSignature: "s1" }) },
      { type: "text", text: "ab" },
      { type: "provider-item", kind: "thoughtSignature", ...opaque({ thoughtSignature: "s2", length: 1 }) },
      { type: "provider-item", kind: "thoughtSignature", ...opaque({ thoughtSignature: "s3", length: 0 }) },
      {
        type: "tool-call",
        id: "fc-1",
        name: "f",
        arguments: { x: 1 },
        ...opaque({ id: "fc-1", thoughtSignature: "s4" })
      }
    ])
    assert.strictEqual(finish, "tool-calls")
  })

  it("generates ids that are unique within a reply, and have of its id what every provider takes in the ids of calls", () => {
    const call = (id?: string) => ({ functionCall: { ...(id === undefined ? {} : { id }), name: "f" } })
    const ids = Message.callsOf(both([call(), call(), call("x"), call("x"), call("call_r-1_4"), call()])).map(
      ({ id }) => id
    )
    assert.deepStrictEqual(ids, ["call_r-1_0", "call_r-1_1", "x", "call_r-1_3", "call_r-1_4", "call_r-1_5"])
    const taken = Message.callsOf(both([call("call_r-1_1"), call(), call()])).map(({ id }) => id)
    assert.deepStrictEqual(taken, ["call_r-1_1", "call_r-1_2", "call_r-1_3"])
    for (const [responseId, id] of [
      ["a/b.c-d_e", "call_abc-d_e_0"],
      ["x".repeat(30), `call_${"x".repeat(24)}_0`],
      ["///", "call_0"],
      [undefined, "call_0"]
    ] as const) {
      assert.strictEqual(Message.callsOf(ok(whole(codec, chunk([call()], "STOP", {}, { responseId }))))[0]?.id, id)
    }
  })

  it("a call without a name or arguments is one of no name, and nothing is Gemini's own in it", () => {
    const reply = ok(whole(codec, chunk([{ functionCall: {} }], "STOP")))
    assert.deepStrictEqual(reply.content, [{ type: "tool-call", id: "call_r-1_0", name: "", arguments: null }])
    const [withId] = Message.callsOf(both([{ functionCall: { id: "fc-1", name: "f" } }]))
    assert.deepStrictEqual(withId?.opaque, opaque({ id: "fc-1" }).opaque)
  })

  it("fields beside the content of a part are not content", () => {
    const beside = { partMetadata: { a: 1 }, videoMetadata: { fps: 1 }, mediaResolution: { level: "LOW" } }
    assert.deepStrictEqual(both([{ text: "a", ...beside }, { ...beside, thought: true }, {}]).content, [
      { type: "text", text: "a" }
    ])
    const own = { ...beside, inlineData: { mimeType: "image/png", data: "aGk=" } }
    assert.deepStrictEqual(both([own]).content, [{ type: "provider-item", kind: "inlineData", ...opaque(own) }])
    const wordless = { text: null, ...own }
    assert.deepStrictEqual(both([{ text: null }, wordless]).content, [
      { type: "provider-item", kind: "inlineData", ...opaque(wordless) }
    ])
  })

  it("an empty thought is none, and an empty text neither", () => {
    assert.deepStrictEqual(both([{ text: "", thought: true }, { text: "" }, { text: "a" }]).content, [
      { type: "text", text: "a" }
    ])
    const interrupted = [{ text: "h", thought: true }, { text: "" }, { text: "m", thought: true }]
    assert.deepStrictEqual(both(interrupted).content, [{ type: "reasoning", text: "hm", ...opaque({}) }])
  })

  it("passes on the work that Gemini did on its side, and at the end what it says beside the content, in a fixed order", () => {
    const code = { executableCode: { language: "PYTHON", code: "1" } }
    const image = { inlineData: { mimeType: "image/png", data: "aGk=" } }
    const beside = {
      citationMetadata: { citationSources: [{ uri: "https://example.org" }] },
      groundingMetadata: { webSearchQueries: ["x"] },
      urlContextMetadata: { urlMetadata: [] },
      logprobsResult: { chosenCandidates: [{ token: "1" }] }
    }
    const kinds = ["logprobsResult", "groundingMetadata", "urlContextMetadata", "citationMetadata"] as const
    assert.deepStrictEqual(both([code, { text: "1" }, image], "STOP", beside).content, [
      { type: "provider-item", kind: "executableCode", ...opaque(code) },
      { type: "text", text: "1" },
      { type: "provider-item", kind: "inlineData", ...opaque(image) },
      ...kinds.map((kind) => ({ type: "provider-item" as const, kind, ...opaque(beside[kind]) }))
    ])
    const empty = { citationMetadata: {}, groundingMetadata: null, urlContextMetadata: "x" }
    assert.deepStrictEqual(both([{ text: "1" }], "STOP", empty).content, [{ type: "text", text: "1" }])
  })
})

describe("the end", () => {
  it("has Gemini's reason, `other` for an unknown one; calls beside the end of the limit are none that could run", () => {
    const [text, call] = [{ text: "a" }, { functionCall: { name: "f", args: {} } }]
    for (const [reason, part, finish] of [
      ["STOP", text, "stop"],
      ["STOP", call, "tool-calls"],
      ["MAX_TOKENS", { text: "hm", thought: true }, "length"],
      ["MAX_TOKENS", call, "length"],
      ["OTHER", text, "other"],
      ["TOO_MANY_TOOL_CALLS", call, "other"],
      ["constructor", text, "other"]
    ] as const) {
      const reply = both([part], reason)
      assert.deepStrictEqual([reply.finish, reply.rawFinish], [finish, reason])
    }
  })

  it("may come without content, and a whole reply without a reason is one all the same", () => {
    const top = { usageMetadata: { promptTokenCount: 10, thoughtsTokenCount: 5, totalTokenCount: 15 } }
    const text = { type: "text", text: "a" } as const
    for (const [body, content, finish, outputTokens] of [
      [chunk(undefined, "STOP"), [], "stop", 0],
      [{ candidates: [{ finishReason: "STOP" }] }, [], "stop", 0],
      [chunk([{ text: "a" }]), [text], "stop", 0],
      [chunk(undefined, "MAX_TOKENS", {}, top), [], "length", 5]
    ] as const) {
      const reply = ok(whole(codec, body))
      assert.deepStrictEqual<unknown>(
        [reply.content, reply.finish, reply.usage.outputTokens],
        [content, finish, outputTokens]
      )
    }
  })

  it("of a stream is its finish reason, in any chunk, and never `[DONE]`, which some gateways add [P504]", () => {
    const [a, b] = [chunk([{ text: "a" }]), chunk([{ text: "b" }], "STOP")]
    for (const [events, text] of [
      [[a, b, " [DONE] \n"], "ab"],
      [[chunk([{ text: "a" }], "STOP"), b], "ab"],
      [[[a, b]], "ab"],
      [[a], undefined],
      [[a, "[DONE]"], undefined],
      [[chunk([{ text: "a" }], "FINISH_REASON_UNSPECIFIED")], undefined]
    ] as const) {
      const read = Result.map(streamed(codec, events), (reply) => reply && Message.textOf(reply))
      assert.deepStrictEqual(read, Result.succeed(text), JSON.stringify(events))
    }
    assert.strictEqual(Message.textOf(ok(whole(codec, [a, b]))), "ab")
  })
})

describe("usage", () => {
  it("comes with each piece, for a stream that is cut off, and at the end by the last counts [P703]", () => {
    const decoder = codec.decoder(answerOf(""))
    const pushed = (chunk: object) => {
      const pushed = decoder.push(JSON.stringify(chunk))
      return Result.isSuccess(pushed) ? pushed.success : pushed.failure
    }
    const counted = (usageMetadata: object) => [undefined, {}, { usageMetadata }] as const
    const a = { type: "text-delta", text: "a" }
    assert.deepStrictEqual(pushed(chunk([], ...counted({ promptTokenCount: 2 }))), [
      { type: "usage", usage: Usage.make({ inputTokens: 2 }) }
    ])
    assert.deepStrictEqual<unknown>(pushed(chunk([{ text: "a" }])), [a])
    // what Gemini's tools read is input, and thoughts are output
    const counts = { ...usage, cachedContentTokenCount: 6, toolUsePromptTokenCount: 2 }
    const read = { inputTokens: 12, outputTokens: 7, cachedInputTokens: 6, cacheWriteTokens: 0, reasoningTokens: 4 }
    assert.deepStrictEqual<unknown>(pushed(chunk([{ text: "a" }], ...counted(counts))), [
      a,
      { type: "usage", usage: read }
    ])
    const early = { usageMetadata: { promptTokenCount: 13 } }
    assert.deepStrictEqual<unknown>(pushed(chunk([{ text: "a" }], "STOP", {}, early)), [a])
    assert.deepStrictEqual(pushed({ usageMetadata: { promptTokenCount: 14 } }), [])
    assert.deepStrictEqual(
      decoder.end(),
      Result.succeed([
        {
          type: "finish",
          finish: "stop",
          usage: { ...read, inputTokens: 14 },
          model: "gemini-2.5-flash",
          responseId: "r-1",
          rawFinish: "STOP"
        }
      ])
    )
  })
})

describe("replies that are none", () => {
  it("a filter's end, a blocked prompt and an error chunk are their errors, with what was used and Gemini's words or its reason [T8]", () => {
    const filters = ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"]
    const blocked = (more: object) => ({ promptFeedback: { blockReason: "OTHER", ...more }, usageMetadata: usage })
    const error = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }
    const counted = chunk([{ text: "a" }], undefined, {}, { usageMetadata: usage })
    for (const [events, type, status, detail] of [
      ...filters.map(
        (reason) =>
          [
            [counted, chunk(undefined, reason)],
            LlmError.ContentFilteredError,
            200,
            `the reply ended with ${reason}`
          ] as const
      ),
      [[blocked({})], LlmError.ContentFilteredError, 200, "the prompt was blocked: OTHER"],
      [[blocked({ blockReasonMessage: "not this" })], LlmError.ContentFilteredError, 200, "not this"],
      [[counted, error], LlmError.ModelOverloadedError, 503, "The model is overloaded."]
    ] as const) {
      const used = Usage.make({ inputTokens: 10, outputTokens: 7, reasoningTokens: 4 })
      for (const result of [streamed(codec, events), whole(codec, { usageMetadata: usage, ...events.at(-1) })]) {
        assert.deepInclude(failed<LlmError.LlmError>(result, type), { detail, status, usage: used })
      }
    }
  })

  it("a rejected call is a MalformedToolCallError with the arguments as they were written [P404]", () => {
    const written = 'Malformed function call: print(default_api.search(query="a) (b", limit=f(1)))'
    const quoted = chunk(undefined, "MALFORMED_FUNCTION_CALL", { finishMessage: written })
    for (const result of [whole(codec, quoted), streamed(codec, [quoted])]) {
      const error = failed(result, LlmError.MalformedToolCallError)
      assert.strictEqual(error.tool, "search")
      assert.strictEqual(error.rawArgs, 'query="a) (b", limit=f(1)')
    }
    const part = { functionCall: { name: "search", args: { q: 1 } } }
    for (const result of [
      whole(codec, chunk([part], "UNEXPECTED_TOOL_CALL")),
      streamed(codec, [chunk([part]), chunk(undefined, "UNEXPECTED_TOOL_CALL")])
    ]) {
      const error = failed(result, LlmError.MalformedToolCallError)
      assert.strictEqual(error.tool, "search")
      assert.strictEqual(error.rawArgs, '{"q":1}')
    }
  })

  it("the rejected call is read out of the code that is quoted, as far as it goes [P404]", () => {
    const quoted = (finishMessage: string) => {
      const answer = chunk(undefined, "MALFORMED_FUNCTION_CALL", { finishMessage })
      const { rawArgs, tool } = failed(whole(codec, answer), LlmError.MalformedToolCallError)
      return [tool, rawArgs]
    }
    assert.deepStrictEqual(quoted("print(default_api.search)"), ["search", undefined])
    assert.deepStrictEqual(quoted("print(default_api.search())"), ["search", ""])
    assert.deepStrictEqual(quoted("default_api.f(a=')', b=1) + 2)"), ["f", "a=')', b=1"])
    assert.deepStrictEqual(quoted(String.raw`default_api.f(a="\")", b=1) + 2)`), ["f", String.raw`a="\")", b=1`])
    assert.deepStrictEqual(quoted(`default_api.f(a="it's)", b=(1)) + 2`), ["f", `a="it's)", b=(1)`])
    assert.deepStrictEqual(quoted("default_api.f(a=(1"), ["f", "a=(1"])
    assert.deepStrictEqual(quoted("mydefault_api.f(1) default_api.g(2)"), ["g", "2"])
  })
})
