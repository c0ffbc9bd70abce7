/** The contract of server and clients. It imports neither the agent nor its tools. */
import { Snapshot } from "@kintsugi/core"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
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

export const Input = Schema.NonEmptyString.check(Schema.isMaxLength(4000))

/** The agent of the desk, for those who serve it and those who ask it. */
export const Desk = AgentProxy.make("desk", { input: Input })

/** The cookie of a page of this server, with the token of its customer. */
export const cookie = "customer"

/** A customer: the subject of all requests but those of the people who decide. */
export class Customer extends HttpApiMiddleware.Service<Customer, { provides: AgentProxy.Subject }>()(
  "examples/backend/Customer",
  {
    requiredForClient: true,
    security: { bearer: HttpApiSecurity.bearer, cookie: HttpApiSecurity.apiKey({ in: "cookie", key: cookie }) },
    error: AgentProxy.UnauthorizedError
  }
) {}

/**
 * A person who has the token for decisions. The subject is the customer in the header `on-behalf-of`. Your backend may have sessions of
 * people instead, with names for the books.
 */
export class Deciding extends HttpApiMiddleware.Service<Deciding, { provides: AgentProxy.Subject }>()(
  "examples/backend/Deciding",
  { requiredForClient: true, security: { bearer: HttpApiSecurity.bearer }, error: AgentProxy.UnauthorizedError }
) {}

/** The events of a run have its whole conversation: a stream for your own people, unless `AgentProxyServer` leaves some out. */
const runs = AgentProxy.toHttpApiGroup(Desk, Customer, {
  id: "runs",
  only: ["ask", "stream", "show", "events", "say", "stop"]
})

/** Customers do not approve their own refunds. */
const approvals = AgentProxy.toHttpApiGroup(Desk, Deciding, { id: "approvals", only: ["show", "decide"] })

const waiting = HttpApiGroup.make("waiting", { topLevel: true })
  .add(
    /** What the runs of a customer wait for, the oldest run first. */
    HttpApiEndpoint.get("waiting", "/approvals", {
      success: Schema.Array(Schema.Struct({ run: Schema.String, waiting: Schema.Array(Snapshot.Waiting) }))
    })
  )
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

const ChatId = Schema.NonEmptyString.check(Schema.isMaxLength(200))

/** The request of `useChat` of the AI SDK, as far as this backend reads it. */
export const Chat = Schema.Struct({
  /** With the id of the chat, its run goes on without its reader, who may come back to `/chat/:id/stream`. */
  id: Schema.optionalKey(ChatId),
  messages: Schema.NonEmptyArray(Said).check(
    Schema.makeFilter((messages) => isAsked(messages) || "the last message is to be a text of the user")
  )
})

const chunks = HttpApiSchema.WithHeaders(HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }), {
  "cache-control": Schema.String,
  "x-vercel-ai-ui-message-stream": Schema.String,
  "x-accel-buffering": Schema.String
})

const chat = HttpApiGroup.make("chat", { topLevel: true })
  .add(
    HttpApiEndpoint.post("chat", "/chat", { payload: Chat, success: chunks, error: AgentProxy.TooBusyError }),
    /** The message of the run at work, from its beginning. Without one, the SDK wants 204. */
    HttpApiEndpoint.get("reopen", "/chat/:id/stream", { params: { id: ChatId }, success: chunks })
  )
  .middleware(HttpApiMiddleware.ProblemDetails)
  .middleware(Customer)

const system = HttpApiGroup.make("system", { topLevel: true }).add(
  HttpApiEndpoint.get("health", "/health", {
    success: Schema.Struct({ status: Schema.tag("ok"), model: Schema.String })
  })
)

export const Api = HttpApi.make("desk")
  .add(runs, approvals, waiting, chat, system)
  .annotateMerge(OpenApi.annotations({ title: "A desk for customers of a shop" }))
