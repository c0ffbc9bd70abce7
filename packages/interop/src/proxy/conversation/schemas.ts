/** The requests and answers of conversations. */
import * as Schema from "effect/Schema"
import { Message } from "@kintsugi/core"
import { RunId } from "../schemas.ts"

/** A conversation. Its id is chosen by the client: one that is drawn at random meets no other. */
export const conversationFields = { conversation: RunId }

/** A message of a conversation. */
export const messageFields = { ...conversationFields, id: RunId }

const id = { id: RunId }

/** What has become of a message. */
export type MessageProgress = typeof MessageProgress.Type

/** The schema of what has become of a message. */
export const MessageProgress = Schema.Union([
  /** It waits, and so many messages come before it. */
  Schema.TaggedStruct("Waiting", { ...id, before: Schema.Int }),
  /** Its run is at work, or waits for a decision. */
  Schema.TaggedStruct("Working", id),
  /** Its run has come to an end. */
  Schema.TaggedStruct("Ended", id),
  Schema.TaggedStruct("Withdrawn", id),
  /** It was said to the run of another message. */
  Schema.TaggedStruct("Steered", id),
  /** The store does not take it any more: its limits have changed since the message was accepted. */
  Schema.TaggedStruct("Refused", id)
])

/** A message that waits, or whose run is at work. */
export interface QueuedMessage<Said> {
  readonly id: string
  readonly message: Said
  /** Whether its run has begun: then the message can neither be edited nor withdrawn. */
  readonly isAtWork: boolean
}

export const queuedOf = <Said extends Schema.Top>(said: Said) =>
  Schema.Array(Schema.Struct({ ...id, message: said, isAtWork: Schema.Boolean }))

/** A page of what was said. */
export type HistoryPage = typeof HistoryPage.Type

/** The schema of a page of what was said. */
export const HistoryPage = Schema.Struct({
  /** The number of messages of the conversation. */
  version: Schema.Int,
  messages: Message.Transcript,
  /** The number of the first message of the next page; absent if this page is the last. */
  next: Schema.optionalKey(Schema.Int)
})

/** The most messages of a page. */
const mostOfPage = 1000

const atLeastZero = Schema.isGreaterThanOrEqualTo(0)
const ofPage = Schema.isBetween({ minimum: 1, maximum: mostOfPage })

export const pageFields = {
  /** The number of the first message, counted from 0. */
  from: Schema.optionalKey(Schema.Int.check(atLeastZero)),
  /** The most messages of the page; 100 by default. */
  limit: Schema.optionalKey(Schema.Int.check(ofPage))
}

/** The same as parameters of a URL. */
export const pageQuery = {
  from: Schema.optionalKey(Schema.FiniteFromString.check(Schema.isInt(), atLeastZero)),
  limit: Schema.optionalKey(Schema.FiniteFromString.check(Schema.isInt(), ofPage))
}

export interface Page {
  readonly from?: number
  readonly limit?: number
}

export const sendFields = <Said extends Schema.Top>(message: Said) => ({
  message,
  /** Without an id the server draws one. A message that is sent twice with the same id has one run. */
  id: Schema.optionalKey(RunId)
})

export const stopFields = {
  /** Withdraws what waits, too; `false` by default. */
  dropQueue: Schema.optionalKey(Schema.Boolean)
}

export const Stopped = Schema.Struct({
  /** Whether a run was at work. */
  stopped: Schema.Boolean
})
