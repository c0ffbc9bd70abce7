/** What a comparison of policies asks of its agents, policies and checks, and what it needs. */
import { Agent, type Model } from "@kintsugi/core"
import { Eval } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { count, type Db, having, type Own } from "./_support/subjects.ts"

interface World {
  readonly notes: ReadonlyArray<string>
}

type Scenario = Parameters<typeof Eval.compare<World, string, string, unknown, never>>[0]["scenarios"][number]

const scenario: Scenario = {
  name: "s",
  input: "go",
  world: () => ({ notes: [] }),
  check: ({ output }) => output === "done"
}

const plain = () => having(count)

const agent: (world: World) => ReturnType<typeof plain> = plain

const base = { agent, scenarios: [scenario] }

describe("Eval.compare", () => {
  it("fails with nothing, and needs what its runs need", () => {
    sameType<Effect.Effect<Eval.EvalReport, never, Model.Model>>()(
      Eval.compare({ ...base, policies: [{ name: "plain", guard: (agent) => agent }] })
    )
  })

  it("takes policies with failures and needs of their own", () => {
    const plain = { name: "plain", guard: (agent: ReturnType<typeof base.agent>) => agent }
    const needing = {
      name: "db",
      guard: () => (): Effect.Effect<string, Own, Db> => Effect.never
    }
    sameType<Effect.Effect<Eval.EvalReport, never, Model.Model | Db>>()(
      Eval.compare({ ...base, policies: [plain, needing] })
    )
  })

  it("knows the agent of a policy, and what a check sees", () => {
    Eval.compare({
      ...base,
      policies: [{ name: "resilient", guard: (agent) => agent.pipe(Agent.resilient()) }],
      scenarios: [
        {
          ...scenario,
          check: ({ error, output, world }) => {
            sameType<unknown>()(error)
            sameType<string | undefined>()(output)
            sameType<World>()(world)
            return true
          }
        }
      ]
    })
  })

  it("refuses a check that gives no boolean, and a policy of another input or output", () => {
    const policies = [{ name: "plain", guard: (agent: ReturnType<typeof base.agent>) => agent }]
    Eval.compare({
      ...base,
      policies,
      // @ts-expect-error a promise is true, even one of false
      scenarios: [{ ...scenario, check: () => Promise.resolve(false) }]
    })
    // @ts-expect-error the scenarios expect a text
    Eval.compare({ ...base, policies: [{ name: "other", guard: () => () => Effect.succeed(3) }] })
  })
})
