/** Code that the server sides of the wire formats share. */
import type * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Answer, Received } from "../handling.ts"
import type * as Wire from "./wire.ts"

/** Decodes the body of a request by a schema; a failure becomes the format's refusal. */
export const decode = <A>(schema: Schema.ConstraintDecoder<A>, received: Received): Result.Result<A, Wire.Failure> => {
  if (received.body === undefined) return invalid("We could not parse the JSON body of your request.")
  return Result.mapError(Schema.decodeUnknownResult(schema)(received.body), (error): Wire.Failure => ({
    type: "invalid-request",
    message: String(error)
  }))
}

export const invalid = (message: string, more: { readonly code?: string } = {}): Result.Result<never, Wire.Failure> =>
  Result.fail({ type: "invalid-request", message, ...more })

/** Returns `request`, or its refusal if there is a complaint. */
export const unless = (
  complaint: string | undefined,
  request: Wire.BrainRequest
): Result.Result<Wire.BrainRequest, Wire.Failure> =>
  complaint === undefined ? Result.succeed(request) : invalid(complaint)

/** The path of a request, without the query. */
export const pathOf = ({ path }: Received): string => path.split("?")[0] ?? ""

/** The API key in the header `Authorization: Bearer …`. */
export const bearerOf = ({ authorization }: Received): string | undefined => {
  const text = authorization === undefined ? "" : Redacted.value(authorization)
  const key = text.replace(/^Bearer/i, "").trim()
  return key === "" ? undefined : key
}

export const callsOf = ({ content }: Wire.BrainReply): ReadonlyArray<Message.ToolCall> =>
  content.filter((part) => part.type === "tool-call")

export const finishOf = (reply: Wire.BrainReply): Message.FinishReason =>
  reply.finish ?? (callsOf(reply).length > 0 ? "tool-calls" : "stop")

export const usageOf = ({ usage }: Wire.BrainReply): Usage.Usage => usage ?? Usage.empty

/** The arguments of a call as text, for formats that send a text. */
export const argumentsText = ({ arguments: args }: Message.ToolCall): string =>
  Predicate.isString(args) ? args : args === null ? "" : JSON.stringify(args)

/**
 * The arguments of a call as an object, for formats that send an object. A text that is not JSON stays a text, so that a brain can send
 * wrong arguments in every format.
 */
export const argumentsObject = ({ arguments: args }: Message.ToolCall): Schema.Json => {
  if (!Predicate.isString(args)) return args ?? {}
  // the result of `JSON.parse` is JSON
  return Result.getOrElse(
    Result.try(() => JSON.parse(args === "" ? "{}" : args) as Schema.Json),
    () => args
  )
}

/** Splits a text into pieces of six characters. No character is cut in two. */
export const inPieces = (text: string): ReadonlyArray<string> => {
  const characters = Array.from(text)
  const pieces: Array<string> = []
  for (let start = 0; start < characters.length; start += 6) pieces.push(characters.slice(start, start + 6).join(""))
  return pieces
}

/** Makes the signature of a text. The same text always gets the same signature. */
export const signatureOf = (text: string): string => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return `Eq${(hash >>> 0).toString(16).padStart(8, "0")}==`
}

/** An answer whose body is JSON, indented by `space`. */
export const json = (body: unknown, more: Omit<Answer, "body"> = {}, space?: number): Answer => ({
  ...more,
  body: JSON.stringify(body, undefined, space)
})

/** An answer that is a stream of server-sent events. */
export const events = (body: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", ...headers },
  split: "event",
  body
})

export interface Named {
  readonly type: string
  readonly [field: string]: unknown
}

/** Writes a server-sent event. Its name is also the `type` in its data. */
export const namedEvent = (data: Named): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

export const specOf = (
  name: string,
  description: string | undefined,
  parameters: Schema.JsonObject | undefined
): Message.ToolSpec => ({ name, description: description ?? "", parameters: parameters ?? {} })

/** Reads the URL of an attachment: the data in a `data:` URL, or any other URL. */
export const attachedAt = (
  url: string,
  mediaType: string
): { readonly type: string; readonly from: Parameters<typeof Message.image>[1] } => {
  // Mutant `["Stryker was here"]` survives: the first element is not read
  const [, type = mediaType, data] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? []
  return { type, from: data === undefined ? { url } : { data } }
}

/** The wait that a rate limit asks for, in milliseconds. */
export const waitOf = (failure: Wire.Failure & { readonly type: "rate-limited" }): number =>
  Duration.toMillis(failure.retryAfter ?? "1 second")
