/** The endpoints and procedures of a conversation, and their types. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Rpc from "effect/rpc/Rpc"
import * as RpcGroup from "effect/rpc/RpcGroup"
import type * as RpcMiddleware from "effect/rpc/RpcMiddleware"
import type * as RpcSchema from "effect/rpc/RpcSchema"
import * as Schema from "effect/Schema"
import { eventFields, eventQuery, type Reading, type Requires } from "../endpoints.ts"
import * as Errors from "../errors.ts"
import * as Run from "../schemas.ts"
import { refusable } from "../unfit.ts"
import { ConversationConflictError, ConversationNotFoundError } from "./errors.ts"
import * as Schemas from "./schemas.ts"

type Codec<T> = Schema.Codec<T, unknown>

interface OfConversation {
  readonly conversation: string
}

interface OfMessage extends OfConversation {
  readonly id: string
}

interface Sending<Said> {
  readonly message: Said
  readonly id?: string
}

interface Stopping {
  readonly dropQueue?: boolean
}

interface Cursored {
  readonly after?: string
}

type Deciding = Schema.Struct.Type<typeof Run.decideFields>

/** What each request can fail with. */
type Refused =
  | ConversationConflictError
  | ConversationNotFoundError
  | Errors.RequestTooLargeError
  | Errors.RunFailedError
  | Errors.TooBusyError
  | Errors.UnfitRequestError

/** What a request about the run of a message can fail with. */
type OfRun<E> = Refused | Errors.RunConflictError | E

type Progress = Codec<Schemas.MessageProgress>
type Queue<Said> = Codec<ReadonlyArray<Schemas.QueuedMessage<Said>>>
type Sse<E> = HttpApiSchema.StreamSse<typeof Run.Sent, Codec<OfRun<E>>>

type Method = "GET" | "POST" | "PUT" | "DELETE"

type Endpoint<
  Name extends string,
  M extends Method,
  Path extends string,
  Params,
  Success extends Schema.Top,
  Failed,
  Payload extends Schema.Top = never,
  Query extends Schema.Top = never,
  Headers extends Schema.Top = never
> = HttpApiEndpoint.HttpApiEndpoint<Name, M, Path, Codec<Params>, Query, Payload, Headers, Success, Codec<Failed>>

type Lasting = Codec<{ readonly "last-event-id"?: string }>

/** The endpoints of conversations: each takes the subject from the middleware `M`. */
export type ConversationEndpoints<
  Id extends string,
  Said,
  O,
  E,
  M extends HttpApiMiddleware.AnyId
> = HttpApiEndpoint.AddMiddleware<
  HttpApiEndpoint.AddMiddleware<
    | Endpoint<"send", "POST", `/${Id}/:conversation/messages`, OfConversation, Progress, Refused, Codec<Sending<Said>>>
    | Endpoint<"say", "POST", `/${Id}/:conversation/words`, OfConversation, Progress, Refused, Codec<Sending<string>>>
    | Endpoint<"state", "GET", `/${Id}/:conversation/messages/:id`, OfMessage, Progress, Refused>
    | Endpoint<
        "edit",
        "PUT",
        `/${Id}/:conversation/messages/:id`,
        OfMessage,
        HttpApiSchema.NoContent,
        Refused,
        Codec<{ readonly message: Said }>
      >
    | Endpoint<"withdraw", "DELETE", `/${Id}/:conversation/messages/:id`, OfMessage, HttpApiSchema.NoContent, Refused>
    | Endpoint<"answer", "GET", `/${Id}/:conversation/messages/:id/answer`, OfMessage, Codec<Run.Ending<O>>, OfRun<E>>
    | Endpoint<
        "events",
        "GET",
        `/${Id}/:conversation/messages/:id/events`,
        OfMessage,
        Sse<E>,
        OfRun<E>,
        never,
        Codec<Cursored>,
        Lasting
      >
    | Endpoint<
        "decide",
        "POST",
        `/${Id}/:conversation/messages/:id/decisions`,
        OfMessage,
        Codec<Run.Ending<O>>,
        OfRun<E>,
        Codec<Deciding>
      >
    | Endpoint<"queued", "GET", `/${Id}/:conversation/queue`, OfConversation, Queue<Said>, Refused>
    | Endpoint<
        "interrupt",
        "POST",
        `/${Id}/:conversation/interrupt`,
        OfConversation,
        typeof Schemas.Stopped,
        Refused,
        Codec<Stopping>
      >
    | Endpoint<
        "history",
        "GET",
        `/${Id}/:conversation`,
        OfConversation,
        typeof Schemas.HistoryPage,
        Refused,
        never,
        Codec<Schemas.Page>
      >,
    M
  >,
  Reading
