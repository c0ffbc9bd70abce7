/** What the entity of a conversation does when it is asked. It answers one question at a time, and none of them waits for a run. */
import { CurrentAddress } from "effect/cluster/Entity"
import * as Effect from "effect/Effect"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import type { Message } from "@kintsugi/core"
import { Conversations, type Store } from "../Conversations.ts"
import * as Durable from "../Durable.ts"
import { isOver, knowing } from "../knowing.ts"
import { type Messages, patiently, runIdOf, type Runs } from "./answering.ts"
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

const states = { ended: "Ended", withdrawn: "Withdrawn", steered: "Steered" } as const

const serving = (
  conversation: string,
  {
    runs,
    messages,
    store,
    engine,
    bounds
  }: {
    readonly runs: Runs
    readonly messages: Messages
    readonly store: Store
    readonly engine: WorkflowEngine["Service"]
    readonly bounds: Bounds
  }
) => {
  const queue = queueOf(store, conversation)
  const own = (subject: string) => store.load({ conversation, subject, limit: 0 })
  /** Makes the conversation if it is not there: from then on it belongs to the subject. */
  const owned = (subject: string) =>
    Effect.catchTag(own(subject), "UnknownConversationError", () =>
      Effect.catchTag(
        store.append({ conversation, subject, expected: 0, messages: [] }),
        "ConflictError",
        () => Effect.void
      )
    )
  const onEngine = <A, E>(self: Effect.Effect<A, E, WorkflowEngine>) =>
    Effect.provideService(self, WorkflowEngine, engine)
  const executionIdOf = (id: string) =>
    runs.workflow.executionId({ id: runIdOf({ conversation, id }), input: { from: [], input: "" } })

  /** Begins the run of the first message, or finds that it has begun. */
  const begin: Effect.Effect<void, Effect.Error<ReturnType<typeof queue.end>>> = Effect.gen(function* () {
    const [first] = yield* queue.all
    if (first === undefined) return
    const mark = yield* queue.markOf(first.id)
    if (mark !== undefined && !first.isAtWork) {
      yield* queue.end(first.id, mark)
      return yield* begin
    }
    const { id, message, subject } = first
    if (!first.isAtWork) yield* queue.put({ ...first, isAtWork: true })
    else if (yield* isOver(engine, runs.workflow, yield* executionIdOf(id))) {
      yield* engine.resume(messages, yield* messages.executionId({ conversation, subject, id, message }))
    }
    yield* onEngine(messages.execute({ conversation, subject, id, message }, { discard: true }))
    // a message that is said before the run begins, or a stop, finds the run
    yield* onEngine(knowing(runs.workflow, yield* executionIdOf(id)))
  })

  const stateOf = (items: ReadonlyArray<Item>, index: number): Effect.Effect<MessageState> =>
    Effect.map(executionIdOf(items[index]?.id ?? ""), (executionId) =>
      items[index]?.isAtWork === true ? { _tag: "Working", executionId } : { _tag: "Waiting", before: index }
    )
  const markedAs = (id: string) =>
    Effect.gen(function* () {
      const mark = yield* queue.markOf(id)
      if (mark === undefined) return undefined
      const executionId = yield* executionIdOf(id)
      return mark === "ended" ? ({ _tag: "Ended", executionId } as const) : ({ _tag: states[mark] } as const)
    })

  const enqueue = ({ id, message, subject }: Said) =>
    Effect.gen(function* () {
      const before = yield* markedAs(id)
      if (before !== undefined) return before
      const items = yield* queue.all
      if (!items.some((item) => item.id === id)) {
        if (items.filter(({ isAtWork }) => !isAtWork).length >= bounds.capacity) {
          const { retryAfter } = bounds
          return yield* Effect.fail(ConversationBusyError.make({ conversation, reason: "queue", retryAfter }))
        }
        yield* queue.put({ id, message, subject, nth: (items.at(-1)?.nth ?? 0) + 1, isAtWork: false })
      }
      yield* begin
      const after = yield* queue.all
      return yield* stateOf(
        after,
        after.findIndex((item) => item.id === id)
      )
    })

  const atWork = Effect.map(queue.all, ([first]) => (first?.isAtWork === true ? first : undefined))
  const waiting = (id: string) =>
    Effect.flatMap(queue.all, (items) => {
      const item = items.find((one) => one.id === id && !one.isAtWork)
      return item === undefined ? Effect.fail(UnknownMessageError.make({ conversation, id })) : Effect.succeed(item)
    })

  return {
    begin,
    send: (said: Said) => Effect.andThen(owned(said.subject), enqueue(said)),
    say: (said: Said & { readonly message: string }) =>
      Effect.gen(function* () {
        yield* owned(said.subject)
        const items = yield* queue.all
        const index = items.findIndex((item) => item.id === said.id)
        if (index >= 0) return yield* stateOf(items, index)
        const before = yield* markedAs(said.id)
        if (before !== undefined) return before
        const first = yield* atWork
        if (first === undefined) return yield* enqueue(said)
        const executionId = yield* executionIdOf(first.id)
        const { id, message } = said
        const saying = onEngine(Durable.say(runs, { executionId, id, message }))
        return yield* Effect.matchEffect(saying, {
          onSuccess: () => Effect.as(queue.mark(id, "steered"), { _tag: "Steered" } as const),
          onFailure: (error) =>
            error._tag === "InboxFullError"
              ? Effect.fail(
                  ConversationBusyError.make({ conversation, reason: "queue", retryAfter: bounds.retryAfter })
                )
              : enqueue(said)
        })
      }),
    interrupt: ({ dropQueue, subject }: { readonly subject: string; readonly dropQueue: boolean }) =>
      Effect.gen(function* () {
        yield* own(subject)
        const items = yield* queue.all
        const first = items.find(({ isAtWork }) => isAtWork)
        if (dropQueue) {
          if (first !== undefined) yield* queue.put({ ...first, dropsUnread: true })
          for (const item of items) if (item !== first) yield* queue.end(item.id, "withdrawn")
        }
        if (first === undefined) return false
        // a run that is lost, or over, has nothing to stop
        yield* Effect.ignore(onEngine(Durable.interrupt(runs, yield* executionIdOf(first.id))))
        return true
      }),
    queued: ({ subject }: { readonly subject: string }) =>
      Effect.andThen(
        own(subject),
        Effect.map(queue.all, (items) => items.map(({ id, isAtWork, message }) => ({ id, isAtWork, message })))
      ),
    edit: ({ id, message, subject }: Said) =>
      Effect.gen(function* () {
        yield* own(subject)
        yield* queue.put({ ...(yield* waiting(id)), message })
      }),
    withdraw: ({ id, subject }: Omit<Said, "message">) =>
      Effect.gen(function* () {
        yield* own(subject)
        yield* waiting(id)
        yield* queue.end(id, "withdrawn")
      }),
    state: ({ id, subject }: Omit<Said, "message">) =>
      Effect.gen(function* () {
        yield* own(subject)
        const items = yield* queue.all
        const index = items.findIndex((item) => item.id === id)
        if (index >= 0) return yield* stateOf(items, index)
        return (yield* markedAs(id)) ?? (yield* Effect.fail(UnknownMessageError.make({ conversation, id })))
      }),
    over: ({ id }: { readonly id: string }) =>
      Effect.gen(function* () {
        const items = yield* queue.all
        const item = items.find((one) => one.id === id)
        if (item !== undefined) {
          const executionId = yield* executionIdOf(id)
          const none: ReadonlyArray<Message.SaidMessage> = []
          const unread = yield* onEngine(Effect.orElseSucceed(Durable.unread(runs, executionId), () => none))
          // words that the run has not read come next, before what waits
          for (const [index, said] of unread.entries()) {
            if (item.dropsUnread === true) yield* queue.mark(said.id, "withdrawn")
            else {
              const nth = item.nth - unread.length + index
              const { subject } = item
              yield* queue.put({ id: said.id, subject, message: said.message.content, nth, isAtWork: false })
              yield* queue.unmark(said.id)
            }
          }
          yield* queue.end(id, "ended")
        }
        yield* begin
      }).pipe(patiently, Effect.orDie)
  }
}

