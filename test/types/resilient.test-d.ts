/** What `Agent.resilient` leaves in the types, and for which agents it is. */
import { Agent, type Compaction, type LlmError, type Model, Recovery, Tool, type ToolError } from "@kintsugi/core"
import { Effect } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { count, type Db, having, type NoKeys, type Own } from "./_support/subjects.ts"

type Hard = ToolError.ToolExecutionError

describe("Agent.resilient", () => {
  it("leaves no failure of a tool, in every order of a pipe and in both forms [P1343]", () => {
    sameType<Effect.Effect<string, Own, Model.Model>>()(having(count).pipe(Agent.resilient())("go"))
    sameType<Effect.Effect<string, Own, Model.Model>>()(Agent.resilient(having(count))("go"))
    sameType<Effect.Effect<string, Own, Model.Model>>()(Agent.resilient(having(count), { toolRetries: 1 })("go"))
  })

  it("failures that other rows leave are left, and those that they give up are not [P1343]", () => {
    const raising = { NoKeys: Recovery.raise }
    const retrying = { NoKeys: Recovery.retry({ retries: 1 }) }
    sameType<Effect.Effect<string, Own | Hard, Model.Model>>()(
      having(count).pipe(Agent.resilient(), Agent.toolDefaults(raising))("go")
    )
    sameType<Effect.Effect<string, Own | Hard, Model.Model>>()(
      having(count).pipe(Agent.toolDefaults(raising), Agent.resilient())("go")
    )
    sameType<Effect.Effect<string, Own, Model.Model>>()(
      having(count).pipe(Agent.resilient(), Agent.toolDefaults(retrying))("go")
    )
    sameType<Effect.Effect<string, Own | NoKeys, Model.Model>>()(
      having(count.pipe(Tool.onError({ NoKeys: Recovery.rethrow }))).pipe(Agent.resilient())("go")
    )
  })

  it("the failures of a model stay, but for those that a row of others answers [P1343]", () => {
    sameType<LlmError.LlmError>()(null as never as Extract<Agent.AgentError<typeof resilient>, LlmError.LlmError>)
  })

  it("needs what its compaction needs [P1343]", () => {
    const agent = having(count).pipe(Agent.resilient({ compaction: {} as Compaction.Compaction<Db> }))
    sameType<Effect.Effect<string, Own, Model.Model | Db>>()(agent("go"))
  })

  it("is for agents that call a model [P1343]", () => {
    const one = Agent.deterministic("one", (_input: string) => Effect.succeed("1"))
    // @ts-expect-error a function asks none
    Agent.resilient(one)
    // @ts-expect-error its parts are resilient, each by itself
    Agent.fallback(one, one).pipe(Agent.resilient())
  })
})

const resilient = having(count).pipe(Agent.resilient())
