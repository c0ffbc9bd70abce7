/**
 * Runs random agents under random faults, for as many minutes as the argument says, and looks at the heap once a minute.
 *
 *   npm run soak -- 30
 *   npm run soak -- 0 17        (the scenario of seed 17 alone, in full)
 *
 * Exits with code 1 when an invariant of the library did not hold, which is printed with the seed and the scenario, or when the
 * heap is not flat: the median of its last third above 1.1 times that of its first. `KINTSUGI_SEED` names the first seed.
 */
import { availableParallelism } from "node:os"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"
import { trendOf, verdictOf } from "./heap.ts"
import { format, playAll } from "./play.ts"
import { scenarioOf } from "./scenario.ts"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

const say = (line: string) => process.stdout.write(`${line}\n`)

const MINUTE = 60_000
const MIB = 1024 * 1024

/** After a collection; twice, as finalizers of the first may let go of more. */
const heap = (): number => {
  collect()
  collect()
  return process.memoryUsage().heapUsed / MIB
}

const [minutes = "30", only] = process.argv.slice(2)
const lasts = Number(minutes)
if (!(lasts >= 0)) throw new RangeError(`the minutes must be a number, got ${minutes}`)

/** How many violations are printed in full. */
const mostShown = 5

const soak = async (): Promise<boolean> => {
  const first = Number(process.env["KINTSUGI_SEED"] ?? 1)
  const start = performance.now()
  const samples: Array<number> = []
  const total = { scenarios: 0, runs: 0, injected: 0, events: 0, violating: 0 }
  const line = (mib: number) =>
    `minute ${samples.length}: ${total.scenarios} scenarios, ${total.runs} runs, ${total.injected} faults, ` +
    `${total.events} events, ${total.violating} violations, heap ${mib.toFixed(2)} MiB`
  for (let seed = first; performance.now() - start < lasts * MINUTE; seed++) {
    const scenario = scenarioOf(seed)
    const result = await Effect.runPromise(playAll(scenario))
    total.scenarios++
    total.runs += result.runs
    total.injected += result.injected
    total.events += result.events
    if (result.violations.length > 0) {
      total.violating += result.violations.length
      if (total.violating <= mostShown) say(format(scenario, result))
    }
    if (performance.now() - start < (samples.length + 1) * MINUTE) continue
    samples.push(heap())
    say(line(samples.at(-1) ?? 0))
  }
  const trend = trendOf(samples)
  const memory = Math.round(process.memoryUsage().rss / MIB)
  say(
    `seeds ${first} to ${first + total.scenarios - 1}, ${availableParallelism()} cores, Node ${process.versions.node}`
  )
  say(
    `heap: first third ${trend.first.toFixed(2)} MiB, last third ${trend.last.toFixed(2)} MiB; ${memory} MiB resident`
  )
  say(verdictOf(trend))
  say(`${total.runs} runs, ${total.violating} violations`)
  return trend.isFlat && total.violating === 0
}

const playOne = async (seed: number): Promise<boolean> => {
  const scenario = scenarioOf(seed)
  const result = await Effect.runPromise(playAll(scenario))
  say(format(scenario, result))
  return result.violations.length === 0
}

process.exitCode = (only === undefined ? await soak() : await playOne(Number(only))) ? 0 : 1
