/** What an entity of a conversation is asked: each question carries the subject, and the entity checks it first. */
import { Persisted, Uninterruptible } from "effect/cluster/ClusterSchema"
import * as Entity from "effect/cluster/Entity"
import * as Rpc from "effect/rpc/Rpc"
import * as Schema from "effect/Schema"
import { Message } from "@kintsugi/core"
import { ConversationLimitError, ConversationStoreError, UnknownConversationError } from "../Conversations.ts"
import { ConversationBusyError, UnknownMessageError } from "./errors.ts"

/** A message of the user: a text, or texts, images and files. */
export const Content = Schema.Union([Schema.String, Message.UserContent])

/** A message that waits, or whose run is at work. */
export type Queued = typeof Queued.Type

/** The schema of a message that waits, or whose run is at work. */
export const Queued = Schema.Struct({
  id: Schema.String,
  message: Content,
  /** Whether the run of the message has begun: then the message can neither be edited nor withdrawn. */
  isAtWork: Schema.Boolean
})

/** The run of a message, and the name of its workflow, which has the version of the agent. */
const run = { executionId: Schema.String, workflow: Schema.String }

/** What has become of a message. */
export type MessageState = typeof MessageState.Type

/** The schema of what has become of a message. */
export const MessageState = Schema.Union([
  /** It waits, and so many messages come before it. */
  Schema.TaggedStruct("Waiting", { before: Schema.Int }),
  /** Its run is at work, or waits for a decision. */
  Schema.TaggedStruct("Working", run),
  /** Its run began with a version of the agent that the process of the conversation does not serve, and waits for a process that does. */
  Schema.TaggedStruct("Unserved", run),
  /** Its run has come to an end. */
  Schema.TaggedStruct("Ended", run),
  Schema.TaggedStruct("Withdrawn", {}),
  /** It was said to the run of the message `by`. */
  Schema.TaggedStruct("Steered", { by: Schema.String }),
  /** The store does not take it any more: its limits have changed since the message was accepted. */
  Schema.TaggedStruct("Refused", {})
])

const failed = [UnknownConversationError, ConversationStoreError] as const
const writing = Schema.Union([...failed, ConversationLimitError, ConversationBusyError])
const choosing = Schema.Union([...failed, ConversationLimitError, UnknownMessageError])

const subject = { subject: Schema.String }
const named = { ...subject, id: Schema.String }
const said = { ...named, message: Content }

const rpcs = [
  Rpc.make("send", { payload: said, success: MessageState, error: writing }),
  Rpc.make("say", { payload: { ...named, message: Schema.String }, success: MessageState, error: writing }),
  Rpc.make("interrupt", {
    payload: { ...subject, dropQueue: Schema.Boolean },
    success: Schema.Boolean,
    error: Schema.Union([...failed, ConversationLimitError])
  }),
  Rpc.make("queued", { payload: subject, success: Schema.Array(Queued), error: Schema.Union(failed) }),
  Rpc.make("edit", { payload: said, error: choosing }),
  Rpc.make("withdraw", { payload: named, error: choosing }),
  Rpc.make("state", { payload: named, success: MessageState, error: Schema.Union([...failed, UnknownMessageError]) }),
  // asked by the workflow of a message: it is stored, so that the next message begins although a runner dies
  Rpc.make("over", { payload: { executionId: Schema.String }, primaryKey: ({ executionId }) => executionId })
    .annotate(Persisted, true)
    .annotate(Uninterruptible, "server")
] as const

/** The entity of conversations with this name. */
export const entityOf = (name: string) => Entity.make(`Conversation/${name}`, rpcs)

/** The entity of one conversation, and its questions. */
export type ConversationProtocol = ReturnType<typeof entityOf>
