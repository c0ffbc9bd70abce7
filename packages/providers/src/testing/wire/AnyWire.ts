/** Every wire format behind one server: the path of a request selects the format. */
import * as Effect from "effect/Effect"
import * as Parts from "./parts.ts"
import * as AnthropicMessagesWire from "./AnthropicMessagesWire.ts"
import type * as Fault from "../Fault.ts"
import * as GeminiContentWire from "./GeminiContentWire.ts"
import type * as LoopbackServer from "../LoopbackServer.ts"
import * as OllamaChatWire from "./OllamaChatWire.ts"
import * as OpenAiChatWire from "./OpenAiChatWire.ts"
import * as OpenAiResponsesWire from "./OpenAiResponsesWire.ts"
import * as Split from "../Split.ts"
import * as Wire from "../Wire.ts"

/** All five formats. */
export const wires: ReadonlyArray<Wire.Wire> = [
  AnthropicMessagesWire.wire,
  OpenAiChatWire.wire,
  OpenAiResponsesWire.wire,
  GeminiContentWire.wire,
  OllamaChatWire.wire
]

/** The format of a request; `undefined` for an unknown path. */
export const of = (received: LoopbackServer.Received): Wire.Wire | undefined =>
  wires.find((wire) => wire.serves(Parts.pathOf(received)))

/** A handler that lets one brain answer in every format. An unknown path is a 404. */
export const handler =
  (brain: Wire.Brain, rules?: Wire.Rules): LoopbackServer.Handler =>
  (received) => {
    const wire = of(received)
    return wire === undefined
      ? Effect.succeed({ status: 404, headers: { "content-type": "text/plain" }, body: "404 page not found" })
      : Wire.handler(wire, brain, rules)(received)
  }

/** A failure in the format of the request; the brain does not run. */
export const failing =
  (failure: Wire.Failure): Fault.Fault =>
  (good, received) => {
    const wire = of(received)
    return wire === undefined ? good : Effect.succeed(wire.refuse(failure))
  }

/**
 * A stream that ends with a failure after this many events, as its format does. An answer that the format cannot
 * break off is the failure itself.
 */
export const breakingOff =
  (failure: Wire.Failure, events: number): Fault.Fault =>
  (good, received) =>
    Effect.map(good, (answer) => {
      const wire = of(received)
      if (wire === undefined) return answer
      if (!/event-stream|ndjson/.test(answer.headers?.["content-type"] ?? "")) return wire.refuse(failure)
      const bytes = Buffer.from(answer.body)
      const sent = Split.pieces(bytes, wire.split).slice(0, events)
      return { ...answer, body: Buffer.concat([...sent, Buffer.from(wire.breakOff(failure, received, sent.length))]) }
    })
