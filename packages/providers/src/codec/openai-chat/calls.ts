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
}

/** Calls that come in pieces. */
export class Calls {
  readonly #open: Array<OpenCall> = []

  get size(): number {
    return this.#open.length
  }

  add(piece: Schema.Json): void {
    const told = Json.count(Json.field(piece, "index"))
    const { arguments: args, id, name } = read(piece)
    const at = this.#placeOf({ id, name, arguments: args }, told)
    const call = this.#open[at]
    if (call === undefined) {
      const index = told ?? this.#open.reduce((most, { index }) => Math.max(most, index + 1), 0)
      this.#open.push({ index, id, name, arguments: joined(undefined, args) })
    } else {
      this.#open[at] = {
        index: call.index,
        id: call.id ?? id,
        name: call.name ?? name,
        arguments: joined(call.arguments, args)
      }
    }
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
    const ofIndex = ({ index }: OpenCall) => told === undefined || index === told
    if (piece.id !== undefined) {
      const same = this.#open.findLastIndex((call) => ofIndex(call) && call.id === piece.id)
      const call = this.#open[same]
      if (call !== undefined && !(told === undefined && begins(piece, call))) return same
    }
    const last = this.#open.findLastIndex(ofIndex)
    const call = this.#open[last]
    if (call === undefined) return -1
    if (piece.id !== undefined && call.id !== undefined) return -1
    return told === undefined && begins(piece, call) ? -1 : last
  }
}

const begins = (piece: Piece, call: Piece): boolean => {
  if (piece.name === undefined || call.name === undefined) return false
  return piece.name !== call.name || (isWhole(call.arguments) && Predicate.isTruthy(piece.arguments))
}

const isWhole = (args: Schema.Json | undefined): boolean =>
  Predicate.isObject(Predicate.isString(args) ? Result.getOrNull(Json.parse(args)) : args)

/** Arguments come in pieces of text; some servers send them as an object, in one piece. */
const joined = (before: Schema.Json | undefined, piece: Schema.Json | undefined): Schema.Json | undefined => {
  if (piece === undefined || piece === null) return before
  return Predicate.isString(before) && Predicate.isString(piece) ? before + piece : piece
}
