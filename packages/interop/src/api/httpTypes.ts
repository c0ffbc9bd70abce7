/** The types of the tools that `HttpApiTools` makes. */
import type * as Recovery from "@kintsugi/core/Recovery"
import type * as Tool from "@kintsugi/core/Tool"
import type { ExecutionError } from "@kintsugi/core/ToolError"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Schema from "effect/Schema"
import type * as Types from "effect/Types"
import type { EffectOf, Lengths } from "./options.ts"

type AnyEndpoint = HttpApiEndpoint.ConstraintRequest

/** An endpoint under the name of its tool. */
interface Named<Name extends string, Endpoint extends AnyEndpoint> {
  readonly name: Name
  readonly endpoint: Endpoint
}

type AnyNamed = Named<string, AnyEndpoint>

/** The endpoints of groups: `group_endpoint`, and `endpoint` alone in a top-level group. */
export type InApi<Group> =
  Group extends HttpApiGroup.HttpApiGroup<infer Id, infer Endpoints, infer TopLevel>
    ? Endpoints extends AnyEndpoint
      ? IsPlain<Endpoint<Endpoints>> extends true
        ? Named<TopLevel extends true ? Endpoints["identifier"] : `${Id}_${Endpoints["identifier"]}`, Endpoints>
        : never
      : never
    : never

/** The endpoints of one group, under their own names. */
export type InGroup<Group> =
  HttpApiGroup.Endpoints<Group> extends infer Endpoints
    ? Endpoints extends AnyEndpoint
      ? IsPlain<Endpoint<Endpoints>> extends true
        ? Named<Endpoints["identifier"], Endpoints>
        : never
      : never
    : never

type Endpoint<E extends AnyEndpoint> = { readonly success: E["~Success"]; readonly payload: E["~Payload"] }

type Streamed =
  | HttpApiSchema.StreamSchema
  | HttpApiSchema.Upgrade
  | HttpApiSchema.WithHeaders<HttpApiSchema.StreamSchema, Schema.Top>

/** Whether an endpoint takes and gives whole values: no stream, no upgrade, no form with files. */
type IsPlain<E extends { readonly success: unknown; readonly payload: unknown }> = [
  Extract<E["success"], Streamed> | Extract<E["payload"], HttpApiSchema.StreamSchema>
] extends [never]
  ? [Extract<TypeOf<E["payload"]>, Forms>] extends [never]
    ? true
    : false
  : false

type Forms =
  | { readonly "~effect/Brand": { readonly [_ in HttpApiSchema.MultipartTypeId]: unknown } }
  | { readonly "~effect/Brand": { readonly [_ in HttpApiSchema.MultipartStreamTypeId]: unknown } }

type TypeOf<S> = S extends { readonly Type: infer T } ? T : never

/** Options of `fromApi` and `fromGroup`. */
export interface Options<N extends AnyNamed> extends Lengths {
  /** The address before the paths of the endpoints. Without it, the client in the context prepends one. */
  readonly baseUrl?: string | URL
  /** The names of the tools to make; all by default. */
  readonly include?: ReadonlyArray<N["name"]>
  /**
   * The headers of endpoints that the model may fill; none by default. The client in the context sets all others, such as credentials.
   */
  readonly headers?: ReadonlyArray<HeaderName<N>>
  /**
   * The side effects of tools, by name. By default the method decides: `GET` has none, `PUT` and `DELETE` are idempotent, all others are
   * unsafe.
   */
  readonly sideEffects?: { readonly [Name in N["name"]]?: Recovery.SideEffects }
}

type HeaderName<N extends AnyNamed> = N extends AnyNamed ? NamesIn<TypeOf<N["endpoint"]["~Headers"]>> : never

type NamesIn<Headers> = [Headers] extends [never] ? never : keyof Headers & string

/** The type of the options, in which a name that the API does not have is a type error, and so is a list of unknown length. */
export type DeclaredNames<O, N extends AnyNamed> = {
  readonly [K in keyof O]: K extends "sideEffects"
    ? { readonly [Name in keyof O[K]]: Name extends N["name"] ? unknown : never }
    : K extends "include" | "headers"
      ? FixedList<O[K]>
      : K extends keyof Options<N>
        ? unknown
        : never
}

type FixedList<List> = List extends ReadonlyArray<unknown> ? (number extends List["length"] ? never : unknown) : unknown

/**
 * The tools of an API, by name.
 *
 * @hidden
 */
export type ApiTools<N extends AnyNamed, O> = {
  readonly [One in N as One["name"] extends Included<O, One["name"]> ? One["name"] : never]: [
    ServicesOfSchemas<One["endpoint"]>
  ] extends [never]
    ? ApiTool<One["name"], One["endpoint"], O>
    : SchemasMustNotNeedServices<ServicesOfSchemas<One["endpoint"]>>
}

type Included<O, All> = O extends { readonly include: ReadonlyArray<infer Name> } ? Name : All

type ServicesOfSchemas<E extends AnyEndpoint> =
  | HttpApiEndpoint.ClientServices<E>
  | HttpApiEndpoint.ServerServices<Without<E>>
  | HttpApiEndpoint.ErrorServicesDecode<E>

/** An endpoint without its middleware, whose services are those of a server. */
type Without<E extends AnyEndpoint> = E & { readonly "~Middleware": never }

interface SchemasMustNotNeedServices<R> {
  readonly services: R
}

type ApiTool<Name extends string, E extends AnyEndpoint, O> = Tool.Tool<
  Tool.NameFor<Name>,
  ParamsOf<E, O>,
  ValueOf<E["~Success"]>,
  HttpApiEndpoint.Errors<E> | ExecutionError,
  HttpClient.HttpClient | HttpApiMiddleware.MiddlewareClient<E["~Middleware"]>,
  { readonly "~storedFailures": true },
  EffectsFor<O, Name, EffectOf<MethodOf<E>>>
>

type MethodOf<E> = E extends { readonly method: infer Method } ? Method : "POST"

type ValueOf<S> = S extends HttpApiSchema.WithHeaders<infer Inner, Schema.Top> ? TypeOf<Inner> : TypeOf<S>

type ParamsOf<E extends AnyEndpoint, O> = Types.Simplify<
  Part<"params", TypeOf<E["~Params"]>> &
    Part<"query", TypeOf<E["~Query"]>> &
    Part<"headers", Allowed<TypeOf<E["~Headers"]>, O>> &
    Part<"payload", TypeOf<E["~Payload"]>>
>

type Part<Key extends string, Value> = [Value] extends [never] ? {} : { readonly [_ in Key]: Value }

type Allowed<Headers, O> = O extends { readonly headers: ReadonlyArray<infer Name> }
  ? [Extract<keyof Headers, Name>] extends [never]
    ? never
    : Pick<Headers, Extract<keyof Headers, Name>>
  : never

/** The side effects of a tool: those that the options say, or may say, else those of its method. */
export type EffectsFor<O, Name, Default> = O extends { readonly sideEffects?: infer Said }
  ? [unknown] extends [Said]
    ? Default
    : Name extends keyof Said
      ? Exclude<Said[Name], undefined> | ({} extends Pick<Said, Name> ? Default : never) | Absent<O, Default>
      : Default
  : Default

type Absent<O, Default> = {} extends Pick<O, Extract<keyof O, "sideEffects">> ? Default : never
