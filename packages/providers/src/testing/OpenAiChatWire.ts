/**
 * The server's side of OpenAI's chat completions: a brain gets what was asked, says what the model replies, and need not
 * know whether that goes out whole or streamed.
 */
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Fault from "./Fault.ts"
import type * as LoopbackServer from "./LoopbackServer.ts"

const Call = Schema.Struct({
  id: Schema.String,
  function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
})

const Content = Schema.Union([Schema.String, Schema.Array(Schema.Struct({ text: Schema.String })), Schema.Null])

/** A message as it stands on the wire. */
export interface WireMessage extends Schema.Schema.Type<typeof WireMessage> {}

export const WireMessage = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant", "tool"]),
  content: Schema.optionalKey(Content),
  tool_calls: Schema.optionalKey(Schema.Array(Call)),
  tool_call_id: Schema.optionalKey(Schema.String)
})

/** What a request asks for: the part of it that a model can know. */
export interface ChatRequest extends Schema.Schema.Type<typeof ChatRequest> {}

export const ChatRequest = Schema.Struct({
  model: Schema.String,
  messages: Schema.Array(WireMessage),
  tools: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        function: Schema.Struct({
          name: Schema.String,
          description: Schema.optionalKey(Schema.String),
          parameters: Schema.optionalKey(Schema.Json)
        })
      })
    )
  ),
  tool_choice: Schema.optionalKey(Schema.Json),
  stream: Schema.optionalKey(Schema.Boolean),
  stream_options: Schema.optionalKey(Schema.Struct({ include_usage: Schema.optionalKey(Schema.Boolean) }))
})

/** A reply, of which only the content has to be said. */
export interface BrainReply {
  readonly content: Message.Reply["content"]
  /** `tool-calls` if the content has calls, else `stop`. */
  readonly finish?: Message.FinishReason
  readonly usage?: Usage.Usage
}

/** Plays the model; the second parameter is the same request as it came. */
export interface Brain {
  (request: ChatRequest, received: LoopbackServer.Received): Effect.Effect<BrainReply>
}

/**
 * A handler that lets a brain answer. Like the real service it refuses, with status 400, a body that it cannot read and a
 * transcript with a tool call that has no result.
 */
export const handler =
  (brain: Brain): LoopbackServer.Handler =>
  (received) =>
    Effect.matchEffect(Schema.decodeUnknownEffect(ChatRequest)(received.body), {
      onFailure: (error) => refuse(received, String(error)),
      onSuccess: (request) => {
        const orphan = orphanOf(request.messages)
        if (orphan !== undefined) return refuse(received, `tool_call_ids did not have response messages: ${orphan}`)
        return Effect.map(brain(request, received), (reply) => render(request, reply, received.number))
      }
    })

/** A failure as OpenAI words it; the brain is not asked. */
export const failure = (
  status: number,
  error: { readonly message: string; readonly type?: string; readonly code?: string },
  headers?: Readonly<Record<string, string>>
): Fault.Fault => Fault.status(status, { error: { param: null, type: null, code: null, ...error } }, headers)

/** 503, the model has no capacity. */
export const overloaded: Fault.Fault = failure(503, {
  message: "The engine is currently overloaded, please try again later",
  type: "service_unavailable_error"
})

/** The texts of a message, joined. */
export const textOf = ({ content }: WireMessage): string => {
  if (content === undefined || content === null) return ""
  return Predicate.isString(content) ? content : content.map(({ text }) => text).join("")
}

/** Renders a reply as the body that the request asked for. */
export const render = (request: ChatRequest, reply: BrainReply, number: number): LoopbackServer.Answer => {
  const head = { id: `chatcmpl-${number}`, created: 0, model: request.model }
  return request.stream === true
    ? { headers: { "content-type": "text/event-stream" }, split: "event", body: streamed(head, request, reply) }
    : { body: JSON.stringify(whole(head, reply)) }
}

type Head = { readonly id: string; readonly created: number; readonly model: string }

const whole = (head: Head, reply: BrainReply) => {
  const calls = Message.callsOf({ finish: "stop", usage: Usage.empty, ...reply })
  const text = Message.textOf(reply)
  const message = {
    role: "assistant",
    content: text === "" ? null : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireCall) })
  }
  return {
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: reasonOf(reply) }],
    usage: wireUsage(reply.usage ?? Usage.empty)
  }
}

const streamed = (head: Head, request: ChatRequest, reply: BrainReply): string => {
  const chunk = (fields: object) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...fields })}\n\n`
  const delta = (delta: object, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, finish_reason: finish }] })
  const calls = Message.callsOf({ finish: "stop", usage: Usage.empty, ...reply })
  const usage = request.stream_options?.include_usage === true
  return [
    delta({ role: "assistant", content: "" }),
    ...inPieces(Message.textOf(reply)).map((content) => delta({ content })),
    ...calls.flatMap((call, index) => {
      const { function: fn, ...named } = wireCall(call)
      const first = { index, ...named, function: { name: fn.name, arguments: "" } }
      const more = inPieces(fn.arguments).map((piece) => ({ index, function: { arguments: piece } }))
      return [first, ...more].map((tool_call) => delta({ tool_calls: [tool_call] }))
    }),
    delta({}, reasonOf(reply)),
    ...(usage ? [chunk({ choices: [], usage: wireUsage(reply.usage ?? Usage.empty) })] : []),
    "data: [DONE]\n\n"
  ].join("")
}

/** Six characters at a time, none of them cut in two. */
const inPieces = (text: string): ReadonlyArray<string> => {
  const characters = Array.from(text)
  const pieces: Array<string> = []
  for (let start = 0; start < characters.length; start += 6) pieces.push(characters.slice(start, start + 6).join(""))
  return pieces
}

const wireCall = ({ arguments: args, id, name }: Message.ToolCall) => ({
  id,
  type: "function",
  function: { name, arguments: Predicate.isString(args) ? args : args === null ? "" : JSON.stringify(args) }
})

const reasonOf = ({ content, finish }: BrainReply): string => {
  if (finish === "filtered") return "content_filter"
  if (finish === "length" || finish === "other") return finish
  return content.some((part) => part.type === "tool-call") ? "tool_calls" : "stop"
}

const wireUsage = (usage: Usage.Usage) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: Usage.total(usage),
  prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens }
})

/** A call without a result right after the message that made it. */
const orphanOf = (messages: ReadonlyArray<WireMessage>): string | undefined => {
  for (const [index, { tool_calls }] of messages.entries()) {
    const answered = new Set<string | undefined>()
    for (let next = index + 1; messages[next]?.role === "tool"; next++) answered.add(messages[next]?.tool_call_id)
    const orphan = tool_calls?.find(({ id }) => !answered.has(id))
    if (orphan !== undefined) return orphan.id
  }
  return undefined
}

const refuse = (received: LoopbackServer.Received, message: string): Effect.Effect<LoopbackServer.Answer> =>
  failure(400, { message, type: "invalid_request_error" })(Effect.succeed({ body: "" }), received)
