/**
 * Kills processes. A story of five turns runs as a workflow, on PostgreSQL in a process of its own; its own process kills itself
 * with SIGKILL at the n-th thing that it tells, and another one goes on, for each n until the story ends without a death.
 *
 *   npm run test:durable            all points
 *   npm run test:durable -- 7       every seventh
 *
 * The last line is `N passed, N failed, N skipped`.
 */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { folder, isReady, startDatabase } from "./durable/database.ts"
import { root } from "./files.ts"

/** How a process ended, and all that was told about a run so far. */
const play = (port: string, file: string, id: string, dies: number): Promise<NodeJS.Signals | number | null> =>
  new Promise((resolve, reject) => {
    const args = [join(root, folder, "worker.ts"), port, file, id, String(dies)]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] })
    child.on("error", reject)
    child.on("close", (code, signal) => resolve(signal ?? code))
  })

const linesOf = (file: string): ReadonlyArray<string> =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []

const count = (lines: ReadonlyArray<string>, start: string): number =>
  lines.filter((line) => line.startsWith(start)).length

/** What is wrong with what was told: nothing, if all went well. */
const wrong = (lines: ReadonlyArray<string>, isDead: boolean): ReadonlyArray<string> => {
  const found: Array<string> = []
  // two tools are at work at once in the first turn: whatever was under way is done again
  const [lostRequests, lostSteps] = isDead ? [1, 2] : [0, 0]
  const demand = (what: string, isRight: boolean) => {
    if (!isRight) found.push(what)
  }
  demand("it answers", lines.includes("answer all done"))
  demand("what is paid is paid once", count(lines, "paid ") === 1)
  // where it was looked up that nothing was paid, it begins again
  demand("an unsafe tool begins once, or is looked up", count(lines, "pay begins") <= 1 + count(lines, "verify"))
  demand("all usage is in the ledger", count(lines, "event run-completed 80") >= 1)
  const requests = count(lines, "outer asked") + count(lines, "inner asked")
  demand(`${requests} requests are 8, or 9 after a death`, requests >= 8 && requests <= 8 + lostRequests)
  const ends = ["look ends", "see ends", "sign ends", "flaky begins 2"].reduce((sum, one) => sum + count(lines, one), 0)
  demand(`${ends} ends of tools are 5, or up to 7 after a death`, ends >= 5 && ends <= 5 + lostSteps)
  const again = requests + ends - 13
  demand(`${again} steps were done again`, again <= lostSteps)
  return found
}

const sweep = async (port: string, temporary: string, every: number): Promise<readonly [number, number]> => {
  let [passed, failed] = [0, 0]
  for (let dies = every; ; dies += every) {
    const file = join(temporary, `run-${dies}`)
    const first = await play(port, file, `run-${dies}`, dies)
    const isDead = first === "SIGKILL"
    const at = linesOf(file).at(-1) ?? "nothing"
    const second = isDead ? await play(port, file, `run-${dies}`, 0) : first
    const faults = [...(second === 0 ? [] : [`ended with ${second}`]), ...wrong(linesOf(file), isDead)]
    console.log(`${dies}: ${isDead ? `killed at "${at}"` : "not killed"}: ${faults.length === 0 ? "well" : "NOT WELL"}`)
    for (const fault of faults) console.log(`  not: ${fault}`)
    if (faults.length === 0) passed++
    else failed++
    if (!isDead) return [passed, failed]
  }
}

const main = async (): Promise<void> => {
  if (!isReady()) {
    console.log("could not install the database: see the messages above\n0 passed, 0 failed, 1 skipped")
    if (process.env["CI"] !== undefined) process.exitCode = 1
    return
  }
  const every = Math.max(1, Number(process.argv[2] ?? "1"))
  const temporary = mkdtempSync(join(tmpdir(), "kintsugi-durable-"))
  const database = await startDatabase()
  try {
    const [passed, failed] = await sweep(database.port, temporary, every)
    console.log(`${passed} passed, ${failed} failed, 0 skipped`)
    if (failed > 0) process.exitCode = 1
  } finally {
    database.stop()
    rmSync(temporary, { recursive: true, force: true })
  }
}

await main()
