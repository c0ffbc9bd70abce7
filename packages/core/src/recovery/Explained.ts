/** What one call of a model is at worst: a model that is made of others, or a layer of one, says it of itself. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import { maxAttemptsPerCall } from "./bounds.ts"
import type { Explanation } from "./Explanation.ts"
import { warned } from "./warned.ts"

/** What `explain` cannot read off a model or an agent. */
export interface Options {
  /** Failures that the tables may meet: see `Recovery.explain`. */
  readonly errors?: ReadonlyArray<unknown>
  /** The worst case of one attempt of a single model for its transport, if the transport resends by itself. */
  readonly transport?: Explanation
}

/** `errors`: failures that the policies may meet. */
export interface Explains {
  (errors: ReadonlyArray<unknown>): Explanation
}

/** Where a model that is made of others, or a layer of one, says what its calls are at worst. */
const Mark: unique symbol = Symbol.for("~@kintsugi/core/Model/Explains")

/** Says of a model, or of its layer, what its calls are at worst. Not enumerable: a copy may do anything. */
export const explaining = <M extends object>(model: M, explains: Explains): M =>
  Object.defineProperty(model, Mark, { value: explains })

/** A call of a single model: one request, and nothing else that is known of it. */
const single: Explanation = {
  rows: [],
  worst: { attempts: 1, requests: 1, fixerRuns: 0, modelCalls: 0, waits: Duration.zero, time: Duration.zero }
}

/** The worst of one call of `model`. A model without the mark counts as a single model. */
export const explained = (model: unknown, errors: ReadonlyArray<unknown>): Explanation =>
  Predicate.hasProperty(model, Mark)
    ? // only `explaining` sets the mark
      (model[Mark] as Explains)(errors)
    : single

/** The same, where each request of a single model is what its transport does for it. */
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

/** One after the other, each of which fails. */
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

/** A function around the attempts makes as many as it likes, up to the cap of a call; nothing is known of its waits. */
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
