/**
 * Makes requests that name the stored reply before them (`previous_response_id`), and send only the messages after it.
 *
 * A reply carries its id in an item of the kind `stored_response`. The item counts as a thought: it is marked with the family of its model
 * and a digest of all that came before the reply, and is left out of a request if one of them differs. It also has digests of the reply and
 * of the account. If one of these differs, the whole transcript is sent.
 *
 * developers.openai.com/api/docs/guides/conversation-state and the reference of `responses.create`, looked up on 2026-11-26: OpenAI carries
 * over the earlier messages and replies, but not `instructions`, and stores a reply for 30 days. Users report that it answers an unknown id
 * with 400 and the code `previous_response_not_found` (github.com/maximhq/bifrost/issues/2441, looked up on 2026-11-26); other servers
 * answer 404. An organization with zero data retention gets the error "Previous response cannot be used for this organization", as public
 * READMEs of forks of Codex CLI say (looked up on 2026-11-26).
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Decoder } from "../../transport/Decoder.ts"
import type { Source } from "../../transport/Source.ts"
import type { Report } from "../../classify/Report.ts"
import * as Json from "../../transport/Json.ts"
import type { Codec } from "../Codec.ts"
import * as OpenAiError from "../openAiError.ts"
import { digestOf } from "../prefixDigest.ts"
import { kinds, storedReply } from "../thoughts.ts"
import { answersTo } from "./items.ts"

/** The stored reply that a request continues, and what is sent after it. */
export interface Link {
  readonly id: string
  /** The items that answer the calls of the stored reply. */
  readonly answers: ReadonlyArray<Schema.JsonObject>
  readonly messages: Message.Transcript
}

/** Chains requests: each names the stored reply before it, and replies carry their ids. */
export interface Chain {
  /**
   * The stored reply that a request continues. It must be the last reply of the transcript, unchanged and of this account, and something
   * must come after it; otherwise `undefined`.
   */
  readonly linkIn: (request: Pick<Model.Request, "messages" | "options" | "output">) => Link | undefined
  /**
   * Wraps a codec so that its replies carry their ids. A request whose stored reply the provider does not know is sent again without its
   * id.
   */
  readonly around: (codec: Codec) => Codec
}

const dataOf = (part: Message.Assistant["content"][number], provider: string): Schema.JsonObject | undefined =>
  isStored(part) && part.opaque.provider === provider ? Json.object(part.opaque.data) : undefined

const isStored = (part: Message.Assistant["content"][number]): part is Message.ProviderItem =>
  part.type === "provider-item" && part.kind === storedReply

/** A digest of what a reply says, without its thoughts. It is the same for a whole reply and for a streamed one. */
const digestOfReply = ({ content }: Pick<Message.Assistant | Message.Reply, "content">): string =>
  digestOf([
    Message.textOf({ content: content.filter(({ type }) => type === "text") }),
    ...content.flatMap((part): ReadonlyArray<Schema.Json> => {
      if (part.type === "provider-item") return kinds.has(part.kind) ? [] : [part.kind, part.opaque.data]
      if (part.type !== "tool-call" && part.type !== "settled-call") return []
      const call = part.type === "tool-call" ? part : part.call
      return [call.id, call.name, call.arguments]
    })
  ])

/**
 * A digest of the schema of an output. A schema that the wire does not take is put into a text before the conversation, which the provider
 * stores with it, so a change of the schema ends the chain.
 */
const digestOfOutput = (output: Model.OutputSpec | undefined): string =>
  output === undefined ? "" : digestOf([output.schema])

/**
 * Makes the chains of one account. The last four characters of a digest, some 20 bits, distinguish accounts in transcripts; they reveal
 * nothing of a key.
 */
