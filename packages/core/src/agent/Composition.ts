/**
 * Agents made of agents. A composition works like any other agent: a program calls, streams or starts it, or uses it as a fixer, a tool or
 * a part of a larger composition. It is a run of its own, and its parts are its child runs: they share one tree of events, one ledger and
 * the limits of the parents. When a part is interrupted, the composition waits for its end and books its spending. `Agent` exports all
 * functions of this module.
 *
 * `Agent` has all of it.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import { jsonOf } from "../event/Json.ts"
import * as Returned from "../data/Returned.ts"
import type { Reads } from "../recovery/FixerInput.ts"
import { compose, costsOf, definitionOf, partOf, readsOf, sequence, stepsOf } from "./parts.ts"
import {
  checkedCount,
  checkedMillis,
  costAtOnce,
  costInTurn,
  costOfOne,
  type Part,
  type Parent
} from "./composition/run.ts"
import * as Trying from "./composition/trying.ts"
import type * as Types from "./partTypes.ts"
import type { Options } from "../recovery/Explained.ts"
import { type Estimated, free } from "../recovery/Cost.ts"
import { estimate } from "../recovery/Explain.ts"
import type { RunBounds } from "../recovery/Explanation.ts"
import type { Acknowledged } from "../recovery/TableTypes.ts"
import { LoopExhaustedError } from "../errors/RunError.ts"

export { map, mapInput, named, provide, withBudget, withModel, withRunId } from "./adapting.ts"

// --- one after the other

/** Runs a second agent on the output of the first. If the first agent fails, the second one does not start. */
export const andThen: {
  <B extends Types.AnyPart>(
    next: B
  ): <A extends Types.AgentPart<never, Types.AgentInput<B>, unknown, unknown>>(self: A) => Then<A, B>
  <A, B extends Types.AgentPart<Types.AgentOutput<A>, unknown, unknown, unknown>>(
    self: A & Types.AnyPart,
    next: B
  ): Then<A, B>
} = dual(2, (self: Types.AnyPart, next: Types.AnyPart) => sequence("andThen", [...stepsOf(self), ...stepsOf(next)]))

type Then<A, B> = Types.Adapted<A | B, Types.AgentInput<A>, Types.AgentOutput<B>>

interface Tagged {
  readonly _tag: string
}

/** One agent for each tag of an output. */
type Branches<O extends Tagged> = {
  readonly [Tag in O["_tag"]]: Types.AgentPart<Extract<O, { readonly _tag: Tag }>, unknown, unknown, unknown>
}

/** Runs an agent, then the agent for the `_tag` of its output. Every tag needs an agent, and no other tag may have one. */
export const branch: {
  <const Bs extends Types.Named>(
    branches: Bs
  ): <A extends Types.AgentPart<never, Chosen<Bs>, unknown, unknown>>(self: A & Needed<A, Bs>) => Branched<A, Bs>
  <A, const Bs extends Branches<Types.AgentOutput<A> & Tagged>>(
    self: A & Types.AgentPart<never, Tagged, unknown, unknown>,
    branches: Bs & Only<Bs, Types.AgentOutput<A> & Tagged>
  ): Branched<A, Bs>
} = dual(2, (self: Types.AnyPart, branches: Types.Named) => {
  const first = partOf(self)
  const byTag = partsOf(branches)
  const parts = [...byTag.values()]
  return compose("branch", {
    parts: [first, ...parts],
    reads: first.reads,
    cost: costInTurn([first.cost, costOfOne(costsOf(parts))]),
    body: (input, parent) =>
      Effect.flatMap(parent.ask(first, input), ({ value }) => {
        const tag = Predicate.hasProperty(value, "_tag") ? String(value._tag) : "none"
        const part = byTag.get(tag)
        if (part !== undefined) return parent.ask(part, value)
        return Effect.die(new TypeError(`Agent.branch: there is no agent for an output with the tag '${tag}'`))
      })
  })
})

/** The inputs of the agents, each at its tag. */
type Chosen<Bs> = { readonly [Tag in keyof Bs]: Types.AgentInput<Bs[Tag]> & { readonly _tag: Tag } }[keyof Bs]

type Needed<A, Bs> = [Exclude<keyof Bs, (Types.AgentOutput<A> & Tagged)["_tag"]>] extends [never]
  ? unknown
  : ThereAreNoOutputsWithTheTags<Exclude<keyof Bs, (Types.AgentOutput<A> & Tagged)["_tag"]>>

