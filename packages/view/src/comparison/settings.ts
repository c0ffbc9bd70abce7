/** What two recordings show of their agents: system prompts, models, and the rows of tables. */
import { flagAt, itemsAt, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import { decided } from "../text/Words.ts"
import { align } from "./aligning.ts"

/** A line of a text of which two versions are compared. */
export interface Line {
  readonly sign: " " | "-" | "+"
  readonly text: string
}

/** The settings that events show, each as lines of text. */
export interface Settings {
  readonly prompts: ReadonlyArray<string>
  readonly models: ReadonlyArray<string>
  readonly tables: ReadonlyArray<string>
}

/** Reads the settings. A table shows in its verdicts alone: a row that has never decided is not in the list. */
export const settingsOf = (events: ReadonlyArray<Recorded>): Settings => {
  const prompts = new Map<string, string>()
  const models = new Set<string>()
  const rows = new Map<string, Array<string>>()
  for (const event of events) {
    if (event.type === "run-start" && !prompts.has(event.agent)) {
      const [first] = itemsAt(event, "transcript")
      prompts.set(event.agent, textAt(first, "role") === "system" ? (textAt(first, "text") ?? "") : "no prompt")
    }
    if (event.type === "model-start")
      models.add(`${event.agent}: ${textAt(event, "provider")} ${textAt(event, "model")}`)
    if (event.type === "verdict") {
      const of = textAt(event, "tool") ?? textAt(event, "layer") ?? ""
      const row = `${event.agent} › ${of} › ${textAt(event, "tag")}`
      const kinds = rows.get(row) ?? []
      rows.set(row, kinds)
      const kind = decided(textAt(event, "verdict") ?? "", flagAt(event, "gaveUp"))
      if (!kinds.includes(kind)) kinds.push(kind)
    }
  }
  return {
    prompts: [...prompts].toSorted(byName).flatMap(([agent, prompt]) => [`${agent}:`, ...prompt.split("\n")]),
    models: [...models].toSorted(),
    tables: [...rows].toSorted(byName).map(([row, kinds]) => `${row}: ${kinds.join(", ")}`)
  }
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

/** Compares two texts line by line. */
export const compareLines = (first: ReadonlyArray<string>, second: ReadonlyArray<string>): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  let [a, b] = [0, 0]
  const { matches } = align(first, second)
  for (const [nextA, nextB] of [...matches, [first.length, second.length] as const]) {
    for (const text of first.slice(a, nextA)) lines.push({ sign: "-", text })
    for (const text of second.slice(b, nextB)) lines.push({ sign: "+", text })
    const same = first[nextA]
    if (same !== undefined) lines.push({ sign: " ", text: same })
    ;[a, b] = [nextA + 1, nextB + 1]
  }
  return lines
}