>

/** The names of the endpoints and procedures. */
export type ConversationEndpointName =
  | "send"
  | "say"
  | "state"
  | "edit"
  | "withdraw"
  | "answer"
  | "events"
  | "decide"
  | "queued"
  | "interrupt"
  | "history"

/** A contract with any schemas. */
interface Schemata {
  readonly said: Codec<unknown>
  readonly output: Codec<unknown>
  readonly error: Codec<unknown>
}

const refusals = [
  ConversationConflictError,
  ConversationNotFoundError,
  Errors.RequestTooLargeError,
  Errors.UnfitRequestError
]

export const conversationEndpointsOf = (id: string, schemas: object) => {
  // cast: the schemas of a contract; their types are those of the group
  const { error: own, output, said } = schemas as Schemata
  const error = [...refusals, ...Errors.failures]
  const ofRun = [...error, own]
  const at = `/${id}/:conversation` as const
  const message = `${at}/messages/:id` as const
  const ending = [Run.answered(output), Run.Waiting.pipe(Run.accepted)]
  const progress = Schemas.MessageProgress.pipe(Run.accepted)
  const events = HttpApiSchema.StreamSse({
    events: Run.Sent,
    error: Schema.Union([...refusals, Errors.RunFailedError, Errors.RunConflictError, Errors.TooBusyError, own])
  })
  return [
    HttpApiEndpoint.post("send", `${at}/messages`, {
      params: Schemas.conversationFields,
      payload: Schema.Struct(Schemas.sendFields(said)),
      success: progress,
      error
    }),
    HttpApiEndpoint.post("say", `${at}/words`, {
      params: Schemas.conversationFields,
      payload: Schema.Struct(Schemas.sendFields(Run.Text)),
      success: progress,
      error
    }),
    HttpApiEndpoint.get("state", message, { params: Schemas.messageFields, success: Schemas.MessageProgress, error }),
    HttpApiEndpoint.put("edit", message, {
      params: Schemas.messageFields,
      payload: Schema.Struct({ message: said }),
      success: HttpApiSchema.NoContent,
      error
    }),
    HttpApiEndpoint.delete("withdraw", message, {
      params: Schemas.messageFields,
      success: HttpApiSchema.NoContent,
      error
    }),
    HttpApiEndpoint.get("answer", `${message}/answer`, {
      params: Schemas.messageFields,
      success: ending,
      error: ofRun
    }),
    HttpApiEndpoint.get("events", `${message}/events`, {
      params: Schemas.messageFields,
      ...eventQuery,
      success: events,
      error: ofRun
    }),
    HttpApiEndpoint.post("decide", `${message}/decisions`, {
      params: Schemas.messageFields,
      payload: Schema.Struct(Run.decideFields),
      success: ending,
      error: ofRun
    }),
    HttpApiEndpoint.get("queued", `${at}/queue`, {
      params: Schemas.conversationFields,
      success: Schemas.queuedOf(said),
      error
    }),
    HttpApiEndpoint.post("interrupt", `${at}/interrupt`, {
      params: Schemas.conversationFields,
      payload: Schema.Struct(Schemas.stopFields),
      success: Schemas.Stopped,
      error
    }),
    HttpApiEndpoint.get("history", at, {
      params: Schemas.conversationFields,
      query: Schemas.pageQuery,
      success: Schemas.HistoryPage,
      error
    })
  ]
}

type Procedure<
  Name extends string,
  Payload,
  Success extends Schema.Top,
  Failed,
  M extends RpcMiddleware.AnyService
