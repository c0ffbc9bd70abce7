/** Makes a codec of an AI SDK tool's input schema: it takes the JSON Schema and the validation from it. */
import * as RawSchema from "@kintsugi/core/RawSchema"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { copyOf } from "./copy.ts"

interface Wrong {
  readonly message: string
  readonly path: ReadonlyArray<PropertyKey>
}

/** The checked value, or what is wrong with it. */
type Checked = Result.Result<unknown, ReadonlyArray<Wrong>>

type Check = (value: unknown) => Checked | PromiseLike<Checked>

export interface Input {
  /** Decodes the input, and checks it as far as that is possible synchronously. */
  readonly codec: Schema.Codec<unknown, unknown>
  /** Checks an input whose validation is asynchronous. It fails with the issues as one line. */
  readonly late: (params: unknown) => Effect.Effect<unknown, string>
}

/**
 * Reads an input schema. Throws a `TypeError` if no JSON Schema is given or available synchronously, and an `InputTooLargeError` for a JSON
 * Schema beyond a bound.
 */
export const read = (
  tool: string,
  inputSchema: unknown,
  given: RawSchema.RawSchema | undefined,
  bounds: NonNullable<Parameters<typeof RawSchema.make>[1]>["bounds"]
): Input => {
  const schema = isLazy(inputSchema) ? inputSchema() : inputSchema
  const json = given ?? jsonOf(schema)
  if (json === undefined) {
    throw new TypeError(
      `AiSdk: the JSON Schema of tool '${tool}' is not available synchronously; give it as the option jsonSchema (asSchema of 'ai' has it)`
    )
  }
  const check = checkOf(schema)
  // The inputs whose check gives a promise, and so is not done yet. A set of objects will do, as the input of a tool is an object.
  const unchecked = new WeakSet<object>()
  const decode = (value: Schema.Json): Effect.Effect<unknown, SchemaIssue.Issue> => {
    const checked = check(value)
    if (!isPromise(checked)) return Effect.mapError(Effect.fromResult(checked), issueOf)
    // `late` checks the value once more, and reports a rejection. Here nothing would handle it.
    Promise.resolve(checked).catch(() => undefined)
    if (Predicate.isObject(value)) unchecked.add(value)
    return Effect.succeed(value)
  }
  const codec = RawSchema.make(json, { bounds, what: `The input schema of tool '${tool}'` }).pipe(
    Schema.decodeTo(
      Schema.Unknown,
      SchemaTransformation.transformEffect({
        decode,
        encode: (params) => Effect.succeed(isJson(params) ? params : null)
      })
    )
  )
  return {
    codec: RawSchema.shownAs(codec, json),
    late: (params) => {
      if (!Predicate.isObject(params) || !unchecked.has(params)) return Effect.succeed(params)
      return Effect.tryPromise({ try: async () => check(params), catch: String }).pipe(
        Effect.flatMap(Effect.fromResult),
        Effect.mapError((wrong) => (Predicate.isString(wrong) ? wrong : wrong.map(({ message }) => message).join("; ")))
      )
    }
  }
}

const isJson = Schema.is(Schema.Json)
const isJsonObject = Schema.is(Schema.JsonObject)

const isLazy = (schema: unknown): schema is () => unknown => Predicate.isFunction(schema) && !("~standard" in schema)

export const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  Predicate.hasProperty(value, "then") && Predicate.isFunction(value.then)

/** The JSON Schema of a schema: of the SDK's own kind, or of a Standard Schema that can give one. */
const jsonOf = (schema: unknown): RawSchema.RawSchema | undefined => {
  if (!Predicate.isObjectKeyword(schema)) return undefined
  const own = "jsonSchema" in schema ? schema.jsonSchema : undefined
  // A promise has no own fields, so it would pass for an empty JSON Schema.
  if (!isPromise(own) && isJsonObject(own)) return own
  const standard = "~standard" in schema ? schema["~standard"] : undefined
  if (!Predicate.hasProperty(standard, "jsonSchema") || !Predicate.hasProperty(standard.jsonSchema, "input")) {
    return undefined
  }
  const { input } = standard.jsonSchema
  if (!Predicate.isFunction(input)) return undefined
  const made = Result.try((): unknown => input({ target: "draft-2020-12" }))
  return Result.isSuccess(made) && !isPromise(made.success) && isJsonObject(made.success) ? made.success : undefined
}

/**
 * The validation of a schema. It looks for a Standard Schema first, because such a schema may also have a method `validate` of its own. It
 * checks a copy, because some schemas write defaults into the value.
 */
const checkOf = (schema: unknown): Check => {
  const standard = Predicate.hasProperty(schema, "~standard") ? schema["~standard"] : undefined
  if (validates(standard)) return (value) => thenOr(standard.validate(copyOf(value)), fromStandard)
  if (validates(schema)) return (value) => thenOr(schema.validate(copyOf(value)), fromOwn)
  return Result.succeed
}

const validates = (schema: unknown): schema is { readonly validate: (value: unknown) => unknown } =>
  Predicate.hasProperty(schema, "validate") && Predicate.isFunction(schema.validate)

const thenOr = (given: unknown, read: (answer: unknown) => Checked): Checked | PromiseLike<Checked> =>
  isPromise(given) ? given.then(read) : read(given)

/** Reads the answer of the SDK's own schema: `{ success: true, value }` or `{ success: false, error }`. */
const fromOwn = (answer: unknown): Checked => {
  if (Predicate.hasProperty(answer, "success") && answer.success === true) {
    return Result.succeed("value" in answer ? answer.value : undefined)
  }
  const error = Predicate.hasProperty(answer, "error") ? answer.error : undefined
  return Result.fail([{ message: error instanceof Error ? error.message : "a valid value", path: [] }])
}

/** Reads the answer of a Standard Schema: `{ value }` or `{ issues }`. */
const fromStandard = (answer: unknown): Checked => {
  const issues = Predicate.hasProperty(answer, "issues") ? answer.issues : undefined
  if (!Array.isArray(issues)) return Result.succeed(Predicate.hasProperty(answer, "value") ? answer.value : undefined)
  return Result.fail(
    issues.map((issue: unknown) => ({
      message: Predicate.hasProperty(issue, "message") ? String(issue.message) : "a valid value",
      path: Predicate.hasProperty(issue, "path") && Array.isArray(issue.path) ? issue.path.map(keyOf) : []
    }))
  )
}

const keyOf = (step: unknown): PropertyKey => {
  const key = Predicate.hasProperty(step, "key") ? step.key : step
  return Predicate.isNumber(key) ? key : String(key)
}

const issueOf = (wrong: ReadonlyArray<Wrong>): SchemaIssue.Issue => {
  const issues = wrong.map(
    ({ message, path }) => new SchemaIssue.Pointer(path, new SchemaIssue.InvalidValue({ message }))
  )
  return Arr.isReadonlyArrayNonEmpty(issues)
    ? new SchemaIssue.Composite(Schema.Unknown.ast, issues)
    : new SchemaIssue.InvalidValue({ message: "a valid value" })
}
