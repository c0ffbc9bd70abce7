/** The file format of exchanges: JSON that people can read and edit. */
import * as Issue from "@kintsugi/core/Issue"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** A piece of a body in the file: a text, or base64 if the bytes are no text by themselves, such as half a character. */
const Chunk = Schema.Union([Schema.String, Schema.Struct({ base64: Schema.String })])

export type Chunk = typeof Chunk.Type

const Request = Schema.Struct({
  method: Schema.String,
  /** The path with the query, whose parameters are sorted by name. Parameters that contain API keys are omitted. */
  path: Schema.String,
  /** The JSON of the request's body; absent if the body is not JSON. */
  json: Schema.optionalKey(Schema.Json),
  text: Schema.optionalKey(Schema.String)
})

export type Request = typeof Request.Type

const Response = Schema.Struct({
  status: Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 })),
  headers: Schema.Record(Schema.String, Schema.String),
  /** The JSON of the answer's body, if the body was one complete JSON text. */
  json: Schema.optionalKey(Schema.Json),
  /** The layout of the JSON text, so that its bytes can be restored; `compact` by default. */
  layout: Schema.optionalKey(Schema.Literals(["compact", "indented"])),
  /** Every other body, in the pieces in which it arrived. */
  chunks: Schema.optionalKey(Schema.Array(Chunk))
})

export type Response = typeof Response.Type

/** One error in the cause chain of a failed connection. */
const Link = Schema.Struct({
  name: Schema.String,
  message: Schema.String,
  code: Schema.optionalKey(Schema.String)
})

export type Link = typeof Link.Type

const Exchange = Schema.Struct({
  request: Request,
  /** The answer; absent if no answer arrived. */
  response: Schema.optionalKey(Response),
  /**
   * `complete`: the whole answer arrived. `left`: its reader stopped before the end. `interrupted`: its reader was
   * interrupted while it waited. `failed`: the connection failed, see `failure`.
   */
  end: Schema.Literals(["complete", "left", "interrupted", "failed"]),
  /** The cause chain of the failed connection, the outermost error first. */
  failure: Schema.optionalKey(Schema.Array(Link))
})

export type Exchange = typeof Exchange.Type

const Recorded = Schema.Struct({
  format: Schema.Literal("kintsugi-recording"),
  version: Schema.Literal(1),
  exchanges: Schema.Array(Exchange)
})

export const print = (exchanges: ReadonlyArray<Exchange>): string =>
  `${JSON.stringify({ format: "kintsugi-recording", version: 1, exchanges }, null, 2)}\n`

/** An error in the file: what is wrong, and in which field; the field is empty for the whole file. */
export interface Fault {
  readonly field: string
  readonly message: string
}

const decode = Schema.decodeUnknownResult(Recorded, { errors: "all" })

export const parse = (text: string): Result.Result<ReadonlyArray<Exchange>, Fault> => {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return Result.fail({ field: "", message: `it is not JSON: ${String(error)}` })
  }
  const decoded = decode(json)
  if (Result.isSuccess(decoded)) return Result.succeed(decoded.success.exchanges)
  const [first, ...others] = Issue.fromSchema(decoded.failure.issue, json)
  if (first === undefined) return Result.fail({ field: "", message: "it is not a recording" })
  return Result.fail({ field: fieldOf(first.path), message: Issue.formatAll([first, ...others]) })
}

/** Writes the path of a field as text, such as `messages[1].content`. */
export const fieldOf = (path: ReadonlyArray<string | number>): string =>
  path.map((step, index) => (Predicate.isNumber(step) ? `[${step}]` : index === 0 ? step : `.${step}`)).join("")
