/**
 * Serves the groups of `AgentProxy`. Each request is answered from the runs of its subject. A client that leaves stops nothing: the run goes on,
 * and `events`, `show`, or the same request with the same id find it.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as Rpc from "effect/rpc/Rpc"
import type { AgentEvent } from "@kintsugi/core"
import type { AgentProxy, RunsOf, Subject } from "./AgentProxy.ts"
import { type EndpointName, proceduresOf, type Reading } from "./endpoints.ts"
import { failedInside } from "./errors.ts"
import type { AgentRuns } from "./runs.ts"
import {
  asSent,
  bounded,
  eventsFor,
  groupLayer,
  isNotFound,
  type MiddlewareOf,
  reading,
  responseOf,
  withSubject
} from "./serving.ts"
import { refused } from "./unfit.ts"

/** A request, as the handlers of both protocols read it. */
type Asked = Parameters<Runs["start"]>[0]
type Runs = AgentRuns<unknown, unknown, unknown>
type OfRun = { readonly run: string }
type Deciding = OfRun & Pick<Parameters<Runs["decide"]>[0], "decisions">
type Saying = OfRun & Pick<Parameters<Runs["say"]>[0], "id" | "message" | "supersede">

/** Which events a client may read; all by default. */
interface Options {
  /** The events of a run hold its prompt and the arguments and results of its tools: leave out what your clients may not read. */
  readonly shows?: (event: AgentEvent.AgentEvent) => boolean
}

/** What both protocols do with a request. */
const handlersOf = (runs: Runs, { shows = () => true }: Options) => {
  const of = (at: OfRun & { readonly subject: string; readonly after?: string }) => ({
    events: runs.events(at),
    show: runs.show(at),
    end: runs.end(at)
  })
  return {
    ask: (asked: Omit<Asked, "subject">) =>
      withSubject((subject) =>
        Effect.flatMap(runs.start({ ...asked, subject }), (run) =>
          // a run that has just been started is there
          Effect.catchIf(runs.end({ subject, run }), isNotFound, () => Effect.fail(failedInside("KINTSUGI-RUN-LOST")))
        )
      ),
    stream: (asked: Omit<Asked, "subject">) =>
      withSubject((subject) =>
        Effect.flatMap(runs.start({ ...asked, subject }), (run) => eventsFor(of({ subject, run }), shows))
      ),
    show: ({ run }: OfRun) =>
      withSubject((subject) =>
        Effect.map(runs.show({ subject, run }), (ending) => ending ?? { _tag: "AtWork" as const, run })
      ),
    events: ({ after, run }: OfRun & { readonly after?: string | undefined }) =>
      withSubject((subject) => reading(of({ subject, run, ...(after === undefined ? {} : { after }) }), shows)),
    decide: ({ decisions, run }: Deciding) => withSubject((subject) => runs.decide({ subject, run, decisions })),
    say: ({ id, message, run, supersede }: Saying) =>
      withSubject((subject) =>
        runs.say({
          subject,
          run,
          message,
          ...(id === undefined ? {} : { id }),
          ...(supersede === undefined ? {} : { supersede })
        })
      ),
    stop: ({ run }: OfRun) => withSubject((subject) => runs.stop({ subject, run }))
  }
}

interface Request {
  readonly params: OfRun
  readonly query: { readonly after?: string }
  readonly headers: { readonly "last-event-id"?: string }
  readonly payload: never
}

/**
 * Serves an `HttpApiGroup`. It is the group `id` of the API, of `AgentProxy.toHttpApiGroup`. The runs come from `AgentRuns` or `DurableRuns`.
 *
 * A body of more than 1 MiB is 413; `HttpIncomingMessage.MaxBodySize` changes the bound. A stream has a comment every 15 seconds. `EventSource`
 * gets 204 when it comes back after the last event, and does not come again then.
 */
export const layerHttpApi = <
  ApiId extends string,
  Groups extends HttpApiGroup.Constraint,
  const Id extends HttpApiGroup.Identifier<Groups>,
  Name extends string,
  I,
  O,
  E
>(
  api: HttpApi.HttpApi<ApiId, Groups>,
  id: Id,
  self: AgentProxy<Name, I, O, E>,
  options: Options = {}
): Layer.Layer<
  HttpApiGroup.Service<ApiId, Id> | Reading,
  never,
  RunsOf<Name> | Exclude<MiddlewareOf<HttpApiGroup.WithIdentifier<Groups, Id>>, Reading>
> => {
  const made = Effect.map(self.runs, (runs) => {
    // cast: the schemas of the group have the types of these runs
    const served = handlersOf(runs as never, options)
    const each: Record<EndpointName, (request: Request) => Effect.Effect<unknown, unknown, Subject>> = {
      ask: ({ payload }) => served.ask(payload),
      stream: ({ payload }) => Effect.map(served.stream(payload), Stream.map(asSent)),
      show: ({ params }) => served.show(params),
      events: ({ headers, params, query }) => {
        const last = headers["last-event-id"] || undefined
        return Effect.map(served.events({ ...params, after: last ?? (query.after || undefined) }), (read) =>
          responseOf(read, last)
        )
      },
      decide: ({ params, payload }) => served.decide({ ...params, ...Object(payload) }),
      say: ({ params, payload }) => served.say({ ...params, ...Object(payload) }),
      stop: ({ params }) => served.stop(params)
    }
    return each
  })
  // cast: the middleware of the group is not known here
  return groupLayer(api, id, made) as never
}

/**
 * Serves an `RpcGroup`. It is of `AgentProxy.toRpcGroup`. The runs come from `AgentRuns` or `DurableRuns`. A payload that does not fit is an
 * `UnfitRequestError`. Provided to `RpcServer.layerHttp`, a body of more than 1 MiB is 413; `HttpIncomingMessage.MaxBodySize` changes the
 * bound.
 */
export const layerRpcHandlers = <const Name extends string, I, O, E, const Prefix extends string = "">(
  self: AgentProxy<Name, I, O, E>,
  options: Options & { readonly prefix?: Prefix } = {}
): Layer.Layer<Rpc.Handler<`${Prefix}${EndpointName}`>, never, RunsOf<Name>> => {
  const group = proceduresOf(options.prefix ?? "", self)
  const prefixed = (handlers: object) =>
    Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [`${options.prefix ?? ""}${name}`, handler]))
  const handlers = Effect.map(self.runs, (runs) => {
    // cast: the schemas of the group have the types of these runs
    const served = handlersOf(runs as never, options)
    const taking =
      <Request, A, E2, R>(use: (request: Request) => Effect.Effect<A, E2, R>) =>
      (request: Request) =>
        Effect.flatMap(refused(request), use)
    const { events, stream, ...plain } = served
    return prefixed({
      ...Object.fromEntries(Object.entries(plain).map(([name, handler]) => [name, taking(handler as never)])),
      stream: (asked: never) => Stream.unwrap(taking(stream)(asked)),
      events: (of: never) => Stream.unwrap(Effect.map(taking(events)(of), ({ all }) => all))
    })
  })
  // cast: the middleware of the group that is served provides the subject
  return Layer.merge(group.toLayer(handlers as never), bounded) as never
}
