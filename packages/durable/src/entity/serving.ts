/** What the entity of a conversation does when it is asked. It answers one question at a time, and none of them waits for a run. */
import { CurrentAddress } from "effect/cluster/Entity"
import * as Effect from "effect/Effect"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { Message } from "@kintsugi/core"
import { Conversations, type ConversationStoreError, type Store } from "../Conversations.ts"
import * as Durable from "../Durable.ts"
import { patiently, type AgentVersions } from "./answering.ts"
import { atWorkIn, beginning } from "./beginning.ts"
import { ConversationBusyError, UnknownMessageError } from "./errors.ts"
import type { MessageState } from "./protocol.ts"
import { type Item, queueOf } from "./queue.ts"

/** The bounds of a conversation. */
export interface Bounds {
  readonly capacity: number
  readonly retryAfter: number
}

interface Said {
  readonly subject: string
  readonly id: string
  readonly message: string | Message.UserContent
}

const serving = (
  conversation: string,
  {
    versions,
    store,
    engine,
    bounds
  }: {
    readonly versions: AgentVersions
    readonly store: Store
    readonly engine: WorkflowEngine["Service"]
    readonly bounds: Bounds
  }
) => {
  const queue = queueOf(store, conversation)
  const { begin, check, looking, onEngine, over } = beginning(conversation, { versions, queue, engine })
  const own = (subject: string) => store.load({ conversation, subject, limit: 0 })
  /** Makes the conversation if it is not there: from then on it belongs to the subject. */
  const owned = (subject: string) =>
    Effect.catchTag(own(subject), "UnknownConversationError", () =>
      Effect.andThen(
        Effect.catchTag(
          store.append({ conversation, subject, expected: 0, messages: [] }),
          "ConflictError",
          () => Effect.void
        ),
        own(subject)
      )
    )
  const busy = Effect.suspend(() =>
    Effect.fail(ConversationBusyError.make({ conversation, reason: "queue", retryAfter: bounds.retryAfter }))
  )

  /** What has become of a message; `undefined` if the conversation does not have it. */
  const stateOf = (items: ReadonlyArray<Item>, id: string) =>
    Effect.suspend((): Effect.Effect<MessageState | undefined, ConversationStoreError> => {
      const before = items.findIndex((item) => item.id === id)
      const item = items[before]
      if (item === undefined) return queue.markOf(id)
      if (item.begun === undefined) return Effect.succeed({ _tag: "Waiting", before })
      const { executionId, workflow } = item.begun
      return Effect.succeed({ _tag: versions.all.has(workflow) ? "Working" : "Unserved", executionId, workflow })
    })

  const enqueue = ({ id, message, subject }: Said, since: number) =>
    Effect.gen(function* () {
      const items = yield* queue.all
      const before = yield* stateOf(items, id)
      if (before === undefined) {
        if (items.filter(({ begun }) => begun === undefined).length >= bounds.capacity) return yield* busy
        const item = { id, message, subject, since, nth: Math.max(0, ...items.map(({ nth }) => nth)) + 1 }
        yield* check(item)
        yield* queue.put(item)
      } else if (!items.some((item) => item.id === id)) return before
      yield* begin
      const after = yield* stateOf(yield* queue.all, id)
      return after ?? ({ _tag: "Refused" } as const)
    })

  const waiting = (id: string) =>
    Effect.flatMap(queue.all, (items) => {
      const item = items.find((one) => one.id === id && one.begun === undefined)
      return item === undefined ? Effect.fail(UnknownMessageError.make({ conversation, id })) : Effect.succeed(item)
    })

  return {
    begin,
    send: (said: Said) => Effect.flatMap(owned(said.subject), ({ createdAt }) => enqueue(said, createdAt)),
    say: (said: Said & { readonly message: string }) =>
      Effect.gen(function* () {
        const { createdAt: since } = yield* owned(said.subject)
        const items = yield* queue.all
        const { id, message, subject } = said
        const before = yield* stateOf(items, id)
        if (before !== undefined) return before
        const atWork = atWorkIn(versions, items)
        if (atWork === undefined) return yield* enqueue(said, since)
        const { begun, item, version } = atWork
        // what the run does not read comes next, as a message of its own
        yield* check({ id, subject, since, message: Message.user(message).content, nth: item.nth })
        const saying = onEngine(Durable.say(version.runs, { executionId: begun.executionId, id, message }))
        const steered = { _tag: "Steered", by: item.id } as const
        return yield* Effect.matchEffect(saying, {
          onSuccess: () => Effect.as(queue.mark(id, steered), steered),
          onFailure: (error) => (error._tag === "InboxFullError" ? busy : enqueue(said, since))
        })
      }),
    interrupt: ({ dropQueue, subject }: { readonly subject: string; readonly dropQueue: boolean }) =>
      Effect.gen(function* () {
        yield* own(subject)
        const items = yield* queue.all
        if (dropQueue) {
          for (const item of items) {
            if (item.begun === undefined) yield* queue.end(item.id, { _tag: "Withdrawn" })
            else yield* queue.put({ ...item, dropsUnread: true })
          }
        }
        const atWork = atWorkIn(versions, items)
        if (atWork === undefined) return false
        // a run that is lost, or over, has nothing to stop
        yield* Effect.ignore(onEngine(Durable.interrupt(atWork.version.runs, atWork.begun.executionId)))
        return true
      }),
    queued: ({ subject }: { readonly subject: string }) =>
      Effect.andThen(
        own(subject),
        Effect.map(queue.all, (items) =>
          items.map(({ begun, id, message }) => ({ id, isAtWork: begun !== undefined, message }))
        )
      ),
    edit: ({ id, message, subject }: Said) =>
      Effect.gen(function* () {
        yield* own(subject)
        const item = { ...(yield* waiting(id)), message }
        yield* check(item)
        yield* queue.put(item)
      }),
    withdraw: ({ id, subject }: Omit<Said, "message">) =>
      Effect.gen(function* () {
        yield* own(subject)
        yield* waiting(id)
        yield* queue.end(id, { _tag: "Withdrawn" })
      }),
    state: ({ id, subject }: Omit<Said, "message">) =>
      Effect.gen(function* () {
        yield* own(subject)
        const found = yield* stateOf(yield* looking(id), id)
        return found ?? (yield* Effect.fail(UnknownMessageError.make({ conversation, id })))
      }),
    over: ({ executionId }: { readonly executionId: string }) => patiently(over(executionId))
  }
}

/** The handlers of the entity. When the entity wakes, it looks whether a message waits whose run a dead process has not begun. */
export const handlers = (versions: AgentVersions, bounds: Bounds) =>
  Effect.gen(function* () {
    const { entityId } = yield* CurrentAddress
    const store = yield* Conversations
    const engine = yield* WorkflowEngine
    const { begin, ...all } = serving(entityId, { versions, store, engine, bounds })
    yield* patiently(begin)
    return {
      send: ({ payload }: { readonly payload: Said }) => all.send(payload),
      say: ({ payload }: { readonly payload: Said & { readonly message: string } }) => all.say(payload),
      interrupt: ({ payload }: { readonly payload: Parameters<typeof all.interrupt>[0] }) => all.interrupt(payload),
      queued: ({ payload }: { readonly payload: { readonly subject: string } }) => all.queued(payload),
      edit: ({ payload }: { readonly payload: Said }) => all.edit(payload),
      withdraw: ({ payload }: { readonly payload: Omit<Said, "message"> }) => all.withdraw(payload),
      state: ({ payload }: { readonly payload: Omit<Said, "message"> }) => all.state(payload),
      over: ({ payload }: { readonly payload: { readonly executionId: string } }) => all.over(payload)
    }
  })
