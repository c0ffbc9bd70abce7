/**
 * What happens in a run, as data. Traces, timelines, hooks and the trail of an error are all drawn from here. An event
 * is built only if a listener is there.
 */
import * as Schema from "effect/Schema"
import type * as Approval from "../data/Approval.ts"
import type * as Budget from "../budget/Budget.ts"
import type * as Coercion from "../coercion/Coercion.ts"
import type * as Compaction from "../recovery/Compaction.ts"
import * as Codec from "./codec.ts"
import type * as Issue from "../data/Issue.ts"
import type * as Ledger from "../budget/Ledger.ts"
import * as Message from "../data/Message.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import type { BudgetReason } from "../errors/RunError.ts"
import type { Snapshot } from "./Snapshot.ts"
import type * as Usage from "../data/Usage.ts"

/**
 * Where an event belongs. Events of a fixer or sub-agent name the run that started it as their `parent`, and the call, if it
 * was within one.
 */
export interface Origin {
  readonly runId: string
  readonly agent: string
  /** 0 before the first turn. */
  readonly turn: number
  /** Milliseconds since the epoch, by Effect's `Clock`. */
  readonly at: number
  readonly parent?: { readonly runId: string; readonly callId?: string }
}

/** A tool call, where an event is about one. */
export interface OfCall {
  readonly callId: string
  readonly tool: string
}

/** Which layer of recovery speaks. */
export type Layer = "transport" | "model" | "tool" | "effect"

/** What an event says besides where it belongs, by its `type`. */
export type Happening =
  /** `transcript` is what the conversation begins with. */
  | { readonly type: "run-start"; readonly input: unknown; readonly transcript: Message.Transcript }
  /** One of several skills was chosen: by a rule, by the model, or by the table for failures of asking it. */
  | {
      readonly type: "skill-chosen"
      readonly skill: string
      readonly by: "rule" | "model" | "table"
      /** From 0 to 1, when the model has chosen. */
      readonly confidence?: number
      /** What the conversation begins with from here on, in the place of any other system prompt; empty for none. */
      readonly prompt: string
    }
  | { readonly type: "turn-start" }
  /**
   * A model was asked; `attempt` counts the tries of this turn. Each attempt ends with one of the next three events: with its
   * reply, with its failure or defect, or when it was interrupted.
   */
  | { readonly type: "model-start"; readonly model: string; readonly provider: string; readonly attempt: number }
  | ({ readonly type: "model-end"; readonly reply: Message.Reply } & Asked)
  | ({ readonly type: "model-failed"; readonly error: unknown } & Asked)
  | ({ readonly type: "model-interrupted" } & Asked)
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  /**
   * What was streamed of this attempt does not count: another one stands in for it, or what a row answers. Of a composition it is
   * one of its parts that has failed or lost, `run`, with all that its runs below have shown.
   */
  | { readonly type: "attempt-discarded"; readonly attempt: number; readonly text: string; readonly run?: string }
  /**
   * The conversation was too long for the model, and was shortened: `transcript` is what it reads from here on. That of the
   * run stays whole.
   */
  | {
      readonly type: "compacted"
      readonly compaction: string
      readonly before: Compaction.Size
      readonly after: Compaction.Size
      readonly transcript: Message.Transcript
    }
  /**
   * `foreignName` is the name by which the server or library that runs the tool knows it, `calledAs` the one that the model wrote: each
   * where it is another.
   */
  | ({
      readonly type: "tool-start"
      readonly foreignName?: string
      readonly calledAs?: string
      readonly arguments: Message.ToolCall["arguments"]
    } & OfCall)
  | (OfOneCall & OfCall)
  /** A call waits for a decision before it runs; the decision has come. */
  | ({ readonly type: "approval-requested"; readonly request: Approval.Request } & OfCall)
  | ({ readonly type: "approval-decided"; readonly decision: Approval.Decision } & OfCall)
  /** A call that was not admitted: no such tool, or denied. */
  | ({ readonly type: "tool-refused"; readonly settlement: Message.Settlement } & OfCall)
  /**
   * A call that was not run, since its reply was cut off or the run ended before its turn came: beyond a limit, beside one that ends
   * the run, or still waiting for approval when another one failed.
   */
  | ({ readonly type: "tool-skipped"; readonly settlement: Message.Settlement } & OfCall)
  /**
   * The run has failed, and what a call had done in it or below it was to be undone: with an `error`, it could not be. `key` is the
   * idempotency key of that call.
   */
  | ({ readonly type: "tool-compensated"; readonly key: string; readonly error?: unknown } & OfCall)
  | ({ readonly type: "verdict" } & Decision)
  /**
   * What the turn has added to the transcript, every call settled; also when the run ends in the middle of it. A turn in
   * which no model answered adds nothing. One that waits for a decision ends where the run goes on, without another beginning.
   */
  | { readonly type: "turn-end"; readonly message: Message.Assistant }
  /** The final text was changed before it decoded: no model was asked for that. */
  | { readonly type: "output-coerced"; readonly change: Coercion.Change }
  /**
   * The final text does not fit the output schema. `message` is what the model reads of it; absent when it is not asked again.
   * It is added to the transcript. `isCut`: the model reached the limit of its length before the end of the text.
   */
  | {
      readonly type: "output-rejected"
      readonly text: string
      readonly issues: ReadonlyArray<Issue.Issue>
      readonly isCut?: boolean
      readonly message?: Message.User
    }
  /** A limit is near: once for each, by default when four fifths of it are spent. */
  | ({ readonly type: "budget-warning" } & Limit)
  /** A limit was reached, and `onExceeded` has decided about it. */
  | ({ readonly type: "budget-exceeded"; readonly decision: Budget.Decision["kind"] } & Limit)
  /** `finish`: how the reply ended that is the output, `length` where it was cut off; absent where no reply is. */
  | ({ readonly type: "run-completed"; readonly output: unknown; readonly finish?: Message.FinishReason } & Spent)
  /**
   * The run waits for a decision or a larger budget, and resumes from the snapshot. `message` is the turn that waits, as
   * the transcript has it if no decision ever comes; when the run resumes, `turn-end` has that turn's final message.
   */
  | ({ readonly type: "run-suspended"; readonly snapshot: Snapshot; readonly message?: Message.Assistant } & Spent)
  | ({
      readonly type: "run-failed"
      readonly error: unknown
      /** Whether it died, of a bug, rather than failed. */
      readonly isDefect: boolean
      /** Where several agents were tried for one answer: what each of them failed with, in order. */
      readonly reasons?: ReadonlyArray<unknown>
      readonly transcript: Message.Transcript
    } & Spent)
  | ({ readonly type: "run-interrupted"; readonly transcript: Message.Transcript } & Spent)

