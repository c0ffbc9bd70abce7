/** The plan of a run, which its agent gives: limits, tables, listeners, and the work. */
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Budget from "../budget/Budget.ts"
import type * as Message from "../data/Message.ts"
import type * as Model from "../model/Model.ts"
import type { Candidate, Definition } from "./Routing.ts"
import type * as Toolset from "../tool/Toolset.ts"
import type { OnExceeded } from "../budget/Meter.ts"
import type * as Frame from "./Frame.ts"
import type { Continuing } from "./modelCallState.ts"
import type { Guards } from "./guards.ts"
import type { Output } from "./Output.ts"
import type { Compaction, Rows } from "../recovery/Node.ts"
import type { Snapshot } from "../event/Checkpoint.ts"
import type { RunContext } from "../event/RunContext.ts"
import type { RunState } from "./state.ts"

/** What happens when a streamed attempt breaks off after its first text: the call fails, repeats the attempt, or continues the text. */
export type OnPartial = "fail" | "restart" | "continue"

/** What happens to the other calls of a batch when one of them ends the run. */
export type Siblings = "settleAll" | "interrupt"

/** The input as a message and as text. Routers and functions read the text. */
export interface Said {
  readonly message: Message.User
  readonly text: string
}

/** Makes the first user message from the input of an agent. Throws if the input does not fit. */
export type ReadInput = (input: unknown) => Said

/** The parts of an agent that its loop needs. */
export interface Plan {
  readonly agent: string
  readonly work: Work
  readonly budget: Budget.Budget
  /** The agent's own model, for the loop alone. Tools get their services from the caller. */
  readonly model: Layer.Layer<Model.Model, unknown> | undefined
  /** How many milliseconds the agent's layers stay built after its last run, if no runtime closes them earlier. */
  readonly modelIdle: number
  readonly onLlmError: Rows
  /** By default the call fails if its caller reads the text as a stream, and repeats the attempt otherwise. */
  readonly onPartial: Exclude<OnPartial, "continue"> | Continuing | undefined
  /** With `"off"`, the transport does not resend: the agent's table handles all failures. */
  readonly transport: "off" | undefined
  readonly siblings: Siblings | undefined
  readonly listeners: ReadonlyArray<Frame.Listener>
  /** Handles a limit that was reached. Without it, the limit ends the run. */
  readonly onExceeded: OnExceeded | undefined
  readonly readInput: ReadInput
  /** The schema of the output; absent if the last text is the output. */
  readonly output: Output | undefined
  /** The guardrails of the user's words and of the model's texts. */
  readonly guards?: Guards | undefined
  /** How many more turns the model has if its answer does not fit the output schema. */
  readonly outputRetries: number
  /** Shortens the conversation before it is too long, see `Agent.compactAt`. */
  readonly ahead?: Ahead
}

/** Shortens the conversation at a safe point, before it exceeds the context window. */
export interface Ahead {
  readonly compaction: Compaction
  /** Shortens the conversation if necessary. `request` makes the request of the turn as it is without a compaction. */
  readonly shorten: (running: Shortening, request: () => Model.Request) => Effect.Effect<void>
}

/** The parts of a run that a compaction needs. */
export interface Shortening {
  readonly run: RunContext
  readonly state: RunState
  readonly model: Model.Service
  readonly prepare?: { readonly model: Model.Service | undefined }
  readonly beginning: { readonly from: Pick<Snapshot, "prepared" | "turn"> | undefined }
}

/** The work of a run: that of its only skill, or a choice among several skills. */
export type Work = Skilled | Choice

/** The work of one skill. */
export type Skilled = Loop | Plain

/** The work of a skill with tools: the model loop. */
export interface Loop {
  readonly kind: "loop"
  readonly prompt: string
  readonly toolset: Toolset.Toolset
}

/** The work of a skill that is a function. */
export interface Plain {
  readonly kind: "function"
  readonly prompt: string
  readonly run: (input: string) => Effect.Effect<unknown, unknown>
}

/** The work of an agent with several skills: one is chosen first. */
export interface Choice {
  readonly kind: "choice"
  readonly prompt: string
  readonly chooser: Chooser
  readonly router: Definition
  readonly candidates: ReadonlyArray<Candidate>
  /** The work of each skill, by name. */
  readonly works: ReadonlyMap<string, Skilled>
}

/** What chooses among several skills. Each skill that `Skill` makes brings it, so a bundle of an agent without skills does not contain it. */
export interface Chooser {
  /** The router of an agent without one. */
  readonly router: () => Definition
  /** A `Choose` of `running.ts`, which imports this file. */
  readonly choose: (running: never, choice: Choice, loop: never) => Effect.Effect<unknown, unknown, Model.Model>
}
