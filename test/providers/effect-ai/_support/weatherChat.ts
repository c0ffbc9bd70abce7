/** A `Chat` of `effect/ai` with a tool for the weather, asked whole or streamed. */
import { Effect, type Layer, Redacted, Schema, Stream } from "effect"
import { type AiError, type Chat, type LanguageModel, type Prompt, Tool, Toolkit } from "effect/ai"
import { key } from "../../../_support/network.ts"

export const apiKey = Redacted.make(key)

/** What a test needs of a response, however it came. */
interface Said {
  readonly text: string
  readonly results: ReadonlyArray<unknown>
  readonly finish: string
  readonly inputTokens: number | undefined
}

const Weather = Tool.make("weather", {
  description: "The weather of a place.",
  parameters: Schema.Struct({ city: Schema.String, days: Schema.optionalKey(Schema.Finite) }),
  success: Schema.Struct({ sky: Schema.String })
})

export const toolkit = Toolkit.make(Weather)

export const handlers = toolkit.toLayer({
  weather: ({ days = 1, city }) => Effect.succeed({ sky: `rain in ${city} for ${days}` })
})

type Ask = (
  chat: Chat.Chat,
  prompt: Prompt.RawInput
) => Effect.Effect<Said, AiError.AiError, LanguageModel.LanguageModel | Layer.Success<typeof handlers>>

const whole: Ask = (chat, prompt) =>
  Effect.map(chat.generateText({ prompt, toolkit }), (response) => ({
    text: response.text,
    results: response.toolResults.map(({ result }) => result),
    finish: response.finishReason,
    inputTokens: response.usage.inputTokens.total
  }))

const streamed: Ask = (chat, prompt) =>
  Effect.map(Stream.runCollect(chat.streamText({ prompt, toolkit })), (parts) => {
    const end = parts.findLast((part) => part.type === "finish")
    return {
      text: parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])).join(""),
      results: parts.flatMap((part) => (part.type === "tool-result" ? [part.result] : [])),
      finish: end?.reason ?? "none",
      inputTokens: end?.usage.inputTokens.total
    }
  })

export const ways: ReadonlyArray<readonly [string, Ask]> = [
  ["whole", whole],
  ["streamed", streamed]
]
