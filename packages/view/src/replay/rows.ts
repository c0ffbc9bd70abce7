/** Reads the rows of tables from the verdicts of a run. */
import { amountAt, flagAt, numberAt, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import { Refused } from "./refusing.ts"
import type { Fixed, Row, Rung } from "./parts.ts"

/** The verdicts about one failure of one call or turn, in order, with what they led to. */
export class Treated {
  readonly #rungs = new Map<number, { kind: string; delays: Array<number>; answers: Array<Fixed> }>()
  /** The text that stands in for a result, and whether a fixer gave it. */
  answer = ""
  isResult = false

  take(event: Recorded): void {
    const rung = numberAt(event, "rung") ?? 0
    const kind = textAt(event, "verdict") ?? ""
    const found = this.#rungs.get(rung) ?? { kind, delays: [], answers: [] }
    this.#rungs.set(rung, found)
    if (!flagAt(event, "gaveUp") && (kind === "retry" || kind === "fallback"))
      found.delays.push(amountAt(event, "delay") ?? 0)
    if (!kinds.has(kind)) throw new Refused(event, `the verdict '${kind}' is not played again`)
  }

  fixed(answer: Fixed): void {
    const rungs = [...this.#rungs.values()]
    rungs.findLast(({ kind }) => kind === "fix")?.answers.push(answer)
  }

  rungs(): ReadonlyArray<Rung> {
    return [...this.#rungs].toSorted(([a], [b]) => a - b).map(([, rung]) => this.#rungOf(rung))
  }

  #rungOf({ answers, delays, kind }: { kind: string; delays: Array<number>; answers: Array<Fixed> }): Rung {
    switch (kind) {
      case "fix":
        return { kind, answers, isResult: this.isResult }
      case "respondWith":
        return { kind, text: this.answer }
      case "tell":
      case "escalate":
      case "raise":
      case "rethrow":
        return { kind }
      default:
        return { kind: "retry", delays }
    }
  }
}

/** A fallback to another model is one more attempt: the script has one model. */
const kinds: ReadonlySet<string> = new Set([
  "retry",
  "fallback",
  "fix",
  "respondWith",
  "tell",
  "escalate",
  "raise",
  "rethrow"
])

/** The rows of a tool or a model: the treatments of its calls by the tag of the failure. */
export class Rows {
  readonly #byTag = new Map<string, Map<string, Treated>>()

  /** Begins the treatment of a call, or goes on with it. */
  of(call: string, tag: string): Treated {
    const treated = this.#byTag.get(tag) ?? new Map<string, Treated>()
    this.#byTag.set(tag, treated)
    const found = treated.get(call) ?? new Treated()
    treated.set(call, found)
    return found
  }

  made(): ReadonlyArray<Row> {
    return [...this.#byTag].map(([tag, treated]) => {
      const all = [...treated].map(([call, one]) => [call, one.rungs()] as const)
      const rungs = all.map(([, one]) => one).reduce((a, b) => (extend(a, b) ? b : a))
      return { tag, rungs, byCall: new Map(all.filter(([, one]) => !extend(one, rungs))) }
    })
  }
}

/** Whether a row with the second rungs treats a failure as the first rungs show it: the second are the same, and may go on. */
const extend = (seen: ReadonlyArray<Rung>, row: ReadonlyArray<Rung>): boolean =>
  seen.every((rung, index) => {
    const other = row[index]
    if (other === undefined || rung.kind !== other.kind) return false
    // all but the last rung have given up
    const isLast = index === seen.length - 1
    if (rung.kind === "retry" && other.kind === "retry")
      // waits with jitter differ in each call, and one row has made them
      return isLast ? rung.delays.length <= other.delays.length : rung.delays.length === other.delays.length
    // the answers of fixers belong to one call
    if (rung.kind === "fix") return rung === other
    return rung.kind !== "respondWith" || (other.kind === "respondWith" && rung.text === other.text)
  })
