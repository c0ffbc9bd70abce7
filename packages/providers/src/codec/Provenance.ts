/**
 * Marks thoughts with their origin: their provider, the family of their model, and a digest of all that came before them. A request sends
 * them back only if all three match, because some providers refuse it otherwise. Since Claude Fable 5.1, Anthropic reads only thoughts of
 * certain models, and only behind the same system prompt, tools and messages
 * (platform.claude.com/docs/en/build-with-claude/preserved-thinking, looked up on 2026-11-26).
 *
 * The family is that of the requested model, even if the reply names the model otherwise: by a deployment or an alias. Only if the request
 * names a router, or models to fall back to, can another model reply. The reply then names that model, and its family counts.
 *
 * Thoughts without a family or a digest come from an older version of this library. A missing mark counts as a match, so they are sent back
 * to their provider as before.
 */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Result from "effect/Result"
import type { Decoder } from "../transport/Decoder.ts"
import type { Source } from "../transport/Source.ts"
import type { Codec } from "./Codec.ts"
import { familyOf } from "./Family.ts"
import { digestOf, digestOfMessage, digestOfSpec } from "./prefixDigest.ts"
import { remembering } from "./Remembering.ts"
import { fallbacksIn, isRouter, servedFamily } from "./servedFamily.ts"
import { kinds, thoughtIn, unsigned } from "./thoughts.ts"

/** A request without foreign thoughts, and functions that mark the thoughts of its reply with their origin. */
export interface Traced {
  /** The request, without thoughts that another model wrote, or before which the transcript has changed. */
  readonly request: Model.Request
  /** Marks the thoughts of a whole reply with their origin. */
  readonly marked: (reply: Message.Reply) => Message.Reply
  /** Marks the thoughts that a decoder returns with their origin. */
  readonly marking: (decoder: Decoder<Model.Part>) => Decoder<Model.Part>
}

/** The digests and origins of one message. Later requests look them up, so that each request reads only new messages. */
interface Entry {
  /** `before` is the digest of all messages before this one, `after` the digest that includes this one. */
  before: string
  after: string
  readonly own: string
  readonly origins: ReadonlyArray<Origin>
}

type Origin = Pick<Message.Opaque, "family" | "before">

/** Makes the function that traces the thoughts in the requests of one model. */
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
      codec.bindsThoughts ?? null,
      output === undefined ? null : ofSchema(output),
      messages.flatMap((message) => (message.role === "system" ? ofSystem(message) : []))
    ])
  const read = (message: Message.Message, before: string): Entry => {
    const found = entries.get(message)
    if (found?.before === before) return found
    const own = found?.own ?? digestOfMessage(message)
    const origins = message.role === "assistant" ? originsOf(message, provider) : []
    const made = { before, after: digestOf([before, own]), own, origins }
    entries.set(message, made)
    return made
  }

  const hasThoughts = remembering(({ content }: Message.Assistant) =>
    content.some((part) => thoughtIn(part, provider) !== undefined)
  )

  return (request) => {
    const beginning = codec.bindsThoughts === undefined ? "" : beginningOf(request)
    // The list may grow while the request is under way.
    const messages = [...request.messages]
    let isWhole = true
    /** The messages without foreign thoughts. A transcript without thoughts needs no digest until the reply has some. */
    const sent = (): ReadonlyArray<Message.Message> => {
      let before = beginning
      return messages.map((message) => {
        const { after, before: actual, origins } = read(message, before)
        before = after
        if (message.role !== "assistant") return message
        const isOurs = origins.every((of) => (of.family ?? family) === family && (of.before ?? actual) === actual)
        if (isOurs) return message
        isWhole = false
        return stripped(message)
      })
    }
    const whole = messages.some((message) => message.role === "assistant" && hasThoughts(message)) ? sent() : messages
    let digest: string | undefined
    const before = (): string =>
      (digest ??= messages.reduce((before, message) => read(message, before).after, beginning))
    const others = isRouter(model) || (fallbacksIn(request.options) ?? codec.fallbacks)
    const marked = <P extends Model.Part | Message.Reply["content"][number]>(
      part: P,
      served: string | undefined
    ): P => {
      const opaque = thoughtIn(part, provider)
      return opaque === undefined
        ? part
        : { ...part, opaque: { ...opaque, family: servedFamily(family, served, others), before: before() } }
    }
    return {
      request: isWhole ? request : { ...request, messages: whole },
      marked: (reply) => ({ ...reply, content: reply.content.map((part) => marked(part, reply.model)) }),
      marking: (decoder) => {
        const ofParts = Result.map((parts: ReadonlyArray<Model.Part>) =>
          parts.map((part) => marked(part, decoder.model?.()))
        )
        return {
          framing: decoder.framing,
          whole: decoder.whole,
          push: (data, event) => ofParts(decoder.push(data, event)),
          end: () => ofParts(decoder.end()),
          state: () => decoder.state(),
          held: () => decoder.held?.() ?? 0,
          model: () => decoder.model?.()
        } satisfies Required<Decoder<Model.Part>>
      }
    }
  }
}

/** The origins of the thoughts in a message. All thoughts are of one reply, but two models may have contributed to it. */
const originsOf = ({ content }: Message.Assistant, provider: string): ReadonlyArray<Origin> =>
  // Mutant `["Stryker was here"]` survives: what has no marks counts as a match
  content.flatMap((part) => thoughtIn(part, provider) ?? [])

/**
 * Removes from a message the thoughts that only this provider's model can read. Signatures are removed from calls and items, which stay.
 */
const withoutThoughts = (message: Message.Assistant, provider: string): Message.Assistant => ({
  ...message,
  content: message.content.flatMap((part): Message.Assistant["content"] => {
    const opaque = thoughtIn(part, provider)
    if (opaque === undefined) return [part]
    if (part.type === "settled-call") {
      const { opaque: _o, ...call } = part.call
      return [{ ...part, call: { ...call, opaque: unsigned(opaque) } }]
    }
    if (part.type !== "provider-item" || kinds.has(part.kind)) return []
    return [{ ...part, opaque: unsigned(opaque) }]
  })
})
