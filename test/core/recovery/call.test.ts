import { assert, it } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { Clock, Effect } from "effect"
import { Call } from "../../../packages/core/src/recovery/call.ts"
import type { Rules } from "../../../packages/core/src/recovery/rules.ts"
import type { Decision } from "../../../packages/core/src/recovery/Node.ts"
import { busy } from "../../_support/dialogue.ts"

it.effect("at 10,000 attempts nothing runs again, and the end of the call names that cap [A210]", () =>
  Effect.gen(function* () {
    const clock = yield* Clock.clockWith(Effect.succeed)
    for (const [name, row] of [
      ["retry", Recovery.retry({ retries: 1_000_000 })],
      ["fix", Recovery.fix(() => Effect.succeed("{}"))]
    ] as const) {
      const verdict = Recovery.rowsOf({ row }).get("row")
      assert(verdict !== undefined)
      let fixes = 0
      const at = (attempts: number) => {
        const position: Recovery.Position = { version: 1, attempts, rounds: 0, startedAt: 0, wakeAt: 0, slots: [] }
        const call = new Call(
          {
            row: (seen) => ({ key: "Busy", verdict, seen }),
            about: () => ({ failingBatches: 0, failuresInARow: 0 }),
            admits: () => true,
            fix: () => Effect.sync(() => (fixes++, { type: "repaired" })),
            observe: () => Effect.void,
            left: () => undefined,
            deadline: () => Infinity
          },
          clock,
          0,
          { position }
        )
        return Effect.map(call.decide(busy()), (step) => ({
          step,
          verdicts: call.trace().trail.map(({ gaveUp, verdict }) => ({ verdict, gaveUp }))
        }))
      }
      assert.deepStrictEqual(yield* at(9_999), {
        step: { type: "again" },
        verdicts: [{ verdict: name, gaveUp: false }]
      })
      const { step, verdicts } = yield* at(10_000)
      assert.deepInclude(step, { type: "exhausted", error: busy(), cap: "10000 attempts per call" })
      assert.deepStrictEqual(verdicts, [{ verdict: name, gaveUp: true }])
      assert.strictEqual(fixes, name === "fix" ? 1 : 0)
    }
  })
)

it.effect("a decision tells what was left of the run's budget; outside of a run there is none to tell of [A307]", () =>
  Effect.gen(function* () {
    const clock = yield* Clock.clockWith(Effect.succeed)
    const verdict = Recovery.rowsOf({ row: Recovery.rethrow }).get("row")
    assert(verdict !== undefined)
    const decided = (left: ReturnType<Rules<never>["left"]>) => {
      const told: Array<Decision> = []
      const rules: Rules<never> = {
        row: (seen) => ({ key: "Busy", verdict, seen }),
        about: () => ({ failingBatches: 0, failuresInARow: 0 }),
        admits: () => true,
        fix: () => Effect.die("nothing is repaired"),
        observe: (decision) => Effect.sync(() => void told.push(decision)),
        left: () => left,
        deadline: () => Infinity
      }
      return Effect.as(new Call(rules, clock, 0).decide(busy()), told)
    }
    const left = { turns: 3, toolCalls: 5 }
    assert.deepStrictEqual(
      (yield* decided(left)).map((one) => one.left),
      [left]
    )
    const [outside] = yield* decided(undefined)
    assert.strictEqual(outside?.verdict, "rethrow")
    assert.notProperty(outside, "left")
  })
)

it.effect("where a call stands says how often its fixers ran, and nothing of rows that count nothing [P1104]", () =>
  Effect.gen(function* () {
    const clock = yield* Clock.clockWith(Effect.succeed)
    const standing = (row: Recovery.AnyVerdict) => {
      const verdict = Recovery.rowsOf({ row }).get("row")
      assert(verdict !== undefined)
      const rules: Rules<never> = {
        row: (seen) => ({ key: "Busy", verdict, seen }),
        about: () => ({ failingBatches: 0, failuresInARow: 0 }),
        admits: () => true,
        fix: () => Effect.succeed({ type: "repaired" }),
        observe: () => Effect.void,
        left: () => undefined,
        deadline: () => Infinity
      }
      const call = new Call(rules, clock, 0)
      return Effect.map(call.decide(busy()), () => call.position())
    }
    const retried = yield* standing(Recovery.retry({ retries: 3 }))
    assert.deepStrictEqual(retried.slots, [])
    const fixed = yield* standing(Recovery.fix(() => Effect.succeed("{}")))
    assert.deepStrictEqual(fixed.slots, [{ row: "Busy", rungs: [], kind: "fix", count: 1, steps: [] }])
  })
)
