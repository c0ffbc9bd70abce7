/** Listeners for the events of an agent's runs. */
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type * as AgentEvent from "../event/AgentEvent.ts"
import { demand } from "../data/Demand.ts"
import { Attached } from "../event/Listening.ts"
import * as Interception from "../model/Interception.ts"
import * as Returned from "../data/Returned.ts"
import * as Message from "../data/Message.ts"
import { labelsOf } from "../errors/RecoveryAdvice.ts"
import type * as Tool from "../tool/Tool.ts"
import type * as Usage from "../data/Usage.ts"
import { type Agent, type Definition, fromDefinition, TypeId } from "./definition.ts"
import type { AnyPart } from "./partTypes.ts"
import { isAgent } from "./sealing.ts"
import type { Running } from "./skills.ts"
import type { NeedsModel } from "./types.ts"
import type * as Frame from "../run/Frame.ts"

/** An ended tool call, with the text that the model reads. */
export interface ToolResult {
  readonly text: string
  readonly isError: boolean
  /** The verdict that led to the result; absent if the first attempt succeeded. */
  readonly recoveredBy: string | undefined
  /** The decoded parameters of the last attempt. */
  readonly params: unknown
  readonly attempts: number
}

/**
 * Handles each ended tool call of this agent, once. The call ended with a value, or with a failure that the model reads; the listener gets
 * the arguments that the model sent. A listener cannot change a run; its failure is logged. A run that succeeds or fails waits at most one
 * second for its listeners; a run that is interrupted does not wait. See {@link onEvent}.
 */
export const onToolUse: {
  <R2 = never>(
    handle: HandleUse<R2>
  ): <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable extends Running, Choice, Name extends string>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<I, O, E, R | R2, T | NeedsModel<R2, ModelTable>, ByTool, Defaults, ModelTable, Choice, Name>
  <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable extends Running,
    Choice,
    Name extends string,
    R2 = never
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    handle: HandleUse<R2>
  ): Agent<I, O, E, R | R2, T | NeedsModel<R2, ModelTable>, ByTool, Defaults, ModelTable, Choice, Name>
} = dual(2, <R2>(self: AnyAgent, handle: HandleUse<R2>) =>
  // Mutant `""` survives: only `tree` is compared, so any other word is a reach of its own
  listening(self, "own", (event) => {
    if (event.type !== "tool-end") return Effect.void
    const { attempts, params, recoveredBy, settlement } = event.use
    const result = { text: settlement.text, isError: Message.isError(settlement), recoveredBy, params, attempts }
    return handle(event.tool, event.use.arguments, result)
  })
)

type HandleUse<R> = (
  name: string,
  args: Message.ToolCall["arguments"],
  result: ToolResult
) => Effect.Effect<void, never, R>

/** The scope of a listener that outlives its runs. */
export interface ListenerOptions {
  /** A scope of the program. The listener lives with it, and not with each run. */
  readonly scope: Scope.Scope
}

/** The type of {@link onEvent}. A listener with a scope may not need services of a run. */
export interface OnEvent {
  <R2 = never>(
    handle: (event: AgentEvent.AgentEvent) => Effect.Effect<void, never, R2>
  ): <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable, Choice, Name extends string>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<I, O, E, R | R2, T | NeedsModel<R2, ModelTable>, ByTool, Defaults, ModelTable, Choice, Name>
  (
    handle: (event: AgentEvent.AgentEvent) => Effect.Effect<void>,
    options: ListenerOptions
  ): <A extends AnyPart>(self: A) => A
  <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable, Choice, Name extends string, R2 = never>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    handle: (event: AgentEvent.AgentEvent) => Effect.Effect<void, never, R2>
  ): Agent<I, O, E, R | R2, T | NeedsModel<R2, ModelTable>, ByTool, Defaults, ModelTable, Choice, Name>
  <A>(self: A & AnyPart, handle: (event: AgentEvent.AgentEvent) => Effect.Effect<void>, options: ListenerOptions): A
}

