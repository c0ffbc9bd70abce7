/**
 * Kills processes. A story of five turns runs as a workflow, on PGlite; its process kills itself
 * with SIGKILL at the n-th thing that it tells, and another one goes on, for each n until the story ends without a death. Before that
 * the shared scenarios run on such a database, and the demo is played. After that, three runners work on one PostgreSQL server, and are
 * killed, stopped, given wrong clocks, or refused by storage: where Debian's `postgresql` is installed.
 *
 *   npm run test:durable                    all points, and the cluster
 *   npm run test:durable -- 7               every seventh point
 *   npm run test:durable -- cluster         the cluster alone
 *   npm run test:durable -- cluster deaths  one of deaths, clocks, outages and moves
 *   npm run test:durable -- bench           what it costs, see docs/reports/performance.md
 *   npm run test:durable -- talks 10000 1000  what 10,000 conversations cost, of which 1,000 get a message
 *   npm run test:durable -- recovery        how long it takes until the next process goes on
 *
 * The last line is `N passed, N failed, N skipped`.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { isCi, Report } from "../../../scripts/report.ts"
import { provide } from "../../../scripts/provide.ts"
import { binary } from "../../../scripts/tools.ts"
import { bench } from "./bench.ts"
import { isTrouble, playAll, type Trouble, troubles } from "./cluster.ts"
import { folder } from "./folder.ts"
import { kill } from "./killing.ts"
import { postgres } from "./postgres.ts"
import { talkBench } from "./talkBench.ts"
import { recovery } from "./recovery.ts"

const sweep = async (report: Report, temporary: string, every: number): Promise<void> => {
  for (let dies = every; ; dies += every) {
    const { deaths, faults } = await kill(join(temporary, "database"), join(temporary, `run-${dies}`), `run-${dies}`, [
      dies
    ])
    const [at] = deaths
    const how = at === undefined ? "not killed" : `killed at "${at}"`
    report.check(`${dies}: ${how}`, faults.length === 0, faults.join("; "))
    if (at === undefined) return
  }
}

/** One program, and the code with which it has to end. */
const ends = (report: Report, title: string, code: number, args: ReadonlyArray<string>, env = {}): void => {
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env }
  })
  report.check(title, status === code, `ended with ${status}`)
}

const oneProcess = async (report: Report, every: number): Promise<void> => {
  ends(report, "the demo", 0, [join(root, folder, "src/demo.ts")])
  ends(report, "the demo with a forged ledger", 1, [join(root, folder, "src/demo.ts"), "--forge"])
  const temporary = mkdtempSync(join(tmpdir(), "kintsugi-durable-"))
  try {
    ends(report, "the scenarios on SQL", 0, [binary("vitest"), "run", "--config", join(folder, "vitest.config.ts")], {
      KINTSUGI_DURABLE_FOLDER: join(temporary, "scenarios")
    })
    await sweep(report, temporary, every)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

const manyProcesses = async (report: Report, words: ReadonlyArray<Trouble>): Promise<void> => {
  const found = provide(postgres, false)
  if ("path" in found) return playAll(found.path, words, report)
  const why = `PostgreSQL is missing: ${found.why}; npm run setup-system installs it where it can`
  for (const word of words) report.skip(`the cluster, ${word}`, why)
}

const main = async (word: string, trouble: string): Promise<void> => {
  const report = new Report()
  if (word === "bench" || word === "recovery") {
    const found = provide(postgres, false)
    return (word === "bench" ? bench : recovery)("path" in found ? found.path : undefined)
  }
  if (word === "talks") {
    const found = provide(postgres, false)
    if ("why" in found) throw new Error(`PostgreSQL is missing: ${found.why}`)
    return talkBench(found.path, Number(trouble) || 10_000, Number(process.argv[4]) || 1000)
  }
  if (word === "cluster") await manyProcesses(report, isTrouble(trouble) ? [trouble] : troubles)
  else {
    await oneProcess(report, Math.max(1, Number(word)) || 1)
    if (word === "") await manyProcesses(report, troubles)
  }
  const isWell = report.end()
  if (report.failed > 0 || (isCi() && !isWell)) process.exitCode = 1
}

// child processes end with this process
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))
await main(process.argv[2] ?? "", process.argv[3] ?? "")
