/** providers: codecs. What they share is measured within them. */
import { Result, type Schema } from "effect"
import * as Message from "../../../packages/core/src/data/Message.ts"
import type * as Model from "../../../packages/core/src/model/Model.ts"
import * as ArgumentsObject from "../../../packages/providers/src/codec/ArgumentsObject.ts"
import type { Codec } from "../../../packages/providers/src/codec/Codec.ts"
import * as Anthropic from "../../../packages/providers/src/codec/anthropic/AnthropicMessages.ts"
import { unsendable } from "../../../packages/providers/src/codec/anthropic/blocks.ts"
import * as FailedGeneration from "../../../packages/providers/src/codec/failedGeneration.ts"
import * as Gemini from "../../../packages/providers/src/codec/gemini/GeminiContent.ts"
import { quoted } from "../../../packages/providers/src/codec/gemini/rejected.ts"
import * as Attached from "../../../packages/providers/src/codec/Attached.ts"
import { Lists } from "../../../packages/providers/src/codec/lists.ts"
import { factsOf } from "../../../packages/providers/src/codec/replyFacts.ts"
import { contextCut } from "../../../packages/providers/src/codec/ollama/contextCut.ts"
import * as Ollama from "../../../packages/providers/src/codec/ollama/OllamaChat.ts"
import * as Chat from "../../../packages/providers/src/codec/openai-chat/OpenAiChat.ts"
import { Details } from "../../../packages/providers/src/codec/openai-chat/reasoningDetails.ts"
import { ThinkTags } from "../../../packages/providers/src/codec/openai-chat/thinkTags.ts"
import { answerTo } from "../../../packages/providers/src/codec/openai-responses/answers.ts"
import { withoutIds } from "../../../packages/providers/src/codec/openai-responses/items.ts"
import * as Responses from "../../../packages/providers/src/codec/openai-responses/OpenAiResponses.ts"
import { ofMessage as plainItems } from "../../../packages/providers/src/codec/openai-responses/plainItems.ts"
import { digestOf, digestOfMessage, digestOfSpec } from "../../../packages/providers/src/codec/prefixDigest.ts"
import * as Provenance from "../../../packages/providers/src/codec/Provenance.ts"
import { adapted } from "../../../packages/providers/src/codec/gemini/schema.ts"
import { objectRoot, parametersRoot } from "../../../packages/providers/src/codec/rootSchema.ts"
import { strict } from "../../../packages/providers/src/codec/strictSchema.ts"
import * as Text from "../../../packages/providers/src/codec/text.ts"
import { unsigned } from "../../../packages/providers/src/codec/thoughts.ts"
import { answersPlainCalls } from "../../../packages/providers/src/codec/anthropic/request.ts"
import type { Format } from "../../../packages/providers/src/testing/wire/wire.ts"
import { wires } from "../../../packages/providers/src/testing/wire/AnyWire.ts"
import { answerOf, errorOf, inPieces, source } from "./answers.ts"
import { detailPieces, documents, many, replies, schemas, texts, usage, values } from "./data.ts"
import {
  each,
  effectOnly,
  fixed,
  grows,
  looksOnce,
  mapped,
  merged,
  none,
  reached,
  wraps,
  type Inputs,
  type Table
} from "./entry.ts"

/** Both sides of a format: what its server writes, and what reads it here. */
interface Side {
  readonly codec: Codec
  readonly inside: (from: typeof source, answer: ReturnType<typeof answerOf>, json: Schema.Json) => unknown
  readonly format: Format
}

/** A request whose transcript ends with a reply. */
const requestWith = (reply: Message.Reply): Model.Request => ({
  messages: [Message.user("hi"), Message.settle(reply, [])],
  tools: [],
  toolChoice: "auto"
})

const traced = Provenance.make(source, Anthropic.make(source))

const given = none("looks at the options that the developer gives, and at the roles of messages")

const path = "/v1beta/models/m-1:generateContent"
const received = { number: 1, method: "POST", path, headers: {}, text: "{}", body: {}, at: 0 }

const written = (format: Format, reply: Message.Reply, isStreamed: boolean): string => {
  const wire = wires.find((one) => one.format === format)
  const request = { format, model: "m-1", messages: [], tools: [], toolChoice: "auto", isStreamed, received } as const
  return String(wire?.render(request, reply).body ?? "")
}

