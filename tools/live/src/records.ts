/** The files of records: one for each scenario of a model. A new one replaces the last, after it was compared with it. */
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

/** Compares the new record with the last one, unless it is partial, and puts it into its place. */
export const settle = (file: string, recorded: string, secrets: ReadonlyArray<string>, isPartial = false): Outcome => {
  if (!existsSync(recorded)) return { state: "none", differences: [] }
  const text = shortened(readFileSync(recorded, "utf8"))
  rmSync(recorded)
  if (leaks(text, secrets)) return { state: "leaky", differences: [] }
  const before = existsSync(file) ? readFileSync(file, "utf8") : undefined
  writeFileSync(file, text)
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
  return secrets.some((secret) =>
    [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), btoa(secret).replace(/=+$/, "")].some(
      (form) => texts.some((each) => each.includes(form))
    )
  )
}
