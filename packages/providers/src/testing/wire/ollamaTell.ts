/** Writes answers of Ollama's chat API: replies, whole and streamed, and refusals. */
import type * as Message from "@kintsugi/core/Message"
import type { Answer } from "../handling.ts"
import type * as Wire from "./wire.ts"
import * as Parts from "./parts.ts"

export const render = (request: Wire.BrainRequest, reply: Wire.BrainReply): Answer => {
  const { isStreamed, model, received } = request
  const head = { model, created_at: new Date(received.at).toISOString() }
  const calls = Parts.callsOf(reply).map(callOf)
  const end = { done: true, done_reason: Parts.finishOf(reply) === "length" ? "length" : "stop", ...usageOf(reply) }
  const content = textIn(reply, "text")
  const thinking = textIn(reply, "reasoning")
  if (!isStreamed) {
    const message = {
      role: "assistant",
      content,
      ...(thinking === "" ? {} : { thinking }),
      ...(calls.length === 0 ? {} : { tool_calls: calls })
    }
    return Parts.json({ ...head, message, ...end }, { headers: { "content-type": "application/json; charset=utf-8" } })
  }
  const said = [
    ...Parts.inPieces(thinking).map((thinking) => ({ content: "", thinking })),
    ...Parts.inPieces(content).map((content) => ({ content })),
    ...calls.map((call) => ({ content: "", tool_calls: [call] }))
  ]
  const lines = said.map((fields) => ({ ...head, message: { role: "assistant", ...fields }, done: false }))
  const last = { ...head, message: { role: "assistant", content: "" }, ...end }
  return {
    headers: { "content-type": "application/x-ndjson" },
    split: "line",
    body: [...lines, last].map(lineOf).join("")
  }
}

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`

const textIn = (reply: Wire.BrainReply, type: "text" | "reasoning"): string =>
  reply.content.map((part) => (part.type === type ? part.text : "")).join("")

const callOf = (call: Message.ToolCall, index: number) => ({
  id: call.id,
  function: { index, name: call.name, arguments: Parts.argumentsObject(call) }
})

/** Token counts and times in Ollama's form. The times, in nanoseconds, are fixed numbers. */
const usageOf = (reply: Wire.BrainReply) => {
  const { inputTokens, outputTokens } = Parts.usageOf(reply)
  return {
    total_duration: 3_000_000,
    load_duration: 1_000_000,
    prompt_eval_count: inputTokens,
    prompt_eval_duration: 1_000_000,
    eval_count: outputTokens,
    eval_duration: 1_000_000
  }
}

export const refuse = (failure: Wire.Failure): Answer => {
  const { error, headers = {}, status } = words(failure)
  return Parts.json({ error }, { status, headers: { "content-type": "application/json; charset=utf-8", ...headers } })
}

/** The last line of a stream that fails: it has an error and nothing else. */
export const breakOff = (failure: Wire.Failure): string => lineOf({ error: words(failure).error })

interface Words {
  readonly status: number
  readonly error: string
  readonly headers?: Readonly<Record<string, string>>
}

const words = (failure: Wire.Failure): Words => {
  switch (failure.type) {
    case "invalid-request":
      return { status: 400, error: failure.message }
    case "unauthorized":
      return { status: 401, error: "unauthorized" }
    case "unknown-model":
      return { status: 404, error: `model '${failure.model}' not found` }
    case "rate-limited": {
      const headers = { "retry-after": String(Math.ceil(Parts.waitOf(failure) / 1000)) }
      return { status: 429, error: "too many requests", headers }
    }
    case "quota-exhausted":
      return { status: 402, error: "you've reached your usage limit, upgrade for higher limits" }
    case "overloaded":
      return { status: 503, error: "server busy, please try again.  maximum pending requests exceeded" }
    case "server-error":
      return { status: 500, error: "llama runner process has terminated: exit status 2" }
  }
}
