/**
 * The laws on many more cases than `npm test` draws, and how many each of them has seen.
 *
 *   npm run laws                          10,000 cases each
 *   npm run laws -- test/laws/delays      some of them
 *   KINTSUGI_CASES=50000 npm run laws     more cases
 *   KINTSUGI_SEED=1 npm run laws          others
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { least, table } from "./cases.ts"
import { root } from "./files.ts"
import { type Tally, TALLY } from "./tally.ts"
import { binary } from "./tools.ts"

/** Twice what ten thousand cases take on two cores, for each ten thousand. */
const minutesPer10000 = 40

const cases = process.env["KINTSUGI_CASES"] ?? "10000"
const minutes = Math.ceil(minutesPer10000 * Math.max(1, Number(cases) / 10_000))

const cache = join(root, ".cache")
const tallyPath = join(cache, "laws.json")
const files = process.argv.slice(2)

const say = (line: string) => process.stdout.write(`${line}\n`)

mkdirSync(cache, { recursive: true })
rmSync(tallyPath, { force: true })

const started = performance.now()
const { error, status } = spawnSync(
  process.execPath,
  [binary("vitest"), "run", "--typecheck=false", "--maxWorkers=100%", ...(files.length === 0 ? ["test/laws"] : files)],
  {
    cwd: root,
    stdio: "inherit",
    timeout: minutes * 60_000,
    env: { ...process.env, KINTSUGI_CASES: cases, [TALLY]: tallyPath }
  }
)

if (existsSync(tallyPath)) {
  const { laws }: Tally = JSON.parse(readFileSync(tallyPath, "utf8"))
  for (const line of table(laws)) say(line)
  say(`${least(laws)}, in ${Math.round((performance.now() - started) / 1000)} s`)
} else
  say(error === undefined ? "Vitest ended without a result" : `no result within ${minutes} minutes: ${error.message}`)

process.exitCode = status === 0 ? 0 : 1
