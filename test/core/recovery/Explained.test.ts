/** How the worst cases of models, transports and functions around them are put together. */
import { assert, it } from "@effect/vitest"
import type { Explanation } from "@kintsugi/core"
import { Duration } from "effect"
import * as Explained from "../../../packages/core/src/recovery/Explained.ts"

const explanation = (worst: Partial<Explanation.Explanation["worst"]>): Explanation.Explanation => ({
  rows: [{ key: "orElse", rungs: [] }],
  worst: {
    attempts: 1,
    requests: 1,
    fixerRuns: 0,
    modelCalls: 0,
    waits: Duration.zero,
    time: Duration.zero,
    ...worst
  }
})

it("each request of a model may be sent as often as its transport does, with all that this costs [P1102]", () => {
  const model = explanation({ attempts: 2, requests: 4, modelCalls: 3, time: Duration.seconds(5) })
  const transport = explanation({ requests: 3, modelCalls: 2, time: Duration.seconds(7) })
  const { worst } = Explained.over(model, transport)
  assert.deepStrictEqual(worst, {
    ...model.worst,
    requests: 12,
    modelCalls: 3 + 4 * 2,
    time: Duration.seconds(5 + 4 * 7)
  })
  assert.strictEqual(Explained.over(model, undefined), model)
  const once = explanation({ requests: 4, isSentOnce: true })
  assert.strictEqual(Explained.over(once, transport), once)
})

it("models in turn cost the sum of all, and are without a bound if one of them is [P1102]", () => {
  const one = explanation({ attempts: 2, requests: 3, fixerRuns: 1, modelCalls: 4, waits: Duration.seconds(1) })
  const two = explanation({ attempts: 5, requests: 6, fixerRuns: 2, modelCalls: 7, time: Duration.seconds(2) })
  assert.deepStrictEqual(Explained.inTurn([one, two]), {
    rows: [...one.rows, ...two.rows],
    worst: {
      attempts: 7,
      requests: 9,
      fixerRuns: 3,
      modelCalls: 11,
      waits: Duration.seconds(1),
      time: Duration.seconds(2)
    }
  })
  const endless = explanation({ isUnbounded: true })
  assert.strictEqual(Explained.inTurn([one, endless]).worst.isUnbounded, true)
})

it("a function around attempts makes as many as a call may have, each as dear as before [P1102]", () => {
  const each = explanation({ attempts: 2, requests: 6, modelCalls: 4, fixerRuns: 1 })
  assert.deepStrictEqual(Explained.uncounted(each).worst, {
    attempts: 10_000,
    requests: 30_000,
    modelCalls: 20_000,
    fixerRuns: 1,
    waits: Duration.infinity,
    time: Duration.infinity,
    isUnbounded: true
  })
})
