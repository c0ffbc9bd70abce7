/**
 * Runs that began under an earlier version of their agent go on with the current one, by the migrations of their workflow. A replay gives the
 * calls of a reply that was recorded before a migration to the current tools. The migrated calls are recorded once, before they go on.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Message } from "@kintsugi/core"
import type * as Interception from "@kintsugi/core/Interception"
import { MigrationError } from "./errors.ts"
import type { CallMigration, Migration } from "./migration.ts"
import { activity, reading, type Replay } from "./recording.ts"

/** What is stored of a call: `null` if it stays. */
const Migrated = Schema.NullOr(
  Schema.Struct({ name: Schema.String, arguments: Schema.Json, numbers: Schema.Array(Schema.String) })
)

/** What is stored of a migration: the calls, or the tool and the part of its arguments that could not be migrated. */
const Stored = Schema.Union([
  Schema.Struct({ calls: Schema.Array(Migrated) }),
  Schema.Struct({ tool: Schema.String, field: Schema.String, expected: Schema.String })
])

const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(Stored))

type Called = Pick<Message.ToolCall, "name" | "arguments">

/** What becomes of calls that a step has recorded when the workflow had this many migrations; `undefined` for a call that stays. */
const migrated = (
  replay: Replay,
  { revision, step }: { readonly revision: number; readonly step: string },
  calls: ReadonlyArray<Called>
): Effect.Effect<ReadonlyArray<Exclude<typeof Migrated.Type, null> | undefined>> => {
  const left = replay.migrations.slice(revision)
  if (!left.some((migration) => calls.some(({ name }) => ofTool(migration, name) !== undefined))) {
    return Effect.succeed([])
  }
  const name = `${step}/migrated/${replay.migrations.length}`
  const work = Effect.sync((): typeof Stored.Type => {
    const done: Array<typeof Migrated.Type> = []
    for (const call of calls) {
      let found: typeof Migrated.Type = null
      for (const migration of left) {
        const current: Called = found ?? call
        const one = ofTool(migration, current.name)
        const next = one?.migrate(current.arguments)
        // Mutant `false` for `next === undefined` survives: what migrates a call gives something
        if (one === undefined || next === undefined) continue
        if (Result.isFailure(next)) return { tool: current.name, ...next.failure }
        // the numbers are those of the recorded call
        const { numbers }: Pick<typeof next.success, "numbers"> = found ?? next.success
        found = { name: one.to, arguments: next.success.arguments, numbers }
      }
      done.push(found)
    }
    return { calls: done }
  })
  return Effect.gen(function* () {
    // not a step with a time: the calls are older than this record
    const stored = yield* replay.lines.busy(activity(replay, name, work))
    const found = yield* reading(replay, name, decode(stored))
    if ("calls" in found) return found.calls.map((call) => call ?? undefined)
    const { executionId, instance } = replay
    return yield* Effect.die(MigrationError.make({ workflow: instance.workflow._tag, executionId, step, ...found }))
  })
}

const ofTool = ({ calls = [] }: Migration, name: string): CallMigration | undefined =>
  calls.find(({ from }) => from === name)

/** Migrates the calls of the latest reply of a run. */
export const migratedCalls =
  (replay: Replay): NonNullable<Interception.Interceptor["migrated"]> =>
  (run, calls) => {
    const reply = replay.replies.get(run.runId)
    return reply === undefined ? Effect.succeed([]) : migrated(replay, reply, calls)
  }

/** Migrates the arguments that a person has edited in the approval of a call. */
export const migratedArguments = (
  replay: Replay,
  { runId, step, tool }: { readonly runId: string; readonly step: string; readonly tool: string },
  edited: Schema.Json
): Effect.Effect<Schema.Json> => {
  const { revision = replay.migrations.length } = replay.replies.get(runId) ?? {}
  return Effect.map(
    migrated(replay, { revision, step }, [{ name: tool, arguments: edited }]),
    ([found]) => found?.arguments ?? edited
  )
}
