/** The state of a run at work: its input, its services and its turns. */
import type * as Effect from "effect/Effect"
import type { Budget } from "../budget/Budget.ts"
import type * as Message from "../data/Message.ts"
import type { RunContext } from "../event/RunContext.ts"
import type { Snapshot } from "../event/Checkpoint.ts"
import type * as Model from "../model/Model.ts"
import type { Decisions } from "../tool/ToolDefinition.ts"
import type { Toolset } from "../tool/Toolset.ts"
import type { Mode } from "./Frame.ts"
import type { Prefix } from "./modelCallState.ts"
import type { Choice, Plan, Said } from "./plan.ts"
import type { Resumption } from "./Start.ts"
import type { RunState } from "./state.ts"

/** Where a run begins. */
export type Start = Anew | Resuming

/** A run that begins with an input has nothing of what a resumption brings. */
interface Anew {
  readonly kind: "input"
  readonly input: unknown
  readonly decisions?: undefined
  readonly budget?: undefined
}

export interface Resuming extends Pick<Resumption<unknown>, "from" | "input" | "say" | "budget"> {
  readonly kind: "resumption"
  readonly by: Resumes
  /** Absent for a sub-agent that goes on although its parent was not suspended. */
  readonly decisions: Decisions | undefined
}

/** A message that was said before the run began or resumed. It has an id if it was said to the run itself. */
export interface Heard extends Partial<Message.SaidMessage> {
  readonly message: Message.User
}

/** The beginning of a run. */
export interface Beginning {
  /** The words of the user that begin the run, or the user's last words if the run is resumed without new ones. */
  readonly said: Said
  /** The snapshot of a resumed run. */
  readonly from: Snapshot | undefined
  /** Whether the user has said something new. */
  readonly isNew: boolean
  /** The messages that the first safe point reads. */
  readonly heard: ReadonlyArray<Heard>
  /** The conversation, with this prompt at its head if it has no system message there. */
  readonly messages: (prompt: string) => Array<Message.Message>
  /** The conversation with this prompt and no other system message, because each skill has its own prompt. */
  readonly messagesFor: (prompt: string) => Array<Message.Message>
  /** The limits, if a resumption has replaced some of those of the agent. */
  readonly budget?: Budget | undefined
}

export interface Running {
  readonly plan: Plan
  readonly start: Start
  readonly beginning: Beginning
  readonly state: RunState
  readonly run: RunContext
  readonly mode: Mode
}

/** A run whose work is a model loop. */
export interface Looping extends Running {
  readonly toolset: Toolset
  readonly model: Model.Service
  /** The text that the run continues, if its conversation still ends with that text: see `Continuing.ts`. */
  readonly prefix?: (model: Model.Service, request: Model.Request) => Effect.Effect<Prefix> | undefined
  /** Runs `Agent.prepareTurn`; absent without it. */
  readonly prepare?: Preparing
  /** Changes the request of this turn right before it is sent. */
  readonly sent?: ((request: Model.Request) => Model.Request) | undefined
}

/** The work of `Agent.prepareTurn` in a run: see `Preparing.ts`. */
export interface Preparing {
  /** The model that was chosen for the last turn; `undefined` for the agent's own. */
  readonly model: Model.Service | undefined
  /** Runs the functions at the safe point, keeps their choice in the state of the run, and returns the request with that choice. */
  readonly ask: (running: Looping, usual: Model.Request, answerTurn: boolean) => Effect.Effect<Model.Request, unknown>
  /** Calls the model that was chosen, with what was chosen. */
  readonly through: <A>(
    running: Looping,
    request: Model.Request,
    call: (running: Looping, request: Model.Request) => Effect.Effect<A, unknown>
  ) => Effect.Effect<A, unknown>
}

/** How a run goes on. What resumes it brings this, so a bundle without resumptions does not contain it. */
export interface Resumes {
  /** Makes the beginning of the run. Throws on an input that does not fit, and on a snapshot of another agent. */
  readonly begin: (start: Resuming, plan: Plan, says: string | undefined) => Beginning
  /** Restores the state of the run. */
  readonly restoreState: (state: RunState, beginning: Beginning) => void
  /** Restores the counts and limits of the run. */
  readonly restore: (running: Running) => void
  /** Puts the messages that came while the run was suspended in its inbox, and goes on with `next`. */
  readonly hear: <A, E, R>(running: Running, next: () => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The first step of the loop. */
  readonly resume: (running: Looping) => Effect.Effect<End, unknown>
}

/** The work of such a run. */
export type Loop = (running: Looping) => Effect.Effect<unknown, unknown>

/** Chooses a skill, and does its work. */
export type Choose = (running: Running, choice: Choice, loop: Loop) => Effect.Effect<unknown, unknown, Model.Model>

/** What is around the loop, such as the last turn of `Answering.ts`. */
export interface Around {
  readonly loop: (loop: Loop) => Loop
  /** What it says to the model, if it says something. It is no word of the user. */
  readonly says?: string
}

/** What a run ends with; `undefined` while it goes on. */
export type End = { readonly value: unknown } | undefined
