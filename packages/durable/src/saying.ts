/**
 * The messages to a durable run. Each message has a row of its own, numbered in the order of arrival: the first message that any process
 * stores under a number keeps the number. The run reads the rows at its safe points, and records what it has read.
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
import type { Line } from "./lines.ts"
import { record, type Replay } from "./recording.ts"

/** The most unread messages of a run. */
const capacity = 64

const Stored = Schema.Struct({
  id: Schema.String,
  message: Message.User,
  /** The id of the run that should read the message; by default the outermost run reads it. */
  to: Schema.optionalKey(Schema.String),
  /** Set if the message withdraws the requests for which that run waits. */
  supersede: Schema.optionalKey(Schema.Literal(true))
})

const StoredJson = Schema.toCodecJson(Stored)
const encode = Schema.encodeEffect(StoredJson)
const decode = Schema.decodeUnknownEffect(StoredJson)

const rowOf = (nth: number) => DurableDeferred.make(`said/${nth}`, { success: Schema.Json })

/** The row that is stored when the run has read the message with this number. */
const readOf = (nth: number) => DurableDeferred.make(`said/${nth}/read`)

/** A message to a run, in the form in which it is stored. */
export type Said = typeof Stored.Type

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

/** The message with this number; `undefined` if there is none. */
const storedAt = (of: Of, nth: number): Effect.Effect<Said | undefined> =>
  Effect.flatMap(resultOf(of, rowOf(nth)), (result) =>
    Option.isNone(result) || Exit.isFailure(result.value) ? Effect.undefined : Effect.orDie(decode(result.value.value))
  )

/** All messages to a run, and whether the run has read each of them. */
const all = Effect.fnUntraced(function* (of: Of) {
  const found: Array<{ readonly said: Said; readonly isRead: boolean }> = []
  for (let nth = 0; ; nth++) {
    const said = yield* storedAt(of, nth)
    if (said === undefined) return found
    found.push({ said, isRead: Option.isSome(yield* resultOf(of, readOf(nth))) })
  }
})

/** The messages that a run has not read yet. */
export const unreadOf = (of: Of): Effect.Effect<ReadonlyArray<Said>> =>
  Effect.map(all(of), (found) => found.flatMap(({ isRead, said }) => (isRead ? [] : said)))

/**
 * Whether a message withdraws the requests of a run: it supersedes, and its reader is that run or one of its ancestors. `within` has their
 * ids.
 */
export const withdraws = ({ supersede, to }: Said, within: ReadonlyArray<string>): boolean =>
  supersede === true && (to === undefined || within.includes(to))

/** The ids of a run and its ancestors, the nearest first. */
export const ancestry = ({ parents }: Pick<Replay, "parents">, runId: string): ReadonlyArray<string> => {
  const parent = parents.get(runId)
  return parent === undefined ? [runId] : [runId, ...ancestry({ parents }, parent)]
}

/** Whether an unread message withdraws the request for which this run is about to wait. */
export const isSuperseded = (replay: Replay, runId: string): Effect.Effect<boolean> => {
  if (!replay.hasInbox) return Effect.succeed(false)
  const { engine, executionId, instance } = replay
  const unread = unreadOf({ engine, executionId, workflow: instance.workflow })
  return Effect.map(unread, (found) => found.some((said) => withdraws(said, ancestry(replay, runId))))
}

/** Stores a message under the first free number, unless a message with its id is stored already. */
export const put = Effect.fnUntraced(function* (of: Of, said: Said) {
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
    // another process may have taken this number meanwhile, or has stored this very message
    yield* Effect.provideService(DurableDeferred.succeed(row, { token, value }), WorkflowEngine, engine)
    if ((yield* storedAt(of, nth))?.id === said.id) return
  }
})

const Read = Schema.Struct({ next: Schema.Finite, messages: Schema.Array(Message.SaidMessage) })

/** Makes the function with which a run reads the messages that have come since it read the last time. */
export const reading = (replay: Replay) => {
  const { engine, executionId, instance } = replay
  const of: Of = { engine, executionId, workflow: instance.workflow }
  /** The number of the first message that each run has not read yet, by run id. */
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
        const { id, message, supersede, to } = said
        if (to === undefined ? parent !== undefined : to !== runId) continue
        messages.push({ id, message, ...(supersede === undefined ? {} : { supersede }) })
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
