/** The data of each type of event, and the run that an event belongs to. */
import type * as Schema from "effect/Schema"
import type * as Approval from "../data/Approval.ts"
import type * as Budget from "../budget/Budget.ts"
import type * as Coercion from "../coercion/Coercion.ts"
import type * as Issue from "../data/Issue.ts"
import type * as Ledger from "../budget/Ledger.ts"
import type * as Message from "../data/Message.ts"
import type { TurnChoice } from "../data/TurnChoice.ts"
import type { BudgetReason, EndedBy } from "../errors/Limit.ts"
import type { Snapshot, Waiting } from "./Snapshot.ts"
import type * as Usage from "../data/Usage.ts"
import type { VerdictRecord as RecoveryDecision, SideEffects, Size } from "../recovery/Node.ts"

/**
 * The run and the turn of an event. Events of a fixer or sub-agent name the run that started it as their `parent`, and the call if a
 * call started it.
 */
export interface Origin {
  readonly runId: string
  readonly agent: string
  /** 0 before the first turn. */
  readonly turn: number
  /** Milliseconds since the epoch, by Effect's `Clock`. */
  readonly at: number
  readonly parent?: { readonly runId: string; readonly callId?: string }
  /** The position after this event. Only readers that ask for cursors get it: see `events` of a handle. */
  readonly cursor?: string
}

/** The tool call of an event. */
export interface OfCall {
  readonly callId: string
  readonly tool: string
}

/**
 * A change that a model makes to a request because it does not accept the request as it is.
 *
 * @hidden
 */
export interface Adaptation {
  /** The family of models, or the model, that does not accept the request. */
  readonly family: string
  readonly changes: ReadonlyArray<{
    /** The option by its name: `temperature`, `toolChoice`, `reasoning` … */
    readonly option: string
    /** The requested value; absent if the request had none. */
    readonly asked?: Schema.Json
    /** The value that is sent; absent if the option is left out. */
    readonly sent?: Schema.Json
  }>
}

/** The layer of recovery that made a decision. */
export type Layer = "transport" | "model" | "tool" | "effect"

type CoercionChange = Parameters<typeof Coercion.decode>[0]["changes"][number]

