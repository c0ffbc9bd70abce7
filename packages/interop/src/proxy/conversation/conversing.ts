/** What requests to a conversation do: over its entity, over the run of a message, and over the store. */
import type { Sharding } from "effect/cluster/Sharding"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Message } from "@kintsugi/core"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import {
  ConversationLimitError,
  Conversations,
  ConversationStoreError,
  UnknownConversationError
} from "@kintsugi/durable/Conversations"
import { drawn, failureOf, pause } from "../ends.ts"
import {
  failedForNow,
  RequestTooLargeError,
  RunConflictError,
  type RunFailedError,
  RunNotFoundError,
  TooBusyError,
  UnfitRequestError
} from "../errors.ts"
import { type Execution, type Executions, looking } from "../executions.ts"
import type { Ending } from "../schemas.ts"
import { eventsFor, reading, type Shows, withSubject } from "../serving.ts"
import { ConversationConflictError, ConversationNotFoundError } from "./errors.ts"
import type { MessageProgress, Page } from "./schemas.ts"

/** The number of messages of a page by default. */
const listed = 100

type Said = string | Message.UserContent

type Entity = ConversationEntity.ConversationEntity<Said, unknown, unknown, unknown>

interface OfConversation {
  readonly conversation: string
}

interface OfMessage extends OfConversation {
  readonly id: string
}

/** What clients may read. */
export interface Showing {
  readonly shows: Shows
  readonly showsMessage: (message: Message.Message) => boolean
}

/** The failures of requests to an entity, and of its store. */
type Refusal =
  | ConversationEntity.ConversationBusyError
  | ConversationEntity.UnansweredError
  | ConversationEntity.UnknownMessageError
  | ConversationLimitError
  | ConversationStoreError
  | RunNotFoundError
  | UnknownConversationError

const isRefusal = (error: unknown): error is Refusal =>
  [
    ConversationEntity.ConversationBusyError,
    ConversationEntity.UnansweredError,
    ConversationEntity.UnknownMessageError,
    ConversationLimitError,
    ConversationStoreError,
    RunNotFoundError,
    UnknownConversationError
  ].some((refusal) => error instanceof refusal)

/** What a client learns of such a failure. */
const refusalOf = (
  of: { readonly conversation: string; readonly id?: string },
  error: Refusal
):
  | ConversationConflictError
  | ConversationNotFoundError
  | RequestTooLargeError
  | RunFailedError
  | TooBusyError
  | UnfitRequestError => {
  const named = { conversation: of.conversation, ...(of.id === undefined ? {} : { id: of.id }) }
  switch (error._tag) {
    case "RunNotFoundError":
    case "UnknownConversationError":
    case "UnknownMessageError":
      return new ConversationNotFoundError(named)
    case "ConversationBusyError":
      return new TooBusyError({ retryAfter: Math.max(1, Math.ceil(error.retryAfter / 1000)) })
    case "UnansweredError":
      return new ConversationConflictError({ ...named, reason: error.reason })
    case "ConversationStoreError":
      return failedForNow(error.code, pause)
    case "ConversationLimitError":
      if (error.option === "maxMessages") return new ConversationConflictError({ ...named, reason: "full" })
      return error.option === "maxBytes"
        ? new RequestTooLargeError()
        : new UnfitRequestError({ issues: [{ path: error.option, expected: `Expected at most ${error.limit}` }] })
  }
}

type Refused<E> = Exclude<E, Refusal> | ReturnType<typeof refusalOf>

const refusing =
  (of: { readonly conversation: string; readonly id?: string }) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, Refused<E>, R> =>
    Effect.mapError(self, (error) => (isRefusal(error) ? refusalOf(of, error) : (error as Exclude<E, Refusal>)))

/** A request about a conversation of the subject. */
const ofSubject = <Of extends OfConversation & { readonly id?: string }, A, E, R>(
  of: Of,
  use: (of: Of & { readonly subject: string }) => Effect.Effect<A, E, R>
) => withSubject((subject) => refusing(of)(use({ ...of, subject })))

/** The states that are the same for a client; each other one is `Working`. */
const ends = ["Ended", "Withdrawn", "Steered", "Refused"] as const

/** What has become of a message, for its client: the execution id is for the server. */
const progressOf = (id: string, state: ConversationEntity.MessageState): MessageProgress =>
  state._tag === "Waiting"
    ? { _tag: state._tag, id, before: state.before }
    : { _tag: ends.find((tag): boolean => tag === state._tag) ?? "Working", id }

/** Why a message in this state has no run here. */
const withoutRun: ReadonlyMap<string, ConversationConflictError["reason"]> = new Map([
  ["Steered", "steered"],
  // Mutant `""` for `"Withdrawn"` survives: a message that has neither a reason here nor a run is withdrawn
  ["Withdrawn", "withdrawn"],
  ["Refused", "refused"],
  ["Unserved", "unserved"]
])

/** The needs of each request. */
export type Needs = Conversations | Sharding | WorkflowEngine

