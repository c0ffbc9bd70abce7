/** Texts that a model may send, and that the repair of arguments reads in the time of their length. */
import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import * as RawSchema from "@kintsugi/core/RawSchema"
import { Effect, Exit, Schema } from "effect"

const look = Tool.make("look", {
  description: "Looks something up.",
  parameters: RawSchema.make({ type: "object", properties: { a: { type: "string" } }, required: ["a"] }),
  success: Schema.String,
  run: () => Effect.succeed("ok")
})

const seconds = (use: () => void): number => {
  const before = process.cpuUsage()
  use()
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1e6
}

it.effect("32 calls of 32 KB with quotes that do not end take the time of their length [P1390]", () =>
  Effect.sync(() => {
    const units = ['\\"a\\":', `"\\'\\`, "'\\\"", '"a', "'", '"a": "b\\", ']
    for (const unit of units) {
      const text = `{${unit.repeat(40_000)}`.slice(0, 32_768)
      const taken = seconds(() => {
        for (let call = 0; call < 32; call++)
          assert.isTrue(Exit.isFailure(Effect.runSyncExit(Tool.call(look, text))), unit)
      })
      // at most 250 ms for each, on a machine that does other work as well; quadratic code took 500 on one that does not
      assert.isBelow(taken, 8, unit)
    }
  })
)
