/** What tests of the guard share: models that do what they are told, and both ways to ask them. */
import { LlmError, Message, Model, Usage } from "@kintsugi/core"
import { Effect, Layer, Stream } from "effect"
import { generate, streamParts } from "./network.ts"

export const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })

/** A model that replies when the effect succeeds, whole or after a first word; `cut-off` ends a stream without its end. */
export const service = (
  act: () => Effect.Effect<unknown, LlmError.LlmError>,
  more: Partial<Pick<Model.Service, "name" | "provider">> & { readonly isCutOff?: boolean } = {}
): Model.Service => {
  const { isCutOff = false, name = "m", provider = "p" } = more
  const finish: Model.Part = { type: "finish", finish: "stop", usage }
  return {
    name,
    provider,
    generate: () =>
      Effect.map(Effect.suspend(act), (): Message.Reply => ({ content: [Message.text("hi")], finish: "stop", usage })),
    stream: () =>
      Stream.concat(
        Stream.succeed<Model.Part>({ type: "text-delta", text: "hi" }),
        Stream.unwrap(Effect.map(Effect.suspend(act), () => (isCutOff ? Stream.empty : Stream.succeed(finish))))
      )
  }
}

/** The same as a layer. */
export const played = (...of: Parameters<typeof service>): Layer.Layer<Model.Model> =>
  Layer.succeed(Model.Model, service(...of))

export const overload = LlmError.ModelOverloadedError.make({ model: "m" })
export const refusal = LlmError.InvalidRequestError.make({ model: "m", detail: "no" })

/** Both ways to call a model. */
export const ways: Readonly<Record<"whole" | "streamed", Effect.Effect<void, LlmError.LlmError, Model.Model>>> = {
  whole: Effect.asVoid(generate),
  streamed: Effect.asVoid(streamParts)
}
