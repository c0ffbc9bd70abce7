/** The states of a tool call on its way to its settlement. */
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
import type { ToolContext, ToolDefinition } from "./ToolDefinition.ts"
import type * as ToolPolicy from "./ToolPolicy.ts"

/** The fields of every state. */
interface Common {
  /** The arguments as they are now: the model's, or those of the last repair or edit. */
  readonly args: Message.ToolCall["arguments"]
  /** How often the tool itself has run: arguments that do not decode are no run of it. */
  readonly runs: number
  /** Whether an earlier run was cut off after its start: it may have taken effect. */
  readonly isUncertain: boolean
  /** Whether a run of it has begun, and nothing says that it took no effect. */
  readonly mayHaveActed: boolean
  /** The arguments that the approver has edited, as canonical JSON: they need no further approval. */
  readonly edited?: string | undefined
  /** The last answer of a fixer if it did not decode: what this very fixer reads next. The arguments stay. */
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

/** The arguments have passed the gates: a mere retry does not pass them once more. */
export interface Admitted extends Common {
  readonly type: "Admitted"
  /** Absent where the arguments of a sub-agent that goes on no longer decode. */
  readonly decoded: Call.Decoded | undefined
  /** Where its sub-agent was suspended, until that has gone on. */
  readonly suspended?: Snapshot | undefined
  /** Of a deferred call that has begun: what it waits with, until it goes on. */
  readonly handed?: ForSettlement | undefined
}

/** The tool runs; or its run was stopped, and has not ended by itself. */
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
  /** `text` is what the model reads, if the tool has run before. */
  | { readonly type: "denied"; readonly error: ToolDeniedError; readonly text?: string }
  /** It waits for a decision, or its sub-agent does: it is not settled. */
  | { readonly type: "waits"; readonly checkpoint: CallCheckpoint }
  /** It is settled, and its result comes later. */
  | { readonly type: "deferred"; readonly late: LateCall; readonly checkpoint: CallCheckpoint }
  | { readonly type: "unverifiable"; readonly error: Unverifiable }
  /** What stands around the tool has made as many attempts as a call may have. */
  | { readonly type: "capped" }

export type CallState = Raw | Decoded | Admitted | Running | Waiting | Over

/** What stands before a run of a tool: the size of its arguments, and the policies of its agent. */
export interface Gates {
  /** The longest arguments, in bytes of UTF-8. */
  readonly maxArgsBytes: number
  readonly policies: ReadonlyArray<ToolPolicy.Policy>
}

/** One call at work. Its state is all of it that changes. */
export interface ToolCall {
  readonly entry: Entry
  readonly gates: Gates
  readonly site: CallSite
  state: CallState
  /** Once the first attempt has begun. */
  progress: Progress | undefined
  /** Of a tool that has something around its attempts. */
  readonly tries: Attempts | undefined
  /** Of such a tool, whether its last attempt was cut off and its result looked up. */
  wasFound?: boolean
  /** Whether a person is asked about its failure just now. */
  isAsked?: boolean
  /** A result that was written down before its attempt released what it had acquired. */
  encoded?: Encoded
  /** For how many milliseconds it has been at work, before its run was suspended too; absent where that has no limit. */
  readonly elapsed: (() => number) | undefined
}

/** The state in which a call begins, or goes on with these runs behind it. */
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

/** Other arguments, by an approver or a fixer, pass every gate again. */
export const repaired = (
  from: CallState,
  args: Message.ToolCall["arguments"],
  decoded: Call.Decoded,
  edited = from.edited
): Decoded => ({ ...common(from), type: "Decoded", args, decoded, edited, draft: undefined })

/** Edited arguments that do not decode. */
export const unread = (from: Decoded, args: Message.ToolCall["arguments"]): Raw => ({
  ...common(from),
  type: "Raw",
  args
})

export const waiting = (from: Decoded): Waiting => ({ ...from, type: "Waiting" })

export const waited = (from: Waiting): Decoded => ({ ...from, type: "Decoded" })

/** Arguments that have passed the gates once may run again. */
export const admitted = (from: Decoded | Admitted | Running): Admitted => {
  if (from.type === "Admitted") return from
  const { args, decoded, draft, edited, isUncertain, mayHaveActed, runs } = from
  return { type: "Admitted", args, runs, isUncertain, mayHaveActed, edited, draft, decoded }
}

/** A call that has begun before, and goes on, has passed every gate. */
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

/** A call that has failed, and waited for a person about that: its arguments have passed the gates. */
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

/** Whether the tool has run, and it was looked up that it has taken no effect. */
export const isCleared = ({ mayHaveActed, runs }: CallState): boolean => runs > 0 && !mayHaveActed

/** The run was stopped, and it was looked up that it had not taken effect. What is looked up holds for all runs before. */
export const cleared = (from: Running): Running => ({ ...from, mayHaveActed: false, isUncertain: false })

/** A run that has ended by itself, with a failure that may leave it open what it did. */
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

/** A tool and its tables, nearest first: its own, the agent's for it, the agent's defaults. */
export interface Entry {
  readonly tool: ToolDefinition
  readonly levels: ReadonlyArray<Level>
}

export interface Level {
  readonly name: "tool" | "agent" | "defaults" | "resilient"
  readonly rows: Rows
}
