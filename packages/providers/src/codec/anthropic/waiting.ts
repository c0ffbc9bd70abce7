/** Finds what a message waits for that is no call of a tool. */
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"

/**
 * The names of the tools that are declared with the provider's own types and that no tool of the agent answers. A
 * `tool_use` of such a name is for the client: for `bash`, `text_editor`, `computer` and `memory` of
 * platform.claude.com's tool reference, looked up on 2026-11-26. The provider answers its other tools itself, as
 * `server_tool_use`.
 */
export const unansweredNames = (
  providerTools: ReadonlyArray<Schema.Json> | undefined,
  providerCalls: ReadonlyArray<string> | undefined
): ReadonlySet<string> => {
  const names = (providerTools ?? []).map((tool) => Json.text(Json.field(tool, "name")) ?? "")
  return new Set(names.filter((name) => name !== "" && providerCalls?.includes(name) !== true))
}

/** The calls besides `tool_use` that have no result yet: of the provider's own tools, and of kinds that are not known here. */
export class Unanswered {
  readonly #kinds = new Map<string, string>()
  readonly #names: ReadonlySet<string>
  #isAnswer = false
  /** The first call of a tool of these names. */
  #named: string | undefined

  constructor(names: ReadonlySet<string>) {
    this.#names = names
  }

  /** Notes a whole block. */
  note(block: Schema.Json): void {
    const type = Json.text(Json.field(block, "type")) ?? ""
    const [id, of] = [Json.text(Json.field(block, "id")), Json.text(Json.field(block, "tool_use_id"))]
    if (of !== undefined) this.#kinds.delete(of)
    const name = Json.text(Json.field(block, "name")) ?? ""
    if (type === "tool_use" && this.#names.has(name)) this.#named ??= name
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
    const goesOn = goingOn.has(reason ?? "")
    if (this.#named !== undefined && !goesOn) return this.#named
    const waits = reason === "tool_use" ? !calls : !this.#isAnswer && !goesOn
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
