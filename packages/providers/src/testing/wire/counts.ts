/**
 * Counts the tokens of requests, in the formats whose provider has an endpoint for that (developers.openai.com, `POST
 * /responses/input_tokens`; platform.claude.com, `POST /v1/messages/count_tokens`; ai.google.dev, `models.countTokens`; looked up on
 * 2026-11-26). The error messages for refused fields follow those for other unknown fields.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Received } from "../handling.ts"
import * as Parts from "./parts.ts"
import type * as Wire from "./wire.ts"

type Body = Readonly<Record<string, unknown>>

interface Words {
  /** The end of the path that counts tokens, such as `/responses/input_tokens`. */
  readonly end: string
  readonly instead: string
  /** Fields that a usual request may have and the counting endpoint refuses. */
  readonly refused: ReadonlyArray<string>
  readonly unknown: (field: string) => string
  /** Takes the usual request out of the body of a request for a count. */
  readonly request: (body: Body) => Body
  readonly field: string
  readonly more: object
}

const make = ({ end, field, instead, more, refused, request, unknown }: Words): Wire.CountWords => ({
  serves: (path) => path.endsWith(end),
  request: (received: Received) => {
    const path = Parts.pathOf(received)
    if (!path.endsWith(end)) return undefined
    const body = Predicate.isObject(received.body) ? (received.body as Body) : {}
    const wrong = refused.find((name) => name in body)
    return wrong === undefined
      ? Result.succeed({ ...received, path: `${path.slice(0, -end.length)}${instead}`, body: request(body) })
      : Parts.invalid(unknown(wrong))
  },
  answer: (tokens) => ({ ...more, [field]: tokens })
})

export const responses = make({
  end: "/responses/input_tokens",
  // Mutant `""` survives: the path of such a request is not read
  instead: "/responses",
  refused: ["background", "include", "max_output_tokens", "store", "stream", "temperature", "top_p"],
  unknown: (field) => `Unknown parameter: '${field}'.`,
  request: (body) => body,
  field: "input_tokens",
  more: { object: "response.input_tokens" }
})

export const messages = make({
  end: "/v1/messages/count_tokens",
  // Mutant `""` survives: the path of such a request is not read
  instead: "/v1/messages",
  refused: ["max_tokens", "metadata", "stop_sequences", "stream", "temperature", "top_k", "top_p"],
  unknown: (field) => `${field}: Extra inputs are not permitted`,
  request: (body) => ({ ...body, max_tokens: 64_000 }),
  field: "input_tokens",
  more: {}
})

export const content = make({
  end: ":countTokens",
  instead: ":generateContent",
  refused: ["generationConfig", "systemInstruction", "toolConfig", "tools"],
  unknown: (field) => `Invalid JSON payload received. Unknown name "${field}": Cannot find field.`,
  request: (body) => {
    const whole = body["generateContentRequest"]
    if (!Predicate.isObject(whole)) return body
    const { model: _, ...request } = whole as Body
    return request
  },
  field: "totalTokens",
  more: {}
})

/** Estimates the tokens of a request: one for every four characters. */
export const estimateOf = ({ messages, tools }: Wire.BrainRequest): number =>
  Math.ceil((JSON.stringify(messages).length + JSON.stringify(tools).length) / 4)
