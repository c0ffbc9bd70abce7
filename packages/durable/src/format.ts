/**
 * The format of what is stored of a run: the names of its steps, the keys of its calls, and the digests of its requests. A run keeps the
 * format with which it began.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { leave } from "./leaving.ts"
import { isNoted, lose, note, repeated } from "./losing.ts"
import { record, type Replay } from "./recording.ts"

/**
 * The newest format. In format 1, digests cover the texts that come from code, and these texts are not stored. In format 2, this is so for
 * the texts of results that were cut or put aside.
 */
export const newest = 3

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
    if (format > newest) yield* leave(replay, `format ${format}, this release knows formats up to ${newest}`)
    replay.format.number = format
    return wasBegun
  })
