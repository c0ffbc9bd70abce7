/**
 * The runs of a cluster: each is an order that takes five turns, or one with as many turns as it says. What they do to the world is told
 * where it outlives the process.
 */
import { Agent, Message, Model, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, Option, Schema } from "effect"
import { streaming } from "../streams.ts"

/** What an order needs of the process that works on it. */
export interface World {
  /** Something happens in the run of an order. */
  readonly tell: (order: string, what: string) => Effect.Effect<void>
  /** A model is asked, somewhere else. */
  readonly ask: (order: string, agent: string, turn: number) => Effect.Effect<void>
  /** What happens to all, and whether it has happened, here or elsewhere. */
  readonly enter: (what: string) => Effect.Effect<void>
  readonly has: (what: string) => boolean
  /** Gets each request for approval. */
  readonly hear: (asked: Durable.DurableRequest) => Effect.Effect<void>
}

class Busy extends Schema.TaggedError<Busy>()("Busy", { message: Schema.String }) {}

/** An order of so many turns does nothing but look. */
const turnsOf = (order: string): number | undefined => {
  const [, turns] = /^turns-(\d+)/.exec(order) ?? []
  return turns === undefined ? undefined : Number(turns)
}

/** How many requests an order takes. */
export const requestsOf = (order: string): number => {
  const turns = turnsOf(order)
  return turns === undefined ? 8 : turns + 1
}

const call = (name: string, args: Message.ToolCall["arguments"]): Message.ToolCall => ({
  type: "tool-call",
  // ids repeat over turns, as some models have it
  id: name,
  name,
  arguments: args
})

/** What it says follows from what it reads: a request that was lost is answered again. */
const model = (world: World, name: string, said: (order: string) => ReadonlyArray<Message.Reply["content"]>) =>
  Layer.succeed(
    Model.Model,
    streaming({
      name,
      provider: "test",
      generate: ({ messages }) =>
        Effect.gen(function* () {
          const first = messages.find((message) => message.role === "user")
          const order = first === undefined ? "" : Message.textOf(first)
          const turn = messages.filter(({ role }) => role === "assistant").length
          yield* world.tell(order, `${name} asked ${turn + 1}`)
          yield* world.ask(order, name, turn + 1)
          const content = said(order)[turn] ?? [Message.text(`order ${order} is done`)]
          const finish = said(order)[turn] === undefined ? "stop" : "tool-calls"
          return { content, finish, usage: Usage.make({ inputTokens: 10, outputTokens: 5 }) } satisfies Message.Reply
        })
    })
  )

const parameters = Schema.Struct({ order: Schema.String })

const tool = <const Name extends string>({ tell }: World, name: Name) => ({
  description: `The tool ${name}.`,
  parameters,
  success: Schema.String,
  run: ({ order }: typeof parameters.Type) =>
    Effect.gen(function* () {
      yield* tell(order, `${name} begins`)
      yield* Effect.sleep(5)
      yield* tell(order, `${name} ends`)
      return name
    })
})

const agentOf = (world: World) => {
  const { enter, has, tell } = world
  const [look, see] = [Tool.make("look", tool(world, "look")), Tool.make("see", tool(world, "see"))]
  const pay = Tool.make("pay", {
    ...tool(world, "pay"),
    sideEffects: "unsafe",
    verify: (key) =>
      Effect.gen(function* () {
        yield* enter(`verify ${key}`)
        return has(`paid ${key}`) ? Option.some("pay") : Option.none()
      }),
    run: ({ order }, { idempotencyKey }) =>
      Effect.gen(function* () {
        yield* tell(order, `pay begins ${idempotencyKey}`)
        yield* enter(`paid ${idempotencyKey}`)
        yield* tell(order, "pay ends")
        return "pay"
      })
  })
  const flaky = Tool.make("flaky", {
    ...tool(world, "flaky"),
    failure: Busy,
    run: ({ order }, { attempt }) =>
      Effect.gen(function* () {
        yield* tell(order, `flaky begins ${attempt}`)
        if (attempt === 1) return yield* Effect.fail(new Busy({ message: "busy" }))
        return "flaky"
      })
  }).pipe(Tool.onError({ Busy: Recovery.retry({ maxAttempts: 2, initialBackoff: 500, jitter: "none" }) }))
  const sign = Tool.make("sign", tool(world, "sign")).pipe(Tool.requireApproval())
  const inner = Agent.make("inner", {
    model: model(world, "inner", (order) => [[call("look", { order })]]),
    skills: [Skill.make("work", { description: "Works.", tools: [look] })],
    budget: { maxDuration: "30 days" }
  })
  const outer = model(world, "outer", (order) => {
    const turns = turnsOf(order)
    if (turns !== undefined) return Array.from({ length: turns }, () => [call("look", { order })])
    return [
      [call("look", { order }), call("see", { order })],
      [call("pay", { order })],
      [call("flaky", { order })],
      [call("inner", { input: order })],
      [call("sign", { order })]
    ]
  })
  const tools = [look, see, pay, flaky, sign, Agent.asTool(inner, { description: "Works." })] as const
  return Agent.make("clerk", {
    model: outer,
    budget: { maxDuration: "30 days", maxTurns: 1000, maxToolCalls: 1000 },
    skills: [Skill.make("work", { description: "Works.", tools })]
  }).pipe(
    Agent.onEvent((event) => {
      if (event.type !== "run-completed" || event.parent !== undefined) return Effect.void
      const [order = ""] = /(?<=order )\S+/.exec(String(event.output)) ?? []
      return tell(order, `ended ${event.usage.inputTokens}`)
    })
  )
}

export const ordersIn = (world: World) =>
  Durable.workflow(agentOf(world), {
    name: "orders",
    version: "1",
    input: Schema.String,
    output: Schema.String,
    onApproval: world.hear
  })
