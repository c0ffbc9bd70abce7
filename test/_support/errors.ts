/** Errors of every class of the library, drawn from their schemas, and what of them has to survive a wire. */
import { assert } from "@effect/vitest"
import { KintsugiError, LlmError, RunError, ToolError } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
import { Duration, Effect, Predicate, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { counting, runs, seed } from "./cases.ts"

type AnyClass = Schema.Codec<unknown, unknown> & {
  new (fields: object): KintsugiError.KintsugiError
  readonly fields: Schema.Struct.Fields
}

/** Every class of the closed union: a new one cannot be left out. */
// each module exports its classes under their tags
export const classes = { ...LlmError, ...ToolError, ...RunError, ...DoorError } as unknown as Readonly<
  Record<string, AnyClass>
>

export { cause } from "@kintsugi/core/testing/Arbitraries"

/** Instances with fields drawn from the schema of the class; optional ones are there or not. */
export const instances = (tag: string): Arbitrary.Arbitrary<KintsugiError.KintsugiError> =>
  // it throws for what is no tag
  Arbitraries.errorOf(tag as KintsugiError.KintsugiError["_tag"])

export const jsonOf = (schema: Schema.Codec<unknown, unknown>, value: unknown): string =>
  JSON.stringify(Schema.encodeUnknownSync(Schema.toCodecJson(schema))(value))

export const readAs = (schema: Schema.Codec<unknown, unknown>, text: string): unknown =>
  Schema.decodeUnknownSync(Schema.toCodecJson(schema))(JSON.parse(text))

/**
 * Whether V8 may read a name of a field in this text as another one: one with an escape, once it has read others
 * (https://github.com/nodejs/node/issues/63785). What is read wrong there was written right.
 */
export const isMisread = (text: string): boolean => /"[^"\\]*(?:\\.[^"\\]*)+":/.test(text)

/**
 * All that has to survive. Of what is foreign that is its summary. JSON has no negative zero.
 */
export const shape = (value: unknown): unknown => {
  if (Duration.isDuration(value)) return `${String(Duration.toMillis(value))} ms`
  if (Array.isArray(value)) return value.map(shape)
  if (Object.is(value, -0)) return 0
  if (KintsugiError.isKintsugiError(value)) {
    const { code, httpStatus, isRetryable, maxAttempts, recovery, suggestedDelay } = value
    return {
      class: value.constructor,
      message: value.message,
      advice: [code, httpStatus, isRetryable, shape(maxAttempts), recovery, shape(suggestedDelay)],
      fields: entriesOf(value).map(([name, field]) => [name, fieldOf(name, field)]),
      cause: "cause" in value ? beneath(value.cause) : "none"
    }
  }
  return Predicate.isObject(value) ? entriesOf(value).map(([name, field]) => [name, shape(field)]) : value
}

/** Of fields that hold failures of any kind, what has to survive is what lies beneath. */
const fieldOf = (name: string, field: unknown): unknown => {
  if (name === "earlier" && Array.isArray(field)) return field.map(beneath)
  return name === "originalError" ? beneath(field) : shape(field)
}

/** In the order of their names; whether message and cause are enumerable depends on what they are. */
const entriesOf = (value: object): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(value)
    .filter(([name]) => name !== "cause" && name !== "message")
    .toSorted(([one], [two]) => (one < two ? -1 : 1))

export const beneath = (value: unknown): unknown =>
  KintsugiError.isKintsugiError(value) ? shape(value) : ErrorCause.summarise(value)

export const shapeOf = (error: KintsugiError.KintsugiError): unknown =>
  "attempts" in error && Array.isArray(error.attempts)
    ? [
        shape({ ...error, attempts: [] }),
        error.constructor,
        error.message,
        beneath(error.cause),
        error.attempts.map(beneath)
      ]
    : shape(error)

/** Checks a property on that many cases; `count` is called after each of them. */
const checking = <A>(
  arbitrary: Arbitrary.Arbitrary<A>,
  property: (value: A) => void,
  runs: number,
  count: () => void = () => {}
) =>
  Effect.gen(function* () {
    const holds = (value: A) =>
      Effect.try({
        try: () => {
          property(value)
          count()
          return true
        },
        catch: (error) => error
      })
    const result = yield* Arbitrary.checkEffect(arbitrary, holds, { runs, seed: String(seed) })
    const failure = Arbitrary.formatCheckFailure(result)
    if (failure !== undefined) assert.fail(`seed ${seed}\n${failure}`)
  })

/** As `law`, for arbitraries of Effect. */
export const lawOf = <A>(title: string, arbitrary: Arbitrary.Arbitrary<A>, property: (value: A) => void): void =>
  counting(title, (count) => Effect.runPromise(checking(arbitrary, property, runs, count)))

/** For what is no law: fewer cases do. */
export const check = <A>(arbitrary: Arbitrary.Arbitrary<A>, property: (value: A) => void, atLeast = 0) =>
  checking(arbitrary, property, Math.max(60, atLeast))
