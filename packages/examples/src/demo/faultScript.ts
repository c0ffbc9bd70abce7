/** The faults between the agent and the stand-in model. */
import { AnyWire, Fault } from "@kintsugi/providers/testing"
import * as Predicate from "effect/Predicate"
import type { Faults } from "./cli.ts"

type Script = Parameters<typeof Fault.inFront>[0]

/** A script for one server. */
export const make = (faults: Faults): Script => {
  switch (faults) {
    case "none":
      return []
    case "default":
      return onceForEachLayer()
    case "storm":
      return storm
  }
}

/** A failure in OpenAI's words. */
const failure = (
  status: number,
  error: { readonly message: string; readonly type?: string; readonly code?: string },
  headers?: Readonly<Record<string, string>>
): Fault.Fault => Fault.status(status, { error: { param: null, type: null, code: null, ...error } }, headers)

const overloaded = AnyWire.failing({ type: "overloaded" })

const unavailable = failure(503, { message: "Service temporarily unavailable", type: "server_error" })

const endsWithToolResult = ({ body }: Parameters<Fault.Fault>[1]): boolean => {
  const messages = Predicate.hasProperty(body, "messages") && Array.isArray(body.messages) ? body.messages : []
  return Predicate.hasProperty(messages.at(-1), "role") && messages.at(-1).role === "tool"
}

const rateLimited = failure(
  429,
  { message: "Rate limit reached for requests. Please try again in 120ms", code: "rate_limit_exceeded" },
  { "retry-after-ms": "120" }
)

const badGateway = Fault.status(502, "<html><body>Bad Gateway</body></html>", { "content-type": "text/html" })

const serverError = failure(500, { message: "The server had an error", type: "server_error" })

/** The transport sends three times: one failure it heals, three in a row it does not. */
const onceForEachLayer = (): Script => {
  const afterToolResult = [overloaded, Fault.cut("nothing", "reset"), overloaded]
  return (request) => {
    if (request.number === 1) return rateLimited
    return endsWithToolResult(request) ? afterToolResult.shift() : undefined
  }
}

/** Everything at once, for a while. */
const storm: Script = [
  Fault.cut("nothing", "reset"),
  serverError,
  Fault.all(Fault.split({ every: 7 }), Fault.delayed("150 millis")),
  rateLimited,
  badGateway,
  Fault.cut(40, "reset"),
  overloaded,
  Fault.split("byte"),
  unavailable,
  Fault.cut(60, "end"),
  serverError,
  overloaded,
  Fault.cut("nothing", "reset"),
  undefined,
  rateLimited,
  Fault.delayed("300 millis")
]
