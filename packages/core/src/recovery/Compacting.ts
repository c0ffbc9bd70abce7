/** Runs one compaction of a conversation that is too long for a model. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { sizeOf } from "./Compaction.ts"
import * as Message from "../data/Message.ts"
import * as Returned from "../data/Returned.ts"
import type { Compact, Compacted } from "./Node.ts"
import { untouchable } from "./Layer.ts"

/**
 * Runs a compaction and passes a shorter conversation to `take`. If the result is not shorter or the compaction fails, it gives up. A limit
 * of the run is no such failure: it ends the run.
 */
export const run: Compact["run"] = ({ compact, name }, overflow, helping, take) => {
  // an agent that compacts may itself have a conversation that is too long; it does not start itself again
  if (helping.isAtWork) return Effect.succeed(gaveUp)
  const { transcript } = overflow
  return Effect.matchCauseEffect(
    helping.within(() =>
      Returned.effect(compact({ ...overflow, transcript: [...transcript] }), "The function of compaction", name)
    ),
    {
      onSuccess: (messages): Effect.Effect<Compacted> => {
        const before = sizeOf(transcript)
        const after = sizeOf(messages)
        if (after.characters >= before.characters) return Effect.succeed(gaveUp)
        take(messages)
        return helping.emitThen(
          () => ({
            type: "compacted",
            compaction: name,
            before,
            after,
            transcript: Message.withoutWithheld([...messages])
          }),
          () => Effect.succeed({ type: "shorter" })
        )
      },
      onFailure: (cause): Effect.Effect<Compacted> => {
        const passing = untouchable(cause)
        return passing === undefined
          ? Effect.succeed({ type: "gave up", error: Cause.squash(cause) })
          : Effect.failCause(passing)
      }
    }
  )
}

const gaveUp: Compacted = { type: "gave up" }
