/** What one run of an agent does at worst. */
import * as Predicate from "effect/Predicate"
import * as Budget from "../budget/Budget.ts"
import { demand } from "../data/Demand.ts"
import { explainRun } from "../recovery/Explain.ts"
import type * as Explained from "../recovery/Explained.ts"
import type * as Explanation from "../recovery/Explanation.ts"
import type * as Tool from "../tool/Tool.ts"
import { type Agent, planOf, TypeId } from "./definition.ts"
import type { Running } from "./skills.ts"

/** Facts that `explain` cannot read from an agent. */
interface ExplainOptions extends Explained.Options {
  /**
   * The worst case of one call of its model without the transport, see `Model.explain`: for an agent that gets its model from
   * outside, or whose layer does not say.
   */
  readonly model?: Explanation.Explanation
  /** The most tokens of one request. With these and the `prices` of its budget, `worst.cost` is known. */
  readonly tokens?: { readonly input: number; readonly output: number }
}

/**
 * Computes the worst case of one run of an agent. Nothing runs: its budget and its tables give the turns, calls, requests and waits.
 * `Explanation.formatRun` makes a text of it. The code of plain functions, agents and tools cannot be read, so it counts nothing.
 *
 * @example
 * ```ts
 * import { Agent, Recovery } from "@kintsugi/core"
 * import { Duration } from "effect"
 *
 * const clerk = Agent.make("clerk", { budget: { maxTurns: 2 } }).pipe(
 *   Agent.onLlmError({ RateLimitError: Recovery.retry({ retries: 3, initialBackoff: "1 second" }) })
 * )
 * const { modelCalls } = Agent.explain(clerk).worst
 * modelCalls // => 8
 * ```
 */
export const explain = <
  I,
  O,
  E,
  R,
  T extends Tool.AnyTool,
  ByTool,
  Defaults,
  ModelTable extends Running,
  Choice,
  Name extends string
>(
  self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
  given: ExplainOptions = {}
): Explanation.RunExplanation => {
  demand("Agent.explain", "given options", given, Predicate.isObject(given))
  const { tokens, ...options } = given
  if (tokens !== undefined) check(tokens)
  const plan = planOf(self[TypeId].definition)
  const explained = explainRun(plan, options)
  const ofRequest = tokens && Budget.mostOf(plan.budget.prices, tokens)
  if (ofRequest === undefined) return explained
  return { ...explained, worst: { ...explained.worst, cost: explained.worst.requests * ofRequest } }
}

/** Checks the token counts: both are needed, and each has to be a valid number. */
const check = (tokens: NonNullable<ExplainOptions["tokens"]>): void => {
  demand("Agent.explain: tokens", "the counts { input, output }", tokens, Predicate.isObject(tokens))
  for (const side of ["input", "output"] as const) {
    const count: unknown = tokens[side]
    if (Number.isFinite(count) && Number(count) >= 0) continue
    const shown = Predicate.isNumber(count) ? count : typeof count
    throw new TypeError(`Agent.explain: tokens.${side} must be a finite number of at least 0, got ${shown}`)
  }
}
