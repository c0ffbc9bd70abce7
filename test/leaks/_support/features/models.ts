/** Models of the features: quick ones that need no script, as they answer by what they read. */
import { Agent, LlmError, Message, Model, Tool, Usage } from "@kintsugi/core"
import { type Duration, Effect, Layer, Schema, type Scope, Stream } from "effect"
import type { Around, Feature } from "../measure.ts"

const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })

export const overloaded = LlmError.ModelOverloadedError.make({ model: "quick" })

/** One call of a tool. */
export const call = (name: string, args: Schema.Json = {}): Message.ToolCall => ({
  type: "tool-call",
  id: "c1",
  name,
  arguments: args
})

export const replyOf = (calls: ReadonlyArray<Message.ToolCall>): Message.Reply =>
  calls.length === 0
    ? { content: [Message.text("All is done.")], finish: "stop", usage }
    : { content: calls, finish: "tool-calls", usage }

type Answer = (request: Model.Request) => Effect.Effect<Message.Reply, LlmError.LlmError>

export const serviceOf = (generate: Answer, name = "quick"): Model.Service => ({
  name,
  provider: "test",
  contextWindow: 1000,
  generate,
  stream: (request) =>
    Stream.unwrap(Effect.map(generate(request), (reply) => Stream.fromIterable(Model.partsOf(reply))))
})

export const layerOf = (generate: Answer): Layer.Layer<Model.Model> => Layer.succeed(Model.Model, serviceOf(generate))

/** Answers at first with these calls, and then with a text. */
export const calling = (...calls: ReadonlyArray<Message.ToolCall>): Layer.Layer<Model.Model> =>
  layerOf(({ messages }) => Effect.succeed(replyOf(messages.some(({ role }) => role === "assistant") ? [] : calls)))

/** A tool that acquires a resource for its run. */
export const look = ({ resource }: Around) =>
  Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.as(resource, "seen")
  })

export const looking = (around: Around) => Agent.make("worker", { tools: [look(around)] })

export const pay = (
  { resource }: Around,
  options: { readonly validFor?: Duration.Input; readonly onExpiry?: "refuse" } = {}
) =>
  Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.as(resource, "paid")
  }).pipe(Tool.requireApproval(options))

/** A feature whose use needs nothing but a model. */
export const using = (
  name: string,
  make: (around: Around) => Effect.Effect<unknown, unknown, Model.Model | Scope.Scope>,
  model: Layer.Layer<Model.Model> = calling(call("look"))
): Feature => ({
  name,
  prepare: (around) => Effect.sync(() => ({ use: Effect.provide(make(around), model) }))
})
