/** What hears the events of an agent's runs. */
import * as Effect from "effect/Effect"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as Returned from "../data/Returned.ts"
import * as Message from "../data/Message.ts"
import { labelsOf } from "../errors/RecoveryAdvice.ts"
import type * as Tool from "../tool/Tool.ts"
import type * as Usage from "../data/Usage.ts"
import { type Agent, type Definition, fromDefinition, TypeId } from "./definition.ts"
import type { Running } from "./skills.ts"
import type * as Frame from "../run/Frame.ts"

/** What a hook reads of a call that ended with something for the model. */
export interface ToolResult {
  readonly text: string
  readonly isError: boolean
  /** The verdict that made it what it is, when the first attempt did not. */
  readonly recoveredBy: string | undefined
  /** The decoded parameters of the last attempt. */
  readonly params: unknown
  readonly attempts: number
}

/**
 * Hears of every call of this agent that ended with a value or a told text: once per call, with the model's own
 * arguments. Hooks cannot change a run; one that fails is logged. The outermost run waits at its end for a slow one, one second at
 * most; then it is interrupted, and what it has not heard is lost to it. No deadline counts that second.
 */
export const onToolUse =
  <R2 = never>(
    handle: (name: string, args: Message.ToolCall["arguments"], result: ToolResult) => Effect.Effect<void, never, R2>
  ) =>
  <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable extends Running, Choice>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice>
  ): Agent<I, O, E, R | R2, T, ByTool, Defaults, ModelTable, Choice> =>
    listening(self, "own", (event) => {
      if (event.type !== "tool-end") return Effect.void
      const { attempts, params, recoveredBy, settlement } = event.use
      const result = { text: settlement.text, isError: Message.isError(settlement), recoveredBy, params, attempts }
      return handle(event.tool, event.use.arguments, result)
    })

/**
 * Hears every event of a run, those of its fixers and sub-agents included, in order. One that is too slow (more than 16,384 events
 * wait for it, or it is not through one second after the end) loses some, which is logged; never the end of a run. For that it may
 * take ten seconds more, while nobody waits for it; then it is stopped, which is counted and logged.
 */
export const onEvent =
  <R2 = never>(handle: (event: AgentEvent.AgentEvent) => Effect.Effect<void, never, R2>) =>
  <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable, Choice>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice>
  ): Agent<I, O, E, R | R2, T, ByTool, Defaults, ModelTable, Choice> =>
    listening(self, "tree", handle)

/** What left a run: by what it can be alerted on, and what the run had said and spent by then. */
export interface Escaped {
  /** The failure itself; a defect, if `isDefect`. */
  readonly error: unknown
  readonly isDefect: boolean
  /** Where several agents were tried for one answer: what each of them failed with, in order. */
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
 * Hears what escapes this agent, once per run, when every recovery has failed; never of an interruption. It cannot change how
 * the run ends, which waits for it for one second; ten seconds later it is stopped, and that is counted and logged.
 */
export const onFailure =
  <R2 = never>(handle: (escaped: Escaped) => Effect.Effect<void, never, R2>) =>
  <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable, Choice>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice>
  ): Agent<I, O, E, R | R2, T, ByTool, Defaults, ModelTable, Choice> =>
    listening(self, "own", (event) => {
      if (event.type !== "run-failed") return Effect.void
      const { agent, error, isDefect, reasons, runId, transcript, usage } = event
      const { code, retryable: isRetryable } = labelsOf(error)
      const tried = reasons === undefined ? {} : { reasons }
      return handle({ error, isDefect, ...tried, code, isRetryable, runId, agent, transcript, usage })
    })

const listening = <A extends AnyAgent, B, R2>(
  self: A,
  scope: Frame.Listener["scope"],
  handle: (event: AgentEvent.AgentEvent) => Effect.Effect<void, never, R2>
): B => {
  const { definition } = self[TypeId]
  const listener: Frame.Listener = {
    scope,
    handle: (event) =>
      // the hook's needs are in the agent's type
      Returned.effect(handle(event) as Effect.Effect<void>, "A listener of agent", definition.name)
  }
  return fromDefinition({ ...definition, listeners: [...definition.listeners, listener] })
}

type AnyAgent = { readonly [TypeId]: { readonly definition: Definition } }
