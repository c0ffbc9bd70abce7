/**
 * Serves the groups of `AgentProxy`. Each request is answered from the runs of its subject. A client that leaves stops nothing: the run goes on,
 * and `events`, `show`, or the same request with the same id find it.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as ErrorReporter from "effect/ErrorReporter"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Stream from "effect/Stream"
import type { unhandled } from "effect/Types"
import type * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import { HttpApiSchemaError } from "effect/http-api/HttpApiError"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Rpc from "effect/rpc/Rpc"
import { type AgentEvent } from "@kintsugi/core"
import { type AgentProxy, type RunsOf, Subject } from "./AgentProxy.ts"
import { type EndpointName, proceduresOf, Reading } from "./endpoints.ts"
import { failedInside, RequestTooLargeError, UnfitRequestError } from "./errors.ts"
import type { AgentRuns } from "./runs.ts"
import { forClients, type ProxyEvent } from "./schemas.ts"

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
  const events = (of: OfRun & { readonly subject: string; readonly after?: string }) =>
    Effect.map(runs.events(of), (all): Stream.Stream<ProxyEvent, unknown> =>
      Stream.concat(
        Stream.map(Stream.filter(all, shows), forClients),
        // a run that fails is the failure of the stream too; a run that was stopped has had its last event
        Stream.fromEffectDrain(Effect.catchIf(runs.end(of), isStopped, () => Effect.void))
      ).pipe(Stream.catchCause((cause) => Stream.fromEffect(hidden(cause))))
    )
  const withSubject = <A, E>(use: (subject: string) => Effect.Effect<A, E>) =>
    Effect.catchCause(Effect.flatMap(Subject, use), hidden)
  const ask = (asked: Omit<Asked, "subject">) =>
    withSubject((subject) =>
      Effect.flatMap(runs.start({ ...asked, subject }), (run) =>
        // a run that has just been started is there
        Effect.catchIf(runs.end({ subject, run }), isNotFound, () => Effect.fail(failedInside("KINTSUGI-RUN-LOST")))
      )
    )
  return {
    ask,
    stream: (asked: Omit<Asked, "subject">) =>
      withSubject((subject) => Effect.flatMap(runs.start({ ...asked, subject }), (run) => events({ subject, run }))),
    show: ({ run }: OfRun) =>
      withSubject((subject) =>
        Effect.map(runs.show({ subject, run }), (ending) => ending ?? { _tag: "AtWork" as const, run })
      ),
    events: ({ after, run }: OfRun & { readonly after?: string | undefined }) =>
      withSubject((subject) =>
        Effect.gen(function* () {
          const of = { subject, run, ...(after === undefined ? {} : { after }) }
          const all = yield* events(of)
          const shown = yield* Effect.exit(runs.show(of))
          const isAtWork = Exit.isSuccess(shown) && shown.value === undefined
          // what is over answers at once
          const isRead = !isAtWork && Option.isNone(yield* Stream.runHead(Stream.filter(yield* runs.events(of), shows)))
          return { all, isRead }
        })
      ),
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

const tagOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null ? Reflect.get(error, "_tag") : ""

const isNotFound = (error: unknown): boolean => tagOf(error) === "RunNotFoundError"

const isStopped = (error: unknown): boolean =>
  tagOf(error) === "RunConflictError" && Reflect.get(Object(error), "reason") === "stopped"

/** A defect becomes a failure without details. The server logs and reports its cause. */
const hidden = <E>(cause: Cause.Cause<E>): Effect.Effect<never, E | ReturnType<typeof failedInside>> =>
  cause.reasons.some(Cause.isDieReason)
    ? Effect.logError("a request to an agent has met a bug", cause).pipe(
        Effect.andThen(ErrorReporter.report(cause)),
        Effect.andThen(Effect.fail(failedInside("KINTSUGI-BUG")))
      )
    : Effect.failCause(cause)

