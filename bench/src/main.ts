/**
 * Ours beside the floors: the same work by hand, in the same process, in turns.
 *
 *   npm run bench                       all rows
 *   npm run bench -- happy retry        some of them
 *   npm run bench -- --record           and keep the figures: see `recording.ts`
 *   npm run bench -- concurrent --runs=100000
 *   npm run bench -- happy --causes=ours   what takes the most of it: see `causes.ts`
 *
 * A target that is missed is said, and does not fail; a row that does not come to its end does.
 */
import { isMissed } from "./figures.ts"
import { record } from "./recording.ts"
import { chosen, run } from "./running.ts"

const given = process.argv.slice(2)
const options = given.filter((one) => one.startsWith("--"))
const files = chosen(given.filter((one) => !one.startsWith("--")))
const { broken, results } = run(
  files,
  options.filter((one) => one !== "--record")
)

const missed = results.rows.flatMap(({ figures, row }) => figures.filter(isMissed).map(({ name }) => `${row}: ${name}`))
process.stdout.write(`\nNode ${results.node}, ${results.cores} cores, ${results.processor}\n`)
if (results.rows.length > 0)
  process.stdout.write(missed.length === 0 ? "every target is met\n" : `missed:\n  ${missed.join("\n  ")}\n`)

if (options.includes("--record") && broken.length === 0) record(results)
if (broken.length > 0) {
  process.stderr.write(`these did not come to their end, or were beyond their own limits: ${broken.join(", ")}\n`)
  process.exitCode = 1
}
