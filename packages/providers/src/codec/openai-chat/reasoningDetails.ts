/**
 * Reads the `reasoning_details` of OpenRouter: reasoning in parts that only their provider can read, and that must be sent back unchanged.
 * In a stream each part comes in pieces, and the signature covers the whole part.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import * as Size from "../../transport/Size.ts"

type Detail = Record<string, Schema.Json>

/** Joins the pieces of reasoning details to parts. */
export class Details {
  readonly #parts: Array<Schema.Json> = []
  /**
   * The position of the last part with a type and an index. A key with an id finds the last part with that id, a key with `undefined` the
   * part that has no id.
   */
  readonly #last = new Map<string, number>()
  /** The bytes of all pieces so far. */
  size = 0

  /**
   * Adds a piece. The piece belongs to the part with its index and type. A piece without an index belongs to the previous part if that has
   * no index either.
   */
  push(piece: Schema.Json): void {
    this.size += Size.ofJson(piece)
    const at = this.#positionOf(piece)
    const part = this.#parts[at]
    if (!isDetail(part) || !isDetail(piece)) this.#note(piece, this.#parts.push(piece) - 1)
    else {
      const whole = joined(part, piece)
      this.#parts[at] = whole
      if (idOf(part) !== idOf(whole)) {
        this.#last.delete(keyOf(part, undefined))
        this.#note(whole, at)
      }
    }
  }

  /**
   * The position of the part to which a piece belongs, or -1 if it begins a part. Of each type and index at most one part has no id: the
   * first.
   */
  #positionOf(piece: Schema.Json): number {
    const last = this.#parts.length - 1
    if (indexOf(piece) === undefined) return goesOn(this.#parts[last], piece) ? last : -1
    const id = idOf(piece)
    if (id === undefined) return this.#last.get(keyOf(piece)) ?? -1
    return Math.max(this.#last.get(keyOf(piece, id)) ?? -1, this.#last.get(keyOf(piece, undefined)) ?? -1)
  }

  #note(part: Schema.Json, at: number): void {
    if (indexOf(part) === undefined) return
    this.#last.set(keyOf(part, idOf(part)), at)
    this.#last.set(keyOf(part), Math.max(at, this.#last.get(keyOf(part)) ?? -1))
  }

  get all(): ReadonlyArray<Schema.Json> {
    return this.#parts
  }
}

/** The reasoning details of a message or a delta. */
export const of = (message: Schema.Json | undefined): ReadonlyArray<Schema.Json> =>
  Json.items(Json.field(message, "reasoning_details"))

/** The readable text of reasoning details. */
export const textOf = (details: ReadonlyArray<Schema.Json>): string =>
  details.map((part) => Json.text(Json.field(part, "text")) ?? Json.text(Json.field(part, "summary")) ?? "").join("")

// the type guard holds because the values within JSON are JSON
const isDetail = (value: Schema.Json | undefined): value is Detail => Predicate.isObject(value)

const idOf = (part: Schema.Json | undefined): string | undefined => Json.text(Json.field(part, "id"))

const indexOf = (part: Schema.Json | undefined): number | undefined => Json.count(Json.field(part, "index"))

/** The key of a part by its type, index and id. One index may hold encrypted parts of several calls, each with the id of its call. */
const keyOf = (part: Schema.Json, ...id: ReadonlyArray<string | undefined>): string =>
  JSON.stringify([Json.field(part, "type") ?? "", indexOf(part), ...id])

/** Whether a piece without an index belongs to the part before it. Encrypted parts come whole, so they never do. */
const goesOn = (part: Schema.Json | undefined, piece: Schema.Json): boolean => {
  const [id, other] = [idOf(part), idOf(piece)]
  if (Json.field(part, "type") !== Json.field(piece, "type")) return false
  if (id !== undefined && other !== undefined && id !== other) return false
  return Json.field(piece, "data") === undefined && indexOf(part) === undefined
}

/** The fields whose pieces are concatenated. */
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
