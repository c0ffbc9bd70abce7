/** Errors of every class of the library, drawn from their schemas, and what of them has to survive a wire. */
import { assert } from "@effect/vitest"
import { ErrorCause, Issue, KintsugiError, LlmError, Message, RunError, ToolError } from "@kintsugi/core"
import { Duration, Effect, Predicate, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"

type AnyClass = Schema.Codec<unknown, unknown> & {
  new (fields: object): KintsugiError.KintsugiError
  readonly fields: Schema.Struct.Fields
}

/** Every class of the closed union: a new one cannot be left out. */
// each module exports its classes under their tags
export const classes = { ...LlmError, ...ToolError, ...RunError } as unknown as Readonly<Record<string, AnyClass>>

const cases = Number(process.env["KINTSUGI_CASES"] ?? 60)
const seed = process.env["KINTSUGI_SEED"] ?? "4711"

const foreign = ["error", "coded", "plain", "text", "number", "null"] as const

const causes = (kinds: ReadonlyArray<string>) =>
  Arbitrary.map(
    Arbitrary.schema(
      Schema.Struct({ kind: Schema.Literals(kinds), text: Schema.String, depth: Schema.Literals([0, 1, 2]) })
    ),
    ({ depth, kind, text }): unknown => causeOf(kind, text, depth)
  )

/** Beneath a failure of a model lie foreign things of all kinds, and other failures of models. */
const modelCause = causes([...foreign, "ours"])

/** Beneath any other error also errors around errors, three levels down. */
export const cause = causes([...foreign, "ours", "nested"])

const causeOf = (kind: string, text: string, depth: number): unknown => {
  switch (kind) {
    case "error":
      return new TypeError(text)
    case "coded":
      return Object.assign(new Error(text, { cause: new Error("beneath") }), { code: "E1", headers: { secret: text } })
    case "plain":
      return { message: text, status: 500 }
    case "text":
      return text
    case "number":
      return text.length
    case "null":
      return null
    case "ours":
      return LlmError.RateLimitError.limited(text, { retryAfter: Duration.millis(text.length) })
    default: {
      const beneath = depth === 0 ? new Error(text) : causeOf("nested", text, depth - 1)
      return ToolError.ExecutionError.wrap({ tool: text, callId: "c", kind: "local", args: { n: depth } }, beneath)
    }
  }
}

/** Fields that a schema cannot make by itself: foreign causes, and what is only checked when it comes from outside. */
const special: Readonly<Record<string, Arbitrary.Arbitrary<unknown>>> = {
  cause,
  originalError: cause,
  earlier: Arbitrary.array(modelCause, { maxLength: 3 }),
  attempts: Arbitrary.array(cause, { maxLength: 3 }),
  transcript: Arbitrary.schema(Message.Transcript),
  args: Arbitrary.schema(Schema.Json),
  rawValue: Arbitrary.schema(Schema.Json),
  issues: Arbitrary.schema(Schema.Array(Issue.Issue))
}

const arbitraryOf = (tag: string, name: string): Arbitrary.Arbitrary<unknown> =>
  name === "cause" && isModelTag(tag) ? modelCause : (special[name] ?? cause)

const isModelTag = (tag: string) => tag in LlmError

/** Instances with fields drawn from the schema of the class; optional ones are there or not. */
export const instances = (tag: string): Arbitrary.Arbitrary<KintsugiError.KintsugiError> => {
  const made = classes[tag]
  if (made === undefined) return assert.fail(`no class ${tag}`)
  const isSpecial = (name: string) => name in special && !(name === "attempts" && tag === "EscalationError")
  const names = Object.keys(made.fields).filter(isSpecial)
  const plain = Object.fromEntries(Object.entries(made.fields).filter(([name]) => !isSpecial(name)))
  const drawn = Arbitrary.all({
    fields: Arbitrary.schema(Schema.Struct(plain)),
    special: Arbitrary.all(Object.fromEntries(names.map((name) => [name, arbitraryOf(tag, name)]))),
    isGiven: Arbitrary.schema(Schema.Boolean)
  })
  return Arbitrary.map(drawn, ({ fields, isGiven, special }) => {
    const optional = new Set([
      "cause",
      "originalError",
      "earlier",
      ...(tag === "ToolExecutionError" ? ["transcript"] : [])
    ])
    const kept = Object.entries(special).filter(([name]) => isGiven || !optional.has(name))
    return new made({ ...fields, ...Object.fromEntries(kept) })
  })
}

export const jsonOf = (schema: Schema.Codec<unknown, unknown>, value: unknown): string =>
  JSON.stringify(Schema.encodeUnknownSync(Schema.toCodecJson(schema))(value))

export const readAs = (schema: Schema.Codec<unknown, unknown>, text: string): unknown =>
  Schema.decodeUnknownSync(Schema.toCodecJson(schema))(JSON.parse(text))

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
      advice: [code, httpStatus, isRetryable, maxAttempts, recovery, shape(suggestedDelay)],
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

export const check = <A>(arbitrary: Arbitrary.Arbitrary<A>, property: (value: A) => void, atLeast = 0) =>
  Effect.gen(function* () {
    const result = yield* Arbitrary.checkEffect(
      arbitrary,
      (value) =>
        Effect.try({
          try: () => {
            property(value)
            return true
          },
          catch: (error) => error
        }),
      { runs: Math.max(cases, atLeast), seed }
    )
    const failure = Arbitrary.formatCheckFailure(result)
    if (failure !== undefined) assert.fail(failure)
  })
