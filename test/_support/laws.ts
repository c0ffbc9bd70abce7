/** How laws are tested: by the kit that users have as well. */
import { type FailureScript, Trace as Traces } from "@kintsugi/core/testing"
import * as FastCheck from "@kintsugi/core/testing/FastCheck"
import { Effect } from "effect"
import type * as Arbitrary from "effect/Arbitrary"
import type fc from "fast-check"
import * as Arbitraries from "../../packages/core/src/testing/Arbitraries.ts"
import { stepOf } from "../../packages/core/src/testing/FailureScript.ts"
import { counting, runs, seed } from "./cases.ts"

const { fromEffect } = FastCheck

export { stepOf }

export const tags = ["A", "B", "C", "D"] as const
export type Tag = (typeof tags)[number]

/** Puts a policy around the scripted effect. */
export type Guard<E = never> = (scripted: Effect.Effect<string, Failure>) => Effect.Effect<string, Failure | E>

export type Failure = Effect.Error<Parameters<Parameters<typeof Traces.play>[1]>[0]>
export type Script = FailureScript.FailureScript<Tag>
export type Step = Script["rest"]
export type Trace = Traces.Trace

export const bare: Guard = (scripted) => scripted

export const { waitsOf } = Traces

/** The failure of an attempt, as traces name it. */
export const failed = (tag: string, attempt: number): string => `failure ${tag} of attempt ${attempt}`

/** Any tag may fail, for all that a guard knows. */
export const play: <E>(
  script: FailureScript.FailureScript,
  guard: Guard<E>,
  interruptAt?: number
) => Effect.Effect<Trace> = Traces.play

export const resourcesOf = (attempts: number): ReadonlyArray<string> =>
  Array.from({ length: attempts }, (_, index) => [`open ${index + 1}`, `close ${index + 1}`]).flat()

/** The instants at which attempts start when these are the waits between them, summed as a clock sums. */
export const startsAfter = (script: Script, waits: ReadonlyArray<number>): ReadonlyArray<number> => {
  const starts = [0]
  for (const wait of waits) {
    const ended = starts[starts.length - 1]! + stepOf(script, starts.length).takes
    starts.push(ended + wait)
  }
  return starts
}

export const takes: fc.Arbitrary<number> = fromEffect(Arbitraries.takes)

/** A failing step with one of these tags. */
export const failing = (from: ReadonlyArray<Tag> = tags, hints?: Arbitrary.Arbitrary<number | undefined>) =>
  fromEffect(Arbitraries.failing(from, hints))

/** A step that no policy may handle. */
export const deadly: fc.Arbitrary<Step> = fromEffect(Arbitraries.deadly(tags))

/** Any script: mostly failures, so that policies have something to do. */
export const script: fc.Arbitrary<Script> = fromEffect(Arbitraries.script(tags))

/** A script in which no failure stands beside a defect or an interrupt: there a table makes one of two. */
export const plainScript: fc.Arbitrary<Script> = fromEffect(Arbitraries.script(tags, Arbitraries.ending))

/** A script in which every attempt fails, with a tag of the given ones. */
export const allFailing = (
  from: ReadonlyArray<Tag> = tags,
  hints?: Arbitrary.Arbitrary<number | undefined>
): fc.Arbitrary<Script> => fromEffect(Arbitraries.allFailing(from, hints))

/** The calls of each turn of a model, each of which `call` draws. */
export const batches = <Call>(
  call: Arbitrary.Arbitrary<Call>,
  most: { readonly maxTurns?: number; readonly maxCalls?: number } = {}
): fc.Arbitrary<ReadonlyArray<ReadonlyArray<Call>>> =>
  fromEffect(Arbitraries.modelTurns(call, most)).map((turns) => turns.map(({ calls }) => calls))

export const { constantFrom } = Arbitraries

// --- running

/** As `play`, and remembered for the report of a case that fails. */
export type Play = typeof play

/** What a law says of a case. */
export type Check<T> = (value: T, play: Play) => Effect.Effect<unknown, unknown>

/** A law on many cases. The failure is of one that is shrunk, and says it with its traces and the seed. */
export const holding = <T>(
  arbitrary: fc.Arbitrary<T>,
  check: Check<T>,
  count: () => void = () => {},
  cases: FastCheck.Options = { runs, seed }
) => FastCheck.check(arbitrary, (value, { play }) => Effect.tap(check(value, play), () => Effect.sync(count)), cases)

/** Checks a law on many cases. */
export const law = <T>(title: string, arbitrary: fc.Arbitrary<T>, check: Check<T>): void =>
  counting(title, (count) => Effect.runPromise(holding(arbitrary, check, count)))
