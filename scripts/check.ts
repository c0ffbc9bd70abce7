/**
 * Every check of the repository, in order; the first that fails ends it with exit code 1.
 *
 *   npm test
 *
 * The last line is `N passed, N failed, N skipped`: the tests that Vitest counted. Before it stands on how many cases the laws were
 * checked, and how long each suite took. A law that drew fewer cases than it had to fails (100, with `CI` 1,000), and where `CI` is set
 * so does a test that was skipped.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { least, tooFew } from "./cases.ts"
import { root } from "./files.ts"
import { isCi } from "./report.ts"
import { formatSeconds, type Result, TALLY } from "./tally.ts"
import { binary } from "./tools.ts"

interface Step {
  readonly title: string
  readonly script: string
  readonly parameters: ReadonlyArray<string>
}

const beforeTests: ReadonlyArray<Step> = [
  { title: "format", script: binary("oxfmt"), parameters: ["--check"] },
  { title: "lint", script: binary("oxlint"), parameters: [] },
  { title: "types", script: binary("typescript", "tsc"), parameters: ["-p", "."] },
  { title: "build", script: join(root, "scripts/build.ts"), parameters: [] },
  { title: "SDKs", script: join(root, "scripts/sdk.ts"), parameters: [] },
  { title: "types of the SDK tests", script: binary("typescript", "tsc"), parameters: ["-p", "test/sdk"] },
  { title: "database", script: join(root, "tools/durable-lab/src/install.ts"), parameters: [] },
  { title: "types of the durable tests", script: binary("typescript", "tsc"), parameters: ["-p", "tools/durable-lab"] }
]

const tests: Step = { title: "tests", script: binary("vitest"), parameters: ["run"] }

const tallyPath = join(root, ".cache", "tally.json")

const say = (line: string) => process.stdout.write(`${line}\n`)

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

const runTimed = (step: Step): boolean => {
  const start = performance.now()
  const succeeded = run(step)
  say(`== ${step.title}: ${succeeded ? "ok" : "failed"} in ${((performance.now() - start) / 1000).toFixed(1)} s\n`)
  return succeeded
}

/** Runs the tests and says, after Vitest's own closing lines, what it counted. */
const runTests = (): boolean => {
  mkdirSync(join(root, ".cache"), { recursive: true })
  rmSync(tallyPath, { force: true })
  const succeeded = run(tests)
  if (!existsSync(tallyPath)) {
    say("tests failed; Vitest ended without a result")
    return false
  }
  const { failed, laws, passed, seconds, skipped }: Result = JSON.parse(readFileSync(tallyPath, "utf8"))
  say(least(laws))
  const few = tooFew(laws)
  few.forEach(say)
  say("== seconds of the workers, by suite")
  for (const line of formatSeconds(seconds)) say(line)
  say(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s  went by, all steps together`)
  say(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  return succeeded && failed === 0 && few.length === 0 && !(isCi() && skipped > 0)
}

const started = performance.now()
const failing = beforeTests.find((step) => !runTimed(step))
if (failing !== undefined) say(`${failing.title} failed; the steps after it were not run`)
process.exitCode = failing === undefined && runTests() ? 0 : 1
