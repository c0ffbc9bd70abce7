/** What a verdict is made of at run time. Its type parameters live in `Recovery.Verdict` only. */
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
  /** The options or the schedule as they were given. */
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
}

export interface Ask {
  readonly kind: "ask"
  readonly reason: string | undefined
  readonly validFor: Duration.Duration
  readonly maxRuns: number
  readonly onExpiry: OnExpiry
  /** Whether a person can be asked about a call there; a field, as `run` is, so that a bundle without this verdict has no code for it. */
  readonly isReachable: (site: AskedCall["site"]) => Effect.Effect<boolean>
  /** Asks once. */
  readonly run: (self: Ask, seen: unknown, fixRun: FixRun, asked: Asked) => Effect.Effect<Fixed>
}

/** A failed call about which a person is asked, and what a decision can do to it. */
export interface Asked extends Asks {
  readonly call: AskedCall
  /** Waits for a decision, as long as the run is at work. */
  readonly untilDecided: <A>(decided: Effect.Effect<A>) => Effect.Effect<A>
  /** What the `verify` of the tool finds; nothing if the tool took no effect. Fails if that is unknown. */
  readonly lookUp: (
    verify: NonNullable<AskedTool["verify"]>
  ) => Effect.Effect<{ readonly value: unknown } | undefined, unknown>
  readonly change: (fields: Partial<Pick<AskedState, "edited" | "mayHaveActed" | "isUncertain">>) => void
  /** Takes other arguments; gives the error of those that do not decode. */
  readonly accept: (args: Schema.Json) => Effect.Effect<unknown>
  /** Takes a value in the place of the result. */
  readonly answer: (answer: { readonly value: Schema.Json }) => Fixed
  /** The call ends as denied; `text` is what the model reads if the tool has run before. */
  readonly deny: (reason: string, text: string | undefined) => void
  /** The run is suspended with this request; `error` is the failure as data, if its schema is known. */
  readonly suspend: (request: ApprovalRequest, error: Schema.Json | undefined) => void
}