/** One attempt of a model call, and what was booked for it. */
export interface Asked {
  readonly model: string
  readonly attempt: number
  readonly spent: Ledger.Entry
}

/** What a run and all runs below it have consumed. */
export interface Spent {
  readonly usage: Usage.Usage
  /** Every attempt of every model call, oldest first. */
  readonly ledger: ReadonlyArray<Ledger.Entry>
}

/** A limit of the budget, and what is spent of it: turns, calls, tokens, cost, or milliseconds. */
export interface Limit {
  readonly reason: BudgetReason
  readonly spent: number
  readonly limit: number
}

/** What happens while one call is settled. */
export type OfOneCall =
  /** The arguments were changed before they decoded: no model was asked for that. */
  | { readonly type: "arguments-coerced"; readonly change: Coercion.Change }
  /** A tool says how far it is. */
  | { readonly type: "tool-progress"; readonly data: unknown }
  /** Denied before it ran. */
  | { readonly type: "tool-refused"; readonly settlement: Message.Settlement }
  | { readonly type: "tool-failed"; readonly attempt: number; readonly error: unknown }
  | { readonly type: "fix-start"; readonly round: number; readonly input: string }
  | { readonly type: "fix-end"; readonly round: number; readonly answer: string }
  | { readonly type: "fix-failed"; readonly round: number; readonly error: unknown }
  | { readonly type: "tool-end"; readonly use: ToolUse }
  | ({ readonly type: "verdict" } & Decision)

export type AgentEvent = Origin & Happening

/** The events of one type, or of several. */
export type OfType<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>

/** An event without its schema does not compile. */
const schemas: {
  readonly [Type in Happening["type"]]: Schema.Codec<Extract<AgentEvent, { readonly type: Type }>, unknown>
} = Codec.schemas

/**
 * Events as JSON: `Schema.fromJsonString(AgentEvent.AgentEvent)` is their codec as text. Errors of this library come back as what
 * they were, others as their name, message and code. Of input, output, parameters and progress comes back what is JSON.
 */
export const AgentEvent: Schema.Codec<AgentEvent, Schema.Json> = Schema.toCodecJson(
  Schema.Union(Object.values(schemas))
)

/** One decision of a recovery policy, and the layer that made it. */
export interface Decision extends Recovery.Decision {
  readonly layer: Layer
}

/**
 * A call that ended with something for the model to read. A call that ends its run, or that a limit of the run cuts off, has no such
 * event: its settlement is in the transcript of the last event.
 */
export interface ToolUse {
  readonly arguments: Message.ToolCall["arguments"]
  /** The decoded parameters of the last attempt; absent when none decoded. */
  readonly params?: unknown
  readonly settlement: Message.Settlement
  /** The verdict that made it a success or a told text, when the first attempt was none. */
  readonly recoveredBy?: string
  readonly attempts: number
}

/** Whether a run has ended with this event: every run emits exactly one such. */
export const isTerminal = (event: AgentEvent): boolean =>
  event.type === "run-completed" ||
  event.type === "run-failed" ||
  event.type === "run-interrupted" ||
  event.type === "run-suspended"

/**
 * What was said in a run, from its events: exactly its transcript, whole or streamed, routed, suspended or resumed. It is that of
 * the run which the first event is about, or of the one named. A run that is resumed says again what it begins with, so events of
 * several segments of one run, in order, give what was said at the end of the last; those of a part of a run, what was said so far.
 */
export const transcriptOf = (events: Iterable<AgentEvent>, runId?: string): Message.Transcript => {
  let said: Array<Message.Message> = []
  let wanted = runId
  for (const event of events) {
    wanted ??= event.runId
    if (event.runId === wanted) said = saidAfter(said, event)
  }
  return said
}

const saidAfter = (said: Array<Message.Message>, event: AgentEvent): Array<Message.Message> => {
  switch (event.type) {
    case "run-start":
      return [...event.transcript]
    case "skill-chosen": {
      const others = said.filter(({ role }) => role !== "system")
      return event.prompt === "" ? others : [Message.system(event.prompt), ...others]
    }
    case "turn-end":
    case "output-rejected":
    case "run-suspended":
      if (event.message !== undefined) said.push(event.message)
      return said
    default:
      return said
  }
}
