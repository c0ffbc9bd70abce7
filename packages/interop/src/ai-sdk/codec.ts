/** The codec for the models of the SDK: it writes requests as JSON for `client.ts`, and reads the JSON of its replies. */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Redaction from "@kintsugi/core/Redaction"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import * as Provider from "@kintsugi/providers/Provider"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Json, JsonObject } from "effect/Schema"
import * as Failure from "./failure.ts"
import * as Metadata from "./metadata.ts"
import { type Addressee, isTaken, type Sent } from "./prompt.ts"
import { approvalRequest, costIn, finishes, finishOf, PartReader, usageOf } from "./reply.ts"
import type { Version } from "./specification.ts"

type Answer = Parameters<Provider.Codec["classify"]>[0]
type Read = Result.Result<ReadonlyArray<Model.Part>, LlmError.LlmError>

/** Makes the codec of one model. */
export const make = (
  source: Provider.Source,
  to: Addressee<Version>,
  contextWindow: number | undefined
): Provider.Codec => {
  // the codec of OpenAI's chat completions knows the error names and error bodies of all providers
  const { classify } = OpenAiChat.make(source)
  return {
    providerTools: to.providerTools.length > 0,
    ...(contextWindow === undefined ? {} : { contextWindow }),
    takes: (part) => isTaken(part, to),
    ...(/anthropic/.test(source.provider) ? { bindsThoughts: to.providerTools.map(Failure.asJson) } : {}),
    refuses: ({ options }) => unnamed(source, options),
    encode: ({ messages, options, output, toolChoice, tools }) => {
      const sent: Sent = {
        messages,
        tools,
        toolChoice,
        // Mutant `false` survives: JSON has no `undefined`
        ...(output === undefined ? {} : { output }),
        // Mutant `false` survives: JSON has no `undefined`
        ...(options === undefined ? {} : { options })
      }
      return JSON.stringify(sent)
    },
    decode: (answer) => decode(new Reading(source, answer, classify), source, answer),
    decoder: (answer) => {
      const reading = new Reading(source, answer, classify)
      return {
        framing: "ndjson",
        push: (line) => Result.flatMap(parsed(source, answer, line), (part) => reading.read(part)),
        end: () => Result.succeed([]),
        state: () => (reading.isOver ? "done" : "open"),
        model: () => reading.facts.model
      }
    },
    classify
  }
}

/** Refuses request options that do not belong to a named provider, because the SDK cannot pass them on. */
const unnamed = (
  { model, provider }: Provider.Source,
  options: Model.Request["options"]
): LlmError.LlmError | undefined => {
  const wrong = Object.entries(options ?? {}).find(([, value]) => Metadata.objectOf(value) === undefined)
  if (wrong === undefined) return undefined
  const detail = `the option '${Redaction.foreign(wrong[0])}' is no object: options of a request are providerOptions of the AI SDK, by the names of providers`
  return LlmError.InvalidRequestError.make({ model, provider, detail })
}

const parsed = (
  source: Provider.Source,
  answer: Answer,
  text: string
): Result.Result<JsonObject, LlmError.LlmError> => {
  const json = Metadata.objectOf(
    Result.getOrElse(
      Result.try((): Json => JSON.parse(text)),
      () => null
    )
  )
  return json === undefined
    ? Result.fail(Provider.undecodable(source, { ...answer, body: text }, new Error("it is not a part of the AI SDK")))
    : Result.succeed(json)
}

/** Decodes a whole reply: its content is read like the parts of a stream, and then its end. */
const decode = (
  reading: Reading,
  source: Provider.Source,
  answer: Answer
): Result.Result<Message.Reply, LlmError.LlmError> =>
  Result.flatMap(parsed(source, answer, answer.body), (body): Result.Result<Message.Reply, LlmError.LlmError> => {
    if (body["type"] === "error") return Result.map(reading.read(body), () => empty)
    const content = Array.isArray(body["content"]) ? body["content"] : []
    const { finishReason, providerMetadata, response, usage } = body
    const end = { type: "finish", finishReason, usage, providerMetadata }
    const collector = new Model.Collector()
    for (const part of [{ ...Metadata.objectOf(response), type: "response-metadata" }, ...content, end]) {
      const read = reading.read(Metadata.objectOf(part as Json) ?? {})
      if (Result.isFailure(read)) return Result.fail(read.failure)
      for (const one of read.success) collector.push(one)
    }
    return Result.succeed(collector.reply() ?? empty)
  })

const empty: Message.Reply = {
  content: [],
  finish: "other",
  usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
}

/** Reads the parts of one reply, and its finish part. */
class Reading {
  readonly #source: Provider.Source
  readonly #answer: Answer
  readonly #classify: Provider.Codec["classify"]
  readonly #parts: PartReader
  isOver = false
  facts: Pick<Message.Reply, "model" | "responseId" | "requestId">

  constructor(source: Provider.Source, answer: Answer, classify: Provider.Codec["classify"]) {
    this.#source = source
    this.#answer = answer
    this.#classify = classify
    this.#parts = new PartReader(source.provider)
    const id = answer.headers["x-request-id"] ?? answer.headers["request-id"]
    this.facts = Predicate.isString(id) && id !== "" ? { requestId: Redaction.foreign(id) } : {}
  }

  read(part: JsonObject): Read {
    switch (part["type"]) {
      case "error": {
        const failure = Metadata.objectOf(part["error"]) ?? {}
        return Result.fail(Failure.failureOf(this.#source, this.#answer, failure, this.#classify))
      }
      case approvalRequest:
        return Result.fail(this.#unanswerable(approvalRequest))
      case "response-metadata": {
        const [model, responseId] = [Metadata.textOf(part["modelId"]), Metadata.textOf(part["id"])]
        this.facts = {
          ...this.facts,
          ...(model === undefined ? {} : { model }),
          ...(responseId === undefined ? {} : { responseId: Redaction.foreign(responseId) })
        }
        return Result.succeed([])
      }
      case "finish":
        return this.#finish(part)
      default:
        return Result.succeed(this.#parts.read(part))
    }
  }

  #finish({ finishReason, providerMetadata, usage: counts }: JsonObject): Read {
    const metadata = Metadata.byProvider(providerMetadata)
    const usage = usageOf(counts, metadata)
    const { raw, unified } = finishOf(finishReason)
    // without a finish part, the stream counts as broken off
    if (unified === "interrupted") return Result.succeed([{ type: "usage", usage }])
    const failure = Failure.ended(this.#source, this.#answer, { raw, unified, usage })
    if (failure !== undefined) return Result.fail(failure)
    this.isOver = true
    const serviceTier = Metadata.textOf(Metadata.fieldOf(metadata["openai"], "serviceTier"))
    return Result.succeed([
      {
        type: "finish",
        // Mutant `"Stryker was here!"` survives: no finish reason has this name
        finish: finishes.get(raw ?? "") ?? finishes.get(unified) ?? "other",
        usage,
        ...this.facts,
        rawFinish: Redaction.foreign(raw ?? unified),
        ...costIn(metadata),
        ...(serviceTier === undefined ? {} : { serviceTier: Redaction.foreign(serviceTier) })
      }
    ])
  }

  /** The error for a reply that waits for an approval of the client, which a run cannot give. */
  #unanswerable(kind: string): LlmError.LlmError {
    const { model, provider } = this.#source
    return LlmError.CapabilityMismatchError.make({
      model,
      provider,
      capability: "tools",
      what: `Model '${model}' of ${provider} waits for an answer to '${kind}'`,
      detail: kind,
      words: "tools that a provider runs cannot be approved here"
    })
  }
}
