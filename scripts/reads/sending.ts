/** What each wire sends for a request: no network is asked. */
import { Model } from "@kintsugi/core"
import { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import { Effect, Exit, Layer, Redacted } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

const apiKey = Redacted.make("key")

/** A model of each wire that takes tools. */
export const wires = {
  Anthropic: Anthropic.layer({ model: "m", apiKey }),
  OpenAI: OpenAi.layer({ model: "m", apiKey }),
  "OpenAI Responses": OpenAi.layerResponses({ model: "m", apiKey }),
  Gemini: Gemini.layer({ model: "m", apiKey }),
  Ollama: Ollama.layer({ model: "m" }),
  DeepSeek: DeepSeek.layer({ model: "m", apiKey }),
  Kimi: Kimi.layer({ model: "m", apiKey }),
  OpenRouter: OpenRouter.layer({ model: "m", apiKey })
}

/** A model that takes none. */
export const withoutTools = Perplexity.layer({ api: "chat", model: "m", apiKey })

/** The body of the request; or, where the wire refuses it, the failure as a text. */
export const sentBy = (
  wire: (typeof wires)[keyof typeof wires] | typeof withoutTools,
  request: Model.Request
): Effect.Effect<unknown> => {
  let body: unknown
  const client = HttpClient.make((request) => {
    body = request.body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(request.body.body)) : undefined
    return Effect.succeed(HttpClientResponse.fromWeb(request, new Response("{}", { status: 400 })))
  })
  return Model.Model.pipe(
    Effect.flatMap((model) => model.generate(request)),
    Effect.provide(wire),
    Effect.provide(Layer.succeed(HttpClient.HttpClient, client)),
    Effect.exit,
    Effect.map((exit) => body ?? (Exit.isFailure(exit) ? String(exit.cause) : undefined))
  )
}
