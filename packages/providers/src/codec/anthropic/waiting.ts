/** Finds the calls in a message that wait for an answer, and that no tool of the agent answers. */
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"

/**
 * The names of those provider tools that the client has to answer, and that no tool of the agent answers. A `tool_use` with such a name is
 * for the client, as with `bash`, `text_editor`, `computer` and `memory` of platform.claude.com's tool reference, looked up on 2026-11-26.
 * The provider answers its other tools itself, as `server_tool_use`.
 */
export const unansweredNames = (
  providerTools: ReadonlyArray<Schema.Json> | undefined,
  providerCalls: ReadonlyArray<string> | undefined
): ReadonlySet<string> => {
  const names = (providerTools ?? []).map((tool) => Json.text(Json.field(tool, "name")) ?? "")
  return new Set(names.filter((name) => name !== "" && providerCalls?.includes(name) !== true))
}

/** Collects the calls that have no result yet: of the provider's own tools, and of kinds that this library does not know. */
export class Unanswered {
  readonly #kinds = new Map<string, string>()
  readonly #names: ReadonlySet<string>
  #isAnswer = false
  /** The name in the first call of a tool with one of `names`. */
  #named: string | undefined

  constructor(names: ReadonlySet<string>) {
    this.#names = names
  }

  /** Records a whole block: a call, or the result of one. */
  note(block: Schema.Json): void {
    // Mutant `"Stryker was here!"` survives: it is no type either
    const type = Json.text(Json.field(block, "type")) ?? ""
    const [id, of] = [Json.text(Json.field(block, "id")), Json.text(Json.field(block, "tool_use_id"))]
    if (of !== undefined) this.#kinds.delete(of)
    const name = Json.text(Json.field(block, "name")) ?? ""
    if (type === "tool_use" && this.#names.has(name)) this.#named ??= name
    if (type.endsWith("_tool_use")) this.#kinds.set(id ?? "", type)
    this.#isAnswer ||= type === "tool_use" || (type === "text" && Json.text(Json.field(block, "text")) !== undefined)
  }

  /** Records that the message has a text, which came in pieces. */
  answered(): void {
    this.#isAnswer = true
  }

  /**
   * The kind or name of the call that a message with this stop reason waits for; `undefined` if it waits for none. A message with text
   * waits only if its stop reason says so. A message with tool calls waits for these first.
   */
  kind(reason: string | undefined, calls: boolean): string | undefined {
    // Mutant `"Stryker was here!"` survives: it is no reason either
    const goesOn = goingOn.has(reason ?? "")
    if (this.#named !== undefined && !goesOn) return this.#named
    const waits = reason === "tool_use" ? !calls : !this.#isAnswer && !goesOn
    return waits ? [...this.#kinds.values()][0] : undefined
  }
}

/** The stop reasons after which the message waits for nothing: the provider continues it in the next request, or it was cut off. */
const goingOn: ReadonlySet<string> = new Set([
  "pause_turn",
  "compaction",
  "max_tokens",
  "model_context_window_exceeded"
])
