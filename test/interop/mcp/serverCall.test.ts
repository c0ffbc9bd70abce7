/** One call of a client, as the run of an agent. */
import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { settle } from "../../../packages/interop/src/mcp/serverCall.ts"
import { calm } from "../../_support/dialogue.ts"

const quiet = Effect.repeat(calm, { times: 20 })

const about = {
  description: "Works.",
  parameters: Schema.Struct({ n: Schema.Finite }),
  success: Schema.String
} as const

it.effect("a call has its arguments and an id, and its progress is that of its own tool [P1107]", () =>
  Effect.gen(function* () {
    const seen: Array<unknown> = []
    const tool = Tool.make("work", {
      ...about,
      run: (params, { callId, progress }) =>
        Effect.suspend(() => {
          seen.push(params, callId)
          return Effect.as(progress("half"), "done")
        })
    })
    const heard: Array<unknown> = []
    const progress = (data: unknown) => Effect.sync(() => void heard.push(data))
    const settlement = yield* settle({ name: "ours", tool, budget: undefined }, { n: 1 }, progress)
    assert.deepInclude(settlement, { kind: "result", text: "done" })
    assert.deepStrictEqual([seen, heard], [[{ n: 1 }, "call"], ["half"]])
  })
)

it.effect("a call ends at the limits of the server, or at those of any agent [P1107]", () =>
  Effect.gen(function* () {
    const tool = Tool.make("work", { ...about, run: () => Effect.never })
    for (const [budget, isOver] of [
      [{ maxDuration: "1 second" }, true],
      [undefined, false]
    ] as const) {
      const calling = yield* Effect.forkChild(settle({ name: "ours", tool, budget }, { n: 1 }, () => Effect.void))
      yield* quiet
      yield* TestClock.adjust("2 seconds")
      yield* quiet
      const exit = calling.pollUnsafe()
      assert.strictEqual(exit !== undefined, isOver)
      if (isOver) assert.strictEqual((yield* Fiber.join(calling)).kind, "told")
      yield* Fiber.interrupt(calling)
    }
  })
)