type Events = ReadonlyArray<readonly [data: string, event?: string]>

/** What a transport hands to a decoder: the data of each event, or each line. */
const eventsIn = (body: string): Events =>
  body.startsWith("{")
    ? body.split("\n").flatMap((line) => (line === "" ? [] : [[line] as const]))
    : body.split(/\r?\n\r?\n/).flatMap((block) => {
        const [data, event] = [/^data: (.*)$/m.exec(block)?.[1], /^event: (.*)$/m.exec(block)?.[1]]
        return data === undefined ? [] : [event === undefined ? ([data] as const) : ([data, event] as const)]
      })

const decoded = (codec: Codec) => (events: Events) => {
  const decoder = codec.decoder(answerOf(""))
  for (const [data, event] of events) {
    if (decoder.state() === "done" || Result.isFailure(decoder.push(data, event))) break
  }
  return decoder.state() === "complete" ? decoder.end() : undefined
}

const look = { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } }

type Request = Parameters<Codec["encode"]>[0]

const requestOf = (messages: Message.Transcript, more: Partial<Request> = {}): Request => ({
  messages,
  tools: [look],
  toolChoice: "auto",
  ...more
})

const conversation = (text: string): Message.Transcript => {
  const call = { type: "tool-call", id: text, name: "look", arguments: text } as const
  const reply: Message.Reply = { content: [Message.text(text), call], finish: "stop", usage }
  return [
    Message.system(text),
    Message.user(text),
    { role: "user", content: [Message.file("text/plain", { data: text }, text)] },
    Message.settle(reply, [{ kind: "told", text }])
  ]
}

const entriesOf = ({ codec, format, inside }: Side) => ({
  make: merged({
    "a whole reply": grows(
      mapped(replies, (reply) => written(format, reply, false)),
      (body) => codec.decode(answerOf(body))
    ),
    "a streamed reply": grows(
      mapped(replies, (reply) => eventsIn(written(format, reply, true))),
      decoded(codec)
    ),
    "any body": grows({ ...texts, ...documents }, (text) => codec.decode(answerOf(text))),
    "any event": grows({ ...texts, ...documents }, (text) => decoded(codec)([[text], [text]])),
    "texts in a request": grows(texts, (text) => codec.encode(requestOf(conversation(text)), "whole")),
    "replies in a request": grows(replies, (reply) =>
      codec.encode(requestOf([Message.user("a"), Message.settle(reply, [])]), "streamed")
    ),
    "schemas in a request": grows(schemas, (schema) => {
      const tools = [{ ...look, parameters: schema }]
      const request = requestOf([Message.user("a")], { tools, output: { name: "answer", schema } })
      return codec.refuses?.(request) ?? codec.encode(request, "whole")
    }),
    "any body of an error": grows({ ...texts, ...documents }, (text) => codec.classify(answerOf(text, 400))),
    "an error": grows(texts, (text) => codec.classify(answerOf(errorOf(text), 429)))
  }),
  inside: merged({
    "any JSON": grows(values, (json) => inside(source, answerOf(""), json)),
    "an error": grows(texts, (text) => inside(source, answerOf(""), JSON.parse(errorOf(text))))
  })
})

/** Pieces of calls that name the call each time, and no index of it. */
const nameless: Inputs<Events> = Object.fromEntries(
  ["a", "}", '{"a":"', "{} "].map((piece) => [
    `pieces ${piece}`,
    (size: number) => {
      const fn = { name: "look", arguments: piece }
      const data = JSON.stringify({ choices: [{ delta: { tool_calls: [{ function: fn }] } }] })
      return many(size, data.length, () => [data] as const)
    }
  ])
)

const chat = () => {
  const entries = entriesOf({ ...Chat, codec: Chat.make(source), format: "openai-chat" })
  const calls = grows(nameless, decoded(Chat.make(source)))
  return { ...entries, make: merged({ all: entries.make, "calls without an index": calls }) }
}

const thoughts: Inputs<string> = {
  ...texts,
  "a thought without end": (size) => `<think>${"a".repeat(size)}`,
  "a thought of half ends": (size) => `<think>${"</think".repeat(size / 7)}`
}

const noInput = none("has no input at all, only data")

