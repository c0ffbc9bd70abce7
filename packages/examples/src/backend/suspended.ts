/** The store of suspended runs, as JSON: a table of a database, in a backend of more than one process. */
import { Clock, Context, Duration, Effect, Layer, type Schema } from "effect"
import { ExpiredRun, StaleDecision, UnknownRun } from "./problems.ts"

/** A row. One decision at a time resumes a run. A decided run keeps its row, so that a second click gets an answer. */
export type Row = ({ readonly state: "waiting" } & Stored) | { readonly state: "decided" }

export interface Stored {
  readonly document: Schema.Json
  /** Whose run it is, if that is known. */
  readonly user?: string | undefined
}

export class Suspended extends Context.Service<
  Suspended,
  {
    readonly put: (runId: string, row: Row) => Effect.Effect<void>
    /** The runs of a user, the oldest first. */
    readonly list: (user: string) => Effect.Effect<ReadonlyArray<Schema.Json>>
    readonly show: (runId: string) => Effect.Effect<Schema.Json, UnknownRun | ExpiredRun>
    /** Takes a run out for a decision; `put` gives it back. */
    readonly take: (runId: string) => Effect.Effect<Stored, UnknownRun | ExpiredRun | StaleDecision>
  }
>()("examples/backend/Suspended") {}

/** The longest wait of a run, and the most runs that wait at a time: runs beyond these limits expire, the oldest first. */
export interface Limits {
  readonly age: Duration.Duration
  readonly count: number
}

export const limits: Limits = { age: Duration.days(7), count: 1000 }

interface Waiting extends Stored {
  readonly since: number
}

/** Runs live as long as the process, within the limits. As many ids of runs that no longer wait are stored besides. */
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
        if (row !== undefined) return Effect.succeed(row)
        return Effect.fail(past.get(runId) === "expired" ? new ExpiredRun({ runId }) : new UnknownRun({ runId }))
      })
    return {
      put: (runId, row) =>
        Effect.gen(function* () {
          const since = yield* Clock.currentTimeMillis
          if (row.state === "decided") return remember(runId, "decided")
          past.delete(runId)
          waiting.delete(runId)
          waiting.set(runId, { since, document: row.document, user: row.user })
          yield* swept
        }),
      list: (user) =>
        Effect.map(swept, () => [...waiting.values()].flatMap((row) => (row.user === user ? [row.document] : []))),
      show: (runId) => Effect.map(found(runId), ({ document }) => document),
      take: (runId) =>
        Effect.gen(function* () {
          if (past.get(runId) === "decided") return yield* new StaleDecision({ runId, requests: [], answers: [] })
          const { document, user } = yield* found(runId)
          remember(runId, "decided")
          return { document, user }
        })
    }
  })

/** With these limits. */
export const layerMemory: Layer.Layer<Suspended> = layerMemoryOf(limits)
