/** The spending of agents that are called within a step: booked with its run while the step runs, and in each replay that reads it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Ledger } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"

/** The ledger of a step. The work of a step may outlive a replay: then it books with the run of the next replay. */
export class Books extends Ledger.Ledger {
  #run: Ledger.Ledger | undefined
  #stored = 0

  /** The work of the step, whose agents book here. */
  keep<A, E>(run: RunContext.RunContext, work: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.provideService(work, RunContext.Current, { ...run, ledger: this })
  }

  /** From now on entries are booked with this run, and so are those that are not stored yet. */
  attach({ ledger }: RunContext.RunContext): void {
    if (this.#run === ledger) return
    this.#run = ledger
    for (const entry of this.entries.slice(this.#stored)) ledger.record(entry)
  }

  /** The entries since the last call. The caller stores them. */
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

/** The spending of agents within a step, since its previous part. */
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
