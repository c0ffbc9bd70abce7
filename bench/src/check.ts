/**
 * Measures again, and compares the ratios that have a margin with those that were recorded. Fails where one is worse by more than its
 * margin, or is gone. Absolute figures are not compared: they belong to a machine.
 *
 *   npm run bench:check
 *   npm run bench:check -- happy retry
 *
 * Margins lie between 5 and 25 %. They are a judgement as yet: set them anew from a record that was taken on a quiet machine.
 * A ratio beyond its margin is measured once more before it counts. A ratio that got worse by more than 5 % over the last five records
 * fails too, however small its steps were: see `history.ts`.
 */
import type { Figure } from "./figures.ts"
import { courses, isLost, lineOf, past } from "./history.ts"
import { recorded } from "./recording.ts"
import { chosen, run } from "./running.ts"
import type { RowFile } from "./rows.ts"

/** What a figure is compared with, by row and name. */
const keyOf = (row: string, figure: Figure): string => `${row}: ${figure.name}`
const before = new Map(recorded().flatMap(({ figures, row }) => figures.map((one) => [keyOf(row, one), one] as const)))

interface Worse {
  readonly file: RowFile
  readonly said: string
}

/** Runs one row; gives what is worse in it. */
const worseIn = (file: RowFile): ReadonlyArray<Worse> => {
  const { broken, results } = run([file])
  if (broken.length > 0) return [{ file, said: `${file.name} did not come to its end` }]
  return results.rows.flatMap(({ figures, row }) =>
    figures.flatMap((figure) => {
      if (figure.margin === undefined) return []
      const was = before.get(keyOf(row, figure))
      if (was === undefined) return [{ file, said: `${keyOf(row, figure)} was never recorded` }]
      const limit = was.value * (1 + figure.margin)
      return figure.value <= limit
        ? []
        : [
            {
              file,
              said: `${keyOf(row, figure)} is ${figure.value.toFixed(2)}, was ${was.value.toFixed(2)}, limit ${limit.toFixed(2)}`
            }
          ]
    })
  )
}

const files = chosen(process.argv.slice(2))
const worse = files.flatMap((file) => (worseIn(file).length === 0 ? [] : worseIn(file)))
for (const { said } of worse) process.stderr.write(`${said}\n`)
const slow = courses(past()).filter(isLost)
for (const course of slow) process.stderr.write(`slowly worse over five records: ${lineOf(course)}\n`)
process.stdout.write(worse.length === 0 ? "nothing is worse than recorded\n" : `${worse.length} ratios are worse\n`)
if (worse.length + slow.length > 0) process.exitCode = 1