export const providersCodec: Table = {
  "providers/src/codec/ArgumentsObject.ts": { of: grows({ ...texts, ...values }, ArgumentsObject.of) },
  "providers/src/codec/Capabilities.ts": each(reached, "refusing"),
  "providers/src/codec/Continued.ts": each(fixed, "isContinued"),
  "providers/src/codec/Parameters.ts": each(fixed, "choiceOf", "isForced", "providesTools", "checked"),
  "providers/src/codec/Remembering.ts": each(effectOnly, "remembering"),
  "providers/src/codec/Family.ts": each(none("reads the name of a model, which the developer gives"), "familyOf"),
  "providers/src/codec/Provenance.ts": {
    make: grows(replies, (reply) => traced(requestWith(reply)).request)
  },
  "providers/src/codec/servedFamily.ts": each(fixed, "fallbacksIn", "isRouter", "servedFamily"),
  "providers/src/codec/thoughts.ts": {
    ...each(reached, "thoughtIn"),
    unsigned: grows(values, (data) => unsigned({ provider: "a", data }))
  },
  "providers/src/codec/prefixDigest.ts": {
    digestOf: grows(documents, (document) => digestOf([document])),
    digestOfMessage: grows(replies, (reply) => digestOfMessage(Message.settle(reply, []))),
    digestOfSpec: grows(schemas, (parameters) => digestOfSpec({ name: "look", description: "Looks.", parameters }))
  },
  "providers/src/codec/anthropic/AnthropicMessages.ts": {
    ...entriesOf({ ...Anthropic, codec: Anthropic.make(source), format: "anthropic-messages" }),
    ...each(looksOnce, "namesFile", "answersPlainCalls")
  },
  "providers/src/codec/anthropic/blocks.ts": {
    ...each(reached, "ofUser", "ofAssistant"),
    ...each(looksOnce, "takes", "namesFile"),
    unsendable: grows(texts, (data) => [
      unsendable({ type: "file", mediaType: "text/plain", data }),
      unsendable({ type: "file", mediaType: `application/${data}`, data: "" })
    ])
  },
  "providers/src/codec/anthropic/continuation.ts": each(fixed, "continuationOf"),
  "providers/src/codec/anthropic/error.ts": each(reached, "classify", "inside"),
  "providers/src/codec/callIds.ts": each(reached, "CallIds"),
  "providers/src/codec/anthropic/output.ts": each(reached, "schemaOf"),
  "providers/src/codec/anthropic/parameters.ts": each(fixed, "fieldsOf", "markOf"),
  "providers/src/codec/anthropic/reply.ts": {
    ...each(reached, "decode", "factsIn", "opening", "texts", "closing"),
    ...each(fixed, "finishOf")
  },
  "providers/src/codec/anthropic/request.ts": {
    ...each(reached, "make", "refusing"),
    answersPlainCalls: grows(replies, (reply) => answersPlainCalls("anthropic")(requestWith(reply)))
  },
  "providers/src/codec/anthropic/stream.ts": each(reached, "MessagesDecoder"),
  "providers/src/codec/anthropic/waiting.ts": { ...each(reached, "Unanswered"), ...each(fixed, "unansweredNames") },
  "providers/src/codec/anthropic/usage.ts": each(reached, "read", "toUsage"),
  "providers/src/codec/mergedUsage.ts": each(fixed, "merged"),
  "providers/src/codec/failedGeneration.ts": { read: grows({ ...texts, ...documents }, FailedGeneration.read) },
  "providers/src/codec/filterResults.ts": each(reached, "ofError", "ofReply", "ofResponse", "FilterResults"),
  "providers/src/codec/gemini/GeminiContent.ts": entriesOf({
    ...Gemini,
    codec: Gemini.make(source),
    format: "gemini-content"
  }),
  "providers/src/codec/gemini/error.ts": each(reached, "classify", "inside"),
  "providers/src/codec/gemini/rejected.ts": {
    ...each(reached, "made"),
    quoted: grows(texts, (text) => [quoted(text), quoted(`default_api.look(${text}`), quoted(`default_api.${text}`)])
  },
  "providers/src/codec/gemini/reply.ts": { ...each(reached, "PartReader"), ...each(fixed, "finishOf") },
  "providers/src/codec/gemini/request.ts": { ...each(reached, "make"), ...each(fixed, "takesOf") },
  "providers/src/codec/gemini/stream.ts": each(reached, "decode", "ContentDecoder"),
  "providers/src/codec/gemini/usage.ts": each(reached, "usageOf"),
  "providers/src/codec/Attached.ts": {
    givenBy: grows(texts, (text) => [
      Attached.givenBy({ type: "image", mediaType: "image/png", url: text }),
      Attached.givenBy({ type: "image", mediaType: "image/png", url: `data:${text}` })
    ]),
    addressOf: grows(texts, (text) => Attached.addressOf({ type: "image", mediaType: text, url: text })),
    audioFormat: grows(texts, (text) => [
      Attached.audioFormat({ type: "file", mediaType: text, data: "" }),
      Attached.audioFormat({ type: "file", mediaType: `audio/${text}`, data: "" })
    ])
  },
  "providers/src/codec/lists.ts": {
    Lists: grows(texts, (text) => {
      const lists = new Lists()
      inPieces(text, 16, (piece) => lists.push({ [piece]: [piece], content: [piece] }))
      return lists.all
    })
  },
  "providers/src/codec/replyFacts.ts": {
    factsOf: grows(texts, (text) =>
      factsOf(answerOf(text), { model: text, responseId: text, rawFinish: text, serviceTier: text })
    )
  },
  "providers/src/codec/ollama/OllamaChat.ts": entriesOf({
    ...Ollama,
    codec: Ollama.make(source),
    format: "ollama-chat"
  }),
  "providers/src/codec/ollama/error.ts": each(reached, "classify", "inside"),
  "providers/src/codec/ollama/reply.ts": { ...each(reached, "Calls", "usageOf"), ...each(fixed, "finishOf") },
  "providers/src/codec/ollama/contextCut.ts": {
    contextCut: grows(replies, (reply) =>
      contextCut(
        source,
        { numCtx: 4096, contextWindow: undefined, truncate: false, request: requestWith(reply) },
        { ...usage, inputTokens: 2050, outputTokens: 1 }
      )
    )
  },
  "providers/src/codec/ollama/request.ts": each(reached, "make"),
  "providers/src/codec/ollama/stream.ts": each(reached, "decode", "ChatDecoder"),
  "providers/src/codec/openAiCalls.ts": each(reached, "Ids", "callOf"),
  "providers/src/codec/openAiError.ts": each(reached, "classify", "failure"),
  "providers/src/codec/openai-chat/OpenAiChat.ts": chat(),
  "providers/src/codec/openai-chat/calls.ts": each(reached, "piecesOf", "foreignIn", "ofMessage", "Calls"),
  "providers/src/codec/openai-chat/dialect.ts": each(fixed, "full"),
  "providers/src/codec/openai-chat/error.ts": each(reached, "inside", "refusalOf", "reported", "ended", "firstChoice"),
  "providers/src/codec/openai-chat/messages.ts": { ...each(reached, "make"), ...each(fixed, "takesOf") },
  "providers/src/codec/openai-chat/reasoningDetails.ts": {
    Details: grows(detailPieces, (pieces) => {
      const joined = new Details()
      for (const piece of pieces) joined.push(piece)
      return joined.all
    }),
    ...each(reached, "of", "textOf")
  },
  "providers/src/codec/openai-chat/reply.ts": {
    ...each(reached, "decode", "endOf", "reasoning", "detailsOf", "sourcesOf", "contentText", "factsIn")
  },
  "providers/src/codec/openai-chat/remarks.ts": each(reached, "Remarks"),
  "providers/src/codec/openai-chat/request.ts": {
    ...each(reached, "make", "refusing"),
    ...each(fixed, "continuationOf")
  },
  "providers/src/codec/openai-chat/stream.ts": each(reached, "ChatDecoder"),
  "providers/src/codec/openai-chat/thinkTags.ts": {
    ThinkTags: grows(thoughts, (text) => {
      const tags = new ThinkTags()
      inPieces(text, 16, (piece) => tags.push(piece))
      return tags.end()
    })
  },
  "providers/src/codec/openai-responses/OpenAiResponses.ts": entriesOf({
    ...Responses,
    codec: Responses.make(source),
    format: "openai-responses"
  }),
  "providers/src/codec/openai-responses/answers.ts": {
    ...each(looksOnce, "itemOf", "withoutId"),
    answerTo: grows({ ...texts, ...documents }, (text) =>
      ["shell_call", "custom_tool_call", "computer_call", "mcp_approval_request"].map((type) =>
        answerTo({ type, arguments: text }, "c1", { kind: "result", text }, () => false)
      )
    )
  },
  "providers/src/codec/JobItem.ts": { ...each(wraps, "make"), ...each(looksOnce, "is") },
  "providers/src/codec/openai-responses/least.ts": each(none("keeps places of items, which are numbers"), "Least"),
  "providers/src/codec/openai-responses/jobs.ts": {
    ...each(reached, "jobIn"),
    ...each(looksOnce, "endOf", "make"),
    ...each(wraps, "over")
  },
  "providers/src/codec/openai-responses/waiting.ts": each(
    reached,
    "waitingIn",
    "isProviderCall",
    "isCall",
    "isCut",
    "hasText"
  ),
  "providers/src/codec/openai-responses/error.ts": each(reached, "inside", "refused"),
  "providers/src/codec/openai-responses/items.ts": {
    ...each(reached, "ofAssistant", "idsIn", "callIds", "answersTo"),
    ...each(looksOnce, "takes"),
    ...each(wraps, "ofPart"),
    withoutIds: grows(replies, (reply) => {
      const message = Message.settle(reply, [])
      return withoutIds(message, message, source.provider)
    })
  },
  "providers/src/codec/openai-chat/usage.ts": { ...each(reached, "usageOf"), ...each(fixed, "costOf") },
  "providers/src/codec/openai-responses/plainItems.ts": {
    ofMessage: grows(replies, (reply) => plainItems(Message.settle(reply, []), source.provider, []))
  },
  "providers/src/codec/openai-responses/reply.ts": {
    ...each(reached, "decode", "endOf", "contentOf"),
    ...each(wraps, "closed")
  },
  "providers/src/codec/openai-responses/request.ts": each(reached, "make"),
  "providers/src/codec/openai-responses/stream.ts": each(reached, "ResponsesDecoder"),
  "providers/src/codec/openai-responses/usage.ts": { ...each(reached, "usageOf"), ...each(fixed, "costOf") },
  "providers/src/codec/outputWords.ts": each(reached, "make"),
  "providers/src/codec/gemini/schema.ts": { adapted: grows(schemas, adapted) },
  "providers/src/codec/Fitting.ts": each(none("sees the options that the developer gives"), "fitting"),
  "providers/src/codec/contradicting.ts": each(none("sees the first 1,000 UTF-16 units of an error"), "contradicted"),
  "providers/src/codec/ModelFamilies.ts": each(
    noInput,
    "claude",
    "openAi",
    "openAiResponses",
    "gemini",
    "kimi",
    "deepSeek",
    "perplexity",
    "none"
  ),
  "providers/src/codec/familyClaims.ts": {
    ...each(noInput, "family", "ended", "by", "byBudget"),
    ...each(none("sees the name of a model, which the developer gives"), "find")
  },
  "providers/src/codec/cacheMarks.ts": each(given, "isMarked", "isRetention", "cacheFields", "lastInstruction"),
  "providers/src/codec/adapting.ts": each(given, "adapted", "isOff"),
  "providers/src/codec/Extra.ts": each(given, "perRequest", "merged", "unless"),
  "providers/src/codec/resultParts.ts": each(looksOnce, "shownParts", "isPlainImage", "isPdf", "isTextFile"),
  "providers/src/codec/rootSchema.ts": {
    objectRoot: grows(schemas, objectRoot),
    parametersRoot: grows(schemas, parametersRoot),
    ...each(reached, "definition")
  },
  "providers/src/codec/strictSchema.ts": { strict: grows(schemas, (schema) => strict(schema, { optional: true })) },
  "providers/src/codec/text.ts": {
    argumentsText: grows(values, Text.argumentsText),
    settlementText: grows(texts, (text) => Text.settlementText({ kind: "told", text })),
    formatName: grows(texts, Text.formatName)
  },
  "providers/src/codec/tokenCount.ts": each(looksOnce, "tokenCount"),
  "providers/src/codec/xaiCost.ts": each(looksOnce, "dollarsOf")
}
