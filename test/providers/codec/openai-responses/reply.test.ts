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

describe("replies", () => {
  it("a text, with the model and all that was used up [A114]", () => {
    assert.deepStrictEqual(replyOf(response([message("Four plus five is nine.")])), {
      content: [Message.text("Four plus five is nine.")],
      finish: "stop",
      model: "gpt-x-2026",
      responseId: "resp_1",
      rawFinish: "completed",
      usage: { inputTokens: 30, outputTokens: 9, cachedInputTokens: 20, cacheWriteTokens: 0, reasoningTokens: 4 }
    })
    const input_tokens_details = { cached_tokens: 20, cache_write_tokens: 6 }
    const { usage } = replyOf(response([], { usage: { input_tokens: 30, input_tokens_details } }))
    assert.deepStrictEqual(usage, Usage.make({ inputTokens: 30, cachedInputTokens: 20, cacheWriteTokens: 6 }))
  })

  it("reasoning, a text before calls, and the calls, in order [A114]", () => {
    const [first, second] = [reasoning("rs_1", "Hm. ", "Well."), reasoning("rs_2")]
    const body = response([first, message("Let me see."), call("a", '{"q":1}'), second, call("b", "")])
    const { content, finish } = replyOf(body)
    assert.strictEqual(finish, "tool-calls")
    assert.deepStrictEqual<unknown>(content, [
      { type: "reasoning", text: "Hm. ", ...opaque(null) },
      { type: "reasoning", text: "Well.", ...opaque(first) },
      Message.text("Let me see."),
      { type: "provider-item", kind: "message", ...opaque({ id: "msg_1", status: "completed" }) },
      { type: "tool-call", id: "call_a", name: "search", arguments: '{"q":1}', ...opaque("fc_a") },
      { type: "reasoning", text: "", ...opaque(second) },
      { type: "tool-call", id: "call_b", name: "search", arguments: "", ...opaque("fc_b") }
    ])
  })

  it("reasoning in plain words, as open models write it", () => {
    const item = { id: "rs_1", type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hmm." }] }
    assert.deepStrictEqual<unknown>(replyOf(response([item, message("4")])).content[0], {
      type: "reasoning",
      text: "Hmm.",
      ...opaque({ type: "reasoning", id: "rs_1", summary: [], content: item.content })
    })
  })

  it("what the provider did on its own side, and the sources of a text, as provider items", () => {
    const search = { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "q" } }
    const code = { id: "ci_1", type: "code_interpreter_call", status: "completed", code: "1+1", outputs: null }
    const source = { type: "url_citation", url: "https://example.org", start_index: 0, end_index: 3, title: "t" }
    const body = response([search, code, message("Two.", { phase: "final_answer" }, [source])])
    assert.deepStrictEqual<unknown>(replyOf(body).content, [
      { type: "provider-item", kind: "web_search_call", ...opaque(search) },
      { type: "provider-item", kind: "code_interpreter_call", ...opaque(code) },
      Message.text("Two."),
      {
        type: "provider-item",
        kind: "message",
        ...opaque({ id: "msg_1", status: "completed", phase: "final_answer", annotations: [source] })
      }
    ])
  })

  it("has the sources of a text, and its place in the reply, also one without the other", () => {
    const source = { type: "url_citation", url: "https://example.org", start_index: 0, end_index: 3, title: "t" }
    const itemOf = (item: Item) => replyOf(response([item])).content[1]
    const named = { id: "msg_1", status: "completed" }
    const kind = { type: "provider-item", kind: "message" } as const
    assert.deepStrictEqual(itemOf(message("Two.", {}, [source])), {
      ...kind,
      ...opaque({ ...named, annotations: [source] })
    })
    assert.deepStrictEqual(itemOf(message("Two.", { phase: "final" })), {
      ...kind,
      ...opaque({ ...named, phase: "final" })
    })
  })

  it("has no part for an empty text, and of a message only its text parts", () => {
    assert.deepStrictEqual(replyOf(response([message("")])).content, [])
    const text = (text: string) => ({ type: "output_text", text })
    const content = [text("a"), { type: "output_text" }, { type: "brand_new", text: "x" }, text("b")]
    assert.deepStrictEqual(Result.getOrThrow(decode(response([message("", { content })]))).content, [
      Message.text("ab")
    ])
  })

  it("is cut off where the response is incomplete, or a call is, so that no half call runs", () => {
    const more = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
    assert.strictEqual(replyOf(response([message("half", { status: "incomplete" })], more)).finish, "length")
    const half = replyOf(response([call("a", '{"q":', { status: "incomplete" })], more))
    assert.strictEqual(half.finish, "length")
    assert.deepInclude(half.content[0], { arguments: '{"q":' })
    assert.strictEqual(replyOf(response([call("a", '{"q":', { status: "incomplete" })])).finish, "length")
    assert.strictEqual(replyOf(response([], { ...more, incomplete_details: null })).finish, "length")
  })

  it("fills in what a careless server leaves out", () => {
    const bare = { type: "function_call", name: "search" }
    assert.deepStrictEqual<unknown>(Result.getOrThrow(decode({ output: [bare, bare] })), {
      content: [
        { type: "tool-call", id: "call_0", name: "search", arguments: null },
        { type: "tool-call", id: "call_1", name: "search", arguments: null }
      ],
      finish: "tool-calls",
      usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
    })
  })
})

