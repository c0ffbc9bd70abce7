/** The OpenAI provider among the peers, over the wire. */
import { Message, Model } from "@kintsugi/core"
import { OpenAi, Transport } from "@kintsugi/providers"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

const request: Model.Request = { messages: [Message.user("go")], tools: [], toolChoice: "auto" }

const call = Effect.gen(function* () {
  const model = yield* Model.Model
  return Message.textOf(yield* model.generate(request))
})

const read = Effect.gen(function* () {
  const model = yield* Model.Model
  let length = 0
  yield* Stream.runForEachArray(model.stream(request), (parts) =>
    Effect.sync(() => {
      for (const part of parts) if (part.type === "text-delta") length += part.text.length
    })
  )
  return length
})

export const overWire = (url: string) => {
  const layer = OpenAi.layer({ model: "m", apiKey: Redacted.make("bench-key"), baseUrl: url })
  const runtime = ManagedRuntime.make(Layer.provide(layer, Transport.layerFetch))
  return {
    name: "ours",
    call: () => runtime.runPromise(call),
    read: () => runtime.runPromise(read),
    dispose: () => runtime.dispose()
  }
}
