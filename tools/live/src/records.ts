/** The files of records: one for each scenario of a model. The new one replaces the last after a comparison, unless its scenario failed. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type Difference, differences, textsOf } from "./form.ts"

/** What became of a new record. */
export interface Outcome {
  /** `first`: there was no last record. `leaky`: it had a key of the environment, and was thrown away. `none`: nothing was sent. */
  readonly state: "first" | "compared" | "leaky" | "none"
  readonly differences: ReadonlyArray<Difference>
}

/** A name of a file for a model or a scenario. */
export const slug = (name: string): string => name.replaceAll(/[^A-Za-z0-9._-]+/g, "-")

interface Ended {
  /** The answer was left at any point, so that its form says nothing. */
  readonly isPartial?: boolean
  readonly isFailed?: boolean
}

/**
 * Compares the new record with the last one, and puts it into its place. The record of a scenario that failed goes beside the last one
 * (`text.failed.json`): the next run has a good one to compare with. A record that did not fail removes it.
 */
export const settle = (
  file: string,
  recorded: string,
  secrets: ReadonlyArray<string>,
  { isFailed = false, isPartial = false }: Ended = {}
): Outcome => {
  if (!existsSync(recorded)) return { state: "none", differences: [] }
  const text = shortened(readFileSync(recorded, "utf8"))
  rmSync(recorded)
  if (leaks(text, secrets)) return { state: "leaky", differences: [] }
  const before = existsSync(file) ? readFileSync(file, "utf8") : undefined
  const failed = file.replace(/\.json$/, ".failed.json")
  rmSync(failed, { force: true })
  writeFileSync(isFailed ? failed : file, text)
  if (before === undefined) return { state: "first", differences: [] }
  return { state: "compared", differences: isPartial ? [] : differences(before, text) }
}

/** The longest text of a record: a prompt that is too long for a model is too long for a file as well. */
const longest = 8000

const shortened = (text: string): string => {
  const short = (_: string, value: unknown): unknown =>
    typeof value === "string" && value.length > longest ? `${value.slice(0, 80)}… (${value.length} characters)` : value
  return `${JSON.stringify(JSON.parse(text, short), undefined, 2)}\n`
}

/** The recorder replaces all keys, also in pieces. This is the last look: whether one is there after all, as it is or encoded, or in pieces. */
const leaks = (text: string, secrets: ReadonlyArray<string>): boolean => {
  const texts = [text, ...textsOf(text)]
  return secrets.some((secret) => formsOf(secret).some((form) => texts.some((each) => each.includes(form))))
}

const formsOf = (secret: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(secret)
  const encoded = [encodeURIComponent(secret), bytes.toString("base64").replace(/=+$/, ""), bytes.toString("hex")]
  // a shorter one is found in a text by chance
  return [secret, JSON.stringify(secret).slice(1, -1), ...encoded.filter((form) => form.length >= 6)]
}
