/** Starts Vitest on a plan, watches it, and replaces it when it is stuck or not to be trusted any more. */
import { spawn } from "node:child_process"
import { closeSync, existsSync, mkdirSync, openSync, readSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { binary } from "../../../scripts/tools.ts"
import { lastBeat } from "./heartbeat.ts"
import { cache, type Line, PLAN, type Plan } from "./protocol.ts"

/** How long a process may take until its first sign of life. */
const START_MILLIS = 120_000

/** Reads the lines of a file as it grows: each call gives those that are new. */
const follow = (path: string): (() => ReadonlyArray<Line>) => {
  let offset = 0
  // what follows the last end of a line is still being written
  let begun = Buffer.alloc(0)
  const piece = Buffer.alloc(2 ** 20)
  return () => {
    if (!existsSync(path)) return []
    const file = openSync(path, "r")
    const found: Array<Line> = []
    for (let size = readSync(file, piece, 0, piece.length, offset); size > 0;) {
      offset += size
      const bytes = Buffer.concat([begun, piece.subarray(0, size)])
      const end = bytes.lastIndexOf("\n") + 1
      for (const line of bytes.toString("utf8", 0, end).split("\n").slice(0, -1)) found.push(JSON.parse(line))
      begun = bytes.subarray(end)
      size = readSync(file, piece, 0, piece.length, offset)
    }
    closeSync(file)
    return found
  }
}

/** What one process said, and what it was at when it had to be ended. */
export interface Said {
  readonly lines: ReadonlyArray<Line>
  readonly stuckAt?: { readonly mutant: string; readonly test: string }
  readonly printed: string
}

let plans = 0

/** The processes at work, by their ids: each leads a group of its own, which has to be ended with this one. */
const alive = new Set<number>()

const kill = (leader: number) => {
  try {
    process.kill(-leader, "SIGKILL")
  } catch {
    // It is gone already.
  }
}

process.on("exit", () => alive.forEach(kill))
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1))

/** Runs a plan in one process, and tells each line as soon as it is there. */
export const run = async (
  part: Pick<Plan, "mode" | "files"> & Partial<Plan>,
  tell: (line: Line) => void = () => {}
): Promise<Said> => {
  const plan = { mutants: 0, tests: [], jobs: [], hunts: [], useful: [], worlds: [], ...part }
  plans += 1
  const path = (kind: string) => join(cache, "plans", `${process.pid}-${plans}-${kind}`)
  mkdirSync(join(cache, "plans"), { recursive: true })
  const [planPath, results, beat] = [path("plan.json"), path("results.jsonl"), path("beat.json")] as const
  writeFileSync(planPath, JSON.stringify({ ...plan, results, heartbeat: beat } satisfies Plan))
  const child = spawn(process.execPath, [binary("vitest"), "run", "--config", "tools/mutation/vitest.config.ts"], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { KINTSUGI_CASES: "100", ...process.env, NO_COLOR: "1", [PLAN]: planPath }
  })
  let printed = ""
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => (printed += String(data).slice(0, 5_000)))
  const exit = new Promise<void>((resolve) => child.on("close", () => resolve()))
  if (child.pid !== undefined) alive.add(child.pid)
  const lines: Array<Line> = []
  const more = follow(results)
  const news = (): void => {
    for (const line of more()) {
      lines.push(line)
      tell(line)
    }
  }
  const started = Date.now()
  let stuckAt: Said["stuckAt"]
  while (child.exitCode === null && child.signalCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 150))
    news()
    const last = lines.at(-1)
    if (last?.type === "done" || last?.type === "tainted" || last?.type === "leave" || last?.type === "dropped") break
    const seen = lastBeat(beat)
    if (seen === undefined && Date.now() - started > START_MILLIS) break
    if (seen !== undefined && Date.now() > seen.until) {
      stuckAt = { mutant: seen.mutant, test: seen.test }
      break
    }
  }
  if (child.pid !== undefined) kill(child.pid)
  await exit
  if (child.pid !== undefined) alive.delete(child.pid)
  news()
  for (const used of [planPath, results, beat]) rmSync(used, { force: true })
  return { lines, printed, ...(stuckAt === undefined ? {} : { stuckAt }) }
}
