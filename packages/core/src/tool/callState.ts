/** The states of a tool call on its way to its settlement. */
import type * as Effect from "effect/Effect"
import type * as Message from "../data/Message.ts"
import type { ToolDeniedError } from "../errors/ToolError.ts"
import type { CallCheckpoint, CallProgress, ForSettlement, Snapshot } from "../event/Checkpoint.ts"
import type { Attempts } from "../recovery/Attempts.ts"
import type { Progress } from "../recovery/Layer.ts"
import type { Rows, Fix } from "../recovery/Node.ts"
import type * as Call from "./call.ts"
import type { CallSite } from "./CallSite.ts"
import type { LateCall } from "./Late.ts"
import type { Encoded, Unverifiable } from "./run.ts"
import type { ApprovalGate, ToolContext, ToolDefinition } from "./ToolDefinition.ts"
import type { Denies } from "./Denies.ts"

/** The fields of every state. */
interface Common {
  /** The arguments as they are now: the model's, or those of the last repair or edit. */
  readonly args: Message.ToolCall["arguments"]
  /** How often the tool itself has run. An attempt whose arguments do not decode does not count. */
  readonly runs: number
  /** Whether an earlier execution was cut off after its start and may have taken effect. */
  readonly isUncertain: boolean
  /** Whether an execution has begun and nothing says that it took no effect. */
  readonly mayHaveActed: boolean
  /** The arguments that the approver has edited, as canonical JSON: they need no further approval. */
  readonly edited?: string | undefined
  /** The last answer of a fixer, if it did not decode. The same fixer reads it in its next attempt. The arguments stay unchanged. */
  readonly draft?: { readonly rung: Fix; readonly text: string } | undefined
}

/** The arguments have not decoded yet. */
export interface Raw extends Common {
  readonly type: "Raw"
}

/** The arguments have not passed the gates yet. */
export interface Decoded extends Common {
  readonly type: "Decoded"
  readonly decoded: Call.Decoded
}

/** The arguments have passed the gates. A retry with the same arguments does not pass the gates again. */
export interface Admitted extends Common {
  readonly type: "Admitted"
  /** The decoded arguments; absent for a resumed sub-agent whose arguments no longer decode. */
  readonly decoded: Call.Decoded | undefined
  /** The snapshot of the suspended sub-agent, until its run is resumed. */
  readonly suspended?: Snapshot | undefined
  /** For a deferred call that has begun: its token, handle and deadline, until the call is resumed. */
  readonly handed?: ForSettlement | undefined
}

/** The tool runs, or it was stopped and has not ended by itself. */
export interface Running extends Omit<Admitted, "type" | "suspended" | "handed"> {
  readonly type: "Running"
  readonly context: ToolContext
}

/** The call waits for a decision. */
export interface Waiting extends Omit<Decoded, "type"> {
  readonly type: "Waiting"
}

/** The call has ended without its tables: no row gets its failure. */
export interface Over extends Common {
  readonly type: "Over"
  readonly decoded: Call.Decoded | undefined
  readonly why: Why
}

/** Why a call is over without its tables. */
export type Why =
  /** The call was denied. `text` is what the model reads if the tool has run before. */
  | { readonly type: "denied"; readonly error: ToolDeniedError; readonly text?: string }
  /** The call waits for a decision, or its sub-agent does. It is not settled. */
  | { readonly type: "waits"; readonly checkpoint: CallCheckpoint }
  /** The call is settled as `deferred`, and its result comes later. */
  | { readonly type: "deferred"; readonly late: LateCall; readonly checkpoint: CallCheckpoint }
  | { readonly type: "unverifiable"; readonly error: Unverifiable }
  /** A function of `Tool.around` has made as many attempts as a call may have. */
  | { readonly type: "capped" }

export type CallState = Raw | Decoded | Admitted | Running | Waiting | Over

/** What a call is checked by before its tool runs: the size of its arguments, and the policies of its agent. */
export interface Gates {
  /** The longest arguments, in bytes of UTF-8. */
  readonly maxArgsBytes: number
  /** What the policies of the agent say of a call; absent without policies. */
  readonly policy?: Denies | undefined
}

/** The attempts of a tool with `Tool.around`, which brings the code along, so a bundle without it is smaller. */
export interface Surrounded {
  readonly tries: () => Attempts
  readonly start: (self: ToolCall, state: Admitted, tries: Attempts) => Effect.Effect<unknown, unknown>
}

/** Sends a call through its approval gate. */
export type Through = (self: ToolCall, state: Decoded, gate: ApprovalGate) => Effect.Effect<unknown, unknown>

