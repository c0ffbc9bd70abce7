/** Recognises the thoughts among the parts of a reply: data that only the model that wrote them can read. */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

type Part = Model.Part | Message.Reply["content"][number] | Message.Assistant["content"][number]

/**
 * The provider's data of a part that is a thought: of a reasoning part, of an item that is a thought, or of a part with a signature.
 * `undefined` for other parts.
 */
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

/** The kind of the item that names a reply which the provider stores. The item counts as a thought. */
export const storedReply = "stored_response"

/** The kinds of items that are thoughts: Anthropic's, OpenRouter's, Gemini's signature of a text, and the name of a stored reply. */
export const kinds: ReadonlySet<string> = new Set([
  "redacted_thinking",
  "reasoning_details",
  "thoughtSignature",
  storedReply
])

const isSigned = ({ data }: Message.Opaque): boolean =>
  signatures.some((signature) => Predicate.hasProperty(data, signature))

/** The fields that hold a signature, in a part that followed thoughts: Gemini's own field, and the field that servers in front of Gemini use. */
const signatures = ["thoughtSignature", "thought_signature"]

/** Removes the signature from a provider's data. The rest, such as the id of a call, stays. */
export const unsigned = ({ data, provider }: Message.Opaque): Message.Opaque => ({
  provider,
  data: isObject(data) ? Object.fromEntries(Object.entries(data).filter(([name]) => !signatures.includes(name))) : data
})

/** The type guard of a JSON object: the values within JSON are JSON. */
const isObject = (json: Schema.Json): json is Schema.JsonObject => Predicate.isObject(json)
