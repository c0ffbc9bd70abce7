/** Models that are no scripts: what they say follows from what they read, so that a request may be lost. */
import { type Message, Model, Usage } from "@kintsugi/core"
import { Effect, Layer, Stream } from "effect"

/** A model whose replies come whole, as a service that streams them too. */
export const streaming = (model: Omit<Model.Service, "stream">): Model.Service => ({
  ...model,
  stream: (request) =>
    Stream.unwrap(Effect.map(model.generate(request), (reply) => Stream.fromIterable(Model.partsOf(reply))))
})

/** Calls a tool by its name. Ids repeat over turns, as some models have it. */
export const call = (name: string, args: Message.ToolCall["arguments"] = {}): Message.ToolCall => ({
  type: "tool-call",
  id: "again",
  name,
  arguments: args
})

/** What it says at each turn, counted from 0; `before` is done before it says anything. */
export const reading = (
  name: string,
  said: (turn: number) => Message.Reply["content"],
  before: (turn: number) => Effect.Effect<void> = () => Effect.void
) => {
  let asked = 0
  const generate: Model.Service["generate"] = ({ messages }) =>
    Effect.suspend(() => {
      asked++
      const turn = messages.filter(({ role }) => role === "assistant").length
      const content = said(turn)
      const finish = content.some(({ type }) => type === "tool-call") ? ("tool-calls" as const) : ("stop" as const)
      return Effect.as(before(turn), { content, finish, usage: Usage.make({ inputTokens: 10, outputTokens: 5 }) })
    })
  const service = streaming({ name, provider: "test", generate })
  return { layer: Layer.succeed(Model.Model, service), asked: () => asked }
}
