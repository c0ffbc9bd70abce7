/** What a tool is at run time: its types are in `Tool.Tool` only. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Coercion from "../coercion/Coercion.ts"
import * as Issue from "../data/Issue.ts"
import type * as Message from "../data/Message.ts"
import * as RawSchema from "../data/RawSchema.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import type { Kind } from "../errors/ToolError.ts"

export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly kind: Kind
  readonly sideEffects: Recovery.SideEffects
  /** Outside of every table: its failure, or its value, ends the run. */
  readonly isBuiltIn: boolean
  /** The parameter of a built-in tool that takes the whole text of arguments which cannot be read. */
  readonly words: string
  readonly parameters: Schema.Codec<unknown, unknown>
  readonly success: Schema.Codec<unknown, unknown>
  readonly spec: () => Message.ToolSpec
  readonly targetType: string
  readonly coercion: ReadonlyArray<Coercion.Step>
  readonly decode: (value: Schema.Json) => Result.Result<unknown, SchemaIssue.Issue>
  readonly decodeResult: (text: string) => Result.Result<unknown, ReadonlyArray<Issue.Issue>>
  /** The text that the model reads; dies on a value that the tool's own schema refuses. */
  readonly encode: (value: unknown) => Exit.Exit<string>
  readonly run: (params: unknown, context: ToolContext) => Effect.Effect<unknown, unknown>
  readonly rows: Recovery.Rows
  /** How long one run may take, and the whole call with all its attempts and waits. */
  readonly timeout: Duration.Duration | undefined
  readonly callTimeout: Duration.Duration | undefined
  readonly verify: ((idempotencyKey: string) => Effect.Effect<Option.Option<unknown>, unknown>) | undefined
  readonly maxResultChars: number | undefined
  readonly isError: ((value: unknown) => boolean) | undefined
  readonly failure: Schema.Codec<unknown, unknown> | undefined
  readonly approval: NeedsApproval | undefined
  readonly compensate: Compensate<unknown, unknown, unknown> | undefined
}

/** When a tool needs approval, and what whoever decides is told. */
export interface NeedsApproval {
  readonly when: (params: unknown) => Effect.Effect<boolean, unknown>
  readonly reason: string
  readonly validFor: Duration.Duration
}

/** What a tool knows of its call besides its parameters. */
export interface ToolContext {
  /** 1 for the first run of this call, then 2, 3 … */
  readonly attempt: number
  readonly callId: string
  /** Equal for all runs of one call, different between calls. */
  readonly idempotencyKey: string
  /** The agent whose model made the call. */
  readonly agent: string
  /** Says how far the tool is: an event for whoever listens. */
  readonly progress: (data: unknown) => Effect.Effect<void>
}

/** What a call has done that is to be undone. */
export interface Settled<out Params, out A> {
  /** What the run that succeeded had taken, and what it gave. */
  readonly params: Params
  readonly result: A
  readonly callId: string
  /** That of the call: whatever is undone by it is undone once, also where this comes twice. */
  readonly idempotencyKey: string
}

/** Undoes what a call has done. Whatever it fails with is told, and is in the type of no run. */
export type Compensate<in Params, in A, out R> = (settled: Settled<Params, A>) => Effect.Effect<void, unknown, R>

/** Looks up by its key whether a call that was cut off took effect: its result if so, nothing if not. */
export type Verify<A, R> = (idempotencyKey: string) => Effect.Effect<Option.Option<A>, unknown, R>

/** What `verify` needs where there is none. */
export interface NoVerify {
  readonly NoVerify: never
}

/** How long a tool may take. */
export interface Limits<T, C, A, VR> {
  /** Of one run. Then it is stopped and fails with `ToolTimeoutError`; an `unsafe` one with `OutcomeUnknownError`. */
  readonly timeout?: T
  /** Of the whole call, all attempts, fixers and waits included. Then it ends as `ToolExecutionError`. */
  readonly callTimeout?: C
  /**
   * For `unsafe` tools: asked when a run was cut off. With a result that is the result of the call; without one the run
   * did not take effect, and is a `ToolTimeoutError`; when it fails, the call is escalated to the model.
   */
  readonly verify?: Verify<NoInfer<A>, VR>
}

/** What a tool is made of. */
export interface Options<Params, A, E, R, S extends Recovery.SideEffects> {
  /** What the tool does, for the model. */
  readonly description: string
  readonly parameters: Schema.Codec<Params, unknown>
  readonly success: Schema.Codec<A, unknown>
  /** What running it twice would do; `undeclared` by default. */
  readonly sideEffects?: S
  /** Where its work is done; `local` by default. */
  readonly kind?: Kind
  /** The steps that mend arguments before they count as bad; all by default, none with `[]`. Their order is fixed. */
  readonly coercion?: ReadonlyArray<Coercion.Step>
  /** The longest successful text that the model reads, in characters; unlimited by default. */
  readonly maxResultChars?: number
  /** Whether the model is to read a result as an error, though the call has succeeded; never by default. */
  readonly isError?: (value: A) => boolean
  readonly run: (params: Params, context: ToolContext) => Effect.Effect<A, E, R>
}

/** How typed failures cross a wire or a database. */
export interface Stored<F> {
  /** The schema of all the failures of `run`; without it they are known by their name and message only, once stored. */
  readonly failure?: F
}