describe("errors within a success", () => {
  it("a refusal, an end by a content filter, and a failure, with what they used up [T8]", () => {
    const refused = message("", { content: [{ type: "refusal", refusal: "I will not." }] })
    const refusal = errorOf(response([refused]))
    assert.strictEqual(refusal._tag, "ContentFilteredError")
    assert.strictEqual(refusal.detail, "I will not.")
    assert.strictEqual(refusal.usage?.outputTokens, 9)
    const filtered = { status: "incomplete", incomplete_details: { reason: "content_filter" } }
    assert.strictEqual(errorOf(response([message("half")], filtered))._tag, "ContentFilteredError")
    const failure = (error: Item | null) => errorOf(response([], { status: "failed", error }))
    assert.strictEqual(failure({ code: "server_error", message: "oops" })._tag, "ServerError")
    assert.strictEqual(failure({ code: "rate_limit_exceeded", message: "slow" })._tag, "RateLimitError")
    assert.strictEqual(failure({ code: "invalid_prompt", message: "no" }).usage?.inputTokens, 30)
    assert.strictEqual(failure(null)._tag, "ServerError")
  })

  it("an end without a message has ours [T8]", () => {
    assert.include(errorOf(response([], { status: "failed", error: null })).detail ?? "", "the response failed")
    const filtered = { status: "incomplete", incomplete_details: { reason: "content_filter" } }
    const detail = errorOf(response([], filtered)).detail ?? ""
    assert.include(detail, "the response was cut off by a content filter")
    const unread = (body: unknown) => {
      const result = decode(body)
      return Result.isFailure(result) ? result.failure.message : ""
    }
    assert.include(unread(response([], { status: "queued" })), "its response is 'queued'")
    assert.include(unread({ output: null }), "the body holds no output")
  })

  it("a refusal that only its own event reports [T8]", () => {
    const piece = JSON.stringify({ type: "response.refusal.delta", delta: "N" })
    assert.deepStrictEqual(codec.decoder(answer(200, "")).push(piece), Result.succeed([]))
    const [created, ...rest] = events(response([]))
    const result = decodeStream([created, { type: "response.refusal.done", refusal: "No." }, ...rest])
    assert(Result.isFailure(result))
    assert.strictEqual(result.failure._tag, "ContentFilteredError")
    assert.strictEqual(result.failure.usage?.outputTokens, 9)
  })

  it("an error event, nested or flat, before and after parts, whether a failure follows or not [T8]", () => {
    const details = { code: "rate_limit_exceeded", message: "Please try again in 2s.", param: null }
    const failed = { type: "response.failed", response: response([], { status: "failed", error: details }) }
    const begun = itemEvents(message("half a text"), 0).slice(0, -1)
    for (const before of [[], begun]) {
      for (const after of [[], [failed]]) {
        for (const error of [
          { type: "error", sequence_number: 2, error: { type: "tokens", ...details } },
          { type: "error", sequence_number: 2, ...details }
        ]) {
          const result = decodeStream([...before, error, ...after])
          assert(Result.isFailure(result))
          assert.strictEqual(result.failure._tag, "RateLimitError")
        }
      }
    }
  })

  it("a body that is no finished response cannot be read [T8]", () => {
    for (const body of ["", "{", "null", "[]", "{}", response([], { status: "queued" }), { output: null }]) {
      const result = decode(body)
      assert(Result.isFailure(result))
      assert.strictEqual(result.failure._tag, "UnknownLlmError")
    }
  })
})

