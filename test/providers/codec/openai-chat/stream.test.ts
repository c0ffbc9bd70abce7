/** The next piece of a text, and what may come beside it. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import { Result } from "effect"
import { take } from "../../../_support/codec.ts"
import { answer, chunk, failed, ok, source } from "./_support/replies.ts"

describe("the next piece of a text", () => {
  const dialect: OpenAiChat.Dialect = { sources: ["citations", "search_results"] }
  const decoderOf = () => {
    const decoder = OpenAiChat.make(source, {}, dialect).decoder(answer(""))
    const push = (event: unknown) => decoder.push(JSON.stringify(event))
    push(chunk({ content: "a" }))
    return { decoder, push }
  }
  const b = { content: "b" }
  /** A chunk with a piece of text, and something else at its top, in its choice or in its delta. */
  const withMore = (top: object, choice: object = {}, delta: object = {}) => ({
    ...chunk({}),
    choices: [{ ...chunk({}).choices[0], delta: { ...b, ...delta }, ...choice }],
    ...top
  })
  const said = { type: "text-delta", text: "b" } as const

  it("is the content of its chunk, and beside it the counts that came with it", () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 }
    const counted = { type: "usage", usage: Usage.make({ inputTokens: 3, outputTokens: 2 }) } as const
    const none = [{}, { choices: null }, ...[[], [null], [{}], [{ delta: null }]].map((choices) => ({ choices }))]
    const rows: ReadonlyArray<readonly [event: object, parts: ReadonlyArray<Model.Part>]> = [
      [chunk(b), [said]],
      [withMore({}, { index: null }), [said]],
      [{ model: "m-1", choices: [{ delta: b }] }, [said]],
      [chunk({ content: [{ type: "text", text: "b" }] }), [said]],
      [chunk({ content: "" }), []],
      [withMore({}, { index: 1 }), []],
      ...none.map((fields) => [{ model: "m-1", ...fields }, []] as const),
      [{ ...chunk({}), usage }, [counted]],
      [withMore({ usage }), [said, counted]],
      [withMore({}, { usage }), [said, counted]]
    ]
    for (const [event, parts] of rows) {
      assert.deepStrictEqual(decoderOf().push(event), Result.succeed(parts), JSON.stringify(event))
    }
    const ended = decoderOf()
    ended.push(chunk({}, "stop"))
    // the end of the reply has these counts
    assert.deepStrictEqual(ended.push({ choices: [], usage }), Result.succeed([]))
  })

  it("ends a stream only if its reply has ended, and only by its own event [P504]", () => {
    const object = "chat.completion.done"
    const decoder = OpenAiChat.make(source, {}, { lastEvent: object }).decoder(answer(""))
    const states = [{ ...chunk({ content: "a" }), object }, { ...chunk({}), object }, chunk({}, "stop"), { object }]
    assert.deepStrictEqual(
      states.map((event) => {
        assert(Result.isSuccess(decoder.push(JSON.stringify(event))))
        return decoder.state()
      }),
      ["open", "open", "complete", "done"]
    )
  })

  it("hides no error, refusal, source, call, thought or end beside it", () => {
    const error = { message: "slow down", code: "rate_limit_exceeded" }
    for (const event of [withMore({ error }), withMore({}, { error }), withMore({ object: "error", ...error })]) {
      failed(decoderOf().push(event), LlmError.RateLimitError)
    }
    const refused = decoderOf()
    refused.push(withMore({}, {}, { refusal: "No." }))
    failed(refused.decoder.end(), LlmError.ContentFilteredError)
    /** The reply after these, of which the text is "ab" in any case. */
    const replyOf = (...events: ReadonlyArray<object>) => {
      const { decoder, push } = decoderOf()
      const collector = new Model.Collector()
      take(collector, [{ type: "text-delta", text: "a" }])
      for (const event of events) take(collector, Result.getOrThrow(push(event)))
      assert.strictEqual(decoder.state(), "complete")
      take(collector, Result.getOrThrow(decoder.end()))
      return ok(Result.succeed(collector.reply()))
    }
    const end = chunk({}, "stop")
    const contentOf = (event: object) => replyOf(event, end).content
    const ab = Message.text("ab")
    const item = (kind: string, data: Message.Opaque["data"]) => ({
      type: "provider-item" as const,
      kind,
      opaque: { provider: "openai", data }
    })
    const fn = { name: "f", arguments: "{}" }
    const call = (id: string) => ({ type: "tool-call", id, ...fn })
    const thought = (data: string) => ({ type: "reasoning", text: "hm", opaque: { provider: "openai", data } })
    const details = [{ type: "reasoning.text", text: "hm", index: 0 }]
    const rows: ReadonlyArray<readonly [event: object, ...content: ReadonlyArray<unknown>]> = [
      [withMore({}), ab],
      ...["citations", "search_results"].map(
        (name) => [withMore({ [name]: ["a"] }), ab, item("sources", { [name]: ["a"] })] as const
      ),
      [withMore({}, {}, { tool_calls: [{ index: 0, id: "c1", function: fn }] }), ab, call("c1")],
      [withMore({}, {}, { function_call: fn }), ab, call("call_0")],
      ...["reasoning_content", "reasoning"].map(
        (name) => [withMore({}, {}, { [name]: "hm" }), Message.text("a"), thought(name), Message.text("b")] as const
      ),
      [
        withMore({}, {}, { reasoning_details: details }),
        Message.text("a"),
        { type: "reasoning", text: "hm" },
        Message.text("b"),
        item("reasoning_details", details)
      ]
    ]
    for (const [event, ...content] of rows) assert.deepStrictEqual<unknown>(contentOf(event), content)
    assert.strictEqual(replyOf(withMore({}, { finish_reason: "length" })).finish, "length")
    const unnamed = { choices: end.choices }
    assert.strictEqual(replyOf({ ...withMore({}), model: "m-2" }, unnamed).model, "m-2")
  })
})
