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

  it("generates ids that are unique within a reply and differ from those of other replies", () => {
    const call = (id?: string) => ({ functionCall: { ...(id === undefined ? {} : { id }), name: "f" } })
    const ids = Message.callsOf(both([call(), call(), call("x"), call("x"), call("call_r-1_4"), call()])).map(
      ({ id }) => id
    )
    assert.deepStrictEqual(ids, ["call_r-1_0", "call_r-1_1", "x", "call_r-1_3", "call_r-1_4", "call_r-1_5"])
    const taken = Message.callsOf(both([call("call_r-1_1"), call(), call()])).map(({ id }) => id)
    assert.deepStrictEqual(taken, ["call_r-1_1", "call_r-1_2", "call_r-1_3"])
  })

  it("keeps of a reply's id what every provider takes in the ids of calls, and not too much of it", () => {
    const call = { functionCall: { name: "f" } }
    const idFor = (responseId: unknown) =>
      Message.callsOf(ok(whole(codec, chunk([call], "STOP", {}, { responseId }))))[0]?.id
    assert.strictEqual(idFor("a/b.c-d_e"), "call_abc-d_e_0")
    assert.strictEqual(idFor("x".repeat(30)), `call_${"x".repeat(24)}_0`)
    assert.strictEqual(idFor("///"), "call_0")
    assert.strictEqual(idFor(undefined), "call_0")
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

  it("emits the metadata beside the content at the end, in a fixed order", () => {
    const remarks = {
      citationMetadata: { citationSources: [{ uri: "https://example.org" }] },
      groundingMetadata: { webSearchQueries: ["x"] },
      urlContextMetadata: { urlMetadata: [] }
    }
    assert.deepStrictEqual(
      both([{ text: "a" }], "STOP", remarks).content.slice(1),
      (["groundingMetadata", "urlContextMetadata", "citationMetadata"] as const).map((kind) => ({
        type: "provider-item",
        kind,
        ...opaque(remarks[kind])
      }))
    )
  })

  it("passes on the work that Gemini did on its side, and its sources at the end", () => {
    const code = { executableCode: { language: "PYTHON", code: "1" } }
    const { content } = both([code, { text: "1" }, { inlineData: { mimeType: "image/png", data: "aGk=" } }], "STOP", {
      groundingMetadata: { webSearchQueries: ["x"] },
      citationMetadata: {}
    })
    assert.deepStrictEqual(content, [
      { type: "provider-item", kind: "executableCode", ...opaque(code) },
      { type: "text", text: "1" },
      {
        type: "provider-item",
        kind: "inlineData",
        ...opaque({ inlineData: { mimeType: "image/png", data: "aGk=" } })
      },
      { type: "provider-item", kind: "groundingMetadata", ...opaque({ webSearchQueries: ["x"] }) }
    ])
  })

  it("reads a reply without content, and one whose limit was used up by thoughts", () => {
    assert.deepStrictEqual(ok(whole(codec, chunk(undefined, "STOP"))).content, [])
    assert.deepStrictEqual(ok(whole(codec, { candidates: [{ finishReason: "STOP" }] })).content, [])
    const unended = ok(whole(codec, chunk([{ text: "a" }])))
    assert.deepStrictEqual([unended.content, unended.finish], [[{ type: "text", text: "a" }], "stop"])
    const top = { usageMetadata: { promptTokenCount: 10, thoughtsTokenCount: 5, totalTokenCount: 15 } }
    const cut = ok(whole(codec, chunk(undefined, "MAX_TOKENS", {}, top)))
    assert.strictEqual(cut.finish, "length")
    assert.deepStrictEqual(cut.content, [])
    assert.strictEqual(cut.usage.outputTokens, 5)
    assert.strictEqual(both([{ text: "hm", thought: true }], "MAX_TOKENS").finish, "length")
  })

  it("a call beside the end of the limit is no call that could run [A114]", () => {
    assert.strictEqual(both([{ functionCall: { name: "f", args: {} } }], "MAX_TOKENS").finish, "length")
  })

  it("maps unknown finish reasons to `other`", () => {
    for (const reason of ["OTHER", "TOO_MANY_TOOL_CALLS", "SOMETHING_NEW"]) {
      assert.strictEqual(both([{ text: "a" }], reason).finish, "other")
    }
  })
})

