/** Watches what listeners leave behind. */
import { Clock, Context, Effect, Fiber, Layer, Logger, Metric, References } from "effect"

export const now = Clock.currentTimeMillis

/** The virtual clock warns of a test that takes a second of real time, which a busy machine may. */
const isOurs = (message: string) => !message.startsWith("A test is using time")

/**
 * Collects warnings and adds up how many events they say were lost, counts the fibers that were started below and have not ended, and
 * notes when the effect ended and how many fibers were left then, its own not counted.
 */
export const watched = <A, E, R>(self: Effect.Effect<A, E, R>) => {
  const seen = { warnings: [] as Array<string>, lost: 0, fibers: 0, endedAt: -1, fibersAtEnd: -1 }
  const metrics: Metric.FiberRuntimeMetricsService = {
    recordFiberStart: () => void seen.fibers++,
    recordFiberEnd: () => void seen.fibers--
  }
  const logger = Logger.make(({ fiber, message }) => {
    const text = String(message)
    if (!isOurs(text)) return
    seen.warnings.push(text)
    seen.lost += Number(fiber.getRef(References.CurrentLogAnnotations)["lost"] ?? 0)
  })
  const timed = Effect.onExit(self, () =>
    Effect.map(now, (at) => {
      seen.endedAt = at
      seen.fibersAtEnd = seen.fibers - 1
    })
  )
  const effect = Effect.forkChild(timed).pipe(
    Effect.flatMap(Fiber.join),
    Effect.provideService(Metric.FiberRuntimeMetrics, metrics),
    Effect.provide(Logger.layer([logger]))
  )
  return { effect, seen }
}

export class Db extends Context.Service<Db, { readonly write: (row: string) => Effect.Effect<void> }>()("test/Db") {}

/** A database that notes what is written, and that it was closed. */
export const database = () => {
  const rows: Array<string> = []
  const connect = Effect.succeed({ write: (row: string) => Effect.sync(() => void rows.push(row)) })
  const layer = Layer.effect(
    Db,
    Effect.acquireRelease(connect, () => Effect.sync(() => rows.push("closed")))
  )
  return { rows, layer }
}
