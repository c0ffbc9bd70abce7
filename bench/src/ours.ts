/** The same work with this library: nothing is switched off. */
import { Agent, Message, type Model, Skill, Tool, Usage } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Work from "./work.ts"

const usage = Usage.make(Work.usage)

/** A reply that calls one tool. */
export const calling = (name: string, args: string): Message.Reply => ({
  content: [{ type: "tool-call", id: "c1", name, arguments: args }],
  finish: "tool-calls",
  usage
})

export const answering = (text: string): Message.Reply => ({ content: [Message.text(text)], finish: "stop", usage })

/** Answers with what `replyTo` says, by the number of messages that the model reads. */
export const modelBy = (replyTo: (messages: number) => Message.Reply): Model.Service => {
  const partsOf = (reply: Message.Reply): ReadonlyArray<Model.Part> => [
    ...reply.content.flatMap((part): ReadonlyArray<Model.Part> =>
      part.type === "text" ? [{ type: "text-delta", text: part.text }] : part.type === "tool-call" ? [part] : []
    ),
    { type: "finish", finish: reply.finish, usage: reply.usage }
  ]
  return {
    name: "scripted",
    provider: "bench",
    generate: ({ messages }) => Effect.succeed(replyTo(messages.length)),
    stream: ({ messages }) => Stream.fromIterable(partsOf(replyTo(messages.length)))
  }
}

/** Calls a tool in every turn but the last. */
export const modelOf = (turns: number, call = calling("add", Work.args), answer = answering(Work.answer)) =>
  // a turn adds one message, the first has two before it
  modelBy((messages) => (messages > turns ? answer : call))

export const Params = Schema.Struct({ a: Schema.Finite, b: Schema.Finite })

export const add = Tool.make("add", {
  description: Work.description,
  parameters: Params,
  success: Schema.Finite,
  run: ({ a, b }) => Effect.succeed(a + b)
})

export const agentOf = <T extends Tool.AnyTool>(tool: T, maxTurns = 8) =>
  Agent.make("adder", {
    prompt: Work.prompt,
    budget: { maxTurns, maxToolCalls: maxTurns },
    skills: [Skill.make("add", { description: Work.description, tools: [tool] })]
  })
