/** The options of a transport, checked and completed. */
import { assert, describe, it } from "@effect/vitest"
import { Recovery, RetryBudget } from "@kintsugi/core"
import { Duration, Effect, Schedule } from "effect"
import * as Settings from "../../../packages/providers/src/transport/settings.ts"

describe("the options of resends", () => {
  it.effect("are known by each of their names, and are no table [A801]", () =>
    Effect.gen(function* () {
      const budget = yield* RetryBudget.make({ ratio: 0.25 })
      const options: ReadonlyArray<Exclude<NonNullable<Settings.Options["retry"]>, false>> = [
        {},
        { retries: 2 },
        { maxAttempts: 2 },
        { initialBackoff: "1 second" },
        { factor: 3 },
        { maxBackoff: "1 second" },
        { jitter: "full" },
        { maxHint: "1 second" },
        { budget },
        Schedule.recurs(2)
      ]
      for (const retry of options) {
        const { deposit, resending, table } = Settings.make({ retry })
        assert.deepStrictEqual(Object.keys(table), ["orElse"], JSON.stringify(retry))
        assert.isDefined(resending)
        assert.strictEqual(deposit, "budget" in retry ? budget.deposit : undefined)
      }
    })
  )

  it("may be a table, or none [A801]", () => {
    const table = { ServerError: Recovery.retry({ retries: 1 }) }
    assert.strictEqual(Settings.make({ retry: table }).table, table)
    const { deposit, resending, table: none } = Settings.make({ retry: false })
    assert.deepStrictEqual([deposit, resending, none], [undefined, undefined, {}])
  })
})

it("limits have defaults, and are refused by their names if they are not above 0 [P1401 P1402]", () => {
  const { limits, silence, timeout } = Settings.make()
  const mebibyte = 1024 * 1024
  assert.deepStrictEqual(limits, {
    maxReplyBytes: 64 * mebibyte,
    maxEventBytes: 16 * mebibyte,
    maxBodyBytes: 64 * mebibyte
  })
  assert.deepStrictEqual(
    [timeout, silence.firstPart, silence.betweenParts].map((time) => Duration.toSeconds(time)),
    [300, 120, 60]
  )
  for (const name of ["maxReplyBytes", "maxEventBytes", "maxBodyBytes"] as const) {
    assert.strictEqual(Settings.make({ [name]: 1 }).limits[name], 1)
    for (const bytes of [0, 0.5, -1, Number.NaN]) {
      assert.throws(
        () => Settings.make({ [name]: bytes }),
        RangeError,
        `Transport: ${name} must be at least 1, got ${bytes}`
      )
    }
  }
  for (const name of ["requestTimeout", "firstPart", "betweenParts"] as const) {
    for (const time of [0, -1, Number.NaN, "-5 seconds", "soon"]) {
      // a caller without types may give any text
      const options = { [name]: time } as Settings.Options
      assert.throws(() => Settings.make(options), RangeError, `Transport: ${name} must be above 0, got ${time}`)
    }
  }
})
