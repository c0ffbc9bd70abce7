/** What a tool is at run time. The types of its parameters, results and failures exist in `Tool.Tool` only. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Option from "effect/Option"
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Meter } from "../budget/Meter.ts"
import type * as Coercion from "../coercion/Coercion.ts"
import type { PassedOn } from "../coercion/Unwrapped.ts"
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
import type { Compensate } from "./Undoable.ts"
import type { Outcome } from "./outcome.ts"
import type { Read } from "./reading.ts"
import type { Receipt } from "./waiting.ts"
import type { Attempts } from "../recovery/Attempts.ts"
import type { Rows } from "../recovery/Node.ts"
import type { CallCap } from "../budget/Meter.ts"

export interface ToolDefinition {
  readonly name: string
  readonly description: string
  /** The name that the tool has at its server or in its framework, if it differs. */
  readonly foreignName?: string
  /** The name of the server that has the tool; absent for tools without a server. */
  readonly server?: string
  /** Where the tool is defined, if `KINTSUGI_DEFINED_AT=1`. */
  readonly definedAt?: string
  readonly kind: Kind
  readonly sideEffects: Recovery.SideEffects
  /** Whether this is a built-in tool, to which no table applies. Its failure or its value ends the run. */
  readonly isBuiltIn: boolean
  /** For a built-in tool: settles a call. Such a tool brings the code along, so a bundle without it is smaller. */
  readonly endsRun?: (tool: ToolDefinition, site: Made & Pick<RunContext, "repairing">) => Effect.Effect<Outcome>
  /** For a built-in tool: the parameter that gets the whole text of the arguments if they cannot be read. */
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
  /** Makes the text that the model reads. It dies on a value that the schema refuses, and fails on one that is nested too deeply. */
  readonly encode: (value: unknown) => Exit.Exit<string, InputTooLargeError>
  readonly run: (params: unknown, context: ToolContext) => Effect.Effect<unknown, unknown>
  /** The function of `Tool.around` that wraps the attempts; absent for most tools. */
  readonly around?: Around
  /** Makes these attempts: a `Surrounded` of `callState.ts`, which imports this file. */
  readonly surrounded?: {
    readonly tries: () => Attempts
    readonly start: (self: never, state: never, tries: Attempts) => Effect.Effect<unknown, unknown>
  }
  /** For a tool that is an agent: how its run is suspended together with its parent's. Absent for all other tools. */
  readonly nested?: Nested
  /** How the tool waits after its `start`; absent for tools that are not deferred. */
  readonly deferral?: Deferral
  readonly rows: Rows
  /** How long one execution may take. `callTimeout` limits the whole call with all its attempts and waits. */
  readonly timeout: Duration.Duration | undefined
  readonly callTimeout: Duration.Duration | undefined
  readonly verify: ((idempotencyKey: string) => Effect.Effect<Option.Option<unknown>, unknown>) | undefined
  readonly maxResultChars: number | undefined
  /** From which length on results are put aside, and how. */
  readonly putAside?: PutAside | undefined
  /** Whether the library adds this tool to others, as `read_result` is. No table of an agent applies to it. */
  readonly isAdded?: true
  /** How a model finds the tool; absent for tools that requests list. */
  readonly onDemand?: OnDemand
  /** For the search of tools on demand: the same tool, which finds only tools that may be called in the turn of a call. */
  readonly among?: (isCallable: (tool: ToolDefinition) => boolean) => ToolDefinition
  /** Whether models can no longer call the tool. It settles the calls of earlier versions of its agent. */
  readonly isRetired?: true
  /** For retired tools: reads their earlier calls by `call_tool`, which the agent may no longer have. */
  readonly unwrap?: OnDemand["unwrap"]
  /** Whether the tool answers calls of a kind that the provider declares. Its name is that kind, and requests do not list the tool. */
  readonly isProvided?: true
  /** How to make the images and files of a result; absent for tools whose results are texts. */
  readonly parts?: ResultParts
  /** The limit of calls in one run. Tools that are derived from this tool share the object, and with it the count. */
  readonly callCap: CallCap | undefined
  readonly isError: ((value: unknown) => boolean) | undefined
  readonly failure: Schema.Codec<unknown, unknown> | undefined
  readonly approval: ApprovalGate | undefined
  /** The pin of a tool whose server may change it; absent for all other tools. */
  readonly pin?: Pin
  readonly compensate: Compensate<unknown, unknown, unknown> | undefined
  /** Remembers how a call is undone: `Tool.compensate` brings the code along, so a bundle without it is smaller. */
  readonly remember?: Remember | undefined
}

