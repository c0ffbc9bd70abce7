/** `Agent.make` with tools and tables as options: the same as with a skill and combinators. */
import { Agent, type LlmError, type Model, Recovery, type RunError, Skill, Tool, type ToolError } from "@kintsugi/core"
import { Context, Effect, type Layer, Option, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, type IsAny, sameType } from "./_support/Identity.ts"

class Busy extends Schema.TaggedError<Busy>()("Busy", { at: Schema.Finite }) {}
class Gone extends Schema.TaggedError<Gone>()("Gone", {}) {}

class Desk extends Context.Service<Desk, { readonly name: string }>()("test/Desk") {}

declare const isOn: boolean
declare const layer: Layer.Layer<Model.Model, Gone, Desk>

type ErrorOf<A extends (input: string) => Effect.Effect<unknown, unknown, unknown>> = Effect.Error<ReturnType<A>>
type ServicesOf<A extends (input: string) => Effect.Effect<unknown, unknown, unknown>> = Effect.Services<ReturnType<A>>

const options = {
  description: "Pings.",
  parameters: Schema.Struct({ host: Schema.String }),
  success: Schema.String,
  run: () => Effect.fail(new Busy({ at: 1 }))
}
const ping = Tool.make("ping", options)
const drop = Tool.make("drop", {
  description: "Drops.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  sideEffects: "unsafe",
  run: () => Effect.fail(new Gone())
})

const tell = { orElse: Recovery.tell() } as const
const retrying = { RateLimitError: Recovery.retry({ retries: 2 }) } as const
const skills = [Skill.make("work", { description: "Works.", tools: [ping, drop] })] as const

describe("the options of an agent", () => {
  it("are the same as a skill with these tools and the combinators [P1320]", () => {
    const bare = Agent.make("a", { tools: [ping, drop] })
    const skilled = Agent.make("a", { skills })
    type _1 = Expect<Equal<typeof bare, typeof skilled>>
    const agent = Agent.make("a", { tools: [ping, drop], toolDefaults: tell, onLlmError: retrying })
    const piped = skilled.pipe(Agent.toolDefaults(tell), Agent.onLlmError(retrying))
    type _2 = Expect<Equal<ReturnType<typeof agent>, ReturnType<typeof piped>>>
    type _3 = Expect<Equal<IsAny<Effect.Error<ReturnType<typeof agent>>>, false>>
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

  it("may be absent: then the type has both, what they leave and what is there without them [P1302]", () => {
    const failing = { Busy: () => Effect.flatMap(Desk, () => Effect.fail(new Gone())) }
    const tabled = Agent.make("a", { tools: [ping], ...(isOn ? { toolDefaults: failing } : {}) })
    type _1 = Expect<Equal<Extract<ErrorOf<typeof tabled>, Busy | Gone>, Busy | Gone>>
    type _2 = Expect<Equal<ServicesOf<typeof tabled>, Desk | Model.Model>>
    const answering = { orElse: () => Effect.as(Desk, "later") }
    const answered = Agent.make("a", { tools: [], ...(isOn ? { onLlmError: answering } : {}) })
    type _3 = Expect<Equal<ErrorOf<typeof answered>, RunError.BudgetExceededError | LlmError.LlmError>>
    type _4 = Expect<Equal<ServicesOf<typeof answered>, Desk | Model.Model>>
    const handled = Agent.make("a", { tools: [], ...(isOn ? { onLlmError: answering.orElse } : {}) })
    type _5 = Expect<Equal<ErrorOf<typeof handled>, RunError.BudgetExceededError | LlmError.LlmError>>
    const owning = Agent.make("a", { tools: [], ...(isOn ? { model: layer } : {}) })
    type _6 = Expect<Equal<ErrorOf<typeof owning>, RunError.BudgetExceededError | LlmError.LlmError | Gone>>
    type _7 = Expect<Equal<ServicesOf<typeof owning>, Desk | Model.Model>>
    const reading = Agent.make("a", { tools: [], ...(isOn ? { output: Schema.Number } : {}) })
    type _8 = Expect<Equal<Effect.Success<ReturnType<typeof reading>>, string | number>>
  })

  it("are refused where there is no such option [P1309]", () => {
    // @ts-expect-error NoSuchOption
    Agent.make("a", { promt: "x" })
    // @ts-expect-error no budget has such a limit
    Agent.make("a", { budget: { maxTurn: 3 } })
    // @ts-expect-error NoSuchOption
    Tool.make("ping", { ...options, sideEffect: "none" })
  })
})

describe("the options of a tool", () => {
  it("may be absent: then the type has both, what they leave and what is there without them [P1302]", () => {
    const onError = { Busy: () => Effect.flatMap(Desk, () => Effect.fail(new Gone())) }
    const tabled = Agent.make("a", { tools: [Tool.make("ping", { ...options, ...(isOn ? { onError } : {}) })] })
    type _1 = Expect<Equal<Extract<ErrorOf<typeof tabled>, Busy | Gone>, Busy | Gone>>
    type _2 = Expect<Equal<ServicesOf<typeof tabled>, Desk | Model.Model>>
    const verify = (_key: string) => Effect.as(Desk, Option.none<string>())
    const limited = { ...options, sideEffects: "unsafe", timeout: "1 second" } as const
    const looked = Tool.make("drop", { ...limited, ...(isOn ? { verify } : {}) })
    type Late = ToolError.ToolTimeoutError | ToolError.OutcomeUnknownError
    type _3 = Expect<Equal<Tool.ErrorOf<typeof looked>, Busy | Late>>
    type _4 = Expect<Equal<Tool.ServicesOf<typeof looked>, Desk>>
    const sure = Tool.make("drop", { ...limited, verify })
    type _5 = Expect<Equal<Tool.ErrorOf<typeof sure>, Busy | ToolError.ToolTimeoutError>>
    const effects: { readonly sideEffects?: "unsafe" } = isOn ? { sideEffects: "unsafe" } : {}
    const either = Tool.make("drop", { ...options, timeout: "1 second", ...effects })
    type _6 = Expect<Equal<Tool.ErrorOf<typeof either>, Busy | Late>>
    type _7 = Expect<Equal<Tool.SideEffectsOf<typeof either>, "unsafe" | "undeclared">>
    const stored = Tool.make("ping", { ...options, ...(isOn ? { failure: Busy } : {}) })
    // @ts-expect-error without the schema of its failures there is none
    Tool.errorSchema(stored)
    const thrown = Tool.fromFunction("thrown", {
      ...options,
      run: () => "",
      ...(isOn ? { onError: { ExecutionError: Recovery.tell() } } : {})
    })
    const throwing = Agent.make("a", { tools: [thrown] })
    type _8 = Expect<Equal<Extract<ErrorOf<typeof throwing>, ToolError.ExecutionError>, ToolError.ExecutionError>>
  })
})
