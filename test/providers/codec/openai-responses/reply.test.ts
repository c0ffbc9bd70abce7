/** What comes back from OpenAI's responses. */
import { assert, describe, it } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import { Result } from "effect"
import {
  call,
  codec,
  decode,
  decodeStream,
  events,
  type Item,
  itemEvents,
  message,
  reasoning,
  response
} from "./_support/responses.ts"
import { answer } from "../../../_support/wireFixtures.ts"

/** The one reply of a response, whole and streamed. */
const replyOf = (body: Item): Message.Reply => {
  const whole = Result.getOrThrow(decode(body))
  assert.deepStrictEqual(Result.getOrThrow(decodeStream(events(body))), Model.collected(whole))
  return whole
}

/** The one error of a response, whole and streamed. */
const errorOf = (body: Item): LlmError.LlmError => {
  const whole = decode(body)
  assert(Result.isFailure(whole))
  const streamed = decodeStream(events(body))
  assert(Result.isFailure(streamed))
  assert.strictEqual(streamed.failure._tag, whole.failure._tag)
  assert.deepStrictEqual(streamed.failure.usage, whole.failure.usage)
  return whole.failure
}

const opaque = (data: Message.Opaque["data"]) => ({ opaque: { provider: "openai", data } })

const usage = { inputTokens: 30, outputTokens: 9, cachedInputTokens: 20, cacheWriteTokens: 0, reasoningTokens: 4 }

describe("replies", () => {
  it("have texts with their sources, thoughts, calls and items of the provider in their order, and all that was used up [A114]", () => {
    const source = { type: "url_citation", url: "https://example.org", start_index: 0, end_index: 3, title: "t" }
    const search = { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "q" } }
    const code = { id: "ci_1", type: "code_interpreter_call", status: "completed", code: "1+1", outputs: null }
    const item = (kind: string, data: Item) => ({ type: "provider-item", kind, ...opaque(data) })
    const remark = (id: string, more: Item) => item("message", { id, status: "completed", ...more })
    // open models write their reasoning in plain words
    const words = { id: "rs_0", type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hmm." }] }
    const [first, second] = [reasoning("rs_1", "Hm. ", "Well."), reasoning("rs_2")]
    const body = response([
      message("Four.", { id: "msg_0" }),
      search,
      message("Two.", { id: "msg_1" }, [source]),
      message("Three.", { id: "msg_2", phase: "final" }),
      message("Five.", { id: "msg_3", phase: "final" }, [source]),
      code,
      words,
      first,
      message("Let me see.", { id: "msg_4" }),
      call("a", '{"q":1}'),
      second,
      call("b", "")
    ])
    assert.deepStrictEqual<unknown>(replyOf(body), {
      content: [
        Message.text("Four."),
        item("web_search_call", search),
        Message.text("Two."),
        remark("msg_1", { annotations: [source] }),
        Message.text("Three."),
        remark("msg_2", { phase: "final" }),
        Message.text("Five."),
        remark("msg_3", { phase: "final", annotations: [source] }),
        item("code_interpreter_call", code),
        { type: "reasoning", text: "Hmm.", ...opaque(words) },
        { type: "reasoning", text: "Hm. ", ...opaque(null) },
        { type: "reasoning", text: "Well.", ...opaque(first) },
        Message.text("Let me see."),
        remark("msg_4", {}),
        { type: "tool-call", id: "call_a", name: "search", arguments: '{"q":1}', ...opaque("fc_a") },
        { type: "reasoning", text: "", ...opaque(second) },
        { type: "tool-call", id: "call_b", name: "search", arguments: "", ...opaque("fc_b") }
      ],
      finish: "tool-calls",
      model: "gpt-x-2026",
      responseId: "resp_1",
      rawFinish: "completed",
      usage
    })
    const input_tokens_details = { cached_tokens: 20, cache_write_tokens: 6 }
    const written = replyOf(response([], { usage: { input_tokens: 30, input_tokens_details } }))
    assert.deepStrictEqual<unknown>(written, {
      content: [],
      finish: "stop",
      model: "gpt-x-2026",
      responseId: "resp_1",
      rawFinish: "completed",
      usage: Usage.make({ inputTokens: 30, cachedInputTokens: 20, cacheWriteTokens: 6 })
    })
  })

  it("are cut off where the response is incomplete, or a call is, so that no half call runs", () => {
    const more = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
    const half = call("a", '{"q":', { status: "incomplete" })
    const called = { type: "tool-call", id: "call_a", name: "search", arguments: '{"q":', ...opaque("fc_a") }
    for (const [output, ended, content, rawFinish] of [
      [[message("half", { status: "incomplete" })], more, [Message.text("half")], "max_output_tokens"],
      [[half], more, [called], "max_output_tokens"],
      [[half], {}, [called], "completed"],
      [[], { status: "incomplete" }, [], "incomplete"]
    ] as const) {
      assert.deepInclude<unknown>(replyOf(response(output, ended)), { content, finish: "length", rawFinish })
    }
  })

  it("have what a careless server leaves out, and no part for an empty text or an unknown part of a message", () => {
    assert.deepStrictEqual(replyOf(response([message("")])).content, [])
    const text = (text: string) => ({ type: "output_text", text })
    const content = [text("a"), { type: "output_text" }, { type: "brand_new", text: "x" }, text("b")]
    const bare = { type: "function_call", name: "search" }
    assert.deepStrictEqual<unknown>(Result.getOrThrow(decode({ output: [bare, message("", { content }), bare] })), {
      content: [
        { type: "tool-call", id: "call_0", name: "search", arguments: null },
        Message.text("ab"),
        { type: "tool-call", id: "call_2", name: "search", arguments: null }
      ],
      finish: "tool-calls",
      usage: Usage.empty
    })
  })
})