/** Handlers that take a request apart. */
interface Handlers {
  readonly handle: (
    name: EndpointName,
    handler: (request: Request) => Effect.Effect<unknown, unknown, Subject>
  ) => Handlers
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
 * `EventSource` gets 204 when it comes back after the last event, and does not come again then.
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
  const names = Object.keys(Object(Reflect.get(api.groups, id)).endpoints)
  const build = (handlers: Handlers) =>
    Effect.map(self.runs, (runs) => {
      // cast: the schemas of the group have the types of these runs
      const served = handlersOf(runs as never, options)
      const each: Record<EndpointName, (request: Request) => Effect.Effect<unknown, unknown, Subject>> = {
        ask: ({ payload }) => served.ask(payload),
        stream: ({ payload }) => Effect.map(served.stream(payload), Stream.map(asSent)),
        show: ({ params }) => served.show(params),
        events: ({ headers, params, query }) => {
          const last = headers["last-event-id"] || undefined
          return Effect.map(
            served.events({ ...params, after: last ?? (query.after || undefined) }),
            ({ all, isRead }) =>
              isRead && last !== undefined ? HttpServerResponse.empty({ status: 204 }) : Stream.map(all, asSent)
          )
        },
        decide: ({ params, payload }) => served.decide({ ...params, ...Object(payload) }),
        say: ({ params, payload }) => served.say({ ...params, ...Object(payload) }),
        stop: ({ params }) => served.stop(params)
      }
      // cast: a group has endpoints of these names only
      return (names as ReadonlyArray<EndpointName>).reduce((all, name) => all.handle(name, each[name]), handlers)
    })
  // casts: the endpoints of the group are not known here; the types above are theirs
  const layer = HttpApiBuilder.group(api, id, build as never) as Layer.Layer<never, never, never>
  return Layer.provideMerge(layer, reading) as never
}

type MiddlewareOf<Group> =
  | HttpApiEndpoint.Middleware<HttpApiGroup.Endpoints<Group>>
  | HttpApiGroup.MiddlewareServices<Group>

const asSent = (event: ProxyEvent) => ({ id: event.cursor, event: "message", data: event })

/** Requests that do not fit are 422, and those that are too large 413. What the server itself does wrong stays a defect. */
const reading = Layer.succeed(Reading, (handling) =>
  Effect.catchCause(handling, (cause) =>
    Effect.flatMap(
      refusalOf(cause),
      (refusal): Effect.Effect<never, unhandled | RequestTooLargeError | UnfitRequestError> =>
        refusal === undefined ? Effect.failCause(cause) : Effect.fail(refusal)
    )
  )
)

const refusalOf = ({ reasons }: Cause.Cause<unknown>) =>
  Effect.gen(function* () {
    for (const reason of reasons) {
      if (Cause.isFailReason(reason) && HttpApiSchemaError.is(reason.error)) {
        const { kind } = reason.error
        if (kind !== "Body" && kind !== "ResponseHeaders")
          return new UnfitRequestError({ issues: issuesOf(reason.error) })
      }
      if (Cause.isDieReason(reason) && HttpServerRespondable.isRespondable(reason.defect)) {
        const { status } = yield* HttpServerRespondable.toResponse(reason.defect)
        if (status === 413) return new RequestTooLargeError()
      }
    }
    return undefined
  })

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The first issues of a request: its fields and what was expected there, without what came. */
const issuesOf = ({ cause }: HttpApiSchemaError) =>
  format(cause.issue)
    .issues.slice(0, 20)
    .map(({ message, path = [] }) => ({
      path: path.map((part) => String(typeof part === "object" ? part.key : part)).join("."),
      expected: message
    }))

/** Serves an `RpcGroup`. It is of `AgentProxy.toRpcGroup`. The runs come from `AgentRuns` or `DurableRuns`. */
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
    return prefixed({
      ...served,
      stream: (asked: never) => Stream.unwrap(served.stream(asked)),
      events: (of: OfRun & { readonly after?: string }) =>
        Stream.unwrap(Effect.map(served.events(of), ({ all }) => all))
    })
  })
  // cast: the middleware of the group that is served provides the subject
  return group.toLayer(handlers as never) as never
}
