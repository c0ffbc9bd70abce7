/** Distinguishes events with news from keep-alives. It is used for events from which the decoder takes nothing. */
import * as Hash from "effect/Hash"
import * as Result from "effect/Result"
import * as Json from "./Json.ts"

/** How many events are remembered. When there are more, all are forgotten. */
const most = 1000

export class Saying {
  /** The hashes of all events so far, computed without the digits in them. */
  readonly #seen = new Set<number>()

  /**
   * Whether an event is more than a keep-alive. Its name must not be that of a keep-alive. Besides, the event must be a piece of a reply,
   * or differ from all earlier events by more than numbers. OpenAI's Responses API names pieces by `delta`, and an image in the making by
   * `partial_image` (developers.openai.com/docs/guides/streaming-responses, looked up on 2026-11-26).
   */
  // Mutant `"Stryker was here!"` survives: no keep-alive has this name
  isNew(data: string, name: string = ""): boolean {
    const json = Result.getOrUndefined(Json.parse(data))
    const type = Json.text(Json.field(json, "type")) ?? ""
    if (keepAlive.test(name) || keepAlive.test(type)) return false
    if (Json.text(Json.field(json, "delta")) !== undefined || type.endsWith("partial_image")) return true
    const hash = Hash.string(data.replaceAll(/[0-9]/g, ""))
    if (this.#seen.has(hash)) return false
    if (this.#seen.size >= most) this.#seen.clear()
    this.#seen.add(hash)
    return true
  }
}

const keepAlive = /^(?:ping|keep.?alive|heartbeat)$/i
