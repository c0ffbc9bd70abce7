/**
 * What is said to a durable run. Each message has a row of its own, numbered in the order of arrival: the first message that is stored under
 * a number has it, in whichever process it was said. The run reads the rows at its safe points, and records what it has read.
 */
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import type * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Message } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import type * as RunContext from "@kintsugi/core/RunContext"
import type { UnknownRunError } from "./errors.ts"
import { demanding } from "./knowing.ts"
import type { Line } from "./lines.ts"
import { record, type Replay } from "./recording.ts"

/** How many messages may wait for a run. */
const capacity = 64

const Stored = Schema.Struct({
  id: Schema.String,
  message: Message.User,
  /** The id of the run that reads it; the outermost run by default. */
  to: Schema.optionalKey(Schema.String)
})

const StoredJson = Schema.toCodecJson(Stored)
const encode = Schema.encodeEffect(StoredJson)
const decode = Schema.decodeUnknownEffect(StoredJson)

const rowOf = (nth: number) => DurableDeferred.make(`said/${nth}`, { success: Schema.Json })

/** Stored when the run has read the message with this number. */
const readOf = (nth: number) => DurableDeferred.make(`said/${nth}/read`)

interface Of {
  readonly engine: WorkflowEngine["Service"]
  readonly workflow: Workflow.Any
  readonly executionId: string
}

const resultOf = <S extends Schema.Constraint, E extends Schema.Constraint>(
  { engine, executionId, workflow }: Of,
  deferred: DurableDeferred.DurableDeferred<S, E>
) =>
  Effect.provideService(
    engine.deferredResult(deferred),
    WorkflowInstance,
    WorkflowInstance.initial(workflow, executionId)
  )

/** The message with this number. */
const storedAt = (of: Of, nth: number): Effect.Effect<typeof Stored.Type | undefined> =>
  Effect.flatMap(resultOf(of, rowOf(nth)), (result) =>
    Option.isNone(result) || Exit.isFailure(result.value) ? Effect.undefined : Effect.orDie(decode(result.value.value))
  )

/** All messages that were said, with whether each is read. */
const all = Effect.fnUntraced(function* (of: Of) {
  const found: Array<{ readonly said: typeof Stored.Type; readonly isRead: boolean }> = []
  for (let nth = 0; ; nth++) {
    const said = yield* storedAt(of, nth)
    if (said === undefined) return found
    found.push({ said, isRead: Option.isSome(yield* resultOf(of, readOf(nth))) })
  }
})

/** The messages of a run that no safe point has read. */
export const unreadOf = (of: Of): Effect.Effect<ReadonlyArray<typeof Stored.Type>> =>
  Effect.map(all(of), (found) => found.flatMap(({ isRead, said }) => (isRead ? [] : said)))

/** Stores a message under the first number that is free, unless one with its id is stored. */
const put = Effect.fnUntraced(function* (of: Of, said: typeof Stored.Type) {
  const { engine, executionId, workflow } = of
  const found = yield* all(of)
  if (found.some((one) => one.said.id === said.id)) return
  if (found.filter(({ isRead }) => !isRead).length >= capacity) {
    return yield* Effect.fail(DoorError.InboxFullError.make({ runId: executionId, limit: capacity }))
  }
  const value = yield* Effect.orDie(encode(said))
  for (let nth = found.length; ; nth++) {
    const row = rowOf(nth)
    const token = DurableDeferred.tokenFromExecutionId(row, { workflow, executionId })
    // another process may have stored its message under this number meanwhile, or this very message
    yield* Effect.provideService(DurableDeferred.succeed(row, { token, value }), WorkflowEngine, engine)
    if ((yield* storedAt(of, nth))?.id === said.id) return
  }
})

const Read = Schema.Struct({ next: Schema.Finite, messages: Schema.Array(Message.SaidMessage) })

