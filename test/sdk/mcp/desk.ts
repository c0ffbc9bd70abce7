/** Tools of ours, and an agent, for the tests that serve them. */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import type * as McpServer from "@kintsugi/interop/McpServer"
import { Deferred, Effect, Schema } from "effect"

export class TooBig extends Schema.TaggedError<TooBig>()("TooBig", { message: Schema.String }) {}

export const started = Deferred.makeUnsafe<void>()
export const stopped = Deferred.makeUnsafe<void>()

const add = Tool.make("add", {
  description: "Adds.",
  parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  success: Schema.Struct({ sum: Schema.Finite }),
  sideEffects: "none",
  run: ({ a, b }) =>
    a + b > 100 ? Effect.fail(new TooBig({ message: "more than 100" })) : Effect.succeed({ sum: a + b })
})

const addSoftly = Tool.make("add-softly", {
  description: "Adds, and says what it cannot do.",
  parameters: Schema.Struct({ a: Schema.Finite }),
  success: Schema.Finite,
  sideEffects: "idempotent",
  run: () => Effect.fail(new TooBig({ message: "more than 100" }))
}).pipe(Tool.onError({ TooBig: Recovery.tell((error) => `use smaller numbers: ${error.message}`) }))

const wait = Tool.make("wait", {
  description: "Waits.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  sideEffects: "unsafe",
  run: () =>
    Effect.andThen(
      Deferred.succeed(started, undefined),
      Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
    )
})

const count = Tool.make("count", {
  description: "Counts.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: (_, { progress }) =>
    Effect.logInfo("counting").pipe(
      Effect.andThen(progress({ progress: 1, total: 2, message: "half" })),
      Effect.as("2")
    )
})

const shout = Agent.asTool(
  Agent.deterministic("shouter", (text: string) => Effect.succeed(text.toUpperCase())),
  { name: "shout", description: "An agent that shouts." }
)

export const served = {
  name: "desk",
  version: "1.2.3",
  instructions: "Add first.",
  tools: [add, addSoftly, wait, count, shout]
} satisfies Parameters<typeof McpServer.stdio<Tool.AnyTool>>[0]
