/** Joins lists that come in pieces, such as the log probabilities of a stream: each chunk has those of its own tokens. */
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"
import * as Size from "../transport/Size.ts"

/** Joins lists in the fields of objects by the names of the fields. Fields that are no lists are ignored. */
export class Lists {
  readonly #lists = new Map<string, Array<Schema.Json>>()
  /** The bytes of all items so far. */
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

  /** All lists that have items; `undefined` if there are none. */
  get all(): Schema.JsonObject | undefined {
    return this.#lists.size === 0 ? undefined : Object.fromEntries(this.#lists)
  }
}
