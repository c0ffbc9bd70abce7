/** Tools whose table or name is not known where they are used: nothing of them is lost, or it does not compile. */
import { Agent, type Model, Recovery, Router, type RunError, Skill, Tool, type ToolError } from "@kintsugi/core"
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

describe("a tool whose name is a pattern", () => {
  it("may be any that a row is for [P1304]", () => {
    const search = Tool.make(`search_${named}`, {
      description: "Searches.",
      parameters: Schema.Struct({}),
      success: Schema.Number,
      run: (): Effect.Effect<number, NoKeys> => Effect.succeed(1)
    })
    const table = { search_eu: { NoKeys: Recovery.respondWith(() => ask) } }
    const agent = Agent.make("g", { tools: [search] }).pipe(Agent.onToolError(table))
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys | Oops, Model.Model | Db>>()(agent(""))
    const other = Agent.make("g", { tools: [search, count] }).pipe(
      Agent.onToolError({ count: { NoKeys: Recovery.tell(), Boom: Recovery.tell() } })
    )
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys, Model.Model>>()(other(""))
  })

  it("leaves the error of a choice among skills of such names [P1304]", () => {
    const says = { description: "Says.", run: () => Effect.succeed("x") }
    const skills = [Skill.deterministic(named, says), Skill.deterministic("c", says)] as const
    const agent = Agent.make("g", { skills }).pipe(Agent.route(Router.byRule(() => "a" as const)))
    sameType<Effect.Effect<string, RunError.BudgetExceededError | RunError.RoutingError>>()(agent(""))
  })
})

describe("an agent with tables", () => {
  const lossy = Agent.make("g", { tools: [count] }).pipe(
    Agent.onToolError({ count: { NoKeys: () => ask } }),
    Agent.toolDefaults({ Boom: Recovery.tell() }),
    Agent.onLlmError({ RateLimitError: () => Effect.fail(new OwnFailure({ why: "" })) })
  )
  class OwnFailure extends Schema.TaggedError<OwnFailure>()("OwnFailure", { why: Schema.String }) {}
  const asked = Effect.as(ask, "")

  it("is no agent without them, as a port and as a parameter [P1303]", () => {
    type Bare = Agent.Agent<string, string, RunError.BudgetExceededError, Model.Model, typeof count, {}, {}, {}>
    // @ts-expect-error its rows fail, and need a service
    const byName: Bare = Agent.make("g", { tools: [count] }).pipe(Agent.onToolError({ count: { NoKeys: () => ask } }))
    // @ts-expect-error its defaults handle what the type says is left
    const byDefault: Bare = Agent.make("g", { tools: [count] }).pipe(Agent.toolDefaults({ NoKeys: Recovery.raise }))
    const standard = <E, R, T extends Tool.AnyTool>(agent: Agent.Agent<string, string, E, R, T, {}, {}, {}>) =>
      agent.pipe(Agent.toolDefaults({ InvalidArgs: Recovery.tell() }))
    // @ts-expect-error its tables come before these
    standard(lossy)
    const guarded = Agent.make("g", { tools: [count] }).pipe(Agent.onLlmError({ RateLimitError: () => asked }))
    // @ts-expect-error its rows for models fail, and need a service
    const byModel: Bare = guarded
    // @ts-expect-error so do those of each agent in a list
    const listed: ReadonlyArray<Bare> = [guarded]
    const bare: Bare = Agent.make("g", { tools: [count] })
    void [byName, byDefault, byModel, listed, bare]
  })
})

describe("helpers over any tool and any agent, with the value first", () => {
  it("compile as in a pipe [P1306]", () => {
    const mendable = <N extends string, P, A, E, R, T, S extends Recovery.SideEffects>(
      tool: Tool.Tool<N, P, A, E, R, T, S>
    ) => Tool.onError(tool, { InvalidArgs: Recovery.tell() })
    sameType<Effect.Effect<string, Own | NoKeys | Boom, Model.Model>>()(
      Agent.make("g", { tools: [mendable(count)] })("")
    )
    const telling = <I, O, E, R, T extends Tool.AnyTool, B, D, M extends {}, C, N extends string>(
      agent: Agent.Agent<I, O, E, R, T, B, D, M, C, N>
    ) => Agent.toolDefaults(agent, { InvalidArgs: Recovery.tell() })
    sameType<Effect.Effect<string, Own | NoKeys | Boom, Model.Model>>()(
      telling(Agent.make("g", { tools: [count] }))("")
    )
  })
})

describe("the bound of a handler", () => {
  it("is in its end wherever it may be given [P1302]", () => {
    const often = () => Recovery.ladder(Recovery.retry({ retries: 5 }), Recovery.tell())
    const maybe: { readonly atMost?: number } = { atMost: 1 }
    const whenOften = count.pipe(Tool.onError({ orElse: Recovery.when(often) }))
    sameType<Effect.Effect<string, Own, Model.Model>>()(Agent.make("g", { tools: [whenOften] })(""))
    const bounded = count.pipe(Tool.onError({ orElse: Recovery.when(often, maybe) }))
    sameType<Effect.Effect<string, Own | ToolError.ToolExecutionError, Model.Model>>()(
      Agent.make("g", { tools: [bounded] })("")
    )
    // @ts-expect-error a function in the place of a table says it with `Recovery.when` in a row
    Agent.onLlmError(() => Recovery.retry({ retries: 5 }), { atMost: 1 })
  })
})
