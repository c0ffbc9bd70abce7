/** The questions to a conversation, from any process of the cluster. */
import type {
  AlreadyProcessingMessage,
  EntityNotAssignedToRunner,
  MailboxFull,
  PersistenceError
} from "effect/cluster/ClusterError"
import type { Sharding } from "effect/cluster/Sharding"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import type { Message } from "@kintsugi/core"
import {
  type Conversations,
  type ConversationLimitError,
  ConversationStoreError,
  type UnknownConversationError
} from "../Conversations.ts"
import { messageOf, type AgentVersion } from "./answering.ts"
import { ConversationBusyError, UnansweredError, type UnknownMessageError } from "./errors.ts"
import type { ConversationProtocol, MessageState, Queued } from "./protocol.ts"

/** Conversations with a durable agent. */
export interface ConversationEntity<Said, Output, E, R> {
  readonly name: string
  /** Serves the conversations: the cluster may give each of them to each process that has this layer. */
  readonly layer: Layer.Layer<never, never, R | WorkflowEngine | Sharding | Conversations>
  /** @internal */
  readonly "~parts": EntityParts & { readonly types?: readonly [said: (said: Said) => void, output: Output, error: E] }
}

interface EntityParts {
  readonly entity: ConversationProtocol
  /** The versions of the agent, by the names of the workflows of their runs. */
  readonly versions: ReadonlyMap<string, AgentVersion>
  readonly retryAfter: number
}

/** Any conversations, for functions that neither send nor await messages of their own type. */
interface AnyEntity {
  /** @internal */
  readonly "~parts": EntityParts
}

/** Which conversation, and whose. A conversation of another subject is answered as if it did not exist. */
interface Of {
  readonly conversation: string
  /** The person or tenant that the conversation belongs to. */
  readonly subject: string
}

/** Which message. */
interface One extends Of {
  /** The id of the message, unique in its conversation. A message that is sent twice with the same id has one run. */
  readonly id: string
}

type Unread = UnknownConversationError | ConversationStoreError
type Refused = Unread | ConversationBusyError
type Unwritten = Refused | ConversationLimitError

type Unreached = MailboxFull | AlreadyProcessingMessage | EntityNotAssignedToRunner | PersistenceError

/** Asks a conversation, and says what the errors of the cluster mean for it. */
const reaching = <A, E>(
  { "~parts": { entity, retryAfter } }: AnyEntity,
  conversation: string,
  ask: (client: ReturnType<Effect.Success<ConversationProtocol["client"]>>) => Effect.Effect<A, E | Unreached>
): Effect.Effect<A, Exclude<E, Unreached> | ConversationBusyError | ConversationStoreError, Sharding> =>
  Effect.gen(function* () {
    const busy = () => ConversationBusyError.make({ conversation, reason: "runner", retryAfter })
    const client = yield* entity.client
    // a runner that stops interrupts the questions under way, and their callers with them: so a fiber of its own asks
    const fiber = yield* Effect.forkChild(ask(client(conversation)))
    const exit = yield* Effect.onInterrupt(Fiber.await(fiber), () => Fiber.interrupt(fiber))
    if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.fail(busy())
    return yield* Effect.mapError(exit, (error) => {
      // cast: TypeScript does not exclude the tested type from a type parameter
      if (!isUnreached(error)) return error as Exclude<E, Unreached>
      return error._tag === "PersistenceError"
        ? ConversationStoreError.make({ operation: "ask", conversation, cause: error })
        : busy()
    })
  })

const unreached: ReadonlySet<string> = new Set<Unreached["_tag"]>([
  "MailboxFull",
  "AlreadyProcessingMessage",
  "EntityNotAssignedToRunner",
  "PersistenceError"
])

const isUnreached = (error: unknown): error is Unreached =>
  Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag) && unreached.has(error._tag)

/**
 * Sends a message, and returns what has become of it. Its run begins if no run of the conversation is at work; otherwise it waits. The
 * first message makes the conversation. When `send` has returned, the death of a process loses the message no more.
 */
export const send = <Said extends string | Message.UserContent, Output, E, R>(
  self: ConversationEntity<Said, Output, E, R>,
  { conversation, ...said }: One & { readonly message: Said }
): Effect.Effect<MessageState, Unwritten, Sharding> => reaching(self, conversation, (client) => client.send(said))

/**
 * Says something to the run at work, which reads it at its next safe point: the message is `Steered`. If no run is at work, the message is
 * sent. If the run ends without reading it, it comes next. It dies with a `TypeError` if the message is blank, as `Durable.say` does.
 */
export const say = (
  self: AnyEntity,
  { conversation, ...said }: One & { readonly message: string }
): Effect.Effect<MessageState, Unwritten, Sharding> =>
  said.message.trim() === ""
    ? Effect.die(new TypeError(`ConversationEntity.say to '${conversation}': the message must be more than blank`))
    : reaching(self, conversation, (client) => client.say(said))

