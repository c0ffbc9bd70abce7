/** Starts Vitest on a plan, watches it, and replaces it when it is stuck or not to be trusted any more. */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../files.ts"
import { binary } from "../tools.ts"
import { lastBeat } from "./heartbeat.ts"
import { cache, type Line, PLAN, type Plan } from "./protocol.ts"

/** How long a process may take until its first sign of life. */
const START_MILLIS = 120_000

const parse = (path: string): ReadonlyArray<Line> =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line.endsWith("}"))
        .map((line) => JSON.parse(line))
    : []

/** What one process said, and what it was at when it had to be ended. */
export interface Said {
  readonly lines: ReadonlyArray<Line>
  readonly stuckAt?: { readonly mutant: string; readonly test: string }
  readonly printed: string
}

let plans = 0

/** Runs a plan in one process. */
export const run = async (part: Pick<Plan, "mode" | "files"> & Partial<Plan>): Promise<Said> => {
  const plan = { tests: [], jobs: [], worlds: [], hunts: [], ...part }
  plans += 1
  const path = (kind: string) => join(cache, "plans", `${process.pid}-${plans}-${kind}`)
  mkdirSync(join(cache, "plans"), { recursive: true })
  const [planPath, results, beat] = [path("plan.json"), path("results.jsonl"), path("beat.json")] as const
  writeFileSync(planPath, JSON.stringify({ ...plan, results, heartbeat: beat } satisfies Plan))
  const child = spawn(process.execPath, [binary("vitest"), "run", "--config", "scripts/mutation/vitest.config.ts"], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", [PLAN]: planPath }
  })
  let printed = ""
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => (printed += String(data).slice(0, 5_000)))
  const exit = new Promise<void>((resolve) => child.on("close", () => resolve()))
  const end = async () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    } catch {
      // It is gone already.
    }
    await exit
  }
  const started = Date.now()
  let stuckAt: Said["stuckAt"]
  while (child.exitCode === null && child.signalCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 150))
    const last = parse(results).at(-1)
    if (last?.type === "done" || last?.type === "tainted" || last?.type === "leave") break
    const seen = lastBeat(beat)
    if (seen === undefined && Date.now() - started > START_MILLIS) break
    if (seen !== undefined && Date.now() > seen.until) {
      stuckAt = { mutant: seen.mutant, test: seen.test }
      break
    }
  }
  await end()
  const lines = parse(results)
  for (const used of [planPath, results, beat]) rmSync(used, { force: true })
  return { lines, printed, ...(stuckAt === undefined ? {} : { stuckAt }) }
}
