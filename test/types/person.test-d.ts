/** A person as a rung: where it compiles, and what it leaves in the types of an agent. */
import { Agent, type Approval, Model, Recovery, type ToolError, Tool } from "@kintsugi/core"
import { Data, Effect, type Layer, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect } from "./_support/Identity.ts"

class Locked extends Data.TaggedError("Locked")<{ readonly door: string }> {}

const toolOf = <const S extends Recovery.SideEffects>(sideEffects: S) =>
  Tool.make("unlock", {
    description: "Opens.",
    parameters: Schema.Struct({ code: Schema.Int }),
    success: Schema.String,
    sideEffects,
    run: () => Effect.fail(new Locked({ door: "north" }))
  })
const unlock = toolOf("none")

declare const approver: Layer.Layer<Approval.Approver>

type NeedsApprover<T> = Equal<Extract<T, Approval.Approver>, Approval.Approver>

describe("Recovery.ask", () => {
  it("adds the approver to the needs of a run, and not of a run that is started [P1510]", () => {
    const guarded = unlock.pipe(Tool.onError({ Locked: Recovery.ask() }))
    const clerk = Agent.make("clerk", { tools: [guarded] })
    const whole = clerk("go")
    const streamed = clerk.stream("go")
    const started = clerk.start("go")
    type _whole = Expect<NeedsApprover<Effect.Services<typeof whole>>>
    type _error = Expect<
      Equal<Extract<Effect.Error<typeof whole>, { readonly _tag: "ToolExecutionError" }>, ToolError.ToolExecutionError>
    >
    type _streamed = Expect<typeof streamed extends { readonly pipe: unknown } ? true : false>
    type _started = Expect<Equal<Extract<Effect.Services<typeof started>, Approval.Approver>, never>>
    const plain = Agent.make("clerk", { tools: [unlock.pipe(Tool.onError({ Locked: Recovery.tell() }))] })("go")
    type _plain = Expect<Equal<Extract<Effect.Services<typeof plain>, Approval.Approver>, never>>
  })

  it("does so from every table, ladder and handler [P1510]", () => {
    const ladder = Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.ask({ times: 2 }), Recovery.tell())
    const own = Agent.make("clerk", {
      tools: [
        Tool.make("own", {
          description: "Fails.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          run: () => Effect.fail(new Locked({ door: "north" })),
          onError: { Locked: ladder }
        })
      ]
    })("go")
    const byTool = Agent.make("clerk", { tools: [unlock] }).pipe(Agent.onToolError({ unlock: { Locked: ladder } }))(
      "go"
    )
    const defaults = Agent.make("clerk", { tools: [unlock] }).pipe(Agent.toolDefaults({ orElse: ladder }))("go")
    const handler = Agent.make("clerk", {
      tools: [
        unlock.pipe(Tool.onError({ Locked: ({ door }) => (door === "north" ? Recovery.ask() : Recovery.tell()) }))
      ]
    })("go")
    type _all = [
      Expect<NeedsApprover<Effect.Services<typeof own>>>,
      Expect<NeedsApprover<Effect.Services<typeof byTool>>>,
      Expect<NeedsApprover<Effect.Services<typeof defaults>>>,
      Expect<NeedsApprover<Effect.Services<typeof handler>>>
    ]
    // the rung that follows takes what is left
    type _left = Expect<
      Equal<Extract<Effect.Error<typeof own>, { readonly _tag: "ToolExecutionError" | "Locked" }>, never>
    >
  })

  it("needs no acknowledgement on an unsafe tool [P1512]", () => {
    const unsafe = toolOf("unsafe")
    unsafe.pipe(Tool.onError({ Locked: Recovery.ask() }))
    unsafe.pipe(Tool.onError({ Locked: Recovery.ladder(Recovery.ask(), Recovery.tell()) }))
    // @ts-expect-error a retry does
    unsafe.pipe(Tool.onError({ Locked: Recovery.ladder(Recovery.ask(), Recovery.retry({ retries: 1 })) }))
  })

  it("does not compile in a model table: as a row, from a variable, in a ladder, in a generic function [P1510]", () => {
    const clerk = Agent.make("clerk", {})
    const ask = Recovery.ask()
    const table = { RateLimitError: ask }
    // @ts-expect-error no call of a tool is there
    clerk.pipe(Agent.onLlmError({ RateLimitError: Recovery.ask() }))
    // @ts-expect-error from a variable neither
    clerk.pipe(Agent.onLlmError({ RateLimitError: ask }))
    // @ts-expect-error nor a table in a variable
    clerk.pipe(Agent.onLlmError(table))
    // @ts-expect-error nor in a ladder
    clerk.pipe(Agent.onLlmError({ orElse: Recovery.ladder(Recovery.retry({ retries: 1 }), ask) }))
    const guarded = <const V extends Recovery.Verdict<unknown, never, never, never, "exhausted", "consults">>(row: V) =>
      // @ts-expect-error nor as a type parameter
      clerk.pipe(Agent.onLlmError({ orElse: row }))
    void guarded
    // @ts-expect-error nor around a model
    Model.onError({ RateLimitError: ask })
    // @ts-expect-error nor around a plain effect
    Effect.fail(new Locked({ door: "north" })).pipe(Recovery.onError({ Locked: ask }))
  })

  it("an approver that is provided to the agent is no need of it any more [P1510]", () => {
    const guarded = Agent.make("clerk", { tools: [unlock.pipe(Tool.onError({ Locked: Recovery.ask() }))] })
    const provided = guarded.pipe(Agent.provide(approver))("go")
    type _ = Expect<Equal<Extract<Effect.Services<typeof provided>, Approval.Approver>, never>>
  })

  it("fails with its error only where it says so [P1530]", () => {
    type Left<V> = V extends Recovery.Verdict<never, unknown, infer Err, unknown, unknown, unknown> ? Err : "no verdict"
    const failing = Recovery.ask({ onExpiry: "fail" })
    const refusing = Recovery.ask({ onExpiry: "refuse" })
    type _ = [
      Expect<Equal<Left<typeof failing>, ToolError.ApprovalExpiredError>>,
      Expect<Equal<Left<typeof refusing>, never>>
    ]
    // @ts-expect-error there is no such policy
    Recovery.ask({ onExpiry: "approve" })
  })
})
