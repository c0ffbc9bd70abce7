/** The combinators of agents and routers with the agent, or the router, as their first argument. */
import { Agent, Budget, type Model, Recovery, Router, Skill, type ToolPolicy } from "@kintsugi/core"
import { Context, Effect, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"
import { count, type Db, modelLayer, type NoKeys } from "./_support/subjects.ts"

class Log extends Context.Service<Log, { readonly line: (text: string) => Effect.Effect<void> }>()("test/Log") {}

const logged = Effect.flatMap(Log, (log) => log.line("x"))

const clerk = Agent.make("clerk", { tools: [count] })

describe("an agent, as an argument of its combinators", () => {
  it("is what it is in a pipe, with tables [P1320]", () => {
    const byTool = Agent.onToolError(clerk, {
      count: {
        NoKeys: (error) => {
          sameType<NoKeys>()(error)
          return Effect.succeed(0)
        }
      }
    })
    const byToolPiped = clerk.pipe(Agent.onToolError({ count: { NoKeys: () => Effect.succeed(0) } }))
    type _1 = Expect<Equal<ReturnType<typeof byTool>, ReturnType<typeof byToolPiped>>>
    const rows = { NoKeys: Recovery.retry({ retries: 1 }), UnknownToolError: Recovery.raise }
    const [all, allPiped] = [Agent.toolDefaults(clerk, rows), clerk.pipe(Agent.toolDefaults(rows))] as const
    type _2 = Expect<Equal<typeof all, typeof allPiped>>
    const late = { RateLimitError: () => Effect.as(logged, "later") }
    const [llm, llmPiped] = [Agent.onLlmError(clerk, late), clerk.pipe(Agent.onLlmError(late))] as const
    type _3 = Expect<Equal<typeof llm, typeof llmPiped>>
    const byFunction = Agent.onLlmError(clerk, (error) => Effect.succeed(error.message), { onPartial: "restart" })
    sameType<true>()(true as Equal<Effect.Services<ReturnType<typeof byFunction>>, Model.Model>)
  })

  it("is what it is in a pipe, with functions, limits and layers [P1320]", () => {
    const listener = () => logged
    const [heard, heardPiped] = [Agent.onEvent(clerk, listener), clerk.pipe(Agent.onEvent(listener))] as const
    type _1 = Expect<Equal<typeof heard, typeof heardPiped>>
    const [used, usedPiped] = [Agent.onToolUse(clerk, listener), clerk.pipe(Agent.onToolUse(listener))] as const
    type _2 = Expect<Equal<typeof used, typeof usedPiped>>
    const [failed, failedPiped] = [Agent.onFailure(clerk, listener), clerk.pipe(Agent.onFailure(listener))] as const
    type _3 = Expect<Equal<typeof failed, typeof failedPiped>>
    const stop = () => Effect.as(logged, Budget.stop)
    const [stopped, stoppedPiped] = [
      Agent.onBudgetExceeded(clerk, stop),
      clerk.pipe(Agent.onBudgetExceeded(stop))
    ] as const
    type _4 = Expect<Equal<typeof stopped, typeof stoppedPiped>>
    const reserve = { reserve: { outputTokens: 500 } } as const
    const [reserving, reservingPiped] = [
      Agent.onBudgetExceeded(clerk, () => Budget.answer, reserve),
      clerk.pipe(Agent.onBudgetExceeded(() => Budget.answer, reserve))
    ] as const
    type _4b = Expect<Equal<typeof reserving, typeof reservingPiped>>
    // an answer at a limit takes no failure away
    type _4c = Expect<Equal<Effect.Error<ReturnType<typeof reserving>>, Effect.Error<ReturnType<typeof clerk>>>>
    // @ts-expect-error a reserve is made of output tokens
    Agent.onBudgetExceeded(clerk, () => Budget.answer, { reserve: { inputTokens: 5 } })
    // @ts-expect-error there is no such action
    Agent.onBudgetExceeded(clerk, () => ({ type: "finish" }))
    const policy = {} as ToolPolicy.Policy<Db>
    const [guarded, guardedPiped] = [Agent.toolPolicy(clerk, policy), clerk.pipe(Agent.toolPolicy(policy))] as const
    type _5 = Expect<Equal<typeof guarded, typeof guardedPiped>>
    const [other, otherPiped] = [Agent.withModel(clerk, modelLayer), clerk.pipe(Agent.withModel(modelLayer))] as const
    type _6 = Expect<Equal<typeof other, typeof otherPiped>>
    const [bound, boundPiped] = [
      Agent.withBudget(clerk, { maxTurns: 1 }),
      clerk.pipe(Agent.withBudget({ maxTurns: 1 }))
    ] as const
    type _7 = Expect<Equal<typeof bound, typeof boundPiped>>
    const hidden = Agent.secrets(clerk, [])
    type _8 = Expect<Equal<typeof hidden, typeof clerk>>
    const parsing = Agent.make("parsing", { output: Schema.Number })
    const [retrying, retryingPiped] = [Agent.outputRetries(parsing, 2), parsing.pipe(Agent.outputRetries(2))] as const
    type _9 = Expect<Equal<typeof retrying, typeof parsing> & Equal<typeof retryingPiped, typeof parsing>>
  })

  it("is checked as in a pipe [P1309]", () => {
    // @ts-expect-error there is no tool of that name
    Agent.onToolError(clerk, { counts: { NoKeys: Recovery.tell() } })
    // @ts-expect-error the tool has no such failure
    Agent.onToolError(clerk, { count: { NoKey: Recovery.tell() } })
    // @ts-expect-error it gives a number
    Agent.onToolError(clerk, { count: { NoKeys: Recovery.respondWith("none") } })
    // @ts-expect-error no tool has such a failure
    Agent.toolDefaults(clerk, { NoKey: Recovery.tell() })
    // @ts-expect-error models have no such failure
    Agent.onLlmError(clerk, { RateLimit: Recovery.retry({ retries: 1 }) })
    // @ts-expect-error the agent answers with a text
    Agent.onLlmError(clerk, { RateLimitError: Recovery.respondWith(1) })
    // @ts-expect-error its answer is any text
    Agent.outputRetries(clerk, 2)
    const plain = Agent.deterministic("plain", (text: string) => Effect.succeed(text))
    // @ts-expect-error it asks no model
    Agent.onLlmError(plain, {})
    // @ts-expect-error it has no run with limits
    Agent.onBudgetExceeded(plain, () => Budget.stop)
    // @ts-expect-error it is no composition
    Agent.named(clerk, "other")
  })

  it("routers and what routes by them are as in a pipe [P1320]", () => {
    const rows = { RateLimitError: () => Effect.succeed("a" as const) }
    const [router, routerPiped] = [
      Router.onLlmError(Router.byModel(), rows),
      Router.byModel().pipe(Router.onLlmError(rows))
    ] as const
    type _1 = Expect<Equal<typeof router, typeof routerPiped>>
    const desk = Agent.make("desk", {
      skills: [Skill.make("a", { description: "A." }), Skill.make("b", { description: "B." })]
    })
    const [routed, routedPiped] = [Agent.route(desk, router), desk.pipe(Agent.route(routerPiped))] as const
    type _2 = Expect<Equal<typeof routed, typeof routedPiped>>
    const elsewhere = Router.byRule(() => "c")
    // @ts-expect-error it has no such skill
    Agent.route(desk, elsewhere)
  })
})
