/** Laws of the chat codec, in the dialects of all who speak it. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import type * as Provider from "@kintsugi/providers/Provider"
import { Result } from "effect"
import * as fc from "fast-check"
import { ThinkTags } from "../../../../packages/providers/src/codec/openai-chat/thinkTags.ts"
import { answer, fixtures, pieces } from "../../../_support/wireFixtures.ts"
import { take } from "../../../_support/codec.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

/** Everything that a dialect can change about reading. */
const dialect: OpenAiChat.Dialect = {
  thinkTags: true,
  lastEvent: "chat.completion.done",
  sources: ["citations", "search_results"]
}

const codec = OpenAiChat.make(source, {}, dialect)

/** The reply that events fold to; `undefined` when their end is missing. */
const fold = (events: ReadonlyArray<string>): Result.Result<Message.Reply | undefined, LlmError.LlmError> => {
  const decoder = codec.decoder(answer(200, ""))
  const collector = new Model.Collector()
  const steps = [...events.map((data) => () => decoder.push(data)), () => decoder.end()]
  for (const [index, step] of steps.entries()) {
    if (decoder.state() === "done") break
    if (index === events.length && decoder.state() === "open") return Result.succeed(undefined)
    const parts = step()
    if (Result.isFailure(parts)) return Result.fail(parts.failure)
    take(collector, parts.success)
  }
  return Result.succeed(collector.reply())
}

/** A text in pieces that end at these positions. */
const cut = (text: string, positions: ReadonlyArray<number>): ReadonlyArray<string> => {
  const ends = [...new Set(positions.map((position) => position % (text.length + 1))), text.length].toSorted(
    (a, b) => a - b
  )
  return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end))
}

const positions = fc.array(fc.nat(200), { maxLength: 6 })

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "<think>hm</think>\n\n4",
    " <think> a < b </thin </think>x",
    "<thi",
    "a <think>b</think>",
    "<think>no end"
  )
)

const detail = fc.record(
  {
    type: fc.constantFrom("reasoning.text", "reasoning.summary"),
    text: fc.string(),
    signature: fc.string({ minLength: 1 }),
    format: fc.constantFrom("anthropic-claude-v1", "unknown")
  },
  { requiredKeys: ["type", "text"] }
)

const replies = fc.record({
  reasoning: fc.option(fc.record({ field: fc.constantFrom("reasoning", "reasoning_content"), text: fc.string() })),
  details: fc.array(detail, { maxLength: 3 }),
  content: text,
  calls: fc.array(
    fc.record({ id: fc.string({ minLength: 1 }), name: fc.string({ minLength: 1 }), args: fc.string() }),
    {
      maxLength: 3
    }
  ),
  citations: fc.array(fc.webUrl(), { maxLength: 2 }),
  usage: fc.option(fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat(), cost: fc.nat() })),
  reason: fc.constantFrom("stop", "tool_calls", "length", "brand_new"),
  hasDone: fc.boolean(),
  positions
})

type Rendered = typeof replies extends fc.Arbitrary<infer A> ? A : never

const wireCall = ({ args, id, name }: Rendered["calls"][number]) => ({
  id,
  type: "function",
  function: { name, arguments: args }
})

const indexed = (details: Rendered["details"]) => details.map((part, index) => ({ ...part, index }))

const top = ({ citations, usage }: Rendered) => ({ citations, ...(usage === null ? {} : { usage }) })

const whole = (reply: Rendered): string => {
  const { calls, content, details, reason, reasoning } = reply
  const message = {
    content,
    ...(reasoning === null ? {} : { [reasoning.field]: reasoning.text }),
    ...(details.length === 0 ? {} : { reasoning_details: indexed(details) }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireCall) })
  }
  return JSON.stringify({ model: "m-1", choices: [{ message, finish_reason: reason }], ...top(reply) })
}

/** The same reply in pieces, each cut at the same positions. */
const streamed = (reply: Rendered): ReadonlyArray<string> => {
  const { calls, content, details, hasDone, positions, reason, reasoning } = reply
  const chunk = (delta: object) => ({ model: "m-1", choices: [{ index: 0, delta }] })
  const detailPieces = indexed(details).flatMap(({ index, signature, text, type, ...rest }) => [
    ...cut(text, positions).map((piece) => ({ type, text: piece, index, ...rest })),
    // the signature comes last, alone
    ...(signature === undefined ? [] : [{ type, index, signature, ...rest }])
  ])
  const callPieces = calls.flatMap(({ args, id, name }, index) => [
    { index, id, function: { name, arguments: "" } },
    ...cut(args, positions).map((piece) => ({ index, id: null, function: { name: null, arguments: piece } }))
  ])
  const events = [
    ...(reasoning === null ? [] : cut(reasoning.text, positions).map((piece) => chunk({ [reasoning.field]: piece }))),
    // beside their text, unless details are all there is
    ...(reasoning === null || reasoning.text === ""
      ? detailPieces.map((piece) => chunk({ reasoning_details: [piece] }))
      : []),
    ...cut(content, positions).map((piece) => chunk({ content: piece })),
    ...callPieces.map((piece) => chunk({ tool_calls: [piece] })),
    ...(reasoning === null || reasoning.text === ""
      ? []
      : detailPieces.map((piece) => chunk({ reasoning_details: [piece] }))),
    {
      model: "m-1",
      object: hasDone ? "chat.completion.chunk" : "chat.completion.done",
      choices: [{ index: 0, delta: {}, message: { content }, finish_reason: reason }],
      ...top(reply)
    }
  ]
  return [...events.map((event) => JSON.stringify(event)), ...(hasDone ? ["[DONE]"] : [])]
}

