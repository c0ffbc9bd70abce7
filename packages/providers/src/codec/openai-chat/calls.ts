/** Reads the calls of a chat completion, whole or from the pieces of a stream, and gives each a unique id. */
import type * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import * as Size from "../../transport/Size.ts"
import { callOf, Ids, type Piece } from "../openAiCalls.ts"

/** The calls of a message, or the pieces of calls in a delta. A message of the older form has one call, `function_call`, without an id. */
export const piecesOf = (message: Schema.Json | undefined): ReadonlyArray<Schema.Json> => {
  const calls = Json.items(Json.field(message, "tool_calls"))
  const legacy = Json.object(Json.field(message, "function_call"))
  return calls.length > 0 || legacy === undefined ? calls : [{ function: legacy }]
}

/**
 * The kind of the first call that does not call a function, such as `custom`; `undefined` if all calls do. Such a call waits for an answer
 * that no tool of the agent gives.
 */
export const foreignIn = (pieces: ReadonlyArray<Schema.Json>): string | undefined => {
  const foreign = pieces.find((piece) => {
    const type = Json.text(Json.field(piece, "type"))
    return type !== undefined && Json.field(piece, "function") === undefined && Json.object(Json.field(piece, type))
  })
  return Json.text(Json.field(foreign, "type"))
}

/** The tool calls of a whole message. */
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

/** A call from a stream whose arguments may still be incomplete. */
interface UnfinishedCall extends Piece {
  readonly index: number
  readonly braces: Braces
}

/**
 * Collects the calls of a stream from pieces. A reply may have many calls, so each is looked up by the index and the id that its pieces
 * name.
 */
export class Calls {
  readonly #unfinished: Array<UnfinishedCall> = []
  /** The position of the last call with an index. The two maps below look calls up by id, and by index and id together. */
  readonly #ofIndex = new Map<number, number>()
  readonly #ofId = new Map<string, number>()
  readonly #ofBoth = new Map<string, number>()
  /** The bytes of all ids, names and arguments so far. */
  size = 0
  /** A number that is greater than the index of every call so far. */
  #nextIndex = 0

  get count(): number {
    return this.#unfinished.length
  }

  add(piece: Schema.Json): void {
    const statedIndex = Json.count(Json.field(piece, "index"))
    const { arguments: args, id, name } = read(piece)
    const at = this.#positionOf({ id, name, arguments: args }, statedIndex)
    const call = this.#unfinished[at]
    const index = call?.index ?? statedIndex ?? this.#nextIndex
    const braces = call?.braces ?? new Braces()
    braces.add(args)
    this.size += Size.ofJson(args)
    if (call?.id === undefined) this.size += Size.ofJson(id)
    if (call?.name === undefined) this.size += Size.ofJson(name)
    const position = call === undefined ? this.#unfinished.length : at
    this.#unfinished[position] = {
      index,
      id: call?.id ?? id,
      name: call?.name ?? name,
      arguments: joined(call?.arguments, args),
      braces
    }
    this.#note(position, index, call?.id ?? id)
  }

  #note(position: number, index: number, id: string | undefined): void {
    this.#nextIndex = Math.max(this.#nextIndex, index + 1)
    noteLast(this.#ofIndex, index, position)
    if (id === undefined) return
    noteLast(this.#ofId, id, position)
    noteLast(this.#ofBoth, `${index} ${id}`, position)
  }

  get all(): ReadonlyArray<Message.ToolCall> {
    const ids = new Ids()
    return this.#unfinished
      .toSorted((one, other) => one.index - other.index)
      .map((call, index) => callOf(ids, index, call))
  }

  /**
   * The position of the call to which a piece belongs, or -1 if the piece begins a new call. It is the last call with the stated index, or
   * the last call of all. A piece with another id begins a new call. A piece without an index also does if it has a name and the arguments
   * of the last call are complete.
   */
  #positionOf(piece: Piece, statedIndex: number | undefined): number {
    if (piece.id !== undefined) {
      const same =
        (statedIndex === undefined ? this.#ofId.get(piece.id) : this.#ofBoth.get(`${statedIndex} ${piece.id}`)) ?? -1
      const call = this.#unfinished[same]
      if (call !== undefined && !(statedIndex === undefined && begins(piece, call))) return same
    }
    const last = (statedIndex === undefined ? this.#unfinished.length - 1 : this.#ofIndex.get(statedIndex)) ?? -1
    const call = this.#unfinished[last]
    if (call === undefined) return -1
    if (piece.id !== undefined && call.id !== undefined) return -1
    return statedIndex === undefined && begins(piece, call) ? -1 : last
  }
}

const noteLast = <Key>(positions: Map<Key, number>, key: Key, position: number): void => {
  positions.set(key, Math.max(positions.get(key) ?? 0, position))
}

const begins = (piece: Piece, call: UnfinishedCall): boolean => {
  if (piece.name === undefined || call.name === undefined) return false
  return piece.name !== call.name || (call.braces.isWhole(call.arguments) && Predicate.isTruthy(piece.arguments))
}

/**
 * Detects whether the arguments of a call are complete. It reads each character once, and parses the text once, after its last brace is
 * closed.
 */
class Braces {
  #depth = 0
  #isInString = false
  #isEscaped = false
  /** Whether the first object of the text has ended. */
  #isClosed = false
  /** Whether the first object is followed by more than blanks. */
  #hasMore = false
  #isObject: boolean | undefined

  add(args: Schema.Json | undefined): void {
    if (!Predicate.isString(args)) return
    for (let at = 0; at < args.length && !this.#hasMore; at++) this.#read(args.charCodeAt(at))
  }

  isWhole(args: Schema.Json | undefined): boolean {
    if (!Predicate.isString(args)) return Predicate.isObject(args)
    if (!this.#isClosed || this.#hasMore) return false
    return (this.#isObject ??= Predicate.isObject(Result.getOrNull(Json.parse(args))))
  }

  #read(code: number): void {
    if (this.#isClosed) this.#hasMore = code > space
    else if (this.#isEscaped) this.#isEscaped = false
    else if (this.#isInString) {
      this.#isInString = code !== quote
      this.#isEscaped = code === backslash
    } else if (code === quote) this.#isInString = true
    else if (code === leftBrace) this.#depth++
    else if (code === rightBrace) this.#isClosed = --this.#depth <= 0
  }
}

const [space, quote, backslash, leftBrace, rightBrace] = [0x20, 0x22, 0x5c, 0x7b, 0x7d]

/** Joins two pieces of arguments. Most servers send arguments as pieces of text; some send an object, in one piece. */
const joined = (before: Schema.Json | undefined, piece: Schema.Json | undefined): Schema.Json | undefined => {
  if (piece === undefined || piece === null) return before
  return Predicate.isString(before) && Predicate.isString(piece) ? before + piece : piece
}