export const make = ({ provider, secrets }: Source, named: ReadonlyArray<string>): Chain => {
  const account = digestOf([...named, ...secrets.map(Redacted.value)]).slice(-4)

  const linkIn: Chain["linkIn"] = ({ messages: transcript, options, output }) => {
    if (namesConversation(options)) return undefined
    const at = transcript.findLastIndex(({ role }) => role === "assistant")
    const message = transcript[at]
    if (message?.role !== "assistant" || message.incomplete === true) return undefined
    const data = message.content.map((part) => dataOf(part, provider)).find(Predicate.isNotUndefined)
    const id = Json.text(data?.["id"])
    if (id === undefined || data?.["account"] !== account || data["reply"] !== digestOfReply(message)) return undefined
    if (data["output"] !== digestOfOutput(output)) return undefined
    const answers = answersTo(message, provider)
    const messages = transcript.slice(at + 1)
    return answers === undefined || answers.length + messages.length === 0 ? undefined : { id, answers, messages }
  }

  /**
   * The item with the id of a reply. A reply has one only if it is complete, says something, and is stored as a part of this transcript.
   */
  const itemOf = (reply: Message.Reply, request: Model.Request | undefined): ReadonlyArray<Message.ProviderItem> =>
    reply.responseId === undefined ||
    reply.rawFinish !== "completed" ||
    reply.content.every(isThought) ||
    request?.options?.["store"] === false ||
    namesConversation(request?.options)
      ? []
      : [
          {
            type: "provider-item",
            kind: storedReply,
            opaque: {
              provider,
              data: {
                id: reply.responseId,
                account,
                reply: digestOfReply(reply),
                output: digestOfOutput(request?.output)
              }
            }
          }
        ]
  const decoding = (decoder: Decoder<Model.Part>, request: Model.Request | undefined): Decoder<Model.Part> => {
    const said = new Model.Collector()
    const named = (parts: ReadonlyArray<Model.Part>) =>
      parts.flatMap((part): ReadonlyArray<Model.Part> => {
        said.push(part)
        const reply = part.type === "finish" ? said.reply() : undefined
        return reply === undefined ? [part] : [...itemOf(reply, request), part]
      })
    return {
      framing: decoder.framing,
      whole: decoder.whole,
      push: (data, event) => {
        const read = decoder.push(data, event)
        return Result.mapBoth(read, {
          onFailure: (error) => (said.isShown ? error : withReports(error, data)),
          onSuccess: named
        })
      },
      end: () => Result.map(decoder.end(), named),
      state: () => decoder.state(),
      held: () => decoder.held?.() ?? 0,
      model: () => decoder.model?.()
    } satisfies Required<Decoder<Model.Part>>
  }

  const around = (codec: Codec): Codec => {
    const { jobs } = codec
    return {
      ...codec,
      decode: (answer, request) =>
        Result.mapBoth(codec.decode(answer, request), {
          onFailure: (error) => withReports(error, answer.body),
          onSuccess: (reply) => ({ ...reply, content: [...reply.content, ...itemOf(reply, request)] })
        }),
      decoder: (answer, request) => decoding(codec.decoder(answer, request), request),
      ...(jobs === undefined
        ? {}
        : { jobs: { ...jobs, decoder: (answer, request) => decoding(jobs.decoder(answer, request), request) } }),
      classify: (answer) => withReports(codec.classify(answer), answer.body),
      anew: (error, request) => {
        const link = reports.has(error) ? linkIn(request) : undefined
        if (link === undefined || !isLost(error, link)) return undefined
        const messages = request.messages.map((message) =>
          message.role === "assistant" && message.content.some(isStored)
            ? { ...message, content: message.content.filter((part) => !isStored(part)) }
            : message
        )
        return { ...request, messages }
      }
    }
  }

  return { linkIn, around }
}

/** Whether the fields of a body say themselves which reply or conversation a request continues. */
export const namesConversation = (fields: object = {}): boolean =>
  "previous_response_id" in fields || "conversation" in fields

const isThought = ({ type }: Message.Reply["content"][number]): boolean => type === "reasoning"

/** The reports of the provider with errors that came before any part of a reply. */
const reports = new WeakMap<LlmError, ReadonlyArray<Report>>()

const withReports = (error: LlmError, body: string): LlmError => {
  const json = Result.getOrUndefined(Json.parse(body)) ?? null
  const all = [json, Json.field(json, "response") ?? null].map(OpenAiError.format.read)
  reports.set(error, all.filter(Predicate.isNotUndefined))
  return error
}

/**
 * Whether an error says that the provider does not have the stored reply, or accepts none. The words of the error count only if its class
 * has no other reason.
 */
const isLost = (error: LlmError, { id }: Link): boolean =>
  (reports.get(error) ?? []).some(({ codes, param, text }) => {
    if (codes.includes("previous_response_not_found") || param === "previous_response_id") return true
    const words = text.toLowerCase()
    return vague.has(error._tag) && (text.includes(id) || lostWords.some((lost) => words.includes(lost)))
  })

const vague: ReadonlySet<LlmError["_tag"]> = new Set<LlmError["_tag"]>([
  "InvalidRequestError",
  "ModelNotFoundError",
  "CapabilityMismatchError",
  "UnknownLlmError"
])

const lostWords = ["previous response", "previous_response", "response not found", "response has expired"]
