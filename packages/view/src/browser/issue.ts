/** The text about a run that a reader copies into an issue, as Markdown. */
import { duration } from "../text/Words.ts"
import { type Outcome, sentenceOf } from "../recording/Outcome.ts"
import { flagAt, textAt } from "../recording/Fields.ts"
import { period } from "./clock.ts"
import type { Store } from "./store.ts"

/** Fences of Markdown that no text of the run can end. */
const fenced = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([marks]) => marks.length))
  const fence = "`".repeat(longest + 1)
  return `${fence}text\n${text}\n${fence}`
}

/** A text of the run within a line of Markdown. */
const inline = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll(/[\\`*_[\]<>#|]/g, String.raw`\$&`)

/** The command that writes a test of a run. The page does not know the name of the file of events. */
export const testCommand = (outcome: Outcome | undefined): string => {
  const run = outcome === undefined ? "" : ` --run '${outcome.runId.replaceAll("'", String.raw`'\''`)}'`
  return `npx -p @kintsugi/view kintsugi test events.jsonl${run} -o run.test.ts`
}

/** Writes how a run ended, where, why, and which verdicts there were. */
export const issueOf = ({ events, outcome, scene }: Store, link: string): string => {
  if (outcome === undefined) return ""
  const { agent, fatal, runId } = outcome
  const verdicts = events.filter(({ type }) => type === "verdict")
  const shown = verdicts.slice(-10)
  return [
    `**${inline(sentenceOf(outcome))}**`,
    "",
    ...(fatal === undefined
      ? []
      : [
          fenced(`${fatal.tag}: ${fatal.message}`),
          "",
          `- Where: ${fatal.path.map(inline).join(" › ")}`,
          `- Why: ${inline(fatal.reason)}`
        ]),
    `- Run: ${inline(runId)} of ${inline(agent)}`,
    `- Time: ${period(scene.from, scene.to)}, ${duration(scene.to - scene.from)}`,
    `- Event: ${link}`,
    ...(shown.length === 0
      ? []
      : [
          "",
          verdicts.length > shown.length ? `The last ${shown.length} of ${verdicts.length} verdicts:` : "Verdicts:",
          "",
          ...shown.map(
            (event) =>
              `- ${inline(`${textAt(event, "tool") ?? textAt(event, "layer") ?? "?"}, turn ${event.turn}: ${`${textAt(event, "tag") ?? "?"} → ${textAt(event, "verdict") ?? "?"}${flagAt(event, "gaveUp") ? " gave up" : ""}`}`)}`
          )
        ]),
    ""
  ].join("\n")
}
