/** What models and transports are at worst together. */
import { assert, it } from "@effect/vitest"
import { Duration } from "effect"
import { explained, explaining, inTurn, over, uncounted } from "../../../packages/core/src/recovery/Explained.ts"
import type { Explanation } from "../../../packages/core/src/recovery/Explanation.ts"
import { maxAttemptsPerCall } from "../../../packages/core/src/recovery/bounds.ts"

const worst = (more: Partial<Explanation["worst"]> = {}): Explanation => ({
  rows: [],
  worst: {
    attempts: 1,
    requests: 1,
    fixerRuns: 0,
    modelCalls: 0,
    waits: Duration.zero,
    time: Duration.zero,
    ...more
  }
})

const [one, two] = [Duration.seconds(1), Duration.seconds(2)]

const model = worst({ attempts: 2, requests: 4, fixerRuns: 1, modelCalls: 3, waits: one, time: two })

it("each request of a model is sent as often as its transport sends it, unless that sends once [P1102 A815]", () => {
  const transport = worst({ attempts: 3, requests: 3, modelCalls: 2, waits: one, time: one })
  assert.deepStrictEqual(over(model, transport).worst, {
    ...model.worst,
    requests: 12,
    modelCalls: 11,
    time: Duration.seconds(6)
  })
  assert.include(over(model, transport).warning, "each of 2 attempts is sent up to 3 times by the transport")
  assert.strictEqual(over(model, undefined), model)
  const once = worst({ requests: 4, isSentOnce: true })
  assert.strictEqual(over(once, transport), once)
})

it("models that fail one after the other cost what they cost together [P1102]", () => {
  const rows: Explanation["rows"] = []
  assert.deepStrictEqual(inTurn([model, worst(), { ...model, rows }]), {
    rows: [],
    worst: {
      attempts: 5,
      requests: 9,
      fixerRuns: 2,
      modelCalls: 6,
      waits: two,
      time: Duration.seconds(4)
    }
  })
  assert.deepInclude(inTurn([model, worst({ isUnbounded: true })]).worst, { attempts: 3, isUnbounded: true })
})

it("a function around the attempts makes as many as a call may, and waits for an unknown time [P1102]", () => {
  assert.deepStrictEqual(uncounted(model), {
    rows: [],
    worst: {
      attempts: maxAttemptsPerCall,
      requests: 2 * maxAttemptsPerCall,
      fixerRuns: 1,
      modelCalls: 1.5 * maxAttemptsPerCall,
      isUnbounded: true,
      waits: Duration.infinity,
      time: Duration.infinity
    }
  })
})

it("a model has the worst case that it was made with; a copy and any other model are single models [P1102]", () => {
  const made = explaining({ name: "m" }, (errors) => worst({ attempts: 1 + errors.length }))
  assert.deepStrictEqual(explained(made, [1, 2]), worst({ attempts: 3 }))
  for (const other of [{ ...made }, {}, undefined]) assert.deepStrictEqual(explained(other, [1]), worst())
})
