/** What may be chosen for a turn, and what the agent fails with and needs then. */
import { Agent, type Model, Tool } from "@kintsugi/core"
import { Context, Data, Effect, Layer, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"

const named = <const Name extends string>(name: Name) =>
  Tool.make(name, {
    description: "A tool.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("")
  })

const clerk = Agent.make("clerk", { tools: [named("look"), named("send")] })

class Rules extends Context.Service<Rules, { readonly tools: Effect.Effect<"look" | "send"> }>()("test/Rules") {}
class Keys extends Context.Service<Keys, string>()("test/Keys") {}
class Unknown extends Data.TaggedError("Unknown")<{}> {}
class NoKey extends Data.TaggedError("NoKey")<{}> {}

declare const chosen: Layer.Layer<Model.Model, NoKey, Keys>
declare const isLate: boolean

describe("the tools of a turn", () => {
  it("are tools of the agent, in a pipe and as an argument [P1550]", () => {
    const first = clerk.pipe(Agent.prepareTurn(({ turn }) => Effect.succeed(turn === 1 ? { tools: ["look"] } : {})))
    const second = Agent.prepareTurn(clerk, ({ turn }) => Effect.succeed(turn === 1 ? { tools: ["look"] } : {}))
    sameType<typeof clerk>()(first)
    sameType<typeof clerk>()(second)
    clerk.pipe(
      Agent.prepareTurn(({ tools }) => {
        sameType<ReadonlyArray<"look" | "send">>()(tools)
        return Effect.succeed({ tools: tools.filter((name) => name !== "send") })
      })
    )
    clerk.pipe(Agent.prepareTurn(() => Effect.succeed({ toolChoice: { tool: "send" } })))
    clerk.pipe(Agent.prepareTurn(() => Effect.succeed({ toolChoice: "none", tools: [] })))
    clerk.pipe(
      Agent.prepareTurn(() =>
        Effect.gen(function* () {
          const rules = yield* Rules
          return { tools: [yield* rules.tools] }
        })
      )
    )
  })

  it("of another name do not compile [P1550]", () => {
    // @ts-expect-error no such tool
    clerk.pipe(Agent.prepareTurn(() => Effect.succeed({ tools: ["sned"] })))
    // @ts-expect-error no such tool
    clerk.pipe(Agent.prepareTurn(() => Effect.succeed({ tools: ["look", "sned"] })))
    // @ts-expect-error no such tool
    Agent.prepareTurn(clerk, () => Effect.succeed({ tools: ["sned"] }))
    // @ts-expect-error no such tool
    clerk.pipe(Agent.prepareTurn(() => Effect.succeed({ toolChoice: { tool: "sned" } })))
    // @ts-expect-error one of the two is no tool
    clerk.pipe(Agent.prepareTurn(({ turn }) => Effect.succeed(turn === 1 ? { tools: ["look"] } : { tools: ["sned"] })))
    // @ts-expect-error a choice has no such part
    clerk.pipe(Agent.prepareTurn(() => Effect.succeed({ tools: [], prompts: "Be brief." })))
    // @ts-expect-error a choice has no such part
    Agent.prepareTurn(clerk, () => Effect.succeed({ tools: [], prompts: "Be brief." }))
    // @ts-expect-error no such choice
    clerk.pipe(Agent.prepareTurn(() => Effect.succeed({ toolChoice: "all" })))
    // @ts-expect-error a choice is an effect
    clerk.pipe(Agent.prepareTurn(() => ({ tools: ["look"] })))
  })

  it("of another name do not compile from a variable and through a generic function [P1550]", () => {
    const wrong = Agent.prepareTurn(() => Effect.succeed({ tools: ["sned"] }))
    const right = Agent.prepareTurn(() => Effect.succeed({ tools: ["look"] } as const))
    sameType<typeof clerk>()(clerk.pipe(right))
    // @ts-expect-error no such tool
    clerk.pipe(wrong)
    const exactly = Agent.prepareTurn(() => Effect.succeed({ tools: ["sned"] } as const))
    // @ts-expect-error no such tool
    clerk.pipe(exactly)
    // @ts-expect-error no such tool
    exactly(clerk)
    const perhaps = Agent.prepareTurn(() => Effect.succeed({ tools: isLate ? (["sned"] as const) : undefined }))
    // @ts-expect-error no such tool
    clerk.pipe(perhaps)
    const any = () => Effect.succeed({ tools: ["look", "send"] })
    // @ts-expect-error a name that is only a string may be any
    clerk.pipe(Agent.prepareTurn(any))
    const only = <const Name extends string>(name: Name) => Agent.prepareTurn(() => Effect.succeed({ tools: [name] }))
    clerk.pipe(only("look"))
    // @ts-expect-error no such tool
    clerk.pipe(only("sned"))
  })
})

describe("an agent whose turns are prepared", () => {
  it("fails and needs what the function does, and the layer of its model [P1550]", () => {
    const agent = clerk.pipe(
      Agent.prepareTurn(() =>
        Effect.gen(function* () {
          const { tools } = yield* Rules
          if (isLate) return yield* new Unknown()
          return isLate ? { model: chosen } : { tools: [yield* tools] }
        })
      )
    )
    const run = agent("go")
    type Before = ReturnType<typeof clerk>
    sameType<Effect.Error<Before> | Unknown | NoKey>()(undefined as unknown as Effect.Error<typeof run>)
    sameType<Model.Model | Rules | Keys>()(undefined as unknown as Effect.Services<typeof run>)
    const plain = clerk.pipe(Agent.prepareTurn(() => Effect.succeed({ prompt: "Be brief." })))("go")
    sameType<Effect.Error<Before>>()(undefined as unknown as Effect.Error<typeof plain>)
    sameType<Model.Model>()(undefined as unknown as Effect.Services<typeof plain>)
    const maybe = clerk.pipe(Agent.prepareTurn(() => Effect.succeed({ model: isLate ? chosen : undefined })))("go")
    sameType<Effect.Error<Before> | NoKey>()(undefined as unknown as Effect.Error<typeof maybe>)
    sameType<Model.Model | Keys>()(undefined as unknown as Effect.Services<typeof maybe>)
    const provided = agent.pipe(Agent.provide(Layer.succeed(Keys, "k")))("go")
    sameType<Model.Model | Rules>()(undefined as unknown as Effect.Services<typeof provided>)
  })

  it("has a model of its own that works with tools [P1550]", () => {
    const plain = Agent.deterministic("plain", (text: string) => Effect.succeed(text))
    // @ts-expect-error a plain function has no turns
    plain.pipe(Agent.prepareTurn(() => Effect.succeed({})))
  })
})
