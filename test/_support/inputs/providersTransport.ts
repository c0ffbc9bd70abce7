/** providers: transport and classify. */
import { Message, type Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Effect, Layer, Redacted, Result, Stream } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Classify from "../../../packages/providers/src/classify/Classify.ts"
import * as ErrorText from "../../../packages/providers/src/classify/text.ts"
import * as Codes from "../../../packages/providers/src/codec/openAiErrorCodes.ts"
import type { Answer } from "../../../packages/providers/src/transport/Answer.ts"
import * as Credential from "../../../packages/providers/src/transport/Credential.ts"
import * as Hints from "../../../packages/providers/src/transport/Hints.ts"
import * as Json from "../../../packages/providers/src/transport/Json.ts"
import * as Source from "../../../packages/providers/src/transport/Source.ts"
import * as Transport from "../../../packages/providers/src/transport/Transport.ts"
import { Events } from "../../../packages/providers/src/transport/events.ts"
import * as Fault from "../../../packages/providers/src/transport/fault.ts"
import { Lines } from "../../../packages/providers/src/transport/lines.ts"
import { Saying } from "../../../packages/providers/src/transport/saying.ts"
import { answerOf, cut, inPieces, source } from "./answers.ts"
import { deepValues, documents, texts, values } from "./data.ts"
import {
  each,
  effectOnly,
  fixed,
  grows,
  type Inputs,
  looksOnce,
  mapped,
  merged,
  none,
  reached,
  type Table
} from "./entry.ts"

const clientOf = (text: string, length: number, status: number, type: string) =>
  Layer.provide(
    FetchHttpClient.layer,
    Layer.succeed(FetchHttpClient.Fetch, () =>
      Promise.resolve(new Response(cut(text, length), { status, headers: { "content-type": type } }))
    )
  )

const endpoint = {
  source,
  url: "http://model.test/v1/chat",
  headers: { authorization: Redacted.make("Bearer sk-Zx9Zx9Zx9Zx9Zx9") },
  classify: (answer: Answer) => Classify.undecodable(source, answer, undefined)
}

const transport = Transport.make(endpoint, { retry: false })

/** Through a client whose server sends the text in pieces of so many bytes. */
const whole = (length: number, status: number) => (text: string) =>
  Effect.runPromiseExit(
    Effect.flatMap(transport, ({ post }) =>
      post("{}", ({ body }) => Result.succeed(ScriptedModel.reply({ content: [Message.text(`${body.length}`)] })))
    ).pipe(Effect.provide(clientOf(text, length, status, "application/json")))
  )

const textOf = (size: number): Model.Part => ({ type: "text-delta", text: `${size}` })

const decoder = (framing: "sse" | "ndjson") => () => {
  let size = 0
  return {
    framing,
    push: (data: string) => {
      size += data.length
      return Result.succeed(size % 7 === 0 ? [textOf(size)] : [])
    },
    end: () => Result.succeed([textOf(size)]),
    state: () => "complete" as const
  }
}

const streamed = (length: number, framing: "sse" | "ndjson") => (text: string) => {
  const type = framing === "sse" ? "text/event-stream" : "application/x-ndjson"
  const reading = Effect.flatMap(transport, ({ stream }) =>
    Stream.runDrain(stream("{}", decoder(framing), () => Result.succeed([])))
  )
  return Effect.runPromiseExit(Effect.provide(reading, clientOf(text, length, 200, type)))
}

const bodies: Inputs<string> = {
  ...texts,
  ...documents,
  "an event of many lines": (size) => `data: ${"a\ndata: ".repeat(size / 8)}`,
  "an event in a list": (size) => `data: ${JSON.stringify(Array.from({ length: size / 4 }, () => 1))}\n\n`,
  "many comments": (size) => ": ping\n\n".repeat(size / 8),
  "JSON between events": (size) => 'data: {}\n\n{"a":1}\n\n'.repeat(size / 20),
  "lines of JSON": (size) => '{"a":1}\n'.repeat(size / 8),
  "JSON over many lines": (size) => `{\n${'"a":\n1,\n'.repeat(size / 9)}"b":1}`
}

const headersOf = (text: string) => ({
  "retry-after": text,
  "retry-after-ms": text,
  date: text,
  "x-ratelimit-remaining-requests": "0",
  "x-ratelimit-reset-requests": text,
  ratelimit: text,
  "x-request-id": text,
  "x-should-retry": text
})

const answers: Inputs<Answer> = {
  ...mapped(texts, (text) => answerOf("", 429, headersOf(text))),
  "many limits": (size) => {
    const names = Array.from({ length: size / 40 }, (_, n) => `x-ratelimit-remaining-a${n}`)
    return answerOf("", 429, Object.fromEntries(names.map((name) => [name, "1"])))
  },
  "a long name of a limit": (size) => answerOf("", 429, { [`x-ratelimit-${"a-".repeat(size / 2)}remaining`]: "1" }),
  "a name of names of limits": (size) => answerOf("", 429, { [`${"rate-limit-".repeat(size / 11)}remaining`]: "1" })
}

const attempt = { source, url: new URL("http://model.test:8080/v1"), method: "POST", elapsed: Duration.seconds(1) }

const causes: Inputs<unknown> = {
  ...mapped(texts, (text) => Object.assign(new Error(text, { cause: new Error("beneath") }), { code: text })),
  "many members": (size) =>
    new AggregateError(
      Array.from({ length: size / 20 }, (_, n) => new Error(`a${n}`)),
      "all"
    )
}

const reportOf = (text: string) => ({ codes: [text], text, param: text })

/** No more of foreign words is looked at when they are quoted. */
const quoted = 5096

/** No more of a provider's sentence is looked at. */
const longest = 4000