describe("errors within a success", () => {
  it("are a refusal, an end by a content filter, and a failure, with their words or ours, and what they used up [T8]", () => {
    const refused = message("", { content: [{ type: "refusal", refusal: "I will not." }] })
    const filtered = { status: "incomplete", incomplete_details: { reason: "content_filter" } }
    const failed = (error: Item | null) => ({ status: "failed", error })
    for (const [output, more, type, words] of [
      [[refused], {}, "ContentFilteredError", "I will not."],
      [[message("half")], filtered, "ContentFilteredError", "the response was cut off by a content filter"],
      [[], failed({ code: "server_error", message: "oops" }), "ServerError", "oops"],
      [[], failed({ code: "rate_limit_exceeded", message: "slow" }), "RateLimitError", "slow"],
      [[], failed({ code: "invalid_prompt", message: "no" }), "ContentFilteredError", "no"],
      [[], failed(null), "ServerError", "the response failed"]
    ] as const) {
      const { _tag, detail, usage: used } = errorOf(response(output, more))
      assert.deepStrictEqual<unknown>({ _tag, detail, used }, { _tag: type, detail: words, used: usage })
    }
  })

  it("are a body that is no finished response: it cannot be read [T8]", () => {
    for (const [body, why] of [
      ...["", "{"].map((text) => [text, "JSON"] as const),
      ...["null", "[]", "{}"].map((text) => [text, "the body holds no output"] as const),
      [{ output: null }, "the body holds no output"],
      [response([], { status: "queued" }), "its response is 'queued'"]
    ] as const) {
      const result = decode(body)
      assert(Result.isFailure(result))
      assert.strictEqual(result.failure._tag, "UnknownLlmError")
      assert.include(result.failure.message, why)
    }
  })

  it("are the event of a refusal, and one of an error, nested or flat, after any parts and before any failure [T8]", () => {
    const piece = { type: "response.refusal.delta", delta: "N" }
    assert.deepStrictEqual(codec.decoder(answer(200, "")).push(JSON.stringify(piece)), Result.succeed([]))
    const [created, ...rest] = events(response([]))
    const details = { code: "rate_limit_exceeded", message: "Please try again in 2s.", param: null }
    const failed = { type: "response.failed", response: response([], { status: "failed", error: details }) }
    const begun = itemEvents(message("half a text"), 0).slice(0, -1)
    const errors = [
      { type: "error", sequence_number: 2, error: { type: "tokens", ...details } },
      { type: "error", sequence_number: 2, ...details }
    ]
    for (const [sent, type, words, used] of [
      [
        [created, piece, { type: "response.refusal.done", refusal: "No." }, ...rest],
        "ContentFilteredError",
        "No.",
        usage
      ],
      ...errors.flatMap((error) =>
        [[error], [error, failed], [...begun, error], [...begun, error, failed]].map(
          (all) => [all, "RateLimitError", details.message, undefined] as const
        )
      )
    ] as const) {
      const result = decodeStream(sent)
      assert(Result.isFailure(result))
      const { _tag, detail, usage: counted } = result.failure
      assert.deepStrictEqual<unknown>({ _tag, detail, counted }, { _tag: type, detail: words, counted: used })
    }
  })
})

