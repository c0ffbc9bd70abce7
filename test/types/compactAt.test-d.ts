/** What `Agent.compactAt` takes, and what it leaves of an agent's type. */
import { Agent, Compaction, type LlmError, type Model } from "@kintsugi/core"
import { Context, Effect } from "effect"
import { test } from "vitest"
import type { Equal, Expect } from "./_support/Identity.ts"

class Store extends Context.Service<Store, { readonly sum: Effect.Effect<string> }>()("Store") {}

const agent = Agent.make("worker", {})
const last = Compaction.dropOldest({ keepLast: 9 })
const stored = Compaction.make("stored", ({ transcript }) => Effect.as(Store, transcript))

test("its needs are those of the compaction, and it is for agents with a loop [P1570]", () => {
  const plain = Agent.compactAt(agent, { with: last })
  type _plain = Expect<Equal<typeof plain, typeof agent>>

  const needy = agent.pipe(Agent.compactAt({ window: 1000, share: 0.5, with: stored }))
  type _needs = Expect<Equal<Agent.AgentServices<typeof needy>, Store | Model.Model>>
  type _fails = Expect<Equal<Agent.AgentError<typeof needy>, Agent.AgentError<typeof agent>>>

  // @ts-expect-error a compaction is needed
  Agent.compactAt(agent, { window: 1000 })
  const shout = Agent.deterministic("shout", (text: string) => Effect.succeed(text))
  // @ts-expect-error a function has no conversation
  Agent.compactAt(shout, { with: last })
  // @ts-expect-error a composition has none of its own
  agent.pipe(Agent.andThen(agent), Agent.compactAt({ with: last }))
  // @ts-expect-error the share is a number
  Agent.compactAt(agent, { share: "0.8", with: last })
})

test("a model may count the tokens of a request, and fails with errors of models alone [P1416 P1570]", () => {
  type _count = Expect<
    Equal<
      Model.Service["countTokens"],
      ((request: Model.Request) => Effect.Effect<number, LlmError.LlmError>) | undefined
    >
  >
  const count = (countTokens: NonNullable<Model.Service["countTokens"]>) => countTokens
  count(() => Effect.succeed(7))
  // @ts-expect-error a number is no effect
  count(() => 7)
  // @ts-expect-error its failures are those of models
  count(() => Effect.fail(new Error("oh")))
  // @ts-expect-error it needs nothing
  count(() => Effect.as(Store, 7))
})
