/** A model without a key: it has a few sentences, and is the same each time. */
import { Message, Model, Usage } from "@kintsugi/core"
import { Effect, Layer, Schedule, Stream } from "effect"

const reply = (messages: Message.Transcript): Message.Reply => {
  const last = messages.at(-1)
  const usage = Usage.make({ inputTokens: 10 * messages.length, outputTokens: 10 })
  if (last?.role === "assistant") return { content: [Message.text(resultText(last))], finish: "stop", usage }
  const call = callFor(last?.role === "user" ? textOf(last) : "", `call-${messages.length}`)
  return call === undefined
    ? { content: [Message.text("Try: refund 1200 of order A-17. Or: order A-17.")], finish: "stop", usage }
    : { content: [call], finish: "tool-calls", usage }
}

const resultText = ({ content }: Message.Assistant): string =>
  content.map((part) => (part.type === "settled-call" ? part.settlement.text : "")).join(" ")

const textOf = ({ content }: Message.User): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join(" ")

const callFor = (text: string, id: string): Message.ToolCall | undefined => {
  const [, cents, refunded] = /refund (\d+) (?:cents )?of order ([\w-]+)/i.exec(text) ?? []
  if (refunded !== undefined)
    return { type: "tool-call", id, name: "refund", arguments: { orderId: refunded, cents: Number(cents) } }
  const [, orderId] = /order ([\w-]+)/i.exec(text) ?? []
  return orderId === undefined ? undefined : { type: "tool-call", id, name: "findOrder", arguments: { orderId } }
}

const model: Model.Service = {
  name: "stand-in",
  provider: "none",
  generate: ({ messages }) => Effect.sync(() => reply(messages)),
  stream: ({ messages }) => Stream.suspend(() => Stream.fromIterable(Model.partsOf(reply(messages)).flatMap(words)))
}

/** It says one word after the other. */
const words = (part: Model.Part): ReadonlyArray<Model.Part> =>
  part.type === "text-delta" ? (part.text.match(/\S+\s*/g) ?? []).map((text) => ({ ...part, text })) : [part]

export const layer: Layer.Layer<Model.Model> = Layer.succeed(Model.Model, model)

/** The same for people to look at: it takes its time, as a model does. */
export const layerSlow: Layer.Layer<Model.Model> = Layer.succeed(Model.Model, {
  ...model,
  stream: (request) => Stream.schedule(model.stream(request), Schedule.spaced("50 millis"))
})
