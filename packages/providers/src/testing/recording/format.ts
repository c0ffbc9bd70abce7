/** How exchanges stand in a file: JSON that a person can read, and change by hand. */
import * as Issue from "@kintsugi/core/Issue"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** A piece of a body as it came: text, or bytes that are none by themselves, as where a character was cut in two. */
const Chunk = Schema.Union([Schema.String, Schema.Struct({ base64: Schema.String })])

export type Chunk = typeof Chunk.Type

const Request = Schema.Struct({
  method: Schema.String,
  /** With the query, in the order of its names, without what is a key in it. */
  path: Schema.String,
  /** The body; absent where it is no JSON. */
  json: Schema.optionalKey(Schema.Json),
  text: Schema.optionalKey(Schema.String)
})

export type Request = typeof Request.Type

const Response = Schema.Struct({
  status: Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 })),
  headers: Schema.Record(Schema.String, Schema.String),
  /** A body that was one JSON, whole. */
  json: Schema.optionalKey(Schema.Json),
  /** How that JSON was laid out; `compact` where it is absent. */
  layout: Schema.optionalKey(Schema.Literals(["compact", "indented"])),
  /** Any other body, in the pieces in which it came. */
  chunks: Schema.optionalKey(Schema.Array(Chunk))
})

export type Response = typeof Response.Type

/** One link of the chain of what went wrong beneath HTTP. */
const Link = Schema.Struct({
  name: Schema.String,
  message: Schema.String,
  code: Schema.optionalKey(Schema.String)
})

export type Link = typeof Link.Type

const Exchange = Schema.Struct({
  request: Request,
  /** Absent where none came. */
  response: Schema.optionalKey(Response),
  /**
   * `complete`: all of the answer came. `left`: its reader had enough before the end. `interrupted`: its reader went away while
   * it waited. `failed`: the connection failed, see `failure`.
   */
  end: Schema.Literals(["complete", "left", "interrupted", "failed"]),
  /** What the connection failed with, the outermost first. */
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

/** What is wrong with a file, and at which field; the field is empty for all of it. */
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
    return Result.fail({ field: "", message: `it is no JSON: ${String(error)}` })
  }
  const decoded = decode(json)
  if (Result.isSuccess(decoded)) return Result.succeed(decoded.success.exchanges)
  const [first, ...others] = Issue.fromSchema(decoded.failure.issue, json)
  if (first === undefined) return Result.fail({ field: "", message: "it is no recording" })
  return Result.fail({ field: fieldOf(first.path), message: Issue.formatAll([first, ...others]) })
}

/** `messages[1].content` */
export const fieldOf = (path: ReadonlyArray<string | number>): string =>
  path.map((step, index) => (Predicate.isNumber(step) ? `[${step}]` : index === 0 ? step : `.${step}`)).join("")
