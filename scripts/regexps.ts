/**
 * Refuses regular expressions that take more than linear time on some text: each of the packages is judged by `recheck`.
 *
 *   npm run regexps              what is new; what was found linear is noted in scripts/regexps/linear.json
 *   npm run regexps -- --anew    all of them
 *   npm run regexps -- scripts   those of another folder; nothing is noted
 *
 * The lint step runs it. An expression is judged once: the note holds for the same expression and version of `recheck`. With `CI` nothing
 * is noted.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { filesIn, root } from "./files.ts"
import { expressionsIn, write } from "./regexps/expressions.ts"
import { refusalOf } from "./regexps/judging.ts"
import { isCi } from "./report.ts"

/** What was found linear: sorted, one line each. */
interface Note {
  readonly recheck: string
  readonly linear: ReadonlyArray<string>
}

const notePath = join(root, "scripts/regexps/linear.json")

const version: string = JSON.parse(readFileSync(join(root, "node_modules/recheck/package.json"), "utf8")).version

const other = process.argv.slice(2).find((argument) => !argument.startsWith("--"))

const noted = (): ReadonlySet<string> => {
  if (other !== undefined || process.argv.includes("--anew") || !existsSync(notePath)) return new Set()
  const note: Note = JSON.parse(readFileSync(notePath, "utf8"))
  return new Set(note.recheck === version ? note.linear : [])
}

const say = (line: string) => process.stdout.write(`${line}\n`)

/** No expression is made of words that are known at run time only. */
const mayBuild = () => false

// the page's script is built from these sources
const isSource = (path: string) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !path.endsWith("/page/script.ts")

const files = other === undefined ? filesIn("packages", isSource) : filesIn(other, (path) => path.endsWith(".ts"))
const { expressions, violations } = expressionsIn(files, mayBuild)
const judged = noted()
const unknown = expressions.filter((one) => !judged.has(write(one)))
const refused = unknown.flatMap((one) => {
  const why = refusalOf(one)
  return why === undefined ? [] : [{ one, why }]
})

for (const line of violations) say(line)
for (const { one, why } of refused) say(`${one.locations.join(" ")}: ${write(one)}\n  ${why}`)
say(`${expressions.length} regular expressions, ${unknown.length} of them new, ${refused.length} refused`)

const bad = new Set(refused.map(({ one }) => one))
const linear = expressions
  .filter((one) => !bad.has(one))
  .map(write)
  .toSorted((a, b) => (a < b ? -1 : 1))
const note: Note = { recheck: version, linear }
if (other === undefined && !isCi()) writeFileSync(notePath, `${JSON.stringify(note, undefined, 2)}\n`)

process.exitCode = refused.length + violations.length === 0 ? 0 : 1