/** A tool call, as far as a request is made of it. */
export interface AskedCall {
  readonly entry: { readonly tool: AskedTool }
  readonly site: Site & {
    readonly call: Message.ToolCall
    readonly key: string
    readonly run: { readonly runId: string; readonly isApart?: boolean | undefined }
    /** Where it goes on, with the request that the run was suspended with. */
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
  /** Whether a run of it has begun, and nothing says that it took no effect. */
  readonly mayHaveActed: boolean
}

export interface Compact {
  readonly kind: "compact"
  readonly compaction: Compaction
  /** Runs the compaction; a field for the same reason. `take` gets the shorter conversation. */
  readonly run: (
    self: Compaction,
    overflow: Overflow,
    helping: Helping<CompactEvent>,
    take: (messages: Message.Transcript) => void
  ) => Effect.Effect<Compacted>
}

/**
 * Makes a conversation shorter. With any failure it gives up; its needs are in `R`.
 *
 * @hidden
 */
export interface Compaction<out R = never> {
  /** For people: events and `explain` show it. */
  readonly name: string
  readonly compact: (overflow: Overflow) => Effect.Effect<Message.Transcript, unknown, R>
  /** The agent that it runs, if it runs one: `explain` counts its model calls. */
  readonly agent?: unknown
}

/** A request that was too long. */
export interface Overflow {
  /** What the model was to read. */
  readonly transcript: Message.Transcript
  readonly error: LlmError
  /** The input of the run, as its message in the transcript; absent if it is unknown. */
  readonly input?: Message.User
}

/** How long a conversation is: its messages, and the UTF-16 units of their JSON. */
export interface Size {
  readonly messages: number
  readonly characters: number
}

/** How often: `retries` counts the extra runs, `maxAttempts` all runs. Exactly one of them is given. */
export type Count =
  | { readonly retries: number; readonly maxAttempts?: never }
  | { readonly maxAttempts: number; readonly retries?: never }

/** What a `fix` may build its fixer's input from. */
export interface FixInput {
  readonly error: unknown
  readonly context: FailureContext
}

/** Which run of a fixer it is within its rung. */
export interface FixRun {
  readonly run: number
  readonly maxRuns: number
  readonly context: FailureContext
  /** The failure itself, of which the row may see another shape. */
  readonly error: unknown
  /** Why the answer of the run before does not fit, if it does not. */
  readonly unfit?: unknown
  /** Whether a person was asked before the run was suspended, and this is the decision. */
  readonly wasAsked: boolean
}

/** The call that a fixer has to repair, as its layer sees it. */
export interface Broken {
  readonly tool: {
    readonly name: string
    readonly description: string
    readonly spec: () => Pick<Message.ToolSpec, "parameters">
  }
  /** Its arguments, as the fixer is to read them. */
  readonly raw: string
  readonly messageOf: (error: unknown) => string
  readonly helping: Helping<FixEvent>
  /** Takes an answer of the fixer, if it fits. */
  readonly take: (answer: string) => Effect.Effect<Fixed>
  /** What a failure of the fixer itself means. */
  readonly ended: (error: unknown) => Fixed
}

/** The outcome of one run of a fixer, or of one decision of a person. */
export type Fixed =
  | { readonly type: "repaired" }
  | { readonly type: "answered"; readonly value: unknown; readonly by: string }
  /** `error` is what was to be repaired. */
  | {
      readonly type: "escalated"
      readonly reason: string
      readonly severity: Severity
      readonly by: "fix"
      readonly error: unknown
    }
  /** `next` is what the fixer reads next, where its own answer is what fails now. */
  | { readonly type: "failed"; readonly error: unknown; readonly next?: unknown }
  /** `failed`: for good. `rethrown`: a person was asked, and the call is denied, or waits. */
  | { readonly type: "left"; readonly why: "failed" | "rethrown"; readonly error: unknown }
  /** This fixer already runs in an ancestor: it is not started within itself. */
  | { readonly type: "skipped" }
  /** A person has given a decision that does not count, or one that does not fit: then `unfit` says why. */
  | { readonly type: "not-counted"; readonly unfit?: unknown }

export type FixEvent =
  | { readonly type: "fix-start"; readonly input: string }
  | { readonly type: "fix-end"; readonly answer: string }
  | { readonly type: "fix-failed"; readonly error: unknown }

/** The outcome of a compaction: it gives up if it fails or makes nothing shorter. */
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

/** How a fixer or a compaction runs as a part of the run that it helps. */
export interface Helping<in Event> {
  /** Whether it already runs in an ancestor: it is not started within itself. */
  readonly isAtWork: boolean
  readonly within: <A, E, R>(start: () => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Emits an event and goes on at once: no interruption comes between the two. */
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
  /** The verdict that decides after a nearer row gave up. */
  readonly behind?: Node
  /** How many calls in a row it lets fail: the breaker of the run waits for three more. */
  readonly patience?: number
}

/** A handler. */
export interface When {
  readonly kind: "when"
  readonly choose: (error: unknown, context: FailureContext) => Node
  /** All that it may choose, where that was said. */
  readonly among: ReadonlyArray<Node> | undefined
  /** How often it may run something again, where that was said. */
  readonly atMost: number | undefined
}

/** The text that a model reads of a failure. */
export type Renderer = (error: unknown, context: FailureContext) => string | Effect.Effect<string, unknown>

/** How the run goes on after a told failure: as before, or without tools. */
export type Afterwards = "continue" | "tools-off"

/** A table as the driver reads it. */
export type Rows = ReadonlyMap<string, Node>

/** One decision of a policy, as it is reported and kept in the trail. */
export interface VerdictRecord {
  /** The tag of the failure. */
  readonly tag: string
  readonly verdict: VerdictKind
  /** Whether the rung of this verdict gave up: it did not act on this failure. */
  readonly gaveUp: boolean
  /** Why it gave up, where its counts do not say so: no person can be asked, or no model can go on from the text. */
  readonly why?: "no-approver" | "no-continuation"
  /** The rung of the ladder, from 0. */
  readonly rung: number
  /** How many attempts were made so far. */
  readonly attempt: number
  readonly delay: Duration.Duration
  /** The wait that the server has asked for, if it has. */
  readonly hint?: Duration.Duration
  /** The tag of the error that carried the hint: the failure itself, or one beneath it. */
  readonly hintFrom?: string
  /** What was left of the run's budget; absent outside of a run. */
  readonly left?: BudgetLeft
  readonly error: unknown
}

/** What a policy knows about a failure. */
export interface FailureContext {
  /** Attempts made so far, the failed one included. */
  readonly attempt: number
  /** How often the tool itself has run; arguments that do not decode count as no run. Absent outside of tools. */
  readonly runs?: number
  /** The errors before this one, those of fixers included, oldest first; of an effect that is no call, the last 99. */
  readonly previous: ReadonlyArray<unknown>
  /** Since the first attempt started. */
  readonly elapsed: Duration.Duration
  /** Batches of calls with at least one failure, in a row, before the present one; 0 outside of tools. */
  readonly failingBatches: number
  /** Batches in a row in which this tool failed, before the present one; 0 outside of tools. */
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
  /** The decoded parameters of the failed attempt; absent when none decoded. */
  readonly params?: unknown
  readonly sideEffects?: SideEffects
  /** Where the tool runs. Texts of a foreign server are not trusted. */
  readonly kind?: ToolKind
}

/**
 * What a second run of a tool may do: nothing, nothing new, harm, or it is undeclared.
 *
 * @hidden
 */
export type SideEffects = "none" | "idempotent" | "unsafe" | "undeclared"
