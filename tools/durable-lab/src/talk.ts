/** The conversations of the lab: their agent pays, for which it has a ledger, and answers with the last words of the user. */
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { Agent, Message, Model, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { type Duration, Effect, Layer, Option, Schema } from "effect"
import { streaming } from "./streams.ts"

const textOf = (message: Message.Message | undefined): string =>
  message?.role === "user" ? Message.textOf(message) : ""

/** A message that begins with "pay" is paid first; the answer to "time" is when the model was asked. */
const generate: Model.Service["generate"] = ({ messages }) =>
  Effect.sync((): Message.Reply => {
    const last = textOf(messages.findLast(({ role }) => role === "user"))
    if (last === "time") {
      return { content: [Message.text(`${Date.now()}`)], finish: "stop", usage: Usage.make({ inputTokens: 1 }) }
    }
    const isNew = messages.at(-1)?.role === "user"
    const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })
    if (!isNew || !last.startsWith("pay")) {
      return { content: [Message.text(`answer to ${last}`)], finish: "stop", usage }
    }
    const call: Message.ToolCall = { type: "tool-call", id: "again", name: "pay", arguments: { what: last } }
    return { content: [call], finish: "tool-calls", usage }
  })

/** The conversations. `during` is done while the tool is at work, after it has written its line into the ledger. */
export const talksIn = (
  ledger: string,
  during: Effect.Effect<void> = Effect.void,
  options: { readonly concurrency?: number; readonly maxIdleTime?: Duration.Input } = {}
) => {
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ what: Schema.String }),
    success: Schema.String,
    sideEffects: "unsafe",
    verify: (key) =>
      Effect.sync(() => {
        const lines = existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n") : []
        return lines.some((line) => line.endsWith(` ${key}`)) ? Option.some("found to be paid") : Option.none()
      }),
    run: ({ what }, { idempotencyKey }) =>
      Effect.andThen(
        Effect.sync(() => appendFileSync(ledger, `${what} ${idempotencyKey}\n`)),
        Effect.as(during, "paid")
      )
  })
  const model = Layer.succeed(Model.Model, streaming({ name: "talking", provider: "test", generate }))
  const durable = Durable.workflow(Agent.resume(Agent.make("clerk", { model, prompt: "Help.", tools: [pay] })), {
    name: "clerk",
    input: ConversationEntity.turn(Schema.String),
    output: Schema.String,
    inbox: true
  })
  return ConversationEntity.make(durable, { name: "clerks", ...options })
}
