/** What a tool is at run time: its types are in `Tool.Tool` only. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Option from "effect/Option"
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Meter } from "../budget/Meter.ts"
import type * as Coercion from "../coercion/Coercion.ts"
import type * as Approval from "../data/Approval.ts"
import type * as Issue from "../data/Issue.ts"
import type * as Message from "../data/Message.ts"
import type { CallCheckpoint, ForSettlement, LateCheckpoint, Snapshot } from "../event/Checkpoint.ts"
import type { RunContext } from "../event/RunContext.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import type { LateCall, LateEnd } from "./Late.ts"
import type * as Model from "../model/Model.ts"
import type { InputTooLargeError } from "../errors/DoorError.ts"
import type { LlmError } from "../errors/LlmError.ts"
import type { ApprovalExpiredError, Kind } from "../errors/ToolError.ts"
import type { Around } from "./around.ts"
import type { Beside } from "./beside.ts"
import type { Read } from "./reading.ts"
import type { Receipt } from "./waiting.ts"
import type { Rows } from "../recovery/Node.ts"
import type { CallCap } from "../budget/Meter.ts"

export interface ToolDefinition {
  readonly name: string
  readonly description: string
  /** The name that its server or framework has for it, where that is another. */
  readonly foreignName?: string
  /** The name of the server that has it, where it has one. */
  readonly server?: string
  readonly kind: Kind
  readonly sideEffects: Recovery.SideEffects
  /** Outside of every table: its failure, or its value, ends the run. */
  readonly isBuiltIn: boolean
  /** The parameter of a built-in tool that takes the whole text of arguments which cannot be read. */
  readonly words: string
  readonly parameters: Schema.Codec<unknown, unknown>
  readonly success: Schema.Codec<unknown, unknown>
  readonly spec: () => Message.ToolSpec
  readonly targetType: string
  readonly coercion: ReadonlyArray<Coercion.CoercionStep>
  readonly decode: Read
  readonly decodeResult: (
    answer: string | { readonly value: Schema.Json }
  ) => Result.Result<unknown, ReadonlyArray<Issue.Issue>>
  /** The text that the model reads; dies on a value that the tool's own schema refuses, and fails on one that is too deep for a text. */
  readonly encode: (value: unknown) => Exit.Exit<string, InputTooLargeError>
  readonly run: (params: unknown, context: ToolContext) => Effect.Effect<unknown, unknown>
  /** What stands around its attempts; absent for most tools. */
  readonly around?: Around
  /** The run of a sub-agent that is suspended with the run that calls it; absent for all other tools. */
  readonly nested?: Nested
  /** How it waits after its start; absent for tools that end at once. */
  readonly deferral?: Deferral
  readonly rows: Rows
  /** How long one run may take, and the whole call with all its attempts and waits. */
  readonly timeout: Duration.Duration | undefined
  readonly callTimeout: Duration.Duration | undefined
  readonly verify: ((idempotencyKey: string) => Effect.Effect<Option.Option<unknown>, unknown>) | undefined
  readonly maxResultChars: number | undefined
  /** When its results are put aside. */
  readonly putAside?: PutAside | undefined
  /** Whether it is `read_result`, which no table of an agent guards. */
  readonly isReader?: true
  /** Whether it answers the calls of a tool that the provider declares: its name is their kind, and no model is offered it. */
  readonly isProvided?: true
  /** The images and files of its results; absent for tools whose results are texts. */
  readonly parts?: ResultParts
  /** The limit of its calls in one run. Tools that are made of this one share the object, and with it the count. */
  readonly callCap: CallCap | undefined
  readonly isError: ((value: unknown) => boolean) | undefined
  readonly failure: Schema.Codec<unknown, unknown> | undefined
  readonly approval: ApprovalGate | undefined
  /** Of a tool whose server may change it; absent for all other tools. */
  readonly pin?: Pin
  readonly compensate: Compensate<unknown, unknown, unknown> | undefined
}

/** A call, its idempotency key, and its run. */
interface Made {
  readonly call: Message.ToolCall
  readonly key: string
  readonly run: RunContext
}

