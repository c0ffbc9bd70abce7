/** The warning that retries of two layers multiply. */
import { assert, it } from "@effect/vitest"
import { Duration } from "effect"
import type { Explanation } from "../../../packages/core/src/recovery/Explanation.ts"
import { warned } from "../../../packages/core/src/recovery/warned.ts"

const worst = (attempts: number, requests: number): Explanation => ({
  rows: [],
  worst: { attempts, requests, fixerRuns: 0, modelCalls: 0, waits: Duration.zero, time: Duration.zero }
})

it("it names the attempts and the sends, where there are several of both [A815]", () => {
  const model = worst(2, 2)
  assert.deepStrictEqual(warned(model, worst(4, 3)), {
    ...model,
    warning:
      'each of 2 attempts is sent up to 3 times by the transport; with { transport: "off" } the table takes its place'
  })
  assert.strictEqual(warned(model, undefined), model)
  assert.strictEqual(warned(model, worst(4, 1)), model)
  const once = worst(1, 5)
  assert.strictEqual(warned(once, worst(4, 3)), once)
})