/** The handlers of the entity. When the entity wakes, it looks whether a message waits whose run a dead process has not begun. */
export const handlers = (runs: Runs, messages: Messages, bounds: Bounds) =>
  Effect.gen(function* () {
    const { entityId } = yield* CurrentAddress
    const store = yield* Conversations
    const engine = yield* WorkflowEngine
    const { begin, ...all } = serving(entityId, { runs, messages, store, engine, bounds })
    yield* Effect.orDie(patiently(begin))
    return {
      send: ({ payload }: { readonly payload: Said }) => all.send(payload),
      say: ({ payload }: { readonly payload: Said & { readonly message: string } }) => all.say(payload),
      interrupt: ({ payload }: { readonly payload: Parameters<typeof all.interrupt>[0] }) => all.interrupt(payload),
      queued: ({ payload }: { readonly payload: { readonly subject: string } }) => all.queued(payload),
      edit: ({ payload }: { readonly payload: Said }) => all.edit(payload),
      withdraw: ({ payload }: { readonly payload: Omit<Said, "message"> }) => all.withdraw(payload),
      state: ({ payload }: { readonly payload: Omit<Said, "message"> }) => all.state(payload),
      over: ({ payload }: { readonly payload: { readonly id: string } }) => all.over(payload)
    }
  })
