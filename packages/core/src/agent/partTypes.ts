/** The types of compositions, from the types of their agents. */
import type * as Effect from "effect/Effect"
import type * as Tool from "../tool/Tool.ts"
import type { Agent, TypeId } from "./definition.ts"
import type { TimeoutOf } from "../tool/ToolTypes.ts"
import type { NoModel } from "./skills.ts"
import type { Acknowledged } from "../recovery/TableTypes.ts"

/**
 * The part of an agent's type that a composition needs.
 *
 * @hidden
 */
export interface AgentPart<in I, out O, out E, out R, out Inside = unknown, out Name extends string = string> {
  (input: I): Effect.Effect<O, E, R>
  readonly name: Name
  readonly [TypeId]: Inside
}

/**
 * Any agent that can be a part of a composition.
 *
 * @hidden
 */
export type AnyPart = AgentPart<never, unknown, unknown, unknown>

// Where the type of a second argument depends on that of the first, the first is `A & AnyPart`: were it `A extends AnyPart`, an
// agent that is made in its place would be inferred as `AnyPart`.

/** At least one agent. */
export type Parts = readonly [AnyPart, ...ReadonlyArray<AnyPart>]

/** Agents by the names of their answers. */
export interface Named {
  readonly [key: string]: AnyPart
}

/**
 * The input that fits all agents of a list.
 *
 * @hidden
 */
export type AgentInput<A> = (A extends (input: infer I) => unknown ? (input: I) => void : never) extends (
  input: infer I
) => void
  ? I
  : never

/**
 * What an agent answers with.
 *
 * @hidden
 */
export type AgentOutput<A> = A extends (input: never) => Effect.Effect<infer O, unknown, unknown> ? O : never
/**
 * What the runs of an agent fail with.
 *
 * @hidden
 */
export type AgentError<A> = A extends (input: never) => Effect.Effect<unknown, infer E, unknown> ? E : never
/**
 * What the runs of an agent need.
 *
 * @hidden
 */
export type AgentServices<A> = A extends (input: never) => Effect.Effect<unknown, unknown, infer R> ? R : never

/**
 * `T`, without inference from the expected type, which is any agent. `NoInfer` does the same, but stays in the types that
 * users read.
 */
export type Given<T> = [T][T extends unknown ? 0 : never]

/** The answers of several agents, by name. */
export type OutputsOf<As> = { readonly [K in keyof As]: AgentOutput<As[K]> }

/** Marks a composition in the place of its table for model calls: a tool of its parts has unsafe side effects. */
type HasUnsafe = "This agent makes no model calls itself, and has an unsafe tool"

/** The mark of any composition, safe or unsafe. It is a pattern, because the compiler would show a union as `string`. */
export type Composite = `This agent makes no model calls itself${string}`

/**
 * Nothing, unless a tool of one of these agents is unsafe, as far as their types know.
 *
 * @hidden
 */
export type UnsafeOf<A> = A extends { readonly [TypeId]: infer Inside } ? UnsafeIn<Inside> : never

type UnsafeIn<Inside> = Inside extends { readonly _T: () => infer T; readonly _ModelTable: () => infer M }
  ? Extract<Tool.SideEffectsOf<T>, "unsafe"> | (M extends string ? (HasUnsafe extends M ? "unsafe" : never) : never)
  : never

/** The side effects of an agent as a tool: those that it declares, else `unsafe` if a tool of the agent is. */
export type EffectsOf<Inside, S> = S extends "undeclared"
  ? unknown extends Inside
    ? "unsafe"
    : [UnsafeIn<Inside>] extends [never]
      ? S
      : "unsafe"
  : S

/** The timeout failures of an agent as a tool. If the agent's tools are unknown, those of an unsafe and of any other tool. */
export type TimeoutsOf<Inside, S, T, VR> =
  | TimeoutOf<EffectsOf<Inside, S>, T, VR>
  | (S extends "undeclared" ? (IsSealed<Inside> extends true ? TimeoutOf<S, T, VR> : never) : never)

type IsSealed<Inside> = unknown extends Inside
  ? true
  : Inside extends { readonly _ModelTable: () => infer M }
    ? [Composite] extends [M]
      ? true
      : false
    : false

/** The mark of a composition of these agents. */
type MarkOf<Unsafe> = [Unsafe] extends [never] ? NoModel : HasUnsafe

/**
 * An agent around one other agent, whose type without the function is `Inside`.
 *
 * @hidden
 */
export type MadeOf<Inside, I, O, E, R> = Agent<I, O, E, R, never, {}, {}, MarkOf<UnsafeIn<Inside>>>

/**
 * An agent made of agents `A`: of one agent, the same agent with these types in the place of its own.
 *
 * @hidden
 */
export type Adapted<A, I = AgentInput<A>, O = AgentOutput<A>, E = AgentError<A>, R = AgentServices<A>> = Composed<
  I,
  O,
  E,
  R,
  A
>

/** An agent from `I` to `O` that is made of agents `A`. */
export type Composed<I, O, E, R, A> = Agent<I, O, E, R, never, {}, {}, MarkOf<UnsafeOf<A>>>

/**
 * An agent that does not compile where it may run twice: one of its tools has unsafe side effects.
 *
 * @hidden
 */
export type Safe<A> = [UnsafeOf<A>] extends [never] ? unknown : UnsafeToolsNeedAcknowledgement

interface UnsafeToolsNeedAcknowledgement extends Acknowledged {
  readonly UnsafeToolsNeedAcknowledgement: never
}

/** Refuses agents that get the same input, but accept no common input type. */
export type SameInput<A> = [AgentInput<A>] extends [never]
  ? [TakesNothing<A>] extends [never]
    ? PartsTakeDifferentInputs
    : unknown
  : unknown

/** `"nothing"` for an agent that accepts no input yet, because the compiler has not inferred its type. */
type TakesNothing<A> = A extends (input: infer I) => unknown ? ([I] extends [never] ? "nothing" : never) : never

/** Refuses agents by name that get the same input, but accept no common input type. */
export type SameInputs<As> = { readonly [K in keyof As]: SameInput<As[keyof As]> }

interface PartsTakeDifferentInputs {
  readonly PartsTakeDifferentInputs: never
}
