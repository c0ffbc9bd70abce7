/** The data of verdicts at run time. Only the type `Recovery.Verdict` has their type parameters. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as Schedule from "effect/Schedule"
import type { ApprovalRequest, OnExpiry } from "../data/Approval.ts"
import type { Asks, Site } from "./Deciding.ts"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import type { Kind as ToolKind, Severity } from "../errors/ToolError.ts"
import type { BudgetLeft, VerdictKind } from "../errors/Trail.ts"

export interface Retry {
  readonly kind: "retry"
  readonly schedule: Schedule.Schedule<unknown, unknown, unknown>
  /** The given options or the given schedule. `Names` tells retries apart by it. */
  readonly madeOf: object
  readonly acknowledged: boolean
}

export interface Fix {
  readonly kind: "fix"
  readonly fixer: (input: string) => Effect.Effect<string, unknown>
  readonly maxRuns: number
  readonly as: "arguments" | "result"
  readonly input: ((failure: FixInput) => string) | undefined
  readonly acknowledged: boolean
  /** Runs the fixer once. It is a field of the verdict, so that a bundle without fixers has no code for them. */
  readonly run: (self: Fix, seen: unknown, fixRun: FixRun, call: Broken) => Effect.Effect<Fixed>
  /** Decides about a failure. A field, so that a bundle without this verdict has no code for it: a `Follow` of `policy.ts`. */
  readonly follow: unknown
}

export interface Ask {
  readonly kind: "ask"
  readonly reason: string | undefined
  readonly validFor: Duration.Duration
  readonly maxRuns: number
  readonly onExpiry: OnExpiry
  /** Whether a person can be asked about this call. A field, so that a bundle without `ask` has no code for it. */
  readonly isReachable: (site: AskedCall["site"]) => Effect.Effect<boolean>
  /** Asks once. */
  readonly run: (self: Ask, seen: unknown, fixRun: FixRun, asked: Asked) => Effect.Effect<Fixed>
  /** Decides about a failure. A field, so that a bundle without this verdict has no code for it: a `Follow` of `policy.ts`. */
  readonly follow: unknown
}

/** A failed call about which a person is asked, and the functions that carry out the decision. */
export interface Asked extends Asks {
  readonly call: AskedCall
  /** Waits for a decision, unless another call ends the run first. */
  readonly untilDecided: <A>(decided: Effect.Effect<A>) => Effect.Effect<A>
  /** Runs the tool's `verify`. The result is `undefined` if the tool took no effect. It fails if the outcome is unknown. */
  readonly lookUp: (
    verify: NonNullable<AskedTool["verify"]>
  ) => Effect.Effect<{ readonly value: unknown } | undefined, unknown>
  readonly change: (fields: Partial<Pick<AskedState, "edited" | "mayHaveActed" | "isUncertain">>) => void
  /** Replaces the arguments of the call. The result is an error if the new arguments are invalid. */
  readonly accept: (args: Schema.Json) => Effect.Effect<unknown>
  /** Uses a person's value as the result of the call. */
  readonly answer: (answer: { readonly value: Schema.Json }) => Fixed
  /** Ends the call as denied. `text` is for the model if the tool has already run. */
  readonly deny: (reason: string, text: string | undefined) => void
  /** Suspends the run with this request. `error` is the failure as JSON, if it can be encoded. */
  readonly suspend: (request: ApprovalRequest, error: Schema.Json | undefined) => void
}

/** A tool call, with the fields that a request for approval needs. */
export interface AskedCall {
  readonly entry: { readonly tool: AskedTool }
  readonly site: Site & {
    readonly call: Message.ToolCall
    readonly key: string
    readonly run: { readonly runId: string; readonly isApart?: boolean | undefined }
    /** The position from which a resumed call continues, with the request with which the run was suspended. */
    readonly from: { readonly type: string; readonly request?: ApprovalRequest } | undefined
  }
  readonly state: AskedState
}

interface AskedTool {
  readonly name: string
  readonly sideEffects: SideEffects
  readonly spec: () => Pick<Message.ToolSpec, "parameters">
  /** The schema of the tool's own failures. */
  readonly failure: Schema.Codec<unknown, unknown> | undefined
  readonly verify: ((idempotencyKey: string) => Effect.Effect<Option.Option<unknown>, unknown>) | undefined
}

interface AskedState {
  readonly type: string
  readonly args: Schema.Json
  readonly runs: number
  readonly isUncertain: boolean
  readonly edited?: string | undefined
  readonly decoded?: { readonly json: Schema.Json } | undefined
  /** Whether a run of the tool has begun that may have taken effect. */
  readonly mayHaveActed: boolean
}

