/** What each wire sends, as text, and a test for each provider that speaks it. */
import { it } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Effect, Layer, type Schema, Stream } from "effect"
import { type Participant, participants } from "../../_support/participants.ts"
import { event, fakeNetwork, respond } from "../../../_support/network.ts"

export type Tag = LlmError.LlmError["_tag"]

/** One wire, as text: what a stream is made of, and whole bodies. */
interface Wire {
  readonly text: (text: string) => string
  /** A call whose arguments were cut off, or that is whole, as far as the wire shows calls before they are. */
  readonly call: (isCut: boolean) => string
  readonly end: (reason: "stop" | "length") => string
  readonly error: string
  readonly calling: (call: { readonly args?: Schema.Json }, isCut?: boolean) => object
  /** A reply that says nothing of what it used, and one that says nothing with words. */
  readonly uncounted: ReadonlyArray<object>
}

const chatCall = (call: { readonly args?: Schema.Json }) => ({
  index: 0,
  id: "c1",
  type: "function",
  function: { name: "look", ...("args" in call ? { arguments: call.args } : {}) }
})

export const chatBody = (message: object, finish_reason: string, more: object = {}) => ({
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "x", ...message }, finish_reason }],
  ...more
})

const chunk = (delta: object, finish_reason: string | null = null) =>
  event({ choices: [{ index: 0, delta, finish_reason }] })

const chat: Wire = {
  text: (content) => chunk({ content }),
  call: (isCut) => chunk({ tool_calls: [chatCall({ args: isCut ? '{"at": ' : "{}" })] }),
  end: (reason) => chunk({}, reason) + event("[DONE]"),
  error: event({ error: { message: "The server had an error", type: "server_error", code: 500 } }),
  calling: (call, isCut = false) =>
    chatBody({ content: null, tool_calls: [chatCall(call)] }, isCut ? "length" : "tool_calls"),
  uncounted: [
    chatBody({}, "stop"),
    chatBody({}, "stop", { usage: null }),
    chatBody({}, "stop", { usage: { prompt_tokens: null, completion_tokens: 0, completion_tokens_details: null } })
  ]
}

const typed = (data: { readonly type: string; readonly [key: string]: unknown }) =>
  `event: ${data.type}\n${event(data)}`

const block = (index: number, content_block: object, ...deltas: ReadonlyArray<object>) =>
  typed({ type: "content_block_start", index, content_block }) +
  deltas.map((delta) => typed({ type: "content_block_delta", index, delta })).join("")

export const claude = (content: ReadonlyArray<object>, stop_reason: string, more: object = {}) => ({
  type: "message",
  role: "assistant",
  model: "m",
  content,
  stop_reason,
  ...more
})

const toolUse = { type: "tool_use", id: "c1", name: "look" }

const anthropic: Wire = {
  text: (text) => block(0, { type: "text", text: "" }, { type: "text_delta", text }),
  call: (isCut) =>
    block(1, { ...toolUse, input: {} }, { type: "input_json_delta", partial_json: isCut ? '{"at": ' : "" }),
  end: (reason) =>
    typed({ type: "message_delta", delta: { stop_reason: reason === "stop" ? "end_turn" : "max_tokens" } }) +
    typed({ type: "message_stop" }),
  error: typed({ type: "error", error: { type: "api_error", message: "Internal server error" } }),
  calling: (call, isCut = false) =>
    claude([{ ...toolUse, ...("args" in call ? { input: call.args } : {}) }], isCut ? "max_tokens" : "tool_use"),
  uncounted: [{}, { usage: null }, { usage: { input_tokens: null, output_tokens: 0 } }].map((more) =>
    claude([{ type: "text", text: "x" }], "end_turn", more)
  )
}

const candidate = (parts: ReadonlyArray<object>, finishReason?: string, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, ...(finishReason === undefined ? {} : { finishReason }) }],
  ...more
})

const gemini: Wire = {
  text: (text) => event(candidate([{ text }])),
  call: () => event(candidate([{ functionCall: { name: "look", args: {} } }])),
  end: (reason) => event(candidate([], reason === "stop" ? "STOP" : "MAX_TOKENS")),
  error: event({ error: { code: 500, message: "Internal error encountered.", status: "INTERNAL" } }),
  calling: (call, isCut = false) =>
    candidate([{ functionCall: { name: "look", ...call } }], isCut ? "MAX_TOKENS" : "STOP"),
  uncounted: [{}, { usageMetadata: null }, { usageMetadata: { promptTokenCount: 0, candidatesTokenCount: null } }].map(
    (more) => candidate([{ text: "x" }], "STOP", more)
  )
}

