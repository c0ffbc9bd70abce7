/** The store of runs that wait, as JSON. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import { firstOfMost } from "./crowded.ts"

/** Which run, of which agent and subject. */
export interface SuspendedKey {
  readonly agent: string
  readonly subject: string
  readonly run: string
}

/** A run that waits. */
export interface SuspendedRun {
  /** The JSON of its input. */
  readonly asked: string
  /** What `Agent.resume` goes on from. It has what no client may read. */
  readonly snapshot: Schema.Json
  /** Whether it has gone on before, and failed before a tool had begun. */
  readonly repeat: boolean
  /** The ids of the messages that it has read or will read. */
  readonly said?: ReadonlyArray<string>
}

/** The runs that wait. It has those of all agents of a program. A store that cannot be reached is a defect. */
export class SuspendedRuns extends Context.Service<
  SuspendedRuns,
  {
    readonly put: (key: SuspendedKey, run: SuspendedRun) => Effect.Effect<void>
    readonly get: (key: SuspendedKey) => Effect.Effect<SuspendedRun | undefined>
    readonly remove: (key: SuspendedKey) => Effect.Effect<void>
    /** The runs of a subject. */
    readonly list: (
      of: Omit<SuspendedKey, "run">
    ) => Effect.Effect<ReadonlyArray<SuspendedRun & { readonly run: string }>>
  }
>()("@kintsugi/interop/SuspendedRuns") {}

/** The limits of the store in memory. */
export interface SuspendedLimits {
  /** How long a run waits at most; 7 days by default. */
  readonly maxAge?: Duration.Input
  /** How many runs wait at most; 1000 by default. Beyond it, the oldest run of the subject that has the most is dropped. */
  readonly maxRuns?: number
}

/** In this process. The runs are gone with it. */
export const layerSuspendedMemory = ({
  maxAge = "7 days",
  maxRuns = 1000
}: SuspendedLimits = {}): Layer.Layer<SuspendedRuns> =>
  Layer.sync(SuspendedRuns, () => {
    const age = Duration.toMillis(maxAge)
    /** In the order in which they came. */
    const rows = new Map<string, { readonly key: SuspendedKey; readonly run: SuspendedRun; readonly since: number }>()
    const at = ({ agent, run, subject }: SuspendedKey): string => JSON.stringify([agent, subject, run])
    const swept = Effect.map(Clock.currentTimeMillis, (now) => {
      for (const [location, { since }] of rows) {
        if (now - since < age) break
        rows.delete(location)
      }
      while (rows.size > maxRuns) {
        const dropped = firstOfMost(rows.values(), ({ key }) => key.subject)
        if (dropped === undefined) break
        rows.delete(at(dropped.key))
      }
    })
    return {
      put: (key, run) =>
        Effect.flatMap(Clock.currentTimeMillis, (since) => {
          rows.delete(at(key))
          rows.set(at(key), { key, run, since })
          return swept
        }),
      get: (key) => Effect.map(swept, () => rows.get(at(key))?.run),
      remove: (key) => Effect.sync(() => void rows.delete(at(key))),
      list: ({ agent, subject }) =>
        Effect.map(swept, () =>
          [...rows.values()].flatMap(({ key, run }) =>
            key.agent === agent && key.subject === subject ? [{ ...run, run: key.run }] : []
          )
        )
    }
  })
