import { assert, it } from "@effect/vitest"
import type { Recovery } from "@kintsugi/core"
import { Duration, Effect } from "effect"
import { keeping, leftOf, settle } from "../../../packages/core/src/tool/standing.ts"
import { messageOf } from "../../../packages/core/src/data/ErrorCause.ts"
import { busy } from "../../_support/dialogue.ts"

const begun: Recovery.Position = { version: 1, attempts: 0, rounds: 0, startedAt: 0, wakeAt: 0, slots: [] }

it("of the time of a call is left what it had not used when its run was suspended [A906]", () => {
  const limit = Duration.seconds(10)
  const position = { ...begun, attempts: 1, startedAt: 5000, wakeAt: 8000 }
  const standing = { key: "1/1/0", runs: 1, isOpen: false, position, failures: [], trail: [] }
  assert.strictEqual(Duration.toMillis(leftOf(limit, undefined)), 10_000)
  assert.strictEqual(Duration.toMillis(leftOf(limit, standing)), 7000)
})

it("of the failures of a call that may be suspended is kept what a schedule may read, of others nothing [P1104]", () => {
  assert.deepStrictEqual(keeping(true)?.(busy("later")), { _tag: "Busy", message: "later" })
  assert.isUndefined(keeping(false))
})

it.effect(
  "a call that stood within its ladder goes on with its next attempt, and knows the failures before [P1104]",
  () =>
    Effect.gen(function* () {
      const position = { ...begun, attempts: 3 }
      const before = { _tag: "Busy", message: "later" }
      const standing = { key: "1/1/0", runs: 3, isOpen: false, position, failures: [before], trail: [] }
      const ends = (from: typeof standing | undefined) =>
        settle(
          {
            attempt: (attempt) => Effect.fail(busy(`${attempt}`)),
            row: () => undefined,
            about: () => ({ failingBatches: 0, failuresInARow: 0 }),
            admits: () => true,
            fix: () => Effect.die("nothing is repaired"),
            observe: () => Effect.void,
            left: () => undefined,
            deadline: () => Infinity,
            succeed: () => Effect.die("every attempt fails"),
            end: (_ending, { attempts, failures }) =>
              Effect.succeed({
                settlement: { kind: "told", text: `${attempts} of ${failures.map(messageOf).join(", ")}` },
                settled: { tool: "fetch", isError: true }
              })
          },
          from
        )
      assert.strictEqual((yield* ends(undefined)).settlement.text, "1 of 1")
      assert.strictEqual((yield* ends(standing)).settlement.text, "4 of later, 4")
    })
)
