/** Makes the definition of a tool at run time from the options of the user. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Coercion from "../coercion/Coercion.ts"
import { demand, oneOf } from "../data/Demand.ts"
import * as Issue from "../data/Issue.ts"
import { isDeep } from "../data/Foreign.ts"
import { once } from "../data/Once.ts"
import { InputTooLargeError } from "../errors/DoorError.ts"
import type { Kind } from "../errors/ToolError.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import type { PutAside, ToolContext, ToolDefinition } from "./ToolDefinition.ts"
import type { Later } from "./rows.ts"
import { isOverflow } from "./overflow.ts"
import { reader } from "./reading.ts"
import { decoder, jsonSchemaOf, modelSchema } from "./ToolSchema.ts"
import type { CallCap } from "../budget/Meter.ts"

/** Looks up by its idempotency key whether a call that was cut off took effect. Returns its result, or `None` if it took no effect. */
export type Verify<A, R> = (idempotencyKey: string) => Effect.Effect<Option.Option<A>, unknown, R>

/** Stands for the services of `verify` if the tool has no `verify`. */
export interface NoVerify {
  readonly NoVerify: never
}

/** How long a tool may take. */
export interface Limits<T, C, A, VR> {
  /**
   * How long one attempt may take. After that it is stopped and fails with `ToolTimeoutError`; that of an `unsafe` tool with
   * `OutcomeUnknownError`.
   */
  readonly timeout?: T
  /** How long the whole call may take, with all attempts, fixers and waits. After that it ends as `ToolExecutionError`. */
  readonly callTimeout?: C
  /**
   * For `unsafe` tools: looks up the outcome of an attempt that was cut off. If it finds a result, that is the result of the call. If it
   * finds none, the attempt took no effect, and the call fails with `ToolTimeoutError`. If the lookup fails, the model reads that the
   * outcome is unknown.
   */
  readonly verify?: Verify<NoInfer<A>, VR>
}

/** What a tool is made of. */
export interface Options<Params, A, E, R, S extends Recovery.SideEffects, RD = never> {
  /** What the tool does, for the model. */
  readonly description: string
  /**
   * The schema of what `run` takes. It decodes the JSON of the model. It may wait and need services, which are then services of the tool.
   */
  readonly parameters: Schema.Codec<Params, unknown, RD, unknown>
  readonly success: Schema.Codec<A, unknown>
  /** What running the tool twice would do; `undeclared` by default. */
  readonly sideEffects?: S
  /** Where its work is done; `local` by default. */
  readonly kind?: Kind
  /** The steps that may repair arguments before they count as invalid; all by default, none with `[]`. Their order is fixed. */
  readonly coercion?: ReadonlyArray<Coercion.CoercionStep>
  /** The name that the tool has at its server or in its framework, if it differs. The events of a call have both names. */
  readonly foreignName?: string
  /** The name of the server that has the tool. A model may write it before the name of the tool. */
  readonly server?: string
  /**
   * How many calls of this tool one run may make; unlimited by default. The model reads about each further call that it was not run, and
   * the run goes on. Attempts and repairs of a call do not count. Calls of sub-agents that have the same tool count.
   */
  readonly maxCalls?: number
  /** The longest successful text that the model reads, in characters; unlimited by default. */
  readonly maxResultChars?: number
  /** From which length on a result is put aside, made by `Tool.putAside`. It takes the place of `maxResultChars`. */
  readonly putAside?: PutAside
  /** Whether the model is to read a result as an error, though the call has succeeded; never by default. */
  readonly isError?: (value: A) => boolean
  /**
   * Does the work. Plain objects and arrays in `params` are frozen, because policies, predicates and all attempts read the same ones. If
   * `params` hold other values, each attempt gets its own. Resources in its `Scope` are released when the attempt has ended and its result
   * is encoded, before the next attempt begins.
   */
  readonly run: (params: Params, context: ToolContext) => Effect.Effect<A, E, R>
}

/**
 * Refuses options with both `maxResultChars` and `putAside`, because a result is either cut or put aside. The type mentions no other
 * option, so that it does not disturb inference.
 */
export type OneLength<Given> = Given extends { readonly maxResultChars: unknown; readonly putAside: unknown }
  ? { readonly putAside: never }
  : unknown