/** Adds a call that has succeeded to those that its run undoes if it fails. */
export type Remember = (
  compensate: Compensate<unknown, unknown, unknown>,
  tool: ToolDefinition,
  params: unknown,
  result: unknown,
  context: ToolContext
) => Effect.Effect<void>

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
  /** Puts the text of a result aside. Returns the result as the model reads it: with the head of the text and a handle. */
  readonly shorten: (result: Message.Settlement, site: Made) => Effect.Effect<Message.Settlement>
  /** The tool that reads results which were put aside. */
  readonly reader: ToolDefinition
  /** The tools of an agent. `reader` is added if the agent or one of its tools puts results aside. */
  readonly among: (tools: ReadonlyArray<ToolDefinition>, ofAgent: PutAside | undefined) => ReadonlyArray<ToolDefinition>
}

/** How tools are found that requests do not list. `Tool.onDemand` brings the code along, so a bundle without it is smaller. */
export interface OnDemand {
  /** Tools with the same options are searched together. */
  readonly options: object
  /** The tools that find and call those among these tools that are on demand. */
  readonly among: (tools: ReadonlyArray<ToolDefinition>) => ReadonlyArray<ToolDefinition>
  /** The call that a call of `call_tool` makes; any other call stays as it is, and so does one that is of a tool of the agent. */
  readonly unwrap: (call: Message.ToolCall, isOwn: (call: Message.ToolCall) => boolean) => PassedOn
}

/** How results with images and files are made and adapted. `Tool.parts` brings the code along, so a bundle without it is smaller. */
export interface ResultParts {
  /** The images and files of a result, with its texts cut to `maxChars` characters. `undefined` for a result without images and files. */
  readonly of: (
    value: unknown,
    maxChars: number | undefined
  ) => Pick<Message.Settlement, "parts" | "unsupported"> | undefined
  /** The message that brings a late result with its images and files; `undefined` for a result without them. */
  readonly late: (
    call: { readonly callId: string; readonly tool: string },
    settlement: Message.Settlement,
    textOf: (settlement: Message.Settlement) => string
  ) => Message.User | undefined
  readonly adapt: AdaptsParts
}

/** Calls `next` with the request as this model can read it. Returns `undefined` if the model can read all of the request. */
export type AdaptsParts = <A>(
  run: RunContext,
  model: Model.Service,
  request: Model.Request,
  next: (request: Model.Request) => Effect.Effect<A, LlmError>
) => Effect.Effect<A, LlmError> | undefined

/** When a tool needs approval, and the reason that the approver reads. */
export interface NeedsApproval {
  /** Whether a call needs approval. `params` returns parameters that no other predicate can have changed. */
  readonly when: (params: () => unknown) => Effect.Effect<boolean, unknown>
  readonly reason: string
  readonly validFor: Duration.Duration
  readonly onExpiry: Approval.OnExpiry
  /** The names of the rules with which a person may approve more than one call. */
  readonly ruleNames?: ReadonlyArray<string>
  /** The change of the tool's definition by its server, if a person is asked about that. */
  readonly change?: Approval.DefinitionChange
}

/** Provides an effect with the services that it needs. */
type Providing = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** The gate of a tool that needs approval. `Tool.requireApproval` brings the code along, so a bundle without it is smaller. */
export interface ApprovalGate extends NeedsApproval {
  /** The rules with which a person may approve more than one call. */
  readonly rules?: Rules
  /** The same gate, but `around` provides the services that its predicates need. */
  readonly provided?: (around: Providing) => ApprovalGate
  readonly pass: (call: CallAtGate) => Effect.Effect<Passed>
  /** Sends a call through this gate, and goes on as it has decided: a `Through` of `callState.ts`, which imports this file. */
  readonly through: (self: never, state: never, gate: ApprovalGate) => Effect.Effect<unknown, unknown>
}

/**
 * The result of a gate: a decision; or, if no decision came during the run, the request with which the run is suspended; or the error of a
 * call that got no decision in time.
 */
export type Passed =
  | { readonly decision: Approval.Decision }
  | { readonly request: Approval.ApprovalRequest }
  | { readonly expired: ApprovalExpiredError }

