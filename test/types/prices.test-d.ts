import { Agent, type Budget, type LlmError, type Model, type RunError } from "@kintsugi/core"
import type * as DoorError from "@kintsugi/core/DoorError"
import type { Effect, Stream } from "effect"
import { describe, it } from "vitest"
import type { Equal, Expect } from "./_support/Identity.ts"

type Usual = RunError.BudgetExceededError | LlmError.LlmError
type Priced = Usual | RunError.UnknownPriceError

describe("maxCost", () => {
  it("has UnknownPriceError among the failures, as a literal and from a variable [P1382]", () => {
    const plain = Agent.make("clerk", { budget: { maxTurns: 3 } })
    type _plain = Expect<Equal<ReturnType<typeof plain>, Effect.Effect<string, Usual, Model.Model>>>
    const limited = Agent.make("clerk", { budget: { maxCost: 1 } })
    type _limited = Expect<Equal<ReturnType<typeof limited>, Effect.Effect<string, Priced, Model.Model>>>
    const streamed = limited.stream("hi")
    type _streamed = Expect<Equal<Stream.Error<typeof streamed>, Priced>>
    const limits = {} as Budget.Limits
    const unknown = Agent.make("clerk", { budget: limits })
    type _unknown = Expect<Equal<ReturnType<typeof unknown>, Effect.Effect<string, Priced, Model.Model>>>
  })

  it("has it in an agent whose limits are replaced, and in a generic function [P1382]", () => {
    const clerk = Agent.make("clerk", {})
    // a resumption may bring a limit of cost
    const resumed = Agent.resume(clerk)
    const piped = clerk.pipe(Agent.withBudget({ maxCost: 1 }))
    type _piped = Expect<Equal<ReturnType<typeof piped>, Effect.Effect<string, Priced, Model.Model>>>
    const turns = Agent.withBudget(clerk, { maxTurns: 1 })
    type _turns = Expect<Equal<ReturnType<typeof turns>, Effect.Effect<string, Usual, Model.Model>>>
    const cheap = <E, R>(agent: Agent.Agent<string, string, E, R, never, {}, {}, {}, undefined, "clerk">) =>
      Agent.withBudget(agent, { maxCost: 1 })
    const cheaper = cheap(clerk)
    type _cheaper = Expect<Equal<ReturnType<typeof cheaper>, Effect.Effect<string, Priced, Model.Model>>>
    type _resumed = Expect<Equal<Effect.Error<ReturnType<typeof resumed>>, Priced | DoorError.SnapshotRefusedError>>
  })
})
