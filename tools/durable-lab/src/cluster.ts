/** Three runners on one PostgreSQL, many runs, and what is done to them meanwhile. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Report } from "../../../scripts/report.ts"
import { startPostgres } from "./postgres.ts"
import { startModels } from "./models.ts"
import { judge, type Judged } from "./orders.ts"
import { type Proxy, startProxy } from "./proxy.ts"
import { type End, type Plan, startOrders, startRunners, type Progress } from "./running.ts"

export const troubles = ["deaths", "clocks", "outages", "moves"] as const

export type Trouble = (typeof troubles)[number]

export const isTrouble = (word: string): word is Trouble => troubles.some((trouble) => trouble === word)

/** The n-th of some numbers that look like chance, and are the same each time. */
const drawn = (seed: number, nth: number): number => {
  let mixed = Math.imul(seed + 0x9e3779b9 * (nth + 1), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
}

/** So many runners end, one after the other, each at something that it tells. */
const ending = (count: number, seed: number, signal: End["signal"]): (() => End | undefined) => {
  let nth = 0
  return () => {
    if (nth >= count) return undefined
    return { at: 20 + Math.floor(drawn(seed, nth++) * 130), signal }
  }
}

/** Storage refuses for two seconds, at requests that are drawn. */
const cutting = (count: number, seed: number) => {
  const points = new Set(Array.from({ length: count }, (_, nth) => Math.floor((nth + drawn(seed, nth)) * 150) + 50))
  let cuts = 0
  return {
    cuts: () => cuts,
    at: (request: number, proxy: Proxy): void => {
      if (!points.has(request)) return
      cuts++
      proxy.cut()
      setTimeout(proxy.mend, 2000)
    }
  }
}

/** What is done to the runners, and to how many of them, for each ten orders. */
const plans: Readonly<Record<Trouble, (tens: number, seed: number) => Plan>> = {
  deaths: (tens, seed) => ({ next: ending(tens + 1, seed, "SIGKILL") }),
  moves: (tens, seed) => ({ next: ending(Math.ceil(tens / 2) + 1, seed, "SIGTERM") }),
  clocks: (tens, seed) => ({
    next: ending(Math.ceil(tens / 3) + 1, seed, "SIGKILL"),
    // five hours ahead, and right again; two hours behind, and right again; right
    clock: (slot) => ["40:18000,200:0", "60:-7200,250:0"][slot - 1]
  }),
  outages: () => ({ next: () => undefined })
}

export interface Options {
  readonly orders: number
  readonly seed: number
  /** After how many seconds without an end of a run all is given up. */
  readonly patience: number
}

/** The outcome of all runs. */
interface Outcome {
  readonly reports: ReadonlyArray<Progress>
  readonly orders: ReadonlyArray<string>
  readonly judged: ReadonlyArray<Judged>
  readonly runnerFaults: ReadonlyArray<string>
  /** How many runners have ended, and how often storage has refused. */
  readonly ends: number
  readonly cuts: number
  readonly seconds: number
}

const running = async (
  postgres: string,
  trouble: Trouble,
  { orders: count, patience, seed }: Options
): Promise<Outcome> => {
  const begun = performance.now()
  const files = mkdtempSync(join(tmpdir(), "kintsugi-cluster-"))
  const database = await startPostgres(postgres)
  const proxy = await startProxy(database.port)
  const cutter = cutting(trouble === "outages" ? Math.ceil(count / 20) + 1 : 0, seed)
  const models = await startModels((request) => cutter.at(request, proxy))
  const port = trouble === "outages" ? proxy.port : database.port
  const runners = await startRunners(port, models.url, files, plans[trouble](Math.ceil(count / 10), seed))
  const orders = Array.from({ length: count }, (_, index) => `order-${index + 1}`)
  if (trouble === "deaths") orders.push("turns-60")
  const reports: Array<Progress> = []
  try {
    await startOrders(database.port, files, patience, orders, (one) => reports.push(one))
    const answers = new Map(reports.map(({ answer, order }) => [order, answer]))
    const judged = orders.map((order) =>
      judge(files, { order, answer: answers.get(order), asked: models.asked.get(order) ?? new Map() })
    )
    const seconds = (performance.now() - begun) / 1000
    return { reports, orders, judged, runnerFaults: runners.faults, ends: runners.ends(), cuts: cutter.cuts(), seconds }
  } finally {
    await runners.stop()
    models.stop()
    proxy.stop()
    await database.stop()
    rmSync(files, { recursive: true, force: true })
  }
}

const sum = (values: ReadonlyArray<number>): number => values.reduce((one, other) => one + other, 0)

/** Plays one trouble, and counts: each order that is right, and what is true of all. */
export const play = async (postgres: string, trouble: Trouble, options: Options, report: Report): Promise<void> => {
  const { cuts, ends, judged, orders, runnerFaults, seconds, reports } = await running(postgres, trouble, options)
  const unfinished = reports.find((one) => one.unfinished !== undefined)?.unfinished
  if (unfinished !== undefined) console.log(JSON.stringify(unfinished, undefined, 1))
  const ended = reports.findLast((one) => one.ended !== undefined)?.ended ?? 0
  const meanwhile = `while ${ends} runners ended and storage refused ${cuts} times`
  report.check(
    `${trouble}: ${ended} of ${orders.length} runs ended in ${seconds.toFixed(0)} s, ${meanwhile}`,
    ended === orders.length
  )
  report.check(`${trouble}: runners end as they should`, runnerFaults.length === 0, runnerFaults.join("; "))
  const wrong = judged.filter(({ faults }) => faults.length > 0)
  for (const { faults } of wrong.slice(0, 10)) console.log(`  not: ${faults.join("; ")}`)
  report.count(`${trouble}: runs that are right`, {
    passed: judged.length - wrong.length,
    failed: wrong.length,
    skipped: 0
  })
  const [moves, repetitions] = [sum(judged.map((one) => one.moves)), sum(judged.map((one) => one.repeated))]
  const quiet = reports.find((one) => one.quiet !== undefined)?.quiet ?? Number.NaN
  console.log(`        a run went on in another process ${moves} times, and ${repetitions} requests were repeated`)
  const marks = reports.find((one) => one.marks !== undefined)?.marks
  if (marks !== undefined)
    console.log(`        the marks of ${marks} messages were taken off, see docs/guide/durable-reference.md`)
  console.log(`        nothing was recorded for ${quiet.toFixed(1)} s at the longest`)
  const deleted = reports.find((one) => one.deleted !== undefined)?.deleted
  report.check(
    `${trouble}: what has ended is deleted as the guide says, and nothing younger`,
    deleted?.undone === 0 &&
      deleted.before > orders.length &&
      deleted.afterYoung === deleted.before &&
      deleted.afterOld === 0 &&
      deleted.unknown === orders.length,
    JSON.stringify(deleted)
  )
  const bytes = reports.find((one) => one.bytes !== undefined)?.bytes
  if (trouble !== "deaths") return
  const [early = 0, late = 0] = [bytes?.["5"], bytes?.["50"]]
  report.check(`${trouble}: turn 50 takes ${late} bytes, turn 5 ${early}`, early > 0 && late > 0 && late <= 1.2 * early)
}

/** All that is tried with a cluster, or one trouble. */
export const playAll = async (postgres: string, words: ReadonlyArray<Trouble>, report: Report): Promise<void> => {
  for (const trouble of words) {
    const orders = trouble === "deaths" ? 200 : 100
    await play(postgres, trouble, { orders, seed: 1, patience: 120 }, report)
  }
}
