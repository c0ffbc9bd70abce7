/** The agent whose runs wait in the records of older releases. It is the same in the release that made a record and in the one that reads it. */
import { Agent, Message, Model, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { Durable, RunQueue } from "@kintsugi/durable"
import { Deferred, Effect, Layer, Schema, Stream } from "effect"
import { PersistedQueue } from "effect/persistence"

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
  child: [[{ type: "tool-call", id: "c1", name: "helper", arguments: { input: "approval" } }]],
  "queue at work": [[call("pack")]],
  "queue waiting": []
}

/** The inputs of the runs in the queue, in its order. A worker has taken the first one, and the second one has not begun. */
export const queued: ReadonlyArray<string> = ["queue at work", "queue waiting"]

/** The inputs of the other runs that wait. */
export const inputs: ReadonlyArray<string> = Object.keys(scripts).filter((input) => !queued.includes(input))

/**
 * A workflow and one whose runs are queued, what their model is asked, and which tools run. `isWaiting`: the tools do not end, as at the
 * death of their process. `over`: the model has answered the last run of the queue.
 */
export const made = (isWaiting: boolean) => {
  const over = Deferred.makeUnsafe<void>()
  const requests: Array<Message.Transcript> = []
  const ran: Array<string> = []
  const generate: Model.Service["generate"] = ({ messages }) =>
    Effect.sync(() => {
      requests.push([...messages])
      const said = messages.find(({ role }) => role === "user")
      const input = said?.role === "user" ? Message.textOf(said) : ""
      const content = scripts[input]?.[messages.filter(({ role }) => role === "assistant").length]
      if (input === queued.at(-1)) Deferred.doneUnsafe(over, Effect.void)
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
  const pack = Tool.make("pack", {
    ...about,
    run: () => Effect.andThen(run("pack"), isWaiting ? Effect.never : Effect.succeed("packed"))
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
  const packer = Agent.make("packer", { budget, model, tools: [pack] })
  const packing = Durable.workflow(packer, { name: "packer", input: Schema.String, output: Schema.String })
  return { durable, order, over: Deferred.await(over), packing, ran, requests }
}

/** The database in a folder, with the workflows of `made` and one worker of their queue. */
export const served = ({ durable, packing }: Pick<ReturnType<typeof made>, "durable" | "packing">, folder: string) => {
  const queue = Layer.provide(PersistedQueue.layer, PersistedQueue.layerStoreSql())
  const worker = RunQueue.layerWorker(packing, { concurrency: 1 })
  return Layer.mergeAll(durable.layer, packing.layer, worker).pipe(
    Layer.provideMerge(queue),
    Layer.provideMerge(Durable.layerPglite({ folder }))
  )
}
