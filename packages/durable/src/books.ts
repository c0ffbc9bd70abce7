/** What agents spend that are called within a step: booked with its run while it is done, and again where it is only read. */
import * as Effect from "effect/Effect"
import { Ledger } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"

/** The ledger of a step. Its work may outlive a replay: then it goes on in the books of the run in the next one. */
export class Books extends Ledger.Ledger {
  #run: Ledger.Ledger | undefined
  #stored = 0

  /** The work of the step, whose agents book here. */
  keep<A, E>(run: RunContext.RunContext, work: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.provideService(work, RunContext.Current, { ...run, ledger: this })
  }

  /** From now on it is booked with this run, and so is what that run cannot read anywhere. */
  attach({ ledger }: RunContext.RunContext): void {
    if (this.#run === ledger) return
    this.#run = ledger
    for (const entry of this.entries.slice(this.#stored)) ledger.record(entry)
  }

  /** What has come since the last time: whoever takes it, stores it. */
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