/** When results are put aside, and how: made by `Tool.putAside`. */
export interface PutAside {
  /** The longest result that the model reads as a whole, in UTF-16 units. */
  readonly above: number
  /** Puts the text of a result of this call aside, and gives the result as the model reads it. */
  readonly shorten: (result: Message.Settlement, site: Made) => Effect.Effect<Message.Settlement>
  /** The tool that reads what was put aside. */
  readonly reader: ToolDefinition
  /** The tools of an agent that puts results aside, or of which one does, with `reader` among them. */
  readonly among: (tools: ReadonlyArray<ToolDefinition>, ofAgent: PutAside | undefined) => ReadonlyArray<ToolDefinition>
}
/** `Tool.parts` brings it along, so a bundle without it does not contain it. */
export interface ResultParts {
  /** What the settlement has besides its text, of which it has as many characters; `undefined` for a result without images and files. */
  readonly of: (
    value: unknown,
    maxChars: number | undefined
  ) => Pick<Message.Settlement, "parts" | "unsupported"> | undefined
  /** The message of a late result with its images and files beside its text; `undefined` for a result without them. */
  readonly late: (
    call: { readonly callId: string; readonly tool: string },
    settlement: Message.Settlement,
    textOf: (settlement: Message.Settlement) => string
  ) => Message.User | undefined
  readonly adapt: AdaptsParts
}

/** Goes on with the request as this model can read it; `undefined` if it can read all of it. */
export type AdaptsParts = <A>(
  run: RunContext,
  model: Model.Service,
  request: Model.Request,
  next: (request: Model.Request) => Effect.Effect<A, LlmError>
) => Effect.Effect<A, LlmError> | undefined

/** When a tool needs approval, and the reason that the approver reads. */
export interface NeedsApproval {
  /** `params` gives each predicate parameters of its own. */
  readonly when: (params: () => unknown) => Effect.Effect<boolean, unknown>
  readonly reason: string
  readonly validFor: Duration.Duration
  readonly onExpiry: Approval.OnExpiry
  /** The names of the rules that a person may approve by. */
  readonly ruleNames?: ReadonlyArray<string>
  /** What a server has changed, if that is what a person is asked about. */
  readonly change?: Approval.DefinitionChange
}

/** Gives effects what they need. */
type Providing = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** The gate before calls that need approval. `Tool.requireApproval` brings it along, so a bundle without it has no gate. */
export interface ApprovalGate extends NeedsApproval {
  /** The rules that a person may approve by. */
  readonly rules?: Rules
  /** The same gate, whose predicates get what they need. */
  readonly provided?: (around: Providing) => ApprovalGate
  readonly pass: (call: CallAtGate) => Effect.Effect<Passed>
}

/**
 * The decision; or the request that the run is suspended with, if no decision comes during the run; or the failure of a call without a
 * decision in time.
 */
export type Passed =
  | { readonly decision: Approval.Decision }
  | { readonly request: Approval.ApprovalRequest }
  | { readonly expired: ApprovalExpiredError }

/** Predicates by name; `params` gives each of them parameters of its own. */
export type Rules = Readonly<Record<string, NeedsApproval["when"]>>

/** A call that is about to run. */
export interface CallAtGate {
  readonly tool: ToolDefinition
  readonly site: SiteAtGate
  readonly decoded: { readonly json: Schema.Json; readonly params: () => unknown }
  /** The arguments that the approver has edited, as canonical JSON: they need no further approval. */
  readonly edited: string | undefined
  /** Wraps the wait for a decision. */
  readonly waiting: <A>(decided: Effect.Effect<A>) => Effect.Effect<A>
}

/** The pins of a run, by the keys of its tools. */
export type Pins = Map<string, Pinned>

/** The digests of one tool. */
interface Pinned {
  /** Of the definition that counts for this run. */
  readonly pinned: string
  /** Of the definition that the model has read last. */
  readonly shown: string
  /** What was found at the last safe point: events tell of each change once. */
  readonly noted?: string
}

