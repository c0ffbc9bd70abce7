/**
 * The procedures of an `RpcGroup` as tools. A tool has the schemas and the errors of its procedure, and calls it over a client that the
 * program has made. A failure of the connection is an `ExecutionError`.
 */
import type * as Recovery from "@kintsugi/core/Recovery"
import type { InputTooLargeError } from "@kintsugi/core/DoorError"
import * as Tool from "@kintsugi/core/Tool"
import { ExecutionError, executionErrorOf } from "@kintsugi/core/ToolError"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Rpc from "effect/rpc/Rpc"
import type * as RpcClient from "effect/rpc/RpcClient"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import * as RpcSchema from "effect/rpc/RpcSchema"
import * as Schema from "effect/Schema"
import * as Answer from "./answer.ts"
import { tooLarge, type Where } from "./failure.ts"
import { namesOf } from "./names.ts"
import type { EffectsFor } from "./httpTypes.ts"
import { type Lengths, lengthOf } from "./options.ts"

/** Options of `fromGroup`. */
export interface Options<Tag extends string = string> extends Lengths {
  /** The procedures to take; all by default. */
  readonly include?: ReadonlyArray<Tag>
  /** What procedures do, for the model. By default a text that says the name. */
  readonly descriptions?: { readonly [_ in Tag]?: string }
  /** The side effects of procedures. By default they are `unsafe`, because a procedure does not declare any. */
  readonly sideEffects?: { readonly [_ in Tag]?: Recovery.SideEffects }
}

/** The type of the options, in which a procedure that the group does not have is a type error, and so is a list of unknown length. */
type DeclaredNames<O, Tag> = {
  readonly [K in keyof O]: K extends "sideEffects" | "descriptions"
    ? { readonly [Name in keyof O[K]]: Name extends Tag ? unknown : never }
    : K extends "include"
      ? O[K] extends ReadonlyArray<unknown>
        ? number extends O[K]["length"]
          ? never
          : unknown
        : unknown
      : K extends keyof Options
        ? unknown
        : never
}

/** The procedures that give one value. */
type Plain<R> = R extends Rpc.Any
  ? Rpc.SuccessSchema<R> extends RpcSchema.Stream<infer _A, infer _E>
    ? never
    : R
  : never

/** The tools of a group, by the names of the procedures. */
type ProcedureTools<R extends Rpc.Any, O> = {
  readonly [One in R as One["_tag"] extends Included<O, One["_tag"]> ? One["_tag"] : never]: [
    Rpc.ServicesClient<One> | Rpc.ServicesServer<One>
  ] extends [never]
    ? ProcedureTool<One, O>
    : SchemasMustNotNeedServices<Rpc.ServicesClient<One> | Rpc.ServicesServer<One>>
}

type Included<O, All> = O extends { readonly include: ReadonlyArray<infer Name> } ? Name : All

interface SchemasMustNotNeedServices<R> {
  readonly services: R
}

type ProcedureTool<R extends Rpc.Any, O> = Tool.Tool<
  Tool.NameFor<R["_tag"]>,
  [Rpc.Payload<R>] extends [void] ? {} : { readonly payload: Rpc.Payload<R> },
  Rpc.Success<R>,
  Rpc.Error<R> | ExecutionError,
  never,
  { readonly "~storedFailures": true },
  EffectsFor<O, R["_tag"], "unsafe">
>

/**
 * Makes tools of the procedures of a group. The params of a tool are `{ payload }`, or `{}` for a procedure without a payload. Procedures
 * that stream are left out. `maxResponseBytes` bounds the JSON of an answer once your client has read it; what the client holds before is
 * bounded by its `RpcSerialization`. Throws a `TypeError` for a name in the options that no procedure has, and a `RangeError` for an
 * invalid bound.
 */
export const fromGroup = <Rpcs extends Rpc.Any, E, const O extends Options<Plain<Rpcs>["_tag"]> = {}>(
  group: RpcGroup.RpcGroup<Rpcs>,
  client: RpcClient.RpcClient<Rpcs, E>,
  options?: O & DeclaredNames<O, Plain<Rpcs>["_tag"]>
): ProcedureTools<Plain<Rpcs>, O> => {
  const { descriptions = {}, include, sideEffects = {}, ...given }: AnyOptions = options ?? {}
  // cast: each procedure of a group has its schemas
  const all = ([...group.requests.values()] as unknown as ReadonlyArray<Rpc.AnyWithProps>).filter(
    ({ successSchema }) => !RpcSchema.isStreamSchema(successSchema)
  )
  const said = [...(include ?? []), ...Object.keys(sideEffects), ...Object.keys(descriptions)]
  const names = namesOf(
    "RpcTools",
    all.map(({ _tag }) => _tag),
    said
  )
  const wanted = include === undefined ? undefined : new Set(include)
  // cast: the types compute the tools from the group
  return Object.fromEntries(
    all.flatMap((rpc, index): ReadonlyArray<[string, Tool.AnyTool]> => {
      const { _tag: tag } = rpc
      if (wanted?.has(tag) === false) return []
      const made = toolOf(names[index] ?? tag, rpc, methodOf(client, tag), {
        ...given,
        description: descriptions[tag] ?? `Calls '${tag}'.`,
        sideEffects: sideEffects[tag] ?? "unsafe"
      })
      return [[tag, made]]
    })
  ) as ProcedureTools<Plain<Rpcs>, O>
}

