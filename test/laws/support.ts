/**
 * How laws are tested: a script says what each attempt does and how long it takes, a run of it leaves a trace, and laws
 * speak of the trace alone. `KINTSUGI_CASES` sets the number of cases, `KINTSUGI_SEED` where they start.
 */
import { it } from "@effect/vitest"
import { Cause, Clock, Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"

export const tags = ["A", "B", "C", "D"] as const
export type Tag = (typeof tags)[number]

/** A failure of the script; a fresh object in every attempt. */
export interface Failure {
  readonly _tag: Tag
  readonly attempt: number
  readonly retryAfter?: Duration.Duration
}

/** What an attempt does after `takes` milliseconds. */
export type Step = { readonly takes: number } & (
  | { readonly does: "succeed"; readonly value: string }
  | { readonly does: "fail"; readonly tag: Tag; readonly hint?: number }
  | { readonly does: "fail and die" | "fail and interrupt"; readonly tag: Tag }
  | { readonly does: "die" | "interrupt" | "never" }
)

export interface Script {
  readonly steps: ReadonlyArray<Step>
  /** What every attempt after the last step does. */
  readonly rest: Step
}

export const stepOf = (script: Script, attempt: number): Step => script.steps[attempt - 1] ?? script.rest

/** All that laws speak of. Instants are milliseconds since the start. */
export interface Trace {
  readonly attempts: ReadonlyArray<{ readonly start: number; readonly attempt: number; readonly outcome: string }>
  /** Absent while it runs. */
  readonly end: number | undefined
  /** A failure names the attempt whose very object it is. */
  readonly exit: string
  /** `open n` and `close n`: each attempt holds a resource. */
  readonly resources: ReadonlyArray<string>
}

export const resourcesOf = (attempts: number): ReadonlyArray<string> =>
  Array.from({ length: attempts }, (_, index) => [`open ${index + 1}`, `close ${index + 1}`]).flat()

/** What a failed attempt fails with, as traces name it. */
export const failed = (tag: string, attempt: number): string => `failure ${tag} of attempt ${attempt}`

/** Puts a policy round the scripted effect. */
export type Guard<E = never> = (scripted: Effect.Effect<string, Failure>) => Effect.Effect<string, Failure | E>

export const bare: Guard = (scripted) => scripted

/** Every law is bounded: a run that makes more attempts than this dies. */
const runaway = 20_000

/** Beyond the end of every run that ends. */
const ages = Duration.days(100_000)

/** Runs a script under a guard, on a clock of its own; `interruptAt` is the instant of an interrupt from outside. */
export const play = <E>(script: Script, guard: Guard<E>, interruptAt?: number): Effect.Effect<Trace> =>
  Effect.gen(function* () {
    const attempts: Array<{ start: number; attempt: number; outcome: string }> = []
    const resources: Array<string> = []
    const errors: Array<unknown> = []
    const clock = yield* Clock.clockWith(Effect.succeed)
    const scripted = Effect.suspend(() => {
      const attempt = attempts.length + 1
      if (attempt > runaway) return Effect.die("runaway")
      const entry = { start: clock.currentTimeMillisUnsafe(), attempt, outcome: "running" }
      attempts.push(entry)
      const step = stepOf(script, attempt)
      const act = Effect.suspend(() => {
        entry.outcome = step.does
        return perform(step, attempt, errors)
      })
      return Effect.acquireUseRelease(
        Effect.sync(() => resources.push(`open ${attempt}`)),
        () => (step.takes === 0 ? act : Effect.delay(act, step.takes)),
        () => Effect.sync(() => resources.push(`close ${attempt}`))
      )
    })
    let ended: { readonly end: number; readonly exit: string } | undefined
    const fiber = yield* Effect.forkChild(
      Effect.onExit(guard(scripted), (exit) =>
        Effect.sync(() => {
          ended = { end: clock.currentTimeMillisUnsafe(), exit: describe(exit, errors) }
        })
      )
    )
    // not awaited: what resists an interrupt waits for the clock
    const interrupt = Effect.forkChild(Fiber.interrupt(fiber))
    if (interruptAt !== undefined) {
      yield* TestClock.adjust(interruptAt)
      yield* interrupt
    }
    yield* TestClock.adjust(ages)
    const seen = ended ?? { end: undefined, exit: "running" }
    const trace = attempts.map((entry) => ({ ...entry }))
    if (ended === undefined) {
      yield* interrupt
      yield* TestClock.adjust(ages)
    }
    return { attempts: trace, ...seen, resources }
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))

const perform = (step: Step, attempt: number, errors: Array<unknown>): Effect.Effect<string, Failure> => {
  const fail = (tag: Tag, hint?: number): Cause.Cause<Failure> => {
    const error = { _tag: tag, attempt, ...(hint === undefined ? {} : { retryAfter: Duration.millis(hint) }) }
    errors[attempt] = error
    return Cause.fail(error)
  }
  switch (step.does) {
    case "succeed":
      return Effect.succeed(step.value)
    case "fail":
      return Effect.failCause(fail(step.tag, step.hint))
    case "fail and die":
      return Effect.failCause(Cause.combine(fail(step.tag), Cause.die(`defect of attempt ${attempt}`)))
    case "fail and interrupt":
      return Effect.failCause(Cause.combine(fail(step.tag), Cause.interrupt()))
    case "die":
      return Effect.die(`defect of attempt ${attempt}`)
    case "interrupt":
      return Effect.interrupt
    case "never":
      return Effect.never
  }
}

const describe = (exit: Exit.Exit<string, unknown>, errors: ReadonlyArray<unknown>): string => {
  if (Exit.isSuccess(exit)) return `success ${exit.value}`
  const parts = exit.cause.reasons.map((reason) => {
    if (Cause.isInterruptReason(reason)) return "interrupted"
    if (Cause.isDieReason(reason)) {
      return `died of ${typeof reason.defect === "string" ? reason.defect : nameOf(reason.defect, errors)}`
    }
    return nameOf(reason.error, errors)
  })
  return [...new Set(parts)].join(" and ")
}

const nameOf = (error: unknown, errors: ReadonlyArray<unknown>): string => {
  const attempt = errors.indexOf(error)
  const tag = typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : String(error)
  return attempt === -1 ? `failure ${tag} of its own` : failed(tag, attempt)
}

/** The instants at which attempts start when these are the waits between them, summed as a clock sums. */
export const startsAfter = (script: Script, waits: ReadonlyArray<number>): ReadonlyArray<number> => {
  const starts = [0]
  for (const wait of waits) {
    const ended = starts[starts.length - 1]! + stepOf(script, starts.length).takes
    starts.push(ended + wait)
  }
  return starts
}

/** The wait before each attempt but the first; exact when all instants are whole. */
export const waitsOf = (script: Script, trace: Trace): ReadonlyArray<number> =>
  trace.attempts
    .slice(1)
    .map(({ start }, index) => start - (trace.attempts[index]!.start + stepOf(script, index + 1).takes))

// --- generators

/** Milliseconds that an attempt takes, from none to 20 seconds. */
export const takes: fc.Arbitrary<number> = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 }))