/**
 * Handles every event of a run, in order. Events of its fixers and sub-agents are among them. The handler runs beside the run, and gets the
 * terminal event before the run returns. A run that succeeds or fails waits at most one second for all its listeners together; a run that
 * is interrupted does not wait. Then the listeners are interrupted. Events that they have not handled are lost, and so are events beyond
 * 16,384 that wait: a warning names them, and `lost` of a handle counts them.
 *
 * With a `scope`, the listener lives as long as the scope. It gets the events of all runs; no run waits for it or interrupts it. When the
 * scope closes, the listener has one second for the events that wait. It may not need services of a run: give it those of the program.
 *
 * ```ts
 * import { Agent } from "@kintsugi/core"
 * import { Console, Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const scope = yield* Effect.scope
 *   const slow = Agent.onEvent(({ type }) => Effect.delay(Console.log(type), "50 millis"), { scope })
 *   const greeter = Agent.deterministic("greeter", (name) => Effect.succeed(`Hello ${name}`)).pipe(slow)
 *   yield* Console.log(yield* greeter("Ada"))
 * })
 * await Effect.runPromise(Effect.scoped(program)) // prints the answer first, then run-start and run-completed
 * ```
 */
export const onEvent: OnEvent = dual(
  ([self]) => isAgent(self),
  <A, R2>(
    self: AnyAgent,
    handle: (event: AgentEvent.AgentEvent) => Effect.Effect<void, never, R2>,
    options?: ListenerOptions
  ): A => {
    demand(
      `Agent '${self[TypeId].definition.name}': the listener of Agent.onEvent`,
      "a function",
      handle,
      Predicate.isFunction(handle)
    )
    return listening(self, "tree", handle, options?.scope)
  }
)

/** A failure that ended a run. It has labels for alerts, and the transcript and the usage of the run. */
export interface Escaped {
  /** The failure itself; a defect, if `isDefect`. */
  readonly error: unknown
  readonly isDefect: boolean
  /** The failures of all agents that were tried for one answer, in order. */
  readonly reasons?: ReadonlyArray<unknown>
  /** Its code, else its tag, else `UNKNOWN`. */
  readonly code: string
  readonly isRetryable: boolean
  readonly runId: string
  readonly agent: string
  readonly transcript: Message.Transcript
  readonly usage: Usage.Usage
}

/**
 * Handles the failure that ends a run, once, after every recovery. An interruption is no failure here. The handler cannot change the end of
 * the run. The run waits at most one second for it, then interrupts it. See {@link onEvent}.
 */
export const onFailure: {
  <R2 = never>(
    handle: (escaped: Escaped) => Effect.Effect<void, never, R2>
  ): <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable, Choice, Name extends string>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<I, O, E, R | R2, T | NeedsModel<R2, ModelTable>, ByTool, Defaults, ModelTable, Choice, Name>
  <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable, Choice, Name extends string, R2 = never>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    handle: (escaped: Escaped) => Effect.Effect<void, never, R2>
  ): Agent<I, O, E, R | R2, T | NeedsModel<R2, ModelTable>, ByTool, Defaults, ModelTable, Choice, Name>
} = dual(2, <R2>(self: AnyAgent, handle: (escaped: Escaped) => Effect.Effect<void, never, R2>) =>
  // Mutant `""` survives: only `tree` is compared, so any other word is a reach of its own
  listening(self, "own", (event) => {
    if (event.type !== "run-failed") return Effect.void
    const { agent, error, isDefect, reasons, runId, transcript, usage } = event
    const { code, retryable: isRetryable } = labelsOf(error)
    const tried = reasons === undefined ? {} : { reasons }
    return handle({ error, isDefect, ...tried, code, isRetryable, runId, agent, transcript, usage })
  })
)

const listening = <A, R2>(
  self: AnyAgent,
  reach: Frame.Listener["reach"],
  handler: (event: AgentEvent.AgentEvent) => Effect.Effect<void, never, R2>,
  scope?: Scope.Scope
): A => {
  const { definition } = self[TypeId]
  const handle = (event: AgentEvent.AgentEvent) =>
    Interception.step(
      () => ({ type: "listener", event }),
      // the listener's needs are in the agent's type
      () => Returned.effect(handler(event) as Effect.Effect<void>, "A listener of agent", definition.name)
    )
  const attached = scope === undefined ? {} : { attached: new Attached(definition.name, handle, scope) }
  const listener: Frame.Listener = { reach, handle, ...attached }
  return fromDefinition({ ...definition, listeners: [...definition.listeners, listener] })
}

type AnyAgent = { readonly [TypeId]: { readonly definition: Definition } }
