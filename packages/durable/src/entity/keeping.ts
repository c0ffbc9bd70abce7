/** Adds to the store what a run has said, once. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { AgentEvent, Message } from "@kintsugi/core"
import { type ConflictError, ConversationLimitError, type Store, UnknownConversationError } from "../Conversations.ts"

/** Why the messages of a run are not in the store: they exceed its limits, or the conversation was deleted meanwhile. */
export const Unsaved = Schema.Union([ConversationLimitError, UnknownConversationError])

/** What the conversation keeps of a transcript. The prompt is that of the agent, whose next version may have another one. */
const spoken = (transcript: Message.Transcript): Message.Transcript =>
  transcript.filter(({ role }) => role !== "system")

/**
 * The messages that a run has added to a conversation, which had `before` messages. `said` is the message that it answers. The events of a
 * run have no bytes of images and files, so that message is taken from here, unless a guardrail has changed it.
 */
export const addedBy = (run: {
  readonly events: ReadonlyArray<AgentEvent.AgentEvent>
  readonly before: number
  readonly said: string | Message.UserContent
  readonly exit: Exit.Exit<unknown, unknown>
}): Message.Transcript => {
  const { before, events, exit, said } = run
  const [first, ...rest] = spoken(AgentEvent.transcriptOf(events)).slice(before)
  const isChanged = events.some(
    (event) => event.type === "guardrail" && event.side === "input" && event.message !== undefined
  )
  const added = [first === undefined || !isChanged ? Message.user(said) : first, ...rest]
  // a run whose log is full, or whose rows are gone, may have no more than its output
  const isAnswered = added.at(-1)?.role === "assistant"
  return !isAnswered && Exit.isSuccess(exit) && Predicate.isString(exit.value)
    ? [...added, Message.assistant(exit.value)]
    : added
}

/** Gives the version of the conversation. */
type Keeping = Effect.Effect<number, Exclude<Effect.Error<ReturnType<Store["append"]>>, ConflictError>>

const encode = Schema.encodeSync(Message.Message)

const textOf = (message: Message.Message): string => JSON.stringify(encode(message))

/**
 * Appends the messages of a run, unless they are in the conversation already: an append whose process died may have been written.
 * Another writer may have added messages meanwhile; then these follow them.
 */
export const keep = (
  { append, load }: Store,
  to: {
    readonly conversation: string
    readonly subject: string
    /** When the conversation began. */
    readonly since: number
    readonly expected: number
    readonly messages: Message.Transcript
  }
) => {
  const { expected, messages, since, ...of } = to
  const wanted = messages.map(textOf)
  const from = (at: number): Keeping =>
    Effect.catchTag(append({ ...of, expected: at, messages }), "ConflictError", (conflict) =>
      Effect.gen(function* () {
        if (conflict.actual < at) return yield* Effect.fail(UnknownConversationError.make(of))
        const { messages: after } = yield* load({ ...of, from: expected })
        const found = after.map(textOf)
        const isThere = found.some((_, index) => wanted.every((text, offset) => text === found[index + offset]))
        return isThere ? conflict.actual : yield* from(conflict.actual)
      })
    )
  return Effect.andThen(headOf({ load }, { ...of, since }), from(expected))
}

/** The head of the conversation that began then. One that was deleted is unknown, also if one with the same id was begun after it. */
export const headOf = (
  { load }: Pick<Store, "load">,
  { since, ...of }: { readonly conversation: string; readonly subject: string; readonly since: number }
) =>
  Effect.filterOrFail(
    load({ ...of, limit: 0 }),
    ({ createdAt }) => createdAt === since,
    () => UnknownConversationError.make({ conversation: of.conversation })
  )
