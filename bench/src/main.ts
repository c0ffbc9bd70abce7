/**
 * Ours beside the floors: the same work by hand, in the same process, in turns.
 *
 *   npm run bench                       all rows
 *   npm run bench -- happy retry        some of them
 *   npm run bench -- --record           and keep the figures for `npm run bench:check`
 *   npm run bench -- concurrent --runs=100000
 *
 * A target that is missed is said, and does not fail; a row that does not come to its end does.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { isMissed } from "./figures.ts"
import { chosen, recordedPath, type Results, run } from "./running.ts"

const given = process.argv.slice(2)
const options = given.filter((one) => one.startsWith("--"))
const files = chosen(given.filter((one) => !one.startsWith("--")))
const { broken, results } = run(
  files,
  options.filter((one) => one !== "--record")
)

const missed = results.rows.flatMap(({ figures, row }) => figures.filter(isMissed).map(({ name }) => `${row}: ${name}`))
process.stdout.write(`\nNode ${results.node}, ${results.cores} cores, ${results.processor}\n`)
process.stdout.write(missed.length === 0 ? "every target is met\n" : `missed:\n  ${missed.join("\n  ")}\n`)

if (options.includes("--record") && broken.length === 0) {
  // rows that were not run this time stay as they were
  const before: Results | undefined = existsSync(recordedPath)
    ? JSON.parse(readFileSync(recordedPath, "utf8"))
    : undefined
  const names = new Set(results.rows.map(({ row }) => row))
  const rows = [...(before?.rows.filter(({ row }) => !names.has(row)) ?? []), ...results.rows]
  writeFileSync(recordedPath, `${JSON.stringify({ ...results, rows }, undefined, 2)}\n`)
}
if (broken.length > 0) {
  process.stderr.write(`these did not come to their end, or were beyond their own limits: ${broken.join(", ")}\n`)
  process.exitCode = 1
}
