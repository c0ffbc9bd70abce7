/**
 * Counts the fibers that a run forks and the objects that it allocates; `test/repository/allocations.process.test.ts` holds them to limits.
 *
 *   node --no-opt --no-sparkplug scripts/allocations.ts
 *
 * Without the optimising compilers each allocation happens as it is written, so that the counts are nearly the same each time.
 */
import { Session } from "node:inspector"
import * as Effect from "effect/Effect"
import { plays } from "./trips/plays.ts"

const RUNS = 50

interface Node {
  readonly children: ReadonlyArray<Node>
  readonly selfSize: number
}

/** The next number of a fiber: each fiber gets one. */
const nextFiber = (): number => {
  const fiber = Effect.runFork(Effect.void)
  return fiber.id
}

const session = new Session()
session.connect()

const posted = <A>(method: string, parameters: object = {}): Promise<A> =>
  new Promise((resolve, reject) =>
    session.post(method, parameters, (error: Error | null, result?: unknown) =>
      error === null ? resolve(result as A) : reject(error)
    )
  )

const sizeOf = (node: Node): number => node.children.reduce((sum, child) => sum + sizeOf(child), node.selfSize)

/** What one run of a play takes on average, after runs that warm caches up. */
const measure = async (play: () => Promise<unknown>) => {
  for (let run = 0; run < 20; run++) await play()
  const before = nextFiber()
  await play()
  const fibers = nextFiber() - before - 1
  await posted("HeapProfiler.startSampling", {
    samplingInterval: 16,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true
  })
  for (let run = 0; run < RUNS; run++) await play()
  const { profile } = await posted<{ readonly profile: { readonly head: Node } }>("HeapProfiler.stopSampling")
  return { fibers, bytes: Math.round(sizeOf(profile.head) / RUNS) }
}

const counted: Record<string, { readonly fibers: number; readonly bytes: number }> = {}
for (const [name, play] of Object.entries(plays)) counted[name] = await measure(play)
process.stdout.write(`${JSON.stringify(counted, null, 2)}\n`)
