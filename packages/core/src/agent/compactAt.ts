/** Shortens the conversations of an agent before they are too long for its model. */
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import { demand } from "../data/Demand.ts"
import type { Compaction } from "../recovery/Compaction.ts"
import * as Ahead from "../run/Ahead.ts"
import type * as Tool from "../tool/Tool.ts"
import { type Agent, fromDefinition } from "./definition.ts"
import { definitionOf } from "./parts.ts"
import type { AnyPart } from "./partTypes.ts"
import type { Running } from "./skills.ts"
import type { NeedsModel } from "./types.ts"

/** When a conversation is shortened, and how. */
interface CompactAt<R> {
  /** The share of the window from which on the conversation is shortened; 0.8 by default. */
  readonly share?: number | undefined
  /** The window: the tokens of a request and its reply together. By default it is the model's `contextWindow`. */
  readonly window?: number | undefined
  readonly with: Compaction<R>
}

/**
 * Shortens the conversation, by a `Compaction`, before it fills the model's window. The run checks between two turns: the tokens that the
 * provider reported for the last reply, plus an estimate of everything added since, reach a share of the window. Before the first turn of a
 * run that goes on from a transcript, everything is an estimate. A text may have up to four times its estimated tokens. If that many tokens
 * would reach the share, the run asks the model for the exact count, where the model has `countTokens` (Anthropic, Gemini and OpenAI's
 * Responses have it). If counting fails or takes more than 10 seconds, the run uses estimates from then on. The prompt, the run's input and
 * messages that the model has not read stay, even if the compaction drops them. The transcript of the run stays whole. A turn has at most
 * two compactions, and `compactAt` makes at most one of them.
 *
 * If the compaction fails or throws, or its result is no shorter, the run emits `not-compacted` and goes on; also if it reaches a limit of
 * the run other than `maxDuration`, or would take the last turn of the run. It does the same, once, if the window is not known.
 *
 * @example
 * ```ts
 * import { Agent, Compaction } from "@kintsugi/core"
 *
 * const clerk = Agent.make("clerk", { prompt: "You do sums." }).pipe(
 *   Agent.compactAt({ window: 200_000, with: Compaction.dropOldest({ keepLast: 10 }) })
 * )
 * ```
 */
export const compactAt: {
  <R2 = never>(
    options: CompactAt<R2>
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
    options: CompactAt<R2>
  ): Agent<I, O, E, R | R2, T | NeedsModel<R2, ModelTable>, ByTool, Defaults, ModelTable, Choice, Name>
} = dual(2, <A, R2>(self: AnyPart, options: CompactAt<R2>): A => {
  const definition = definitionOf(self)
  demand(`Agent '${definition.name}': compactAt`, "given options", options, Predicate.isObject(options))
  const { share = 0.8, window, with: compaction } = options
  if (!(Predicate.isNumber(share) && share > 0 && share <= 1)) {
    throw odd(definition.name, "share must be above 0 and at most 1", share)
  }
  if (window !== undefined && !(Number.isSafeInteger(window) && window >= 1)) {
    throw odd(definition.name, "window must be a whole number of at least 1", window)
  }
  if (!(Predicate.hasProperty(compaction, "compact") && Predicate.isFunction(compaction.compact))) {
    throw new TypeError(`Agent '${definition.name}': compactAt: with must be a Compaction, got ${typeof compaction}`)
  }
  // its needs are in the agent's type
  return fromDefinition({ ...definition, ahead: Ahead.make({ share, window, compaction: compaction as Compaction }) })
})

const odd = (agent: string, what: string, given: unknown): RangeError =>
  new RangeError(`Agent '${agent}': compactAt: ${what}, got ${String(given)}`)
