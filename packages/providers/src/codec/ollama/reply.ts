/** Reads the calls, the finish reason and the usage in lines of Ollama's `/api/chat`. */
import type * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import * as Size from "../../transport/Size.ts"
import { tokenCount } from "../tokenCount.ts"

/** Collects the calls of a reply from all of its lines. */
export class Calls {
  readonly all: Array<Message.ToolCall> = []
  /** The bytes of all calls so far. */
  size = 0
  readonly #ids = new Set<string>()
  /** The first number that may be free for an id. All smaller numbers are used. */
  #next = 0
  #time: string | undefined

  /** Adds a call of a line. A missing or repeated id is replaced by one that is made from the time of the first line with a call. */
  add(call: Schema.Json, line: Schema.Json): void {
    const fn = Json.field(call, "function")
    // Mutant `"Stryker was here!"` #1 survives: the next step removes all but digits, so the text is empty in the end
    this.#time ??= (Json.text(Json.field(line, "created_at")) ?? "").replaceAll(/\D/g, "").slice(0, maxTime)
    const base = this.#time === "" ? "call" : `call_${this.#time}`
    let id = Json.text(Json.field(call, "id")) ?? `${base}_${this.all.length}`
    this.#next = Math.max(this.#next, this.all.length)
    while (this.#ids.has(id)) id = `${base}_${this.#next++}`
    this.#ids.add(id)
    const name = Json.text(Json.field(fn, "name")) ?? ""
    const made: Message.ToolCall = { type: "tool-call", id, name, arguments: Json.field(fn, "arguments") ?? null }
    this.size += Size.ofPart(made)
    this.all.push(made)
  }
}

/** How many digits of a time are used in an id: enough for nanoseconds, and few enough for providers that limit the length of ids. */
const maxTime = 23

export const finishOf = (reason: string | undefined, calls: boolean): Message.FinishReason => {
  switch (reason) {
    case undefined:
    case "stop":
    case "tool_calls":
      return calls ? "tool-calls" : "stop"
    case "length":
      return "length"
    default:
      return "other"
  }
}

/** The usage in the last line of a reply. Older servers report no size for a cached prompt. */
export const usageOf = (line: Schema.Json): Usage.Usage =>
  Usage.make({
    inputTokens: tokenCount(Json.field(line, "prompt_eval_count")) ?? 0,
    outputTokens: tokenCount(Json.field(line, "eval_count")) ?? 0
  })
