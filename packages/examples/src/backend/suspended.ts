/** Where runs are kept that wait for a decision, as JSON: a table of a database, in a backend of more than one process. */
import { Clock, Context, Duration, Effect, Layer, type Schema } from "effect"
import { ExpiredRun, StaleDecision, UnknownRun } from "./problems.ts"

/** A row. One run is resumed by one decision at a time; what was decided stays known, so that a second click is no mystery. */
export type Row = { readonly state: "waiting"; readonly document: Schema.Json } | { readonly state: "decided" }

export class Suspended extends Context.Service<
  Suspended,
  {
    readonly put: (runId: string, row: Row) => Effect.Effect<void>
    readonly show: (runId: string) => Effect.Effect<Schema.Json, UnknownRun | ExpiredRun>
    /** Takes it out, for one who decides; `put` gives it back. */
    readonly take: (runId: string) => Effect.Effect<Schema.Json, UnknownRun | ExpiredRun | StaleDecision>
  }
>()("examples/backend/Suspended") {}

/** How long a run waits, and how many wait at a time: what is beyond either has expired, the oldest first. */
export interface Limits {
  readonly age: Duration.Duration
  readonly count: number
}

export const limits: Limits = { age: Duration.days(7), count: 1000 }

interface Waiting {
  readonly since: number
  readonly document: Schema.Json
}

/** They live as long as the process, and no longer than the limits say. Of those that wait no more, as many are known by their ids. */
export const layerMemoryOf = ({ age, count }: Limits): Layer.Layer<Suspended> =>
  Layer.sync(Suspended, () => {
    // both are in the order in which their rows came
    const waiting = new Map<string, Waiting>()
    const past = new Map<string, "decided" | "expired">()

    const remember = (runId: string, as: "decided" | "expired") => {
      waiting.delete(runId)
      past.delete(runId)
      past.set(runId, as)
      const [oldest] = past.keys()
      if (past.size > count && oldest !== undefined) past.delete(oldest)
    }
    const swept = Effect.map(Clock.currentTimeMillis, (now) => {
      for (const [runId, { since }] of waiting) {
        if (waiting.size <= count && now - since < Duration.toMillis(age)) break
        remember(runId, "expired")
      }
      return now
    })
    const found = (runId: string) =>
      Effect.flatMap(swept, () => {
        const row = waiting.get(runId)
        if (row !== undefined) return Effect.succeed(row.document)
        return Effect.fail(past.get(runId) === "expired" ? new ExpiredRun({ runId }) : new UnknownRun({ runId }))
      })
    return {
      put: (runId, row) =>
        Effect.gen(function* () {
          const since = yield* Clock.currentTimeMillis
          if (row.state === "decided") return remember(runId, "decided")
          past.delete(runId)
          waiting.delete(runId)
          waiting.set(runId, { since, document: row.document })
          yield* swept
        }),
      show: found,
      take: (runId) =>
        Effect.gen(function* () {
          if (past.get(runId) === "decided") return yield* new StaleDecision({ runId, requests: [] })
          const document = yield* found(runId)
          remember(runId, "decided")
          return document
        })
    }
  })

/** With these limits. */
export const layerMemory: Layer.Layer<Suspended> = layerMemoryOf(limits)
