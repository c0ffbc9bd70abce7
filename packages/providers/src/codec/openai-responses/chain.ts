/**
 * Requests that name the stored reply before them (`previous_response_id`), and send only what came after it.
 *
 * A reply carries its id in an item of the kind `stored_response`. The item counts as a thought: it has the family of its model and the digest
 * of what stood before the reply, and is left out of requests where they differ. It also has a digest of the reply and of the account. Where
 * one of these is another one, the whole transcript is sent.
 *
 * developers.openai.com/api/docs/guides/conversation-state and the reference of `responses.create`, looked up on 2026-11-26: what was sent and
 * said before is carried over, `instructions` are not, and a reply is stored for 30 days. That an unknown id is answered with 400 and the code
 * `previous_response_not_found` is what users report (github.com/maximhq/bifrost/issues/2441, looked up on 2026-11-26); other servers answer 404.
 * That an organization with zero data retention hears "Previous response cannot be used for this organization" stands in public READMEs of
 * forks of Codex CLI (looked up on 2026-11-26).
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

/** The stored reply that a request goes on from. */
export interface Link {
  readonly id: string
  /** The answers to the calls of the reply. */
  readonly answers: ReadonlyArray<Schema.JsonObject>
  readonly messages: Message.Transcript
}

/** What a layer does whose requests name the reply before them. */
export interface Chain {
  /** The reply that a request goes on from, if it is the last one, unchanged, and of this account; only with something to send. */
  readonly linkIn: (request: Pick<Model.Request, "messages" | "options" | "output">) => Link | undefined
  /** The codec whose replies carry their ids, and whose requests are sent anew without one that the provider does not know. */
  readonly around: (codec: Codec) => Codec
}

const dataOf = (part: Message.Assistant["content"][number], provider: string): Schema.JsonObject | undefined =>
  isStored(part) && part.opaque.provider === provider ? Json.object(part.opaque.data) : undefined

const isStored = (part: Message.Assistant["content"][number]): part is Message.ProviderItem =>
  part.type === "provider-item" && part.kind === storedReply

/** What a reply says, whole or in parts, and without its thoughts. */
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

/** An output whose schema the wire does not take is described in a text before the conversation, which is stored with it. */
const digestOfOutput = (output: Model.OutputSpec | undefined): string =>
  output === undefined ? "" : digestOf([output.schema])

/** The chains of one account. Their items are part of transcripts: a rest of some 20 bits tells accounts apart, and says nothing of a key. */
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

  /** The item of a reply that has come to its end, says something, and is stored behind this transcript. */
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

/** Whether fields say themselves what a request goes on from. */
export const namesConversation = (fields: object = {}): boolean =>
  "previous_response_id" in fields || "conversation" in fields

const isThought = ({ type }: Message.Reply["content"][number]): boolean => type === "reasoning"

/** What the provider said with an error that came before anything of a reply. */
const reports = new WeakMap<LlmError, ReadonlyArray<Report>>()

const withReports = (error: LlmError, body: string): LlmError => {
  const json = Result.getOrUndefined(Json.parse(body)) ?? null
  const all = [json, Json.field(json, "response") ?? null].map(OpenAiError.format.read)
  reports.set(error, all.filter(Predicate.isNotUndefined))
  return error
}

/** Whether an error says that the provider does not have the reply that a request named, or takes none. Words count beside no other reason. */
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
