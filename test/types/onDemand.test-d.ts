/** Tools on demand keep their types, so an agent with them has the same failures and needs. */
import { Agent, Tool } from "@kintsugi/core"
import { Effect } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { check, count } from "./_support/subjects.ts"

const both = [count, check] as const

describe("Tool.onDemand", () => {
  it("keeps the type of each tool, of a list and of a tuple [P1385]", () => {
    sameType<readonly [typeof count, typeof check]>()(Tool.onDemand(both))
    const list: ReadonlyArray<typeof count> = [count]
    sameType<ReadonlyArray<typeof count>>()(Tool.onDemand(list, { limit: 3 }))
    const generic = <T extends Tool.AnyTool>(tool: T) => Tool.onDemand([tool])[0]
    sameType<typeof count>()(generic(count))
  })

  it("leaves the failures and the needs of the agent as they are [P1385]", () => {
    const direct = Agent.make("desk", { tools: [count, check] })
    const onDemand = Agent.make("desk", { tools: Tool.onDemand([count, check]) })
    sameType<Effect.Error<ReturnType<typeof direct>>>()({} as Effect.Error<ReturnType<typeof onDemand>>)
    sameType<Effect.Services<ReturnType<typeof direct>>>()({} as Effect.Services<ReturnType<typeof onDemand>>)
  })

  it("takes tools alone, and a search that needs nothing [P1385]", () => {
    // @ts-expect-error a name is no tool
    Tool.onDemand(["count"])
    // @ts-expect-error the search gives names
    Tool.onDemand([count], { search: () => () => Effect.succeed([1]) })
    // @ts-expect-error there is no such option
    Tool.onDemand([count], { top: 1 })
    Tool.onDemand([count], { search: (tools) => () => Effect.succeed(tools.map(({ name }) => name)) })
  })
})
