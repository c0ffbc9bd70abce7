/**
 * Collects what a chat completion has beside its text: annotations of the text, such as the sources of a search (`message.annotations`),
 * and the log probabilities of its tokens (`choice.logprobs`); both are in OpenAI's API reference, "Chat Completions", looked up on
 * 2026-11-26. In a stream they come in pieces. They become provider items of the reply, and are never sent back.
 */
import type * as Message from "@kintsugi/core/Message"
import type * as Schema from "effect/Schema"
import type { Source } from "../../transport/Source.ts"
import * as Json from "../../transport/Json.ts"
import * as Size from "../../transport/Size.ts"
import { Lists } from "../lists.ts"

/** Collects the annotations and log probabilities of one reply. */
export class Remarks {
  /** The annotations by their JSON text, because some servers repeat an annotation with every piece. */
  readonly #annotations = new Map<string, Schema.Json>()
  readonly #logprobs = new Lists()
  #size = 0

  ofChoice(choice: Schema.Json | undefined): void {
    this.#logprobs.push(Json.field(choice, "logprobs"))
  }

  /** Adds the annotations of a whole message, or of a delta. */
  ofMessage(message: Schema.Json | undefined): void {
    for (const one of Json.items(Json.field(message, "annotations"))) {
      const text = JSON.stringify(one)
      if (!this.#annotations.has(text)) this.#size += Size.ofJson(one)
      this.#annotations.set(text, one)
    }
  }

  /** The bytes of all annotations and log probabilities so far. */
  get size(): number {
    return this.#size + this.#logprobs.size
  }

  items({ provider }: Source): ReadonlyArray<Message.ProviderItem> {
    const annotations = [...this.#annotations.values()]
    const logprobs = this.#logprobs.all
    const item = (kind: string, data: Schema.Json) => ({
      type: "provider-item" as const,
      kind,
      opaque: { provider, data }
    })
    return [
      ...(annotations.length === 0 ? [] : [item("annotations", annotations)]),
      ...(logprobs === undefined ? [] : [item("logprobs", logprobs)])
    ]
  }
}
