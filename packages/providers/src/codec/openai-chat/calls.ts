/** The calls of a chat completion, whole or from the pieces of a stream, with ids that tell them apart. */
import type * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import { callOf, Ids, type Piece } from "../openAiCalls.ts"

/** The calls of a message, or the pieces of calls in a delta; the only one of the older `function_call` has no id. */
export const piecesOf = (message: Schema.Json | undefined): ReadonlyArray<Schema.Json> => {
  const calls = Json.items(Json.field(message, "tool_calls"))
  const legacy = Json.object(Json.field(message, "function_call"))
  return calls.length > 0 || legacy === undefined ? calls : [{ function: legacy }]
}

/** The calls of a whole message. */
export const ofMessage = (message: Schema.Json | undefined): ReadonlyArray<Message.ToolCall> => {
  const ids = new Ids()
  return piecesOf(message).map((call, index) => callOf(ids, index, read(call)))
}

const read = (piece: Schema.Json): Piece => {
  const fn = Json.field(piece, "function")
  return {
    id: Json.text(Json.field(piece, "id")),
    name: Json.text(Json.field(fn, "name")),
    arguments: Json.field(fn, "arguments")
  }
}

/** A call whose arguments are still coming. */
interface OpenCall extends Piece {
  readonly index: number
  readonly braces: Braces
}

/** Calls that come in pieces. There may be many of them, so that each is looked up by what its pieces name. */
export class Calls {
  readonly #open: Array<OpenCall> = []
  /** The last call of an index, of an id, and of both. */
  readonly #ofIndex = new Map<number, number>()
  readonly #ofId = new Map<string, number>()
  readonly #ofBoth = new Map<string, number>()
  /** Above every index so far. */
  #above = 0

  get size(): number {
    return this.#open.length
  }

  add(piece: Schema.Json): void {
    const told = Json.count(Json.field(piece, "index"))
    const { arguments: args, id, name } = read(piece)
    const at = this.#placeOf({ id, name, arguments: args }, told)
    const call = this.#open[at]
    const index = call?.index ?? told ?? this.#above
    const braces = call?.braces ?? new Braces()
    braces.add(args)
    const place = call === undefined ? this.#open.length : at
    this.#open[place] = {
      index,
      id: call?.id ?? id,
      name: call?.name ?? name,
      arguments: joined(call?.arguments, args),
      braces
    }
    this.#note(place, index, call?.id ?? id)
  }

  #note(place: number, index: number, id: string | undefined): void {
    this.#above = Math.max(this.#above, index + 1)
    noteLast(this.#ofIndex, index, place)
    if (id === undefined) return
    noteLast(this.#ofId, id, place)
    noteLast(this.#ofBoth, `${index} ${id}`, place)
  }

  get all(): ReadonlyArray<Message.ToolCall> {
    const ids = new Ids()
    return this.#open.toSorted((one, other) => one.index - other.index).map((call, index) => callOf(ids, index, call))
  }

  /**
   * A piece belongs to the last call of its index, or to the last of all; but another id begins another call, and so does, where
   * no index is told, a name after arguments that were whole.
   */
  #placeOf(piece: Piece, told: number | undefined): number {
    if (piece.id !== undefined) {
      const same = (told === undefined ? this.#ofId.get(piece.id) : this.#ofBoth.get(`${told} ${piece.id}`)) ?? -1
      const call = this.#open[same]
      if (call !== undefined && !(told === undefined && begins(piece, call))) return same
    }
    const last = (told === undefined ? this.#open.length - 1 : this.#ofIndex.get(told)) ?? -1
    const call = this.#open[last]
    if (call === undefined) return -1
    if (piece.id !== undefined && call.id !== undefined) return -1
    return told === undefined && begins(piece, call) ? -1 : last
  }
}

const noteLast = <Key>(places: Map<Key, number>, key: Key, place: number): void => {
  if ((places.get(key) ?? -1) < place) places.set(key, place)
}

const begins = (piece: Piece, call: OpenCall): boolean => {
  if (piece.name === undefined || call.name === undefined) return false
  return piece.name !== call.name || (call.braces.isWhole(call.arguments) && Predicate.isTruthy(piece.arguments))
}

/** Whether the arguments of a call are whole: each character is looked at once, and only what is closed is parsed, once. */
class Braces {
  #depth = 0
  #isInString = false
  #isEscaped = false
  /** Whether the first object has ended. */
  #isClosed = false
  /** Whether more than blanks came behind it. */
  #hasMore = false
  #known: boolean | undefined

  add(args: Schema.Json | undefined): void {
    if (!Predicate.isString(args)) return
    for (let at = 0; at < args.length && !this.#hasMore; at++) this.#read(args.charCodeAt(at))
  }

  isWhole(args: Schema.Json | undefined): boolean {
    if (!Predicate.isString(args)) return Predicate.isObject(args)
    if (!this.#isClosed || this.#hasMore) return false
    return (this.#known ??= Predicate.isObject(Result.getOrNull(Json.parse(args))))
  }

  #read(code: number): void {
    if (this.#isClosed) this.#hasMore = code > space
    else if (this.#isEscaped) this.#isEscaped = false
    else if (this.#isInString) {
      this.#isInString = code !== quote
      this.#isEscaped = code === backslash
    } else if (code === quote) this.#isInString = true
    else if (code === open) this.#depth++
    else if (code === close) this.#isClosed = --this.#depth <= 0
  }
}

const [space, quote, backslash, open, close] = [0x20, 0x22, 0x5c, 0x7b, 0x7d]

/** Arguments come in pieces of text; some servers send them as an object, in one piece. */
const joined = (before: Schema.Json | undefined, piece: Schema.Json | undefined): Schema.Json | undefined => {
  if (piece === undefined || piece === null) return before
  return Predicate.isString(before) && Predicate.isString(piece) ? before + piece : piece
}