/** Predicates by name. `params` returns parameters that no other predicate can have changed. */
export type Rules = Readonly<Record<string, NeedsApproval["when"]>>

/** A call that is about to run. */
export interface CallAtGate {
  readonly tool: ToolDefinition
  readonly site: SiteAtGate
  readonly decoded: { readonly json: Schema.Json; readonly params: () => unknown }
  /** The arguments that the approver has edited, as canonical JSON. They need no further approval. */
  readonly edited: string | undefined
  /** Wraps the wait for a decision. */
  readonly waiting: <A>(decided: Effect.Effect<A>) => Effect.Effect<A>
}

/** The pins of a run, by the keys of its tools. */
export type Pins = Map<string, Pinned>

/** The digests of the definitions of one tool. */
interface Pinned {
  /** The digest of the definition that counts for this run. */
  readonly pinned: string
  /** The digest of the definition that the model has read last. */
  readonly shown: string
  /** What the last safe point has found: the verdict and the current digest. A change is emitted only if it differs from this. */
  readonly noted?: string
}

/**
 * The pin of a tool whose server may change it, and what a run does about a change. The modules of such tools bring the code along, so a
 * bundle without them is smaller.
 */
export interface Pin {
  /** Identifies the tool and its server. */
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
  /** Adapts a request: a tool whose changed definition is refused is left out, and the others get their current definitions. */
  readonly offer: (
    tools: ReadonlyArray<ToolDefinition>,
    pins: Pins,
    run: RunContext,
    request: Model.Request
  ) => Effect.Effect<Model.Request>
  /** Checks a call before it runs. Returns the reason if the call is denied, otherwise the tool as it was offered. */
  readonly check: (self: ToolDefinition, site: SiteAtGate) => Effect.Effect<ToolDefinition | string>
}

/** What a gate reads of the `CallSite` of a call. */
export interface SiteAtGate extends Made {
  readonly isSuspendable: boolean
  readonly from: CallCheckpoint | undefined
  readonly decisions: Decisions | undefined
  /** The pins of the run; absent if it has offered no tool with a pin. */
  readonly pins?: Pins | undefined
}

/** What a tool knows of its call besides the parameters. */
export interface ToolContext {
  /** The number of this attempt of the call: 1, then 2, 3 … */
  readonly attempt: number
  readonly callId: string
  /**
   * The same for all attempts of one call, and different for each call of a run. It is a digest of the run id, the calls around the run,
   * the tool, the arguments as the model wrote them, and the number of equal calls before it. See `Agent.withRunId`.
   */
  readonly idempotencyKey: string
  /** The agent whose model made the call. */
  readonly agent: string
  /** Emits the progress of the tool as an event. */
  readonly progress: (data: unknown) => Effect.Effect<void>
  /**
   * The scope of the run, for resources that live longer than this attempt, such as a browser or a session. It closes when the run ends or
   * is suspended. Outside of a run, it is the scope of the call.
   */
  readonly runScope: Scope.Scope
}

/** Takes the snapshot of a sub-agent's run at this time; `undefined` if the run cannot be suspended. */
export type Capture = (now: number) => Snapshot | undefined

/** The name and the tools of an agent whose runs may be suspended, for reading its snapshots. */
export interface Suspendable {
  readonly name: string
  readonly tools: () => ReadonlyArray<ToolDefinition>
}

/** An agent that is a tool and that is suspended together with the run that calls it. */
export interface Nested extends Suspendable {
  readonly run: (params: unknown, nesting: Nesting) => Effect.Effect<unknown, unknown>
}

/** What a parent run passes to the run of its sub-agent. */
export interface Nesting {
  readonly isSuspendable: boolean
  /** The meters of the parent runs that are suspended together with this run, nearest first. */
  readonly parents: ReadonlyArray<Meter>
  /** The snapshot from which the run is resumed, and the decisions since then; `undefined` for a new run. */
  readonly resumption: { readonly from: Snapshot; readonly decisions: Decisions | undefined } | undefined
  readonly started: (capture: Capture) => void
}