const line = (fields: object) => `${JSON.stringify({ model: "m", created_at: "2026", done: false, ...fields })}\n`

const ollamaCall = (call: { readonly args?: Schema.Json }) => ({
  function: { name: "look", ...("args" in call ? { arguments: call.args } : {}) }
})

const ollama: Wire = {
  text: (content) => line({ message: { content } }),
  call: () => line({ message: { content: "", tool_calls: [ollamaCall({ args: {} })] } }),
  end: (done_reason) => line({ message: { content: "" }, done: true, done_reason }),
  error: '{"error":"llama runner process has terminated"}\n',
  calling: (call, isCut = false) => ({
    message: { content: "", tool_calls: [ollamaCall(call)] },
    done: true,
    done_reason: isCut ? "length" : "stop"
  }),
  uncounted: [{}, { prompt_eval_count: null, eval_count: 0 }].map((more) => ({
    message: { content: "x" },
    done: true,
    done_reason: "stop",
    ...more
  }))
}

const responseCall = (call: { readonly args?: Schema.Json }, isCut = false) => ({
  type: "function_call",
  id: "fc_1",
  call_id: "c1",
  name: "look",
  status: isCut ? "incomplete" : "completed",
  ...("args" in call ? { arguments: call.args } : {})
})

export const response = (output: ReadonlyArray<object>, isCut = false, more: object = {}) => ({
  model: "m",
  status: isCut ? "incomplete" : "completed",
  ...(isCut ? { incomplete_details: { reason: "max_output_tokens" } } : {}),
  output,
  ...more
})

const responses: Wire = {
  text: (delta) =>
    typed({ type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "m", delta }),
  call: (isCut) =>
    typed({
      type: "response.output_item.done",
      output_index: 1,
      item: responseCall({ args: isCut ? '{"at": ' : "{}" }, isCut)
    }),
  end: (reason) =>
    typed({
      type: reason === "stop" ? "response.completed" : "response.incomplete",
      response: response([], reason === "length")
    }),
  error: typed({ type: "error", code: "server_error", message: "The server had an error", param: null }),
  calling: (call, isCut = false) => response([responseCall(call, isCut)], isCut),
  uncounted: [
    {},
    { usage: null },
    { usage: { input_tokens: null, output_tokens: 0, output_tokens_details: null } }
  ].map((more) => response([{ type: "message", content: [{ type: "output_text", text: "x" }] }], false, more))
}

const wireOf = ({ name }: Participant): Wire =>
  ({ anthropic, gemini, ollama, "openai-responses": responses, "perplexity-agent": responses })[name] ?? chat

const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

const answering = (participant: Participant, status: number, body: unknown, headers = {}) =>
  Layer.provide(participant.layer, fakeNetwork([respond(status, body, headers)]).layer)

export const generate = (participant: Participant, body: unknown, status = 200, headers = {}) =>
  Effect.flatMap(Model.Model, (model) => model.generate(request)).pipe(
    Effect.provide(answering(participant, status, body, headers))
  )

/** The reply or the error of a stream, and what was seen until then. */
export const stream = (participant: Participant, body: string, status = 200, headers = {}) => {
  const collector = new Model.Collector()
  return Effect.flatMap(Model.Model, (model) =>
    Stream.runForEach(model.stream(request), (part) => Effect.sync(() => collector.push(part)))
  ).pipe(
    Effect.match({
      onFailure: (error) => ({ error, reply: undefined, seen: collector.partial }),
      onSuccess: () => ({ error: undefined, reply: collector.reply(), seen: collector.partial })
    }),
    Effect.provide(answering(participant, status, body, headers))
  )
}

/** Those whose streams are texts: the frames of Bedrock are bytes, and its own tests have them. */
const speakers = participants.filter(({ name }) => name !== "bedrock")

export const each = (
  title: string,
  test: (participant: Participant, wire: Wire) => Effect.Effect<void, LlmError.LlmError | Message.Reply>
) => {
  for (const participant of speakers) {
    it.effect(`${title}: ${participant.name}`, () => test(participant, wireOf(participant)))
  }
}

export const tagOf = (error: LlmError.LlmError | undefined): Tag | undefined => error?._tag
