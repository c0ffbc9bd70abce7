/** The worst case of one model call. A composed model, or a layer of one, carries a function that computes its own. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import { maxAttemptsPerCall } from "./bounds.ts"
import type { Explanation } from "./Explanation.ts"
import { warned } from "./warned.ts"

/** The facts that `explain` cannot read from a model or an agent. */
export interface Options {
  /** Failures that the tables may meet: see `Recovery.explain`. */
  readonly errors?: ReadonlyArray<unknown>
  /** What the transport does at worst for one request of a single model; absent if the transport does not resend. */
  readonly transport?: Explanation
}

/** Computes a worst case. `errors` are failures that the policies may meet. */
export interface Explains {
  (errors: ReadonlyArray<unknown>): Explanation
}

/** The property under which a composed model, or a layer of one, stores the function for its worst case. */
const Mark: unique symbol = Symbol.for("~@kintsugi/core/Model/Explains")

/**
 * Stores the function for the worst case in a model or its layer. The property is not enumerable: a changed copy of the model has no known
 * worst case.
 */
export const explaining = <M extends object>(model: M, explains: Explains): M =>
  Object.defineProperty(model, Mark, { value: explains })

/** The worst case of a single model: one request, and nothing else. */
const single: Explanation = {
  rows: [],
  worst: { attempts: 1, requests: 1, fixerRuns: 0, modelCalls: 0, waits: Duration.zero, time: Duration.zero }
}

/** The worst case of one call of `model`. A model without a stored function counts as a single model. */
export const explained = (model: unknown, errors: ReadonlyArray<unknown>): Explanation =>
  Predicate.hasProperty(model, Mark)
    ? // only `explaining` sets this property
      (model[Mark] as Explains)(errors)
    : single

/** Multiplies the worst case of a model by that of its transport: each request may be sent several times. */
export const over = (model: Explanation, transport: Explanation | undefined): Explanation => {
  if (transport === undefined || model.worst.isSentOnce === true) return model
  const { requests, time } = model.worst
  const { worst } = transport
  return {
    ...warned(model, transport),
    worst: {
      ...model.worst,
      requests: requests * worst.requests,
      modelCalls: model.worst.modelCalls + requests * worst.modelCalls,
      time: Duration.sum(time, Duration.times(worst.time, requests))
    }
  }
}

/** The worst case of models that are called one after the other, because each of them fails. */
export const inTurn = (all: ReadonlyArray<Explanation>): Explanation => {
  const sum = (of: (worst: Explanation["worst"]) => number): number =>
    all.reduce((total, { worst }) => total + of(worst), 0)
  return {
    rows: all.flatMap(({ rows }) => rows),
    worst: {
      attempts: sum(({ attempts }) => attempts),
      requests: sum(({ requests }) => requests),
      fixerRuns: sum(({ fixerRuns }) => fixerRuns),
      modelCalls: sum(({ modelCalls }) => modelCalls),
      waits: Duration.millis(sum(({ waits }) => Duration.toMillis(waits))),
      time: Duration.millis(sum(({ time }) => Duration.toMillis(time))),
      ...(all.some(({ worst }) => worst.isUnbounded === true) ? { isUnbounded: true } : {})
    }
  }
}

/** The worst case with a user's function around the attempts: it may make attempts up to the cap of a call, and its waits are unknown. */
export const uncounted = (explained: Explanation): Explanation => {
  const { worst } = explained
  const ofEach = maxAttemptsPerCall / worst.attempts
  return {
    ...explained,
    worst: {
      ...worst,
      attempts: maxAttemptsPerCall,
      isUnbounded: true,
      waits: Duration.infinity,
      time: Duration.infinity,
      requests: worst.requests * ofEach,
      modelCalls: worst.modelCalls * ofEach
    }
  }
}
