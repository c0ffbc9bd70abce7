/** What the decoder of a streamed response says of itself, and how pieces wait for each other. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { Result } from "effect"
import { answer } from "../../../_support/wireFixtures.ts"
import { ResponsesDecoder } from "../../../../packages/providers/src/codec/openai-responses/stream.ts"
import { decodeStream, type Item, message, reasoning, response, source } from "./_support/responses.ts"

const decoderOf = (isJob = false) => {
  const decoder = new ResponsesDecoder(source, answer(200, ""), undefined, isJob)
  return { decoder, push: (event: Item) => decoder.push(JSON.stringify(event)) }
}

const delta = (output_index: number, text: string): Item => ({
  type: "response.output_text.delta",
  output_index,
  item_id: `msg_${output_index}`,
  delta: text
})

const done = (output_index: number, item: Item): Item => ({ type: "response.output_item.done", output_index, item })

describe("the decoder", () => {
  it("names the events that hold the whole response, and the model that answers", () => {
    const { decoder, push } = decoderOf()
    assert.deepStrictEqual([...decoder.whole], ["response.completed", "response.incomplete"])
    assert.isUndefined(decoder.model())
    push({ type: "response.created", response: response([], { status: "in_progress" }) })
    assert.strictEqual(decoder.model(), "gpt-x-2026")
    push({ type: "response.in_progress" })
    assert.strictEqual(decoder.model(), "gpt-x-2026")
  })

  it("holds the bytes of what waits for an earlier item, until that is finished", () => {
    const { decoder, push } = decoderOf()
    push({ type: "response.output_item.added", output_index: 0, item: reasoning("rs_1") })
    const before = decoder.held()
    const text = "x".repeat(1000)
    assert.deepStrictEqual(push(delta(1, text)), Result.succeed([]))
    const held = decoder.held()
    assert.isAtLeast(held - before, 1000)
    push(delta(1, text))
    assert.strictEqual(decoder.held() - held, held - before)
    push(done(0, reasoning("rs_1")))
    assert.strictEqual(decoder.held(), 0)
  })

  it("marks the error of a job only if it comes with the response", () => {
    const failed = (event: Item) => {
      const step = decoderOf(true).push(event)
      assert(Result.isFailure(step))
      return "isJobOver" in step.failure
    }
    const error = { code: "server_error", message: "it broke" }
    assert.isFalse(failed({ type: "error", ...error }))
    assert.isTrue(failed({ type: "response.failed", response: response([], { status: "failed", error }) }))
    const step = decoderOf().push({ type: "response.failed", response: response([], { status: "failed", error }) })
    assert.isFalse(Result.isFailure(step) && "isJobOver" in step.failure)
  })
})

describe("a whole item behind its pieces", () => {
  it("is no answer if it is a thought: what waits beside it is still an error", () => {
    const thought = {
      type: "response.reasoning_summary_text.delta",
      output_index: 0,
      item_id: "rs_1",
      summary_index: 0,
      delta: "Hm."
    }
    const items = [reasoning("rs_1", "Hm."), { type: "mystery", id: "m1" }]
    const step = decodeStream([thought, { type: "response.completed", response: response(items) }])
    assert(Result.isFailure(step))
    assert.instanceOf(step.failure, LlmError.CapabilityMismatchError)
  })

  it("keeps its log probabilities if any of its parts has them, and else has those of the pieces [P1407]", () => {
    const token = { token: "so", logprob: -0.1 }
    const pieces = { ...delta(0, "so"), logprobs: [token] }
    const part = (text: string, more: Item = {}): Item => ({ type: "output_text", text, annotations: [], ...more })
    for (const content of [[part("so", { logprobs: [token] }), part("!")], [part("so"), part("!")], []]) {
      const item = message("", { id: "msg_0", content })
      const reply = Result.getOrThrow(
        decodeStream([pieces, done(0, item), { type: "response.completed", response: response([item]) }])
      )
      assert.deepStrictEqual(reply?.content.at(-1), {
        type: "provider-item",
        kind: "message",
        opaque: { provider: "openai", data: { id: "msg_0", status: "completed", logprobs: [token] } }
      })
    }
  })
})
