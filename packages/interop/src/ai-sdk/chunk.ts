/** The chunks of a UI message. */
import type { AgentEvent } from "@kintsugi/core"

/** A part of a message that is written bit by bit. */
export type Block = "text" | "reasoning"

/** One chunk, as far as runs need them. */
export type Chunk =
  | { readonly type: "start"; readonly messageId: string }
  | { readonly type: "start-step" | "reset-step" | "finish-step" | "abort" }
  | { readonly type: `${Block}-start` | `${Block}-end`; readonly id: string }
  | { readonly type: `${Block}-delta`; readonly id: string; readonly delta: string }
  | ({ readonly type: "tool-input-available"; readonly toolName: string; readonly input: unknown } & OfTool)
  | ({ readonly type: "tool-output-available"; readonly output: unknown; readonly preliminary?: true } & OfTool)
  | ({ readonly type: "tool-output-error"; readonly errorText: string } & OfTool)
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }
  | {
      readonly type: "tool-approval-request"
      readonly toolCallId: string
      /** The digest of the request: what a decision names. */
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
  /** The call's id; with its turn, where an earlier turn had one of the same id. */
  readonly toolCallId: string
  /** Front ends know these tools by name alone. */
  readonly dynamic: true
}

/** Why a message ended, in the words of the SDK. */
export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other"

/** What a finished message says of its run. */
export interface Metadata {
  readonly usage: AgentEvent.Spent["usage"]
  /** Whether it waits for a decision: then it goes on with a new stream. */
  readonly isSuspended: boolean
}

/** What a reader gets to see. */
export interface Options {
  /** What a reader is told of the failure that ends a run; its code by default: a message may hold what is not theirs. */
  readonly describe?: (error: unknown) => string
  /**
   * Whether text that no longer counts is taken back by `reset-step`; true by default. Version 6 of the SDK does not know that
   * chunk: with `false` the text stays, and what replaces it begins a step of its own.
   */
  readonly resets?: boolean
}
