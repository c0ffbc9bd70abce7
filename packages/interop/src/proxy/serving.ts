/** What the servers of all contracts have in common: subjects, failures, events, and how requests are read. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as ByteSize from "effect/ByteSize"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as ErrorReporter from "effect/ErrorReporter"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { unhandled } from "effect/Types"
import type * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import { HttpApiSchemaError } from "effect/http-api/HttpApiError"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpBody from "effect/http/HttpBody"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { AgentEvent } from "@kintsugi/core"
import { Subject } from "./AgentProxy.ts"
import { Reading } from "./endpoints.ts"
import { failedInside, RequestTooLargeError, UnfitRequestError } from "./errors.ts"
import { forClients, type ProxyEvent } from "./schemas.ts"
import { issuesOf } from "./unfit.ts"

/** The most bytes of a request that a server reads, unless the program sets `HttpIncomingMessage.MaxBodySize`. */
const largest = ByteSize.mebibytes(1)

const within = <A, E, R>(handling: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(MaxBodySize, (most) => Effect.provideService(handling, MaxBodySize, most ?? largest))

/** The same bound for the route to which this layer is provided: Effect reads the body of a procedure before any handler. */
export const bounded: Layer.Layer<never> = /* @__PURE__ */ Layer.suspend(() => HttpRouter.middleware(within).layer)

export const withSubject = <A, E, R>(use: (subject: string) => Effect.Effect<A, E, R>) =>
  Effect.catchCause(Effect.flatMap(Subject, use), hidden)

const tagOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null ? Reflect.get(error, "_tag") : ""

export const isNotFound = (error: unknown): boolean => tagOf(error) === "RunNotFoundError"

const isStopped = (error: unknown): boolean =>
  tagOf(error) === "RunConflictError" && Reflect.get(Object(error), "reason") === "stopped"

/** A defect becomes a failure without details. The server logs and reports its cause. */
const hidden = <E>(cause: Cause.Cause<E>): Effect.Effect<never, E | ReturnType<typeof failedInside>> =>
  cause.reasons.some(Cause.isDieReason)
    ? Effect.logError("a request to an agent has met a bug", ErrorCause.logged(cause)).pipe(
        Effect.andThen(ErrorReporter.report(cause)),
        Effect.andThen(Effect.fail(failedInside("KINTSUGI-BUG")))
      )
    : Effect.failCause(cause)

/** Which events a client may read. */
export type Shows = (event: AgentEvent.AgentEvent) => boolean

/** One run, for a reader. */
interface Readable<E, R> {
  readonly events: Effect.Effect<Stream.Stream<AgentEvent.AgentEvent, unknown, R>, E, R>
  /** Where the run has ended or waits; `undefined` while it is at work. */
  readonly show: Effect.Effect<unknown, unknown, R>
  readonly end: Effect.Effect<unknown, unknown, R>
}

/** The events of a run that a client may read. The failure of the run is that of the stream. */
export const eventsFor = <E, R>({ end, events }: Pick<Readable<E, R>, "events" | "end">, shows: Shows) =>
  Effect.map(events, (all): Stream.Stream<ProxyEvent, unknown, R> =>
    Stream.concat(
      Stream.map(Stream.filter(all, shows), forClients),
      // a run that was stopped has had its last event
      Stream.fromEffectDrain(Effect.catchIf(end, isStopped, () => Effect.void))
    ).pipe(Stream.catchCause((cause) => Stream.fromEffect(hidden(cause))))
  )

/** The same, and whether the reader has the last event of a run that is over. */
export const reading = <E, R>(of: Readable<E, R>, shows: Shows) =>
  Effect.gen(function* () {
    const all = yield* eventsFor(of, shows)
    const shown = yield* Effect.exit(of.show)
    const isAtWork = Exit.isSuccess(shown) && shown.value === undefined
    // what is over answers at once
    const isRead = !isAtWork && Option.isNone(yield* Stream.runHead(Stream.filter(yield* of.events, shows)))
    return { all, isRead }
  })

/** Handlers that take a request apart. */
interface Handlers<Request> {
  readonly handle: (name: string, handler: Handler<Request>) => Handlers<Request>
}

type Handler<Request> = (request: Request) => Effect.Effect<unknown, unknown, Subject>

export type MiddlewareOf<Group> =
  | HttpApiEndpoint.Middleware<HttpApiGroup.Endpoints<Group>>
  | HttpApiGroup.MiddlewareServices<Group>

/** Serves the group `id` of an API. `made` has a handler for each endpoint that the group may have. */
export const groupLayer = <ApiId extends string, Groups extends HttpApiGroup.Constraint, Request, R>(
  api: HttpApi.HttpApi<ApiId, Groups>,
  id: HttpApiGroup.Identifier<Groups>,
  made: Effect.Effect<Readonly<Record<string, Handler<Request>>>, never, R>
): Layer.Layer<never, never, R> => {
  const names = Object.keys(Object(Reflect.get(api.groups, id)).endpoints)
  const build = (handlers: Handlers<Request>) =>
    Effect.map(made, (each) =>
      names.reduce((all, name) => {
        const handler = each[name]
        return handler === undefined ? all : all.handle(name, handler)
      }, handlers)
    )
  // casts: the endpoints of the group are not known here; the types of the callers are theirs
  const layer = HttpApiBuilder.group(api, id, build as never) as Layer.Layer<never, never, R>
  return Layer.provideMerge(layer, reader) as Layer.Layer<never, never, R>
}

/** An event as a server-sent event. Its cursor is the `id`. */
export const asSent = (event: ProxyEvent) => ({ id: event.cursor, event: "message", data: event })

/** The response to a reader of events: 204 for `EventSource` that has the last one. It does not come again then. */
export const responseOf = <R>(
  { all, isRead }: { readonly all: Stream.Stream<ProxyEvent, unknown, R>; readonly isRead: boolean },
  last: string | undefined
) => (isRead && last !== undefined ? HttpServerResponse.empty() : Stream.map(all, asSent))

/** Comments without data, because proxies end a connection that is silent. */
const comments = Stream.as(
  Stream.fromSchedule(Schedule.spaced("15 seconds")),
  new TextEncoder().encode(": at work\n\n")
)

const commented = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  if (body._tag !== "Stream" || !body.contentType.startsWith("text/event-stream")) return response
  const stream = Stream.merge(body.stream, comments, { haltStrategy: "left" })
  return HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType))
}

/** Requests that do not fit are 422, and those that are too large 413. What the server itself does wrong stays a defect. */
const reader = Layer.succeed(Reading, (handling) =>
  Effect.map(within(handling), commented).pipe(
    Effect.catchCause((cause) =>
      Effect.flatMap(
        refusalOf(cause),
        (refusal): Effect.Effect<never, unhandled | RequestTooLargeError | UnfitRequestError> =>
          refusal === undefined ? Effect.failCause(cause) : Effect.fail(refusal)
      )
    )
  )
)

const refusalOf = ({ reasons }: Cause.Cause<unknown>) =>
  Effect.gen(function* () {
    for (const reason of reasons) {
      if (Cause.isFailReason(reason) && HttpApiSchemaError.is(reason.error)) {
        const { cause, kind } = reason.error
        if (kind !== "Body" && kind !== "ResponseHeaders") {
          return new UnfitRequestError({ issues: issuesOf(cause.issue) })
        }
      }
      if (Cause.isDieReason(reason) && HttpServerRespondable.isRespondable(reason.defect)) {
        const { status } = yield* HttpServerRespondable.toResponse(reason.defect)
        if (status === 413) return new RequestTooLargeError()
      }
    }
    return undefined
  })
