/** A retry budget that calls of several models share. */
import { assert, describe, it } from "@effect/vitest"
import { LlmError, RetryBudget } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { Effect, Exit } from "effect"
import { ways } from "../../_support/guard.ts"
import {
  completion,
  done,
  failsWith,
  fakeNetwork,
  finishChunk,
  finished,
  listening,
  openAi,
  respond,
  textChunk
} from "../../_support/network.ts"

describe("a shared retry budget", () => {
  for (const [way, modelCall] of Object.entries(ways)) {
    it.effect(
      `bounds the resends of all calls together; without it the first failure leaves at once (${way}) [L806]`,
      () =>
        Effect.gen(function* () {
          const budget = yield* RetryBudget.make({ ratio: 0.25, reserve: 1, window: "1 hour" })
          const retry: Transport.Options["retry"] = { maxAttempts: 3, initialBackoff: "1 second", budget }
          const sends: Array<number> = []
          for (let call = 1; call <= 12; call++) {
            const network = fakeNetwork(() => respond(503)())
            const model = openAi({ retry }, { model: `m-${call % 3}` })
            const { effect, events } = listening(modelCall.pipe(Effect.provide(model), Effect.provide(network.layer)))
            failsWith(yield* finished(effect), LlmError.ModelOverloadedError)
            sends.push(network.sent.length)
            const [first, ...others] = network.times()
            assert.strictEqual(others.length, events.length - 1)
            // the last failure is said to be the end, and nothing is waited for behind it
            assert.deepInclude(events.at(-1), { verdict: "retry", gaveUp: true, attempt: network.sent.length })
            assert.isDefined(first)
          }
          // one in reserve, and one for each four calls
          assert.deepStrictEqual(sends, [2, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2])
        })
    )

    it.effect(`counts no call that does not retry at all, and every one that succeeds (${way}) [L806]`, () =>
      Effect.gen(function* () {
        const budget = yield* RetryBudget.make({ ratio: 0.5, reserve: 0 })
        const once = { retry: false } as const
        const failing = fakeNetwork(() => respond(503)())
        yield* finished(modelCall.pipe(Effect.provide(openAi(once)), Effect.provide(failing.layer)))
        assert.isFalse(yield* budget.withdraw)
        const body = way === "whole" ? completion("ok") : `${textChunk("ok")}${finishChunk()}${done}`
        const network = fakeNetwork(() => respond(200, body)())
        for (let call = 0; call < 2; call++) {
          const exit = yield* finished(
            modelCall.pipe(Effect.provide(openAi({ retry: { budget } })), Effect.provide(network.layer))
          )
          assert(Exit.isSuccess(exit))
        }
        assert.isTrue(yield* budget.withdraw)
        assert.isFalse(yield* budget.withdraw)
      })
    )
  }

  it("an explanation shows the policy without its budget [L806]", () => {
    const budget = RetryBudget.makeUnsafe({ ratio: 0, reserve: 0 })
    assert.deepStrictEqual(Transport.explain({ retry: { budget } }), Transport.explain())
  })
})
