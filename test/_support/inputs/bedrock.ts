/** providers: the codec of Bedrock, and its frames. */
import { EventStreamCodec } from "@smithy/eventstream-codec"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import { Effect, Stream } from "effect"
import * as Bedrock from "../../../packages/providers/src/codec/bedrock/BedrockConverse.ts"
import * as Frames from "../../../packages/providers/src/transport/Frames.ts"
import { answerOf, inPieces, source } from "./answers.ts"
import { documents, texts } from "./data.ts"
import { each, fixed, grows, mapped, merged, none, reached, type Table } from "./entry.ts"

const codec = Bedrock.make({ ...source, model: "anthropic.claude-sonnet-4-6" })

const bodyOf = (text: string): string => {
  const content = [
    { reasoningContent: { reasoningText: { text, signature: text } } },
    { citationsContent: { content: [{ text }], citations: [text] } },
    { toolUse: { toolUseId: text, name: text, input: { text } } }
  ]
  return JSON.stringify({ output: { message: { content } }, stopReason: "tool_use", usage: { inputTokens: 1 } })
}

const eventsOf = (text: string): ReadonlyArray<string> => {
  const deltas: Array<object> = []
  inPieces(text, 16, (piece) => {
    deltas.push({ reasoningContent: { text: piece, signature: piece } }, { text: piece }, { toolUse: { input: piece } })
  })
  return [
    { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: text, name: text } } } },
    ...deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex: 0, delta } })),
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason: "tool_use" } },
    { metadata: { usage: { inputTokens: 1 } } }
  ].map((event) => JSON.stringify(event))
}

const decoded = (events: ReadonlyArray<string>) => {
  const decoder = codec.decoder(answerOf(""))
  for (const event of events) decoder.push(event)
  return decoder.end()
}

const requestOf = (text: string): Model.Request => {
  const call = { type: "tool-call", id: text, name: "look", arguments: text } as const
  const content = [{ type: "settled-call", call, settlement: { kind: "told", text } }] as const
  const file = Message.file("text/plain", { data: text }, text)
  return {
    messages: [Message.system(text), Message.user([file, file]), { role: "assistant", content }],
    tools: [],
    toolChoice: "auto"
  }
}

const asked = (text: string) => {
  const request = requestOf(text)
  return codec.refuses?.(request) ?? codec.encode(request, "whole")
}

const utf8 = new EventStreamCodec(
  (input) => (typeof input === "string" ? input : new TextDecoder().decode(input)),
  (input) => new TextEncoder().encode(input)
)

/** The text as messages of 64 characters, which come in pieces of 7 bytes. */
const framesOf = (text: string): ReadonlyArray<Uint8Array> => {
  const messages: Array<Uint8Array> = []
  inPieces(text, 64, (piece) => messages.push(utf8.encode({ headers: {}, body: new TextEncoder().encode(piece) })))
  const all = Buffer.concat(messages)
  return Array.from({ length: Math.ceil(all.length / 7) }, (_, at) => all.subarray(at * 7, (at + 1) * 7))
}

const failure = () => ({ error: codec.classify(answerOf("", 500)), resend: false })

const read = (chunks: ReadonlyArray<Uint8Array>) =>
  Effect.runPromiseExit(
    Stream.runDrain(
      Frames.framing((message) => new TextDecoder().decode(utf8.decode(message).body))(
        "application/vnd.amazon.eventstream",
        Stream.fromIterable(chunks),
        {
          maxEventBytes: 1 << 24,
          broken: failure,
          oversized: failure
        }
      )
    )
  )

export const bedrock: Table = {
  "providers/src/codec/bedrock/BedrockConverse.ts": {
    make: merged({
      "a whole reply": grows(mapped(texts, bodyOf), (body) => codec.decode(answerOf(body))),
      "a streamed reply": grows(mapped(texts, eventsOf), decoded),
      "any body": grows({ ...texts, ...documents }, (text) => codec.decode(answerOf(text))),
      "any event": grows({ ...texts, ...documents }, (text) => decoded([text, text])),
      "texts in a request": grows(texts, asked),
      "any body of an error": grows({ ...texts, ...documents }, (text) => codec.classify(answerOf(text, 400))),
      "the name of an error": grows(texts, (type) => codec.classify(answerOf("{}", 400, { "x-amzn-errortype": type })))
    })
  },
  "providers/src/codec/bedrock/blocks.ts": {
    ...each(reached, "ofUser", "ofAssistant", "Names", "unsendable", "isBlank"),
    ...each(fixed, "takesOf")
  },
  "providers/src/codec/bedrock/error.ts": each(reached, "classify", "inside"),
  "providers/src/codec/bedrock/reply.ts": {
    ...each(reached, "decode", "factsIn", "usageOf", "texts", "closing"),
    ...each(fixed, "finishOf")
  },
  "providers/src/codec/bedrock/request.ts": each(reached, "make", "refusing"),
  "providers/src/codec/bedrock/stream.ts": each(reached, "ConverseDecoder"),
  "providers/src/codec/bedrock/vendor.ts": {
    ...each(none("reads the name of a model, which the developer gives"), "vendorOf"),
    ...each(fixed, "reasoningFields")
  },
  "providers/src/transport/Frames.ts": { framing: grows(mapped(texts, framesOf), read) }
}