const ok = (result: Result.Result<Message.Reply | undefined, LlmError.LlmError>): Message.Reply => {
  assert(Result.isSuccess(result), Result.isFailure(result) ? result.failure.message : "")
  assert(result.success !== undefined, "the end is missing")
  return result.success
}

describe("whole and streamed", () => {
  it("any reply is the same, with reasoning, its details, calls, sources and cost, however it is cut [A114 A814]", () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(replies, (reply) => {
        const read = Model.collected(ok(codec.decode(answer(200, whole(reply)))))
        assert.deepStrictEqual(ok(fold(streamed(reply))), read)
        for (const part of read.content) seen.add(part.type === "provider-item" ? part.kind : part.type)
      })
    )
    assert.sameMembers([...seen], ["reasoning", "text", "tool-call", "reasoning_details", "sources"])
  })
})

describe("damaged answers of this format", () => {
  const recorded = fixtures.filter(({ api, status }) => api === "openai-chat" && status === 200)

  /** A reply with its end, an error of ours, or, without an end, nothing. */
  const check = (result: Result.Result<Message.Reply | undefined, LlmError.LlmError>) => {
    assert.isTrue(Result.isSuccess(result) || LlmError.isLlmError(result.failure))
  }

  // Finds out nothing of its own: every reader takes any JSON, so no small mistake makes one throw
  it("any bytes, any JSON and any part of a recording are a reply or one LlmError, whole and as events [T8]", () => {
    const field = fc.constantFrom(
      "choices",
      "delta",
      "message",
      "content",
      "reasoning",
      "reasoning_details",
      "tool_calls",
      "function",
      "arguments",
      "index",
      "id",
      "type",
      "text",
      "signature",
      "usage",
      "cost",
      "citations",
      "finish_reason",
      "object",
      "error",
      "__proto__"
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom("stop", "length", "<think>", "chat.completion.done", null, 0, 1),
        fc.jsonValue(),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(field, tie("value"), { maxKeys: 5 })
      )
    }))
    const chunk = fc
      .array(value)
      .map((delta) => ({ choices: [{ delta: delta[0], message: delta[1], usage: delta[2] }] }))
    const bytes = fc.uint8Array().map((bytes) => new TextDecoder().decode(bytes))
    const data = fc.oneof(
      bytes,
      fc.oneof(value, chunk).map((json) => JSON.stringify(json) ?? ""),
      fc.constant("[DONE]")
    )
    fc.assert(
      fc.property(data, fc.array(data, { maxLength: 8 }), (body, events) => {
        check(codec.decode(answer(200, body)))
        check(fold(events))
        assert.isTrue(LlmError.isLlmError(codec.classify(answer(400, body))))
      })
    )
    const streams = recorded.filter(({ streaming }) => streaming).map(pieces)
    const bodies = recorded.filter(({ streaming }) => !streaming).map(({ body }) => body)
    assert.isAbove(streams.length, 5)
    fc.assert(
      fc.property(fc.constantFrom(...streams), fc.nat(), fc.infiniteStream(fc.nat()), (events, cutAt, order) => {
        check(fold(events.toSorted(() => ((order.next().value ?? 0) % 3) - 1)))
        check(fold(events.slice(0, cutAt % events.length)))
        check(fold([...events.slice(0, cutAt % events.length), (events[0] ?? "").slice(0, cutAt % 40)]))
      })
    )
    fc.assert(
      fc.property(fc.constantFrom(...bodies), fc.nat(), (body, end) =>
        check(codec.decode(answer(200, body.slice(0, end % body.length))))
      )
    )
  })
})

describe("thoughts between tags", () => {
  const split = (pieces: ReadonlyArray<string>) => {
    const tags = new ThinkTags()
    const out = [...pieces.flatMap((piece) => tags.push(piece)), ...tags.end()]
    const of = (type: string) => out.map((piece) => (piece.type === type ? piece.text : "")).join("")
    assert.isTrue(out.every((piece) => piece.text !== ""))
    // thoughts come before the answer, never between
    const first = out.findIndex(({ type }) => type === "text-delta")
    assert.isTrue(first === -1 || out.slice(first).every(({ type }) => type === "text-delta"))
    return { thought: of("reasoning-delta"), said: of("text-delta") }
  }

  it("are found at the beginning only, in any pieces, and go on to the end where they have none [A114]", () => {
    const rows: ReadonlyArray<readonly [text: string, thought: string, said: string]> = [
      ["<think>\nhm\n</think>\n\n4", "\nhm\n", "4"],
      [" \n<think>a</think>b</think>", "a", "b</think>"],
      ["4 <think>a</think>", "", "4 <think>a</think>"],
      ["<think>a </thi", "a </thi", ""],
      ["<thin", "", "<thin"],
      ["  ", "", "  "],
      ["<think></think>  4 ", "", "4 "]
    ]
    for (const [text, thought, said] of rows) {
      for (const pieces of [[text], Array.from(text)]) assert.deepStrictEqual(split(pieces), { thought, said })
    }
  })
})
