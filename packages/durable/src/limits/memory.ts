/** Shared budgets in the memory of one process. */
import * as Effect from "effect/Effect"
import type { BudgetPeriod, BudgetSpending, BudgetStore } from "./BudgetStore.ts"
import { leaseAt } from "./leases.ts"

/** The counter of one period: what is spent, and what is reserved in the last lease and in the one before. */
interface Counter {
  readonly ends: number
  spent: number
  lease: number
  held: number
  leaseBefore: number
  heldBefore: number
}

const nameOf = ({ key, per, since, unit }: BudgetPeriod): string => JSON.stringify([key, unit, per, since])

/** Moves a counter on to a lease: the reservations of two leases ago have expired. */
const moved = (counter: Counter, lease: number, length: number): Counter => {
  if (counter.lease >= lease) return counter
  const isNext = counter.lease >= lease - length
  return {
    ...counter,
    lease,
    held: 0,
    leaseBefore: isNext ? counter.lease : -1,
    heldBefore: isNext ? counter.held : 0
  }
}

const spendingOf = ({ held, heldBefore, spent }: Counter): BudgetSpending => ({ spent, reserved: held + heldBefore })

/** A new storage. */
export const memoryStore = (): BudgetStore => {
  const counters = new Map<string, Counter>()
  const at = (of: BudgetPeriod, now: number, lease: number): Counter => {
    const ends = of.per === 0 ? Infinity : of.since + of.per
    const fresh = { ends, spent: 0, lease: 0, held: 0, leaseBefore: -1, heldBefore: 0 }
    return moved(counters.get(nameOf(of)) ?? fresh, leaseAt(now, lease), lease)
  }
  return {
    reserve: ({ amount, at: now, lease, limit, ...of }) =>
      Effect.sync(() => {
        const counter = at(of, now, lease)
        const spending = spendingOf(counter)
        if (spending.spent + spending.reserved + amount > limit) return spending
        counters.set(nameOf(of), { ...counter, held: counter.held + amount })
        return { ...of, amount, lease: counter.lease }
      }),
    settle: (held, used) =>
      Effect.sync(() => {
        const counter = counters.get(nameOf(held))
        if (counter === undefined) return
        counter.spent += used
        if (counter.lease === held.lease) counter.held -= held.amount
        if (counter.leaseBefore === held.lease) counter.heldBefore -= held.amount
      }),
    read: (of, now, lease) => Effect.sync(() => spendingOf(at(of, now, lease))),
    removeOlder: (than) =>
      Effect.sync(() => {
        const old = [...counters].filter(([, { ends }]) => ends < than)
        for (const [name] of old) counters.delete(name)
        return old.length
      })
  }
}