/** How typed failures cross a wire or a database. */
export interface Stored<F> {
  /** The schema of all failures of `run`. Without it, only the name and the message of a failure are stored. */
  readonly failure?: F
}

/** Checks that the schema of the option `failure` covers all failures of `run`. */
export type Covers<E, F> =
  F extends Schema.Codec<infer Failures, unknown>
    ? [Exclude<E, Later>] extends [Failures]
      ? unknown
      : { readonly failure: FailuresThatTheSchemaDoesNotKnow<Exclude<E, Failures>> }
    : unknown

interface FailuresThatTheSchemaDoesNotKnow<E> {
  readonly unknown: E
}

/** Checks when a tool is made that an option is a schema. A program without types would otherwise fail at the first call only. */
export const schemaOf = (tool: string, option: string, schema: unknown): Schema.Codec<unknown, unknown> => {
  if (!Schema.isSchema(schema)) throw new TypeError(`Tool '${tool}': ${option} must be a Schema of Effect`)
  // the type of the tool has the types of this schema
  return schema as unknown as Schema.Codec<unknown, unknown>
}

export const runOf = (tool: string, run: unknown): ToolDefinition["run"] => {
  if (!Predicate.isFunction(run)) throw new TypeError(`Tool '${tool}': run must be a function`)
  // `run` gets only what `decode` returned; its failures and services are in the type of the tool
  return run as ToolDefinition["run"]
}

/** Checks the description and the side effects of a tool, and returns the description. A misspelled side effect would count as none. */
const described = (tool: string, options: { readonly description: string; readonly sideEffects?: unknown }): string => {
  demand(`Tool '${tool}'`, "given options", options, Predicate.isObject(options))
  const { description, sideEffects } = options
  demand(`Tool '${tool}': description`, "a text", description, Predicate.isString(description))
  oneOf(`Tool '${tool}': sideEffects`, sideEffects, ["none", "idempotent", "unsafe", "undeclared"])
  return description
}

/** Makes the definition of a tool from the options of the user. Schemas are compiled at first use. */
export const define = <Params, A, E, R, S extends Recovery.SideEffects, RD>(
  name: string,
  options: Options<Params, A, E, R, S, RD> &
    Limits<Duration.Input | undefined, Duration.Input | undefined, unknown, unknown> &
    Stored<unknown>,
  builtIn?: Required<Pick<ToolDefinition, "words" | "endsRun">>
): ToolDefinition => ({
  name,
  description: described(name, options),
  ...(options.foreignName === undefined || options.foreignName === name ? {} : { foreignName: options.foreignName }),
  ...(options.server === undefined ? {} : { server: options.server }),
  kind: options.kind ?? "local",
  sideEffects: options.sideEffects ?? "undeclared",
  isBuiltIn: builtIn !== undefined,
  // Mutant `"Stryker was here!"` survives: only a tool that ends the run is asked for its words, and has its own
  words: "",
  ...builtIn,
  parameters: schemaOf(name, "parameters", options.parameters),
  success: schemaOf(name, "success", options.success),
  spec: once(() => ({
    name,
    description: options.description,
    parameters: jsonSchemaOf(options.parameters),
    ...(options.coercion?.includes("drop-empty") === false ? { keepsNulls: true } : {})
  })),
  targetType: `${name} parameters`,
  coercion: ladderOf(options.coercion ?? Coercion.steps, options.sideEffects),
  decode: reader(modelSchema(options.parameters)),
  decodeResult: resultDecoder(options.success),
  encode: encoder(name, options.success),
  run: runOf(name, options.run),
  rows: new Map(),
  timeout: limitOf(name, "timeout", options.timeout),
  callTimeout: limitOf(name, "callTimeout", options.callTimeout),
  // the services that `verify` needs are in the type of the tool
  verify: options.verify as ToolDefinition["verify"],
  maxResultChars: charsOf(name, options.maxResultChars),
  ...asideOf(name, options),
  callCap: capOf(name, options.maxCalls),
  // `isError` gets only a result of the tool, or an answer that replaces it
  isError: options.isError as ToolDefinition["isError"],
  // the types of `Tool.make` and `Tool.deferred` say that this is a schema
  failure: options.failure as ToolDefinition["failure"],
  approval: undefined,
  compensate: undefined
})