/**
 * Stops the run at work, and returns whether there is one. The messages that wait stay, and the first of them comes next. With `dropQueue`
 * they are withdrawn, with words that the run has not read. A run whose version is not served is not stopped.
 */
export const interrupt = (
  self: AnyEntity,
  { conversation, dropQueue = false, subject }: Of & { readonly dropQueue?: boolean }
): Effect.Effect<boolean, Unwritten, Sharding> =>
  reaching(self, conversation, (client) => client.interrupt({ dropQueue, subject }))

/** The message at work, and those that wait, in their order. */
export const queued = (
  self: AnyEntity,
  { conversation, subject }: Of
): Effect.Effect<ReadonlyArray<Queued>, Refused, Sharding> =>
  reaching(self, conversation, (client) => client.queued({ subject }))

/** Changes a message that waits. */
export const edit = <Said extends string | Message.UserContent, Output, E, R>(
  self: ConversationEntity<Said, Output, E, R>,
  { conversation, ...said }: One & { readonly message: Said }
): Effect.Effect<void, Unwritten | UnknownMessageError, Sharding> =>
  reaching(self, conversation, (client) => client.edit(said))

/** Takes a message that waits out of the queue: it gets no run. */
export const withdraw = (
  self: AnyEntity,
  { conversation, id, subject }: One
): Effect.Effect<void, Unwritten | UnknownMessageError, Sharding> =>
  reaching(self, conversation, (client) => client.withdraw({ id, subject }))

/** What has become of a message. `executionId` is that of its run in `workflow`, for `Durable.events` and `Durable.poll`. */
export const state = (
  self: AnyEntity,
  { conversation, id, subject }: One
): Effect.Effect<MessageState, Refused | UnknownMessageError, Sharding> =>
  reaching(self, conversation, (client) => client.state({ id, subject }))

/**
 * The pause of `answer` before it looks again, in milliseconds: at first, and at the most. If a message has ended and no row has its answer
 * for so long, the rows of its run were deleted.
 */
const pauses = { first: 50, most: 2000, missing: 60_000 }

/** The answer to a message that has ended. The workflow of the message completes soon after. */
const ended = <Output, E>(
  { "~parts": { versions } }: ConversationEntity<never, Output, E, unknown>,
  { conversation, id }: Omit<One, "subject">,
  { executionId, workflow }: { readonly executionId: string; readonly workflow: string }
) =>
  Effect.gen(function* () {
    const { poll } = yield* WorkflowEngine
    const unanswered = (reason: UnansweredError["reason"]) =>
      Effect.fail(UnansweredError.make({ conversation, id, reason }))
    const version = versions.get(workflow)
    if (version === undefined) return yield* unanswered("unserved")
    const { messages } = version
    const message = yield* messageOf(messages, executionId)
    let missing = 0
    // Mutant `missing < pauses.missing` survives: no sum of pauses is a whole minute
    for (let pause = pauses.first; missing <= pauses.missing; pause = Math.min(pauses.most, pause * 1.5)) {
      const end = yield* poll(messages, message)
      if (end._tag === "Some" && end.value._tag === "Complete") {
        const { exit, unsaved } = yield* end.value.exit
        if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return yield* unanswered("stopped")
        if (Exit.isSuccess(exit) && unsaved !== undefined) return yield* Effect.fail(unsaved)
        // cast: the schemas of the workflow are those of the run
        return yield* exit as Exit.Exit<Output, E>
      }
      missing += pause
      yield* Effect.sleep(pause)
    }
    return yield* unanswered("deleted")
  })

/**
 * Waits for the answer to a message that was sent, from any process. That of a steered message is the answer of the run that has read it. It
 * fails as the agent does, and with `ConversationLimitError` or `UnknownConversationError` if the run has ended and the store could not keep
 * what was said.
 */
export const answer = <Said extends string | Message.UserContent, Output, E, R>(
  self: ConversationEntity<Said, Output, E, R>,
  { conversation, id, subject }: One
): Effect.Effect<
  Output,
  E | Refused | ConversationLimitError | UnknownMessageError | UnansweredError,
  Sharding | WorkflowEngine
> =>
  Effect.gen(function* () {
    const stateNow = (id: string) => state(self, { conversation, id, subject })
    const unanswered = (reason: UnansweredError["reason"]) =>
      Effect.fail(UnansweredError.make({ conversation, id, reason }))
    for (let pause = pauses.first; ; pause = Math.min(pauses.most, pause * 1.5)) {
      const found = yield* stateNow(id)
      if (found._tag === "Withdrawn") return yield* unanswered("withdrawn")
      if (found._tag === "Refused") return yield* unanswered("refused")
      if (found._tag === "Steered" && (yield* stateNow(found.by))._tag === "Ended") {
        // at its end, a run that has not read the message gives it back
        const { _tag } = yield* stateNow(id)
        if (_tag === "Steered") return yield* answer(self, { conversation, id: found.by, subject })
      }
      if (found._tag === "Ended") return yield* ended(self, { conversation, id }, found)
      yield* Effect.sleep(pause)
    }
  })