/** What both protocols do with a request. */
export const conversing = (entity: Entity, runs: Executions<unknown, unknown>, showing: Showing) => {
  const stateOf = (of: OfMessage & { readonly subject: string }) => ConversationEntity.state(entity, of)

  /** Where the run of a message waits for a decision; `undefined` if it is at work, waits for its turn or has ended. */
  const waitingIn = (of: Execution) =>
    Effect.matchEffect(runs.show(of), {
      onSuccess: (found) => Effect.succeed(found?._tag === "Waiting" ? found : undefined),
      onFailure: () => Effect.undefined
    })

  /** Waits until the message has an answer, or its run waits for a decision. */
  const answered = (
    of: OfMessage & { readonly subject: string }
  ): Effect.Effect<Ending<unknown>, unknown, Sharding | WorkflowEngine> =>
    Effect.gen(function* () {
      const run = of.id
      const look = Effect.gen(function* () {
        const found = yield* stateOf(of)
        // said words are answered by the run of another message, and decisions about it are for that message
        const by = found._tag === "Steered" ? found.by : run
        const state = by === run ? found : yield* stateOf({ ...of, id: by })
        if (state._tag === "Waiting" || state._tag === "Unserved") return undefined
        if (state._tag !== "Working") return "over"
        return yield* waitingIn({ run: by, executionId: state.executionId })
      })
      const found = yield* Effect.repeat(look, { schedule: looking, until: (one) => one !== undefined })
      if (found === undefined) return yield* answered(of)
      if (found !== "over") return found
      const exit = yield* Effect.exit(ConversationEntity.answer(entity, of))
      if (exit._tag === "Success") return { _tag: "Answered" as const, run, output: exit.value }
      const refusal = exit.cause.reasons.find((reason) => Cause.isFailReason(reason) && isRefusal(reason.error))
      return yield* refusal === undefined
        ? Effect.flatMap(failureOf(run, exit.cause), Effect.fail)
        : Effect.failCause(exit.cause)
    })

  /** The run of a message, once it has begun. */
  const executionOf = (
    of: OfMessage & { readonly subject: string }
  ): Effect.Effect<Execution, Effect.Error<ReturnType<typeof stateOf>> | ConversationConflictError, Sharding> =>
    Effect.gen(function* () {
      const isWaiting = ({ _tag }: ConversationEntity.MessageState) => _tag === "Waiting"
      const state = yield* Effect.repeat(stateOf(of), { schedule: looking, while: isWaiting })
      // Mutant `false` survives: the schedule has no end, which its type does not say
      if (isWaiting(state)) return yield* executionOf(of)
      const reason = withoutRun.get(state._tag)
      if (reason === undefined && "executionId" in state) return { run: of.id, executionId: state.executionId }
      const { conversation, id } = of
      return yield* Effect.fail(new ConversationConflictError({ conversation, id, reason: reason ?? "withdrawn" }))
    })

  return {
    send: (of: OfConversation & { readonly message: Said; readonly id?: string }) =>
      ofSubject(of, (own) =>
        Effect.gen(function* () {
          const id = own.id ?? (yield* drawn)
          return progressOf(id, yield* ConversationEntity.send(entity, { ...own, id }))
        })
      ),
    say: (of: OfConversation & { readonly message: string; readonly id?: string }) =>
      ofSubject(of, (own) =>
        Effect.gen(function* () {
          const id = own.id ?? (yield* drawn)
          return progressOf(id, yield* ConversationEntity.say(entity, { ...own, id }))
        })
      ),
    state: (of: OfMessage) => ofSubject(of, (own) => Effect.map(stateOf(own), (state) => progressOf(of.id, state))),
    edit: (of: OfMessage & { readonly message: Said }) => ofSubject(of, (own) => ConversationEntity.edit(entity, own)),
    withdraw: (of: OfMessage) => ofSubject(of, (own) => ConversationEntity.withdraw(entity, own)),
    answer: (of: OfMessage) => ofSubject(of, answered),
    events: ({ after, ...of }: OfMessage & { readonly after?: string | undefined }) =>
      ofSubject(of, (own) =>
        Effect.gen(function* () {
          const readable = (execution: Execution) => ({
            events: runs.events({ ...execution, ...(after === undefined ? {} : { after }) }),
            show: runs.show(execution),
            end: runs.end(execution)
          })
          if ((yield* stateOf(own))._tag !== "Waiting") {
            return yield* reading(readable(yield* executionOf(own)), showing.shows)
          }
          // the response begins now, and its events when the run does
          const later = Effect.flatMap(executionOf(own), (execution) => eventsFor(readable(execution), showing.shows))
          return { all: Stream.unwrap(refusing(of)(later)), isRead: false }
        })
      ),
    decide: ({ decisions, ...of }: OfMessage & Pick<Parameters<typeof runs.decide>[0], "decisions">) =>
      ofSubject(of, (own) =>
        Effect.gen(function* () {
          const { _tag } = yield* stateOf(own)
          // a message whose run has not begun waits for no decision
          if (_tag === "Waiting") return yield* Effect.fail(new RunConflictError({ run: of.id, reason: "at-work" }))
          return yield* runs.decide({ ...(yield* executionOf(own)), decisions })
        })
      ),
    queued: (of: OfConversation) => ofSubject(of, (own) => ConversationEntity.queued(entity, own)),
    interrupt: (of: OfConversation & { readonly dropQueue?: boolean }) =>
      ofSubject(of, (own) => Effect.map(ConversationEntity.interrupt(entity, own), (stopped) => ({ stopped }))),
    history: ({ from = 0, limit = listed, ...of }: OfConversation & Page) =>
      ofSubject(of, (own) =>
        Effect.flatMap(Conversations, (store) =>
          Effect.map(store.load({ ...own, from, limit }), ({ messages, next, version }) => ({
            version,
            messages: messages.filter(showing.showsMessage),
            ...(next === undefined ? {} : { next })
          }))
        )
      )
  }
}
