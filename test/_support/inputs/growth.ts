/** The property: a function is linear in the length of its input, by the time that its thread spends. */
import type { Growing } from "./entry.ts"

const KiB = 1024

export interface Bounds {
  readonly from: number
  readonly to: number
  /** How many times as long the end may take: a linear function takes 16 times as long, a quadratic one 256 times. */
  readonly times: number
  /** What is faster than this at the end passes. */
  readonly millis: number
}

/** P1390 word for word. */
export const quick: Bounds = { from: 16 * KiB, to: 256 * KiB, times: 40, millis: 5 }

/** The same up to a length beyond which a function looks at nothing. */
export const upTo = (bound: number): Bounds => ({ ...quick, from: bound / 16, to: bound })

/** The same up to 1 MiB, where the caches of the processor end: what is quadratic takes 256 times as long. */
export const long: Bounds = { from: 64 * KiB, to: 1024 * KiB, times: 100, millis: 20 }

/** Why a function is refused on a family; `undefined` where it is linear. */
export type Refusal = string | undefined

/** Below this the clock on the wall tells more than the counter of the thread: some kernels count in ticks of 10 ms. */
const short = 50

/** Milliseconds that this thread has spent since then. */
const counted = (before: NodeJS.CpuUsage): number => {
  const { system, user } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** How long it took, in milliseconds. While other programs are at work, only the counter of the thread stands still. */
const spent = async (action: () => unknown): Promise<number> => {
  const [start, before] = [performance.now(), process.threadCpuUsage()]
  await action()
  const wall = performance.now() - start
  return wall < short ? wall : Math.min(wall, Math.max(counted(before), short / 2))
}

/** The mean of so many runs that the counter of the thread is exact. It takes long, and no other program disturbs it. */
const mean = async ({ prepare }: Growing, size: number): Promise<number> => {
  const start = performance.now()
  let total = 0
  let runs = 0
  while (total < 200 && performance.now() - start < 5000) {
    const action = prepare(size)
    const before = process.threadCpuUsage()
    await action()
    total += counted(before)
    runs++
  }
  return total / runs
}

/** Where one run is so long, a second one says the same. */
const certain = 500

/** The least of several runs, each on an input of its own: what disturbs a run makes it slower, never faster. */
const least = async ({ prepare }: Growing, size: number, enough = 0): Promise<number> => {
  let best = Infinity
  for (let run = 0; run < 3 && best > enough; run++) {
    const took = await spent(prepare(size))
    if (took > certain) return took
    best = Math.min(best, took)
  }
  return best
}

interface Refused {
  readonly why: string
  /** Where it was refused. */
  readonly size: number
  /** So much more than allowed that no other program can have made it. */
  readonly isCertain: boolean
}

/** A test waits so many milliseconds for the end of what may be quadratic. */
const patience = 5000

const once = async (growing: Growing, { from, millis, times, to }: Bounds): Promise<Refused | undefined> => {
  const tiny = await spent(growing.prepare(from / 16))
  // the square of it is more than a test can wait for
  if (tiny > certain)
    return { why: `${Math.round(tiny)} ms at ${from / 16 / KiB} KiB`, size: from / 16, isCertain: true }
  const first = await spent(growing.prepare(from))
  const mayWait = first * (to / from) ** 2 < patience || first < times * tiny
  const atOnce = mayWait ? await spent(growing.prepare(to)) : Infinity
  if (atOnce <= millis) return undefined
  const small = await least(growing, from)
  if (atOnce <= times * small) return undefined
  // what takes long at the beginning is seen on the way to the end
  for (const size of atOnce < Infinity ? [to] : [2 * from, 4 * from, 8 * from, to]) {
    const allowed = Math.max(size === to ? millis : certain, small * timesAt(size, { from, times, to }))
    const took = await least(growing, size, allowed)
    if (took <= allowed) continue
    const why = `${took.toFixed(1)} ms at ${size / KiB} KiB, ${small.toFixed(2)} ms at ${from / KiB} KiB`
    return { why, size, isCertain: took > certain && took > 2 * allowed }
  }
  return undefined
}

/** How many times as long an input of this size may take, on the way to the end. */
const timesAt = (size: number, { from, times, to }: Pick<Bounds, "from" | "times" | "to">): number =>
  (size / from) ** (Math.log(times) / Math.log(to / from))

/** The same by means, for what was refused by little, where it was refused. */
const repeated = async (growing: Growing, bounds: Bounds, size: number): Promise<Refused | undefined> => {
  const { from, millis, to } = bounds
  const [small, took] = [await mean(growing, from), await mean(growing, size)]
  if (took <= Math.max(size === to ? millis : certain, timesAt(size, bounds) * small)) return undefined
  const why = `${took.toFixed(1)} ms at ${size / KiB} KiB, ${small.toFixed(2)} ms at ${from / KiB} KiB, by many runs`
  return { why, size, isCertain: false }
}

/** What is refused by little is measured anew, up to four times: other programs may be at work. */
export const refusalOf = async (growing: Growing, bounds: Bounds = quick): Promise<Refusal> => {
  try {
    let refused = await once(growing, bounds)
    for (let attempt = 0; attempt < 4 && refused?.isCertain === false; attempt++)
      refused = await repeated(growing, bounds, refused.size)
    return refused?.why
  } catch (error) {
    return `it throws: ${String(error).slice(0, 200)}`
  }
}
