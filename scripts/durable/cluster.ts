/** Three runners on one PostgreSQL, many runs, and what is done to them meanwhile. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startPostgres } from "../system/postgres.ts"
import type { Report } from "../system/report.ts"
import { startModels } from "./models.ts"
import { judge } from "./orders.ts"
import { type Proxy, startProxy } from "./proxy.ts"
import { type End, type Plan, startOrders, startRunners, type Told } from "./running.ts"

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

const plans: Readonly<Record<Trouble, (seed: number) => Plan>> = {
  deaths: (seed) => ({ next: ending(21, seed, "SIGKILL") }),
  moves: (seed) => ({ next: ending(12, seed, "SIGTERM") }),
  clocks: (seed) => ({
    next: ending(6, seed, "SIGKILL"),
    // five hours ahead, and back; two hours behind, and back; right
    clock: (place) => [undefined, "40:18000,200:0", "60:-7200,250:0"][place]
  }),
  outages: () => ({ next: () => undefined })
}

export interface Options {
  readonly orders: number
  readonly seed: number
  /** After how many seconds without an end of a run all is given up. */
  readonly patience: number
}

/** Plays one trouble, and counts: each order that is right, and what is true of all. */
export const play = async (postgres: string, trouble: Trouble, options: Options, report: Report): Promise<void> => {
  const begun = performance.now()
  const files = mkdtempSync(join(tmpdir(), "kintsugi-cluster-"))
  const database = await startPostgres(postgres)
  const proxy = await startProxy(database.port)
  const cutter = cutting(trouble === "outages" ? 6 : 0, options.seed)
  const models = await startModels((request) => cutter.at(request, proxy))
  const port = trouble === "outages" ? proxy.port : database.port
  const runners = await startRunners(port, models.url, files, plans[trouble](options.seed))
  const orders = Array.from({ length: options.orders }, (_, index) => `order-${index + 1}`)
  if (trouble === "deaths") orders.push("turns-60")
  const told: Array<Told> = []
  try {
    await startOrders(database.port, files, options.patience, orders, (one) => told.push(one))
    const seconds = ((performance.now() - begun) / 1000).toFixed(0)
    const unfinished = told.find((one) => one.unfinished !== undefined)?.unfinished
    if (unfinished !== undefined) console.log(JSON.stringify(unfinished, undefined, 1))
    const ended = told.findLast((one) => one.ended !== undefined)?.ended ?? 0
    const said = `${ended} of ${orders.length} runs ended in ${seconds} s`
    report.check(
      `${trouble}: ${said}, while ${runners.ends()} runners ended and storage refused ${cutter.cuts()} times`,
      ended === orders.length
    )
    for (const fault of runners.faults) report.check(`${trouble}: runners end as they should`, false, fault)
    let [moves, again] = [0, 0]
    for (const order of orders) {
      const answer = told.find((one) => one.order === order)?.answer
      const judged = judge(files, { order, answer, asked: models.asked.get(order) ?? new Map() })
      moves += judged.moves
      again += judged.again
      report.check(`${trouble}: ${order}`, judged.faults.length === 0, judged.faults.join("; "))
    }
    console.log(`${trouble}: ${moves} times a run went on in another process, ${again} requests were made again`)
    const bytes = told.find((one) => one.bytes !== undefined)?.bytes
    if (trouble === "deaths") {
      const [early = 0, late = 0] = [bytes?.["5"], bytes?.["50"]]
      report.check(
        `${trouble}: turn 50 takes ${late} bytes, turn 5 ${early}`,
        early > 0 && late > 0 && late <= 1.2 * early
      )
    }
  } finally {
    await runners.stop()
    models.stop()
    proxy.stop()
    await database.stop()
    rmSync(files, { recursive: true, force: true })
  }
}
