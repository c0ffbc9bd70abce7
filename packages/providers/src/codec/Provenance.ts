/**
 * Where thoughts come from: their provider, the family of their model, and the digest of what stood before them. They go back only where
 * all three match. Otherwise some providers refuse the request: since Claude Fable 5.1, Anthropic reads thoughts of certain other models
 * alone, and only behind the same system prompt, tools and messages
 * (platform.claude.com/docs/en/build-with-claude/preserved-thinking, looked up on 2026-11-26).
 *
 * Thoughts without a family or a digest are of an older version of this library: what they lack counts as equal, so they are sent to their
 * provider as before.
 */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Source } from "../transport/Source.ts"
import type { Codec } from "./Codec.ts"
import { familyOf } from "./Family.ts"
import { digestOf, digestOfMessage, digestOfSpec } from "./prefixDigest.ts"
import { remembering } from "./Remembering.ts"

/** A request as it is sent, and what its reply needs. */
export interface Traced {
  /** Without the thoughts that are of another model, or stood behind something else. */
  readonly request: Model.Request
  /** A part of the reply, thoughts with their origin. */
  readonly marked: <P extends Model.Part | Message.Reply["content"][number]>(part: P) => P
}

/** What is known of one message. Later requests look it up, so each reads only what is new. */
interface Entry {
  /** The digest of the messages before it, and of those with it. */
  before: string
  after: string
  readonly own: string
  readonly origin: Origin | undefined
}

type Origin = Pick<Message.Opaque, "family" | "before">

/** Traces the thoughts of one model. */
export const make = ({ model, provider }: Source, codec: Codec): ((request: Model.Request) => Traced) => {
  const family = familyOf(model)
  const entries = new WeakMap<Message.Message, Entry>()
  const stripped = remembering((message: Message.Assistant) => {
    const bare = withoutThoughts(message, provider)
    return codec.withoutThoughts?.(bare, message) ?? bare
  })
  const ofSpec = remembering(digestOfSpec)
  const ofSchema = remembering(({ schema }: Model.OutputSpec) => digestOf([schema]))
  const ofSystem = remembering(digestOfMessage)
  const beginningOf = ({ messages, output, tools }: Model.Request): string =>
    digestOf([
      tools.map(ofSpec),
      output === undefined ? null : ofSchema(output),
      messages.flatMap((message) => (message.role === "system" ? ofSystem(message) : []))
    ])
  const read = (message: Message.Message, before: string): Entry => {
    const found = entries.get(message)
    if (found?.before === before) return found
    const own = found?.own ?? digestOfMessage(message)
    const origin = message.role === "assistant" ? originOf(message, provider) : undefined
    const made = { before, after: digestOf([before, own]), own, origin }
    entries.set(message, made)
    return made
  }

  return (request) => {
    let before = codec.bindsThoughts === true ? beginningOf(request) : ""
    let isWhole = true
    const sent = request.messages.map((message) => {
      const { after, before: actual, origin } = read(message, before)
      before = after
      if (origin === undefined || message.role !== "assistant") return message
      if ((origin.family ?? family) === family && (origin.before ?? actual) === actual) return message
      isWhole = false
      return stripped(message)
    })
    const origin = { family, before }
    return {
      request: isWhole ? request : { ...request, messages: sent },
      marked: (part) => {
        const opaque = thoughtIn(part, provider)
        return opaque === undefined ? part : { ...part, opaque: { ...opaque, ...origin } }
      }
    }
  }
}

type Part = Model.Part | Message.Reply["content"][number] | Message.Assistant["content"][number]

/** The provider's data of a thought, of an item that is one, or of a part that a signature makes one. */
const thoughtIn = (part: Part, provider: string): Message.Opaque | undefined => {
  switch (part.type) {
    case "reasoning":
    case "reasoning-delta":
      return part.opaque?.provider === provider ? part.opaque : undefined
    case "provider-item":
      return part.opaque.provider === provider && (thoughts.has(part.kind) || isSigned(part.opaque))
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

/** The kinds of items that are thoughts: Anthropic's, OpenRouter's, and Gemini's signature of a text. */
const thoughts: ReadonlySet<string> = new Set(["redacted_thinking", "reasoning_details", "thoughtSignature"])

const isSigned = ({ data }: Message.Opaque): boolean =>
  signatures.some((signature) => Predicate.hasProperty(data, signature))

/** Gemini's field beside what its thoughts led to, and that of servers before it. */
const signatures = ["thoughtSignature", "thought_signature"]

/** The origin of the thoughts of a message: all are of one reply. */
const originOf = ({ content }: Message.Assistant, provider: string): Origin | undefined => {
  for (const part of content) {
    const opaque = thoughtIn(part, provider)
    if (opaque !== undefined && (opaque.family !== undefined || opaque.before !== undefined)) return opaque
  }
  return undefined
}

/** The message without what only this provider's model could read of its thoughts. */
const withoutThoughts = (message: Message.Assistant, provider: string): Message.Assistant => ({
  ...message,
  content: message.content.flatMap((part): Message.Assistant["content"] => {
    const opaque = thoughtIn(part, provider)
    if (opaque === undefined) return [part]
    if (part.type === "settled-call") {
      const { opaque: _o, ...call } = part.call
      return [{ ...part, call: { ...call, opaque: unsigned(opaque) } }]
    }
    if (part.type !== "provider-item" || thoughts.has(part.kind)) return []
    return [{ ...part, opaque: unsigned(opaque) }]
  })
})

/** What a provider says beside its signature, such as the id of a call. */
const unsigned = ({ data, provider }: Message.Opaque): Message.Opaque => {
  // values within JSON are JSON, and only objects are signed
  const fields = Object.entries(data as Schema.JsonObject).filter(([name]) => !signatures.includes(name))
  return { provider, data: Object.fromEntries(fields) }
}