interface ThereAreNoOutputsWithTheTags<Tags> {
  readonly ThereAreNoOutputsWithTheTags: Tags
}

/** Refuses agents for tags that the output does not have. */
type Only<Bs, O extends Tagged> = { readonly [K in keyof Bs]: K extends O["_tag"] ? unknown : never }

type Branched<A, Bs> = Types.Adapted<A | Bs[keyof Bs], Types.AgentInput<A>, Types.AgentOutput<Bs[keyof Bs]>>

/**
 * The options of a loop: how often it runs its agent, and with which input. A loop without an accepted output fails with
 * `LoopExhaustedError`.
 */
interface LoopOptions<out I, in O, out E = never, out R = never> {
  /** How often the agent runs at most. */
  readonly maxIterations: number
  /** Makes the next input from an output that was not accepted; `iteration` counts from 1. */
  readonly feedback: (output: O, iteration: number) => I | Effect.Effect<I, E, R>
}

/** Whether an output is accepted; `iteration` counts from 1. */
type Accepts<in O, out E = never, out R = never> = (
  output: O,
  iteration: number
) => boolean | Effect.Effect<boolean, E, R>

/**
 * Repeats an agent until `accept` takes its output. The agent runs at least once, and at most `maxIterations` times. `feedback` makes the
 * next input of an output that was not accepted. After the last run it fails with `LoopExhaustedError`, which has the last output.
 */
export const loopUntil: {
  <I, O, E2 = never, R2 = never, E3 = never, R3 = never>(
    ok: Accepts<O, E2, R2>,
    options: LoopOptions<I, O, E3, R3>
  ): <E, R, Inside>(
    self: Types.AgentPart<I, O, E, R, Inside>
  ) => Types.MadeOf<Inside, I, O, E | LoopExhaustedError | E2 | E3, R | R2 | R3>
  <A, E2 = never, R2 = never, E3 = never, R3 = never>(
    self: A & Types.AnyPart,
    ok: Accepts<Types.AgentOutput<A>, E2, R2>,
    options: LoopOptions<Types.AgentInput<A>, Types.AgentOutput<A>, E3, R3>
  ): Looped<A, Types.Given<E2 | E3>, Types.Given<R2 | R3>>
} = dual(
  3,
  (
    self: Types.AnyPart,
    ok: Accepts<unknown, unknown, unknown>,
    { feedback, maxIterations }: LoopOptions<unknown, unknown, unknown, unknown>
  ) => {
    const part = partOf(self)
    checkedCount("Agent.loopUntil: maxIterations", maxIterations)
    return compose("loopUntil", {
      parts: [part],
      cost: (estimate) => costInTurn(Array.from({ length: maxIterations }, () => part.cost))(estimate),
      body: Effect.fnUntraced(function* (first: unknown, parent: Parent) {
        let input = first
        for (let iteration = 1; ; iteration++) {
          const answer = yield* parent.ask(part, input)
          // a plain value, or an effect; the type of the agent has its failures and needs
          const isAccepted = ok(answer.value, iteration) as boolean | Effect.Effect<boolean, unknown>
          if (yield* Returned.valueOf(isAccepted, Returned.aBoolean, "The condition of Agent.loopUntil")) return answer
          if (iteration === maxIterations) {
            return yield* Effect.fail(
              LoopExhaustedError.make({ iterations: iteration, last: jsonOf(answer.value) ?? null })
            )
          }
          const next = feedback(answer.value, iteration) as Effect.Effect<unknown, unknown>
          input = yield* Returned.valueOf(next, anInput, "The feedback of Agent.loopUntil")
        }
      })
    })
  }
)

type Looped<A, E, R> = Types.Adapted<
  A,
  Types.AgentInput<A>,
  Types.AgentOutput<A>,
  Types.AgentError<A> | LoopExhaustedError | E,
  Types.AgentServices<A> | R
>

/** A kind that admits every value, because only the agent knows its inputs. */
const anInput: Returned.Kind = { name: "an input", is: () => true }

// --- at the same time

/**
 * Runs named agents with the same input at the same time. The output has the answer of each agent under its name. The first failure
 * interrupts the other agents.
 */
export const parallel = <const As extends Types.Named>(
  agents: As & Types.SameInputs<As>
): Types.Adapted<
  As[keyof As],
  Types.AgentInput<As[keyof As]>,
  { readonly [K in keyof As]: Types.AgentOutput<As[K]> } // not by a name, so that hovers show it