/**
 * The pin of a tool whose server may change it, and what a run does about that. The module of such tools brings it along, so a bundle without
 * them does not contain it.
 */
export interface Pin {
  /** Names the server and its tool. */
  readonly key: string
  readonly server: string
  /** The digest of the definition of this tool. */
  readonly digest: string
  readonly look: (offered: string) => Effect.Effect<{
    readonly offered: string
    readonly now: string | null
    readonly verdict: "same" | "refuse" | "ask" | "accept"
  }>
  readonly current: (self: ToolDefinition, digest: string) => Effect.Effect<ToolDefinition>
  /** The request, without those of these tools that may not be offered as they are now, and with the definitions of the others. */
  readonly offer: (
    tools: ReadonlyArray<ToolDefinition>,
    pins: Pins,
    run: RunContext,
    request: Model.Request
  ) => Effect.Effect<Model.Request>
  /** Why a call is denied; otherwise the tool as it was offered. */
  readonly check: (self: ToolDefinition, site: SiteAtGate) => Effect.Effect<ToolDefinition | string>
}

/** What a gate reads of the `CallSite` of a call. */
export interface SiteAtGate {
  readonly call: Message.ToolCall
  readonly key: string
  readonly run: RunContext
  readonly isSuspendable: boolean
  readonly from: CallCheckpoint | undefined
  readonly decisions: Decisions | undefined
  /** The pins of the run, if it has offered tools with pins. */
  readonly pins?: Pins
}

/** What a tool knows of its call besides parameters. */
export interface ToolContext {
  /** 1 for the first run of this call, then 2, 3 … */
  readonly attempt: number
  readonly callId: string
  /**
   * Equal for all runs of one call, different between calls of a run. A digest of the run id, the calls around the run, the tool, the
   * arguments as the model wrote them, and the number of equal calls before it. See `Agent.withRunId`.
   */
  readonly idempotencyKey: string
  /** The agent whose model made the call. */
  readonly agent: string
  /** Emits the progress of the tool as an event. */
  readonly progress: (data: unknown) => Effect.Effect<void>
  /**
   * The scope of the run, for what lives longer than this attempt: a browser, a session. It closes when the run ends or is suspended. Outside
   * of a run, it is the scope of the call.
   */
  readonly runScope: Scope.Scope
}

/** A call that succeeded and is to be undone. */
export interface Undoable<out Params, out A> {
  /** The parameters and the result of the successful attempt. */
  readonly params: Params
  readonly result: A
  readonly callId: string
  /** The call's key: a compensation that is keyed by it undoes the call once, even if it runs twice. */
  readonly idempotencyKey: string
}

/** Undoes a call. Its failure is emitted, and is in the type of no run. */
export type Compensate<in Params, in A, out R> = (call: Undoable<Params, A>) => Effect.Effect<void, unknown, R>

/** The snapshot of a sub-agent's run at this time; `undefined` if it cannot be suspended. */
export type Capture = (now: number) => Snapshot | undefined

/** An agent whose runs may be suspended, as their snapshots know it. */
export interface Suspendable {
  readonly name: string
  readonly tools: () => ReadonlyArray<ToolDefinition>
}

/** A sub-agent that is suspended with the run that calls it. */
export interface Nested extends Suspendable {
  readonly run: (params: unknown, nesting: Nesting) => Effect.Effect<unknown, unknown>
}

/** What a parent run passes to the run of its sub-agent. */
export interface Nesting {
  readonly isSuspendable: boolean
  /** The meters of the parents that are suspended with it, nearest first. */
  readonly parents: ReadonlyArray<Meter>
  /** Where it was suspended, and the decisions since; absent for a new run. */
  readonly resumption: { readonly from: Snapshot; readonly decisions: Decisions | undefined } | undefined
  readonly started: (capture: Capture) => void
}

