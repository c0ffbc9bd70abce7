/**
 * Reads the rows that the engine of `effect/cluster` stores for a run: one message for the run, for each step and for each decision, and
 * the reply to each. If the rows are deleted by hand, the engine waits for a reply that never comes.
 */
import type { EntityAddress } from "effect/cluster/EntityAddress"
import type { MessageStorage } from "effect/cluster/MessageStorage"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Workflow from "effect/workflow/Workflow"

/**
 * The message storage of the engine, found by its key alone, so that this module loads nothing of the cluster. An engine without a cluster
 * has no such storage.
 */
class Storage extends Context.Service<Storage, MessageStorage["Service"]>()("effect/cluster/MessageStorage") {}

/** Looks for the rows of one run. */
export interface Rows {
  /** Whether a message is stored; `false` if the storage cannot be read at the moment. */
  readonly has: (tag: Tag, id: string) => Effect.Effect<boolean>
  /** Whether the storage counts a message as replied to, although the reply is gone. */
  readonly isLost: (tag: Tag, id: string) => Effect.Effect<boolean>
}

/** The subject of a message: `run` with the id `""`, or `activity` with the id of a step. */
type Tag = "run" | "activity"

/** The id of the message of a step, which is the first attempt of an activity. */
export const stepId = (name: string): string => `${name}/1`

/** The reader for the rows of a run; `undefined` if the context has no message storage. */
export const rowsOf = (workflow: Workflow.Any, executionId: string): Effect.Effect<Rows | undefined> =>
  Effect.map(Effect.serviceOption(Storage), (found) => {
    if (Option.isNone(found)) return undefined
    const storage = found.value
    // cast: for the key of a message, the storage reads only these two fields of an address
    const address = { entityType: `Workflow/${workflow._tag}`, entityId: executionId } as EntityAddress
    const idOf = (tag: Tag, id: string) => storage.requestIdForPrimaryKey({ address, tag, id })
    const seemsLost = (tag: Tag, id: string) =>
      Effect.gen(function* () {
        const message = yield* idOf(tag, id)
        if (Option.isNone(message)) return false
        const isAnswered = Effect.map(storage.repliesForUnfiltered([message.value]), ({ length }) => length > 0)
        if (yield* isAnswered) return false
        const waiting = yield* storage.unprocessedMessagesById([message.value])
        // a reply may have come between the two looks
        return waiting.length === 0 && !(yield* isAnswered)
      }).pipe(Effect.orElseSucceed(() => false))
    return {
      has: (tag, id) => Effect.orElseSucceed(Effect.map(idOf(tag, id), Option.isSome), () => false),
      isLost: (tag, id) =>
        Effect.gen(function* () {
          if (!(yield* seemsLost(tag, id))) return false
          // an engine that begins a message again first deletes its reply, so look a second time
          yield* Effect.sleep("2 seconds")
          return yield* seemsLost(tag, id)
        })
    }
  })
