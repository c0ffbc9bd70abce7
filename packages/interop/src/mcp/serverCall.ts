/** Runs a tool call of an MCP client as a run of an agent, so that it passes the same gates and tables as a model's call. */
import * as Redaction from "@kintsugi/core/Redaction"
import * as Agent from "@kintsugi/core/Agent"
import type * as Budget from "@kintsugi/core/Budget"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Render from "@kintsugi/core/Render"
import * as Skill from "@kintsugi/core/Skill"
import type * as Tool from "@kintsugi/core/Tool"
import * as Usage from "@kintsugi/core/Usage"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

export interface Options<T extends Tool.AnyTool> {
  readonly name: string
  readonly tool: T
  readonly budget: Budget.Limits | undefined
}

const agentOf = <T extends Tool.AnyTool>({ budget, name, tool }: Options<T>) =>
  Agent.make(name, {
    model,
    skills: [Skill.make("served", { description: "What is served.", tools: [tool] })],
    ...(budget === undefined ? {} : { budget })
  })

/** The services that calls need: those of the tools and their tables, and the `Approver`. */
export type Needs<T extends Tool.AnyTool> = T extends Tool.AnyTool
  ? Effect.Services<ReturnType<Agent.Agent<string, unknown, never, never, T>>>
  : never

/** Settles one call of a client. It cannot fail: a failure that no table handles becomes an error result. */
export const settle = <T extends Tool.AnyTool>(
  options: Options<T>,
  params: Schema.Json,
  progress: (data: unknown) => Effect.Effect<void>
): Effect.Effect<Message.Settlement, never, Needs<T>> =>
  Effect.suspend(() => {
    const client = new Client(options.tool.name, params)
    const agent = agentOf(options).pipe(
      Agent.onEvent((event) =>
        event.type === "tool-progress" && event.agent === options.name ? progress(event.data) : Effect.void
      )
    )
    // cast: an agent with this tool and no table of its own requires exactly the services `Needs`
    const running = agent("") as Effect.Effect<unknown, unknown, Needs<T>>
    return Effect.match(Effect.provideService(running, Calling, client), {
      onSuccess: () => client.settlement ?? notRun,
      onFailure: (error): Message.Settlement => ({ kind: "told", text: Redaction.own(Render.messageOf(error)) })
    })
  })

const notRun: Message.Settlement = {
  kind: "interrupted",
  text: "The call was not run: the run stopped before it."
}

/** Plays the client: it makes one tool call, reads its settlement, and ends the run. */
class Client {
  settlement: Message.Settlement | undefined
  readonly #call: Message.ToolCall

  constructor(tool: string, params: Schema.Json) {
    this.#call = { type: "tool-call", id: "call", name: tool, arguments: params }
  }

  next({ messages }: Model.Request): Message.Reply {
    for (const message of messages) {
      // Mutant `false` survives: the client of a call has no instructions, and says nothing
      if (message.role !== "assistant") continue
      for (const part of message.content) if (part.type === "settled-call") this.settlement = part.settlement
    }
    return this.settlement === undefined
      ? { content: [this.#call], finish: "tool-calls", usage: Usage.empty }
      : { content: [Message.text("done")], finish: "stop", usage: Usage.empty }
  }
}

/** The client whose call the present run settles. */
// Mutant `""` survives: no other key is empty
const Calling = Context.Reference<Client | undefined>("@kintsugi/interop/McpServer/Calling", {
  defaultValue: () => undefined
})

const generate = (request: Model.Request): Effect.Effect<Message.Reply> =>
  Effect.flatMap(Calling, (client) =>
    client === undefined
      ? Effect.die(new TypeError("McpServer: no client calls"))
      : Effect.succeed(client.next(request))
  )

/** The model of all calls. A layer of each call would stay in the runtime of the server, which shares the layers of agents, to its end. */
const model = Layer.succeed(Model.Model, {
  name: "client",
  provider: "mcp",
  generate,
  stream: (request) =>
    Stream.unwrap(Effect.map(generate(request), (reply) => Stream.fromIterable(Model.partsOf(reply))))
})
