/** Agents as parts of compositions, and compositions that are a sequence. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { type Agent, blank, type Definition, fromDefinition, TypeId } from "./definition.ts"
import { type Answer, type Composing, costInTurn, type Part, runner, type Step } from "./composition/run.ts"
import type { AnyPart } from "./partTypes.ts"
import type { Reads } from "../recovery/FixerInput.ts"

const insideOf = (agent: AnyPart) =>
  // only `fromDefinition` makes objects with this mark
  agent[TypeId] as Agent<never, unknown, unknown, unknown>[typeof TypeId]

export const partOf = (agent: AnyPart): Part => insideOf(agent).part

export const definitionOf = (agent: AnyPart): Definition => insideOf(agent).definition

/** The steps of a sequence. A sequence without listeners, limits and a run id can be replaced by its steps. */
export const stepsOf = (agent: AnyPart): ReadonlyArray<Step> => {
  const { composed, identified, layers, listeners, secrets } = definitionOf(agent)
  const isTransparent =
    composed?.budget === undefined &&
    identified === undefined &&
    [layers, listeners, secrets].every(({ length }) => length === 0)
  return isTransparent && composed?.steps !== undefined ? composed.steps : [partOf(agent)]
}

export const costsOf = (parts: ReadonlyArray<Part>) => parts.map(({ cost }) => cost)

/** What all parts read as fixers; `undefined` if they read different things. */
export const readsOf = ([first, ...others]: ReadonlyArray<Part>): Reads | undefined =>
  others.every(({ reads }) => reads === first?.reads) ? first?.reads : undefined

/** Makes a composition. By default all parts read its input, and run one after the other. */
export const compose = <A>(name: string, composing: Composing): A => {
  const { parts } = composing
  const defaults = { cost: costInTurn(costsOf(parts)), reads: readsOf(parts) ?? "each" } as const
  return fromDefinition<A>({ ...blank(name), composed: { ...defaults, ...composing, runner } })
}

/** Makes a sequence of agents and functions: one run, with the runs of the agents as its children. */
export const sequence = <A>(name: string, steps: ReadonlyArray<Step>): A => {
  const parts = steps.filter((step): step is Part => !Predicate.isFunction(step))
  const [first] = steps
  return compose(name, {
    parts,
    steps,
    reads: first === undefined || Predicate.isFunction(first) ? "arguments" : first.reads,
    body: Effect.fnUntraced(function* (input, parent) {
      let answer: Answer = { value: input }
      for (const step of steps) {
        // each function is of the type of the value before it
        answer = Predicate.isFunction(step)
          ? { ...answer, value: step(answer.value as never) }
          : yield* parent.ask(step, answer.value)
      }
      return answer
    })
  })
}