export interface Compact {
  readonly kind: "compact"
  readonly compaction: Compaction
  /** Runs the compaction, and passes a shorter conversation to `take`. A field, so that a bundle without `compact` has no code for it. */
  readonly run: (
    self: Compaction,
    overflow: Overflow,
    helping: Helping<CompactEvent>,
    take: (messages: Message.Transcript) => void
  ) => Effect.Effect<Compacted>
  /** Decides about a failure. A field, so that a bundle without this verdict has no code for it: a `Follow` of `policy.ts`. */
  readonly follow: unknown
}

/**
 * A way to shorten a conversation. If its effect fails, the rung gives up. `R` are the services that it needs.
 *
 * @hidden
 */
export interface Compaction<out R = never> {
  /** The name for events and `explain`. */
  readonly name: string
  readonly compact: (overflow: Overflow) => Effect.Effect<Message.Transcript, unknown, R>
  /** The agent that summarises, if there is one. `explain` counts its model calls. */
  readonly agent?: unknown
}

/** A model request whose conversation was too long. */
export interface Overflow {
  /** The conversation that the model refused. */
  readonly transcript: Message.Transcript
  readonly error: LlmError
  /** The message in the transcript that is the input of the run; absent if it is unknown. */
  readonly input?: Message.User
}

/** The size of a conversation: the number of its messages, and the UTF-16 units of their JSON. */
export interface Size {
  readonly messages: number
  readonly characters: number
}

/** A number of runs: `retries` counts the repetitions, `maxAttempts` all runs. Exactly one of them is given. */
export type Count =
  | { readonly retries: number; readonly maxAttempts?: never }
  | { readonly maxAttempts: number; readonly retries?: never }

/** The failure from which the `input` function of `Recovery.fix` builds the fixer's input. */
export interface FixInput {
  readonly error: unknown
  readonly context: FailureContext
}

/** One run of a fixer, or one request to a person, within a rung. */
export interface FixRun {
  readonly run: number
  readonly maxRuns: number
  readonly context: FailureContext
  /** The original failure; the row may see it in another form. */
  readonly error: unknown
  /** The error of the previous answer, if that answer did not fit. */
  readonly unfit?: unknown
  /** Whether a person was asked before the run was suspended. The decision is then already there. */
  readonly wasAsked: boolean
}

/** The failed call that a fixer repairs, and the functions of its layer. */
export interface Broken {
  readonly tool: {
    readonly name: string
    readonly description: string
    readonly spec: () => Pick<Message.ToolSpec, "parameters">
  }
  /** The arguments as text, for the fixer. */
  readonly raw: string
  readonly messageOf: (error: unknown) => string
  readonly helping: Helping<FixEvent>
  /** Uses an answer of the fixer if it is valid; otherwise the outcome is `failed`. */
  readonly take: (answer: string) => Effect.Effect<Fixed>
  /** Maps a failure of the fixer itself to the outcome of its run. */
  readonly ended: (error: unknown) => Fixed
}

/** The outcome of one run of a fixer, or of one decision of a person. */
export type Fixed =
  | { readonly type: "repaired" }
  | { readonly type: "answered"; readonly value: unknown; readonly by: string }
  /** The fixer failed with an `EscalationError`. `error` is the failure that it had to repair. */
  | {
      readonly type: "escalated"
      readonly reason: string
      readonly severity: Severity
      readonly by: "fix"
      readonly error: unknown
    }
  /** The fixer failed, or its answer is invalid. With `next`, the next run of the fixer reads that error instead of the old one. */
  | { readonly type: "failed"; readonly error: unknown; readonly next?: unknown }
  /**
   * The failure leaves. `failed`: this error is final. `rethrown`: a person denied the call, or the run is suspended for the decision.
   */
  | { readonly type: "left"; readonly why: "failed" | "rethrown"; readonly error: unknown }
  /** The same fixer already runs in an ancestor of this run, so it is not started again. */
  | { readonly type: "skipped" }
  /** A person's decision does not count, or does not fit the call: then `unfit` is the reason. */
  | { readonly type: "not-counted"; readonly unfit?: unknown }

export type FixEvent =
  | { readonly type: "fix-start"; readonly input: string }
  | { readonly type: "fix-end"; readonly answer: string }
  | { readonly type: "fix-failed"; readonly error: unknown }

/** The outcome of a compaction. It gives up if it fails or makes the conversation no shorter. */
export type Compacted = { readonly type: "shorter" } | GaveUp

interface GaveUp extends Pick<VerdictRecord, "why"> {
  readonly type: "gave up"
  readonly error?: unknown
}

export interface CompactEvent {
  readonly type: "compacted"
  readonly compaction: string
  readonly before: Size
  readonly after: Size
  readonly transcript: Message.Transcript
}