/**
 * The coercion steps of a tool. For an unsafe tool, undeclared arguments are not dropped: they may have meant something, and its calls
 * cannot be undone.
 */
const ladderOf = (steps: ReadonlyArray<Coercion.CoercionStep>, sideEffects: Recovery.SideEffects | undefined) =>
  sideEffects === "unsafe" ? steps.filter((step) => step !== "drop-undeclared") : steps

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

const capOf = (tool: string, max: number | undefined): CallCap | undefined => {
  if (max === undefined) return undefined
  if (Number.isSafeInteger(max) && max >= 1) return { tool, max }
  throw new RangeError(`Tool '${tool}': maxCalls must be a whole number of at least 1, got ${max}`)
}

const charsOf = (tool: string, max: number | undefined): number | undefined => {
  if (max === undefined || (Number.isSafeInteger(max) && max >= 0)) return max
  throw new RangeError(`Tool '${tool}': maxResultChars must be a whole number of at least 0, got ${max}`)
}

const asideOf = (
  tool: string,
  { maxResultChars, putAside }: { readonly maxResultChars?: unknown; readonly putAside?: PutAside | undefined }
): Pick<ToolDefinition, "putAside"> => {
  if (putAside === undefined) return {}
  if (!Predicate.hasProperty(putAside, "among"))
    throw new TypeError(`Tool '${tool}': putAside must be made by Tool.putAside`)
  if (maxResultChars === undefined) return { putAside }
  throw new TypeError(`Tool '${tool}': a result is cut by maxResultChars, or put aside by putAside, and not both`)
}

/**
 * Decodes an answer that replaces a result. A fixer answers with text: JSON, or bare text if the schema takes text. A person answers with a
 * value.
 */
const resultDecoder = (schema: Schema.Codec<unknown, unknown>): ToolDefinition["decodeResult"] => {
  const decodeJson = decoder(schema)
  const decode = (value: Schema.Json) => Result.mapError(decodeJson(value), (issue) => Issue.fromSchema(issue, value))
  return (answer) => {
    if (!Predicate.isString(answer)) return decode(answer.value)
    const text = answer
    // Mutant `["Stryker was here"]` survives: there is no such step
    const json = Result.getOrElse(Coercion.parse(text, []), () => undefined)
    const fromJson = json === undefined ? decode(text) : decode(json.value)
    return Result.isSuccess(fromJson) || json === undefined ? fromJson : Result.orElse(decode(text), () => fromJson)
  }
}

const encoder = (name: string, schema: Schema.Codec<unknown, unknown>): ToolDefinition["encode"] => {
  const encode = once(() => Schema.encodeUnknownExit(Schema.toCodecJson(schema)))
  const tooDeep = () =>
    Exit.fail(InputTooLargeError.make({ what: `The result of tool '${name}'`, bound: "depth", limit: deepest }))
  const refused = (error: unknown, value: unknown) => {
    if (isOverflow(error)) return tooDeep()
    if (!Schema.isSchemaError(error)) return Exit.die(error)
    const issues = Issue.fromSchema(error.issue, value).map(Issue.format).join("; ")
    return Exit.die(new TypeError(`Tool '${name}' returned a value that its own success schema refuses: ${issues}`))
  }
  return (value) => {
    // not `Result.try`: every result comes through here, and this allocates nothing
    try {
      const encoded = encode()(value)
      if (Exit.isFailure(encoded)) return refused(Cause.squash(encoded.cause), value)
      const text = textOf(encoded.value)
      return text === undefined ? tooDeep() : Exit.succeed(text)
    } catch (error) {
      return refused(error, value)
    }
  }
}

/** How many levels deep a result may be nested: as many as arguments. */
const deepest = 1000

/**
 * The text of encoded JSON; `undefined` if the JSON is nested too deeply. Short text is not checked, because each level takes two
 * characters.
 */
const textOf = (json: unknown): string | undefined => {
  if (Predicate.isString(json)) return json
  const text = JSON.stringify(json)
  // Mutant `2 / deepest` survives: speed only. Shorter text is checked, too
  return text.length > 2 * deepest && isDeep(json, deepest) ? undefined : text
}