/** The data of an event besides its origin, by its `type`. */
export type Happening =
  /**
   * The run begins. `transcript` is what the conversation begins with. `startedIn` is set if a fiber that outlived its run started this
   * run: the run that had ended, and the call in it. Such a run has no parent.
   */
  | {
      readonly type: "run-start"
      readonly input: unknown
      readonly transcript: Message.Transcript
      readonly startedIn?: NonNullable<Origin["parent"]>
    }
  /** A router has chosen one of several skills: by a rule, by the model, or by the table for failures of that model call. */
  | {
      readonly type: "skill-chosen"
      readonly skill: string
      readonly by: "rule" | "model" | "table"
      /** From 0 to 1, when the model has chosen. */
      readonly confidence?: number
      /** The system prompt from here on, which replaces any other; empty for none. */
      readonly prompt: string
    }
  /**
   * A turn begins. With `answerTurn`, the run has reached a limit, and this is its last turn. `message` is what the model reads about that;
   * it is added to the transcript.
   */
  | { readonly type: "turn-start"; readonly answerTurn?: true; readonly message?: Message.User }
  /** `Agent.prepareTurn` has chosen something for the turn, before the model is called. What is absent is as usual. */
  | ({ readonly type: "turn-prepared" } & TurnChoice)
  /**
   * An attempt of a model call begins. `attempt` counts the attempts of this turn. Each attempt ends with one of the next three events:
   * with its reply, with its failure or defect, or when it was interrupted.
   */
  | { readonly type: "model-start"; readonly model: string; readonly provider: string; readonly attempt: number }
  /**
   * The model does not take an option of its request, and the request was changed: what was asked, and what is sent. Before `model-end` and
   * with the option `messages`, its server has cut the prompt, or probably has: what the provider counts of it.
   */
  | ({ readonly type: "request-adapted"; readonly model: string; readonly provider: string } & Adaptation)
  /** The reply of the attempt is complete. */
  | ({ readonly type: "model-end"; readonly reply: Message.Reply } & ModelAttempt)
  /** The attempt has failed. */
  | ({ readonly type: "model-failed"; readonly error: unknown } & ModelAttempt)
  /** The attempt was interrupted. */
  | ({ readonly type: "model-interrupted" } & ModelAttempt)
  /** A piece of the reply's text arrives, in a streamed run. */
  | { readonly type: "text-delta"; readonly text: string }
  /** A piece of the model's reasoning arrives, in a streamed run. */
  | { readonly type: "reasoning-delta"; readonly text: string }
  /**
   * The streamed text of an attempt does not count: another attempt or the answer of a row replaces it. In a composition,
   * `discardedRunId` is the run of the part that has failed or lost; the text of its descendants is discarded too.
   */
  | {
      readonly type: "attempt-discarded"
      readonly attempt: number
      readonly text: string
      readonly discardedRunId?: string
    }
  /**
   * The next attempt goes on from the text that a broken reply has shown. What is streamed from here on comes behind `kept`. `dropped` are
   * the calls that the broken reply had made; they are not run. `attempt` is the attempt that broke off, or 0 if a run goes on from the
   * incomplete message of its transcript.
   */
  | {
      readonly type: "attempt-continued"
      readonly attempt: number
      readonly kept: string
      readonly dropped?: ReadonlyArray<OfCall>
    }
  /**
   * The conversation was too long for the model, and was shortened: `transcript` is what the model reads from here on. The transcript of
   * the run stays whole. `ahead`: `Agent.compactAt` has shortened it before that; the tokens that were counted, and the window.
   */
  | {
      readonly type: "compacted"
      readonly compaction: string
      readonly before: Size
      readonly after: Size
      readonly transcript: Message.Transcript
      readonly ahead?: { readonly tokens: number; readonly window: number }
    }
  /**
   * `Agent.compactAt` did not shorten the conversation, and the run goes on: the compaction failed, its result was no shorter, or the
   * window of the model is not known. The last is emitted once in a run.
   */
  | {
      readonly type: "not-compacted"
      readonly compaction: string
      readonly why: "failed" | "not-shorter" | "no-window"
      readonly error?: unknown
    }
  /**
   * A call begins. `foreignName` is the tool's name at the server or library that runs it, `calledAs` the name that the model wrote. Each
   * is absent if it is the same as `tool`. `sideEffects` is what a second run of the tool would do; absent if the tool does not declare it.
   * `definedAt` is the file, the line and the column of `Tool.make`; absent unless the environment has `KINTSUGI_DEFINED_AT=1`.
   */
  | ({
      readonly type: "tool-start"
      readonly foreignName?: string
      readonly calledAs?: string
      readonly sideEffects?: Exclude<SideEffects, "undeclared">
      readonly definedAt?: string
      readonly arguments: Message.ToolCall["arguments"]
    } & OfCall)
  | (OfOneCall & OfCall)
  /** A call waits for a person's decision before it runs. */
  | ({ readonly type: "approval-requested"; readonly request: Approval.ApprovalRequest } & OfCall)
  /** A person or a grant has decided about a call. */
  | ({
      readonly type: "approval-decided"
      readonly decision: Approval.Decision
      /** The id of the grant that admits the call; no person was asked then, and no request was made. */
      readonly by?: string
      /** Set if the call runs once more by this decision, and may have taken effect before. */
      readonly mayRunTwice?: true
    } & OfCall)
  /** No decision about a request came in time. Another request has an event of its own. */
  | ({ readonly type: "approval-expired"; readonly request: Approval.ApprovalRequest } & OfCall)
  /**
   * The server of a tool has changed its definition since the run has offered it. From this turn on, the tool is withheld (`refuse`), its
   * calls wait for an approval (`ask`), or the model is offered the new definition (`accept`). `before` and `after` are the digests of the
   * definitions. `after` is absent if the server no longer has the tool.
   */
  | {
      readonly type: "tool-changed"
      readonly tool: string
      readonly server: string
      readonly action: "refuse" | "ask" | "accept"
      readonly before: string
      readonly after?: string
    }
  /** The model reads a description of an image or file in a result, because its wire carries none. Once for a call. */
  | ({
      readonly type: "parts-described"
      readonly model: string
      readonly parts: ReadonlyArray<{ readonly type: "image" | "file"; readonly mediaType: string }>
    } & OfCall)
  /** A call did not run: there is no such tool, or a policy or a person has refused it. */
  | ({ readonly type: "tool-denied"; readonly settlement: Message.Settlement } & OfCall)
  /**
   * A call did not run, because its reply was cut off or the run ended first. It was beyond a limit, another call ended the run, or it
   * still waited for approval when another call failed.
   */
  | ({ readonly type: "tool-skipped"; readonly settlement: Message.Settlement } & OfCall)
  /**
   * After the run has failed, the effect of a call was undone: of this run or of a descendant. With an `error`, the compensation
   * failed. `key` is the idempotency key of that call.
   */
  | ({ readonly type: "tool-compensated"; readonly key: string; readonly error?: unknown } & OfCall)
  /** A policy has decided about a failure. */
  | ({ readonly type: "verdict" } & LayerVerdict)
  /**
   * A turn has ended, with all calls settled. `message` is what the turn has added to the transcript, also if the run ends in the middle of
   * the turn. A turn in which no model answered adds nothing. A model call that was stopped adds what a reader had seen of it, as an
   * `incomplete` message. A turn that waits for a decision ends after the run has resumed, without a second `turn-start`.
   */
  | { readonly type: "turn-end"; readonly message: Message.Assistant }
  /** The final text was mended before it decoded, without a model call. */
  | { readonly type: "output-coerced"; readonly change: CoercionChange }
  /**
   * The final text does not fit the output schema. `message` is what the model reads about it; absent if the model is not called again.
   * It is added to the transcript. `isCut`: the reply reached the model's length limit before the end of the text.
   */
  | {
      readonly type: "output-rejected"
      readonly text: string
      readonly issues: ReadonlyArray<Issue.Issue>
      readonly isCut?: boolean
      readonly message?: Message.User
    }
  /**
   * For one reader: earlier events are gone, and those that follow are all there. `transcript` is what they made of the run, and
   * `text` what the model call at work had written. Both are of the outermost run.
   */
  | { readonly type: "events-lost"; readonly transcript: Message.Transcript; readonly text?: string }
  /**
   * A guardrail has decided about a text of the user (`input`), or of the model (`output`). `reason` is why it was blocked. With an
   * `index`, `message` is the message of the transcript at that index from here on. Otherwise `message` is what the model reads about its
   * withheld answer; it is added to the transcript.
   */
  | {
      readonly type: "guardrail"
      readonly guard: string
      readonly side: "input" | "output"
      readonly verdict: "pass" | "block" | "replace"
      readonly reason?: string
      readonly index?: number
      readonly message?: Message.User
    }
  /** A message was said to the run at work, and waits in its inbox. */
  | ({ readonly type: "message-queued" } & Said)
  /** A said message is in the transcript now; `turn` is the turn that reads it. */
  | ({ readonly type: "message-read" } & Said)
  /** The run has ended before it has read a said message. */
  | ({ readonly type: "message-returned" } & Said)
  /** A limit is near: once for each, by default when four fifths of it are spent. */
  | ({ readonly type: "budget-warning" } & Limit)
  /**
   * A limit was reached, and `Agent.onBudgetExceeded` has decided about it. `wanted` is what it decided for, if that is not possible here:
   * the run stops.
   */
  | ({
      readonly type: "budget-exceeded"
      readonly action: Budget.LimitAction["type"]
      readonly wanted?: "answer"
    } & Limit)
  /**
   * The last event: the run has an output. `finish` is the finish reason of the reply that is the output, `length` if it was cut off;
   * absent if the output is no reply. `endedBy` is the limit at which the run has answered in its last turn.
   */
  | ({
      readonly type: "run-completed"
      readonly output: unknown
      readonly finish?: Message.FinishReason
      readonly endedBy?: EndedBy
      /** The deferred calls that the run has left at work. */
      readonly open?: ReadonlyArray<Extract<Waiting, { readonly type: "deferred" }>>
    } & Spent)
  /**
   * The last event for now: the run waits for a decision or a larger budget, and resumes from the snapshot. `message` is the turn that
   * waits, as the transcript has it if no decision ever comes; when the run resumes, `turn-end` has that turn's final message.
   */
  | ({ readonly type: "run-suspended"; readonly snapshot: Snapshot; readonly message?: Message.Assistant } & Spent)
  /** The last event: the run has failed. */
  | ({
      readonly type: "run-failed"
      readonly error: unknown
      /** Whether the run ended with a defect, and not with a typed failure. */
      readonly isDefect: boolean
      /** If several agents were tried for one answer: the failure of each, in order. */
      readonly reasons?: ReadonlyArray<unknown>
      readonly transcript: Message.Transcript
    } & Spent)
  /** The last event: the run was interrupted. */
  | ({ readonly type: "run-interrupted"; readonly transcript: Message.Transcript } & Spent)

