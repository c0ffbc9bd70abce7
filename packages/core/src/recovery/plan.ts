/** The data from which `explain` computes the cost of an agent with skills. */
import type * as Duration from "effect/Duration"
import type { OnExpiry } from "../data/Approval.ts"
import type { Rows } from "./Node.ts"

/** An agent with skills: its limits, tables and tools. */
export interface Plan {
  readonly budget: { readonly maxTurns: number; readonly maxToolCalls: number }
  readonly model?: unknown
  readonly onLlmError: Rows
  readonly transport?: "off" | undefined
  readonly work: Skilled | Choice
  readonly output?: unknown
  readonly outputRetries?: number
  /** Set if the run may have a last turn when it reaches a limit. */
  readonly around?: unknown
  /** The compaction that shortens the conversation before turns (`Agent.compactAt`). */
  readonly ahead?: { readonly compaction: { readonly name: string; readonly agent?: unknown } }
  /** The guardrail checks of the agent. */
  readonly guards?: { readonly checks: ReadonlyArray<Check> } | undefined
}

/** The work of one skill. Only a loop calls a model. */
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

/** A tool, and the recovery tables that guard it, nearest first. */
export interface Entry {
  readonly tool: {
    readonly run: unknown
    readonly around?: unknown
    readonly verify: unknown
    readonly sideEffects: string
    readonly timeout: Duration.Duration | undefined
    /** The deferral of the tool, with the longest wait for its result. */
    readonly deferral?: { readonly longest: Duration.Duration | undefined }
    readonly callTimeout: Duration.Duration | undefined
    /** The approval that the tool requires, with the time that a person has for the decision. */
    readonly approval?: { readonly validFor: Duration.Duration; readonly onExpiry: OnExpiry } | undefined
  }
  readonly levels: ReadonlyArray<{ readonly rows: Rows }>
}

/** A guardrail check of each user message or of each reply. */
export interface Check {
  readonly side: "input" | "output"
  /** The agent that the check calls, if it is known. */
  readonly agent?: unknown
  readonly timeout: Duration.Duration
  /** Whether a reply is checked several times while it is streamed. */
  readonly isRepeated: boolean
}
