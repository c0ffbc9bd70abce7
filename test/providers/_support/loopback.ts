/** A model and a server that speak over real connections. */
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted } from "effect"
import { key, request } from "../../_support/network.ts"

export const modelAt = (baseUrl: string, transport: Transport.Options = {}) =>
  OpenAi.layer({ model: "m", apiKey: Redacted.make(key), baseUrl, transport }).pipe(Layer.provide(Transport.layerFetch))

export const generate = Effect.flatMap(Model.Model, (model) => model.generate(request))

export const content: Message.Reply["content"] = [
  Message.text("grüße 🙂, five words and more"),
  { type: "tool-call", id: "call_1", name: "search", arguments: '{"q": "折り鶴",}' }
]

const brain = AnyWire.handler(() => Effect.succeed({ content }))

export const serving = (script: Parameters<typeof Fault.inFront>[0]) =>
  LoopbackServer.make(Fault.inFront(script, brain))