> => {
  const named = partsOf(agents)
  const parts = [...named.values()]
  return compose("parallel", {
    parts,
    cost: costAtOnce(costsOf(parts)),
    body: (input, parent) => Effect.map(together(named, input, parent), (value) => ({ value }))
  })
}

/**
 * The input of the captain of a forum: the forum's own input, and the answer of each participant.
 *
 * @hidden
 */
export interface Forum<out I, out Answers> {
  readonly input: I
  readonly answers: Answers
}

/**
 * Runs participants at the same time; then a captain decides. All participants get the same input. Then the captain, an agent, gets the
 * input with all answers and decides. Make the participants before the call: the compiler does not infer the type of an agent that is made
 * inside of it.
 */
export const forum = <
  const As extends Types.Named,
  C extends Types.AgentPart<Forum<Types.AgentInput<As[keyof As]>, Types.OutputsOf<As>>, unknown, unknown, unknown>
>(
  participants: As,
  captain: C & Types.SameInput<As[keyof As]>
): Types.Adapted<As[keyof As] | C, Types.AgentInput<As[keyof As]>, Types.AgentOutput<C>> => {
  const named = partsOf(participants)
  const parts = [...named.values()]
  const last = partOf(captain)
  return compose("forum", {
    parts: [...parts, last],
    reads: textFor(parts),
    cost: costInTurn([costAtOnce(costsOf(parts)), last.cost]),
    body: (input, parent) =>
      Effect.flatMap(together(named, input, parent), (answers) => parent.ask(last, { input, answers }))
  })
}

/** A forum whose captain reads the input and all answers as one text. */
const textFor = (parts: ReadonlyArray<Part>): Reads => {
  const reads = readsOf(parts)
  return reads === undefined || reads === "each" ? "arguments" : reads
}

const together = (named: ReadonlyMap<string, Part>, input: unknown, parent: Parent) =>
  Effect.map(
    Effect.forEach(named, ([key, part]) => Effect.map(parent.ask(part, input), ({ value }) => [key, value] as const), {
      concurrency: "unbounded"
    }),
    Object.fromEntries
  )

/**
 * Runs agents at the same time and takes the first success. It interrupts the other agents and waits for their ends. If all agents fail, it
 * fails with the last failure; the terminal event has all of them. An agent with an `unsafe` tool takes part only with the acknowledgement
 * `"may run twice"` as the last argument.
 */
export const firstOf: {
  <const Ps extends Types.Parts>(
    ...agents: { readonly [K in keyof Ps]: Ps[K] & Types.Safe<Ps[K]> & Types.SameInput<Ps[number]> }
  ): OneOf<Ps>
  <const Ps extends Types.Parts>(...agents: readonly [...Ps, Acknowledged]): OneOf<Ps>
} = (...given: ReadonlyArray<Types.AnyPart | Acknowledged>) => {
  const { options, parts } = splitOf(given)
  if (options === undefined) demandSafe("firstOf", parts)
  return compose<never>("firstOf", {
    isOneOf: true,
    parts,
    cost: costAtOnce(costsOf(parts)),
    body: (input, parent) => {
      const contenders = parts.map((part) => ({ part: { ...part }, after: 0 }))
      return Trying.atOnce(contenders, input, parent, () => false)
    }
  })
}

type OneOf<Ps extends Types.Parts> = Types.Adapted<Ps[number]>

/** When the copies of a speculative agent start. */
interface Hedge {
  /** The delay between the starts of two copies. */
  readonly hedgeAfter: Duration.Input
}

/**
 * Runs copies of one agent and takes the first success. There are at most `n` copies. Copy k, counted from 0, starts after k × `hedgeAfter`
 * if there is no answer yet. A failure that every copy would have (authentication, a content filter) ends the race at once. An agent with
 * an `unsafe` tool needs the acknowledgement.
 */
