/**
 * Kills processes. A story of five turns runs as a workflow, on PostgreSQL in a process of its own; its own process kills itself
 * with SIGKILL at the n-th thing that it tells, and another one goes on, for each n until the story ends without a death. Before that
 * the shared scenarios run on this database, and the demo is played.
 *
 *   npm run test:durable            all points
 *   npm run test:durable -- 7       every seventh
 *
 * The last line is `N passed, N failed, N skipped`.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { folder, isReady, startDatabase } from "./durable/database.ts"
import { kill } from "./durable/killing.ts"
import { root } from "./files.ts"
import { binary } from "./tools.ts"

/** Passed and failed. */
type Count = readonly [number, number]

const sweep = async (port: string, temporary: string, every: number): Promise<Count> => {
  let [passed, failed] = [0, 0]
  for (let dies = every; ; dies += every) {
    const { deaths, faults } = await kill(port, join(temporary, `run-${dies}`), `run-${dies}`, [dies])
    const [at] = deaths
    const isDead = at !== undefined
    console.log(`${dies}: ${isDead ? `killed at "${at}"` : "not killed"}: ${faults.length === 0 ? "well" : "NOT WELL"}`)
    for (const fault of faults) console.log(`  not: ${fault}`)
    if (faults.length === 0) passed++
    else failed++
    if (!isDead) return [passed, failed]
  }
}

/** One program, and the code with which it has to end. */
const ends = (title: string, code: number, args: ReadonlyArray<string>, env = {}): Count => {
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env }
  })
  console.log(`${title}: ${status === code ? "well" : `NOT WELL, ended with ${status}`}`)
  return status === code ? [1, 0] : [0, 1]
}

const main = async (): Promise<void> => {
  if (!isReady()) {
    console.log("could not install the database: see the messages above\n0 passed, 0 failed, 1 skipped")
    if (process.env["CI"] !== undefined) process.exitCode = 1
    return
  }
  const every = Math.max(1, Number(process.argv[2] ?? "1"))
  const counts: Array<Count> = [
    ends("types", 0, [binary("typescript", "tsc"), "-p", folder]),
    ends("the demo", 0, [join(root, "scripts/demoDurable.ts")]),
    ends("the demo with a forged ledger", 1, [join(root, "scripts/demoDurable.ts"), "--forge"])
  ]
  const temporary = mkdtempSync(join(tmpdir(), "kintsugi-durable-"))
  const database = await startDatabase()
  try {
    const scenarios = [binary("vitest"), "run", "--config", join(folder, "vitest.config.ts")]
    counts.push(ends("the scenarios on SQL", 0, scenarios, { KINTSUGI_DURABLE_PORT: database.port }))
    counts.push(await sweep(database.port, temporary, every))
  } finally {
    database.stop()
    rmSync(temporary, { recursive: true, force: true })
  }
  const [passed, failed] = counts.reduce(([a, b], [c, d]) => [a + c, b + d])
  console.log(`${passed} passed, ${failed} failed, 0 skipped`)
  if (failed > 0) process.exitCode = 1
}

await main()
