/** What a run keeps about its guardrails, and the points of a run at which they check. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Message from "../data/Message.ts"
import type { Snapshot } from "../event/Checkpoint.ts"
import type * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"
import type { Toolset } from "../tool/Toolset.ts"
import type { Hold } from "./modelCallState.ts"

/** The texts of a run, which a guardrail can remove or replace. */
interface Texts {
  readonly messages: ReadonlyArray<Message.Message>
  readonly guarded: Guarded | undefined
  /** The conversation without withheld words. */
  readonly transcript: () => Message.Transcript
  readonly add: (message: Message.Message) => void
  readonly close: (message: Message.Assistant) => Message.Assistant
  readonly replace: (before: Message.User, after: Message.User) => void
  /** Removes the reply of the current turn. */
  readonly drop: () => void
}

/** The beginning of a run, as its guardrails see it. */
export interface Begun {
  readonly from: Snapshot | undefined
  readonly isNew: boolean
  readonly said: { readonly message: Message.User; readonly text: string }
  readonly messages: (prompt: string) => Array<Message.Message>
  readonly messagesFor: (prompt: string) => Array<Message.Message>
}

/** A run, as its guardrails see it. */
export interface GuardedRun {
  readonly run: RunContext.RunContext
  readonly state: Texts
  readonly beginning: Begun
}

/** A value or a text that takes the place of a blocked reply. */
export type Instead = { readonly type: "answered"; readonly value: unknown } | { readonly type: "interrupted" }

/** What the guardrails keep during a run. */
export interface Guarded {
  /** Notes a message that the user has said to the run. */
  readonly hear: (message: Message.User) => void
  /** The guardrails' part of a snapshot with these messages. */
  readonly record: (messages: Message.Transcript) => NonNullable<Snapshot["guards"]>
}

/** The guardrails of an agent. */
export interface Guards {
  /** For `explain`. */
  readonly checks: ReadonlyArray<{
    readonly side: "input" | "output"
    readonly agent?: unknown
    readonly timeout: Duration.Duration
    readonly isRepeated: boolean
  }>
  readonly begin: (begun: Begun, messages: Message.Transcript) => Guarded
  /** Checks the words of the user before a skill is chosen or a function runs, and continues with the words that passed. */
  readonly first: <Run extends GuardedRun>(
    running: Run,
    next: (running: Run) => Effect.Effect<unknown, unknown, Model.Model>
  ) => Effect.Effect<unknown, unknown, Model.Model>
  /** Runs the checks that must pass before the model is called, at the safe point before the turn. */
  readonly before: <Request, E>(
    running: GuardedRun & { readonly model: Model.Service },
    next: () => Effect.Effect<Request, E>,
    otherwise: () => Request
  ) => Effect.Effect<Request, E>
  /** Runs the other checks of the user's words beside a model call, and checks the reply. */
  readonly around: <Asked extends { readonly type: string }>(
    running: GuardedRun & { readonly toolset: Toolset; readonly model: Model.Service },
    isOnce: boolean,
    call: (hold: Hold) => Effect.Effect<Asked, unknown>
  ) => Effect.Effect<Asked | Instead, unknown>
  /** Checks the text that a function of the agent returns, and gives the text that passed. */
  readonly given: (running: GuardedRun, value: unknown) => Effect.Effect<unknown, unknown>
}