describe("streams", () => {
  const body = response([reasoning("rs_1", "Hm."), message("Hello, world."), call("a", '{"q":"x"}')])

  it("gives texts as they come, and each call in one piece when it is complete", () => {
    const decoder = codec.decoder(answer(200, ""))
    const seen = events(body, 9).map((event) => Result.getOrThrow(decoder.push(JSON.stringify(event))))
    assert.deepStrictEqual<unknown>(seen, [
      [],
      [],
      [],
      [{ type: "reasoning-delta", text: "Hm." }],
      [{ type: "reasoning-delta", text: "", ...opaque(reasoning("rs_1", "Hm.")) }],
      [],
      [{ type: "text-delta", text: "Hello, wo" }],
      [{ type: "text-delta", text: "rld." }],
      [{ type: "provider-item", kind: "message", ...opaque({ id: "msg_1", status: "completed" }) }],
      [],
      [],
      [{ type: "tool-call", id: "call_a", name: "search", arguments: '{"q":"x"}', ...opaque("fc_a") }],
      [
        {
          type: "finish",
          finish: "tool-calls",
          model: "gpt-x-2026",
          responseId: "resp_1",
          rawFinish: "completed",
          usage
        }
      ]
    ])
  })

  it("is open until one of its own ends, not those of chat completions [P504]", () => {
    const decoder = codec.decoder(answer(200, ""))
    for (const event of [...events(body).slice(0, -1), "[DONE]"]) {
      assert.isTrue(Result.isSuccess(decoder.push(typeof event === "string" ? event : JSON.stringify(event))))
    }
    assert.strictEqual(decoder.state(), "open")
    assert.isTrue(Result.isFailure(decoder.end()))
  })

  it("has the whole reply where its events leave something out: pieces, begins and ends of items, indexes, or the output at the end", () => {
    const several = response([reasoning("rs_1", "Hm. ", "Well."), message("Hello, world.")])
    const said = response([message("Hello."), call("a", '{"q":"x"}')])
    const without = (whole: Item, ...types: ReadonlyArray<string>) =>
      events(whole).filter(({ type }) => !types.some((left) => String(type).includes(left)))
    const pieces = events(response([reasoning("rs_1", "Hm. ", "Well.")]))
    const lastPiece = pieces.findLastIndex(({ type }) => String(type).includes("delta"))
    const bare = events(said).slice(0, -1)
    const last = { type: "response.completed", response: response([]) }
    for (const [whole, some] of [
      [several, without(several, "delta")],
      [body, without(body, "delta")],
      [body, without(body, "added")],
      [body, without(body, "done")],
      [body, without(body, "added", "delta", "done")],
      [response([reasoning("rs_1", "Hm. ", "Well.")]), pieces.toSpliced(lastPiece, 1)],
      [said, [...bare, last]],
      [said, [...bare.map((event) => ({ ...event, output_index: null })), last]],
      [said, [...bare.filter(({ type }) => type !== "response.output_item.done"), last]]
    ] as const) {
      assert.deepStrictEqual(Result.getOrThrow(decodeStream(some)), Result.getOrThrow(decode(whole)))
    }
  })

  it("distinguishes items by their ids alone, and pieces without index or id are the first item's", () => {
    const body = response([message("Hello."), call("a", '{"q":"x"}')])
    const whole = Result.getOrThrow(decode(body))
    const withoutIndex = events(body).map((event) => ({ ...event, output_index: null }))
    assert.deepStrictEqual(Result.getOrThrow(decodeStream(withoutIndex)), whole)
    const [first = [], second = []] = [message("Hello."), call("a", '{"q":"x"}')].map((item) =>
      itemEvents(item, 0).map((event) => ({ ...event, output_index: null }))
    )
    const mingled = [first[0], second[0], first[1], second[1], ...first.slice(2), ...second.slice(2)]
    const ended = { type: "response.completed", response: body }
    assert.deepStrictEqual(Result.getOrThrow(decodeStream([...mingled, ended])), whole)
    const bare = ["Hel", "l"].map((delta) => ({ type: "response.output_text.delta", delta }))
    assert.deepStrictEqual(Result.getOrThrow(decodeStream([...bare, ended])), whole)
  })

  it("takes whole texts, and the rest of texts that came in pieces", () => {
    const item = (event: object) => ({ output_index: 0, item_id: "msg_1", content_index: 0, ...event })
    const delta = (text: string, at = 0) => item({ type: "response.output_text.delta", delta: text, content_index: at })
    const done = (text: unknown, at = 0) => item({ type: "response.output_text.done", text, content_index: at })
    const textOf = (...some: ReadonlyArray<object>) => {
      const last = { type: "response.completed", response: response([]) }
      const reply = Result.getOrThrow(decodeStream([...some, last]))
      return reply === undefined ? undefined : Message.textOf(reply)
    }
    assert.strictEqual(textOf(done("Hello.")), "Hello.")
    assert.strictEqual(textOf(delta("Hel"), done("Hello.")), "Hello.")
    assert.strictEqual(textOf(delta("Hel"), done("Other.")), "Hel")
    assert.strictEqual(textOf(delta("Hel"), done(undefined)), "Hel")
    assert.strictEqual(textOf(done(undefined)), "")
    assert.strictEqual(textOf(delta("a"), done("ab"), delta("c", 1), done("cd", 1)), "abcd")
    assert.strictEqual(textOf(delta("a"), done("a", 1), done("ab", 1)), "aab")
    assert.strictEqual(textOf({ type: "response.output_text.delta" }, delta("a")), "a")
  })

  it("takes arguments as a whole, and the ends of other servers for no end of its own", () => {
    const added = { type: "response.output_item.added", output_index: 0, item: { ...call("a", ""), arguments: "" } }
    const piece = (type: string, more: object) => ({
      type: `response.function_call_arguments.${type}`,
      item_id: "fc_a",
      output_index: 0,
      ...more
    })
    const last = { type: "response.completed", response: response([]) }
    const argumentsOf = (...some: ReadonlyArray<unknown>) => {
      const reply = Result.getOrThrow(decodeStream([added, ...some, last]))
      return reply === undefined ? undefined : Message.callsOf(reply)[0]?.arguments
    }
    assert.strictEqual(argumentsOf(piece("delta", { delta: '{"q"' }), piece("delta", { delta: ":1}" })), '{"q":1}')
    assert.strictEqual(argumentsOf(piece("delta", { delta: "{" }), piece("done", { arguments: '{"q":2}' })), '{"q":2}')
    assert.strictEqual(argumentsOf(piece("delta", {}), " [DONE] ", piece("delta", { delta: "{}" })), "{}")
    assert.strictEqual(argumentsOf(), "")
    assert.strictEqual(argumentsOf({ ...added, item: call("a", '{"q":3}') }), '{"q":3}')
    assert.isTrue(Result.isFailure(decodeStream([added, "[DONE", last])))
  })

  it("separates the texts of reasoning, by their kind and index", () => {
    const of = (kind: "text" | "summary_text", at: object, delta: string) => ({
      type: `response.reasoning_${kind}.delta`,
      item_id: "rs_1",
      output_index: 0,
      ...at,
      delta
    })
    const last = { type: "response.completed", response: response([]) }
    const textsOf = (...some: ReadonlyArray<object>) =>
      Result.getOrThrow(decodeStream([...some, last]))?.content.map((part) => ("text" in part ? part.text : part.type))
    assert.deepStrictEqual(
      textsOf(
        of("text", { content_index: 0 }, "a"),
        of("text", { content_index: 0 }, "b"),
        of("text", { content_index: 1 }, "c"),
        of("summary_text", { summary_index: 0 }, "d"),
        of("summary_text", { summary_index: 1 }, "e")
      )?.slice(0, 4),
      ["ab", "c", "d", "e"]
    )
  })

  it("after its end there are no parts, and an event about no item changes none", () => {
    const decoder = codec.decoder(answer(200, ""))
    const push = (event: object) => Result.getOrThrow(decoder.push(JSON.stringify(event)))
    for (const event of events(response([message("a")]))) push(event)
    assert.strictEqual(decoder.state(), "done")
    assert.deepStrictEqual(Result.getOrThrow(decoder.end()), [])
    const unfinished = codec.decoder(answer(200, ""))
    const [added, delta, ended] = itemEvents(message("a"), 0)
    for (const event of [added, delta, ended]) unfinished.push(JSON.stringify(event))
    for (const late of [
      delta,
      ended,
      { type: "response.function_call_arguments.delta", output_index: 0, delta: "{" }
    ]) {
      assert.deepStrictEqual(Result.getOrThrow(unfinished.push(JSON.stringify(late))), [])
    }
  })

  it("puts items in their order, should they ever mingle", () => {
    const items = body["output"] as ReadonlyArray<Item>
    const [one = [], two = [], three = []] = items.map((item, index) => itemEvents(item, index))
    const mingled: Array<Item> = []
    const [first, ...rest] = one
    for (let i = 0; i < 20; i++) mingled.push(...[three[i], rest[i], two[i]].filter((event) => event !== undefined))
    const last = { type: "response.completed", response: body }
    const result = decodeStream([first, ...mingled, last])
    assert.deepStrictEqual(Result.getOrThrow(result), Result.getOrThrow(decode(body)))
  })
})
