/** The figures of all subjects, side by side, and what should have been otherwise. */
import type { Judged } from "./judge.ts"
import type { Measured } from "./probe.ts"
import type { Settings } from "./settings.ts"
import type { Subject } from "./subjects.ts"

/** The server at one time, how many streams are open, and how many replies the model has given. */
export interface Mark extends Measured {
  readonly turns: number
  readonly streams: number
}

export interface Played {
  readonly subject: Subject["name"]
  readonly judged: Judged
  /** After a fifth of the time, when runs stop to arrive, and when all runs are over. */
  readonly early: Mark
  readonly late: Mark
  readonly over: Mark
  /** How busy the machine was between the two first marks: with everything, and with these four processes. */
  readonly busy: number
  readonly own: number
}

const mebi = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)
const share = (part: number): string => `${(part * 100).toFixed(1)} %`
const millis = (value: number): string => (Number.isNaN(value) ? "-" : value.toFixed(1))

type Memory = "heap" | "resident" | "reserved"

/** How much more the late mark holds than the early one. */
const growth = (played: Played, memory: Memory): number => played.late[memory] / played.early[memory] - 1

const both = (played: Played, memory: Memory): string =>
  `${mebi(played.early[memory])}, ${mebi(played.late[memory])} (${share(growth(played, memory))})`

const rows: ReadonlyArray<readonly [name: string, of: (played: Played) => string]> = [
  ["runs", ({ judged }) => `${judged.runs}`],
  ["answered", ({ judged }) => `${judged.answered}`],
  ["met a fault, of which answered", ({ judged }) => `${judged.faulted}, ${judged.recovered}`],
  ["failed, as the log knows", ({ judged }) => `${judged.failed}`],
  ["lost", ({ judged }) => `${judged.lost.length}`],
  ["beyond the model: p50, ms", ({ judged }) => millis(judged.clean.p50)],
  ["beyond the model: p99, ms", ({ judged }) => millis(judged.clean.p99)],
  ["the same after a fault: p50, ms", ({ judged }) => millis(judged.mended.p50)],
  ["the same after a fault: p99, ms", ({ judged }) => millis(judged.mended.p99)],
  [
    "CPU seconds per 1,000 turns",
    ({ early, late }) => (((late.cpu - early.cpu) / (late.turns - early.turns)) * 1000).toFixed(2)
  ],
  ["the machine is busy, with these alone", ({ busy, own }) => `${share(busy)}, ${share(own)}`],
  ["streams: early, late", ({ early, late }) => `${early.streams}, ${late.streams}`],
  ["heap, MiB: early, late", (played) => both(played, "heap")],
  ["resident, MiB: early, late", (played) => both(played, "resident")],
  ["of which V8's heap, with what is dead in it", (played) => both(played, "reserved")],
  [
    "descriptors: early, late, over",
    ({ early, late, over }) => [early, late, over].map((at) => at.descriptors).join(", ")
  ]
]

export const table = (all: ReadonlyArray<Played>): string => {
  const lines = [["", ...all.map(({ subject }) => subject)], ...rows.map(([name, of]) => [name, ...all.map(of)])]
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** Shorter runs say nothing of memory: the compiler and the caches are not done. */
const enough = 10

/** How much more memory the server may take late than early. */
const mostGrowth = 0.05

/** What is wrong with a subject. */
export interface Fault {
  readonly text: string
  /** Whether it is the fault of another library, which is said, and no failure. */
  readonly isPeer: boolean
}

export const faultsOf = (played: Played, { minutes }: Pick<Settings, "minutes">): ReadonlyArray<Fault> => {
  const { judged, over, subject } = played
  const faults = judged.lost.slice(0, 5)
  if (judged.lost.length > 5) faults.push(`and ${judged.lost.length - 5} more runs are lost`)
  if (judged.answered === 0) faults.push("no run was answered")
  if (over.streams > 0) faults.push(`${over.streams} streams are open after the end`)
  for (const memory of ["heap", "resident"] as const) {
    const more = growth(played, memory)
    if (minutes >= enough && more > mostGrowth) faults.push(`the ${memory} memory has grown by ${share(more)}`)
  }
  return faults.map((fault) => ({ text: `${subject}: ${fault}`, isPeer: subject === "ai" }))
}
