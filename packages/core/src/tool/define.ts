/** A tool at run time, made of what a user wrote. */
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
   * For `unsafe` tools: looks up the outcome of a run that was cut off. A result is the result of the call. Without one the
   * run did not take effect, and the call fails with `ToolTimeoutError`. If the lookup fails, the call is escalated to the
   * model.
   */
  readonly verify?: Verify<NoInfer<A>, VR>
}

/** What a tool is made of. */
export interface Options<Params, A, E, R, S extends Recovery.SideEffects, RD = never> {
  /** What the tool does, for the model. */
  readonly description: string
  /** What `run` takes, out of the JSON of the model. A schema may wait, and need services: they are those of the tool. */
  readonly parameters: Schema.Codec<Params, unknown, RD, unknown>
  readonly success: Schema.Codec<A, unknown>
  /** What running it twice would do; `undeclared` by default. */
  readonly sideEffects?: S
  /** Where its work is done; `local` by default. */
  readonly kind?: Kind
  /** The steps that mend arguments before they count as bad; all by default, none with `[]`. Their order is fixed. */
  readonly coercion?: ReadonlyArray<Coercion.CoercionStep>
  /** The name that the tool's server or framework has for it, where that is another: the event of a call has both. */
  readonly foreignName?: string
  /** The name of the server that has the tool: a model that puts it before the name of the tool is understood. */
  readonly server?: string
  /**
   * How many calls of this tool one run may make; unlimited by default. The model reads about each further call that it was not run, and
   * the run goes on. Attempts and repairs of a call do not count. Calls of sub-agents that have the same tool count.
   */
  readonly maxCalls?: number
  /** The longest successful text that the model reads, in characters; unlimited by default. */
  readonly maxResultChars?: number
  /** When a result is put aside, instead of `maxResultChars`: made by `Tool.putAside`. */
  readonly putAside?: PutAside
  /** Whether the model is to read a result as an error, though the call has succeeded; never by default. */
  readonly isError?: (value: A) => boolean
  /**
   * Does the work. The plain objects and arrays of `params` are frozen, for others read the same; where `params` hold anything else,
   * each attempt gets its own. What is acquired in its `Scope` is released when the attempt ends and its result is written down, before the next one begins.
   */
  readonly run: (params: Params, context: ToolContext) => Effect.Effect<A, E, R>
}

/** What options have to be of which one is absent: a result is cut, or it is put aside. It says nothing about others, so it costs no inference. */
export type OneLength<Given> = Given extends { readonly maxResultChars: unknown; readonly putAside: unknown }
  ? { readonly putAside: never }
  : unknown

/** How typed failures cross a wire or a database. */
export interface Stored<F> {
  /** The schema of all the failures of `run`. Without it, a stored failure has its name and message only. */
  readonly failure?: F
}

/** A schema of failures has to know all of them. */
export type Covers<E, F> =
  F extends Schema.Codec<infer Failures, unknown>
    ? [Exclude<E, Later>] extends [Failures]
      ? unknown
      : { readonly failure: FailuresThatTheSchemaDoesNotKnow<Exclude<E, Failures>> }
    : unknown

interface FailuresThatTheSchemaDoesNotKnow<E> {
  readonly unknown: E
}

/** Checks an option for programs without types: else its absence would show at the first call only. */
export const schemaOf = (tool: string, option: string, schema: unknown): Schema.Codec<unknown, unknown> => {
  if (!Schema.isSchema(schema)) throw new TypeError(`Tool '${tool}': ${option} must be a Schema of Effect`)
  // its types are in the type of the tool
  return schema as unknown as Schema.Codec<unknown, unknown>
}

export const runOf = (tool: string, run: unknown): ToolDefinition["run"] => {
  if (!Predicate.isFunction(run)) throw new TypeError(`Tool '${tool}': run must be a function`)
  // `run` is only called with what `decode` gave; its failures and needs are in the tool's type
  return run as ToolDefinition["run"]
}

/** What models read about a tool, and how it acts on the world: a wrong word there would count as none. */
const described = (tool: string, options: { readonly description: string; readonly sideEffects?: unknown }): string => {
  demand(`Tool '${tool}'`, "given options", options, Predicate.isObject(options))
  const { description, sideEffects } = options
  demand(`Tool '${tool}': description`, "a text", description, Predicate.isString(description))
  oneOf(`Tool '${tool}': sideEffects`, sideEffects, ["none", "idempotent", "unsafe", "undeclared"])
  return description
}

/** Makes a definition of what a user wrote; schemas are compiled at first use. */
export const define = <Params, A, E, R, S extends Recovery.SideEffects, RD>(
  name: string,
  options: Options<Params, A, E, R, S, RD> &
    Limits<Duration.Input | undefined, Duration.Input | undefined, unknown, unknown> &
    Stored<unknown>,
  builtIn?: { readonly words: string }
): ToolDefinition => ({
  name,
  description: described(name, options),
  ...(options.foreignName === undefined || options.foreignName === name ? {} : { foreignName: options.foreignName }),
  ...(options.server === undefined ? {} : { server: options.server }),
  kind: options.kind ?? "local",
  sideEffects: options.sideEffects ?? "undeclared",
  isBuiltIn: builtIn !== undefined,
  words: builtIn?.words ?? "",
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
  // what it needs is in the tool's type
  verify: options.verify as ToolDefinition["verify"],
  maxResultChars: charsOf(name, options.maxResultChars),
  ...asideOf(name, options),
  callCap: capOf(name, options.maxCalls),
  // called only with a result of the tool, or an answer in its place
  isError: options.isError as ToolDefinition["isError"],
  // a schema, by the types of those who call this
  failure: options.failure as ToolDefinition["failure"],
  approval: undefined,
  compensate: undefined
})

/** An undeclared argument of a call that cannot be taken back may have meant something. */
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

/** A fixer's answer as a result: JSON, or the bare text where that is what the schema wants. That of a person is a value. */
const resultDecoder = (schema: Schema.Codec<unknown, unknown>): ToolDefinition["decodeResult"] => {
  const decodeJson = decoder(schema)
  const decode = (value: Schema.Json) => Result.mapError(decodeJson(value), (issue) => Issue.fromSchema(issue, value))
  return (answer) => {
    if (!Predicate.isString(answer)) return decode(answer.value)
    const text = answer
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

/** As deep as arguments may be. */
const deepest = 1000

/** Nothing for what is too deep. A short text cannot be: each level has a mark at either end. */
const textOf = (json: unknown): string | undefined => {
  if (Predicate.isString(json)) return json
  const text = JSON.stringify(json)
  return text.length > 2 * deepest && isDeep(json, deepest) ? undefined : text
}
