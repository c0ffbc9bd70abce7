/** Properties of the codecs of providers, for any answer of a server. */
import * as assert from "node:assert/strict"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Redaction from "@kintsugi/core/Redaction"
import { Transport } from "@kintsugi/providers"
import type * as Answer from "../../../packages/providers/src/transport/Answer.ts"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import * as Hints from "../../../packages/providers/src/transport/Hints.ts"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import type * as Provider from "@kintsugi/providers/Provider"
import { Cause, Duration, Effect, Exit, Pull, Redacted, Result, Schema, Stream } from "effect"
import type { Failure } from "../../../packages/providers/src/transport/Failure.ts"
import * as Size from "../../../packages/providers/src/transport/Size.ts"
import { type Api, at } from "../../../test/_support/wireFixtures.ts"

/** Among the words that inputs are made of, so that servers repeat it. */
export const secret = "sk-planted-9f3Kc7Qw2mXv5TzR"

const source: Provider.Source = { provider: "p", model: "m", secrets: [Redacted.make(secret)] }

// as the transport of a provider does: these codecs have none
for (const one of source.secrets) Redaction.know(one)

/** Everything that a dialect can change about reading. */
const dialect: OpenAiChat.Dialect = {
  thinkTags: true,
  lastEvent: "chat.completion.done",
  sources: ["citations", "search_results"]
}

/** The same for an agent whose tools answer calls that the provider declares. */
const answering = (codec: Provider.Codec): Provider.Codec => ({
  ...codec,
  decode: (answer) => codec.decode(answer, request),
  decoder: (answer) => codec.decoder(answer, request)
})

const request: Model.Request = {
  messages: [],
  tools: [],
  toolChoice: "auto",
  providerCalls: ["computer_call", "shell_call", "custom_tool_call", "mcp_approval_request", "bash"]
}

export const codecs: Readonly<Record<Api, ReadonlyArray<Provider.Codec>>> = {
  anthropic: [AnthropicMessages.make(source)],
  "openai-chat": [OpenAiChat.make(source), OpenAiChat.make(source, {}, dialect)],
  "openai-responses": [OpenAiResponses.make(source), answering(OpenAiResponses.make(source))],
  gemini: [GeminiContent.make(source)],
  ollama: [OllamaChat.make(source), OllamaChat.make(source, { numCtx: 2050 })]
}

const answerOf = (status: number, body: string, headers: Answer.Answer["headers"] = {}): Answer.Answer => ({
  status,
  headers,
  body,
  at,
  elapsed: Duration.seconds(1)
})

const isReply = Schema.is(Message.Reply)
const errorCodec = Schema.toCodecJson(LlmError.LlmError)
const written = (error: LlmError.LlmError): string => JSON.stringify(Schema.encodeSync(errorCodec)(error))

/** One error of ours, which is written and read without a loss, and repeats no secret. */
const checkError = (error: unknown): void => {
  assert.ok(LlmError.isLlmError(error), `no error of ours: ${String(error)}`)
  const text = written(error)
  assert.equal(written(Schema.decodeUnknownSync(errorCodec)(JSON.parse(text))), text)
  assert.ok(!`${text} ${error.message} ${error.stack}`.includes(secret), "a secret is repeated")
  if (error.retryAfter !== undefined) checkWait(error.retryAfter)
}

export const checkWait = (wait: Duration.Duration): void => {
  const millis = Duration.toMillis(wait)
  assert.ok(Number.isFinite(millis) && millis >= 0, `a wait of ${millis}`)
}

/** A reply that its schema takes, and that can be sent back. */
const checkReply = (codec: Provider.Codec, reply: Message.Reply): void => {
  assert.ok(isReply(reply), "no reply")
  const messages = [Message.user("hi"), Message.settle(reply, []), Message.user("and?")]
  const request = { messages, tools: [], toolChoice: "auto" as const }
  if (codec.refuses?.(request) !== undefined) return
  const whole = codec.encode(request, "whole")
  assert.equal(codec.encode(request, "whole"), whole)
  JSON.parse(whole)
}

/** Any conversation is refused by a typed error, or sent as JSON, in every format. */
export const checkSending = (messages: Message.Transcript): void => {
  const request = { messages, tools: [], toolChoice: "auto" as const }
  for (const codec of Object.values(codecs).flat()) {
    const error = codec.refuses?.(request)
    if (error === undefined) JSON.parse(codec.encode(request, "streamed"))
    else checkError(error)
  }
}

