/**
 * The spending of agents that are called within a step. It is booked with the run while the step is at work, and again in each replay that
 * reads the step.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Ledger } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"

/** The ledger of a step. The work of the step may outlive a replay; then its entries are booked with the run of the next replay. */
export class Books extends Ledger.Ledger {
  #run: Ledger.Ledger | undefined
  #stored = 0

  /** Runs the work of the step with this ledger in the place of the run's ledger. */
  keep<A, E>(run: RunContext.RunContext, work: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.provideService(work, RunContext.Current, { ...run, ledger: this })
  }

  /** From now on, books new entries with this run too. Entries that are not stored yet are booked with it at once. */
  attach({ ledger }: RunContext.RunContext): void {
    if (this.#run === ledger) return
    this.#run = ledger
    for (const entry of this.entries.slice(this.#stored)) ledger.record(entry)
  }

  /** Returns the entries since the last call. The caller stores them. */
  take(): ReadonlyArray<Ledger.Entry> {
    const fresh = this.entries.slice(this.#stored)
    this.#stored = this.entries.length
    return fresh
  }

  override record(entry: Ledger.Entry): void {
    super.record(entry)
    this.#run?.record(entry)
  }

  override restore(entries: ReadonlyArray<Ledger.Entry>): void {
    super.restore(entries)
    this.#run?.restore(entries)
  }
}

/** The ledger entries of the agents within a step, since the previous part of the step was stored. */
export interface Spent {
  readonly ledger?: ReadonlyArray<Ledger.Entry>
}

export const spentOf = (books: Books | undefined): Spent => {
  const spent = books?.take() ?? []
  return spent.length === 0 ? {} : { ledger: spent }
}

export const rebook = (run: RunContext.RunContext | undefined, ledger: Spent["ledger"]): void => {
  for (const entry of ledger ?? []) run?.ledger.record(entry)
}

export const spentFields = { ledger: Schema.optionalKey(Schema.Array(Ledger.Entry)) }

const SpentJson = Schema.toCodecJson(Schema.Struct(spentFields))
export const encodeSpent = Schema.encodeEffect(SpentJson)
export const decodeSpent = Schema.decodeUnknownEffect(SpentJson)
