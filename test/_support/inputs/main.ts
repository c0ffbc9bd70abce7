/**
 * Measures every function of the tables, in a process of its own.
 *
 *   node test/_support/inputs/main.ts [--long] [--all] [--reach] [--planted] [--part=1/4] [a part of a path, or of a name]
 *
 * Prints a line of JSON for each function that is refused, and one for each that is begun. `--long` measures up to 1 MiB, and the
 * memory too; `--part=1/4` takes each fourth family of a function, and of the next function those beside them; `--all` goes on with
 * the other families of a function that is refused; `--reach` measures nothing, and prints which functions no measurement reaches;
 * `--planted` measures functions of which the result is known.
 */
import type { Entry, Growing, Table } from "./entry.ts"
import { long, quick, type Refusal, refusalOf, upTo } from "./growth.ts"
import { tables } from "./index.ts"
import { memoryRefusalOf } from "./memory.ts"
import { planted } from "./planted.ts"
import { unreached } from "./reach.ts"

const options = process.argv.slice(2)
const isLong = options.includes("--long")
const isAll = options.includes("--all")
const [part = 1, parts = 1] = (options.find((option) => option.startsWith("--part=")) ?? "")
  .replace("--part=", "")
  .split("/")
  .map((text) => Number(text) || 1)
const wanted = options.find((option) => !option.startsWith("--")) ?? ""

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

const measured: Readonly<Record<string, Table>> = options.includes("--planted") ? { planted } : tables

const entries: ReadonlyArray<readonly [table: string, id: string, entry: Entry]> = Object.entries(measured).flatMap(
  ([table, files]) =>
    Object.entries(files).flatMap(([path, names]) =>
      Object.entries(names).map(([name, entry]) => [table, `${path} ${name}`, entry] as const)
    )
)

const refused = async (growing: Growing, bound: number | undefined): Promise<Refusal> =>
  (await refusalOf(growing, isLong ? long : quick)) ??
  (bound === undefined ? undefined : await refusalOf(growing, upTo(bound))) ??
  (isLong ? await memoryRefusalOf(growing, long) : undefined)

if (options.includes("--reach")) {
  for (const id of await unreached(entries)) say({ unreached: id })
} else {
  for (const [position, [table, id, entry]] of entries.entries()) {
    if (entry.kind !== "grows" || !id.includes(wanted)) continue
    say({ begun: id })
    const step = Math.min(parts, entry.families.length)
    for (const growing of entry.families.filter((_, index) => (index + position + part) % step === 0)) {
      const refusal = await refused(growing, entry.bound)
      if (refusal === undefined) continue
      say({ table, id, family: growing.family, refusal })
      if (!isAll) break
    }
  }
}
say({ ended: true })
// a server that is connected would keep the process
process.exit(0)
