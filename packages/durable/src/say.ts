/** Sends a message to a durable run, from any process. The message is stored, and may withdraw what the run waits for. */
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import type * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Message } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { superseding } from "./approval.ts"
import { withdrawing } from "./deferred.ts"
import type { UnknownRunError } from "./errors.ts"
import { demanding, isOver } from "./knowing.ts"
import { put, type Said, unreadOf, withdraws } from "./saying.ts"
import { isStopped } from "./stopping.ts"
import { listedIn } from "./waiting.ts"

/** A message for a durable run. */
interface Saying {
  readonly executionId: string
  /** The id of the message. If the same message is sent twice with the same id, the run reads it once. */
  readonly id: string
  readonly message: string | Message.UserContent
  /** The id of the run that reads the message, such as a sub-agent, as the events of the run show it. By default the outermost run. */
  readonly to?: string
  /**
   * Withdraws everything that the run and its sub-agents wait for, such as approvals: those calls do not run, and the run goes on. If a
   * decision and such a message compete, the first that is stored counts. By default the requests stay open.
   */
  readonly supersede?: boolean
}

/** A workflow, and whether messages can be sent to its runs. */
interface Hearing {
  readonly workflow: Workflow.Any
  readonly hasInbox: boolean
}

/**
 * Says something to a run, from any process. The run reads the message at its next safe point, and records that: a replay reads the same
 * messages at the same turns. While a call waits for a decision, the message waits too, unless it supersedes. At most 64 messages wait. The workflow needs the
 * option `inbox`: without it, this dies.
 */
export const say = (
  { hasInbox, workflow }: Hearing,
  { executionId, id, message, supersede = false, to }: Saying
): Effect.Effect<
  void,
  UnknownRunError | DoorError.RunLostError | DoorError.RunOverError | DoorError.InboxFullError,
  WorkflowEngine
> =>
  Effect.gen(function* () {
    if (!hasInbox) {
      return yield* Effect.die(new TypeError(`Durable.say: give Durable.workflow of '${workflow._tag}' inbox: true`))
    }
    const wrong = wrongOf({ id, message, supersede, to })
    if (wrong !== undefined) {
      return yield* Effect.die(new TypeError(`Durable.say to run '${String(executionId)}': ${wrong}`))
    }
    yield* demanding(workflow, executionId)
    const engine = yield* WorkflowEngine
    const stopped = isStopped({ engine, executionId, instance: WorkflowInstance.initial(workflow, executionId) })
    if ((yield* isOver(engine, workflow, executionId)) || (yield* stopped)) {
      return yield* Effect.fail(DoorError.RunOverError.make({ runId: executionId }))
    }
    const said: Said = {
      id,
      message: Message.user(message),
      ...(to === undefined ? {} : { to }),
      ...(supersede ? { supersede } : {})
    }
    const of = { engine, workflow, executionId }
    yield* put(of, said)
    if (supersede) yield* withdraw(of, said)
  })

const isContent = Schema.is(Message.UserContent)

/** Says what is wrong with a message of a caller in JavaScript; `undefined` if it is valid. */
const wrongOf = (given: {
  readonly [Key in "id" | "message" | "supersede" | "to"]: unknown
}): string | undefined => {
  const { id, message, supersede, to } = given
  if (!Predicate.isString(id)) return "id must be a text"
  if (to !== undefined && !Predicate.isString(to)) return "to must be the id of a run"
  if (!Predicate.isBoolean(supersede)) return "supersede must be true or false"
  const content = Predicate.isString(message) ? [Message.text(message)] : message
  if (!isContent(content)) return "the message must be a text or a list of parts"
  const isBlank = content.every((part) => part.type === "text" && part.text.trim() === "")
  return isBlank ? "the message must be more than blank" : undefined
}

/** Ends the waits that a message withdraws. It stops once the run has read the message, because requests after that are new ones. */
const withdraw = Effect.fnUntraced(function* (
  of: {
    readonly engine: WorkflowEngine["Service"]
    readonly workflow: Workflow.Any
    readonly executionId: string
  },
  said: Said
) {
  const { engine, executionId, workflow } = of
  const instance = WorkflowInstance.initial(workflow, executionId)
  for (const { end, isLate, waiting, within } of yield* listedIn({ engine, executionId, instance })) {
    if (isLate || waiting.type === "message" || !withdraws(said, within)) continue
    if (!(yield* unreadOf(of)).some(({ id }) => id === said.id)) return
    const at = yield* Clock.currentTimeMillis
    const row = DurableDeferred.make(end, { success: Schema.Json })
    const value = waiting.type === "deferred" ? withdrawing(at) : yield* superseding(at)
    const token = DurableDeferred.tokenFromExecutionId(row, { workflow, executionId })
    yield* DurableDeferred.succeed(row, { token, value })
  }
})

/**
 * The messages to a run that it has not read. No safe point has read them; they are in the order of their arrival. Fails as `resume` does.
 */
export const unread = (
  { workflow }: Hearing,
  executionId: string
): Effect.Effect<ReadonlyArray<Message.SaidMessage>, UnknownRunError | DoorError.RunLostError, WorkflowEngine> =>
  Effect.gen(function* () {
    yield* demanding(workflow, executionId)
    const found = yield* unreadOf({ engine: yield* WorkflowEngine, workflow, executionId })
    return found.map(({ id, message }) => ({ id, message }))
  })
