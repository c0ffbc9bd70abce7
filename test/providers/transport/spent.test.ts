/** The usage of sends that were resent. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Usage from "@kintsugi/core/Usage"
import { Effect, Stream } from "effect"
import { Spent } from "../../../packages/providers/src/transport/spent.ts"

const used = (inputTokens: number) => Usage.make({ inputTokens, outputTokens: 1 })
const sum = (inputTokens: number, outputTokens: number) => Usage.make({ inputTokens, outputTokens })

const failure = (usage?: Usage.Usage) => ({
  error: new LlmError.ServerError({ model: "m", message: "no", ...(usage === undefined ? {} : { usage }) }),
  resend: true
})

describe("the usage of a failed send", () => {
  it("is that of all sends so far, and without an earlier one the failure stays as it is", () => {
    const spent = new Spent()
    const usages = [undefined, used(3), undefined, used(-1), used(5)].map((usage) => {
      const failed = failure(usage)
      const result = spent.failed(failed)
      assert.isTrue(result.resend)
      return result === failed ? "as it is" : result.error.usage
    })
    assert.deepStrictEqual(usages, ["as it is", "as it is", sum(3, 1), sum(3, 1), sum(8, 2)])
    assert.deepStrictEqual<object>(spent.counted({ usage: used(1) }), { usage: sum(9, 3), resent: sum(8, 2) })
  })

  it("is added to a reply, and to the parts with usage, but to none that is not sound", () => {
    const spent = new Spent()
    const usage = { type: "usage", usage: used(2) } as const
    assert.strictEqual(spent.part(usage), usage)
    spent.failed(failure())
    assert.strictEqual(spent.part(usage), usage)
    spent.failed(failure(used(3)))
    const finish = { type: "finish", finish: "stop", usage: used(4) } as const
    const text = { type: "text-delta", text: "a" } as const
    const unsound = { type: "usage", usage: used(-1) } as const
    assert.deepStrictEqual(
      [usage, finish, text].map((part) => spent.part(part)),
      [{ ...usage, usage: sum(5, 2), resent: used(3) }, { ...finish, usage: sum(7, 2), resent: used(3) }, text]
    )
    assert.strictEqual(spent.part(unsound), unsound)
  })

  it.effect("is added to the rest of a stream, and to the failure of the rest if that has its own", () =>
    Effect.gen(function* () {
      const usage = { type: "usage", usage: used(2) } as const
      const { error: bare } = failure()
      const rest = (spent: Spent, error: LlmError.LlmError) =>
        Effect.gen(function* () {
          const parts: Array<unknown> = []
          const stream = Stream.concat(Stream.make(usage), Stream.fail(error))
          const read = Stream.runForEach(spent.rest(stream), (part) => Effect.sync(() => parts.push(part)))
          return { parts, error: yield* Effect.flip(read) }
        })
      const spent = new Spent()
      assert.deepStrictEqual(yield* rest(spent, bare), { parts: [usage], error: bare })
      spent.failed(failure(used(3)))
      const counted = { ...usage, usage: sum(5, 2), resent: used(3) }
      const broken = yield* rest(spent, bare)
      assert.deepStrictEqual(broken.parts, [counted])
      assert.strictEqual(broken.error, bare)
      assert.deepStrictEqual((yield* rest(spent, failure(used(7)).error)).error.usage, sum(10, 2))
    })
  )
})
