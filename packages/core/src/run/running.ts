/** A run at work: what it was told, what it keeps, and what surrounds it. */
import type * as Effect from "effect/Effect"
import type * as Message from "../data/Message.ts"
import type { RunContext } from "../event/RunContext.ts"
import type { Snapshot } from "../event/Checkpoint.ts"
import type * as Model from "../model/Model.ts"
import type { Toolset } from "../tool/Toolset.ts"
import type { Mode } from "./Frame.ts"
import type { Prefix } from "./modelCallState.ts"
import type { Plan, Said } from "./plan.ts"
import type { Start } from "./Start.ts"
import type { RunState } from "./state.ts"

/** What was said before a run goes on; with an id if it was said to the run itself. */
export interface Heard extends Partial<Message.SaidMessage> {
  readonly message: Message.User
}

/** What a run begins with. */
export interface Beginning {
  /** What the user says now, or has said last. */
  readonly said: Said
  /** Where a run was suspended. */
  readonly from: Snapshot | undefined
  /** Whether the user says something now. */
  readonly isNew: boolean
  /** What waits for its first safe point. */
  readonly heard: ReadonlyArray<Heard>
  /** The conversation, with this prompt at its head unless another stands there. */
  readonly messages: (prompt: string) => Array<Message.Message>
  /** The conversation, with this prompt at its head and no other anywhere: skills have their own. */
  readonly messagesFor: (prompt: string) => Array<Message.Message>
}

export interface Running {
  readonly plan: Plan
  readonly start: Start
  readonly beginning: Beginning
  readonly state: RunState
  readonly run: RunContext
  readonly mode: Mode
}

/** A run in which a model works, with these tools. */
export interface Looping extends Running {
  readonly toolset: Toolset
  readonly model: Model.Service
  /** The text from which the run goes on, if its conversation still ends with it: see `Continuing.ts`. */
  readonly prefix?: (model: Model.Service, request: Model.Request) => Effect.Effect<Prefix> | undefined
  /** Prepares each turn; absent where each turn is as usual. */
  readonly prepare?: Preparing
  /** The request as it is sent in this turn. */
  readonly sent?: ((request: Model.Request) => Model.Request) | undefined
}

/** How the turns of a run are prepared: see `Preparing.ts`. */
export interface Preparing {
  /** The model of the last turn, where one was chosen for it. */
  readonly model: Model.Service | undefined
  /** At the safe point: asks once, notes what was chosen in the state of the run, and gives the request with it. */
  readonly ask: (running: Looping, usual: Model.Request, answerTurn: boolean) => Effect.Effect<Model.Request, unknown>
  /** Calls the model that was chosen, with what was chosen. */
  readonly through: <A>(
    running: Looping,
    request: Model.Request,
    call: (running: Looping, request: Model.Request) => Effect.Effect<A, unknown>
  ) => Effect.Effect<A, unknown>
}

/** The work of such a run. */
export type Loop = (running: Looping) => Effect.Effect<unknown, unknown>

/** What is around the loop, such as the last turn of `Answering.ts`. */
export interface Around {
  readonly loop: (loop: Loop) => Loop
  /** What it says to the model, if it says something. It is no word of the user. */
  readonly says?: string
}

/** What a run ends with; `undefined` while it goes on. */
export type End = { readonly value: unknown } | undefined
