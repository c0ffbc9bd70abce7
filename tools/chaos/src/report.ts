/** The figures of a chaos, and what was broken. */
import type { Growth } from "./growth.ts"
import { growing, leftAtRest } from "./growth.ts"
import { booksOf, breaches, type Evidence, orphans, repeated, stray, strayEnds } from "./judge.ts"
import type { Settings } from "./settings.ts"
import type { Sample } from "./lifetime.ts"

export interface Played extends Pick<Settings, "seed" | "minutes"> {
  readonly evidence: Evidence
  readonly growths: ReadonlyArray<Growth>
  /** The processes that are alive at the end, at rest, and the first process of their slot at its start. */
  readonly rests: ReadonlyArray<{
    readonly process: string
    readonly fresh: Sample | undefined
    readonly rest: Sample | undefined
  }>
  /** After how many seconds of calm no run was at work. */
  readonly calmAfter: number
  readonly isUnmarked: boolean
}

const tally = (values: Iterable<string>): string => {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([value, count]) => `${value} ${count}`)
    .join(", ")
}

/** So many faults of an invariant are printed. */
const shown = 20

/** What was broken, each with its invariant. */
export const faultsOf = ({ evidence, growths, rests }: Played): ReadonlyArray<string> => {
  const faults: ReadonlyArray<readonly [invariant: string, texts: ReadonlyArray<string>]> = [
    ["no orphan", orphans(evidence)],
    ["an unsafe tool runs once", repeated(evidence)],
    ["each reply is booked once", booksOf(evidence).faults],
    ["no run is stopped but by its client", stray(evidence)],
    ["processes end as they were told", strayEnds(evidence)],
    ["hostile clients are refused", breaches(evidence)],
    ["nothing grows", growing(growths)],
    [
      "nothing is left at rest",
      rests.flatMap(({ fresh, process, rest }) =>
        fresh === undefined || rest === undefined ? [`${process} was not measured`] : leftAtRest(process, fresh, rest)
      )
    ],
    ["some runs are answered", evidence.runs.some(({ state }) => state === "answered") ? [] : ["no run was answered"]]
  ]
  return faults.flatMap(([invariant, texts]) => [
    ...texts.slice(0, shown).map((text) => `${invariant}: ${text}`),
    ...(texts.length > shown ? [`${invariant}: ${texts.length - shown} more`] : [])
  ])
}

const listed = (ids: ReadonlyArray<string>): string => (ids.length === 0 ? "" : `: ${ids.join(", ")}`)

/** The rows of the table, and of the page. */
export const rowsOf = (played: Played): ReadonlyArray<readonly [name: string, value: string]> => {
  const { evidence, growths, isUnmarked, calmAfter } = played
  const { asked, clients, cuttings, lifetimes, noted, runs } = evidence
  const books = booksOf(evidence)
  const by = (wanted: string) => books.cutOff.filter((one) => one.by === wanted).map(({ id }) => id)
  const killed = [...by("SIGKILL"), ...by("SIGTERM")]
  const out = by("database")
  const looked = noted.filter(({ type }) => type === "looked")
  return [
    ["runs that arrived, were accepted", `${clients.length}, ${clients.filter(({ isAccepted }) => isAccepted).length}`],
    ["runs in the database", tally(runs.map(({ state }) => state))],
    ["codes of failures", tally(runs.flatMap(({ code }) => (code === undefined ? [] : [code])))],
    ["processes; ends", `${lifetimes.length}; ${tally(lifetimes.flatMap(({ sent }) => sent.slice(-1)))}`],
    ["connections cut", tally(cuttings.map(({ link }) => link))],
    ["requests to the model", `${asked.length}: ${tally(asked.map(({ kind }) => kind))}`],
    [
      "sound replies written, read, booked",
      `${asked.filter(({ isSent }) => isSent).length}, ${books.read}, ${books.booked}`
    ],
    ["read, and cut off by an end of the process", `${killed.length}${listed(killed)}`],
    ["read, and cut off by the database", `${out.length}${listed(out)}`],
    ["read, and cut off by its own client", `${by("client").length}${listed(by("client"))}`],
    [
      "refunds begun, looked up, found",
      `${noted.filter(({ type }) => type === "pays").length}, ${looked.length}, ${looked.filter((one) => "found" in one && one.found).length}`
    ],
    [
      "seconds of calm until no run was at work",
      `${calmAfter.toFixed(0)}${isUnmarked ? ", with the marks of the engine taken off" : ""}`
    ],
    ...growths.map(
      ({ first, held, last, process }) =>
        [`${process}: ${held}, first and last third`, `${first.toFixed(0)}, ${last.toFixed(0)}`] as const
    ),
    ...played.rests.map(
      ({ fresh, process, rest }) =>
        [
          `${process} at rest: descriptors, spans (at the start)`,
          `${rest?.descriptors}, ${rest?.spans} (${fresh?.descriptors}, ${fresh?.spans})`
        ] as const
    )
  ]
}
