/** What a run gets of its agent: limits, tables, listeners, and the work. */
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

/** What happens to a streamed attempt that broke off after its first text: it fails, is repeated, or goes on from that text. */
export type OnPartial = "fail" | "restart" | "continue"

/** What happens to the other calls of a batch when one of them ends the run. */
export type Siblings = "settleAll" | "interrupt"

/** The input as a message, and its text, for routers and functions. */
export interface Said {
  readonly message: Message.User
  readonly text: string
}

/** The first message of a user from the input of an agent. Throws on an input that does not fit. */
export type ReadInput = (input: unknown) => Said

/** All that the loop needs of an agent. */
export interface Plan {
  readonly agent: string
  readonly work: Work
  readonly budget: Budget.Budget
  /** The agent's own model, for this run's loop alone: the tools get their services from outside. */
  readonly model: Layer.Layer<Model.Model, unknown> | undefined
  /** How long its layers stay built after their last run where no runtime closes them, in milliseconds. */
  readonly modelIdle: number
  readonly onLlmError: Rows
  /** By default an attempt fails if the caller of the run has asked for its words, and is repeated otherwise. */
  readonly onPartial: Exclude<OnPartial, "continue"> | Continuing | undefined
  /** Whether its table takes the place of what transports send again. */
  readonly transport: "off" | undefined
  readonly siblings: Siblings | undefined
  readonly listeners: ReadonlyArray<Frame.Listener>
  /** What is done about a limit of the budget that was reached; without it, the limit ends the run. */
  readonly onExceeded: OnExceeded | undefined
  readonly readInput: ReadInput
  /** What the model's last text has to become; absent where it is the output as it is. */
  readonly output: Output | undefined
  /** What checks the words of the user, and what the model says. */
  readonly guards?: Guards | undefined
  /** How often the model is called again for a text that does not fit. */
  readonly outputRetries: number
  /** Shortens the conversation before it is too long, see `Agent.compactAt`. */
  readonly ahead?: Ahead
}

/** Shortens the conversation at a safe point. */
export interface Ahead {
  readonly compaction: Compaction
  /** `request` makes the request of the turn, as it would be without that. */
  readonly shorten: (running: Shortening, request: () => Model.Request) => Effect.Effect<void>
}

/** The part of a run at work whose conversation may be shortened. */
export interface Shortening {
  readonly run: RunContext
  readonly state: RunState
  readonly model: Model.Service
  readonly prepare?: { readonly model: Model.Service | undefined }
  readonly beginning: { readonly from: Pick<Snapshot, "prepared" | "turn"> | undefined }
}

/** What a run has to do: the work of its only skill, or that of the one that it chooses. */
export type Work = Skilled | Choice

/** The work of one skill. */
export type Skilled = Loop | Plain

/** The model works, with these tools. */
export interface Loop {
  readonly kind: "loop"
  readonly prompt: string
  readonly toolset: Toolset.Toolset
}

/** A function works, and no model is called. */
export interface Plain {
  readonly kind: "function"
  readonly prompt: string
  readonly run: (input: string) => Effect.Effect<unknown, unknown>
}

/** First a skill has to be chosen. */
export interface Choice {
  readonly kind: "choice"
  readonly prompt: string
  readonly router: Definition
  readonly candidates: ReadonlyArray<Candidate>
  /** By the names of the candidates. */
  readonly works: ReadonlyMap<string, Skilled>
}
