/**
 * Compares two recordings: their sums, their steps side by side, the first step that differs, and what differs in their settings. Steps are
 * paired by tool and arguments and not by time.
 */
import * as Outcome from "../recording/Outcome.ts"
import type { Recording } from "../recording/Recording.ts"
import { align } from "./aligning.ts"
import { compareLines, type Line, settingsOf } from "./settings.ts"
import { type Step, stepsOf } from "./steps.ts"

/** The sums of one recording. */
interface Side {
  /** The outcome of the run that failed first, or of the first run; `undefined` if there is none. */
  readonly outcome: Outcome.Outcome | undefined
  /** Milliseconds from the first event to the last. */
  readonly lasted: number
  readonly steps: number
  /** How many attempts of models and tools failed. */
  readonly failures: number
  readonly tokens: number | undefined
  readonly cost: number | undefined
}

/**
 * A step of one or both recordings. `=`: both have it, and it ended in the same way. `≠`: both have it, and it ended in another way. `-` and
 * `+`: only the first, or only the second has it.
 */
export type Pair =
  | { readonly sign: "=" | "≠"; readonly first: Step; readonly second: Step }
  | { readonly sign: "-"; readonly first: Step; readonly second?: undefined }
  | { readonly sign: "+"; readonly first?: undefined; readonly second: Step }

/** Two recordings, compared. */
export interface Comparison {
  readonly first: Side
  readonly second: Side
  readonly pairs: ReadonlyArray<Pair>
  /** The index in `pairs` of the first step that differs; `undefined` if none does. */
  readonly divergence: number | undefined
  /** Whether as many steps are paired as possible. In very long recordings that differ much, fewer are. */
  readonly isExact: boolean
  /** The lines of each kind of setting; `-` is a line of the first recording alone, `+` of the second. */
  readonly settings: Readonly<Record<"prompts" | "models" | "tables", ReadonlyArray<Line>>>
}

/** Compares two recordings. */
export const make = (first: Pick<Recording, "events">, second: Pick<Recording, "events">): Comparison => {
  const steps = [stepsOf(first.events), stepsOf(second.events)] as const
  const { isExact, matches } = align(
    steps[0].map(({ key }) => key),
    steps[1].map(({ key }) => key)
  )
  const pairs: Array<Pair> = []
  let [a, b] = [0, 0]
  for (const [nextA, nextB] of [...matches, [steps[0].length, steps[1].length] as const]) {
    for (const first of steps[0].slice(a, nextA)) pairs.push({ sign: "-", first })
    for (const second of steps[1].slice(b, nextB)) pairs.push({ sign: "+", second })
    const [one, other] = [steps[0][nextA], steps[1][nextB]]
    if (one !== undefined && other !== undefined)
      pairs.push({ sign: one.end === other.end && one.text === other.text ? "=" : "≠", first: one, second: other })
    a = nextA + 1
    b = nextB + 1
  }
  const divergence = pairs.findIndex(({ sign }) => sign !== "=")
  const [one, other] = [settingsOf(first.events), settingsOf(second.events)]
  return {
    first: sideOf(first, steps[0]),
    second: sideOf(second, steps[1]),
    pairs,
    divergence: divergence < 0 ? undefined : divergence,
    isExact,
    settings: {
      prompts: compareLines(one.prompts, other.prompts),
      models: compareLines(one.models, other.models),
      tables: compareLines(one.tables, other.tables)
    }
  }
}

const sideOf = (recording: Pick<Recording, "events">, steps: ReadonlyArray<Step>): Side => {
  const { events } = recording
  const outcome = Outcome.outcomeOf(recording)
  return {
    outcome,
    lasted: (events.at(-1)?.at ?? 0) - (events[0]?.at ?? 0),
    steps: steps.length,
    failures: events.filter(({ type }) => type === "tool-failed" || type === "model-failed").length,
    tokens: outcome?.spent.tokens,
    cost: outcome?.spent.cost
  }
}
