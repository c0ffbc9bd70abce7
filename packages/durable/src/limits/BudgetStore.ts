/** What a storage does for shared budgets: a counter for each budget and period, and three atomic steps. */
import type * as Effect from "effect/Effect"

/** A budget in one of its periods. */
export interface BudgetPeriod {
  /** The key of the budget. */
  readonly key: string
  readonly unit: "tokens" | "cost"
  /** The length of a period in milliseconds; 0 if the budget has one period for ever. */
  readonly per: number
  /** The start of this period, in milliseconds since the epoch; 0 if the budget has one period for ever. */
  readonly since: number
}

/** What a call has reserved. Amounts are whole numbers: tokens, or billionths of a US dollar. */
export interface BudgetReservation extends BudgetPeriod {
  readonly amount: number
  /** The lease of the reservation, as the storage has named it. */
  readonly lease: number
}

/** What is spent and reserved in a period. */
export interface BudgetSpending {
  readonly spent: number
  readonly reserved: number
}

/** A request to reserve an amount. */
export interface Reserving extends BudgetPeriod {
  readonly amount: number
  /** The most that may be spent and reserved together. */
  readonly limit: number
  /** The time of the call, in milliseconds since the epoch. */
  readonly at: number
  /** The length of a lease in milliseconds. */
  readonly lease: number
}

/**
 * A storage of shared budgets. Reservations are kept by lease: the amounts of the present lease, and those of the lease before. A
 * reservation expires at the end of the lease after its own, so its process may die. `SharedBudget.layerMemory` and `layerSql` are storages.
 */
export interface BudgetStore {
  /** Reserves an amount in one atomic step. Returns the reservation, or what stands against it. */
  readonly reserve: (asked: Reserving) => Effect.Effect<BudgetReservation | BudgetSpending, unknown>
  /** Replaces a reservation by the amount that was used, in one atomic step. The amount also counts if the reservation has expired. */
  readonly settle: (held: BudgetReservation, used: number) => Effect.Effect<void, unknown>
  readonly read: (of: BudgetPeriod, at: number, lease: number) => Effect.Effect<BudgetSpending, unknown>
  /** Removes periods that ended before a time, at most 1,000 in one step, and returns how many it has removed. */
  readonly removeOlder: (than: number) => Effect.Effect<number, unknown>
}