/** A said message, and its id. */
type Said = Pick<Message.SaidMessage, "id" | "message">

/** One attempt of a model call, and what was booked for it. */
export interface ModelAttempt {
  readonly model: string
  readonly attempt: number
  readonly entry: Ledger.Entry
}

/** What a run and its descendants have consumed. */
export interface Spent {
  /** The said messages that the run has not read, in their order; absent if there are none. */
  readonly unread?: ReadonlyArray<Message.SaidMessage>
  readonly usage: Usage.Usage
  /** Every attempt of every model call, oldest first. */
  readonly ledger: ReadonlyArray<Ledger.Entry>
}

/** A limit of the budget, and what is spent of it: turns, calls, tokens, cost, or milliseconds. */
interface Limit {
  readonly reason: BudgetReason
  readonly spent: number
  readonly limit: number
}

/** What happens while one call is settled. */
export type OfOneCall =
  /** The arguments were mended before they decoded, without a model call. */
  | { readonly type: "arguments-coerced"; readonly change: CoercionChange }
  /** A tool reports its progress. */
  | { readonly type: "tool-progress"; readonly data: unknown }
  /** A deferred tool has begun. The call waits for its settlement until `expiresAt`, in milliseconds since the epoch. */
  | {
      readonly type: "tool-waiting"
      readonly handle: Schema.Json
      readonly expiresAt: number
      /** The handle of the attempt whose place this one takes, if the call has been settled as `deferred` meanwhile. */
      readonly replaces?: Schema.Json
    }
  /** The result of a call that was settled as `deferred` has come; `message` is what the model reads of it. */
  | {
      readonly type: "tool-result"
      readonly handle: Schema.Json
      readonly settlement: Message.Settlement
      readonly message: Message.User
    }
  /** The result was put aside, and the model reads its head. `characters` are UTF-16 units, `bytes` those of UTF-8. */
  | { readonly type: "result-put-aside"; readonly handle: string; readonly characters: number; readonly bytes: number }
  /** The store of long results has failed, and the result is cut. */
  | { readonly type: "result-cut"; readonly characters: number; readonly error: unknown }
  /** A call did not run: a policy or a person has refused it. */
  | { readonly type: "tool-denied"; readonly settlement: Message.Settlement }
  /** An attempt of a call has failed. */
  | { readonly type: "tool-failed"; readonly attempt: number; readonly error: unknown }
  /** A fixer begins. */
  | { readonly type: "fix-start"; readonly repair: number; readonly input: string }
  /** A fixer has answered. */
  | { readonly type: "fix-end"; readonly repair: number; readonly answer: string }
  /** A fixer has failed. */
  | { readonly type: "fix-failed"; readonly repair: number; readonly error: unknown }
  /** A call has a result, or a failure that the model reads. */
  | { readonly type: "tool-end"; readonly use: ToolUse }
  /** A policy has decided about a failure. */
  | ({ readonly type: "verdict" } & LayerVerdict)

/** One verdict of a recovery policy, and the layer that gave it. */
export interface LayerVerdict extends RecoveryDecision {
  readonly layer: Layer
}

/**
 * A call that ended with something for the model to read. A call that ends its run, or that ends with it, has no such event: its settlement
 * is in the transcript of the last event. A call that a message interrupts has one.
 */
export interface ToolUse {
  readonly arguments: Message.ToolCall["arguments"]
  /** The decoded parameters of the last attempt; absent when none decoded. */
  readonly params?: unknown
  readonly settlement: Message.Settlement
  /** The verdict that ended the call with an answer or a told failure, if the first attempt failed. */
  readonly recoveredBy?: string
  readonly attempts: number
}
