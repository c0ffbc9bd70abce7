/**
 * Measures features one after the other, and prints a line of JSON for each.
 *
 *   node --expose-gc test/leaks/_support/main.ts <uses> [--planted] [part of a name…]
 */
import { features } from "./features/index.ts"
import { type Left, measure } from "./measure.ts"
import { clean, planted } from "./planted.ts"

const [given = "", ...more] = process.argv.slice(2)
const uses = Number(given)
if (!Number.isSafeInteger(uses) || uses < 2)
  throw new RangeError(`the uses must be a whole number above 1, got ${given}`)

const names = more.filter((name) => !name.startsWith("--"))
const table = more.includes("--planted") ? [...planted, clean] : features
const measured = table.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)))

for (const feature of measured) {
  const left: Left = await measure(feature, uses).catch((cause: unknown) => {
    throw new Error(`the feature '${feature.name}' fails`, { cause })
  })
  process.stdout.write(`${JSON.stringify(left)}\n`)
}
process.stdout.write(`${JSON.stringify({ ended: measured.length })}\n`)
// what leaks on purpose keeps the process alive
process.exit(0)
