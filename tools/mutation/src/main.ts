/**
 * Mutation testing: says how many small mistakes in the sources the tests find out, and fails when it is too few or when no comment
 * above its line explains a survivor; `reasons.ts` has the form of these comments.
 *
 *   npm run mutation                     everything; `docs/reports/mutation.md` tells what comes of it
 *   npm run mutation -- Backoff Budget   some of the targets of `tools/mutation/src/targets.ts`
 *
 *   --workers=2    processes at once; one without it
 *   --share=0.02   the share of the time of all tests that a mutant is given at most: what is most about its source, then a
 *                  test of each file by turns; 0.1 without it
 *   --no-rules     does not look for tests of rules that find out no mutant
 *   --write        writes docs/reports/mutation.md
 *   --date=…       the date that the page tells; today without it
 *   --fresh        forgets what is known from before
 *
 * What is known is kept in `.cache/mutation`: that a test found a mutant out, as long as neither the mutant's file nor the test's
 * changed; that none did, as long as the mutant's file and all tests are the same. What else changed is not looked at, as in
 * Stryker's incremental mode.
 */
import { rmSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { filesIn, root } from "../../../scripts/files.ts"
import { installIn } from "../../../scripts/sdk.ts"
import { survey } from "./baseline.ts"
import { instrument } from "./instrument.ts"
import { tryAll } from "./mutants.ts"
import { complaints, page, type Results, scoreOf } from "./report.ts"
import { cache } from "./protocol.ts"
import { reasonsIn } from "./reasons.ts"
import { idleTests, readAccepted } from "./rules.ts"
import { targetOf, targets } from "./targets.ts"
import { uncompilable } from "./types.ts"

const say = (line: string) => process.stdout.write(`${line}\n`)

const option = (name: string): string | undefined =>
  process.argv.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3)
const isOn = (name: string): boolean => process.argv.includes(`--${name}`)

const names = process.argv.slice(2).filter((one) => !one.startsWith("--"))
const unknown = names.filter((name) => !targets.some((target) => target.name === name))
if (unknown.length > 0) throw new Error(`no such target: ${unknown.join(", ")}`)
const read = filesIn("packages", (path) => path.endsWith(".ts")).map(reasonsIn)
const problems = read.flatMap((one) => one.problems)
if (problems.length > 0) throw new Error(`reasons that cannot be read:\n${problems.join("\n")}`)
if (!installIn("tools/mutation")) throw new Error("could not install the instrumenter: see the messages above")

const isChosen = (file: string): boolean => names.length === 0 || names.includes(targetOf(file)?.name ?? "")
const workers = Number(option("workers") ?? 1)
const share = Number(option("share") ?? 0.1)

if (isOn("fresh")) rmSync(cache, { recursive: true, force: true })
const sources = filesIn("packages", (path) => targetOf(path) !== undefined)
const placed = await instrument(sources)
const surveyed = await survey(say)
for (const { key, passed } of surveyed.tests) if (!passed) say(`fails without a mutant, and is left out: ${key}`)

const tried = await tryAll(placed, isChosen, sources, surveyed, { say, share, workers })
const survivors = new Set(tried.filter(({ status }) => status === "survived").map(({ mutant }) => mutant.id))
const senseless = uncompilable(
  placed.filter(({ mutant }) => survivors.has(mutant.id)),
  sources
)
const outcomes = tried.filter(({ mutant }) => !senseless.has(mutant.id))
const isHunting = !isOn("no-rules") && names.length === 0
const idle = isHunting ? await idleTests(outcomes, surveyed, { say, workers }) : { idle: [], elsewhere: [], count: 0 }
const results: Results = {
  outcomes,
  uncompilable: senseless.size,
  idle,
  reasons: read.flatMap(({ reasons }) => reasons),
  // of tests that were not looked at, nothing is known
  acceptedTests: isHunting ? readAccepted() : []
}

for (const file of new Set(outcomes.map(({ mutant }) => mutant.file))) {
  const { mutants, percent, survived } = scoreOf(outcomes.filter(({ mutant }) => mutant.file === file))
  say(`${percent.toFixed(1).padStart(5)} %  ${String(survived).padStart(4)} of ${String(mutants).padStart(4)}  ${file}`)
}
if (isOn("write")) {
  const date = option("date") ?? new Date().toISOString().slice(0, 10)
  const machine = `a machine with ${availableParallelism()} cores`
  writeFileSync(join(root, "docs/reports/mutation.md"), page(results, { date, machine }))
}
const wrong = complaints(results)
for (const line of wrong) say(line)
const { mutants, percent, survived } = scoreOf(outcomes)
say(`${mutants} mutants, ${survived} survived: ${percent.toFixed(1)} %`)
process.exitCode = wrong.length === 0 ? 0 : 1
