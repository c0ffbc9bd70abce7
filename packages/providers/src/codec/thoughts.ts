/** Which parts of a reply are thoughts: data that only the model that wrote them can read. */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

type Part = Model.Part | Message.Reply["content"][number] | Message.Assistant["content"][number]

/** The provider's data of a thought, of an item that is one, or of a part that a signature makes one. */
export const thoughtIn = (part: Part, provider: string): Message.Opaque | undefined => {
  switch (part.type) {
    case "reasoning":
    case "reasoning-delta":
      return part.opaque?.provider === provider ? part.opaque : undefined
    case "provider-item":
      return part.opaque.provider === provider && (kinds.has(part.kind) || isSigned(part.opaque))
        ? part.opaque
        : undefined
    case "tool-call":
      return part.opaque?.provider === provider && isSigned(part.opaque) ? part.opaque : undefined
    case "settled-call":
      return thoughtIn(part.call, provider)
    default:
      return undefined
  }
}

/** The kind of the item that names a reply which the provider stores: it stands for all that was said before. */
export const storedReply = "stored_response"

/** The kinds of items that are thoughts: Anthropic's, OpenRouter's, Gemini's signature of a text, and what stands for a stored reply. */
export const kinds: ReadonlySet<string> = new Set([
  "redacted_thinking",
  "reasoning_details",
  "thoughtSignature",
  storedReply
])

const isSigned = ({ data }: Message.Opaque): boolean =>
  signatures.some((signature) => Predicate.hasProperty(data, signature))

/** Gemini's field beside what its thoughts led to, and that of servers before it. */
const signatures = ["thoughtSignature", "thought_signature"]

/** What a provider says beside its signature, such as the id of a call. */
export const unsigned = ({ data, provider }: Message.Opaque): Message.Opaque => ({
  provider,
  data: isObject(data) ? Object.fromEntries(Object.entries(data).filter(([name]) => !signatures.includes(name))) : data
})

/** An object within JSON holds JSON. */
const isObject = (json: Schema.Json): json is Schema.JsonObject => Predicate.isObject(json)
