/**
 * The usage and cost of a run, attempt by attempt. The ledger has an entry for each attempt of each model call, of the run and its
 * descendants.
 */
import * as Schema from "effect/Schema"
import * as Usage from "../data/Usage.ts"

/** One attempt of a model call. */
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

export const Entry = Schema.Struct({
  runId: Schema.String,
  agent: Schema.String,
  turn: Schema.Finite,
  attempt: Schema.Finite,
  /** The name of the model, and its provider. */
  model: Schema.String,
  provider: Schema.String,
  /** What the model was called for: a turn of the agent, a repair, the choice of a router, a summary, or the check of a guardrail. */
  purpose: Schema.Literals(["agent", "fixer", "routing", "compaction", "guardrail"]),
  /**
   * How the attempt ended: its reply was used; its streamed reply was discarded; it failed or died; it was interrupted. The entry of an
   * attempt without a reply has the usage that the provider has reported, or zero.
   */
  outcome: Schema.Literals(["used", "discarded", "failed", "interrupted"]),
  usage: Usage.Usage,
  /** Set if `usage` is an estimate from the texts: the provider reported a negative or infinite number, or no number. */
  isEstimated: Schema.optionalKey(Schema.Literal(true)),
  /** The part of `usage` from sends that broke off and that the transport resent. */
  resent: Schema.optionalKey(Usage.Usage),
  /** Absent if the model has no price. */
  cost: Schema.optionalKey(Schema.Finite)
})

/** The list of entries, which grows while its run lasts. Each entry of a run is booked once in the ledger of each ancestor too. */
export class Ledger {
  readonly #parent: Ledger | undefined
  readonly #entries: Array<Entry> = []
  #usage = Usage.empty
  #cost = 0

  constructor(parent?: Ledger) {
    this.#parent = parent
  }

  /** The entries of this run and its descendants, oldest first. */
  get entries(): ReadonlyArray<Entry> {
    return this.#entries
  }

  /** The sum of all entries. */
  get usage(): Usage.Usage {
    return this.#usage
  }

  /** The sum of the known costs. */
  get cost(): number {
    return this.#cost
  }

  /** Books an entry, here and with every ancestor. */
  record(entry: Entry): void {
    this.#book(entry)
    this.#parent?.record(entry)
  }

  /** Books the entries of a run from before its suspension. An ancestor that has some of them already books only the others. */
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

/** A key that an entry and its decoded copy share. */
const keyOf = (entry: Entry): string => JSON.stringify(entry, fields)

/** The fields of the key, in a fixed order. */
const fields = [...Object.keys(Entry.fields), ...Object.keys(Usage.Usage.fields)]

/** Sums usage and cost by a key of the entries. `sumBy(ledger.entries, ({ model }) => model)` sums by model. */
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
