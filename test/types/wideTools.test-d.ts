/** Tools whose table or name is not known where they are used: nothing of them is lost, or it does not compile. */
import { Agent, Recovery, Skill, Tool, type ToolError } from "@kintsugi/core"
import type { Model } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import {
  ask,
  type BadArgs,
  type Boom,
  check,
  count,
  type Db,
  type NoKeys,
  type Oops,
  type Own
} from "./_support/subjects.ts"

const limited = Tool.make("count", {
  description: "Counts.",
  parameters: Schema.Struct({ json: Schema.String }),
  success: Schema.Number,
  callTimeout: "5 seconds",
  run: (): Effect.Effect<number, NoKeys | Boom> => Effect.succeed(1)
})

declare const named: string

describe("a tool without a table, as a parameter, an element or a port", () => {
  it("is no tool with rows, with approval or with a limit for its calls [P1303]", () => {
    type Bare = Tool.Tool<"count", { readonly json: string }, number, NoKeys | Boom, never>
    const build = (tool: Bare) => Agent.make("g", { skills: [Skill.make("s", { description: "d", tools: [tool] })] })
    build(count)
    // @ts-expect-error its row may end the call hard
    build(count.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 1 }) })))
    // @ts-expect-error its handler fails, and needs a service
    build(count.pipe(Tool.onError({ NoKeys: Recovery.respondWith(() => ask) })))
    // @ts-expect-error it needs an approver
    build(count.pipe(Tool.requireApproval()))
    // @ts-expect-error the end of its calls is hard
    build(limited)
    // @ts-expect-error nor is it in a list
    const tools: ReadonlyArray<Bare> = [count.pipe(Tool.onError({ NoKeys: Recovery.tell() }))]
    // @ts-expect-error nor where a port gives it
    const port: { readonly tool: () => Bare } = { tool: () => count.pipe(Tool.requireApproval()) }
    void tools
    void port
  })

  it("keeps what it is where its type is inferred [P1303]", () => {
    const build = <const T extends ReadonlyArray<Tool.AnyTool>>(tools: T) =>
      Agent.make("g", { skills: [Skill.make("s", { description: "d", tools })] })
    sameType<Effect.Effect<string, Own | BadArgs | Boom | Oops, Model.Model | Db>>()(
      build([count.pipe(Tool.onError({ NoKeys: Recovery.respondWith(() => ask) })), check])("")
    )
  })
})

describe("a tool whose name is only a string", () => {
  const tool = Tool.make(named, {
    description: "Counts.",
    parameters: Schema.Struct({ json: Schema.String }),
    success: Schema.Number,
    run: (): Effect.Effect<number, NoKeys> => Effect.succeed(1)
  })
  const agent = Agent.make("g", { skills: [Skill.make("s", { description: "d", tools: [tool] })] })

  it("has every row that the agent's tables may have for it, or none [P1304]", () => {
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys | Oops, Model.Model | Db>>()(
      agent.pipe(Agent.onToolError({ search: { orElse: Recovery.respondWith(() => ask) } }))("")
    )
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys | ToolError.ToolExecutionError, Model.Model>>()(
      agent.pipe(Agent.onToolError({ search: { NoKeys: Recovery.raise } }))("")
    )
  })
})