export const speculative: {
  <A extends Types.AnyPart>(self: A, n: number, options: Hedge & Acknowledged): Types.Adapted<A>
  <A extends Types.AnyPart>(self: A & Types.Safe<A>, n: number, options: Hedge): Types.Adapted<A>
  (n: number, options: Hedge & Acknowledged): <A extends Types.AnyPart>(self: A) => Types.Adapted<A>
  (n: number, options: Hedge): <A extends Types.AnyPart>(self: A & Types.Safe<A>) => Types.Adapted<A>
} = dual(3, (self: Types.AnyPart, n: number, options: Hedge & Partial<Acknowledged>) => {
  const part = partOf(self)
  checkedCount("Agent.speculative: n", n)
  const millis = checkedMillis("Agent.speculative: hedgeAfter", options.hedgeAfter)
  if (options.acknowledge !== "may run twice") demandSafe("speculative", [part])
  return compose("speculative", {
    isOneOf: true,
    parts: [part],
    cost: (estimate) =>
      costAtOnce(Array.from({ length: n }, (_, k) => costInTurn([waiting(k * millis), part.cost])))(estimate),
    body: (input, parent) => {
      const copies = Array.from({ length: n }, (_, k) => ({ part: { ...part }, after: k * millis }))
      return Trying.atOnce(copies, input, parent, Trying.isHopeless)
    }
  })
})

const waiting =
  (millis: number): Estimated =>
  () => ({ ...free, millis })

/** When the next agent runs after a failure. */
interface FallbackOptions<in E = unknown> extends Partial<Acknowledged> {
  /**
   * Whether the next agent runs after this failure. By default: after a failure whose `recovery` is `fallback` or
   * `resend`; not after any other, such as those of tools.
   */
  readonly when?: (error: E, tried: Trying.Tried) => boolean
}

/**
 * Runs agents in order until one succeeds. When an agent fails, and `when` admits the failure, the next agent runs with the same input. If
 * all agents fail, the composition fails with the last failure; the terminal event has all of them. A limit of a parent ends the
 * composition. It also stops once a tool with `unsafe` side effects has started, because the next agent might repeat its work; the
 * acknowledgement `"may run twice"` lifts this.
 */
export const fallback: {
  <const Ps extends Types.Parts>(
    ...agents: { readonly [K in keyof Ps]: Ps[K] & Types.SameInput<Ps[number]> }
  ): OneOf<Ps>
  <const Ps extends Types.Parts>(...agents: readonly [...Ps, FallbackOptions<Types.AgentError<Ps[number]>>]): OneOf<Ps>
} = (...given: ReadonlyArray<Types.AnyPart | FallbackOptions<never>>) => {
  const { options, parts } = splitOf<FallbackOptions<never>>(given)
  // the guard sees failures of these agents only
  const admits = (options?.when ?? Trying.isAdmitted) as (error: unknown, tried: Trying.Tried) => boolean
  const mayRunTwice = options?.acknowledge === "may run twice"
  return compose<never>("fallback", {
    parts,
    passes: given.filter(isAgent).map(definitionOf),
    body: (input, parent) => Trying.inOrder(parts, input, parent, admits, mayRunTwice)
  })
}

const isAgent = (value: unknown): value is Types.AnyPart => Predicate.isFunction(value)

/** Agents, followed by options. */
const splitOf = <Options>(given: ReadonlyArray<Types.AnyPart | Options>) => {
  const last = given.at(-1)
  return {
    parts: given.filter(isAgent).map(partOf),
    // by the types of the callers, options come last
    options: last === undefined || isAgent(last) ? undefined : (last as Options)
  }
}

const demandSafe = (what: string, parts: ReadonlyArray<Part>): void => {
  const unsafe = parts.find((part) => part.mayBeUnsafe())
  if (unsafe === undefined) return
  throw new TypeError(
    `Agent.${what}: a tool of '${unsafe.name}' or of its parts has unsafe side effects; acknowledge that it may run twice`
  )
}

const partsOf = (agents: Types.Named): ReadonlyMap<string, Part> =>
  new Map(Object.entries(agents).map(([key, agent]) => [key, partOf(agent)]))

// --- at worst

/**
 * Computes the worst case of any agent without running it. It counts the model calls of all parts, their waits and timeouts. Use it for
 * compositions; `Agent.explain` says more of an agent with a loop. A plain function counts as no model call, because its code cannot be
 * read.
 */
export const bounds = (self: Types.AnyPart, { transport }: Pick<Options, "transport"> = {}): RunBounds => {
  const { millis, modelCalls } = partOf(self).cost(estimate)
  const { requests, time } = transport?.worst ?? { requests: 1, time: Duration.zero }
  return {
    modelCalls,
    requests: modelCalls * requests,
    time: Duration.millis(millis + modelCalls * Duration.toMillis(time))
  }
}
