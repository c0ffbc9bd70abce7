/** Laws that the codec of responses keeps on anything that a server may send. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Result, Schema } from "effect"
import * as fc from "fast-check"
import {
  call,
  codec,
  decode,
  decodeStream,
  events,
  type Item,
  message,
  reasoning,
  response
} from "./_support/responses.ts"
import { fixtures, pieces } from "../../../_support/wireFixtures.ts"

const isReply = Schema.is(Message.Reply)

/** A reply that can be sent back, or one typed error. */
const check = (result: Result.Result<Message.Reply | undefined, LlmError.LlmError>) => {
  if (Result.isFailure(result)) return assert.isTrue(LlmError.isLlmError(result.failure))
  if (result.success === undefined) return
  assert.isTrue(isReply(result.success), JSON.stringify(result.success))
  const messages = [Message.user("hi"), Message.settle(result.success, [])]
  const { input } = JSON.parse(codec.encode({ messages, tools: [], toolChoice: "auto" }, "whole"))
  const ids = (type: string) => input.filter((item: Item) => item["type"] === type).map((item: Item) => item["call_id"])
  assert.deepStrictEqual(ids("function_call_output"), ids("function_call"), "every call has its result")
  assert.notStrictEqual(input.at(-1).type, "reasoning", "no reasoning goes back alone")
}

const words = (text: string) => text.trim().split(/\s+/)

const keys = words(`
  type id item item_id output_index summary_index delta response output content text refusal summary encrypted_content
  arguments call_id name status usage incomplete_details reason error annotations phase model input_tokens __proto__
`)

const kinds = words(`
  response.created response.completed response.incomplete response.failed error unheard.of
  response.output_item.added response.output_item.done response.output_text.delta response.refusal.done
  response.reasoning_summary_text.delta response.reasoning_text.delta
  response.function_call_arguments.delta response.function_call_arguments.done
`)

const json = fc.letrec<{ json: Schema.Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, depthIdentifier: "json" },
    fc.constantFrom<Schema.Json>(null, "", 0, 1, 1e300, -1, true, "completed", "incomplete", "failed", "queued"),
    fc.constantFrom("message", "reasoning", "function_call", "output_text", "refusal", "web_search_call", "error"),
    fc.string(),
    fc.dictionary(fc.constantFrom(...keys), tie("json"), { maxKeys: 6 }),
    fc.array(tie("json"), { maxLength: 4 })
  )
})).json

const types = fc.constantFrom(...kinds)

const anyEvent = fc.oneof(
  json,
  fc.record(
    {
      type: types,
      output_index: fc.oneof(fc.nat(3), json),
      item_id: fc.constantFrom("a", "b", null),
      delta: json,
      arguments: json,
      item: json,
      response: fc.record({ output: fc.array(json, { maxLength: 3 }), status: json, usage: json }),
      refusal: json
    },
    { requiredKeys: ["type"] }
  )
)

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => new TextDecoder().decode(bytes)),
  anyEvent.map((event) => JSON.stringify(event)),
  anyEvent.map((event) => JSON.stringify(event).slice(0, -2))
)

const item = fc.oneof(
  fc.tuple(fc.string(), fc.boolean()).map(([text, isFinal]) => message(text, isFinal ? { phase: "final" } : {})),
  fc.tuple(fc.string(), fc.array(fc.string(), { maxLength: 3 })).map(([id, texts]) => reasoning(`rs_${id}`, ...texts)),
  fc.tuple(fc.string(), fc.string()).map(([id, args]) => call(id, args)),
  fc.constant<Item>({ type: "web_search_call", id: "ws_1", status: "completed" }),
  fc.constant<Item>({ type: "custom_tool_call", id: "ct_1", call_id: "c", input: "x" })
)

const recorded = fixtures.filter(({ api, status }) => api === "openai-responses" && status === 200)

describe("totality", () => {
  it("any body is a reply, and any events are parts, or one LlmError, never a throw [T8]", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          json.map((body) => JSON.stringify(body))
        ),
        (body) => check(decode(body))
      )
    )
    fc.assert(fc.property(fc.array(json, { maxLength: 4 }), json, (output, usage) => check(decode({ output, usage }))))
    fc.assert(fc.property(fc.array(anyText, { maxLength: 20 }), (data) => check(decodeStream(data))))
  })

  for (const { body, id, ...fixture } of recorded) {
    it(`${id}, cut off, reordered, doubled or thinned out, never throws [T8]`, () => {
      const all = pieces({ body, id, ...fixture })
      const subset = fc.array(fc.nat(all.length - 1), { maxLength: all.length * 2 })
      fc.assert(
        fc.property(subset, fc.nat(body.length), (order, cut) => {
          check(fixture.streaming ? decodeStream(order.map((at) => all[at])) : decode(body.slice(0, cut)))
          if (!fixture.streaming) return
          const [first = "", ...rest] = order.map((at) => all[at] ?? "")
          check(decodeStream([...rest, first.slice(0, cut)]))
        })
      )
    })
  }
})

it("any response is the same whole and streamed, however its texts are cut [A114]", () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 5 }), fc.integer({ min: 1, max: 5 }), fc.boolean(), (output, size, cut) => {
      const body = response(output, cut ? { status: "incomplete" } : {})
      const whole = decode(body)
      const streamed = decodeStream(events(body, size))
      assert.deepStrictEqual(streamed, Result.map(whole, Model.collected))
      check(whole)
    })
  )
})
