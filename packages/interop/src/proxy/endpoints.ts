/** The endpoints and procedures of a contract, and their types. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Rpc from "effect/rpc/Rpc"
import * as RpcGroup from "effect/rpc/RpcGroup"
import type * as RpcMiddleware from "effect/rpc/RpcMiddleware"
import type * as RpcSchema from "effect/rpc/RpcSchema"
import * as Schema from "effect/Schema"
import * as Errors from "./errors.ts"
import * as Schemas from "./schemas.ts"
import { refusable } from "./unfit.ts"

/** Reads requests. One that does not fit, or is too large, is a typed failure. `AgentProxyServer` provides it. */
// Mutant `""` survives: no other key is empty
export class Reading extends HttpApiMiddleware.Service<Reading>()("@kintsugi/interop/AgentProxy/Reading", {
  error: [Errors.RequestTooLargeError, Errors.UnfitRequestError]
}) {}

/** A request to start a run. */
interface StartRequest<I> {
  readonly input: I
  /** Without an id the server draws one. The same request with the same id reads the run that it has started before. */
  readonly run?: string
}

type Codec<T> = Schema.Codec<T, unknown>
type OfRun = Codec<{ readonly run: string }>
type Started<E> = Errors.TooBusyError | Errors.RunConflictError | Errors.RunFailedError | E
type Found<E> = Errors.RunNotFoundError | Errors.RunConflictError | Errors.RunFailedError | E
type Saying = Schema.Struct.Type<typeof Schemas.sayFields>
type Deciding = Schema.Struct.Type<typeof Schemas.decideFields>
type Events<E> = HttpApiSchema.StreamSse<typeof Schemas.Sent, Codec<Found<E>>>

/** The endpoints of a group: each takes the subject from the middleware `M`. */
export type Endpoints<Id extends string, I, O, E, M extends HttpApiMiddleware.AnyId> = HttpApiEndpoint.AddMiddleware<
  HttpApiEndpoint.AddMiddleware<
    | HttpApiEndpoint.HttpApiEndpoint<
        "ask",
        "POST",
        `/${Id}`,
        never,
        never,
        Codec<StartRequest<I>>,
        never,
        Codec<Schemas.Ending<O>>,
        Codec<Started<E>>
      >
    | HttpApiEndpoint.HttpApiEndpoint<
        "stream",
        "POST",
        `/${Id}/stream`,
        never,
        never,
        Codec<StartRequest<I>>,
        never,
        Events<E>,
        Codec<Started<E>>
      >
    | HttpApiEndpoint.HttpApiEndpoint<
        "show",
        "GET",
        `/${Id}/:run`,
        OfRun,
        never,
        never,
        never,
        Codec<Schemas.Ending<O> | typeof Schemas.AtWork.Type>,
        Codec<Found<E>>
      >
    | HttpApiEndpoint.HttpApiEndpoint<
        "events",
        "GET",
        `/${Id}/:run/events`,
        OfRun,
        Codec<{ readonly after?: string }>,
        never,
        Codec<{ readonly "last-event-id"?: string }>,
        Events<E>,
        Codec<Found<E> | Errors.UnfitRequestError>
      >
    | HttpApiEndpoint.HttpApiEndpoint<
        "decide",
        "POST",
        `/${Id}/:run/decisions`,
        OfRun,
        never,
        Codec<Deciding>,
        never,
        Codec<Schemas.Ending<O>>,
        Codec<Found<E> | Errors.TooBusyError | Errors.UnfitRequestError>
      >
    | HttpApiEndpoint.HttpApiEndpoint<
        "say",
        "POST",
        `/${Id}/:run/messages`,
        OfRun,
        never,
        Codec<Saying>,
        never,
        HttpApiSchema.Accepted,
        Codec<Found<E> | Errors.TooBusyError>
      >
    | HttpApiEndpoint.HttpApiEndpoint<
        "stop",
        "DELETE",
        `/${Id}/:run`,
        OfRun,
        never,
        never,
        never,
        HttpApiSchema.NoContent,
        Codec<Found<E>>
      >,
    M
  >,
  Reading
>

/** The names of the endpoints and procedures. */
export type EndpointName = "ask" | "stream" | "show" | "events" | "decide" | "say" | "stop"

/** A contract with any schemas. */
interface Schemata {
  readonly input: Codec<unknown>
  readonly output: Codec<unknown>
  readonly error: Codec<unknown>
}

const run = { run: Schemas.RunId }

/** How a reader of events says where it goes on. */
export const eventFields = { after: Schema.optionalKey(Schema.String) }
export const eventQuery = { query: eventFields, headers: { "last-event-id": Schema.optionalKey(Schema.String) } }