export const providersTransport: Table = {
  "providers/src/transport/Answer.ts": { ...each(fixed, "isSuccess"), ...each(looksOnce, "requestId") },
  "providers/src/transport/Credential.ts": {
    isNameOf: grows(texts, Credential.isNameOf),
    inWords: grows(texts, Credential.inWords)
  },
  "providers/src/transport/Failure.ts": each(effectOnly, "onlyFailure"),
  "providers/src/transport/Hints.ts": {
    of: merged({
      headers: grows(answers, (answer) => Hints.of(answer)),
      text: grows(texts, (text) => Hints.of(answerOf("", 429), text))
    }),
    ...each(looksOnce, "forbidsResend"),
    remaining: grows(answers, Hints.remaining),
    left: grows(answers, Hints.left),
    fromProtobuf: grows(texts, Hints.fromProtobuf)
  },
  "providers/src/transport/Json.ts": {
    parse: grows({ ...texts, ...documents }, Json.parse),
    fields: grows({ ...values, ...deepValues }, Json.fields),
    ...each(looksOnce, "field", "text", "object", "items", "count")
  },
  "providers/src/transport/Source.ts": {
    quote: grows(texts, Source.quote, quoted),
    scrubCause: grows(causes, Source.scrubCause)
  },
  "providers/src/transport/Transport.ts": {
    make: merged({
      "whole, in large pieces": grows(bodies, whole(16 * 1024, 200)),
      "whole, in small pieces": grows(bodies, whole(64, 200)),
      refused: grows(bodies, whole(16 * 1024, 400)),
      "events, in large pieces": grows(bodies, streamed(16 * 1024, "sse")),
      "events, in small pieces": grows(bodies, streamed(64, "sse")),
      "lines, in large pieces": grows(bodies, streamed(16 * 1024, "ndjson")),
      "lines, in small pieces": grows(bodies, streamed(64, "ndjson"))
    }),
    ...each(fixed, "explain")
  },
  "providers/src/transport/clients.ts": each(
    none("takes a client and options of the developer"),
    "layerUndici",
    "undiciLayer",
    "watched",
    "waiting"
  ),
  "providers/src/transport/body.ts": each(reached, "bytes", "text"),
  "providers/src/transport/events.ts": {
    Events: grows(bodies, (text) => {
      const events = new Events({ event: () => undefined, bare: () => undefined })
      const lines = new Lines((line) => events.line(line), "any")
      inPieces(text, 64, (piece) => lines.feed(piece))
      return events.end(lines.rest())
    })
  },
  "providers/src/transport/fault.ts": {
    fromCause: grows(causes, (cause) => Fault.fromCause(cause, attempt)),
    ...each(fixed, "timedOut", "silent", "incomplete", "portOf")
  },
  "providers/src/transport/hold.ts": each(none("runs requests, and reads no text"), "sending", "holding"),
  "providers/src/transport/limited.ts": each(
    none("hands the headers that Hints reads to the limiter; none of them is read otherwise"),
    "limited"
  ),
  "providers/src/transport/lines.ts": {
    Lines: grows(bodies, (text) => {
      const lines = new Lines(() => undefined)
      inPieces(text, 64, (piece) => lines.feed(piece))
      return lines.rest()
    })
  },
  "providers/src/transport/pieces.ts": each(reached, "Pieces"),
  "providers/src/transport/saying.ts": { Saying: grows(bodies, (text) => new Saying().isNew(text)) },
  "providers/src/transport/mayResend.ts": each(effectOnly, "mayResend"),
  "providers/src/transport/send.ts": {
    ...each(none("takes an address and headers of the developer"), "target", "accepting"),
    ...each(reached, "exchange")
  },
  "providers/src/transport/settings.ts": each(fixed, "make"),
  "providers/src/transport/Size.ts": each(reached, "ofText", "ofJson", "ofPart", "ofParts", "ofReply"),
  "providers/src/transport/spent.ts": each(none("adds counts that a codec has read"), "Spent"),
  "providers/src/transport/span.ts": each(reached, "spanning"),
  "providers/src/transport/stream.ts": {
    ...each(reached, "parts", "first", "bare", "inChild"),
    ...each(none("takes a reply that a row of the developer gave"), "given")
  }
}

export const providersClassify: Table = {
  "providers/src/classify/Build.ts": each(reached, "build"),
  "providers/src/classify/Classify.ts": {
    failure: grows(texts, (text) => {
      const report = { ...reportOf(text), tool: text, rawArgs: text }
      return Classify.failure(source, answerOf(text, 400, headersOf(text)), report, Codes.codes)
    }),
    undecodable: grows(texts, (text) => Classify.undecodable(source, answerOf(text), new SyntaxError(text))),
    unanswerable: grows(texts, (text) => Classify.unanswerable(source, answerOf(text), text, undefined)),
    ...each(reached, "tagOf"),
    ...each(fixed, "fromStatus")
  },
  "providers/src/classify/ErrorBody.ts": each(reached, "classify", "inside", "plain", "errorOf", "reportOf"),
  "providers/src/classify/details.ts": each(reached, "read"),
  "providers/src/classify/text.ts": {
    tagOf: grows(texts, ErrorText.tagOf, longest),
    asksForLess: grows(texts, ErrorText.asksForLess, longest),
    refine: grows(
      texts,
      (text) => [
        ErrorText.refine("RateLimitError", reportOf(text)),
        ErrorText.refine("CapabilityMismatchError", reportOf(text))
      ],
      longest
    ),
    sizes: grows(texts, ErrorText.sizes, longest),
    capabilityOf: grows(
      texts,
      (text) => [ErrorText.capabilityOf({ codes: [], text }), ErrorText.capabilityOf(reportOf(text))],
      longest
    )
  }
}
