/** Failures that a tool cannot have: what a row is typed by is what the row gets. */
import { Agent, LlmError, type Model, Skill, Tool, ToolError } from "@kintsugi/core"
import { Data, Effect, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { type BadArgs, type Boom, having, name, type Mail, NoKeys, type Own } from "./_support/subjects.ts"

const options = { description: "Fails.", parameters: Schema.Struct({}), success: Schema.String } as const

class Mine extends Data.TaggedError("InvalidArgs")<{ readonly what: string }> {}
class Busy extends Data.TaggedError("RateLimitError")<{ readonly what: string }> {}
declare const loose: { readonly _tag: string }
// oxlint-disable-next-line typescript/no-explicit-any -- what an untyped library gives
declare const anything: any

describe("a tool", () => {
  it("does not fail with a tag of the library that is not its class [P1307]", () => {
    // @ts-expect-error the row would get another error than its type says
    Tool.make("t", { ...options, run: () => Effect.fail(new Mine({ what: "" })) })
    // @ts-expect-error nor the tag of a model's failure
    Tool.make("t", { ...options, run: () => Effect.fail(new Busy({ what: "" })) })
    // @ts-expect-error one of several
    Tool.make("t", { ...options, run: (): Effect.Effect<string, NoKeys | Busy> => Effect.succeed("") })
    // the library's own class is what the row expects
    Tool.make("t", { ...options, run: () => Effect.fail(LlmError.ModelOverloadedError.make({ model: "m" })) })
    Tool.make("t", { ...options, run: (): Effect.Effect<string, ToolError.ExecutionError> => Effect.succeed("") })
  })

  it("does not fail with what gates and rows alone fail with, nor with any text as a tag [P1307]", () => {
    const denied = Effect.fail(ToolError.ToolDeniedError.make({ tool: "t", callId: "c", reason: "r" }))
    // @ts-expect-error of a gate
    Tool.make("t", { ...options, run: () => denied })
    // @ts-expect-error of the arguments of another tool
    Tool.make("t", { ...options, run: () => Tool.call(name, {}) })
    // @ts-expect-error which row it has is not known
    Tool.make("t", { ...options, run: () => Effect.fail(loose) })
    const failing = Effect.fail(loose)
    // @ts-expect-error from a variable, too
    Tool.make("t", { ...options, run: () => failing })
    // without a tag it is an ExecutionError
    Tool.make("t", { ...options, run: () => Effect.fail(new Error("no tag")) })
    Tool.make("t", { ...options, run: () => Effect.fail(anything) })
  })

  it("fails with what a sub-agent fails with [P1307 A1110]", () => {
    const asked = Agent.asTool(having(name), { name: "ask", description: "d" })
    sameType<Tool.Tool<"ask", { readonly input: string }, string, Own | BadArgs | Boom, Model.Model | Mail>>()(asked)
    const byHand = Tool.make("ask", { ...options, run: () => having(name)("") })
    sameType<Tool.Tool<"ask", {}, string, Own | BadArgs | Boom, Model.Model | Mail>>()(byHand)
  })

  it("of a failure that is a type parameter is made as before [P1307 P1306]", () => {
    const failing = <E>(error: E) => Tool.make("t", { ...options, run: () => Effect.fail(error) })
    sameType<Tool.Tool<"t", {}, string, NoKeys, never>>()(failing(new NoKeys({ json: "" })))
    const tagged = <E extends { readonly _tag: string }>(run: Effect.Effect<string, E>) =>
      Agent.make("a", {
        skills: [Skill.make("s", { description: "d", tools: [Tool.make("t", { ...options, run: () => run })] })]
      })
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys, Model.Model>>()(
      tagged(Effect.fail(new NoKeys({ json: "" })))("")
    )
  })
})
