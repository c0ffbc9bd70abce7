/** The chunks of a UI message. */
import type { AgentEvent, Message } from "@kintsugi/core"
import type * as Usage from "@kintsugi/core/Usage"

/** A part of a message that is streamed. */
export type Block = "text" | "reasoning"

/** A chunk of a UI message stream. */
export type Chunk =
  | { readonly type: "start"; readonly messageId: string }
  | { readonly type: "start-step" | "reset-step" | "finish-step" | "abort" }
  | { readonly type: `${Block}-start` | `${Block}-end`; readonly id: string }
  | { readonly type: `${Block}-delta`; readonly id: string; readonly delta: string }
  /** A page that the text names as its source. */
  | { readonly type: "source-url"; readonly sourceId: string; readonly url: string; readonly title?: string }
  | ({ readonly type: "tool-input-available"; readonly toolName: string; readonly input: unknown } & OfTool)
  | ({ readonly type: "tool-output-available"; readonly output: unknown; readonly preliminary?: true } & OfTool)
  | ({ readonly type: "tool-output-error"; readonly errorText: string } & OfTool)
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }
  | {
      readonly type: "tool-approval-request"
      readonly toolCallId: string
      /** The digest of the request, which a decision refers to. */
      readonly approvalId: string
      readonly reason: string
    }
  | {
      readonly type: "tool-approval-response"
      readonly approvalId: string
      readonly approved: boolean
      readonly reason?: string
    }
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "finish"; readonly finishReason: FinishReason; readonly messageMetadata: Metadata }

interface OfTool {
  /** The call's id; with its turn appended if an earlier turn had the same id. */
  readonly toolCallId: string
  /** Front ends know these tools only by name. */
  readonly dynamic: true
}

/** Why a message ended, in the words of the SDK. */
export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other"

/** Metadata of a finished message about its run. */
interface Metadata {
  readonly usage: Usage.Usage
  /** Whether the run waits for a decision. It then resumes in a new stream. */
  readonly isSuspended: boolean
  /** The limit at which the run has answered; absent if it came to its end by itself. */
  readonly endedBy?: AgentEvent.OfType<"run-completed">["endedBy"]
  /** What the last reply says about itself: its ids, its model and its service tier; absent if it says nothing. */
  readonly reply?: Pick<Message.Reply, (typeof facts)[number]>
}

/** The facts of a reply that a message has. */
export const facts = ["model", "responseId", "requestId", "rawFinish", "serviceTier"] as const

/** Options of what a reader sees. */
export interface Options {
  /** The text about a failure that ends a run; its code by default, because its message may hold private data. */
  readonly describe?: (error: unknown) => string
  /**
   * Whether `reset-step` removes discarded text; true by default. Version 6 of the SDK does not know that chunk: with
   * `false` the text stays, and its replacement begins a new step.
   */
  readonly resets?: boolean
}
