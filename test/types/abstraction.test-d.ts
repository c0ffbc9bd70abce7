/** Functions over any tool and any agent, policies outside of a pipe, ports, and what layers leave. */
import { Agent, Approval, type Model, Recovery, type RunError, Skill, Tool, type ToolError } from "@kintsugi/core"
import { Effect, type Layer } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, type IsAny, sameType } from "./_support/Identity.ts"
import {
  ask,
  type BadArgs,
  type Boom,
  call,
  check,
  count,
  type Db,
  having,
  type Mail,
  modelLayer,
  name,
  type NoKeys,
  type Oops,
  type Own,
  pay
} from "./_support/subjects.ts"

type Call<E, R = never> = Effect.Effect<string, Own | E, Model.Model | R>

const once = Recovery.retry({ retries: 1 })

describe("a function over any tool", () => {
  const telling = <N extends string, P, A, E, R, T, S extends Recovery.SideEffects>(
    tool: Tool.Tool<N, P, A, E, R, T, S>
  ) => tool.pipe(Tool.onError({ InvalidArgs: once, orElse: Recovery.tell() }))

  it("adds a standard table, and what is left is exact [P1306]", () => {
    sameType<Call<ToolError.ToolExecutionError>>()(call(telling(count)))
    sameType<Call<ToolError.ToolExecutionError, Mail>>()(call(telling(name)))
    sameType<Call<ToolError.ToolExecutionError>>()(call(telling(pay)))
  })

  it("adds no row that some tool cannot have [P1306]", () => {
    const bad = <N extends string, P, A, E, R, T, S extends Recovery.SideEffects>(
      tool: Tool.Tool<N, P, A, E, R, T, S>
    ) => {
      // @ts-expect-error the tool may be unsafe
      tool.pipe(Tool.onError({ orElse: once }))
      // @ts-expect-error it may have no such failure
      tool.pipe(Tool.onError({ NoKeys: Recovery.tell() }))
      // @ts-expect-error it may give something else
      tool.pipe(Tool.onError({ orElse: Recovery.respondWith(0) }))
      return tool.pipe(Tool.onError({ orElse: Recovery.retry({ retries: 1, acknowledge: "may run twice" }) }))
    }
    sameType<Call<ToolError.ToolExecutionError>>()(call(bad(pay)))
    const safe = <N extends string, P, A, E, R, T>(tool: Tool.Tool<N, P, A, E, R, T, "idempotent">) =>
      tool.pipe(Tool.onError({ orElse: once }))
    // @ts-expect-error it is not
    safe(pay)
    const answering = <N extends string, P, A, E, R, T>(tool: Tool.Tool<N, P, A, E, R, T>, answer: A) =>
      tool.pipe(Tool.onError({ orElse: Recovery.respondWith(() => Effect.succeed(answer)) }))
    sameType<Call<never>>()(call(answering(count, 0)))
  })
})

describe("a function over any agent", () => {
  const standard = <I, O, E, R, T extends Tool.AnyTool, B, D, M extends object, C>(
    agent: Agent.Agent<I, O, E, R, T, B, D, M, C>
  ) =>
    agent.pipe(
      Agent.toolDefaults({ InvalidArgs: Recovery.tell(), UnknownToolError: Recovery.raise }),
      Agent.onLlmError({ orElse: Recovery.rethrow, RateLimitError: once }),
      Agent.withBudget({ maxTurns: 3 })
    )

  it("adds standard tables, and what is left is exact [P1306]", () => {
    sameType<Call<NoKeys | Boom | ToolError.ToolExecutionError>>()(standard(having(count))(""))
    sameType<Call<Boom | ToolError.ToolExecutionError, Mail>>()(standard(having(name))(""))
    // a table that comes later has the types of the tools
    sameType<Call<NoKeys | ToolError.ToolExecutionError>>()(
      standard(having(count)).pipe(Agent.onToolError({ count: { Boom: Recovery.respondWith(0) } }))("")
    )
  })
})

describe("a policy outside of a pipe", () => {
  it("of a tool, which is compared with it where it is used [P1306]", () => {
    const policy = Tool.onError({ NoKeys: Recovery.tell(), orElse: once })
    sameType<Call<ToolError.ToolExecutionError>>()(call(policy(count)))
    sameType<Call<ToolError.ToolExecutionError>>()(call(count.pipe(policy)))
    // @ts-expect-error it has no such failure
    policy(check)
    // @ts-expect-error in a pipe neither
    check.pipe(policy)
    // @ts-expect-error its side effects are unsafe
    pay.pipe(policy)
    // @ts-expect-error it gives a number
    count.pipe(Tool.onError({ Boom: Recovery.respondWith("a text") }))
    const answer = Tool.onError({ Boom: Recovery.respondWith("a text") })
    // @ts-expect-error it gives a number
    count.pipe(answer)
    sameType<Call<BadArgs, Mail>>()(call(name.pipe(answer)))
  })

  it("of an agent, by name and for all tools [P1306]", () => {
    const byName = Agent.onToolError({ count: { NoKeys: Recovery.respondWith(() => ask) } })
    const all = Agent.toolDefaults({ Boom: Recovery.tell() })
    sameType<Call<BadArgs | Oops, Db>>()(having(count).pipe(byName, all)(""))
    sameType<Call<BadArgs | Oops, Db>>()(all(byName(having(count)))(""))
    // @ts-expect-error there is no such tool
    byName(having(name))
    // @ts-expect-error there is no such failure
    all(having(check))
  })

  it("of model calls: the output of the agent stays what it is [P1306]", () => {
    const policy = Agent.onLlmError({ orElse: Recovery.respondWith("later") })
    sameType<Effect.Effect<string, RunError.BudgetExceededError, Model.Model>>()(Agent.make("a", {}).pipe(policy)(""))
    const number = Agent.onLlmError({ orElse: Recovery.respondWith(0) })
    // @ts-expect-error it gives texts
    Agent.make("a", {}).pipe(number)
  })
})

