/** A `LanguageModel` of `effect/ai` as a model. It returns calls and never runs them. */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import { CurrentSpanTransformer } from "effect/ai/Telemetry"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { schemaOf } from "./schema.ts"
import { fromAiError } from "./fromError.ts"
import { promptsFor } from "./prompt.ts"
import { PartReader, usageOf } from "./reply.ts"
import { declaring } from "./declared.ts"

/** The name and options of a model of `effect/ai`. */
export interface ModelInfo {
  /** Its name at the provider. */
  readonly name: string
  /** The provider. */
  readonly provider: string
  /** Whether the model is a free test double, which `ScriptedModel.noRealModels` admits. `false` by default. */
  readonly isScripted?: boolean
  /** Tools that its provider runs itself, offered beside those of the agent. Their results are stored as provider items. */
  readonly providerTools?: ReadonlyArray<Tool.AnyProviderDefined>
  /**
   * Which images and files its provider sends in the results of tools, as the `modelOutput` of a part; the others are described. None by
   * default: a provider of `effect/ai` writes those that it does not take as "omitted", in silence.
   */
  readonly showsInResults?: Model.Service["showsInResults"]
}

type Part = Response.AnyPart

export const fromLanguageModel = (languageModel: LanguageModel.LanguageModel, info: ModelInfo): Model.Service => {
  const { isScripted = false, name, provider, providerTools = [], showsInResults } = info
  const promptOf = promptsFor(showsInResults ?? (() => false))
  const declared = declaring(providerTools)
  const leaving = <A, E, R>(self: Effect.Effect<A, E, R>) => (isScripted ? self : Model.leaving(name, self))
  /** Converts failures with the caller's clock. */
  const failing = Effect.map(
    Clock.Clock,
    (clock) => (error: unknown) => failureOf(error, info, () => clock.currentTimeMillisUnsafe())
  )

  const whole = (request: Model.Request): Effect.Effect<Message.Reply, LlmError.LlmError> =>
    Effect.flatMap(failing, (failed) => Effect.mapError(Effect.flatMap(content(request), read), failed))

  const content = (request: Model.Request): Effect.Effect<ReadonlyArray<Part>, unknown> => {
    const schema = schemaOf(request)
    const prompt = promptOf(request.messages)
    const asText = Effect.map(
      Effect.suspend(() => languageModel.generateText({ prompt, ...asIs, ...declared(request) })),
      ({ content }) => content
    )
    if (schema === undefined) return asText
    const objectName = request.output?.name
    return overhearing((heard) =>
      Effect.matchEffect(
        Effect.suspend(() =>
          languageModel.generateObject({ prompt, ...asIs, ...declared(request), schema, objectName })
        ),
        {
          onSuccess: ({ content }) => Effect.succeed<ReadonlyArray<Part>>(content),
          onFailure: (error) => {
            const { reason } = error
            // The caller decides whether the text fits. A model without support for the schema is asked for text.
            if (reason._tag === "StructuredOutputError") return Effect.succeed(heard() ?? onlyText(reason))
            if (reason._tag !== "UnsupportedSchemaError") return Effect.fail(error)
            return asText
          }
        }
      )
    )
  }

  const read = (parts: ReadonlyArray<Part>): Effect.Effect<Message.Reply, unknown> => {
    const reader = new PartReader()
    const collector = new Model.Collector()
    for (const part of parts) {
      const failure = failureIn(part, info)
      if (failure !== undefined) return Effect.fail(failure.error)
      for (const found of reader.read(part)) collector.push(found)
    }
    if (collector.spent === undefined) collector.push(reader.unsaid())
    const reply = collector.reply()
    return reply === undefined ? Effect.die(new Error("a reply has its end by now")) : Effect.succeed(reply)
  }

  const parts = (request: Model.Request): Stream.Stream<Model.Part, unknown> => {
    const reader = new PartReader()
    const options = { prompt: promptOf(request.messages), ...asIs, ...declared(request) }
    return Stream.flattenIterable(
      Stream.mapEffect(languageModel.streamText(options), (part: Part) => {
        const failure = failureIn(part, info)
        return failure === undefined ? Effect.succeed(reader.read(part)) : Effect.fail(failure.error)
      })
    )
  }

  return {
    name,
    provider,
    ...(providerTools.length === 0 ? {} : { providerTools: true }),
    ...(showsInResults === undefined ? {} : { showsInResults }),
    generate: (request) => leaving(whole(request)),
    stream: (request) =>
      Stream.unwrap(
        leaving(
          schemaOf(request) === undefined
            ? Effect.map(failing, (failed) =>
                Stream.mapError(
                  Stream.suspend(() => parts(request)),
                  failed
                )
              )
            : // there is no stream of an object
              Effect.map(whole(request), (reply) => Stream.fromArray(Model.partsOf(reply)))
        )
      )
  }
}

/**
 * Runs `use` with access to the original response. If its text does not fit, `effect/ai` shows the response only to
 * span transformers.
 */
const overhearing = <A, E>(
  use: (heard: () => ReadonlyArray<Part> | undefined) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.flatMap(Effect.serviceOption(CurrentSpanTransformer), (others) => {
    let response: ReadonlyArray<Part> | undefined
    return Effect.provideService(
      use(() => response),
      CurrentSpanTransformer,
      (options) => {
        response = options.response
        if (Option.isSome(others)) others.value(options)
      }
    )
  })

/** Calls are passed on as the model made them, including undeclared names. */
const asIs = { disableToolCallResolution: true, toolCallValidation: "deferred" } as const

/** The failure in an error part, or in a finish part with the reason `error`. */
const failureIn = (part: Part, { name, provider }: ModelInfo): { readonly error: unknown } | undefined => {
  if (part.type === "error") return { error: part.error }
  if (part.type !== "finish" || part.reason !== "error") return undefined
  const why = "the reply ended with an error"
  return { error: LlmError.ServerError.make({ model: name, cause: why, provider, usage: usageOf(part.usage) }) }
}

const failureOf = (error: unknown, { name, provider }: ModelInfo, now: () => number): LlmError.LlmError => {
  if (AiError.isAiError(error)) return fromAiError(error, { model: name, provider, now: now() })
  if (LlmError.isLlmError(error)) return error
  if (!AiError.isAiErrorReason(error)) return LlmError.UnknownLlmError.make({ model: name, cause: error, provider })
  return failureOf(
    AiError.make({ module: "LanguageModel", method: "generateText", reason: error }),
    { name, provider },
    now
  )
}

/** The text of a response that does not fit the schema. */
const onlyText = (reason: AiError.StructuredOutputError): ReadonlyArray<Part> => [
  // A part in the form that its schema decodes to.
  { type: "text", text: reason.responseText, metadata: {} } as Part
]