/** How a deferred tool waits. `Tool.deferred` brings the code along, so a bundle without it is smaller. */
export interface Deferral {
  /** Calls `begin`, which runs `start`, unless the call has begun before; then waits for the settlement. */
  readonly attempt: <E extends Attempt>(
    attempt: E,
    begin: (attempt: E) => Effect.Effect<unknown, unknown>
  ) => Effect.Effect<unknown, unknown>
  /** Goes on with a late call in a resumed run. Absent if the run waits for the calls of this tool. */
  readonly restore?: (
    tool: ToolDefinition,
    checkpoint: LateCheckpoint,
    run: RunContext,
    decisions: Decisions | undefined
  ) => Effect.Effect<LateCall>
  /** Cancels the work of a call that its run was to be suspended with, if the run goes on without the call. */
  readonly withdraw: (token: string) => Effect.Effect<boolean>
  /** How long a run may have to wait for a call after its `start`; `undefined` if the run does not wait. */
  readonly longest: Duration.Duration | undefined
  /** Decodes a settlement. */
  readonly decode: (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<Exit.Exit<unknown, unknown>, Schema.SchemaError>
  /**
   * The name of the store that has the settlement for a token, empty for memory. A token that was made for another definition of the tool
   * is `unknown-token`.
   */
  readonly storeOf: (token: string) => Effect.Effect<{ readonly store: string } | "bad-signature" | "unknown-token">
  /** The same deferral, but `around` provides the services that `cancel` and `poll` need. */
  readonly provided: (around: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>) => Deferral
}

/** One attempt of a deferred tool. */
interface Attempt {
  readonly tool: ToolDefinition
  readonly context: ToolContext
  /** How the call waits in its run; absent outside of a run. */
  readonly deferredIn?: DeferredSite | undefined
  readonly onCleared?: () => void
  readonly keep: object
  /** The decoded arguments; absent if the schema of the tool could not decode them at once. */
  readonly decoded?: { readonly json: Schema.Json; readonly params: () => unknown } | undefined
}

/** How a deferred call waits in its run. */
interface DeferredSite {
  readonly run: RunContext
  /** Whether the run is suspended instead of waiting. */
  readonly isSuspendable: boolean
  /** The checkpoint from which a resumed call goes on; absent for a new attempt. */
  readonly from: ForSettlement | undefined
  readonly decisions: Decisions | undefined
  /** For a call whose run has gone on: how its work ended. It is also set for an attempt that begins the work anew. */
  readonly late: LateEnd | undefined
  /** The calls of the same reply. The run is suspended with this call once none of the others is at work. */
  readonly beside: Beside | undefined
  /** Notes what the call waits for while other calls are at work, in case a limit suspends the run meanwhile. */
  readonly waits: (awaited: (() => Omit<ForSettlement, "arguments" | "progress" | "elapsed">) | undefined) => void
}

/** Whether a settlement counts that `resume` was given, see `Tool.Receipt`. */
export type SettlementReceipt = Receipt & { readonly token: string }

type NotCounted = Extract<Approval.DecisionReceipt, { readonly _tag: "NotCounted" }>

/** The decisions and settlements that came while a run was suspended. `resume` brings the code along, so a bundle without it is smaller. */
export interface Decisions {
  /** The decision about the request with this digest. */
  readonly about: (digest: string) => Approval.Decision | undefined
  /** Notes whether the decision about this request counts or, if it does not, why. */
  readonly note: (digest: string, fate: "counted" | NotCounted["reason"]) => void
  /**
   * The failure of a call about which a person was asked, decoded by its tool's schema of failures; `undefined` if it does not fit the
   * schema.
   */
  readonly failureOf: (failure: Schema.Codec<unknown, unknown> | undefined, error: Schema.Json) => unknown
  /** The receipts of all decisions, in their order; `undefined` without decisions. */
  readonly answers: () => ReadonlyArray<Approval.DecisionReceipt> | undefined
  /** The digests of the latest requests about which a decision has counted, in this resumption or before it. */
  readonly decided: () => ReadonlyArray<string>
  /** The gate of a call that waits for a decision although its tool no longer needs approval. */
  readonly gate: ApprovalGate
  /** The settlement with this token. */
  readonly settlement: (token: string) => Exit.Exit<unknown, unknown> | undefined
  /** Notes whether the settlement with this token counts. */
  readonly noteSettlement: (token: string, receipt: Receipt) => void
  /** The receipts of all settlements, in their order; `undefined` without settlements. */
  readonly receipts: () => ReadonlyArray<SettlementReceipt> | undefined
}