/** Reads the messages to a run that have come since it read the last time. */
export const reading = (replay: Replay) => {
  const { engine, executionId, instance } = replay
  const of: Of = { engine, executionId, workflow: instance.workflow }
  /** The number from which each run has still to read. */
  const from = new Map<string, number>()
  return (
    line: Line,
    name: string,
    { parent, runId }: RunContext.RunContext
  ): Effect.Effect<ReadonlyArray<Message.SaidMessage>> => {
    const work = Effect.gen(function* () {
      const messages: Array<Message.SaidMessage> = []
      for (let nth = from.get(runId) ?? 0; ; nth++) {
        const said = yield* storedAt(of, nth)
        if (said === undefined) return { next: nth, messages }
        const { id, message, to } = said
        if (to === undefined ? parent !== undefined : to !== runId) continue
        messages.push({ id, message })
        const token = DurableDeferred.tokenFromExecutionId(readOf(nth), { workflow: of.workflow, executionId })
        yield* Effect.provideService(
          DurableDeferred.done(readOf(nth), { token, exit: Exit.void }),
          WorkflowEngine,
          engine
        )
      }
    })
    return Effect.map(record(replay, { line, name, value: Read, error: Schema.Never, work }), ({ messages, next }) => {
      from.set(runId, next)
      return messages
    })
  }
}

/** A message for a durable run. */
interface Saying {
  readonly executionId: string
  /** The same message may be said again, with the same id: it is read once. */
  readonly id: string
  readonly message: string | Message.UserContent
  /** The id of the run that reads it, such as a sub-agent, from its events. The outermost run by default. */
  readonly to?: string
}

/** A workflow whose runs may hear messages. */
interface Hearing {
  readonly workflow: Workflow.Any
  readonly hasInbox: boolean
}

/**
 * Says something to a run, from any process. The run reads the message at its next safe point, and records that: a replay reads the same
 * messages at the same turns. While a call waits for a decision, the message waits too. At most 64 messages wait. The workflow needs the
 * option `inbox`: without it, this dies.
 */
export const say = (
  { hasInbox, workflow }: Hearing,
  { executionId, id, message, to }: Saying
): Effect.Effect<
  void,
  UnknownRunError | DoorError.RunLostError | DoorError.RunOverError | DoorError.InboxFullError,
  WorkflowEngine
> =>
  Effect.gen(function* () {
    if (!hasInbox) {
      return yield* Effect.die(new TypeError(`Durable.say: give Durable.workflow of '${workflow._tag}' inbox: true`))
    }
    yield* demanding(workflow, executionId)
    const engine = yield* WorkflowEngine
    if (yield* isOver(engine, workflow, executionId)) {
      return yield* Effect.fail(DoorError.RunOverError.make({ runId: executionId }))
    }
    const said = { id, message: Message.user(message), ...(to === undefined ? {} : { to }) }
    yield* put({ engine, workflow, executionId }, said)
  })

/** An end that cannot be read is an end too. */
const isOver = (
  { poll }: WorkflowEngine["Service"],
  workflow: Workflow.Any,
  executionId: string
): Effect.Effect<boolean> => {
  // of any workflow, the engine reads no more than its name and its schemas
  const result = poll(workflow as never, executionId) as unknown as Effect.Effect<
    Option.Option<{ readonly _tag: string }>
  >
  const found = Effect.map(result, (one) => Option.isSome(one) && one.value._tag === "Complete")
  return Effect.catchDefect(found, () => Effect.succeed(true))
}

/** The messages that were said to a run and that no safe point has read, in the order of their arrival. Fails as `resume` does. */
export const unread = (
  { workflow }: Hearing,
  executionId: string
): Effect.Effect<ReadonlyArray<Message.SaidMessage>, UnknownRunError | DoorError.RunLostError, WorkflowEngine> =>
  Effect.gen(function* () {
    yield* demanding(workflow, executionId)
    const found = yield* unreadOf({ engine: yield* WorkflowEngine, workflow, executionId })
    return found.map(({ id, message }) => ({ id, message }))
  })