describe("streams", () => {
  const body = response([reasoning("rs_1", "Hm."), message("Hello, world."), call("a", '{"q":"x"}')])

  it("gives texts as they come, and each call in one piece when it is complete", () => {
    const decoder = codec.decoder(answer(200, ""))
    const seen = events(body, 100).map((event) => Result.getOrThrow(decoder.push(JSON.stringify(event))))
    assert.deepStrictEqual(
      seen.map((parts) => parts.map(({ type }) => type)),
      [
        [],
        [],
        [],
        ["reasoning-delta"],
        ["reasoning-delta"],
        [],
        ["text-delta"],
        ["provider-item"],
        [],
        [],
        ["tool-call"],
        ["finish"]
      ]
    )
  })

  it("is open until one of its own ends, not those of chat completions [P504]", () => {
    const decoder = codec.decoder(answer(200, ""))
    for (const event of [...events(body).slice(0, -1), "[DONE]"]) {
      assert.isTrue(Result.isSuccess(decoder.push(typeof event === "string" ? event : JSON.stringify(event))))
    }
    assert.strictEqual(decoder.state(), "open")
    assert.isTrue(Result.isFailure(decoder.end()))
  })

  it("takes from the last event what the ones before it left out", () => {
    const several = response([reasoning("rs_1", "Hm. ", "Well."), message("Hello, world.")])
    const whole = Result.getOrThrow(decode(body))
    const all = events(body)
    const silent = events(several).filter(({ type }) => !String(type).includes("delta"))
    assert.deepStrictEqual(Result.getOrThrow(decodeStream(silent)), Result.getOrThrow(decode(several)))
    const without = (...types: ReadonlyArray<string>) =>
      all.filter(({ type }) => !types.some((left) => String(type).includes(left)))
    for (const some of [without("delta"), without("added"), without("done"), without("added", "delta", "done")]) {
      assert.deepStrictEqual(Result.getOrThrow(decodeStream(some)), whole)
    }
  })

  it("needs no output in the last event, and neither index nor end of an item", () => {
    const whole = Result.getOrThrow(decode(response([message("Hello."), call("a", '{"q":"x"}')])))
    const all = events(response([message("Hello."), call("a", '{"q":"x"}')]))
    const bare = all.slice(0, -1)
    const last = { type: "response.completed", response: response([]) }
    const withoutIndex = bare.map((event) => ({ ...event, output_index: null }))
    const withoutEnd = bare.filter(({ type }) => type !== "response.output_item.done")
    for (const some of [bare, withoutIndex, withoutEnd]) {
      assert.deepStrictEqual(Result.getOrThrow(decodeStream([...some, last])), whole)
    }
  })

  it("takes from the end of an item what its reasoning has beyond its pieces", () => {
    const body = response([reasoning("rs_1", "Hm. ", "Well.")])
    const all = events(body)
    const last = all.findLastIndex(({ type }) => String(type).includes("delta"))
    assert.deepStrictEqual(Result.getOrThrow(decodeStream(all.toSpliced(last, 1))), Result.getOrThrow(decode(body)))
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
