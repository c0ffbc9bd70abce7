/** The chunks of the AI SDK's UI message stream. */
import type { AgentEvent, Message } from "@kintsugi/core"
import type * as Usage from "@kintsugi/core/Usage"

/** The kinds of text that a message streams in pieces. */
export type Block = "text" | "reasoning"

/** A chunk of a UI message stream. */
export type Chunk =
  | { readonly type: "start"; readonly messageId: string }
  | { readonly type: "start-step" | "reset-step" | "finish-step" | "abort" }
  | { readonly type: `${Block}-start` | `${Block}-end`; readonly id: string }
  | { readonly type: `${Block}-delta`; readonly id: string; readonly delta: string }
  /** A web page that the text names as its source. */
  | { readonly type: "source-url"; readonly sourceId: string; readonly url: string; readonly title?: string }
  /** A call, and once more with the arguments of a person who has approved others. */
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
  /** The id of the call. If an earlier call of the conversation had this id, the turn is appended. */
  readonly toolCallId: string
  /** The SDK's mark of tools that a front end knows only by name. */
  readonly dynamic: true
}

/** The reason why a message ended, in the words of the SDK. */
export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other"

/** The metadata of a finished message: facts about its run. */
interface Metadata {
  readonly usage: Usage.Usage
  /** Whether the run waits for a decision. It then resumes in a new stream. */
  readonly isSuspended: boolean
  /** The limit at which the run gave its answer; absent if the run reached no limit. */
  readonly endedBy?: AgentEvent.OfType<"run-completed">["endedBy"]
  /** The ids, the model and the service tier of the last reply; absent if the reply has none of these facts. */
  readonly reply?: Pick<Message.Reply, (typeof facts)[number]>
}

/** The fields of a reply that its message shows to front ends. */
export const facts = ["model", "responseId", "requestId", "rawFinish", "serviceTier"] as const

/** The options of the conversion to chunks. */
export interface Options {
  /**
   * Makes the text about a failure that ends a run. By default the text is the code of the error, because its message may hold private
   * data.
   */
  readonly describe?: (error: unknown) => string
  /**
   * Whether a `reset-step` chunk removes discarded text; `true` by default. Version 6 of the SDK does not know that chunk. With `false` the
   * text stays, and the text that replaces it begins a new step.
   */
  readonly resets?: boolean
}