interface AnyOptions extends Lengths {
  readonly include?: ReadonlyArray<string>
  readonly descriptions?: { readonly [tag: string]: string | undefined }
  readonly sideEffects?: { readonly [tag: string]: Recovery.SideEffects | undefined }
}

type Method = (payload: unknown) => Effect.Effect<unknown, unknown>

/** The method of a procedure. A client has `a.b` as `b` of `a`. */
const methodOf = (client: object, tag: string): Method => {
  const methods = client as Record<string, unknown>
  const dot = tag.indexOf(".")
  const method =
    methods[tag] ?? (methods[tag.slice(0, dot)] as Record<string, unknown> | undefined)?.[tag.slice(dot + 1)]
  if (!Predicate.isFunction(method)) throw new TypeError(`RpcTools: the client has no '${tag}'`)
  // cast: a method of a client for a procedure that does not stream
  return method as Method
}

interface Given extends Lengths {
  readonly description: string
  readonly sideEffects: Recovery.SideEffects
}

/** The types of `fromGroup` refuse schemas that need services. */
const codecOf = (schema: Schema.Top) => schema as unknown as Schema.Codec<unknown, unknown>

const toolOf = (name: string, rpc: Rpc.AnyWithProps, call: Method, { description, sideEffects, ...given }: Given) => {
  const { _tag: tag, errorSchema, middlewares, payloadSchema, successSchema } = rpc
  const errors = [errorSchema, ...[...middlewares].map(({ error }) => error)]
  const isDeclared = Schema.is(codecOf(Schema.Union(errors.map((schema) => Schema.toType(schema)))))
  const takesNothing = payloadSchema.ast._tag === "Void"
  const where = { api: "RPC", operation: tag }
  const inTime = Answer.inTime(where, Answer.timeOf(given.timeout))
  const within = bounded(codecOf(successSchema), Answer.boundOf(given.maxResponseBytes), where)
  const options = {
    foreignName: tag,
    description,
    kind: "web-service",
    sideEffects,
    parameters: codecOf(takesNothing ? Schema.Struct({}) : Schema.Struct({ payload: payloadSchema })),
    success: codecOf(successSchema),
    failure: codecOf(Schema.Union([...errors, ExecutionError])),
    ...lengthOf(given),
    run: (params: unknown, { callId }: Tool.ToolContext) =>
      Effect.mapError(
        Effect.flatMap(inTime(Effect.suspend(() => call(takesNothing ? undefined : payloadOf(params)))), within),
        (error): unknown =>
          isDeclared(error)
            ? error
            : executionErrorOf(
                {
                  tool: name,
                  kind: "web-service",
                  callId,
                  args: isJson(params) ? params : null,
                  ...(isOfConnection(error) ? { category: "network" } : {})
                },
                error
              )
      )
  } as const
  return Tool.make(name, options)
}

/** Fails for a value whose JSON is longer than `limit` bytes. A value that its schema refuses is left to the tool. */
const bounded = (success: Schema.Codec<unknown, unknown>, limit: number, where: Where) => {
  const encode = Schema.encodeUnknownEffect(Schema.toCodecJson(success))
  return (value: unknown): Effect.Effect<unknown, InputTooLargeError> =>
    Effect.flatMap(Effect.option(encode(value)), (json) =>
      json._tag === "Some" && Answer.bytesOf(json.value) > limit
        ? Effect.fail(tooLarge(where, "bytes", limit))
        : Effect.succeed(value)
    )
}

const isJson = Schema.is(Schema.Json)

const payloadOf = (params: unknown): unknown => (Predicate.hasProperty(params, "payload") ? params.payload : undefined)

/** Whether the connection failed. A defect of the client is another matter: it fails in the same way again. */
const isOfConnection = (error: unknown): boolean =>
  Predicate.isTagged(error, "RpcClientError") &&
  Predicate.hasProperty(error, "reason") &&
  /^(?:Socket|Worker)/.test(String(Predicate.hasProperty(error.reason, "_tag") ? error.reason._tag : ""))
