/** The types of sealed agents: input, output, failures and needs, and nothing else. */
import * as Predicate from "effect/Predicate"
import { type Agent, TypeId } from "./definition.ts"
import type * as Types from "./partTypes.ts"

/**
 * The type of an agent for a port, a parameter or a field. The agent takes `I`, gives `O`, fails with `E` and needs `R`. `Agent.seal` gives
 * this type to an agent with tools and tables; a composition and a plain function have it already. The type knows no tools, so a race of
 * such an agent needs the acknowledgement `"may run twice"`.
 */
export interface Any<in I, out O, out E = never, out R = never> extends Agent<
  I,
  O,
  E,
  R,
  never,
  {},
  {},
  Types.Composite
> {}

/**
 * Shortens an agent's type to input, output, failures and needs. The agent runs, streams and suspends as before. Add tables before you seal
 * it: the type has no tools after that.
 *
 * @example
 * ```ts
 * import { Agent, type LlmError, type Model, Recovery, type RunError } from "@kintsugi/core"
 *
 * interface Desk {
 *   readonly clerk: Agent.Any<string, string, LlmError.LlmError | RunError.BudgetExceededError, Model.Model>
 * }
 * const clerk = Agent.make("clerk", {}).pipe(Agent.onLlmError({ RateLimitError: Recovery.retry({ retries: 2 }) }))
 * const desk: Desk = { clerk: Agent.seal(clerk) }
 * desk.clerk.name // => "clerk"
 * ```
 */
export const seal = <A extends Types.AnyPart>(
  self: A
): Any<Types.AgentInput<A>, Types.AgentOutput<A>, Types.AgentError<A>, Types.AgentServices<A>> =>
  // the value is unchanged: the type is computed from its call
  self as never

/**
 * Whether a value is an agent of any type.
 *
 * @internal
 */
export const isAgent = (value: unknown): value is Types.AnyPart => Predicate.hasProperty(value, TypeId)