/** One tool call at work. What changes on its way to the settlement is mostly in `state`. */
export interface ToolCall {
  readonly entry: Entry
  readonly gates: Gates
  readonly site: CallSite
  state: CallState
  /** The progress of its recovery, once the first attempt has begun. */
  progress: Progress | undefined
  /** Counts the attempts of a tool with `Tool.around`; absent for other tools. */
  readonly tries: Attempts | undefined
  /** For a tool with `Tool.around`: whether the last attempt was cut off and a lookup found its result. */
  wasFound?: boolean
  /** Whether a person is being asked about a failure of this call. */
  isAsked?: boolean
  /** A result and its text, which was made before the attempt released its resources. */
  encoded?: Encoded
  /**
   * For how many milliseconds the call has been at work, including the time before its run was suspended. Absent for a call without a time
   * limit.
   */
  readonly elapsed: (() => number) | undefined
}

/** The first state of a call. `progress` has the executions that were made before its run was suspended. */
export const beginning = (
  args: Message.ToolCall["arguments"],
  progress: Pick<CallProgress, "executions" | "isUncertain"> | undefined
): Raw => {
  const runs = progress?.executions ?? 0
  return { type: "Raw", args, runs, isUncertain: progress?.isUncertain ?? false, mayHaveActed: runs > 0 }
}

export const decodedOf = (state: CallState): Call.Decoded | undefined =>
  state.type === "Raw" ? undefined : state.decoded

const common = ({ args, draft, edited, isUncertain, mayHaveActed, runs }: CallState): Common => ({
  args,
  runs,
  isUncertain,
  mayHaveActed,
  edited,
  draft
})

export const decoded = (
  { args, draft, edited, isUncertain, mayHaveActed, runs }: Raw,
  decoded: Call.Decoded
): Decoded => ({
  type: "Decoded",
  args,
  runs,
  isUncertain,
  mayHaveActed,
  edited,
  draft,
  decoded
})

/** The state of a call with new arguments from an approver or a fixer. They pass every gate again. */
export const repaired = (
  from: CallState,
  args: Message.ToolCall["arguments"],
  decoded: Call.Decoded,
  edited = from.edited
): Decoded => ({ ...common(from), type: "Decoded", args, decoded, edited, draft: undefined })

/** The state of a call whose edited arguments do not decode. */
export const unread = (from: Decoded, args: Message.ToolCall["arguments"]): Raw => ({
  ...common(from),
  type: "Raw",
  args
})

export const waiting = (from: Decoded): Waiting => ({ ...from, type: "Waiting" })

export const waited = (from: Waiting): Decoded => ({ ...from, type: "Decoded" })

/** The state of a call whose arguments have passed the gates, so that it may run again. */
export const admitted = (from: Decoded | Admitted | Running): Admitted => {
  if (from.type === "Admitted") return from
  const { args, decoded, draft, edited, isUncertain, mayHaveActed, runs } = from
  return { type: "Admitted", args, runs, isUncertain, mayHaveActed, edited, draft, decoded }
}

/** The state of a resumed call whose sub-agent or deferred work had begun: it has passed every gate. */
export const readmitted = (
  from: Raw,
  begun: Exclude<CallCheckpoint, { readonly type: "decision" }>,
  decoded: Call.Decoded | undefined
): Admitted => ({
  ...from,
  type: "Admitted",
  decoded,
  mayHaveActed: true,
  ...(begun.type === "agent" ? { suspended: begun.snapshot } : { handed: begun })
})

/** The state of a resumed call about whose failure a person was asked: its arguments have passed the gates. */
export const failedBefore = (from: Raw, decoded: Call.Decoded, isCleared: boolean): Admitted => ({
  ...from,
  type: "Admitted",
  decoded,
  mayHaveActed: !isCleared
})

export const running = ({ args, decoded, draft, edited, isUncertain }: Admitted, context: ToolContext): Running => ({
  type: "Running",
  args,
  runs: context.attempt,
  isUncertain,
  mayHaveActed: true,
  edited,
  draft,
  decoded,
  context
})

/** Whether the tool has run and a lookup found that it took no effect. */
export const isCleared = ({ mayHaveActed, runs }: CallState): boolean => runs > 0 && !mayHaveActed

/** The state after a lookup that found that the stopped execution took no effect. This holds for all earlier executions too. */
export const cleared = (from: Running): Running => ({ ...from, mayHaveActed: false, isUncertain: false })

/** The state after an execution that ended with a failure. `isUncertain` says whether that failure leaves open if the tool took effect. */
export const failed = (from: Running, isUncertain: boolean): Running => ({
  ...from,
  isUncertain: from.isUncertain || isUncertain
})

export const over = (from: CallState, why: Why): Over => ({
  ...common(from),
  type: "Over",
  decoded: decodedOf(from),
  why
})

/**
 * A tool and its tables in the order in which they apply: its own, the agent's table for this tool, the agent's defaults, the resilient
 * rows.
 */
export interface Entry {
  readonly tool: ToolDefinition
  readonly levels: ReadonlyArray<Level>
}

export interface Level {
  readonly name: "tool" | "agent" | "defaults" | "resilient"
  readonly rows: Rows
}