/** Absent, none, small, or beyond the default `maxHint`. */
export const hint: fc.Arbitrary<number | undefined> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 5_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 60_001, max: 10 ** 9 }) }
)

/** A failing step, with a tag of the given ones. */
export const failing = (
  from: ReadonlyArray<Tag>,
  hints: fc.Arbitrary<number | undefined> = hint
): fc.Arbitrary<Step & { readonly does: "fail" }> =>
  fc
    .record({ takes, tag: fc.constantFrom(...from), hint: hints })
    .map(({ hint, ...step }) => ({ does: "fail", ...step, ...(hint === undefined ? {} : { hint }) }))

export const succeeding: fc.Arbitrary<Step> = takes.map((takes) => ({ does: "succeed", takes, value: "fine" }))

/** A step that no policy may handle. */
export const deadly: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ takes, does: fc.constantFrom("die" as const, "interrupt" as const) }),
  fc.record({
    takes,
    does: fc.constantFrom("fail and die" as const, "fail and interrupt" as const),
    tag: fc.constantFrom(...tags)
  })
)

const never: fc.Arbitrary<Step> = takes.map((takes) => ({ does: "never", takes }))

/** Mostly failures, so that policies have something to do. */
const scriptOf = (ends: fc.Arbitrary<Step>): fc.Arbitrary<Script> =>
  fc.record({
    steps: fc.array(
      fc.oneof(
        { weight: 12, arbitrary: failing(tags) },
        { weight: 1, arbitrary: succeeding },
        { weight: 1, arbitrary: ends },
        { weight: 1, arbitrary: never }
      ),
      { maxLength: 12 }
    ),
    rest: fc.oneof(succeeding, failing(tags), ends)
  })

/** Any script. */
export const script: fc.Arbitrary<Script> = scriptOf(deadly)

/** A script in which no failure stands beside a defect or an interrupt: there a table makes one of two. */
export const plainScript: fc.Arbitrary<Script> = scriptOf(
  fc.record({ takes, does: fc.constantFrom("die" as const, "interrupt" as const) })
)

/** A script in which every attempt fails, with a tag of the given ones. */
export const allFailing = (
  from: ReadonlyArray<Tag> = tags,
  hints?: fc.Arbitrary<number | undefined>
): fc.Arbitrary<Script> =>
  fc.record({ steps: fc.array(failing(from, hints), { maxLength: 12 }), rest: failing(from, hints) })

// --- running

const environment = (name: string, otherwise: number): number => {
  const value = Number(process.env[name] ?? otherwise)
  return Number.isSafeInteger(value) && value > 0 ? value : otherwise
}

const numRuns = environment("KINTSUGI_CASES", 200)
const seed = environment("KINTSUGI_SEED", 4_711)

/** As `play`, and remembered for the report of a case that fails. */
export type Play = typeof play

/** Checks a law on many cases. A failing one is printed with its traces and the seed. */
export const law = <T>(
  title: string,
  arbitrary: fc.Arbitrary<T>,
  check: (value: T, play: Play) => Effect.Effect<unknown, unknown>
): void =>
  it(title, { timeout: 20_000 + 50 * numRuns }, async () => {
    const property = fc.asyncProperty(arbitrary, (value) => {
      const traces: Array<Trace> = []
      const remembering: Play = (...run) => Effect.tap(play(...run), (trace) => Effect.sync(() => traces.push(trace)))
      return Effect.runPromise(Effect.asVoid(check(value, remembering))).catch((error: unknown) => {
        const text = traces.map((trace) => `trace ${JSON.stringify(trace)}`).join("\n")
        throw new Error(`${error instanceof Error ? error.message : String(error)}\n${text}`, { cause: error })
      })
    })
    const result = await fc.check(property, { numRuns, seed })
    if (!result.failed) return
    const found = result.errorInstance instanceof Error ? result.errorInstance : new Error(String(result.errorInstance))
    throw new Error(
      [
        `seed ${result.seed}, case ${result.numRuns}, path ${result.counterexamplePath}`,
        `case ${fc.stringify(result.counterexample?.[0])}`,
        found.message
      ].join("\n"),
      { cause: found.cause }
    )
  })
