/** What a run and its descendants have consumed: an entry for every attempt of every model call, whether it succeeded or not. */
import * as Schema from "effect/Schema"
import * as Usage from "../data/Usage.ts"

/** Which part of a run asked the model. */
export type Layer = typeof Layer.Type

export const Layer = Schema.Literals(["agent", "fixer", "routing", "compaction"])

/**
 * How an attempt ended: its reply was used; it was streamed in part and did not count; it failed, or died; it was
 * interrupted. An attempt without a reply is booked with what the provider has reported for it, which may be nothing.
 */
export type Outcome = typeof Outcome.Type

export const Outcome = Schema.Literals(["used", "discarded", "failed", "interrupted"])

/** One attempt of a model call. */
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

export const Entry = Schema.Struct({
  runId: Schema.String,
  agent: Schema.String,
  turn: Schema.Finite,
  attempt: Schema.Finite,
  /** The name of the model that was asked, and its provider. */
  model: Schema.String,
  provider: Schema.String,
  layer: Layer,
  outcome: Outcome,
  usage: Usage.Usage,
  /** Set if `usage` is an estimate from the texts: the provider reported a negative or infinite number, or no number. */
  isEstimated: Schema.optionalKey(Schema.Literal(true)),
  /** Absent if the model has no price. */
  cost: Schema.optionalKey(Schema.Finite)
})

/** Grows while its run lasts. Each entry is booked once with every ancestor too. */
export class Ledger {
  readonly #parent: Ledger | undefined
  readonly #entries: Array<Entry> = []
  #usage = Usage.empty
  #cost = 0

  constructor(parent?: Ledger) {
    this.#parent = parent
  }

  /** Oldest first, with the entries of descendants. */
  get entries(): ReadonlyArray<Entry> {
    return this.#entries
  }

  /** The sum of all entries. */
  get usage(): Usage.Usage {
    return this.#usage
  }

  /** The sum of all costs that are known. */
  get cost(): number {
    return this.#cost
  }

  record(entry: Entry): void {
    this.#book(entry)
    this.#parent?.record(entry)
  }

  /** Books what a resumed run had consumed before. Every ancestor has each entry once, also if the run was suspended within it. */
  restore(entries: ReadonlyArray<Entry>): void {
    const counts = new Map<string, number>()
    for (const entry of this.#entries) counts.set(keyOf(entry), (counts.get(keyOf(entry)) ?? 0) + 1)
    for (const entry of entries) {
      const times = counts.get(keyOf(entry)) ?? 0
      if (times > 0) counts.set(keyOf(entry), times - 1)
      else this.#book(entry)
    }
    this.#parent?.restore(entries)
  }

  #book(entry: Entry): void {
    this.#entries.push(entry)
    this.#usage = Usage.add(this.#usage, entry.usage)
    this.#cost = Usage.sum(this.#cost, entry.cost ?? 0)
  }
}

/** Equal for an entry and its decoded copy. */
const keyOf = (entry: Entry): string => JSON.stringify(entry, fields)

/** In this order, not in that of the entry. */
const fields = [...Object.keys(Entry.fields), ...Object.keys(Usage.Usage.fields)]

/** Sums of usage and cost by what entries have in common: `sumBy(ledger.entries, ({ model }) => model)`. */
export const sumBy = (
  entries: ReadonlyArray<Entry>,
  key: (entry: Entry) => string
): ReadonlyMap<string, { readonly attempts: number; readonly usage: Usage.Usage; readonly cost: number }> => {
  const sums = new Map<string, { attempts: number; usage: Usage.Usage; cost: number }>()
  for (const entry of entries) {
    const name = key(entry)
    const sum = sums.get(name) ?? { attempts: 0, usage: Usage.empty, cost: 0 }
    sums.set(name, {
      attempts: sum.attempts + 1,
      usage: Usage.add(sum.usage, entry.usage),
      cost: Usage.sum(sum.cost, entry.cost ?? 0)
    })
  }
  return sums
}
