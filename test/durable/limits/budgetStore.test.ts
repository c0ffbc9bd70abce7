/** The storages of shared budgets: what they reserve, settle and let expire. */
import { assert, describe, it } from "@effect/vitest"
import type { SharedBudget } from "@kintsugi/durable"
import { Effect } from "effect"
import { storages } from "./_support/budgets.ts"

const of = { key: "acme 'ü'", unit: "tokens", per: 0, since: 0 } as const
const base = { ...of, amount: 40, limit: 100, at: 0, lease: 1000 }

/** Narrows to a reservation. */
const taken = (
  result: SharedBudget.BudgetReservation | SharedBudget.BudgetSpending
): SharedBudget.BudgetReservation => {
  assert.isTrue("amount" in result, JSON.stringify(result))
  return result as SharedBudget.BudgetReservation
}

for (const [name, make] of Object.entries(storages)) {
  describe(`shared budgets in ${name}`, () => {
    it.effect("reserve up to the limit, and say what stands against more [P1720]", () =>
      Effect.gen(function* () {
        const [one, two] = yield* make
        assert.deepStrictEqual(yield* one.read(of, 0, 1000), { spent: 0, reserved: 0 })
        const first = taken(yield* one.reserve(base))
        taken(yield* two.reserve({ ...base, amount: 60 }))
        assert.deepStrictEqual(yield* one.reserve({ ...base, amount: 1 }), { spent: 0, reserved: 100 })
        yield* two.settle(first, 15)
        assert.deepStrictEqual(yield* two.reserve({ ...base, amount: 26 }), { spent: 15, reserved: 60 })
        taken(yield* two.reserve({ ...base, amount: 25 }))
        assert.deepStrictEqual(yield* one.read(of, 0, 1000), { spent: 15, reserved: 85 })
        assert.deepStrictEqual(yield* one.reserve({ ...base, amount: 101 }), { spent: 15, reserved: 85 })
      })
    )

    it.effect("count keys, units, lengths and starts of periods each by itself [P1720]", () =>
      Effect.gen(function* () {
        const [store] = yield* make
        const all = [{}, { key: "other" }, { unit: "cost" }, { per: 60_000 }, { per: 60_000, since: 60_000 }] as const
        for (const one of all) taken(yield* store.reserve({ ...base, amount: 100, ...one }))
        for (const one of all) {
          assert.deepStrictEqual(yield* store.reserve({ ...base, amount: 1, ...one }), { spent: 0, reserved: 100 })
        }
      })
    )

    it.effect(
      "let a reservation expire one to two leases later by the clock that is ahead, and count what it has used [P1720]",
      () =>
        Effect.gen(function* () {
          const [dead, alive] = yield* make
          const early = taken(yield* dead.reserve({ ...base, at: 100 }))
          const late = taken(yield* dead.reserve({ ...base, at: 999 }))
          assert.deepStrictEqual(yield* alive.reserve({ ...base, at: 1999 }), { spent: 0, reserved: 80 })
          const next = taken(yield* alive.reserve({ ...base, amount: 20, at: 1999 }))
          assert.deepStrictEqual(yield* alive.read(of, 2000, 1000), { spent: 0, reserved: 20 })
          taken(yield* alive.reserve({ ...base, amount: 80, at: 2000 }))
          // both were thought dead: they count as spent, and take nothing from the reservations of others
          yield* dead.settle(early, 7)
          yield* dead.settle(late, 0)
          assert.deepStrictEqual(yield* alive.read(of, 2000, 1000), { spent: 7, reserved: 100 })
          yield* alive.settle(next, 5)
          assert.deepStrictEqual(yield* alive.read(of, 2000, 1000), { spent: 12, reserved: 80 })
          assert.deepStrictEqual(yield* alive.read(of, 9000, 1000), { spent: 12, reserved: 0 })
          taken(yield* alive.reserve({ ...base, amount: 88, at: 9000 }))
          assert.deepStrictEqual(yield* alive.read(of, 9000, 1000), { spent: 12, reserved: 88 })
          // a process whose clock is late reserves for the lease that the others have come to
          const behind = taken(yield* dead.reserve({ ...base, amount: 0, limit: 100, at: 100 }))
          assert.strictEqual(behind.lease, 9000)
          assert.deepStrictEqual(yield* dead.read(of, 100, 1000), { spent: 12, reserved: 88 })
        })
    )

    it.effect(
      "take nothing from others when a reservation of the lease 1 is settled after it has expired [P1720]",
      () =>
        Effect.gen(function* () {
          const [store] = yield* make
          const first = taken(yield* store.reserve({ ...base, at: 1, lease: 1 }))
          taken(yield* store.reserve({ ...base, at: 5, lease: 1 }))
          yield* store.settle(first, 7)
          assert.deepStrictEqual(yield* store.read(of, 5, 1), { spent: 7, reserved: 40 })
        })
    )

    // Finds out nothing of its own: it plays processes that reserve at once; two steps in the place of one are no small mistake
    it.effect("admit no more than the limit of several processes at once [P1720]", () =>
      Effect.gen(function* () {
        const stores = yield* make
        let admitted = 0
        let over = 0
        const calls = (store: SharedBudget.BudgetStore) =>
          Effect.gen(function* () {
            for (let nth = 0; nth < 20; nth++) {
              const held = yield* store.reserve({ ...base, amount: 10, limit: 300 })
              if (!("amount" in held)) continue
              admitted++
              yield* store.settle(held, 10)
              const { reserved, spent } = yield* store.read(of, 0, 1000)
              over = Math.max(over, spent + reserved)
            }
          })
        yield* Effect.all(stores.map(calls), { concurrency: 3 })
        assert.deepStrictEqual([admitted, over], [30, 300])
        assert.deepStrictEqual(yield* stores[0].read(of, 0, 1000), { spent: 300, reserved: 0 })
      })
    )

    it.effect("remove the periods that have ended, and none that has no end [P1720]", () =>
      Effect.gen(function* () {
        const [store] = yield* make
        for (const one of [{}, { per: 100 }, { per: 100, since: 100 }]) taken(yield* store.reserve({ ...base, ...one }))
        assert.strictEqual(yield* store.removeOlder(150), 1)
        assert.strictEqual(yield* store.removeOlder(10_000), 1)
        assert.deepStrictEqual(yield* store.read(of, 0, 1000), { spent: 0, reserved: 40 })
      })
    )
  })
}
