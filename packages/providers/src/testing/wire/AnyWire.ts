/**
 * One server that speaks every wire format. The formats are Anthropic's Messages, OpenAI's chat completions and Responses, Gemini's content
 * and Interactions, and Ollama's chat. The path of a request selects the format.
 */
import * as Effect from "effect/Effect"
import type { Fault } from "../Fault.ts"
import type { Handler, Received } from "../handling.ts"
import * as Split from "../split.ts"
import * as AnthropicMessages from "./anthropicMessages.ts"
import * as GeminiContent from "./geminiContent.ts"
import * as GeminiInteractions from "./geminiInteractions.ts"
import * as OllamaChat from "./ollamaChat.ts"
import * as OpenAiChat from "./openAiChat.ts"
import * as OpenAiResponses from "./openAiResponses.ts"
import * as Parts from "./parts.ts"
import * as Serving from "./serving.ts"
import type * as Wire from "./wire.ts"

export type { Brain } from "./wire.ts"

/**
 * The formats that models of this package use.
 *
 * @internal
 */
export const wires: ReadonlyArray<Wire.Wire<Wire.ClientFormat>> = [
  AnthropicMessages.wire,
  OpenAiChat.wire,
  OpenAiResponses.wire,
  GeminiContent.wire,
  OllamaChat.wire
]

const all: ReadonlyArray<Wire.Wire> = [...wires, GeminiInteractions.wire]

/**
 * Finds the format of a request by its path; `undefined` for an unknown path.
 *
 * @internal
 */
export const of = (received: Received): Wire.Wire | undefined => all.find((wire) => wire.serves(Parts.pathOf(received)))

/**
 * A handler that lets one brain answer in every format. It refuses the requests that the real service of the format
 * refuses, with its status and its words. `rules` restrict the API key and the models. An unknown path is a 404.
 */
export const handler = (brain: Wire.Brain, rules?: Wire.Rules): Handler => {
  const handlers = new Map(all.map((wire) => [wire.format, Serving.handler(wire, brain, rules)]))
  return (received) => {
    const wire = of(received)
    return (
      // Mutant `handlers.get(wire.format)(received)` survives: each format has a handler
      (wire && handlers.get(wire.format)?.(received)) ??
      Effect.succeed({ status: 404, headers: { "content-type": "text/plain" }, body: "404 page not found" })
    )
  }
}

/** A fault that answers with a failure in the format of the request. The brain does not run. */
export const failing =
  (failure: Wire.Failure): Fault =>
  (good, received) => {
    const wire = of(received)
    return wire === undefined ? good : Effect.succeed(wire.refuse(failure))
  }

/** A fault that ends a stream with a failure, after this many events. An answer that is no stream becomes the failure itself. */
export const breakingOff =
  (failure: Wire.Failure, events: number): Fault =>
  (good, received) =>
    Effect.map(good, (answer) => {
      const wire = of(received)
      if (wire === undefined) return answer
      // Mutant `"Stryker was here!"` survives: an answer without a type is no stream
      if (!/event-stream|ndjson/.test(answer.headers?.["content-type"] ?? "")) return wire.refuse(failure)
      const bytes = Buffer.from(answer.body)
      const sent = Split.pieces(bytes, wire.split).slice(0, events)
      return { ...answer, body: Buffer.concat([...sent, Buffer.from(wire.breakOff(failure, received, sent.length))]) }
    })
