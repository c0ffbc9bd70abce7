/** The properties of each run of a cluster, by its lines, its requests, and its answer. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** How many requests an order takes, and what they come to: see `processes/orders.ts`. */
const requestsOf = (order: string): number => {
  const [, turns] = /^turns-(\d+)/.exec(order) ?? []
  return turns === undefined ? 8 : Number(turns) + 1
}

interface Line {
  readonly runner: string
  readonly what: string
}

export const linesOf = (file: string): ReadonlyArray<Line> =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => ({ runner: line.slice(0, line.indexOf(" ")), what: line.slice(line.indexOf(" ") + 1) }))
    : []

export interface Ended {
  readonly order: string
  readonly answer: string | undefined
  /** How often each turn of it was asked for. */
  readonly asked: ReadonlyMap<string, number>
}

export interface Judged {
  readonly faults: ReadonlyArray<string>
  /** How often it went on in another process. */
  readonly moves: number
  /** Requests that were repeated. */
  readonly repeated: number
}

/**
 * The faults of an order: none, if all went well. Only the step under way is lost when a run is taken from its runner: each time the
 * run is replayed from the top, in another runner, in the same one, or because its wait is over.
 */
export const judge = (files: string, { answer, asked, order }: Ended): Judged => {
  const lines = linesOf(join(files, order))
  const all = linesOf(join(files, "all"))
  const faults: Array<string> = []
  const demand = (what: string, isRight: boolean) => {
    if (!isRight) faults.push(`${order}: ${what}`)
  }
  const needed = requestsOf(order)
  const replays = lines.filter(({ what }) => what === "begins").length - 1
  const moves = lines.filter(({ runner }, index) => index > 0 && lines[index - 1]?.runner !== runner).length
  const requests = [...asked.values()].reduce((sum, count) => sum + count, 0)
  const repeated = requests - needed
  demand(`it answers "${answer}"`, answer === `order ${order} is done`)
  demand(`${asked.size} turns were asked for, and not ${needed}`, asked.size === needed)
  demand(`${repeated} requests were repeated in ${replays} replays`, repeated <= replays)
  const ends = lines.filter(({ what }) => what.startsWith("ended ")).map(({ what }) => what)
  demand(
    `what is in its ledger: ${ends.join(", ")}`,
    ends.length > 0 && ends.every((end) => end === `ended ${needed * 10}`)
  )
  if (order.startsWith("turns-")) return { faults, moves, repeated }
  const begins = lines.flatMap(({ what }) => (what.startsWith("pay begins ") ? [what.slice("pay begins ".length)] : []))
  const [key = "none"] = begins
  const count = (what: string) => all.filter((line) => line.what === `${what} ${key}`).length
  demand(`it is paid ${count("paid")} times`, count("paid") === 1)
  demand("an unsafe tool begins again that was not looked up", begins.length <= 1 + count("verify"))
  const tools = new Set(["look ends", "see ends", "sign ends", "flaky begins 2"])
  const done = lines.filter(({ what }) => tools.has(what)).length
  // two tools are at work at once in the first turn
  demand(`${done} ends of tools are not 5, or those more that were under way`, done >= 5 && done <= 5 + 2 * replays)
  return { faults, moves, repeated }
}
