/** Finds what a message waits for that is no call of a tool. */
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"

/** The calls besides `tool_use` that have no result yet: of the provider's own tools, and of kinds that are not known here. */
export class Unanswered {
  readonly #kinds = new Map<string, string>()
  #isAnswer = false

  /** Notes a whole block. */
  note(block: Schema.Json): void {
    const type = Json.text(Json.field(block, "type")) ?? ""
    const [id, of] = [Json.text(Json.field(block, "id")), Json.text(Json.field(block, "tool_use_id"))]
    if (of !== undefined) this.#kinds.delete(of)
    if (type.endsWith("_tool_use")) this.#kinds.set(id ?? "", type)
    this.#isAnswer ||= type === "tool_use" || (type === "text" && Json.text(Json.field(block, "text")) !== undefined)
  }

  /** Notes a text that came in pieces. */
  answered(): void {
    this.#isAnswer = true
  }

  /**
   * The kind that a message with this stop reason waits for; `undefined` if it waits for none. A message with text
   * waits only if its stop reason says so, and one with calls waits for these first.
   */
  kind(reason: string | undefined, calls: boolean): string | undefined {
    const waits = reason === "tool_use" ? !calls : !this.#isAnswer && !goingOn.has(reason ?? "")
    return waits ? [...this.#kinds.values()][0] : undefined
  }
}

/** The provider goes on by itself with the next request, or the message was cut off. */
const goingOn: ReadonlySet<string> = new Set([
  "pause_turn",
  "compaction",
  "max_tokens",
  "model_context_window_exceeded"
])
