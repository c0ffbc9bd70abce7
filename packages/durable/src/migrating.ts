/**
 * Runs that began under an earlier version of their agent go on with the current one, by the migrations of their workflow. A replay gives the
 * calls of a reply that was recorded before a migration to the current tools. The migrated calls are recorded once, before they go on.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Message } from "@kintsugi/core"
import type * as RunContext from "@kintsugi/core/RunContext"
import { MigrationError } from "./errors.ts"
import type { CallMigration, Migration } from "./migration.ts"
import { activity, reading, type Replay } from "./recording.ts"

/** What is stored of a migration: the calls, or the tool and the part of its arguments that could not be migrated. */
const Migrated = Schema.Union([
  Schema.Struct({ calls: Schema.Array(Schema.Struct({ name: Schema.String, arguments: Schema.Json })) }),
  Schema.Struct({ tool: Schema.String, field: Schema.String, expected: Schema.String })
])

const decodeMigrated = Schema.decodeUnknownEffect(Schema.toCodecJson(Migrated))

type Called = Pick<Message.ToolCall, "name" | "arguments">

/** Migrates calls that a step has recorded when the workflow had this many migrations. The result is recorded. */
const migrated = <A extends Called>(
  replay: Replay,
  { revision, step }: { readonly revision: number; readonly step: string },
  calls: ReadonlyArray<A>
): Effect.Effect<ReadonlyArray<A>> => {
  const left = replay.migrations.slice(revision)
  if (!left.some((migration) => calls.some(({ name }) => ofTool(migration, name) !== undefined))) {
    return Effect.succeed(calls)
  }
  const name = `${step}/migrated/${replay.migrations.length}`
  const work = Effect.sync((): typeof Migrated.Type => {
    const done: Array<Called> = []
    for (const call of calls) {
      const { arguments: args, name } = call
      let current: Called = { arguments: args, name }
      for (const migration of left) {
        const one = ofTool(migration, current.name)
        const next = one?.migrate(current.arguments)
        if (one === undefined || next === undefined) continue
        if (Result.isFailure(next)) return { tool: current.name, ...next.failure }
        current = { name: one.to, arguments: next.success }
      }
      done.push(current)
    }
    return { calls: done }
  })
  return Effect.gen(function* () {
    // not a step with a time: the calls are older than this record
    const stored = yield* replay.lines.busy(activity(replay, name, work))
    const found = yield* reading(replay, name, decodeMigrated(stored))
    if (!("calls" in found)) {
      const { executionId, instance } = replay
      return yield* Effect.die(MigrationError.make({ workflow: instance.workflow._tag, executionId, step, ...found }))
    }
    return calls.map((call, index) => ({ ...call, ...found.calls[index] }))
  })
}

const ofTool = ({ calls = [] }: Migration, name: string): CallMigration | undefined =>
  calls.find(({ from }) => from === name)

/** Migrates the calls of the latest reply of a run. */
export const migratedCalls =
  (replay: Replay) =>
  (
    run: RunContext.RunContext,
    calls: ReadonlyArray<Message.ToolCall>
  ): Effect.Effect<ReadonlyArray<Message.ToolCall>> => {
    const reply = replay.replies.get(run.runId)
    return reply === undefined ? Effect.succeed(calls) : migrated(replay, reply, calls)
  }

/** Migrates the arguments that a person has edited in the approval of a call. */
export const migratedArguments = (
  replay: Replay,
  { runId, step, tool }: { readonly runId: string; readonly step: string; readonly tool: string },
  edited: Schema.Json
): Effect.Effect<Schema.Json> => {
  const { revision = replay.migrations.length } = replay.replies.get(runId) ?? {}
  const call = { name: tool, arguments: edited }
  return Effect.map(migrated(replay, { revision, step }, [call]), ([found = call]) => found.arguments)
}
