/** The faults between the agent and the stand-in model. */
import { Fault, type LoopbackServer, OpenAiChatWire } from "@kintsugi/providers/testing"
import * as Predicate from "effect/Predicate"
import type { Faults } from "./cli.ts"

/** A script for one server. */
export const make = (faults: Faults): Fault.Script => {
  switch (faults) {
    case "none":
      return []
    case "default":
      return onceForEachLayer()
    case "storm":
      return storm
  }
}

const unavailable = OpenAiChatWire.failure(503, { message: "Service temporarily unavailable", type: "server_error" })

/** The transport sends three times: one failure it heals, three in a row it does not. */
const onceForEachLayer = (): Fault.Script => {
  let afterToolResult = 0
  return (request) => {
    if (request.number === 1) return unavailable
    return endsWithToolResult(request) && ++afterToolResult <= 3 ? OpenAiChatWire.overloaded : undefined
  }
}

const endsWithToolResult = ({ body }: LoopbackServer.Received): boolean => {
  const messages = Predicate.hasProperty(body, "messages") && Array.isArray(body.messages) ? body.messages : []
  return Predicate.hasProperty(messages.at(-1), "role") && messages.at(-1).role === "tool"
}

const rateLimited = OpenAiChatWire.failure(
  429,
  { message: "Rate limit reached for requests. Please try again in 120ms", code: "rate_limit_exceeded" },
  { "retry-after-ms": "120" }
)

const badGateway = Fault.status(502, "<html><body>Bad Gateway</body></html>", { "content-type": "text/html" })

const serverError = OpenAiChatWire.failure(500, { message: "The server had an error", type: "server_error" })

/** Everything at once, for a while. */
const storm: Fault.Script = [
  Fault.lostBeforeHead,
  serverError,
  Fault.all(Fault.split({ every: 7 }), Fault.delayed("150 millis")),
  rateLimited,
  badGateway,
  Fault.lostAfter(40),
  OpenAiChatWire.overloaded,
  Fault.split("byte"),
  unavailable,
  Fault.endedAfter(60),
  serverError,
  OpenAiChatWire.overloaded,
  Fault.lostBeforeHead,
  undefined,
  rateLimited,
  Fault.delayed("300 millis")
]
