/** Any bodies and events, well-formed or not, and the next piece of a text. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import { Result } from "effect"
import * as fc from "fast-check"
import { take } from "../../../_support/codec.ts"
import { answer, chunk, decode, decodeStream, failed, ok, source, whole, wireCall } from "./_support/replies.ts"

describe("any input", () => {
  const fragment = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        choices: fc.array(
          fc.record(
            {
              index: fc.jsonValue(),
              delta: fc.jsonValue(),
              message: fc.oneof(
                fc.jsonValue(),
                fc.record({ tool_calls: fc.array(fc.jsonValue()), content: fc.jsonValue() })
              ),
              finish_reason: fc.oneof(fc.jsonValue(), fc.constantFrom("stop", "length", "tool_calls"))
            },
            { requiredKeys: [] }
          )
        ),
        usage: fc.jsonValue(),
        error: fc.oneof(fc.jsonValue(), fc.constant(undefined)),
        model: fc.jsonValue()
      },
      { requiredKeys: [] }
    )
  )
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fragment.map((value) => JSON.stringify(value))
  )

  it("any body is a reply or one LlmError, never a throw [T8]", () => {
    fc.assert(
      fc.property(text, (body) => {
        const result = decode(body)
        assert.isTrue(Result.isSuccess(result) || LlmError.isLlmError(result.failure))
      })
    )
  })

  it("any events are parts or one LlmError, never a throw [T8]", () => {
    const events = fc.array(fc.oneof(text, fc.constant("[DONE]"), fc.constant(JSON.stringify(chunk({ content: "x" })))))
    fc.assert(
      fc.property(events, (data) => {
        const result = decodeStream(data)
        assert.isTrue(Result.isSuccess(result) || LlmError.isLlmError(result.failure))
      })
    )
  })

  it("any reply is the same whole and streamed, however its texts are cut [A114]", () => {
    const reply = fc.record({
      content: fc.string(),
      calls: fc.array(
        fc.record({ id: fc.string({ minLength: 1 }), name: fc.string({ minLength: 1 }), args: fc.string() }),
        {
          maxLength: 3
        }
      ),
      size: fc.integer({ min: 1, max: 5 })
    })
    const cut = (value: string, size: number) => value.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []
    fc.assert(
      fc.property(reply, ({ calls, content, size }) => {
        const wire = calls.map(({ args, id, name }) => wireCall(id, name, args))
        const events = [
          ...cut(content, size).map((piece) => chunk({ content: piece })),
          ...wire.flatMap(({ function: { arguments: args, name }, id }, index) => [
            chunk({ tool_calls: [{ index, id, function: { name, arguments: "" } }] }),
            ...cut(String(args), size).map((piece) =>
              chunk({ tool_calls: [{ index, function: { arguments: piece } }] })
            )
          ]),
          chunk({}, "stop"),
          "[DONE]"
        ]
        assert.deepStrictEqual(ok(decodeStream(events)), ok(whole({ content, tool_calls: wire })))
      })
    )
  })
})

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

  it("are the content of a plain chunk", () => {
    for (const event of [chunk(b), withMore({}, { index: null }), { model: "m-1", choices: [{ delta: b }] }]) {
      assert.deepStrictEqual(decoderOf().push(event), Result.succeed([said]))
    }
    assert.deepStrictEqual(decoderOf().push(chunk({ content: "" })), Result.succeed([]))
    assert.deepStrictEqual(decoderOf().push(chunk({ content: [{ type: "text", text: "b" }] })), Result.succeed([said]))
    const empty = [[], [null], [{}], [{ delta: null }], null]
    for (const nothing of [...empty.map((choices) => ({ choices })), {}]) {
      assert.deepStrictEqual(decoderOf().push({ model: "m-1", ...nothing }), Result.succeed([]))
    }
  })

  it("is not recognised by counts alone", () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 }
    const counted = { type: "usage" as const, usage: Usage.make({ inputTokens: 3, outputTokens: 2 }) }
    assert.deepStrictEqual(decoderOf().push({ ...chunk({}), usage }), Result.succeed([counted]))
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

  it("hides no error and no refusal beside it", () => {
    const error = { message: "slow down", code: "rate_limit_exceeded" }
    for (const event of [withMore({ error }), withMore({}, { error }), withMore({ object: "error", ...error })]) {
      failed(decoderOf().push(event), LlmError.RateLimitError)
    }
    const { decoder, push } = decoderOf()
    push(withMore({}, {}, { refusal: "No." }))
    failed(decoder.end(), LlmError.ContentFilteredError)
  })

  it("hides no counts, sources, calls, thoughts or end beside it", () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 }
    const counted = Usage.make({ inputTokens: 3, outputTokens: 2 })
    for (const event of [withMore({ usage }), withMore({}, { usage })]) {
      assert.deepStrictEqual(decoderOf().push(event), Result.succeed([said, { type: "usage", usage: counted }]))
    }
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
    assert.deepStrictEqual(contentOf(withMore({})), [ab])
    for (const name of ["citations", "search_results"]) {
      const content = contentOf(withMore({ [name]: ["https://example.org"] }))
      assert.deepStrictEqual(content[0], ab)
      assert.include(JSON.stringify(content.slice(1)), "https://example.org")
    }
    const call = { type: "tool-call", id: "c1", name: "f", arguments: "{}" } as const
    assert.deepStrictEqual(contentOf(withMore({}, {}, { tool_calls: [{ index: 0, ...wireCall("c1", "f", "{}") }] })), [
      ab,
      call
    ])
    const old = contentOf(withMore({}, {}, { function_call: { name: "f", arguments: "{}" } }))
    assert.deepInclude(old[1], { type: "tool-call", name: "f", arguments: "{}" })
    for (const name of ["reasoning_content", "reasoning"]) {
      const content = contentOf(withMore({}, {}, { [name]: "hm" }))
      assert.include(JSON.stringify(content), '"text":"hm"', name)
    }
    const details = [{ type: "reasoning.text", text: "hm", index: 0 }]
    assert.deepStrictEqual(contentOf(withMore({}, {}, { reasoning_details: details })).at(-1), {
      ...item("reasoning_details", details)
    })
    assert.strictEqual(replyOf(withMore({}, { finish_reason: "length" })).finish, "length")
    const unnamed = { choices: end.choices }
    assert.strictEqual(replyOf({ ...withMore({}), model: "m-2" }, unnamed).model, "m-2")
  })

  it("of another choice is none of this one's", () => {
    const { push } = decoderOf()
    assert.deepStrictEqual(push(withMore({}, { index: 1 })), Result.succeed([]))
  })
})
