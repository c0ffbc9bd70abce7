/** The name of an agent is in its type, through all combinators, so that the tool that it becomes has rows by that name. */
import { Agent, Budget, type Model, Recovery, Router, Skill, type Tool, ToolPolicy } from "@kintsugi/core"
import { Effect, Layer } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"
import { count, modelLayer } from "./_support/subjects.ts"

const description = "An expert."

const clerk = Agent.make("clerk", { tools: [count] })

describe("the name of an agent", () => {
  it("is that of its tool, which has rows of its own by it [P1304]", () => {
    const asked = Agent.asTool(clerk, { description })
    type _Name = Expect<Equal<Tool.NameOf<typeof asked>, "clerk">>
    const other = Agent.asTool(clerk, { name: "desk", description })
    type _Other = Expect<Equal<Tool.NameOf<typeof other>, "desk">>
    const boss = Agent.make("boss", { tools: [asked] })
    boss.pipe(Agent.onToolError({ clerk: { BudgetExceededError: Recovery.tell() } }))
    // @ts-expect-error there is no tool of that name
    boss.pipe(Agent.onToolError({ clark: { BudgetExceededError: Recovery.tell() } }))
    // @ts-expect-error nor one that it has under another name
    Agent.onToolError(Agent.make("boss", { tools: [other] }), { clerk: { BudgetExceededError: Recovery.tell() } })
  })

  it("stays through tables, functions, limits, layers and compositions of one [P1304]", () => {
    const changed = clerk.pipe(
      Agent.onToolError({ count: { NoKeys: Recovery.tell() } }),
      Agent.toolDefaults({ orElse: Recovery.tell() }),
      Agent.onLlmError({ RateLimitError: Recovery.retry({ retries: 1 }) }),
      Agent.withModel(modelLayer),
      Agent.withBudget({ maxTurns: 3 }),
      Agent.provide(Layer.empty),
      Agent.secrets([]),
      Agent.onEvent(() => Effect.void),
      Agent.onFailure(() => Effect.void),
      Agent.onToolUse(() => Effect.void),
      Agent.onBudgetExceeded(() => Budget.stop),
      Agent.toolPolicy(() => ToolPolicy.allow),
      Agent.resume
    )
    type _Changed = Expect<Equal<typeof changed.name, "clerk">>
    const twoSkills = Agent.make("desk", {
      skills: [Skill.make("a", { description: "A." }), Skill.make("b", { description: "B." })]
    }).pipe(Agent.route(Router.byRule(() => "a")))
    type _Routed = Expect<Equal<typeof twoSkills.name, "desk">>
    const plain = Agent.deterministic("plain", (text: string) => Effect.succeed(text))
    type _Plain = Expect<Equal<typeof plain.name, "plain">>
    const both = Agent.andThen(plain, plain)
    type _Both = Expect<Equal<typeof both.name, string>>
    const named = both.pipe(Agent.named("both"))
    type _Named = Expect<Equal<typeof named.name, "both">>
    sameType<Tool.Tool<"both", Agent.TextInput, string, never, never>>()(Agent.asTool(named, { description }))
  })

  it("is forgotten by a port, and by an annotation without it [P1304]", () => {
    const port: Agent.Any<string, string, Effect.Error<ReturnType<typeof clerk>>, Model.Model> = Agent.seal(clerk)
    type _Port = Expect<Equal<Tool.NameOf<typeof asked>, string>>
    const asked = Agent.asTool(port, { description })
  })
})
