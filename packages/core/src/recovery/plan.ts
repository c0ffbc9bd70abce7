/** What the cost of an agent with skills is worked out of. */
import type * as Duration from "effect/Duration"
import type { OnExpiry } from "../data/Approval.ts"
import type { Rows } from "./Node.ts"

/** Its limits, its tables, its tools. */
export interface Plan {
  readonly budget: { readonly maxTurns: number; readonly maxToolCalls: number }
  readonly model?: unknown
  readonly onLlmError: Rows
  readonly transport?: "off" | undefined
  readonly work: Skilled | Choice
  readonly output?: unknown
  readonly outputRetries?: number
  /** Set if the run may have a last turn at a limit. */
  readonly around?: unknown
  /** Shortens the conversation before turns. */
  readonly ahead?: { readonly compaction: { readonly name: string; readonly agent?: unknown } }
  /** The checks of its guardrails. */
  readonly guards?: { readonly checks: ReadonlyArray<Check> } | undefined
}

/** The work of one skill: only a loop calls a model. */
export type Skilled = Loop | { readonly kind: "function" }

interface Loop {
  readonly kind: "loop"
  readonly toolset: { readonly entries: ReadonlyMap<string, Entry> }
}

interface Choice {
  readonly kind: "choice"
  readonly router: { readonly rows: Rows }
  readonly works: ReadonlyMap<string, Skilled>
}

/** A tool, and the tables that guard it, nearest first. */
export interface Entry {
  readonly tool: {
    readonly run: unknown
    readonly around?: unknown
    readonly verify: unknown
    readonly sideEffects: string
    readonly timeout: Duration.Duration | undefined
    /** How long a deferred tool may wait. */
    readonly deferral?: { readonly longest: Duration.Duration | undefined }
    readonly callTimeout: Duration.Duration | undefined
    /** How long a person may take to decide whether it runs. */
    readonly approval?: { readonly validFor: Duration.Duration; readonly onExpiry: OnExpiry } | undefined
  }
  readonly levels: ReadonlyArray<{ readonly rows: Rows }>
}

/** A check: of what the user says, or of each reply. */
export interface Check {
  readonly side: "input" | "output"
  /** The agent that it calls, where that is known. */
  readonly agent?: unknown
  readonly timeout: Duration.Duration
  /** Whether a reply is checked more than once while it is written. */
  readonly isRepeated: boolean
}
