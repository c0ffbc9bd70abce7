/**
 * The `reasoning_details` of OpenRouter: what models thought, in parts that only their makers can read, and want back as they
 * were. Streamed, a part comes in pieces; a signature holds only for the whole of it.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"

type Detail = Record<string, Schema.Json>

/** Puts streamed parts together. */
export class Details {
  readonly #parts: Array<Schema.Json> = []

  /** A piece belongs to the part of its index and type, or, without an index, to the part before it, if that has none either. */
  push(piece: Schema.Json): void {
    const at = this.#parts.findLastIndex((part, index) => isOne(part, piece, index === this.#parts.length - 1))
    const part = this.#parts[at]
    if (!isDetail(part) || !isDetail(piece)) this.#parts.push(piece)
    else this.#parts[at] = joined(part, piece)
  }

  get all(): ReadonlyArray<Schema.Json> {
    return this.#parts
  }
}

/** Those of a message or a delta. */
export const of = (message: Schema.Json | undefined): ReadonlyArray<Schema.Json> =>
  Json.items(Json.field(message, "reasoning_details"))

/** The words that can be read in them. */
export const textOf = (details: ReadonlyArray<Schema.Json>): string =>
  details.map((part) => Json.text(Json.field(part, "text")) ?? Json.text(Json.field(part, "summary")) ?? "").join("")

// what is an object within JSON holds JSON
const isDetail = (value: Schema.Json | undefined): value is Detail => Predicate.isObject(value)

const isOne = (part: Schema.Json, piece: Schema.Json, isLast: boolean): boolean => {
  const same = (key: string) => Json.field(part, key) === Json.field(piece, key)
  const index = Json.count(Json.field(piece, "index"))
  const [id, other] = [Json.text(Json.field(part, "id")), Json.text(Json.field(piece, "id"))]
  // one index may hold sealed parts of several calls, each with the id of its call
  if (!same("type") || (id !== undefined && other !== undefined && id !== other)) return false
  if (index !== undefined) return Json.count(Json.field(part, "index")) === index
  // what is sealed comes whole
  const isSealed = Json.field(piece, "data") !== undefined
  return isLast && !isSealed && Json.count(Json.field(part, "index")) === undefined
}

/** What grows piece by piece. */
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
