/**
 * A process that runs the story as a workflow, and kills itself at the n-th thing that it tells: `worker.ts folder file id n`. What it
 * does to the world is appended to the file, which outlives it.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { Agent, Approval, Message, Model, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, Option, Schema } from "effect"
import { streaming } from "../streams.ts"

const [folder = "", file = "", id = "", dies = "0"] = process.argv.slice(2)
let written = 0

/** Nothing comes after the n-th: the process is gone before the next line. */
const tell = (what: string): void => {
  appendFileSync(file, `${what}\n`)
  if (++written === Number(dies)) process.kill(process.pid, "SIGKILL")
}

class Busy extends Schema.TaggedError<Busy>()("Busy", { message: Schema.String }) {}

const call = (name: string, args: Message.ToolCall["arguments"] = {}): Message.ToolCall => ({
  type: "tool-call",
  id: "again",
  name,
  arguments: args
})

/** What it says follows from what it reads: a request that was lost is answered again. */
const model = (name: string, said: ReadonlyArray<Message.Reply["content"]>) =>
  Layer.succeed(
    Model.Model,
    streaming({
      name,
      provider: "test",
      generate: ({ messages }) =>
        Effect.sync(() => {
          const turn = messages.filter(({ role }) => role === "assistant").length
          tell(`${name} asked ${turn + 1}`)
          const content = said[turn] ?? [Message.text("all done")]
          const finish = said[turn] === undefined ? "stop" : "tool-calls"
          return { content, finish, usage: Usage.make({ inputTokens: 10, outputTokens: 5 }) } satisfies Message.Reply
        })
    })
  )

const tool = (name: string) => ({
  description: `The tool ${name}.`,
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () =>
    Effect.gen(function* () {
      tell(`${name} begins`)
      yield* Effect.sleep(5)
      tell(`${name} ends`)
      return name
    })
})

const [look, see] = [Tool.make("look", tool("look")), Tool.make("see", tool("see"))]
const pay = Tool.make("pay", {
  ...tool("pay"),
  sideEffects: "unsafe",
  verify: (key) =>
    Effect.sync(() => {
      tell("verify")
      return readFileSync(file, "utf8").includes(`paid ${key}\n`) ? Option.some("pay") : Option.none()
    }),
  run: (_, { idempotencyKey }) =>
    Effect.sync(() => {
      tell("pay begins")
      tell(`paid ${idempotencyKey}`)
      tell("pay ends")
      return "pay"
    })
})
const flaky = Tool.make("flaky", {
  ...tool("flaky"),
  failure: Busy,
  run: (_, { attempt }) =>
    Effect.suspend(() => {
      tell(`flaky begins ${attempt}`)
      return attempt === 1 ? Effect.fail(new Busy({ message: "busy" })) : Effect.succeed("flaky")
    })
}).pipe(Tool.onError({ Busy: Recovery.retry({ maxAttempts: 2, initialBackoff: 50 }) }))
const sign = Tool.make("sign", tool("sign")).pipe(Tool.requireApproval())
const inner = Agent.make("inner", {
  model: model("inner", [[call("look")]]),
  skills: [Skill.make("work", { description: "Works.", tools: [look] })]
})
const tools = [look, see, pay, flaky, sign, Agent.asTool(inner, { description: "Works." })] as const
const agent = Agent.make("worker", {
  model: model("outer", [
    [call("look"), call("see")],
    [call("pay")],
    [call("flaky")],
    [call("inner", { input: "go" })],
    [call("sign")]
  ]),
  skills: [Skill.make("work", { description: "Works.", tools })]
}).pipe(
  Agent.onEvent((event) =>
    Effect.sync(() => {
      const isEnd = event.type === "run-completed" && event.parent === undefined
      tell(isEnd ? `event ${event.type} ${event.usage.inputTokens}` : `event ${event.type}`)
    })
  )
)

/** Requests outlive their process as well. */
const asked = `${file}.asked`
const Asked = Schema.fromJsonString(Durable.DurableRequest)

const durable = Durable.workflow(agent, {
  name: "story",
  input: Schema.String,
  output: Schema.String,
  onApproval: (one) =>
    Effect.sync(() => {
      tell("person asked")
      appendFileSync(asked, `${Schema.encodeSync(Asked)(one)}\n`)
      tell("person has read")
    })
})

const engine = Durable.layerPglite({ folder })

/** Approves each request, as soon as it can be read. */
const deciding = Effect.gen(function* () {
  while (!existsSync(asked)) yield* Effect.sleep(20)
  const [line = ""] = readFileSync(asked, "utf8").split("\n")
  yield* Durable.decide(durable, yield* Schema.decodeUnknownEffect(Asked)(line), Approval.approve)
  tell("person decided")
})

const main = Effect.gen(function* () {
  yield* Effect.forkChild(deciding)
  const answer = yield* durable.workflow.execute({ id, input: "go" })
  tell(`answer ${answer}`)
}).pipe(Effect.provide(durable.layer.pipe(Layer.provideMerge(engine))))

await Effect.runPromise(main)
process.exit(0)
