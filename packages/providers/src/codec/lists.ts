/** Lists that come in pieces, such as the log probabilities of a stream, whose chunks each have those of their tokens. */
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"
import * as Size from "../transport/Size.ts"

/** Joins the lists of objects by the names of their fields; other fields are ignored. */
export class Lists {
  readonly #lists = new Map<string, Array<Schema.Json>>()
  /** The bytes of all items. */
  size = 0

  push(fields: Schema.Json | undefined): void {
    for (const [name, value] of Object.entries(Json.fields(fields))) {
      const items = Json.items(value)
      if (items.length === 0) continue
      const list = this.#lists.get(name) ?? []
      for (const item of items) {
        list.push(item)
        this.size += Size.ofJson(item)
      }
      this.#lists.set(name, list)
    }
  }

  /** All lists that are not empty; `undefined` if there is none. */
  get all(): Schema.JsonObject | undefined {
    return this.#lists.size === 0 ? undefined : Object.fromEntries(this.#lists)
  }
}