/** The means to run a fixer or a compaction as a child of the run that it helps. */
export interface Helping<in Event> {
  /** Whether the same fixer or compaction already runs in an ancestor. It is then not started again. */
  readonly isAtWork: boolean
  readonly within: <A, E, R>(start: () => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Emits an event and starts the next effect in one step, so that no interruption can separate them. */
  readonly emitThen: <A>(event: () => Event, next: () => Effect.Effect<A>) => Effect.Effect<A>
}

export interface Ladder {
  readonly kind: "ladder"
  readonly rungs: ReadonlyArray<Node>
}

export interface RespondWith {
  readonly kind: "respondWith"
  readonly answer: (error: unknown) => Effect.Effect<unknown, unknown>
}

export interface Tell {
  readonly kind: "tell"
  readonly render: Renderer | undefined
  /** The text if `render` fails or returns nothing; by default the message of the failure. */
  readonly byDefault?: ((error: unknown, context: FailureContext) => string) | undefined
  readonly afterwards: Afterwards | undefined
}

export type Node = Marked &
  (
    | Retry
    | Fix
    | Ask
    | Compact
    | Ladder
    | Tell
    | { readonly kind: "escalate"; readonly severity: Severity | undefined }
    | RespondWith
    | { readonly kind: "raise" }
    | { readonly kind: "rethrow" }
    | When
  )

/** Optional properties of a verdict. */
interface Marked {
  /** The verdict that decides after a nearer row has given up. */
  readonly behind?: Node
  /** The number of failed calls in a row that this verdict expects: the breaker of the run waits for three more. */
  readonly patience?: number
}

/** A handler. */
export interface When {
  readonly kind: "when"
  readonly choose: (error: unknown, context: FailureContext) => Node
  /** The verdicts that the handler declares; `undefined` if it declares none. */
  readonly among: ReadonlyArray<Node> | undefined
  /** The declared number of repetitions; `undefined` if the handler declares none. */
  readonly atMost: number | undefined
}

/** Writes the text that a model reads about a failure. */
export type Renderer = (error: unknown, context: FailureContext) => string | Effect.Effect<string, unknown>

/** How the run continues after it has told a failure to the model: as before, or without tools. */
export type Afterwards = "continue" | "tools-off"

/** The rows of a table at run time, by their keys. */
export type Rows = ReadonlyMap<string, Node>

/** One decision of a policy, for the `verdict` event and the trail. */
export interface VerdictRecord {
  /** The tag of the failure. */
  readonly tag: string
  readonly verdict: VerdictKind
  /** Whether the rung of this verdict gave up: it did not act on this failure. */
  readonly gaveUp: boolean
  /** Why it gave up, if not because of its counts: no person can be asked, or no model can continue the text. */
  readonly why?: "no-approver" | "no-continuation"
  /** The index of the rung in its ladder, from 0. */
  readonly rung: number
  /** The number of attempts so far. */
  readonly attempt: number
  readonly delay: Duration.Duration
  /** The wait that the server asked for; absent without a hint. */
  readonly hint?: Duration.Duration
  /** The tag of the error with the hint: the failure itself, or one of its causes. */
  readonly hintFrom?: string
  /** The rest of the run's budget; absent outside of a run. */
  readonly left?: BudgetLeft
  readonly error: unknown
}

/** The facts about a failure that handlers and renderers get. */
export interface FailureContext {
  /** Attempts made so far, the failed one included. */
  readonly attempt: number
  /** How often the tool itself has run; invalid arguments do not count as a run. Absent outside of tools. */
  readonly runs?: number
  /** The earlier errors, with those of fixers, oldest first; for a plain effect, the last 99. */
  readonly previous: ReadonlyArray<unknown>
  /** The time since the first attempt started. */
  readonly elapsed: Duration.Duration
  /** How many of the latest batches of calls in a row had a failure, without the present batch; 0 outside of tools. */
  readonly failingBatches: number
  /** In how many of the latest batches in a row this tool failed, without the present batch; 0 outside of tools. */
  readonly failuresInARow: number
  /** For renderers: whether the same failure has come several times in a row. */
  readonly isRepeated?: boolean
  /** For renderers: whether an earlier run of the call was cut off, and may have taken effect. */
  readonly isUncertain?: boolean
  /** The name of the tool; absent outside of tools. */
  readonly tool?: string
  readonly callId?: string
  /** The raw arguments of a tool call, as the model sent them. */
  readonly arguments?: unknown
  /** The decoded parameters of the failed attempt; absent if the arguments did not decode. */
  readonly params?: unknown
  readonly sideEffects?: SideEffects
  /** Where the tool runs. Renderers mark texts of foreign servers as data. */
  readonly kind?: ToolKind
}

/**
 * The effect of a second run of a tool: `none` and `idempotent` tools do no harm, `unsafe` ones may do harm, and `undeclared` ones do not
 * say.
 *
 * @hidden
 */
export type SideEffects = "none" | "idempotent" | "unsafe" | "undeclared"
