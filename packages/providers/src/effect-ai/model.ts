/** Makes a model of this library from a `LanguageModel` of `effect/ai`. It returns tool calls and never runs them. */
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
  /** The model's name at its provider. */
  readonly name: string
  /** The provider's name, which errors and the ledger show. */
  readonly provider: string
  /** Whether the model is a test double that costs nothing; `ScriptedModel.noRealModels` allows its calls. `false` by default. */
  readonly isScripted?: boolean
  /**
   * Tools that the provider runs itself. The model may use them in addition to the agent's tools. Their results are stored as provider
   * items.
   */
  readonly providerTools?: ReadonlyArray<Tool.AnyProviderDefined>
  /**
   * Whether the provider sends this image or file to the model when it is part of a tool's result (`modelOutput`); the model reads a
   * description of the others. By default none is sent, because providers of `effect/ai` silently replace what they cannot send by
   * "omitted".
   */
  readonly showsInResults?: Model.Service["showsInResults"]
}

type Part = Response.AnyPart

export const fromLanguageModel = (languageModel: LanguageModel.LanguageModel, info: ModelInfo): Model.Service => {
  const { isScripted = false, name, provider, providerTools = [], showsInResults } = info
  const promptOf = promptsFor(showsInResults ?? (() => false))
  const declared = declaring(providerTools)
  const leaving = <A, E, R>(self: Effect.Effect<A, E, R>) => (isScripted ? self : Model.leaving(name, self))
  /** The function that converts failures to errors of this library, by the caller's clock. */
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
            // If the text does not fit the schema, the response is returned: the caller of this model decides. A model that does not
            // support the schema is asked for plain text instead.
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
            : // `effect/ai` cannot stream an object
              Effect.map(whole(request), (reply) => Stream.fromArray(Model.partsOf(reply)))
        )
      )
  }
}

/**
 * Runs `use` with access to the model's original response. If the response does not fit the schema, `effect/ai` hides it from the caller,
 * but still passes it to the span transformer, which this function replaces.
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

/** Options that make `effect/ai` return tool calls as the model made them, undeclared names included, instead of running them. */
const asIs = { disableToolCallResolution: true, toolCallValidation: "deferred" } as const

/** The failure in an error part, or in a finish part with the reason `error`; `undefined` for other parts. */
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

/** Makes a response of the text that did not fit the schema. */
const onlyText = (reason: AiError.StructuredOutputError): ReadonlyArray<Part> => [
  // a text part as the schema of parts decodes it
  { type: "text", text: reason.responseText, metadata: {} } as Part
]
