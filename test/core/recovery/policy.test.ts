import { assert, it } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { Clock, Effect } from "effect"
import { type Row, unbounded } from "../../../packages/core/src/recovery/Layer.ts"
import { type Guarded, Policy } from "../../../packages/core/src/recovery/policy.ts"
import type { VerdictRecord } from "../../../packages/core/src/recovery/Node.ts"
import { busy } from "../../_support/dialogue.ts"

const rowOf = (verdict: Row["verdict"]): Row => ({
  key: "Busy",
  verdict,
  seen: busy(),
  about: { failingBatches: 0, failuresInARow: 0 },
  admits: () => true
})

it.effect("after 10,000 attempts no rung retries, and the end of the call names that cap [A210]", () =>
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
        const position: Recovery.Position = { version: 2, attempts, repairs: 0, startedAt: 0, wakeAt: 0, slots: [] }
        const guarded: Guarded<never> = {
          repairs: { fix: () => Effect.sync(() => (fixes++, { type: "repaired" })) },
          bounds: unbounded,
          observe: () => Effect.void
        }
        const policy = new Policy(guarded, clock, 0, { position })
        return Effect.map(policy.decide(busy(), rowOf(verdict)), (step) => ({
          step,
          verdicts: policy.trace().trail.map(({ gaveUp, verdict }) => ({ verdict, gaveUp }))
        }))
      }
      assert.deepStrictEqual(yield* at(9_999), {
        step: { type: "repeat" },
        verdicts: [{ verdict: name, gaveUp: false }]
      })
      const { step, verdicts } = yield* at(10_000)
      assert.deepInclude(step, { type: "left", why: "exhausted", error: busy(), cap: "10000 attempts per call" })
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
    const decided = (left: ReturnType<Guarded<never>["bounds"]["left"]>) => {
      const decisions: Array<VerdictRecord> = []
      const guarded: Guarded<never> = {
        repairs: {},
        bounds: { ...unbounded, left: () => left },
        observe: (decision) => Effect.sync(() => void decisions.push(decision))
      }
      return Effect.as(new Policy(guarded, clock, 0).decide(busy(), rowOf(verdict)), decisions)
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

it.effect("a position counts the runs of fixers, and has no slots for rows without counts [P1104]", () =>
  Effect.gen(function* () {
    const clock = yield* Clock.clockWith(Effect.succeed)
    const waiting = (row: Recovery.AnyVerdict) => {
      const verdict = Recovery.rowsOf({ row }).get("row")
      assert(verdict !== undefined)
      const guarded: Guarded<never> = {
        repairs: { fix: () => Effect.succeed({ type: "repaired" }) },
        bounds: unbounded,
        observe: () => Effect.void
      }
      const policy = new Policy(guarded, clock, 0)
      return Effect.map(policy.decide(busy(), rowOf(verdict)), () => policy.position())
    }
    const retried = yield* waiting(Recovery.retry({ retries: 3 }))
    assert.deepStrictEqual(retried.slots, [])
    const fixed = yield* waiting(Recovery.fix(() => Effect.succeed("{}")))
    assert.deepStrictEqual(fixed.slots, [{ row: "Busy", rungs: [], kind: "fix", count: 1, steps: [] }])
  })
)
