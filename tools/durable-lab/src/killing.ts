/** A story that runs as a workflow in a process that kills itself, and what has to be true of it in the end. */
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { folder } from "./folder.ts"

/** How a process ended that dies at the n-th thing that it tells; with 0 it lives. */
const play = (data: string, file: string, id: string, dies: number): Promise<NodeJS.Signals | number | null> =>
  new Promise((resolve, reject) => {
    const args = [join(root, folder, "src/processes/worker.ts"), data, file, id, String(dies)]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] })
    child.on("error", reject)
    child.on("close", (code, signal) => resolve(signal ?? code))
  })

const linesOf = (file: string): ReadonlyArray<string> =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []

/** What became of a run: at what its processes died, and what is wrong with the whole. */
export interface Killed {
  readonly deaths: ReadonlyArray<string>
  readonly faults: ReadonlyArray<string>
}

/** Runs the story on a folder of PGlite: each process dies at the n-th thing that it tells, for each of these numbers in turn, and the last one lives. */
export const kill = async (data: string, file: string, id: string, points: ReadonlyArray<number>): Promise<Killed> => {
  const deaths: Array<number> = []
  for (const dies of points) {
    const end = await play(data, file, id, dies)
    if (end === "SIGKILL") deaths.push(linesOf(file).length)
    else return { deaths: sayings(file, deaths), faults: [...endedWith(end), ...wrong(linesOf(file), deaths)] }
  }
  const end = await play(data, file, id, 0)
  return { deaths: sayings(file, deaths), faults: [...endedWith(end), ...wrong(linesOf(file), deaths)] }
}

const sayings = (file: string, deaths: ReadonlyArray<number>): ReadonlyArray<string> =>
  deaths.map((length) => linesOf(file)[length - 1] ?? "nothing")

const endedWith = (end: NodeJS.Signals | number | null): ReadonlyArray<string> =>
  end === 0 ? [] : [`it ends with ${end}`]

const count = (lines: ReadonlyArray<string>, start: string): number =>
  lines.filter((line) => line.startsWith(start)).length

/** The faults in the lines of a run: none, if all went well. `deaths` are the lines that there were at each death. */
const wrong = (lines: ReadonlyArray<string>, deaths: ReadonlyArray<number>): ReadonlyArray<string> => {
  const found: Array<string> = []
  const demand = (what: string, isRight: boolean) => {
    if (!isRight) found.push(what)
  }
  demand("it answers", lines.includes("answer all done"))
  demand("what is paid is paid once", count(lines, "paid ") === 1)
  // between the word that it begins and its beginning a process may die: where nothing is found to be paid, it begins, and nowhere else
  demand(
    "an unsafe tool begins once, but for those that were looked up",
    count(lines, "pay begins") <= 1 + count(lines, "verify")
  )
  const paid = lines.findIndex((line) => line.startsWith("paid "))
  demand("what is found to be paid does not begin again", lines.lastIndexOf("pay begins") < paid)
  demand("all usage is in the ledger", count(lines, "event run-completed 80") >= 1)
  const requests = count(lines, "outer asked") + count(lines, "inner asked")
  const lost = deaths.length
  demand(`${requests} requests are 8, or one more for each death`, requests >= 8 && requests <= 8 + lost)
  const ends = ["look ends", "see ends", "sign ends", "flaky begins 2"].reduce((sum, one) => sum + count(lines, one), 0)
  // the first turn has two tools at work at once, the others one: what was under way at a death is done again, and nothing else
  const steps = deaths.reduce((sum, length) => sum + (count(lines.slice(0, length), "event tool-end") < 2 ? 2 : 1), 0)
  demand(`${ends} ends of tools are 5, or those more that were under way at a death`, ends >= 5 && ends <= 5 + steps)
  const repeated = requests + ends - 13
  demand(`${repeated} steps were done again, of ${steps} that were under way`, repeated <= steps)
  return found
}