describe("Agent.Any, the type of a port", () => {
  interface Port {
    readonly clerk: Agent.Any<string, string, Own | BadArgs | Boom, Model.Model | Mail>
  }

  it("is had by sealing, with each of its four types [P1306]", () => {
    const sealed = Agent.seal(having(name))
    type Of = typeof sealed extends Agent.Any<infer I, infer O, infer E, infer R> ? [I, O, E, R] : never
    type _ = Expect<Equal<Of, [string, string, Own | BadArgs | Boom, Model.Model | Mail]>>
    type Any = [IsAny<Of[0]>, IsAny<Of[1]>, IsAny<Of[2]>, IsAny<Of[3]>]
    type __ = Expect<Equal<Any, [false, false, false, false]>>
    const port: Port = { clerk: sealed }
    sameType<Call<BadArgs | Boom, Mail>>()(port.clerk(""))
    // compositions and functions are such agents
    const both: Port = {
      clerk: Agent.andThen(
        having(name),
        Agent.deterministic("id", (s: string) => Effect.succeed(s))
      )
    }
    sameType<Call<BadArgs | Boom, Mail>>()(both.clerk(""))
    // @ts-expect-error its tools have other failures
    const other: Port = { clerk: Agent.seal(having(count)) }
    void other
  })

  it("has no calls that a table could be for, and may not race without acknowledgement [P1306]", () => {
    const sealed = Agent.seal(having(count))
    // @ts-expect-error nothing is known of its tools
    sealed.pipe(Agent.toolDefaults({ NoKeys: Recovery.tell() }))
    // @ts-expect-error one of them may be unsafe
    Agent.firstOf(sealed, sealed)
    Agent.firstOf(sealed, sealed, { acknowledge: "may run twice" })
    sameType<Effect.Effect<number, Own | BadArgs | NoKeys | Boom, Model.Model>>()(
      sealed.pipe(Agent.map((said) => said.length))("")
    )
  })

  it("is the type of a parameter of a function over agents [P1306]", () => {
    const twice = <I, E, R>(agent: Agent.Any<I, string, E, R>, input: I) => Effect.zip(agent(input), agent(input))
    sameType<Effect.Effect<[string, string], Own, Model.Model>>()(twice(Agent.seal(Agent.make("a", {})), ""))
  })
})

describe("a layer around an agent or a tool", () => {
  const db: Layer.Layer<Db> = undefined as never
  const mail: Layer.Layer<Mail, Oops, Db> = undefined as never
  const approver = Approval.layer(() => Effect.succeed({ type: "approve" }))

  it("takes what it gives from tools, tables and the choice of a skill [P1306]", () => {
    const handled = having(name).pipe(
      Agent.onToolError({ name: { Boom: Recovery.respondWith(() => Effect.as(ask, "")) } })
    )
    sameType<Call<BadArgs | Oops, Mail>>()(handled.pipe(Agent.provide(db))(""))
    sameType<Call<BadArgs | Oops, Db>>()(handled.pipe(Agent.provide(mail))(""))
    sameType<Effect.Effect<string, Own | BadArgs | Oops>>()(
      handled.pipe(Agent.provide(mail), Agent.provide(db), Agent.provide(modelLayer))("")
    )
    const skills = [Skill.make("a", { description: "A" }), Skill.make("b", { description: "B" })] as const
    sameType<Effect.Effect<string, Own | RunError.RoutingError>>()(
      Agent.make("two", { skills }).pipe(Agent.provide(modelLayer))("")
    )
  })

  it("keeps tables, the limit of a call and approval: the order of a pipe changes nothing [P1306]", () => {
    const telling = Agent.toolDefaults({ NoKeys: Recovery.tell() })
    const before = having(count).pipe(telling, Agent.provide(modelLayer))("")
    const after = having(count).pipe(Agent.provide(modelLayer), telling)("")
    type _ = Expect<Equal<typeof before, typeof after>>
    sameType<Effect.Effect<string, Own | BadArgs | Boom>>()(before)
    const waiting = having(check.pipe(Tool.requireApproval()))
    sameType<Effect.Effect<string, Own | BadArgs, Approval.Approver>>()(waiting.pipe(Agent.provide(modelLayer))(""))
    sameType<Call<BadArgs>>()(waiting.pipe(Agent.provide(approver))(""))
    waiting.pipe(Agent.provide(modelLayer), Agent.resume)
  })

  it("of a tool: its failures are the tool's, and the rows keep their needs [P1306]", () => {
    const provided = name.pipe(Tool.provide(mail))
    sameType<Tool.Tool<"name", { readonly json: string }, string, Boom | Oops, Db>>()(provided)
    sameType<Call<BadArgs | Boom, Db>>()(call(provided.pipe(Tool.onError({ Oops: Recovery.respondWith("") }))))
    const waiting = name.pipe(
      Tool.onError({ Boom: Recovery.respondWith(() => Effect.as(ask, "")) }),
      Tool.provide(mail)
    )
    sameType<Call<BadArgs | Oops, Db>>()(call(waiting))
  })
})
