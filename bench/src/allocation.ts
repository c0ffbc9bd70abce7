/** How much a run allocates: the growth of the heap while nothing is collected. Needs `--expose-gc` and a large young generation. */
import { PerformanceObserver } from "node:perf_hooks"
import * as Effect from "effect/Effect"
import { median } from "./harness.ts"

/** As many as fit the young generation. */
const portion = 4000
const portions = 15

const repeated = (run: Effect.Effect<unknown, unknown>, count: number) =>
  Effect.runPromise(
    Effect.gen(function* () {
      for (let i = 0; i < count; i++) yield* run
    })
  )

/** Bytes per run, the median of portions in which nothing was collected. */
export const allocated = async (run: Effect.Effect<unknown, unknown>): Promise<number> => {
  const collect = globalThis.gc
  if (collect === undefined) throw new Error("needs --expose-gc")
  let collections = 0
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length
  })
  // the compiler decides what is allocated: it has to be through with it
  await repeated(run, Number(process.env.WARM ?? 10) * portion)
  const grown: Array<number> = []
  observer.observe({ entryTypes: ["gc"] })
  for (let i = 0; i < portions; i++) {
    await collect({ execution: "async" })
    await Effect.runPromise(Effect.sleep(1))
    collections = 0
    const before = process.memoryUsage().heapUsed
    await repeated(run, portion)
    const after = process.memoryUsage().heapUsed
    await Effect.runPromise(Effect.sleep(1))
    if (collections === 0) grown.push((after - before) / portion)
  }
  observer.disconnect()
  if (grown.length < 5) throw new Error(`collected in ${portions - grown.length} of ${portions} portions`)
  return median(grown)
}
