import { assert, it } from "@effect/vitest"
import type { Recovery } from "@kintsugi/core"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { originOf } from "../../../packages/core/src/tool/checkpoint.ts"

const begun: Recovery.Position = { version: 2, attempts: 0, repairs: 0, startedAt: 0, wakeAt: 0, slots: [] }

it.effect(
  "a call that was at work when its run was suspended knows its failures, as if no time had passed [P1104]",
  () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(60_000)
      const position = { ...begun, attempts: 3, startedAt: 5000, wakeAt: 8000 }
      const before = { _tag: "Busy", message: "later" }
      const decision = {
        tag: "Busy",
        verdict: "retry",
        gaveUp: false,
        rung: 0,
        attempt: 2,
        delay: Duration.zero
      } as const
      const trail = [{ ...decision, message: "later" }]
      const origin = yield* originOf({ executions: 3, isUncertain: false, position, failures: [before], trail })
      assert.deepStrictEqual(origin, {
        position: { ...position, startedAt: 57_000, wakeAt: 60_000 },
        failures: [before],
        trail: [{ ...decision, error: { _tag: "Busy", message: "later" } }]
      })
    })
)
