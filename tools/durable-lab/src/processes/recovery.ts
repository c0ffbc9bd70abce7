/**
 * A process that starts a run or goes on with it: `recovery.ts database id [dies]`, the URL of a server or a folder. It says when the tool begins, and
 * dies there, or ends with the run.
 */
import { Agent, Message, Model, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, Schema } from "effect"
import { engineOn } from "../engine.ts"
import { streaming } from "../streams.ts"

const [database = "", id = "", dies] = process.argv.slice(2)

const say = (what: string): void => void process.stdout.write(`${what}\n`)

const work = Tool.make("work", {
  description: "Works.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () =>
    Effect.sync(() => {
      say("begins")
      if (dies !== undefined) process.kill(process.pid, "SIGKILL")
      return "done"
    })
})

const model = Layer.succeed(
  Model.Model,
  streaming({
    name: "worker",
    provider: "test",
    generate: ({ messages }) => {
      const isOver = messages.some(({ role }) => role === "assistant")
      const call: Message.ToolCall = { type: "tool-call", id: "call", name: "work", arguments: {} }
      return Effect.succeed({
        content: [isOver ? Message.text("done") : call],
        finish: isOver ? "stop" : "tool-calls",
        usage: Usage.empty
      })
    }
  })
)

const runs = Durable.workflow(Agent.make("worker", { model, tools: [work] }), {
  name: "recovery",
  input: Schema.String,
  output: Schema.String
})

const main = runs.workflow
  .execute({ id, input: "go" })
  .pipe(Effect.provide(runs.layer.pipe(Layer.provideMerge(engineOn(database)))))

await Effect.runPromise(main)
