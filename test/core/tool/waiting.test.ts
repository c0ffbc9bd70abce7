/** What a process knows of the deferred calls that have ended. */
import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import { Effect, Exit } from "effect"
import { close, enter } from "../../../packages/core/src/tool/waiting.ts"

it.effect("a receipt has the reason for the last 10,000 calls that have ended; earlier ones are unknown [P1521]", () =>
  Effect.gen(function* () {
    const ended = (index: number) => `ended ${index}`
    for (let index = 0; index <= 10_000; index++) {
      close(ended(index), enter(ended(index), Effect.succeed), index % 2 === 0 ? "late" : "run-over")
    }
    const reasons = yield* Effect.forEach([0, 1, 2, 10_000], (index) =>
      Effect.map(Tool.settle(ended(index), Exit.succeed(1)), (receipt) =>
        receipt._tag === "Counted" ? receipt._tag : receipt.reason
      )
    )
    assert.deepStrictEqual(reasons, ["unknown-token", "run-over", "late", "late"])
  })
)
