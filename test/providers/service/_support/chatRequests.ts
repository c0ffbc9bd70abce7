/** Requests to providers of chat, and what a fake network receives of them. */
import { assert } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import type { Transport } from "@kintsugi/providers"
import { Effect, Exit, Layer, Redacted, type Schema } from "effect"
import { fakeNetwork, key, ok } from "../../../_support/network.ts"

export type ModelLayer = Layer.Layer<Model.Model, never, Transport.HttpClient>

export const chosen = { model: "m", apiKey: Redacted.make(key) }

export const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

/** What was sent, and how it ended. */
export const exchangeWith = (layer: ModelLayer, request: Partial<Model.Request> = {}) =>
  Effect.gen(function* () {
    const network = fakeNetwork([ok])
    const exit = yield* Effect.flatMap(Model.Model, (model) => model.generate({ ...plain, ...request })).pipe(
      Effect.provide(Layer.provide(layer, network.layer)),
      Effect.exit
    )
    return { exit, sent: network.sent[0] }
  })

export const bodyOf = (layer: ModelLayer, request: Partial<Model.Request> = {}) =>
  Effect.map(exchangeWith(layer, request), ({ exit, sent }) => {
    assert(Exit.isSuccess(exit), String(exit))
    assert(sent !== undefined)
    return JSON.parse(sent.body)
  })

export const messagesOf = (layer: ModelLayer, ...messages: ReadonlyArray<Message.Message>) =>
  Effect.map(bodyOf(layer, { messages }), ({ messages }) => messages)

export const tool: Message.ToolSpec = { name: "search", description: "Searches.", parameters: { type: "object" } }

export const answered = (
  id: string,
  kind: Message.Settlement["kind"] = "result",
  text = "rain"
): Message.SettledCall => ({
  type: "settled-call",
  call: { type: "tool-call", id, name: "get_weather", arguments: '{"city":"Oslo"}' },
  settlement: { kind, text }
})

export const said = (...content: Message.Assistant["content"]): Message.Assistant => ({ role: "assistant", content })

export const thought = (provider: string, text: string, data: Schema.Json): Message.Reasoning => ({
  type: "reasoning",
  text,
  opaque: { provider, data }
})

export const wireCall = (id: string) => ({
  id,
  type: "function",
  function: { name: "get_weather", arguments: '{"city":"Oslo"}' }
})

export const output: Model.OutputSpec = {
  name: "report",
  schema: { type: "object", properties: { a: { type: "string" } } }
}

export const image = (from: Parameters<typeof Message.image>[1]) => Message.image("image/png", from)
