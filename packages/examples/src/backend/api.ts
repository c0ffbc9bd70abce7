/** The contract of server and clients. It imports neither the agent nor its tools. */
import { AgentEvent, Approval, Snapshot, Usage } from "@kintsugi/core"
import { Schema } from "effect"
import {
  HttpApi,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
  HttpApiSecurity,
  OpenApi
} from "effect/http-api"
import { ExpiredRun, NoSuchRun, RunFailed, runFailures, StaleDecision, Unauthorized, UnknownRun } from "./problems.ts"

const User = Schema.NonEmptyString.check(Schema.isMaxLength(200))

/** With the name of a user, what the run waits for is listed under it. Your backend may take that name from a session. */
export const NewRun = Schema.Struct({
  input: Schema.NonEmptyString.check(Schema.isMaxLength(4000)),
  user: Schema.optionalKey(User)
})

/** The run is over. */
export const Answered = Schema.Struct({ type: Schema.tag("answered"), answer: Schema.String, usage: Usage.Usage })

/** The run waits for a person: each request is decided on by its `digest`. */
export const Waiting = Schema.Struct({
  type: Schema.tag("waiting"),
  runId: Schema.String,
  requests: Schema.Array(Approval.ApprovalRequest)
}).pipe(HttpApiSchema.status("Accepted"))

/** What a run waits for: without the tokens of deferred calls. */
const WaitingRun = Schema.Struct({ runId: Schema.String, waiting: Schema.Array(Snapshot.Waiting) })

export type Ending = typeof Answered.Type | typeof Waiting.Type

const endings = [Answered, Waiting] as const

/** A run that goes on without its reader: its events are at `/runs/:runId/events`. */
const Started = Schema.Struct({ runId: Schema.String }).pipe(HttpApiSchema.status("Accepted"))

const runId = { runId: Schema.String }

const runs = HttpApiGroup.make("runs")
  .add(
    HttpApiEndpoint.post("ask", "/runs", { payload: NewRun, success: endings, error: runFailures }),
    /** The same run as events, as they happen. They hold its whole conversation: a stream for your own people, not for customers. */
    HttpApiEndpoint.post("watch", "/runs/events", {
      payload: NewRun,
      success: HttpApiSchema.StreamSse({ data: AgentEvent.AgentEvent, error: RunFailed })
    }),
    HttpApiEndpoint.post("start", "/runs/start", { payload: NewRun, success: Started, error: runFailures }),
    HttpApiEndpoint.delete("stop", "/runs/:runId", {
      params: runId,
      success: HttpApiSchema.NoContent,
      error: NoSuchRun
    })
  )
  .middleware(HttpApiMiddleware.ProblemDetails)

/** A client with the token may decide. Your backend may have sessions of people instead, with names for the books. */
export class Deciding extends HttpApiMiddleware.Service<Deciding>()("examples/backend/Deciding", {
  requiredForClient: true,
  security: { bearer: HttpApiSecurity.bearer },
  error: Unauthorized
}) {}

const approvals = HttpApiGroup.make("approvals")
  .add(
    /** What the runs of a user wait for, the oldest run first. */
    HttpApiEndpoint.get("list", "/approvals", { query: { user: User }, success: Schema.Array(WaitingRun) }),
    HttpApiEndpoint.get("show", "/approvals/:runId", {
      params: runId,
      success: Waiting,
      error: [UnknownRun, ExpiredRun]
    }),
    HttpApiEndpoint.post("decide", "/approvals/:runId", {
      params: runId,
      payload: Schema.Struct({ decisions: Schema.NonEmptyArray(Approval.Decided) }),
      success: endings,
      error: [UnknownRun, ExpiredRun, StaleDecision, ...runFailures]
    })
  )
  .middleware(HttpApiMiddleware.ProblemDetails)
  .middleware(Deciding)

const Said = Schema.Struct({
  role: Schema.Literals(["system", "user", "assistant"]),
  parts: Schema.Array(Schema.Struct({ type: Schema.String, text: Schema.optionalKey(Schema.String) }))
})

/** Whether the agent has to answer: a client may also send the agent's own last message, or pictures alone. */
const isAsked = (messages: ReadonlyArray<typeof Said.Type>): boolean => {
  const last = messages.at(-1)
  return last?.role === "user" && last.parts.some(({ text = "" }) => text !== "")
}

/** The request of `useChat` of the AI SDK, as far as this backend reads it. */
export const Chat = Schema.Struct({
  /** With the id of the chat, its run goes on without its reader, who may come back to `/chat/:id/stream`. */
  id: Schema.optionalKey(User),
  messages: Schema.NonEmptyArray(Said).check(
    Schema.makeFilter((messages) => isAsked(messages) || "the last message is to be a text of the user")
  )
})

const chat = HttpApiGroup.make("chat", { topLevel: true })
  .add(
    HttpApiEndpoint.post("chat", "/chat", {
      payload: Chat,
      error: runFailures,
      success: HttpApiSchema.WithHeaders(HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }), {
        "cache-control": Schema.String,
        "x-vercel-ai-ui-message-stream": Schema.String,
        "x-accel-buffering": Schema.String
      })
    })
  )
  .middleware(HttpApiMiddleware.ProblemDetails)

const system = HttpApiGroup.make("system", { topLevel: true }).add(
  HttpApiEndpoint.get("health", "/health", {
    success: Schema.Struct({ status: Schema.tag("ok"), model: Schema.String })
  })
)

export const Api = HttpApi.make("desk")
  .add(runs, approvals, chat, system)
  .annotateMerge(OpenApi.annotations({ title: "A desk for customers of a shop" }))
