/**
 * The rows of a run that the engine of `effect/cluster` stores: one message for each run, step and decision, and the reply to each. Rows
 * may be deleted by hand; then the engine waits for a reply that never comes.
 */
import type { EntityAddress } from "effect/cluster/EntityAddress"
import type { MessageStorage } from "effect/cluster/MessageStorage"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Workflow from "effect/workflow/Workflow"

/** The storage of the engine, by its key: an engine without a cluster has none, and loads nothing of it. */
class Storage extends Context.Service<Storage, MessageStorage["Service"]>()("effect/cluster/MessageStorage") {}

/** Rows of one run. */
export interface Rows {
  /** Whether there is a message; false if the storage cannot be read just now. */
  readonly has: (tag: Tag, id: string) => Effect.Effect<boolean>
  /** Whether a message was replied to, and the reply is gone. */
  readonly isLost: (tag: Tag, id: string) => Effect.Effect<boolean>
}

/** The subject of a message: the run, with the id `""`, or one of its steps, with its attempt. */
type Tag = "run" | "activity"

/** The message of a step that is an activity. */
export const stepId = (name: string): string => `${name}/1`

/** The rows of a run, where the storage of its engine is in the context. */
export const rowsOf = (workflow: Workflow.Any, executionId: string): Effect.Effect<Rows | undefined> =>
  Effect.map(Effect.serviceOption(Storage), (found) => {
    if (Option.isNone(found)) return undefined
    const storage = found.value
    // of an address, storage reads these two for the key of a message
    const address = { entityType: `Workflow/${workflow._tag}`, entityId: executionId } as EntityAddress
    const idOf = (tag: Tag, id: string) => storage.requestIdForPrimaryKey({ address, tag, id })
    const seemsLost = (tag: Tag, id: string) =>
      Effect.gen(function* () {
        const message = yield* idOf(tag, id)
        if (Option.isNone(message)) return false
        const isAnswered = Effect.map(storage.repliesForUnfiltered([message.value]), ({ length }) => length > 0)
        if (yield* isAnswered) return false
        const waiting = yield* storage.unprocessedMessagesById([message.value])
        // it may have been answered meanwhile
        return waiting.length === 0 && !(yield* isAnswered)
      }).pipe(Effect.orElseSucceed(() => false))
    return {
      has: (tag, id) => Effect.orElseSucceed(Effect.map(idOf(tag, id), Option.isSome), () => false),
      isLost: (tag, id) =>
        Effect.gen(function* () {
          if (!(yield* seemsLost(tag, id))) return false
          // an engine that begins a message again takes its reply away first
          yield* Effect.sleep("2 seconds")
          return yield* seemsLost(tag, id)
        })
    }
  })
