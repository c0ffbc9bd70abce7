/** Shortens the conversation of a request that was too long. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Compaction from "../recovery/Compaction.ts"
import type * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import { ownerAbove } from "../budget/Meter.ts"
import { type Compacted, untouchable } from "../recovery/Driver.ts"

/** Hands on a conversation that has become shorter. A limit of the run is no failure of the compaction: it ends the run. */
export const compacting = <R>(
  compaction: Compaction.Compaction<R>,
  overflow: Compaction.Overflow,
  run: RunContext.RunContext | undefined,
  take: (messages: Message.Transcript) => void
): Effect.Effect<Compacted, never, R> => {
  // one whose own conversation is too long is not started within itself
  if (run?.fixers.includes(compaction) === true) return Effect.succeed(gaveUp)
  const { transcript } = overflow
  const making = Effect.suspend(() => compaction.compact({ ...overflow, transcript: [...transcript] }))
  const within =
    run === undefined
      ? making
      : Effect.provideService(making, RunContext.Current, {
          ...run,
          fixers: [...run.fixers, compaction],
          isCompacting: true
        })
  return Effect.matchCauseEffect(within, {
    onSuccess: (messages): Effect.Effect<Compacted> => {
      const before = Compaction.sizeOf(transcript)
      const after = Compaction.sizeOf(messages)
      if (after.characters >= before.characters) return Effect.succeed(gaveUp)
      take(messages)
      const { name } = compaction
      return Effect.as(
        RunContext.emit(run, () => ({ type: "compacted", compaction: name, before, after, transcript: [...messages] })),
        { type: "shorter" }
      )
    },
    onFailure: (cause): Effect.Effect<Compacted> => {
      const passing = untouchable(cause)
      if (passing !== undefined) return Effect.failCause(passing)
      const error = Cause.squash(cause)
      const isFatal = run !== undefined && ownerAbove(error, run.meter) !== undefined
      return Effect.succeed({ type: isFatal ? "fatal" : "gave up", error })
    }
  })
}

const gaveUp: Compacted = { type: "gave up" }
