/**
 * The `reasoning_details` of OpenRouter: reasoning in parts that only their provider can read, and that must be sent
 * back unchanged. In a stream, a part comes in pieces; a signature covers the whole part.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import * as Size from "../../transport/Size.ts"

type Detail = Record<string, Schema.Json>

/** Joins streamed parts. */
export class Details {
  readonly #parts: Array<Schema.Json> = []
  /** The bytes of all pieces so far. */
  size = 0

  /**
   * Adds a piece. It belongs to the part of its index and type; without an index, to the previous part if that has no
   * index either.
   */
  push(piece: Schema.Json): void {
    this.size += Size.ofJson(piece)
    const at = this.#parts.findLastIndex((part, index) => isOne(part, piece, index === this.#parts.length - 1))
    const part = this.#parts[at]
    if (!isDetail(part) || !isDetail(piece)) this.#parts.push(piece)
    else this.#parts[at] = joined(part, piece)
  }

  get all(): ReadonlyArray<Schema.Json> {
    return this.#parts
  }
}

/** The details of a message or a delta. */
export const of = (message: Schema.Json | undefined): ReadonlyArray<Schema.Json> =>
  Json.items(Json.field(message, "reasoning_details"))

/** The readable text of the details. */
export const textOf = (details: ReadonlyArray<Schema.Json>): string =>
  details.map((part) => Json.text(Json.field(part, "text")) ?? Json.text(Json.field(part, "summary")) ?? "").join("")

// values within JSON are JSON
const isDetail = (value: Schema.Json | undefined): value is Detail => Predicate.isObject(value)

const isOne = (part: Schema.Json, piece: Schema.Json, isLast: boolean): boolean => {
  const same = (key: string) => Json.field(part, key) === Json.field(piece, key)
  const index = Json.count(Json.field(piece, "index"))
  const [id, other] = [Json.text(Json.field(part, "id")), Json.text(Json.field(piece, "id"))]
  // One index may hold encrypted parts of several calls, each with the id of its call.
  if (!same("type") || (id !== undefined && other !== undefined && id !== other)) return false
  if (index !== undefined) return Json.count(Json.field(part, "index")) === index
  // Encrypted parts come whole.
  const isSealed = Json.field(piece, "data") !== undefined
  return isLast && !isSealed && Json.count(Json.field(part, "index")) === undefined
}

/** Fields whose pieces are concatenated. */
const growing: ReadonlySet<string> = new Set(["text", "summary", "data"])

const joined = (part: Detail, piece: Detail): Detail => {
  const whole: Detail = { ...part }
  for (const [key, value] of Object.entries(piece)) {
    const before = whole[key]
    if (before === undefined || before === null) whole[key] = value
    else if (growing.has(key) && Predicate.isString(before) && Predicate.isString(value)) whole[key] = before + value
    else if (key === "signature" && value !== null) whole[key] = value
  }
  return whole
}
