/** What the entity of a conversation does of itself: it begins the run of the next message, and ends a message whose run is over. */
import * as Effect from "effect/Effect"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import type { Message } from "@kintsugi/core"
import type { ConversationLimitError, ConversationStoreError } from "../Conversations.ts"
import * as Durable from "../Durable.ts"
import { isOver, knowing } from "../knowing.ts"
import { executionIdOf, messageOf, runIdOf, type AgentVersion, type AgentVersions } from "./answering.ts"
import type { Begun, Item, Queue } from "./queue.ts"

/** A message in the queue whose run has begun, and the version of the agent with which it has. */
export interface BegunItem {
  readonly item: Item
  readonly begun: Begun
  readonly version: AgentVersion
}

/** The message in the queue that is at work; `undefined` if none is, or if this process does not serve its version. */
export const atWorkIn = ({ all }: AgentVersions, items: ReadonlyArray<Item>): BegunItem | undefined => {
  const item = items.find(({ begun }) => begun !== undefined)
  const version = item?.begun === undefined ? undefined : all.get(item.begun.workflow)
  return item?.begun === undefined || version === undefined ? undefined : { item, begun: item.begun, version }
}

export const beginning = (
  conversation: string,
  {
    engine,
    queue,
    versions
  }: { readonly versions: AgentVersions; readonly queue: Queue; readonly engine: WorkflowEngine["Service"] }
) => {
  const onEngine = <A, E>(self: Effect.Effect<A, E, WorkflowEngine>) =>
    Effect.provideService(self, WorkflowEngine, engine)

  /** The run with which a message would begin now. */
  const begunOf = ({ id, since, subject }: Pick<Item, "id" | "since" | "subject">): Effect.Effect<Begun> => {
    const { runs } = versions.current
    const runId = runIdOf({ conversation, id, subject, since })
    return Effect.map(executionIdOf(runs, runId), (executionId) => ({
      workflow: runs.workflow._tag,
      runId,
      executionId
    }))
  }

  /** Writes a message. If the store refuses it, the message fails alone: it leaves the queue. Returns whether it was written. */
  const written = (id: string, write: Effect.Effect<void, ConversationLimitError | ConversationStoreError>) =>
    write.pipe(
      Effect.as(true),
      Effect.catchTag("ConversationLimitError", (error) =>
        Effect.gen(function* () {
          yield* Effect.logWarning(`Conversation '${conversation}' drops the message '${id}'`, error.message)
          // an id that is too long has no mark
          yield* Effect.catchTag(queue.mark(id, { _tag: "Refused" }), "ConversationLimitError", () => Effect.void)
          yield* queue.remove(id)
          return false
        })
      )
    )

  /** Ends a message whose run is over. Words that the run has not read come next, before what waits. */
  const ending = ({ begun, item, version }: BegunItem) =>
    Effect.gen(function* () {
      const { executionId, workflow } = begun
      const { id, nth, since, subject } = item
      const none: ReadonlyArray<Message.SaidMessage> = []
      const unread = yield* onEngine(Effect.orElseSucceed(Durable.unread(version.runs, executionId), () => none))
      for (const [index, said] of unread.entries()) {
        if (item.dropsUnread === true) yield* written(said.id, queue.mark(said.id, { _tag: "Withdrawn" }))
        else {
          const { content } = said.message
          const next = { id: said.id, subject, since, message: content, nth: nth - unread.length + index }
          if (yield* written(said.id, queue.put(next))) yield* queue.unmark(said.id)
        }
      }
      yield* written(id, queue.end(id, { _tag: "Ended", executionId, workflow }))
    })

  /** Ends a message whose workflow is over, also if it could not say so. Returns whether it is. */
  const look = (atWork: BegunItem) =>
    Effect.gen(function* () {
      const { messages } = atWork.version
      const isSo = yield* isOver(engine, messages, yield* messageOf(messages, atWork.begun.executionId))
      if (isSo) yield* ending(atWork)
      return isSo
    })

  const run = ({ begun, item, version }: BegunItem) =>
    Effect.gen(function* () {
      const { executionId, runId } = begun
      const { message, since, subject } = item
      const asked = { conversation, subject, since, message, runId, executionId }
      yield* onEngine(version.messages.execute(asked, { discard: true }))
      // a message that is said before the run begins, or a stop, finds the run
      yield* onEngine(knowing(version.runs.workflow, executionId))
    })

  let warned: string | undefined
  const unserved = ({ executionId, workflow }: Begun) =>
    Effect.suspend(() => {
      if (warned === executionId) return Effect.void
      warned = executionId
      const what = `Conversation '${conversation}' waits: its message has begun with '${workflow}'`
      return Effect.logWarning(`${what}, which this process does not serve. Name it in the option 'former'`)
    })

  /** Begins the run of the first message, or finds that it has begun, or that it is over. */
  const begin: Effect.Effect<void, ConversationStoreError> = Effect.gen(function* () {
    const items = yield* queue.all
    const [first] = items
    if (first === undefined) return
    if (first.begun === undefined) {
      // a process has died before it could take this message out of the queue
      if ((yield* queue.markOf(first.id)) !== undefined) yield* queue.remove(first.id)
      else {
        const begun = yield* begunOf(first)
        const item = { ...first, begun }
        if (yield* written(first.id, queue.put(item))) return yield* run({ item, begun, version: versions.current })
      }
      return yield* begin
    }
    const atWork = atWorkIn(versions, items)
    if (atWork === undefined) return yield* unserved(first.begun)
    if (yield* look(atWork)) return yield* begin
    const { messages, runs } = atWork.version
    const { executionId } = atWork.begun
    if (yield* isOver(engine, runs.workflow, executionId)) {
      yield* engine.resume(messages, yield* messageOf(messages, executionId))
    }
    yield* run(atWork)
  })

  return {
    onEngine,
    begin,
    /** The messages in the queue, after a look whether this one is over. */
    looking: (id: string) =>
      Effect.gen(function* () {
        const items = yield* queue.all
        const atWork = atWorkIn(versions, items)
        if (atWork?.item.id !== id || !(yield* look(atWork))) return items
        yield* begin
        return yield* queue.all
      }),
    /** Fails if the store would not take the message, or not at the time when its run begins. */
    check: (item: Item) => Effect.flatMap(begunOf(item), (begun) => queue.check({ ...item, begun, dropsUnread: true })),
    over: (executionId: string) =>
      Effect.gen(function* () {
        const atWork = atWorkIn(versions, yield* queue.all)
        if (atWork?.begun.executionId === executionId) yield* ending(atWork)
        yield* begin
      })
  }
}