export const endpointsOf = (id: string, schemas: object) => {
  // cast: the schemas of a contract; their types are those of the group
  const { error, input, output } = schemas as Schemata
  const { RunConflictError, RunFailedError, RunNotFoundError, UnfitRequestError } = Errors
  const failing = [...Errors.failures, error]
  const of = `/${id}/:run` as const
  const ending = [Schemas.answered(output), Schemas.Waiting.pipe(Schemas.accepted)]
  const events = HttpApiSchema.StreamSse({
    events: Schemas.Sent,
    error: Schema.Union([RunConflictError, RunNotFoundError, RunFailedError, error])
  })
  return [
    HttpApiEndpoint.post("ask", `/${id}`, {
      payload: Schema.Struct(Schemas.startFields(input)),
      success: ending,
      error: failing
    }),
    HttpApiEndpoint.post("stream", `/${id}/stream`, {
      payload: Schema.Struct(Schemas.startFields(input)),
      success: events,
      error: failing
    }),
    HttpApiEndpoint.get("show", of, {
      params: run,
      success: [...ending, Schemas.AtWork.pipe(Schemas.accepted)],
      error: [RunNotFoundError, ...failing]
    }),
    HttpApiEndpoint.get("events", `${of}/events`, {
      params: run,
      ...eventQuery,
      success: events,
      error: [RunNotFoundError, UnfitRequestError, ...failing]
    }),
    HttpApiEndpoint.post("decide", `${of}/decisions`, {
      params: run,
      payload: Schema.Struct(Schemas.decideFields),
      success: ending,
      error: [RunNotFoundError, UnfitRequestError, ...failing]
    }),
    HttpApiEndpoint.post("say", `${of}/messages`, {
      params: run,
      payload: Schema.Struct(Schemas.sayFields),
      success: HttpApiSchema.Accepted,
      error: [RunNotFoundError, ...failing]
    }),
    HttpApiEndpoint.delete("stop", of, {
      params: run,
      success: HttpApiSchema.NoContent,
      error: [RunNotFoundError, ...failing]
    })
  ]
}

type Payload<T> = Codec<T> & Schema.Top

/** The procedures of a group: each takes the subject from the middleware `M`. */
export type Procedures<Prefix extends string, I, O, E, M extends RpcMiddleware.AnyService> =
  | Rpc.Rpc<
      `${Prefix}ask`,
      Payload<StartRequest<I>>,
      Codec<Schemas.Ending<O>>,
      Codec<Started<E> | Errors.UnfitRequestError>,
      M,
      Requires<M>
    >
  | Rpc.Rpc<
      `${Prefix}stream`,
      Payload<StartRequest<I>>,
      ProxyEvents<Started<E> | Found<E> | Errors.UnfitRequestError>,
      typeof Schema.Never,
      M,
      Requires<M>
    >
  | Rpc.Rpc<
      `${Prefix}show`,
      OfRun,
      Codec<Schemas.Ending<O> | typeof Schemas.AtWork.Type>,
      Codec<Found<E> | Errors.UnfitRequestError>,
      M,
      Requires<M>
    >
  | Rpc.Rpc<
      `${Prefix}events`,
      Payload<{ readonly run: string; readonly after?: string }>,
      ProxyEvents<Found<E> | Errors.UnfitRequestError>,
      typeof Schema.Never,
      M,
      Requires<M>
    >
  | Rpc.Rpc<
      `${Prefix}decide`,
      Payload<{ readonly run: string } & Deciding>,
      Codec<Schemas.Ending<O>>,
      Codec<Found<E> | Errors.TooBusyError | Errors.UnfitRequestError>,
      M,
      Requires<M>
    >
  | Rpc.Rpc<
      `${Prefix}say`,
      Payload<{ readonly run: string } & Saying>,
      typeof Schema.Void,
      Codec<Found<E> | Errors.TooBusyError | Errors.UnfitRequestError>,
      M,
      Requires<M>
    >
  | Rpc.Rpc<`${Prefix}stop`, OfRun, typeof Schema.Void, Codec<Found<E> | Errors.UnfitRequestError>, M, Requires<M>>

type ProxyEvents<E> = RpcSchema.Stream<typeof Schemas.ProxyEvent, Codec<E>>
export type Requires<M> = M extends { new (_: never): infer Id } ? RpcMiddleware.Requires<Id> : never

export const proceduresOf = (prefix: string, schemas: object) => {
  // cast: the schemas of a contract; their types are those of the group
  const { error: own, input, output } = schemas as Schemata
  const { RunConflictError, RunFailedError, RunNotFoundError, TooBusyError, UnfitRequestError } = Errors
  const any = [UnfitRequestError, RunConflictError, RunFailedError, own]
  const started = Schema.Union([TooBusyError, ...any])
  const found = Schema.Union([RunNotFoundError, ...any])
  const ending = Schema.Union([Schemas.answered(output), Schemas.Waiting])
  const busy = Schema.Union([TooBusyError, found])
  const defect = Schemas.Defect
  return RpcGroup.make(
    Rpc.make("ask", { payload: refusable(Schemas.startFields(input)), success: ending, error: started, defect }),
    Rpc.make("stream", {
      payload: refusable(Schemas.startFields(input)),
      success: Schemas.ProxyEvent,
      error: Schema.Union([started, found]),
      stream: true,
      defect
    }),
    Rpc.make("show", {
      payload: refusable(run),
      success: Schema.Union([ending, Schemas.AtWork]),
      error: found,
      defect
    }),
    Rpc.make("events", {
      payload: refusable({ ...run, ...eventFields }),
      success: Schemas.ProxyEvent,
      error: found,
      stream: true,
      defect
    }),
    Rpc.make("decide", {
      payload: refusable({ ...run, ...Schemas.decideFields }),
      success: ending,
      error: busy,
      defect
    }),
    Rpc.make("say", { payload: refusable({ ...run, ...Schemas.sayFields }), error: busy, defect }),
    Rpc.make("stop", { payload: refusable(run), error: found, defect })
  ).prefix(prefix)
}
