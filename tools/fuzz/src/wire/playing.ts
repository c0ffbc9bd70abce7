/** Plays scenarios, and says what came of them. */
import { Effect } from "effect"
import { attachments } from "./attached.ts"
import { calls, texts } from "./calls.ts"
import { encodings, framing, heads } from "./encodings.ts"
import { ends, leaks } from "./ends.ts"
import { facts } from "./facts.ts"
import { limits } from "./limits.ts"
import { refusals } from "./refusals.ts"
import { type Mode, play, type Scenario, type Verdict } from "./scenario.ts"
import { sizes } from "./sizes.ts"
import { backgroundJobs, waitingItems } from "./waiting.ts"

export const scenarios: ReadonlyArray<Scenario> = [
  ...encodings,
  ...heads,
  ...framing,
  ...ends,
  ...leaks,
  ...calls,
  ...texts,
  ...refusals,
  ...facts,
  ...attachments,
  ...sizes,
  ...limits,
  ...waitingItems,
  ...backgroundJobs
]

/** One run of a scenario, as a line of JSON. */
export interface Line extends Omit<Verdict, "type"> {
  readonly type: Verdict["type"] | "crash"
  readonly group: string
  readonly name: string
  readonly api: string
  readonly mode: Mode
}

/** Runs of groups, in their order. */
export const groupsOf = (all: ReadonlyArray<Scenario>): ReadonlyArray<string> => [
  ...new Set(all.map(({ group }) => group))
]

/** Plays scenarios in this process, one after the other. */
export const playAll = async (all: ReadonlyArray<Scenario>, emit: (line: Line) => void): Promise<void> => {
  const strays: Array<string> = []
  const note = (error: unknown) => void strays.push(`not handled: ${String(error)}`)
  process.on("unhandledRejection", note)
  process.on("uncaughtException", note)
  for (const scenario of all) {
    const { api, group, modes, name } = scenario
    for (const mode of modes) {
      const verdict = await Effect.runPromise(play(scenario, mode, strays))
      const polluted = Object.keys(Object.prototype).length > 0 || "polluted" in {}
      const found = polluted ? { ...verdict, type: "defect" as const, says: "a prototype is polluted" } : verdict
      emit({ group, name, api, mode, ...found })
    }
  }
  process.off("unhandledRejection", note)
  process.off("uncaughtException", note)
}

const kinds = ["right", "hang", "crash", "defect", "wrong"] as const

/** The table of all runs, and each that is not right. */
export const report = (lines: ReadonlyArray<Line>): string => {
  const row = (name: string, of: ReadonlyArray<Line>) =>
    [
      name.padEnd(12),
      String(new Set(of.map(({ api, name }) => `${api} ${name}`)).size).padStart(9),
      String(of.length).padStart(6),
      ...kinds.map((kind) => String(of.filter(({ type }) => type === kind).length).padStart(7)),
      Math.round(of.reduce((most, { millis }) => Math.max(most, millis), 0))
        .toString()
        .padStart(9)
    ].join("")
  const groups = [...new Set(lines.map(({ group }) => group))]
  const head = `${"group".padEnd(12)}scenarios  runs${kinds.map((kind) => kind.padStart(7)).join("")}  most ms`
  return [
    head,
    ...groups.map((group) =>
      row(
        group,
        lines.filter((line) => line.group === group)
      )
    ),
    row("all", lines),
    ...lines.flatMap(({ api, group, mode, name, says, type }) =>
      type === "right" ? [] : [`${type}: ${group}, ${name}, ${api}, ${mode}: ${says}`]
    )
  ].join("\n")
}
