/** A `LanguageModel` of `effect/ai` that plays a script, whole or streamed. */
import type { Scope } from "effect"
import { Effect, Exit, Layer, Stream } from "effect"
import { type AiError, LanguageModel, Model, type Response } from "effect/ai"

/** What one request is answered with. */
export type Step =
  | ReadonlyArray<Response.PartEncoded>
  | ((options: LanguageModel.ProviderOptions) => Effect.Effect<ReadonlyArray<Response.PartEncoded>, AiError.AiError>)

export interface Script {
  readonly layer: Layer.Layer<LanguageModel.LanguageModel | Model.ModelName | Model.ProviderName>
  readonly service: LanguageModel.LanguageModel
  readonly requests: ReadonlyArray<LanguageModel.ProviderOptions>
}

const usage: Response.FinishPartEncoded["usage"] = {
  inputTokens: { total: 10, uncached: 7, cacheRead: 2, cacheWrite: 1 },
  outputTokens: { total: 5, text: 3, reasoning: 2 }
}

export const finish = (reason: Response.FinishReason = "stop"): Response.FinishPartEncoded => ({
  type: "finish",
  reason,
  usage
})

export const text = (text: string, metadata: Response.ProviderMetadata = {}): Response.TextPartEncoded => ({
  type: "text",
  text,
  metadata
})

export const call = (
  name: string,
  params: unknown,
  id = `call-${name}`,
  metadata: Response.ProviderMetadata = {}
): Response.ToolCallPartEncoded => ({ type: "tool-call", id, name, params, metadata })

export const says = (value: string): Step => [text(value), finish()]

export const calls = (...all: ReadonlyArray<Response.ToolCallPartEncoded>): Step => [...all, finish("tool-calls")]

export const fails =
  (error: AiError.AiError): Step =>
  () =>
    Effect.fail(error)

/** A request without a step dies, and so does a step without a request. */
export const make = (...steps: ReadonlyArray<Step>): Effect.Effect<Script, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests: Array<LanguageModel.ProviderOptions> = []
    yield* Effect.addFinalizer((exit) =>
      Exit.isSuccess(exit) && requests.length < steps.length
        ? Effect.die(new Error(`only ${requests.length} of ${steps.length} steps were asked for`))
        : Effect.void
    )
    const next = (options: LanguageModel.ProviderOptions) =>
      Effect.suspend(() => {
        const step = steps[requests.length]
        requests.push(options)
        if (step === undefined) return Effect.die(new Error(`request ${requests.length} is not in the script`))
        return typeof step === "function" ? step(options) : Effect.succeed(step)
      })
    const service = yield* LanguageModel.make({
      generateText: (options) => Effect.map(next(options), (parts) => [...parts]),
      streamText: (options) => Stream.unwrap(Effect.map(next(options), (parts) => Stream.fromIterable(streamed(parts))))
    })
    const layer = Model.make("scripts", "script-1", Layer.succeed(LanguageModel.LanguageModel, service))
    return { layer, service, requests }
  })

/** The pieces in which a response might have come: texts and thoughts in two, their metadata at their ends. */
export const streamed = (parts: ReadonlyArray<Response.PartEncoded>): ReadonlyArray<Response.StreamPartEncoded> =>
  parts.flatMap((part, index): ReadonlyArray<Response.StreamPartEncoded> => {
    const id = `p${index}`
    switch (part.type) {
      case "text":
      case "reasoning": {
        const middle = Math.ceil(part.text.length / 2)
        const { metadata = {}, type } = part
        return [
          { type: `${type}-start`, id },
          { type: `${type}-delta`, id, delta: part.text.slice(0, middle) },
          { type: `${type}-delta`, id, delta: part.text.slice(middle) },
          { type: `${type}-end`, id, metadata }
        ]
      }
      case "tool-call":
        return [
          { type: "tool-params-start", id: part.id, name: part.name },
          { type: "tool-params-delta", id: part.id, delta: JSON.stringify(part.params) ?? "" },
          { type: "tool-params-end", id: part.id },
          part
        ]
      case "reasoning-delta":
      case "reasoning-end":
        return []
      default:
        return [part]
    }
  })
