/** The agent whose runs wait in the records of older releases. It is the same in the release that made a record and in the one that reads it. */
import { Agent, Message, Model, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, Schema, Stream } from "effect"

class Gone extends Schema.TaggedError<Gone>()("Gone", { message: Schema.String }) {}

class Busy extends Schema.TaggedError<Busy>()("Busy", { message: Schema.String }) {}

const about = {
  description: "Works.",
  parameters: Schema.Struct({ id: Schema.String }),
  success: Schema.String
} as const

const call = (name: string): Message.ToolCall => ({ type: "tool-call", id: "c1", name, arguments: { id: "A-1" } })

/** What the model says at each turn of a run with this input. */
const scripts: Readonly<Record<string, ReadonlyArray<Message.Reply["content"]>>> = {
  approval: [
    [call("look"), call("nothing")],
    [{ type: "tool-call", id: "c1", name: "look", arguments: { id: 7 } }],
    [call("refund")]
  ],
  deferred: [[call("order")]],
  retry: [[call("flaky")]],
  "in mid-tool": [[call("pay")]],
  child: [[{ type: "tool-call", id: "c1", name: "helper", arguments: { input: "approval" } }]]
}

/** The inputs of the runs that wait. */
export const inputs: ReadonlyArray<string> = Object.keys(scripts)

/** A workflow, what its model is asked, and which tools run. `isWaiting`: the tools do not end, as at the death of their process. */
export const made = (isWaiting: boolean) => {
  const requests: Array<Message.Transcript> = []
  const ran: Array<string> = []
  const generate: Model.Service["generate"] = ({ messages }) =>
    Effect.sync(() => {
      requests.push([...messages])
      const said = messages.find(({ role }) => role === "user")
      const input = said?.role === "user" ? Message.textOf(said) : ""
      const content = scripts[input]?.[messages.filter(({ role }) => role === "assistant").length]
      return {
        content: content ?? [Message.text(`${input} is done`)],
        finish: content === undefined ? "stop" : "tool-calls",
        usage: Usage.make({ inputTokens: 10, outputTokens: 5 })
      }
    })
  const service: Model.Service = {
    name: "scripted",
    provider: "test",
    generate,
    stream: (request) =>
      Stream.unwrap(Effect.map(generate(request), (reply) => Stream.fromIterable(Model.partsOf(reply))))
  }
  const model = Layer.succeed(Model.Model, service)
  const run = (name: string) => Effect.sync(() => ran.push(name))
  const look = Tool.make("look", {
    ...about,
    failure: Gone,
    run: () => Effect.andThen(run("look"), Effect.fail(new Gone({ message: "there is no such order" })))
  }).pipe(Tool.onError({ Gone: Recovery.tell() }))
  const refund = Tool.make("refund", { ...about, run: () => Effect.as(run("refund"), "refunded") }).pipe(
    Tool.requireApproval()
  )
  const order = Tool.deferred("order", {
    ...about,
    wait: "suspend",
    deadline: "3650 days",
    // the record keeps the token, with which a later release settles the call
    start: (_, { token }) => Effect.as(run("order"), token)
  })
  const flaky = Tool.make("flaky", {
    ...about,
    failure: Busy,
    run: (_, { attempt }) =>
      Effect.andThen(run("flaky"), attempt === 1 ? Effect.fail(new Busy({ message: "busy" })) : Effect.succeed("well"))
  }).pipe(Tool.onError({ Busy: Recovery.retry({ maxAttempts: 2, initialBackoff: "20 seconds" }) }))
  const pay = Tool.make("pay", {
    ...about,
    sideEffects: "unsafe",
    run: () => Effect.andThen(run("pay"), isWaiting ? Effect.never : Effect.succeed("paid"))
  })
  // a record is read years later
  const budget = { maxDuration: "3650 days" } as const
  const helper = Agent.make("helper", {
    budget,
    model,
    skills: [Skill.make("help", { description: "Helps.", tools: [look, refund] })]
  })
  const clerk = Agent.make("clerk", {
    budget,
    model,
    skills: [
      Skill.make("work", {
        description: "Works.",
        tools: [look, refund, order, flaky, pay, Agent.asTool(helper, { description: "Helps." })]
      })
    ]
  })
  const durable = Durable.workflow(clerk, { name: "clerk", input: Schema.String, output: Schema.String })
  return { durable, order, ran, requests }
}
