/** Writes answers of Gemini's `generateContent`: replies, whole and streamed, and refusals. */
import type * as Message from "@kintsugi/core/Message"
import type { Answer, Received } from "../handling.ts"
import type * as Wire from "./wire.ts"
import { isModern } from "./geminiAsk.ts"
import * as Parts from "./parts.ts"

export const render = (request: Wire.BrainRequest, reply: Wire.BrainReply): Answer => {
  const { model: modelVersion, received } = request
  const tail = { modelVersion, responseId: `response_${received.number}` }
  const finishReason = reasonOf(reply)
  const parts = finishReason === "SAFETY" ? [] : partsOf(reply, isModern(modelVersion))
  const usageMetadata = usageOf(reply)
  if (!request.isStreamed) {
    const content = parts.length === 0 ? {} : { parts: parts.map(({ whole }) => whole), role: "model" }
    return Parts.json({ candidates: [{ content, finishReason, index: 0 }], usageMetadata, ...tail }, {}, 2)
  }
  const pieces = parts.flatMap(({ pieces }) => pieces)
  const early = { promptTokenCount: usageMetadata.promptTokenCount, totalTokenCount: usageMetadata.promptTokenCount }
  const chunks = (pieces.length === 0 ? [undefined] : pieces).map((piece, index) => {
    const content = piece === undefined ? {} : { parts: [piece], role: "model" }
    const isLast = index >= pieces.length - 1
    return {
      candidates: [{ content, ...(isLast ? { finishReason } : {}), index: 0 }],
      usageMetadata: isLast ? usageMetadata : early,
      ...tail
    }
  })
  if (!isSse(received)) return { body: `[${chunks.map((chunk) => JSON.stringify(chunk)).join("\n,\r\n")}\n]` }
  return Parts.events(chunks.map(eventOf).join(""))
}

const isSse = ({ path }: Received): boolean => new URLSearchParams(path.split("?")[1] ?? "").get("alt") === "sse"

const eventOf = (chunk: object): string => `data: ${JSON.stringify(chunk)}\r\n\r\n`

interface Part {
  readonly whole: object
  readonly pieces: ReadonlyArray<object>
}

/** Converts a reply to Gemini's parts. A call is sent in one piece, and only the first call of a reply has a thought signature. */
const partsOf = ({ content }: Wire.BrainReply, isModern: boolean): ReadonlyArray<Part> => {
  let isSigned = false
  return content.flatMap((part): ReadonlyArray<Part> => {
    switch (part.type) {
      case "text":
        return [{ whole: { text: part.text }, pieces: Parts.inPieces(part.text).map((text) => ({ text })) }]
      case "reasoning": {
        const pieces = Parts.inPieces(part.text).map((text) => ({ text, thought: true }))
        return [{ whole: { text: part.text, thought: true }, pieces }]
      }
      case "tool-call": {
        const signature = isModern && !isSigned ? { thoughtSignature: Parts.signatureOf(part.name) } : {}
        isSigned = true
        const whole = { functionCall: callOf(part, isModern), ...signature }
        return [{ whole, pieces: [whole] }]
      }
      case "provider-item":
        return []
    }
  })
}

const callOf = (call: Message.ToolCall, isModern: boolean) => ({
  ...(isModern ? { id: call.id } : {}),
  name: call.name,
  args: Parts.argumentsObject(call)
})

/** Gemini's finish reason of a reply. A reply with tool calls has `STOP` too. */
const reasonOf = (reply: Wire.BrainReply): string => {
  switch (Parts.finishOf(reply)) {
    case "stop":
    case "tool-calls":
    case "paused":
      return "STOP"
    case "length":
      return "MAX_TOKENS"
    case "filtered":
      return "SAFETY"
    case "other":
      return "OTHER"
  }
}

/** Token counts in Gemini's form. Its candidates' tokens exclude those of thoughts. */
const usageOf = (reply: Wire.BrainReply) => {
  const { cachedInputTokens, inputTokens, outputTokens, reasoningTokens } = Parts.usageOf(reply)
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: Math.max(0, outputTokens - reasoningTokens),
    totalTokenCount: inputTokens + outputTokens,
    ...(cachedInputTokens === 0 ? {} : { cachedContentTokenCount: cachedInputTokens }),
    ...(reasoningTokens === 0 ? {} : { thoughtsTokenCount: reasoningTokens })
  }
}

export const refuse = (failure: Wire.Failure): Answer => {
  const error = words(failure)
  return Parts.json({ error }, { status: error.code }, 2)
}

/** The last chunk of a stream that fails: it has an error and nothing else. */
export const breakOff = (failure: Wire.Failure): string => eventOf({ error: words(failure) })

const type = (name: string): string => `type.googleapis.com/google.rpc.${name}`

/** The error body of a failure. Its code is also the HTTP status. */
export const words = (failure: Wire.Failure) => {
  const wordsOf = (code: number, status: string, message: string, ...details: ReadonlyArray<object>) => ({
    code,
    message,
    status,
    ...(details.length === 0 ? {} : { details })
  })
  const exceeded = "You exceeded your current quota, please check your plan and billing details."
  const quota = (quotaId: string) => ({ "@type": type("QuotaFailure"), violations: [{ quotaId }] })
  switch (failure.type) {
    case "invalid-request":
      return wordsOf(400, "INVALID_ARGUMENT", failure.message)
    case "unauthorized":
      return failure.isKeyGiven
        ? wordsOf(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", {
            "@type": type("ErrorInfo"),
            reason: "API_KEY_INVALID",
            domain: "googleapis.com",
            metadata: { service: "generativelanguage.googleapis.com" }
          })
        : wordsOf(
            403,
            "PERMISSION_DENIED",
            "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."
          )
    case "unknown-model":
      return wordsOf(
        404,
        "NOT_FOUND",
        `models/${failure.model} is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.`
      )
    case "rate-limited": {
      const seconds = Parts.waitOf(failure) / 1000
      return wordsOf(
        429,
        "RESOURCE_EXHAUSTED",
        `${exceeded} Please retry in ${seconds}s.`,
        quota("GenerateRequestsPerMinutePerProjectPerModel"),
        // rounded down to whole seconds, as the real service does
        { "@type": type("RetryInfo"), retryDelay: `${Math.floor(seconds)}s` }
      )
    }
    case "quota-exhausted":
      return wordsOf(429, "RESOURCE_EXHAUSTED", exceeded, quota("GenerateRequestsPerDayPerProjectPerModel"))
    case "overloaded":
      return wordsOf(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
    case "server-error":
      return wordsOf(500, "INTERNAL", "An internal error has occurred. Please retry.")
  }
}
