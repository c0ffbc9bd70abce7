/** The steps of the checks: what they run, how long each took, and what the tests counted. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { availableParallelism, loadavg } from "node:os"
import { join } from "node:path"
import { isBuilt } from "./build.ts"
import { least, tooFew } from "./cases.ts"
import { root } from "./files.ts"
import { isCi } from "./report.ts"
import { formatSeconds, type Result, TALLY } from "./tally.ts"
import { binary } from "./tools.ts"

export interface Step {
  readonly title: string
  readonly script: string
  readonly parameters: ReadonlyArray<string>
  /** Whether there is nothing to do. */
  readonly isDone?: () => boolean
}

export const format: Step = { title: "format", script: binary("oxfmt"), parameters: ["--check"] }

export const lint: Step = { title: "lint", script: binary("oxlint"), parameters: [] }

/** One word for each concept: what no linter knows. */
export const words: Step = { title: "words", script: join(root, "scripts/words.ts"), parameters: [] }

/** What the linter does not see: paths and signals of POSIX. */
export const portable: Step = { title: "portable", script: join(root, "scripts/portable.ts"), parameters: [] }

/** What the linter does not see: how long a regular expression takes on a long text. */
export const regexps: Step = { title: "regular expressions", script: join(root, "scripts/regexps.ts"), parameters: [] }

/** What tests of processes and the types of everything need. */
export const installations: ReadonlyArray<Step> = [
  { title: "SDKs", script: join(root, "scripts/sdk.ts"), parameters: [] }
]

/** All sources, tests, scripts and tools in one program; what did not change since the last time is not checked anew. */
export const types: Step = {
  title: "types",
  script: binary("typescript", "tsc"),
  parameters: ["-p", "tsconfig.check.json"]
}

/** The compiler sees here what a package may not use, and which types cannot be written as declarations. */
export const build: Step = {
  title: "build",
  script: join(root, "scripts/build.ts"),
  parameters: [],
  isDone: () => !isCi() && isBuilt()
}

/** The tests of some projects of `vitest.config.ts`, and of the files whose paths contain one of the filters. */
export const tests = (projects: ReadonlyArray<string>, filters: ReadonlyArray<string> = []): Step => ({
  title: "tests",
  script: binary("vitest"),
  parameters: ["run", ...projects.map((name) => `--project=${name}`), ...filters]
})

const tallyPath = join(root, ".cache", "tally.json")

export const say = (line: string) => process.stdout.write(`${line}\n`)

/** No colours in a log file. */
const plain = process.stdout.isTTY || process.env["FORCE_COLOR"] !== undefined ? {} : { NO_COLOR: "1" }

/** Whether the step went well. */
const run = ({ parameters, script, title }: Step): boolean => {
  say(`== ${title}`)
  const { status } = spawnSync(process.execPath, [script, ...parameters], {
    cwd: root,
    stdio: "inherit",
    env: { ...plain, ...process.env, [TALLY]: tallyPath }
  })
  return status === 0
}

/** Whether others are at work as well: then the seconds say nothing. */
const isBusy = (): boolean => (loadavg()[1] ?? 0) > 1.5 * availableParallelism()

const secondsSince = (start: number): string => ((performance.now() - start) / 1000).toFixed(1)

/** Runs the steps up to the first that fails; whether none did. */
export const runAll = (steps: ReadonlyArray<Step>): boolean => {
  const failing = steps.find((step) => {
    const start = performance.now()
    if (step.isDone?.() === true) {
      say(`== ${step.title}: nothing to do\n`)
      return false
    }
    const succeeded = run(step)
    say(`== ${step.title}: ${succeeded ? "ok" : "failed"} in ${secondsSince(start)} s\n`)
    return !succeeded
  })
  if (failing !== undefined) say(`${failing.title} failed; the steps after it were not run`)
  return failing === undefined
}

/** Runs the tests and says, after Vitest's own closing lines, what it counted. `wanted` is the seconds that all steps may take. */
export const runTests = (step: Step, wanted = Infinity): boolean => {
  mkdirSync(join(root, ".cache"), { recursive: true })
  rmSync(tallyPath, { force: true })
  const succeeded = run(step)
  if (!existsSync(tallyPath)) {
    say("tests failed; Vitest ended without a result")
    return false
  }
  const { failed, laws, passed, seconds, skipped }: Result = JSON.parse(readFileSync(tallyPath, "utf8"))
  if (laws.length > 0) say(least(laws))
  const few = tooFew(laws)
  few.forEach(say)
  say("== seconds of the workers, by suite")
  for (const line of formatSeconds(seconds)) say(line)
  const took = secondsSince(0)
  say(`${took.padStart(7)} s  went by, all steps together`)
  if (Number(took) > wanted && !isBusy()) say(`that is more than the ${wanted} s of AGENTS.md`)
  say(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  return succeeded && failed === 0 && few.length === 0 && !(isCi() && skipped > 0)
}
