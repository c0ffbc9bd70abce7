/** What is left in `E` and `R` of what comes through `effect/ai`, and what must not compile. */
import {
  Agent,
  type Approval,
  type LlmError,
  type Model,
  Recovery,
  type RunError,
  Skill,
  Tool,
  type ToolError
} from "@kintsugi/core"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Context, Effect, type Layer, Schema } from "effect"
import { type AiError, LanguageModel, type Model as AiModel, Tool as AiTool, Toolkit } from "effect/ai"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"

class Closed extends Schema.TaggedError<Closed>()("Closed", { shop: Schema.String }) {}
class Empty extends Schema.TaggedError<Empty>()("Empty", {}) {}
class Prices extends Context.Service<Prices, { readonly of: (shop: string) => number }>()("Prices") {}

const Shop = Schema.Struct({ shop: Schema.String })

const toolkit = Toolkit.make(
  AiTool.make("open", {
    parameters: Shop,
    success: Schema.Finite,
    failure: Schema.Union([Closed, Empty]),
    dependencies: [Prices]
  }),
  AiTool.make("soft", { parameters: Shop, success: Schema.String, failure: Closed, failureMode: "return" }),
  AiTool.make("pay", { parameters: Shop, success: Schema.String, needsApproval: true })
)

const { open, pay, soft } = EffectAi.fromToolkit(toolkit, { sideEffects: { pay: "unsafe" }, approvals: ["pay"] })

type Run = LlmError.LlmError | RunError.BudgetExceededError
type BadArgs = ToolError.InvalidArgs | ToolError.DeserializationError

const agentWith = <const Tools extends ReadonlyArray<Tool.AnyTool>>(...tools: Tools) =>
  Agent.make("a", { skills: [Skill.make("s", { description: "S.", tools })] })

describe("a tool of a toolkit", () => {
  it("has the parameters, the result, the failures and the needs of its schemas [P1107]", () => {
    sameType<Closed | Empty | ToolError.ExecutionError>()({} as Tool.ErrorOf<typeof open>)
    sameType<number>()({} as Tool.SuccessOf<typeof open>)
    sameType<AiTool.Handler<"open"> | Prices>()({} as Tool.ServicesOf<typeof open>)
    sameType<"undeclared">()({} as Tool.SideEffectsOf<typeof open>)
    sameType<"unsafe">()({} as Tool.SideEffectsOf<typeof pay>)
  })

  it("leaves its failures in the agent, and its handler in what that needs [P1107]", () => {
    sameType<
      Effect.Effect<
        string,
        Run | BadArgs | Closed | Empty | ToolError.ExecutionError,
        Model.Model | AiTool.Handler<"open"> | Prices
      >
    >()(agentWith(open)("x"))
  })

  it("leaves no failure of a tag that a row handles [P1107]", () => {
    const telling = open.pipe(
      Tool.onError({
        Closed: Recovery.tell((error) => {
          sameType<Closed>()(error)
          return error.shop
        }),
        Empty: Recovery.respondWith(0),
        ExecutionError: Recovery.retry({ retries: 1 }),
        InvalidArgs: Recovery.tell()
      })
    )
    sameType<
      Effect.Effect<string, Run | ToolError.ToolExecutionError, Model.Model | AiTool.Handler<"open"> | Prices>
    >()(agentWith(telling)("x"))
  })

  it("leaves nothing where its failures are results [P1107]", () => {
    sameType<Effect.Effect<string, Run, Model.Model | AiTool.Handler<"soft">>>()(agentWith(soft)("x"))
  })

  it("needs an approver if the options name it in `approvals` [P1107]", () => {
    sameType<
      Effect.Effect<
        string,
        Run | BadArgs | ToolError.ExecutionError,
        Model.Model | AiTool.Handler<"pay"> | Approval.Approver
      >
    >()(agentWith(pay)("x"))
  })

  it("does not compile with something other than a row, nor with a retry of an unsafe tool [P601 P1107]", () => {
    // @ts-expect-error -- there is no such failure
    open.pipe(Tool.onError({ Shut: Recovery.tell() }))
    // @ts-expect-error -- it would pay twice
    pay.pipe(Tool.onError({ ExecutionError: Recovery.retry({ retries: 1 }) }))
    // @ts-expect-error -- the answer is no result of the tool
    open.pipe(Tool.onError({ Closed: Recovery.respondWith("none") }))
  })

  it("does not compile for tools that are not there, nor for schemas that need services [P1107]", () => {
    // @ts-expect-error -- there is no such tool
    EffectAi.fromToolkit(toolkit, { sideEffects: { shut: "none" } })
    // @ts-expect-error -- there is no such tool
    EffectAi.fromToolkit(toolkit, { approvals: ["shut"] })
    const schema = {} as Schema.Codec<string, string, Prices>
    const { asking } = EffectAi.fromToolkit(Toolkit.make(AiTool.make("asking", { success: schema })))
    // @ts-expect-error -- nothing would provide them
    agentWith(asking)
  })
})

describe("a toolkit of tools", () => {
  const count = Tool.make("count", {
    description: "Counts.",
    parameters: Shop,
    success: Schema.Finite,
    run: (): Effect.Effect<number, Closed | Empty, Prices> => Effect.never
  })
  const handled = count.pipe(
    Tool.onError({ Closed: Recovery.tell(), Empty: Recovery.raise, InvalidArgs: Recovery.tell() })
  )

  it("fails with what is left behind the table of the tool, and needs what the tool needs [P1107]", () => {
    const { layer, toolkit } = EffectAi.toToolkit([handled])
    sameType<Layer.Layer<AiTool.Handler<"count">, never, Prices>>()(layer)
    const generated = LanguageModel.generateText({ prompt: "x", toolkit })
    sameType<AiError.AiError | RunError.BudgetExceededError | ToolError.ToolExecutionError>()(
      {} as Effect.Error<typeof generated>
    )
    sameType<number | EffectAi.TextResult>()({} as AiTool.Success<typeof toolkit.tools.count>)
  })

  it("fails with nothing where all failures are results [P1107]", () => {
    const { toolkit } = EffectAi.toToolkit([count], { failureMode: "return" })
    const generated = LanguageModel.generateText({ prompt: "x", toolkit })
    sameType<AiError.AiError>()({} as Effect.Error<typeof generated>)
    sameType<number>()({} as AiTool.Success<typeof toolkit.tools.count>)
    sameType<Closed | Empty | BadArgs | RunError.BudgetExceededError | EffectAi.TextResult>()(
      {} as AiTool.Failure<typeof toolkit.tools.count>
    )
  })

  it("does not compile with a built-in tool: there is no run that it could end [P1107]", () => {
    // @ts-expect-error -- see above
    EffectAi.toToolkit([Tool.escalate])
  })
})

describe("models", () => {
  it("are layers over one another [P1107]", () => {
    sameType<Layer.Layer<Model.Model, never, LanguageModel.LanguageModel>>()(EffectAi.model())
    sameType<Layer.Layer<LanguageModel.LanguageModel | AiModel.ModelName | AiModel.ProviderName, never, Model.Model>>()(
      EffectAi.languageModel
    )
  })

  it("fail with errors of the other side, of a closed union [P1107]", () => {
    sameType<LlmError.LlmError>()(EffectAi.fromAiError({} as AiError.AiError, { now: 0 }))
    sameType<AiError.AiError>()(EffectAi.toAiError({} as LlmError.LlmError, { now: 0 }))
    // @ts-expect-error -- when a quota starts afresh is an instant there, and a wait here
    EffectAi.toAiError({} as LlmError.LlmError, {})
  })
})
