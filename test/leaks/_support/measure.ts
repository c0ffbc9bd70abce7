/** Whether a feature leaves something behind: fibers, timers, listeners, finalizers, resources of its tools, entries, memory. */
import { EventEmitter, getEventListeners } from "node:events"
import { setImmediate } from "node:timers/promises"
import { Context, Effect, Exit, Metric, Scope } from "effect"

/** What lives as long as the program that uses a feature. */
export interface Around {
  readonly scope: Scope.Scope
  readonly signal: AbortSignal
  readonly emitter: EventEmitter
  /** A resource that a tool acquires and releases. */
  readonly resource: Effect.Effect<void, never, Scope.Scope>
}

/** One use, and the sizes of the stores that it may fill. */
interface Prepared {
  readonly use: Effect.Effect<unknown, unknown, Scope.Scope>
  readonly entries?: Effect.Effect<Readonly<Record<string, number>>>
}

export interface Feature {
  readonly name: string
  /** How many uses fill what has a bound of its own, such as the reasons of closed calls; 300 by default. */
  readonly warmUp?: number
  /** The most uses that are measured, for what takes a fifth of a second each. */
  readonly most?: number
  /** Set for a store in memory that has everything for ever, by its description: its memory is not judged. */
  readonly isStore?: boolean
  readonly prepare: (around: Around) => Effect.Effect<Prepared, never, Scope.Scope>
}

/** What one feature leaves behind, a line for each kind. */
export interface Left {
  readonly name: string
  readonly uses: number
  readonly leaks: ReadonlyArray<string>
  /** Bytes of the heap for each use, in both halves of the uses that were measured last. */
  readonly bytes: readonly [number, number]
  readonly seconds: number
}

/** The bytes for each use from which a growth of the heap is a leak: less than the entry of a `Map`. */
const tolerated = 40

/** With fewer uses the heap says nothing. */
const leastForHeap = 2_000

let fibers = 0
const counting: Metric.FiberRuntimeMetricsService = {
  recordFiberStart: () => void fibers++,
  recordFiberEnd: () => void fibers--
}

const finalizersOf = ({ state }: Scope.Scope): number =>
  state._tag === "Open" ? (state.finalizers?.size ?? (state.finalizer === undefined ? 0 : 1)) : 0

/** Lets go of what the last uses have left to the collector and to the next turns of the event loop. */
const settleDown = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  globalThis.gc?.()
  await setImmediate()
  globalThis.gc?.()
}

const heap = async (): Promise<number> => {
  await settleDown()
  return process.memoryUsage().heapUsed
}

const listenersOf = (emitter: EventEmitter): number =>
  emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0)

export const measure = async (
  { isStore = false, most = Infinity, name, prepare, warmUp = 300 }: Feature,
  wanted: number
): Promise<Left> => {
  const uses = Math.min(wanted, most)
  const begun = performance.now()
  const controller = new AbortController()
  const emitter = new EventEmitter({ captureRejections: false }).setMaxListeners(0)
  const scope = Scope.makeUnsafe()
  let held = 0
  const resource = Effect.acquireRelease(
    Effect.sync(() => void held++),
    () => Effect.sync(() => void held--)
  )
  const around: Around = { scope, signal: controller.signal, emitter, resource }
  const context = Context.make(Metric.FiberRuntimeMetrics, counting)
  const run = <A, E>(self: Effect.Effect<A, E>): Promise<A> =>
    Effect.runPromise(Effect.provideContext(self, context), { signal: controller.signal })
  const prepared = await run(Scope.provide(prepare(around), scope))
  const useOnce = Effect.scoped(prepared.use)
  const useTimes = async (times: number): Promise<void> => {
    for (let nth = 0; nth < times; nth++) await run(useOnce)
  }
  const counts = async (): Promise<Readonly<Record<string, number>>> => {
    const resources: Record<string, number> = {}
    await settleDown()
    for (const kind of process.getActiveResourcesInfo()) {
      // it ends with the next turn of the event loop: a step of what is under way, such as a worker that looks for runs
      if (kind !== "Immediate") resources[kind] = (resources[kind] ?? 0) + 1
    }
    return {
      ...resources,
      ...(await run(prepared.entries ?? Effect.succeed({}))),
      fibers,
      "listeners of the signal": getEventListeners(controller.signal, "abort").length,
      "listeners of the emitter": listenersOf(emitter),
      "listeners of the process": listenersOf(process),
      finalizers: finalizersOf(scope),
      "resources of tools": held
    }
  }
  const isJudged = !isStore && uses >= leastForHeap
  /** The growth of the heap for each use, in both halves of the uses; nothing where it is not judged. */
  const growth = async (): Promise<readonly [number, number]> => {
    if (!isJudged) return [0, await useTimes(uses).then(() => 0)]
    const half = Math.floor(uses / 2)
    const first = await heap()
    await useTimes(half)
    const middle = await heap()
    await useTimes(uses - half)
    return [(middle - first) / half, ((await heap()) - middle) / (uses - half)]
  }
  await useTimes(Math.min(warmUp, 2 * uses))
  const before = await counts()
  let bytes = await growth()
  const hasGrown = () => isJudged && Math.min(...bytes) > tolerated
  // what the engine compiles and caches is not there again
  for (let nth = 0; nth < 2 && hasGrown(); nth++) bytes = await growth()
  const grownIn = (later: Readonly<Record<string, number>>, earlier: Readonly<Record<string, number>>) =>
    Object.keys(later).filter((kind) => (later[kind] ?? 0) > (earlier[kind] ?? 0))
  const after = await counts()
  let grown = grownIn(after, before)
  // what leaks grows with more uses; the timers of a worker that sleeps between two looks may or may not be there
  if (grown.length > 0) {
    await useTimes(uses)
    const further = grownIn(await counts(), after)
    grown = grown.filter((kind) => further.includes(kind))
  }
  await run(Scope.close(scope, Exit.void))
  const leaks = grown.map((kind) => `${kind}: ${before[kind] ?? 0} before, ${after[kind] ?? 0} after ${uses} uses`)
  if (hasGrown()) {
    leaks.push(`heap: ${bytes.map((each) => Math.round(each)).join(" and ")} bytes for each use`)
  }
  return { name, uses, leaks, bytes, seconds: (performance.now() - begun) / 1000 }
}