/** Makes a definition of what a user wrote; schemas are compiled at first use. */
export const define = <Params, A, E, R, S extends Recovery.SideEffects>(
  name: string,
  options: Options<Params, A, E, R, S> &
    Limits<Duration.Input | undefined, Duration.Input | undefined, unknown, unknown> &
    Stored<unknown>,
  builtIn?: { readonly words: string }
): ToolDefinition => ({
  name,
  description: options.description,
  kind: options.kind ?? "local",
  sideEffects: options.sideEffects ?? "undeclared",
  isBuiltIn: builtIn !== undefined,
  words: builtIn?.words ?? "",
  // what it decodes to is only ever given to `run`
  parameters: options.parameters as Schema.Codec<unknown, unknown>,
  // what it encodes is only ever what `run` gave
  success: options.success as Schema.Codec<unknown, unknown>,
  spec: once(() => ({
    name,
    description: options.description,
    parameters: jsonSchemaOf(options.parameters),
    ...(options.coercion?.includes("drop-empty") === false ? { keepsNulls: true } : {})
  })),
  targetType: `${name} parameters`,
  coercion: options.coercion ?? Coercion.steps,
  decode: decoder(options.parameters),
  decodeResult: resultDecoder(options.success),
  encode: encoder(name, options.success),
  // `run` is only called with what `decode` gave; its failures and needs are in the tool's type
  run: options.run as ToolDefinition["run"],
  rows: new Map(),
  timeout: limitOf(name, "timeout", options.timeout),
  callTimeout: limitOf(name, "callTimeout", options.callTimeout),
  // what it needs is in the tool's type
  verify: options.verify as ToolDefinition["verify"],
  maxResultChars: charsOf(name, options.maxResultChars),
  // only asked of what the tool gave, or what stands in for that
  isError: options.isError as ToolDefinition["isError"],
  // a schema, by the types of those who call this
  failure: options.failure as ToolDefinition["failure"],
  approval: undefined,
  compensate: undefined
})

export const limitOf = (
  tool: string,
  option: string,
  input: Duration.Input | undefined
): Duration.Duration | undefined => {
  if (input === undefined) return undefined
  const limit = Option.getOrUndefined(Duration.fromInput(input))
  if (limit !== undefined && Duration.isFinite(limit) && Duration.isGreaterThan(limit, Duration.zero)) return limit
  throw new RangeError(`Tool '${tool}': ${option} must be a finite duration above 0, got ${String(input)}`)
}

const charsOf = (tool: string, max: number | undefined): number | undefined => {
  if (max === undefined || (Number.isSafeInteger(max) && max >= 0)) return max
  throw new RangeError(`Tool '${tool}': maxResultChars must be a whole number of at least 0, got ${max}`)
}

export const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

export const jsonSchemaOf = (schema: Schema.Codec<unknown, unknown>): Message.ToolSpec["parameters"] => {
  const raw = RawSchema.of(schema)
  if (raw !== undefined) return raw
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  // JSON Schema is JSON
  const json = root as Message.ToolSpec["parameters"]
  return Predicate.isTruthy(Object.keys(definitions).length) ? { ...json, $defs: definitions as Schema.Json } : json
}

const strict = { errors: "all", onExcessProperty: "error" } as const

export const decoder = (schema: Schema.Codec<unknown, unknown>): ToolDefinition["decode"] => {
  const decode = once(() => Schema.decodeUnknownExit(Schema.toCodecJson(schema), strict))
  return (value) => {
    const exit = decode()(value)
    if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
    const error = Cause.squash(exit.cause)
    if (Schema.isSchemaError(error)) return Result.fail(error.issue)
    if (isOverflow(error)) return Result.fail(tooDeep)
    throw error
  }
}

/** A model can nest its arguments deeper than the stack reaches. That is its failure, not a defect. */
const isOverflow = (error: unknown): boolean => error instanceof RangeError && error.message.includes("call stack")

const tooDeep = new SchemaIssue.InvalidValue({ message: "Expected a value that is not nested so deeply" })

/** A fixer's answer as a result: JSON, or the bare text where that is what the schema wants. */
const resultDecoder = (schema: Schema.Codec<unknown, unknown>): ToolDefinition["decodeResult"] => {
  const decodeJson = decoder(schema)
  const decode = (value: Schema.Json) => Result.mapError(decodeJson(value), (issue) => Issue.fromSchema(issue, value))
  return (text) => {
    const json = Result.getOrElse(Coercion.parse(text, []), () => undefined)
    const fromJson = json === undefined ? decode(text) : decode(json.value)
    return Result.isSuccess(fromJson) || json === undefined ? fromJson : Result.orElse(decode(text), () => fromJson)
  }
}

const encoder = (name: string, schema: Schema.Codec<unknown, unknown>): ToolDefinition["encode"] => {
  const encode = once(() => Schema.encodeUnknownResult(Schema.toCodecJson(schema)))
  return (value) => {
    const encoded = encode()(value)
    if (Result.isFailure(encoded)) {
      const issues = Issue.fromSchema(encoded.failure.issue, value).map(Issue.format).join("; ")
      return Exit.die(new TypeError(`Tool '${name}' returned a value that its own success schema refuses: ${issues}`))
    }
    return Exit.succeed(Predicate.isString(encoded.success) ? encoded.success : JSON.stringify(encoded.success))
  }
}
