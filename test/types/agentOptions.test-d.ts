/** `Agent.make` with tools and tables as options: the same as with a skill and combinators. */
import { Agent, type LlmError, Recovery, Skill, Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, type IsAny, sameType } from "./_support/Identity.ts"

class Busy extends Schema.TaggedError<Busy>()("Busy", { at: Schema.Finite }) {}
class Gone extends Schema.TaggedError<Gone>()("Gone", {}) {}

const ping = Tool.make("ping", {
  description: "Pings.",
  parameters: Schema.Struct({ host: Schema.String }),
  success: Schema.String,
  run: () => Effect.fail(new Busy({ at: 1 }))
})
const drop = Tool.make("drop", {
  description: "Drops.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  sideEffects: "unsafe",
  run: () => Effect.fail(new Gone())
})

const tell = { orElse: Recovery.tell() } as const
const again = { RateLimitError: Recovery.retry({ retries: 2 }) } as const
const skills = [Skill.make("work", { description: "Works.", tools: [ping, drop] })] as const

describe("the options of an agent", () => {
  it("are the same as a skill with these tools and the combinators [P1320]", () => {
    const bare = Agent.make("a", { tools: [ping, drop] })
    const skilled = Agent.make("a", { skills })
    type _1 = Expect<Equal<typeof bare, typeof skilled>>
    const told = Agent.make("a", { tools: [ping, drop], toolDefaults: tell, onLlmError: again })
    const piped = skilled.pipe(Agent.toolDefaults(tell), Agent.onLlmError(again))
    type _2 = Expect<Equal<ReturnType<typeof told>, ReturnType<typeof piped>>>
    type _3 = Expect<Equal<IsAny<Effect.Error<ReturnType<typeof told>>>, false>>
  })

  it("give way to a later combinator, tag by tag [P1320]", () => {
    const raised = Agent.make("a", { tools: [ping, drop], toolDefaults: tell }).pipe(
      Agent.toolDefaults({ Gone: Recovery.rethrow })
    )
    type Left = Effect.Error<ReturnType<typeof raised>>
    type _1 = Expect<Equal<Extract<Left, Gone | Busy>, Gone>>
    const model = Agent.make("a", {
      tools: [ping],
      toolDefaults: tell,
      onLlmError: { orElse: Recovery.respondWith("?") }
    })
    type _2 = Expect<Equal<Extract<Effect.Error<ReturnType<typeof model>>, LlmError.LlmError>, never>>
  })

  it("know the failures that their rows see [P1320]", () => {
    Agent.make("a", {
      tools: [ping, drop],
      onLlmError: {
        RateLimitError: Recovery.when((error) => {
          sameType<LlmError.RateLimitError>()(error)
          return Recovery.rethrow
        })
      }
    })
  })

  it("refuse what does not fit together, with a sentence [P1320]", () => {
    // @ts-expect-error an agent takes tools or skills
    Agent.make("a", { tools: [ping], skills })
    // @ts-expect-error no tool has such a failure
    Agent.make("a", { tools: [ping], toolDefaults: { Gone: Recovery.tell() } })
    // @ts-expect-error there is no such failure of a model
    Agent.make("a", { tools: [ping], onLlmError: { Busy: Recovery.rethrow } })
  })
})
