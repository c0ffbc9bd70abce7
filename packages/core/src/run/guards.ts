/** What a run has of its guardrails: the named points at which they are asked, and what they keep. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Message from "../data/Message.ts"
import type { Snapshot } from "../event/Checkpoint.ts"
import type * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"
import type { Toolset } from "../tool/Toolset.ts"
import type { Hold } from "./modelCallState.ts"

/** The texts of a run. */
interface Texts {
  readonly messages: ReadonlyArray<Message.Message>
  readonly guarded: Guarded | undefined
  /** The conversation as readers may see it. */
  readonly transcript: () => Message.Transcript
  readonly add: (message: Message.Message) => void
  readonly close: (message: Message.Assistant) => Message.Assistant
  readonly replace: (before: Message.User, after: Message.User) => void
  /** Forgets the reply of the present turn. */
  readonly drop: () => void
}

/** What a run begins with, for its guardrails. */
export interface Begun {
  readonly from: Snapshot | undefined
  readonly isNew: boolean
  readonly said: { readonly message: Message.User; readonly text: string }
  readonly messages: (prompt: string) => Array<Message.Message>
  readonly messagesFor: (prompt: string) => Array<Message.Message>
}

/** A run at work, for its guardrails. */
export interface GuardedRun {
  readonly run: RunContext.RunContext
  readonly state: Texts
  readonly beginning: Begun
}

/** What has become of a text in the place of a reply. */
export type Instead = { readonly type: "answered"; readonly value: unknown } | { readonly type: "interrupted" }

/** What the guardrails of a run keep of it. */
export interface Guarded {
  /** A user has said this to the run. */
  readonly hear: (message: Message.User) => void
  /** For a snapshot of the run with these messages. */
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
  /** Before a skill is chosen or a function works: checks the words of the user, and goes on with those that have passed. */
  readonly first: <Run extends GuardedRun>(
    running: Run,
    next: (running: Run) => Effect.Effect<unknown, unknown, Model.Model>
  ) => Effect.Effect<unknown, unknown, Model.Model>
  /** At the safe point: checks what must have passed before the model is called. */
  readonly before: <Request, E>(
    running: GuardedRun & { readonly model: Model.Service },
    next: () => Effect.Effect<Request, E>,
    otherwise: () => Request
  ) => Effect.Effect<Request, E>
  /** Around a model call: checks the other words of the user beside it, and what the model says. */
  readonly around: <Asked extends { readonly type: string }>(
    running: GuardedRun & { readonly toolset: Toolset; readonly model: Model.Service },
    isOnce: boolean,
    call: (hold: Hold) => Effect.Effect<Asked, unknown>
  ) => Effect.Effect<Asked | Instead, unknown>
  /** Behind a function of the agent: checks the text that it has given, and gives what has passed. */
  readonly given: (running: GuardedRun, value: unknown) => Effect.Effect<unknown, unknown>
}