/** How a deferred tool waits. `Tool.deferred` brings it along, so a bundle without it does not wait. */
export interface Deferral {
  /** Begins with `start`, unless the call has begun, and waits. */
  readonly attempt: <E extends Attempt>(
    attempt: E,
    begin: (attempt: E) => Effect.Effect<unknown, unknown>
  ) => Effect.Effect<unknown, unknown>
  /** Of a call whose run goes on: goes on with it in a run that was suspended. Absent if the run waits for such calls. */
  readonly restore?: (
    tool: ToolDefinition,
    checkpoint: LateCheckpoint,
    run: RunContext,
    decisions: Decisions | undefined
  ) => Effect.Effect<LateCall>
  /** Cancels the work of a call that waits to be suspended with its run, if the run goes on without it. */
  readonly withdraw: (token: string) => Effect.Effect<boolean>
  /** How long its run may wait after the start of an attempt; nothing if it does not. */
  readonly longest: Duration.Duration | undefined
  /** Decodes a settlement. */
  readonly decode: (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<Exit.Exit<unknown, unknown>, Schema.SchemaError>
  /** Where the settlement for a token is stored: empty in memory. A token is for one definition of a tool; any other refuses it. */
  readonly storeOf: (token: string) => Effect.Effect<{ readonly store: string } | "bad-signature" | "unknown-token">
  /** The same, with services for what it calls. */
  readonly provided: (around: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>) => Deferral
}

/** One attempt of a deferred tool. */
interface Attempt {
  readonly tool: ToolDefinition
  readonly context: ToolContext
  /** Absent outside of a run. */
  readonly deferredIn?: DeferredSite | undefined
  readonly onCleared?: () => void
  readonly keep: object
  /** As decoded: absent if the schema of the tool could not read them at once. */
  readonly decoded?: { readonly json: Schema.Json; readonly params: () => unknown } | undefined
}

/** How a deferred call waits in its run. */
interface DeferredSite {
  readonly run: RunContext
  /** Whether its run is suspended, and does not wait. */
  readonly isSuspendable: boolean
  /** Where it goes on; absent where it begins. */
  readonly from: ForSettlement | undefined
  readonly decisions: Decisions | undefined
  /** Of a call whose run has gone on, and that has ended; also where it begins anew. */
  readonly late: LateEnd | undefined
  /** The calls of its reply, where its run is suspended with it once no other is at work. */
  readonly beside: Beside | undefined
  /** Notes what it waits for while others are at work, for a run that is suspended at a limit meanwhile. */
  readonly waits: (awaited: (() => Omit<ForSettlement, "arguments" | "progress" | "elapsed">) | undefined) => void
}

/** Whether a settlement of a resumption counts, see `Tool.Receipt`. */
export type SettlementReceipt = Receipt & { readonly token: string }

type NotCounted = Extract<Approval.DecisionReceipt, { readonly _tag: "NotCounted" }>

/** What was decided while a run was suspended. `resume` brings it along, so a bundle without `resume` does not contain it. */
export interface Decisions {
  /** The decision about the request with this digest. */
  readonly about: (digest: string) => Approval.Decision | undefined
  /** Notes what becomes of the decision about this request. */
  readonly note: (digest: string, fate: "counted" | NotCounted["reason"]) => void
  /** The failure of a call that waited for a person, read by the schema of its tool's failures; `undefined` if it does not fit. */
  readonly failureOf: (failure: Schema.Codec<unknown, unknown> | undefined, error: Schema.Json) => unknown
  /** The answers to all decisions, in their order; nothing without decisions. */
  readonly answers: () => ReadonlyArray<Approval.DecisionReceipt> | undefined
  /** The digests of the latest requests about which a decision has counted, in this resumption or before it. */
  readonly decided: () => ReadonlyArray<string>
  /** The gate of a call that was asked about, of a tool that no longer needs approval. */
  readonly gate: ApprovalGate
  /** The settlement with this token. */
  readonly settlement: (token: string) => Exit.Exit<unknown, unknown> | undefined
  /** Notes what becomes of it. */
  readonly noteSettlement: (token: string, receipt: Receipt) => void
  /** The answers to all settlements, in their order; nothing without settlements. */
  readonly receipts: () => ReadonlyArray<SettlementReceipt> | undefined
}
