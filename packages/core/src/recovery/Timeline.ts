/** Policies of several layers over time, by what `explain` says of them: which attempt begins when, if every one fails at once. */
import * as Duration from "effect/Duration"
import type { Explanation, Row, Rung } from "./Explanation.ts"

/** A layer, and the row of its table that every failure meets; by default the row that makes the most attempts. */
export interface Layer {
  readonly name: string
  readonly explanation: Explanation
  readonly row?: string
}

/** How a timeline is drawn. */
export interface Options {
  /** Which bound of each wait is drawn; `most` by default. They differ where a schedule draws at random. */
  readonly waits?: "least" | "most"
  /** How many attempts of the innermost layer are drawn; 1,000 by default. */
  readonly maxAttempts?: number
}

/** Milliseconds from the start of the first attempt. */
export interface Timeline {
  /** Outermost first, as they were given. */
  readonly lanes: ReadonlyArray<Lane>
  /** When the last attempt has failed. */
  readonly end: number
  /** Whether there are more attempts than were to be drawn. */
  readonly isCut: boolean
}

/** What one layer does. */
export interface Lane {
  readonly name: string
  /** The row that was met; absent where the table has none. */
  readonly row?: string
  /** When each attempt begins. */
  readonly attempts: ReadonlyArray<Attempt>
  readonly pauses: ReadonlyArray<Pause>
  /** Why nothing but the caps of one call bounds the row: what is drawn is not all. */
  readonly unknown?: string
}

/** The beginning of one attempt, `at` so many milliseconds after that of the call. */
export interface Attempt {
  readonly at: number
  /** From 1; begins anew with each attempt of the layer above. */
  readonly number: number
}

/** Between two attempts of a layer. */
export interface Pause {
  readonly from: number
  readonly to: number
  /** The rung that runs it again. */
  readonly verdict: string
}

/** What leads to one more attempt. */
interface Step {
  readonly verdict: string
  readonly millis: number
}

/** A lane that grows. */
interface Drawing extends Lane {
  readonly attempts: Array<Attempt>
  readonly pauses: Array<Pause>
}

/**
 * The attempts of layers, outermost first, each below the one before it. Servers ask for nothing; attempts,
 * fixers and compactions take no time.
 */
export const make = (
  layers: readonly [Layer, ...Array<Layer>],
  { maxAttempts = 1000, waits = "most" }: Options = {}
): Timeline => {
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1) {
    throw new RangeError(`Timeline.make: maxAttempts must be a whole number of at least 1, got ${maxAttempts}`)
  }
  const rows = layers.map(rowOf)
  const steps = rows.map((row) => (row === undefined ? [] : stepsOf(row, waits)))
  const lanes = layers.map(({ name }, depth): Drawing => ({ name, ...shownOf(rows[depth]), attempts: [], pauses: [] }))
  let now = 0
  let left = maxAttempts
  let isCut = false
  const draw = (depth: number): void => {
    const lane = lanes[depth]
    if (lane === undefined) return void left--
    for (let number = 1; ; number++) {
      if (left === 0) return void (isCut = true)
      lane.attempts.push({ at: now, number })
      draw(depth + 1)
      const step = steps[depth]?.[number - 1]
      if (isCut || step === undefined) return
      if (left === 0) return void (isCut = true)
      lane.pauses.push({ from: now, to: now + step.millis, verdict: step.verdict })
      now += step.millis
    }
  }
  draw(0)
  return { lanes, end: now, isCut }
}

const rowOf = ({ explanation: { rows }, name, row }: Layer): Row | undefined => {
  if (row === undefined) {
    const most = Math.max(...rows.map(again))
    return rows.find((one) => again(one) === most)
  }
  const found = rows.find(({ key }) => key === row)
  if (found !== undefined) return found
  throw new RangeError(
    `Timeline.make: layer '${name}' has no row '${row}', but ${rows.map(({ key }) => key).join(", ")}`
  )
}

const again = ({ rungs }: Row): number => rungs.reduce((sum, rung) => sum + rung.waits.length + mended(rung), 0)

/** How often a rung runs it again at once. */
const mended = ({ compactions = 0, fixerRuns, isRunAgain }: Rung): number => compactions + (isRunAgain ? fixerRuns : 0)

const stepsOf = ({ rungs }: Row, bound: "least" | "most"): ReadonlyArray<Step> =>
  rungs.flatMap((rung) => {
    const { unknown, verdict, waits } = rung
    // what only caps bound is no plan
    if (unknown !== undefined) return []
    return [
      ...waits.map((wait) => ({ verdict, millis: Duration.toMillis(wait[bound]) })),
      ...Array.from({ length: mended(rung) }, () => ({ verdict, millis: 0 }))
    ]
  })

const shownOf = (row: Row | undefined): Pick<Lane, "row" | "unknown"> => {
  if (row === undefined) return {}
  const unknown = row.rungs.find((rung) => rung.unknown !== undefined)?.unknown
  return { row: row.key, ...(unknown === undefined ? {} : { unknown }) }
}

/**
 * A text of it: a column for each attempt of the innermost layer, below the instant, in milliseconds, at which it begins; in each
 * row the number of the attempt that begins there. Lines that grow wider than `width`, 100 by default, go on below.
 */
export const format = ({ isCut, lanes }: Timeline, { width = 100 }: { readonly width?: number } = {}): string => {
  const names = ["ms", ...lanes.map(({ name }) => name)]
  const margin = Math.max(...names.map(({ length }) => length))
  const columns = columnsOf(lanes)
  const cell = Math.max(1, ...columns.flat().map(({ length }) => length)) + 2
  const perLine = Math.max(1, Math.floor((width - margin) / cell))
  const blocks: Array<string> = []
  for (let first = 0; first < columns.length; first += perLine) {
    const shown = columns.slice(first, first + perLine)
    blocks.push(
      names
        .map((name, line) => name.padEnd(margin) + shown.map((column) => (column[line] ?? "").padStart(cell)).join(""))
        .map((line) => line.trimEnd())
        .join("\n")
    )
  }
  const unknown = lanes.flatMap(({ name, unknown }) => (unknown === undefined ? [] : [`${name}: ${unknown}`]))
  return [...blocks, ...(isCut ? ["… and more attempts"] : []), ...unknown].join("\n\n")
}

/** For each attempt of the innermost lane: its instant, and the numbers of the attempts that begin with it, outermost first. */
const columnsOf = (lanes: ReadonlyArray<Lane>): ReadonlyArray<ReadonlyArray<string>> => {
  const upwards = lanes.map(({ attempts }) => attempts.values()).toReversed()
  return (lanes.at(-1)?.attempts ?? []).map(({ at }) => {
    // an attempt begins with the first one of the lane below it
    let begins = true
    const numbers = upwards.map((attempts) => {
      const number = begins ? attempts.next().value?.number : undefined
      begins = number === 1
      return number === undefined ? "" : String(number)
    })
    return [String(Math.round(at)), ...numbers.toReversed()]
  })
}