export const checkWhole = (codec: Provider.Codec, body: string): void => {
  const read = codec.decode(answerOf(200, body))
  if (Result.isFailure(read)) checkError(read.failure)
  else checkReply(codec, read.success)
}

// --- streams

/** All parts up to the end, and how that came. */
interface Read {
  readonly parts: ReadonlyArray<Model.Part>
  readonly failure: string | undefined
}

const wide = { maxReplyBytes: 1_000_000, maxEventBytes: 1_000_000, maxBodyBytes: 1_000_000 }

/** Most answers reach one of these. */
const narrow = { maxReplyBytes: 60, maxEventBytes: 250, maxBodyBytes: 1000 }

/** Read as the transport reads it: bytes to text, text to events or lines, these to parts. */
const streamed = (codec: Provider.Codec, chunks: ReadonlyArray<Uint8Array>, limits = wide): Read => {
  const answer = answerOf(200, "")
  const failed = (error: LlmError.LlmError): Failure => ({ error, resend: false })
  const exchange = {
    answer,
    bytes: Stream.fromIterable(chunks),
    text: Effect.never,
    failed,
    truncated: () => failed(LlmError.UnknownLlmError.make({ model: "m", cause: "cut off" })),
    oversized: () => failed(LlmError.UnknownLlmError.make({ model: "m", cause: "too long" }))
  }
  const parts: Array<Model.Part> = []
  const reading = Effect.gen(function* () {
    const pull = yield* Transport.parts(exchange, codec.decoder(answer), {
      limits,
      sizeOf: Size.ofPart,
      hasShown: () => false,
      whole: (body) => Result.map(codec.decode({ ...answer, body }), Model.partsOf),
      silence: { firstPart: Duration.infinity, betweenParts: Duration.infinity },
      silent: () => failed(LlmError.UnknownLlmError.make({ model: "m", cause: "silent" }))
    })
    while (true) parts.push(...(yield* pull))
  })
  const exit = Effect.runSyncExit(Effect.scoped(Pull.catchDone(reading, () => Effect.void)))
  if (Exit.isSuccess(exit)) return { parts, failure: undefined }
  const failure = exit.cause.reasons.length === 1 ? exit.cause.reasons[0] : undefined
  if (failure === undefined || !Cause.isFailReason(failure)) throw Cause.squash(exit.cause)
  const { error } = failure.error
  checkError(error)
  return { parts, failure: written(error) }
}

/** Pieces that end where the text itself says: the same for the same text. */
const cut = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  let state = bytes.length
  for (let from = 0; from < bytes.length;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345 + (bytes[from] ?? 0)) >>> 0
    const size = 1 + ((state >>> 16) % (state % 3 === 0 ? 3 : 90))
    chunks.push(bytes.subarray(from, from + size))
    from += size
  }
  return chunks
}

export const checkStream = (codec: Provider.Codec, body: string): void => {
  const bytes = new TextEncoder().encode(body)
  const whole = streamed(codec, [bytes])
  // parts are JSON
  assert.equal(JSON.stringify(streamed(codec, cut(bytes))), JSON.stringify(whole))
  // a limit is reached at the same place
  assert.equal(JSON.stringify(streamed(codec, cut(bytes), narrow)), JSON.stringify(streamed(codec, [bytes], narrow)))
  if (whole.failure !== undefined) return
  const collector = new Model.Collector()
  for (const part of whole.parts) collector.push(part)
  const reply = collector.reply()
  if (reply !== undefined) checkReply(codec, reply)
}

// --- errors

/** A refusal: which format, the status, the headers and the body. */
export const checkRefusal = (
  codec: Provider.Codec,
  status: number,
  headers: Answer.Answer["headers"],
  body: string
): void => {
  const answer = answerOf(status, body, headers)
  const error = codec.classify(answer)
  checkError(error)
  assert.equal(written(codec.classify(answer)), written(error))
}

export const checkHints = (status: number, headers: Answer.Answer["headers"], text: string): void => {
  const answer = answerOf(status, "", headers)
  const wait = Hints.of(answer, text)
  if (wait !== undefined) checkWait(wait)
  const remaining = Hints.remaining(answer)
  assert.ok(remaining === undefined || (Number.isFinite(remaining) && remaining >= 0), `${remaining} left`)
  for (const { remaining, resetAfter } of Hints.left(answer)) {
    assert.ok(Number.isFinite(remaining) && remaining >= 0, `${remaining} left`)
    if (resetAfter !== undefined) checkWait(resetAfter)
  }
  Hints.forbidsResend(answer)
  const data = Hints.fromProtobuf(text)
  if (data !== undefined) checkWait(data)
}
