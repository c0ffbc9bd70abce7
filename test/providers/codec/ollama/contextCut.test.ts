/** Whether the server has cut a prompt, at the very borders of what it counts. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import { Result } from "effect"
import { type Asked, contextCut } from "../../../../packages/providers/src/codec/ollama/contextCut.ts"

const source = { provider: "ollama", model: "m", secrets: [] }

const request = (...messages: Message.Transcript): Model.Request => ({ messages, tools: [], toolChoice: "auto" })

/** A text of so many bytes without a run of one character. */
const text = (bytes: number) => "ab".repeat(bytes).slice(0, bytes)

const read = (inputTokens: number, asked: Partial<Asked>, more: Partial<Usage.Usage> = {}) =>
  contextCut(
    source,
    { numCtx: undefined, contextWindow: undefined, truncate: false, request: undefined, ...asked },
    Usage.make({ inputTokens, ...more })
  )

const remark = (data: Message.Opaque["data"]) =>
  Result.succeed([{ type: "provider-item", kind: "truncated_prompt", opaque: { provider: "ollama", data } }])

describe("a prompt", () => {
  it("that fills the context is an error, which says whose size that is [P1410]", () => {
    const detailOf = (asked: Partial<Asked>) => {
      const step = read(4096, asked)
      assert(Result.isFailure(step) && step.failure._tag === "ContextTooLongError")
      assert.deepStrictEqual([step.failure.limit, step.failure.status], [4096, 200])
      return step.failure.detail
    }
    const cut = "the server cut the prompt: it read 4096 tokens of it, and"
    assert.strictEqual(detailOf({ numCtx: 4096 }), `${cut} num_ctx is 4096`)
    assert.strictEqual(detailOf({ numCtx: 4096, contextWindow: 9 }), `${cut} num_ctx is 4096`)
    assert.strictEqual(detailOf({ contextWindow: 4096 }), `${cut} the context window is 4096`)
    assert.deepStrictEqual<unknown>(
      read(4096, { numCtx: 4096, truncate: true }),
      remark({ prompt_eval_count: 4096, num_ctx: 4096 })
    )
  })

  it("of half the context is cut if it has more than 8 bytes a token, and may be cut if it has more than 7 [P1410]", () => {
    const half = (bytes: number) => read(2048, { numCtx: 4096, request: request(Message.user(text(bytes))) })
    const suspected = (prompt_bytes: number) =>
      remark({ prompt_eval_count: 2048, num_ctx: 4096, prompt_bytes, suspected: true })
    assert.isTrue(Result.isFailure(half(8 * 2048 + 1)))
    assert.deepStrictEqual<unknown>(half(8 * 2048), suspected(8 * 2048))
    assert.deepStrictEqual<unknown>(half(7 * 2048 + 1), suspected(7 * 2048 + 1))
    assert.deepStrictEqual(half(7 * 2048), Result.succeed([]))
    // a count of less than half, or of zero, and usage that is not sound say nothing of it
    const long = { numCtx: 4096, request: request(Message.user(text(99_999))) }
    for (const count of [2030, 0, NaN]) assert.deepStrictEqual(read(count, long), Result.succeed([]))
    assert.deepStrictEqual(read(4096, long, { outputTokens: -1 }), Result.succeed([]))
  })

  it("counts the arguments of calls, as text or as JSON, and the texts of their results [P1410]", () => {
    const called = (args: Message.ToolCall["arguments"]) =>
      read(3000, {
        numCtx: 4096,
        request: request({
          role: "assistant",
          content: [
            {
              type: "settled-call",
              call: { type: "tool-call", id: "c1", name: "f", arguments: args },
              settlement: { kind: "result", text: text(100) }
            }
          ]
        })
      })
    const suspected = (prompt_bytes: number) =>
      remark({ prompt_eval_count: 3000, num_ctx: 4096, prompt_bytes, suspected: true })
    assert.deepStrictEqual<unknown>(called(text(22_000)), suspected(22_100))
    assert.deepStrictEqual<unknown>(called({ q: text(22_000) }), suspected(22_100 + '{"q":""}'.length))
  })
})
