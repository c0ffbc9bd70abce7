/**
 * The format of what is stored of a run: the names of its steps, the keys of its calls, and the digests of its requests. A run keeps the
 * format with which it began.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Workflow from "effect/workflow/Workflow"
import { isNoted, lose, note, repeated } from "./losing.ts"
import { record, type Replay } from "./recording.ts"

/** The newest format. In format 1, digests cover the texts that come from code, and these texts are not stored. */
export const newest = 2

/** The row with which a run begins: its instant and its format. In format 1, it is the instant alone. */
const Begin = Schema.Union([Schema.Finite, Schema.Struct({ at: Schema.Finite, format: Schema.Finite })])

/** Records that the run begins, and takes the format with which it began. Returns whether it had begun before. */
export const begin = (replay: Replay, marked: Effect.Effect<void>): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const { clock, lines } = replay
    const wasBegun = yield* isNoted(replay, "begin")
    const now = () => (wasBegun ? repeated.instant : clock.currentTimeMillisUnsafe())
    const work = Effect.map(marked, () => ({ at: now(), format: newest }))
    const begun = yield* record(replay, { line: lines.root, name: "begin", value: Begin, error: Schema.Never, work })
    const { at, format } = Predicate.isNumber(begun) ? { at: begun, format: 1 } : begun
    if (at === repeated.instant) return yield* lose(replay, "what was recorded of its steps")
    if (!wasBegun) yield* note(replay, "begin")
    if (format > newest) yield* leave(replay, format)
    replay.format.number = format
    return wasBegun
  })

/**
 * Suspends a run that a newer release has begun, because a replay by this release would damage it. It waits for a process of that release.
 */
const leave = ({ executionId, instance }: Replay, format: number): Effect.Effect<never> => {
  const what = `Run '${executionId}' of workflow '${instance.workflow._tag}' was begun by a newer release`
  const why = `(format ${format}, this release knows formats up to ${newest})`
  const help = "It waits: serve its workflow by that release, and wake the run by Durable.resume"
  return Effect.andThen(Effect.logError(`${what} ${why}. ${help}`), Workflow.suspend(instance))
}
