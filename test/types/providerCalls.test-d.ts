/** What a tool may be that answers calls which the provider declares. */
import { Agent, type Approval, Skill, Tool } from "@kintsugi/core"
import type * as Model from "@kintsugi/core/Model"
import { Context, Effect, type Schema } from "effect"
import { describe, it } from "vitest"
import type { Equal, Expect } from "./_support/Identity.ts"

class Screen extends Context.Service<Screen, { readonly shot: Effect.Effect<string, "dark"> }>()("Screen") {}

const agentOf = <const T extends ReadonlyArray<Tool.AnyTool>>(...tools: T) =>
  Agent.make("worker", { skills: [Skill.make("work", { description: "Works.", tools })] })

describe("Tool.provider", () => {
  it("has the failures and needs of its function [P1406]", () => {
    const computer = Tool.provider("computer_call", () => Effect.flatMap(Screen, ({ shot }) => shot), {
      sideEffects: "unsafe"
    })
    type Wanted = Tool.Tool<"computer_call", Schema.JsonObject, Schema.Json, "dark", Screen, {}, "unsafe">
    type _Tool = Expect<Equal<typeof computer, Wanted>>
    const ran = agentOf(computer)("go")
    type _Needs = Expect<Equal<Effect.Services<typeof ran>, Model.Model | Screen>>
  })

  it("needs an approver for what the provider wants to be approved [P1406]", () => {
    const approved = agentOf(Tool.provider("mcp_approval_request"))("go")
    type _Needs = Expect<Equal<Effect.Services<typeof approved>, Model.Model | Approval.Approver>>
  })

  it("takes no other effects, and nothing without a function [P1406]", () => {
    // @ts-expect-error only requests for approval need no function
    Tool.provider("shell_call")
    // @ts-expect-error what goes back is JSON
    Tool.provider("shell_call", () => Effect.succeed(new Date()))
    // @ts-expect-error no such side effects
    Tool.provider("shell_call", () => Effect.succeed(""), { sideEffects: "some" })
  })
})