> = Rpc.Rpc<Name, Codec<Payload> & Schema.Top, Success, Codec<Failed>, M, Requires<M>>

type Events<Name extends string, E, M extends RpcMiddleware.AnyService> = Rpc.Rpc<
  Name,
  Codec<OfMessage & Cursored> & Schema.Top,
  RpcSchema.Stream<typeof Run.ProxyEvent, Codec<OfRun<E>>>,
  typeof Schema.Never,
  M,
  Requires<M>
>

/** The procedures of conversations: each takes the subject from the middleware `M`. */
export type ConversationProcedures<P extends string, Said, O, E, M extends RpcMiddleware.AnyService> =
  | Procedure<`${P}send`, OfConversation & Sending<Said>, Progress, Refused, M>
  | Procedure<`${P}say`, OfConversation & Sending<string>, Progress, Refused, M>
  | Procedure<`${P}state`, OfMessage, Progress, Refused, M>
  | Procedure<`${P}edit`, OfMessage & { readonly message: Said }, typeof Schema.Void, Refused, M>
  | Procedure<`${P}withdraw`, OfMessage, typeof Schema.Void, Refused, M>
  | Procedure<`${P}answer`, OfMessage, Codec<Run.Ending<O>>, OfRun<E>, M>
  | Events<`${P}events`, E, M>
  | Procedure<`${P}decide`, OfMessage & Deciding, Codec<Run.Ending<O>>, OfRun<E>, M>
  | Procedure<`${P}queued`, OfConversation, Queue<Said>, Refused, M>
  | Procedure<`${P}interrupt`, OfConversation & Stopping, typeof Schemas.Stopped, Refused, M>
  | Procedure<`${P}history`, OfConversation & Schemas.Page, typeof Schemas.HistoryPage, Refused, M>

export const conversationProceduresOf = (prefix: string, schemas: object) => {
  // cast: the schemas of a contract; their types are those of the group
  const { error: own, output, said } = schemas as Schemata
  const { MessageProgress } = Schemas
  const error = Schema.Union([...refusals, Errors.RunFailedError, Errors.TooBusyError])
  const ofRun = Schema.Union([error, Errors.RunConflictError, own])
  const ending = Schema.Union([Run.answered(output), Run.Waiting])
  const defect = Run.Defect
  const conversation = refusable(Schemas.conversationFields)
  const message = refusable(Schemas.messageFields)
  return RpcGroup.make(
    Rpc.make("send", {
      payload: refusable({ ...Schemas.conversationFields, ...Schemas.sendFields(said) }),
      success: MessageProgress,
      error,
      defect
    }),
    Rpc.make("say", {
      payload: refusable({ ...Schemas.conversationFields, ...Schemas.sendFields(Run.Text) }),
      success: MessageProgress,
      error,
      defect
    }),
    Rpc.make("state", { payload: message, success: MessageProgress, error, defect }),
    Rpc.make("edit", { payload: refusable({ ...Schemas.messageFields, message: said }), error, defect }),
    Rpc.make("withdraw", { payload: message, error, defect }),
    Rpc.make("answer", { payload: message, success: ending, error: ofRun, defect }),
    Rpc.make("events", {
      payload: refusable({ ...Schemas.messageFields, ...eventFields }),
      success: Run.ProxyEvent,
      error: ofRun,
      stream: true,
      defect
    }),
    Rpc.make("decide", {
      payload: refusable({ ...Schemas.messageFields, ...Run.decideFields }),
      success: ending,
      error: ofRun,
      defect
    }),
    Rpc.make("queued", { payload: conversation, success: Schemas.queuedOf(said), error, defect }),
    Rpc.make("interrupt", {
      payload: refusable({ ...Schemas.conversationFields, ...Schemas.stopFields }),
      success: Schemas.Stopped,
      error,
      defect
    }),
    Rpc.make("history", {
      payload: refusable({ ...Schemas.conversationFields, ...Schemas.pageFields }),
      success: Schemas.HistoryPage,
      error,
      defect
    })
  ).prefix(prefix)
}
