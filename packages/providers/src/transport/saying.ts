/** Tells events that say something from keep-alives, where the decoder takes nothing from either. */
import * as Hash from "effect/Hash"
import * as Result from "effect/Result"
import * as Json from "./Json.ts"

/** After so many events they are forgotten. */
const most = 1000

export class Saying {
  /** The hashes of the events so far, without their numbers. */
  readonly #seen = new Set<number>()

  /**
   * Whether an event is no keep-alive: it is not named like one, and is a piece of something, or differs from all before by
   * more than numbers. Responses names its pieces by `delta`, and an image that is being made by `partial_image`
   * (developers.openai.com/docs/guides/streaming-responses, looked up on 2026-11-26).
   */
  isNew(data: string, name: string = ""): boolean {
    const json = Result.getOrElse(Json.parse(data), () => null)
    const type = Json.text(Json.field(json, "type")) ?? ""
    if (keepAlive.test(name) || keepAlive.test(type)) return false
    if (Json.text(Json.field(json, "delta")) !== undefined || type.endsWith("partial_image")) return true
    const hash = Hash.string(data.replaceAll(/[0-9]+/g, ""))
    if (this.#seen.has(hash)) return false
    if (this.#seen.size >= most) this.#seen.clear()
    this.#seen.add(hash)
    return true
  }
}

const keepAlive = /^(?:ping|keep.?alive|heartbeat)$/i
