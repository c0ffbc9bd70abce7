/** Where runs are kept that wait for a decision, as JSON: a table of a database, in a backend of more than one process. */
import { Context, Effect, Layer, type Schema } from "effect"
import { StaleDecision, UnknownRun } from "./problems.ts"

/** A row. One run is resumed by one decision at a time; what was decided stays known, so that a second click is no mystery. */
export type Row = { readonly state: "waiting"; readonly document: Schema.Json } | { readonly state: "decided" }

export class Suspended extends Context.Service<
  Suspended,
  {
    readonly put: (runId: string, row: Row) => Effect.Effect<void>
    readonly show: (runId: string) => Effect.Effect<Schema.Json, UnknownRun>
    /** Takes it out, for one who decides; `put` gives it back. */
    readonly take: (runId: string) => Effect.Effect<Schema.Json, UnknownRun | StaleDecision>
  }
>()("examples/backend/Suspended") {}

/** They live as long as the process. */
export const layerMemory: Layer.Layer<Suspended> = Layer.sync(Suspended, () => {
  const rows = new Map<string, Row>()
  return {
    put: (runId, row) => Effect.sync(() => void rows.set(runId, row)),
    show: (runId) =>
      Effect.suspend(() => {
        const row = rows.get(runId)
        return row?.state === "waiting" ? Effect.succeed(row.document) : Effect.fail(new UnknownRun({ runId }))
      }),
    take: (runId) =>
      Effect.gen(function* () {
        const row = rows.get(runId)
        if (row === undefined) return yield* new UnknownRun({ runId })
        if (row.state === "decided") return yield* new StaleDecision({ runId, requests: [] })
        rows.set(runId, { state: "decided" })
        return row.document
      })
  }
})