describe("usage", () => {
  it("counts thoughts as output, what came from the cache and what tools of Gemini read as input", () => {
    const usageMetadata = { ...usage, cachedContentTokenCount: 6, toolUsePromptTokenCount: 2 }
    assert.deepStrictEqual(ok(whole(codec, chunk([{ text: "a" }], "STOP", {}, { usageMetadata }))).usage, {
      inputTokens: 12,
      outputTokens: 7,
      cachedInputTokens: 6,
      cacheWriteTokens: 0,
      reasoningTokens: 4
    })
  })

  it("emits the usage so far with each piece, for a stream that is cut off [P703]", () => {
    const decoder = codec.decoder(answerOf(""))
    const pushed = (chunk: object) => {
      const pushed = decoder.push(JSON.stringify(chunk))
      return Result.isSuccess(pushed) ? pushed.success : pushed.failure
    }
    const push = (promptTokenCount: number, reason?: string) =>
      pushed(chunk([{ text: "a" }], reason, {}, { usageMetadata: { promptTokenCount } }))
    const alone = pushed(chunk([], undefined, {}, { usageMetadata: { promptTokenCount: 2 } }))
    assert.deepStrictEqual(alone, [{ type: "usage", usage: Usage.make({ inputTokens: 2 }) }])
    assert.deepStrictEqual(pushed(chunk([{ text: "a" }])), [{ type: "text-delta", text: "a" }])
    assert.deepStrictEqual(push(3), [
      { type: "text-delta", text: "a" },
      { type: "usage", usage: Usage.make({ inputTokens: 3 }) }
    ])
    assert.deepStrictEqual(push(4, "STOP"), [{ type: "text-delta", text: "a" }])
  })

  it("takes the fields of the last chunk, also after the end", () => {
    const early = { usageMetadata: { promptTokenCount: 1 } }
    const chunks = [chunk([{ text: "a" }], "STOP", {}, early), { usageMetadata: usage }]
    assert.strictEqual(ok(streamed(codec, chunks)).usage.inputTokens, 10)
  })
})

describe("streams", () => {
  it("an end of the stream that some gateways add is no chunk, blanks around it or not", () => {
    const chunks = [chunk([{ text: "a" }]), chunk(undefined, "STOP"), " [DONE] \n"]
    assert.deepStrictEqual(ok(streamed(codec, chunks)).content, [{ type: "text", text: "a" }])
  })

  it("without a finish reason there is no end, after any other chunk [P504]", () => {
    for (const events of [
      [chunk([{ text: "a" }])],
      [chunk([{ text: "a" }]), "[DONE]"],
      [chunk([{ text: "a" }], "FINISH_REASON_UNSPECIFIED")]
    ]) {
      const result = streamed(codec, events)
      assert(Result.isSuccess(result))
      assert.isUndefined(result.success)
    }
  })

  it("reads on where every chunk names a reason, and lists of chunks", () => {
    const chunks = [chunk([{ text: "a" }], "STOP"), chunk([{ text: "b" }], "STOP")]
    assert.strictEqual(Message.textOf(ok(streamed(codec, chunks))), "ab")
    assert.strictEqual(Message.textOf(ok(whole(codec, chunks))), "ab")
  })

  it("an error chunk is its error, with the usage so far [T8]", () => {
    const error = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }
    const result = streamed(codec, [chunk([{ text: "a" }], undefined, {}, { usageMetadata: usage }), error])
    const overloaded = failed(result, LlmError.ModelOverloadedError)
    assert.strictEqual(overloaded.usage?.inputTokens, 10)
    assert.strictEqual(overloaded.status, 503)
  })
})

describe("replies that are none", () => {
  it("a filter's end is a ContentFilteredError, with its usage [T8]", () => {
    for (const reason of ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"]) {
      const end = chunk(undefined, reason, {}, { usageMetadata: usage })
      for (const result of [whole(codec, end), streamed(codec, [chunk([{ text: "a" }]), end])]) {
        assert.strictEqual(failed(result, LlmError.ContentFilteredError).usage?.outputTokens, 7)
      }
    }
  })

  it("a blocked prompt has no candidates [T8]", () => {
    const blocked = { promptFeedback: { blockReason: "JAILBREAK" }, usageMetadata: { promptTokenCount: 12 } }
    for (const result of [whole(codec, blocked), streamed(codec, [blocked])]) {
      const error = failed(result, LlmError.ContentFilteredError)
      assert.include(error.detail, "JAILBREAK")
      assert.strictEqual(error.usage?.inputTokens, 12)
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

  it("an end without a message has its reason as text, a blocked prompt Gemini's message or its reason [T8]", () => {
    const textOf = (body: unknown) => failed(whole(codec, body), LlmError.ContentFilteredError).detail ?? ""
    assert.include(textOf(chunk(undefined, "SAFETY")), "the reply ended with SAFETY")
    const blocked = (more: object) => ({ promptFeedback: { blockReason: "OTHER", ...more } })
    assert.include(textOf(blocked({})), "the prompt was blocked: OTHER")
    assert.include(textOf(blocked({ blockReasonMessage: "not this" })), "not this")
  })

  it("what cannot be read is an UnknownLlmError [T8]", () => {
    for (const body of ["", "<html>", "null", "[]", "{}", '{"candidates":[]}', '{"candidates":[{}]}', '"x"']) {
      failed(whole(codec, body), LlmError.UnknownLlmError)
    }
    failed(streamed(codec, ["nonsense"]), LlmError.UnknownLlmError)
  })
})
