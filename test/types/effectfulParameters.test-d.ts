/** Schemas of parameters that need services: the tool needs them, and what is made of it. */
import { Agent, type Model, Tool, type ToolError } from "@kintsugi/core"
import { Effect, Option, Schema, SchemaGetter, type Scope } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { type BadArgs, call, Db, Mail, type Own } from "./_support/subjects.ts"

const Row = Schema.String.pipe(
  Schema.decodeTo(Schema.Finite, {
    decode: SchemaGetter.transformEffect(() => Effect.map(Db, ({ rows }) => rows)),
    encode: SchemaGetter.transform(String)
  })
)

describe("services of decoding", () => {
  const options = { description: "d", parameters: Schema.Struct({ row: Row }), success: Schema.Finite }
  it("are in the needs of the tool, beside those of run [P1310]", () => {
    const tool = Tool.make("t", { ...options, run: ({ row }) => Effect.map(Mail, ({ sent }) => sent + row) })
    sameType<Tool.Tool<"t", { readonly row: number }, number, never, Db | Mail>>()(tool)
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model | Db | Mail>>()(call(tool))
    const lifted = Tool.fromFunction("t", { ...options, run: ({ row }) => row })
    sameType<Db>()(undefined as never as Tool.ServicesOf<typeof lifted>)
  })
})

describe("the scope of an attempt", () => {
  it("is no need of the tool, and what else its resources need is [P1322]", () => {
    const acquired = Effect.acquireRelease(Mail, () => Effect.asVoid(Db))
    const tool = Tool.make("t", {
      description: "d",
      parameters: Schema.Struct({}),
      success: Schema.Finite,
      run: () => Effect.map(acquired, ({ sent }) => sent)
    })
    sameType<Tool.Tool<"t", {}, number, never, Db | Mail>>()(tool)
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model | Db | Mail>>()(call(tool))
  })

  it("is no need of verify and of a compensation either, written inline or not [P1356]", () => {
    const options = { description: "d", parameters: Schema.Struct({}), success: Schema.Finite } as const
    const limits = { sideEffects: "unsafe", timeout: "1 second" } as const
    const acquired = Effect.acquireRelease(Mail, () => Effect.asVoid(Db))
    const verify = (_key: string) => Effect.as(acquired, Option.some(1))
    const undo = () => Effect.asVoid(acquired)
    const inline = Tool.make("t", {
      ...options,
      ...limits,
      run: () => Effect.as(Effect.scope, 1),
      verify: () => Effect.as(acquired, Option.some(1))
    })
    const run = () => Effect.as(Effect.scope, 1)
    const all = { ...options, ...limits, run, verify }
    const fromVariable = Tool.make("t", all)
    const lifted = Tool.fromFunction("t", { ...options, ...limits, run: () => 1, verify })
    const loose = Tool.make("t", { ...options, run }).pipe(Tool.compensate(undo))
    const dataFirst = Tool.compensate(Tool.make("t", { ...options, run }), () => Effect.asVoid(Effect.scope))
    sameType<Db | Mail>()(undefined as never as Tool.ServicesOf<typeof inline>)
    sameType<Db | Mail>()(undefined as never as Tool.ServicesOf<typeof fromVariable>)
    sameType<Db | Mail>()(undefined as never as Tool.ServicesOf<typeof lifted>)
    sameType<Db | Mail>()(undefined as never as Tool.ServicesOf<typeof loose>)
    sameType<never>()(undefined as never as Tool.ServicesOf<typeof dataFirst>)
    sameType<Effect.Effect<string, Own | BadArgs | ToolError.ToolTimeoutError, Model.Model | Db | Mail>>()(call(inline))
  })

  it("is taken off what a generic function needs once that is known [P1356]", () => {
    const undoing = <R>(run: () => Effect.Effect<number, never, R>, undo: () => Effect.Effect<void, never, R>) =>
      Tool.make("t", { description: "d", parameters: Schema.Struct({}), success: Schema.Finite, run }).pipe(
        Tool.compensate(undo)
      )
    const one = undoing(
      () => Effect.as(Effect.andThen(Effect.scope, Db), 1),
      () => Effect.asVoid(Effect.andThen(Effect.scope, Db))
    )
    sameType<Tool.Tool<"t", {}, number, never, Db>>()(one)
    const two = undoing(
      () => Effect.succeed(1),
      () => Effect.void
    )
    sameType<Tool.Tool<"t", {}, number, never, never>>()(two)
  })

  it("is no need of an agent in a tool [P1356]", () => {
    const agent = Agent.deterministic("a", (_text: string) => Effect.as(Effect.andThen(Effect.scope, Db), "done"))
    const tool = Agent.asTool(agent, { description: "d" })
    sameType<Db>()(undefined as never as Tool.ServicesOf<typeof tool>)
  })

  it("of the run is in the context of a call [P1356]", () => {
    sameType<Scope.Scope>()(undefined as never as Tool.ToolContext["runScope"])
  })
})
