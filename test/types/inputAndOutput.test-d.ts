/** Agents with an input or an output schema. */
import {
  Agent,
  type Completion,
  type LlmError,
  Message,
  type Model,
  Recovery,
  type RunError,
  Skill
} from "@kintsugi/core"
import { type Duration, Effect, type Option, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { modelLayer, type Own } from "./_support/subjects.ts"

const Report = Schema.Struct({ city: Schema.String, at: Schema.DateFromString })
type Report = { readonly city: string; readonly at: Date }

type Invalid = RunError.InvalidOutputError

const reporter = Agent.make("reporter", { output: Report })

describe("outputs", () => {
  it("an agent with an output schema gives its type, and may fail with InvalidOutputError [P301]", () => {
    sameType<Effect.Effect<Report, Own | Invalid, Model.Model>>()(reporter(""))
    sameType<Effect.Effect<Report, LlmError.LlmError | RunError.BudgetExceededError, Model.Model>>()(
      reporter("").pipe(Effect.catchTag("InvalidOutputError", () => Effect.never))
    )
    sameType<Effect.Effect<Report, Own | Invalid>>()(Agent.make("own", { output: Report, model: modelLayer })(""))
    sameType<Effect.Effect<"yes" | "no", Own | Invalid, Model.Model>>()(
      Agent.make("asked", { output: Schema.Literals(["yes", "no"]) })("")
    )
  })

  it("one without has neither [P301]", () => {
    sameType<Effect.Effect<string, Own, Model.Model>>()(Agent.make("plain", {})(""))
  })

  it("functions keep their own outputs, and alone they have no model to call again [P301]", () => {
    const counting = Skill.deterministic("counting", { description: "d", run: () => Effect.succeed(1) })
    const skill = Skill.make("asking", { description: "d" })
    const mixed = Agent.make("mixed", { output: Report, skills: [skill, counting] })
    sameType<Effect.Effect<Report | number, Own | RunError.RoutingError | Invalid, Model.Model>>()(mixed(""))
    sameType<Effect.Effect<number, RunError.BudgetExceededError>>()(
      Agent.make("counting", { output: Report, skills: [counting] })("")
    )
  })

  it("the table for model calls answers with the output [A711]", () => {
    const answer = Recovery.respondWith({ city: "", at: new Date(0) })
    sameType<Effect.Effect<Report, RunError.BudgetExceededError | Invalid, Model.Model>>()(
      reporter.pipe(Agent.onLlmError({ orElse: answer }))("")
    )
    // @ts-expect-error a text is no report
    reporter.pipe(Agent.onLlmError({ orElse: Recovery.respondWith("") }))
  })

  it("outputRetries keeps the type, and is only for agents with an output schema [P301]", () => {
    sameType<typeof reporter>()(reporter.pipe(Agent.outputRetries(2)))
    // @ts-expect-error it has no output schema
    Agent.make("plain", {}).pipe(Agent.outputRetries(2))
    // @ts-expect-error it is a function
    Agent.deterministic("d", () => Effect.succeed(1)).pipe(Agent.outputRetries(2))
  })

  it("no table names what does not fit [P301]", () => {
    // @ts-expect-error the model has not failed
    reporter.pipe(Agent.onLlmError({ InvalidOutputError: Recovery.rethrow }))
  })
})

describe("inputs", () => {
  it("an agent with an input schema takes its type [A412]", () => {
    const planner = Agent.make("planner", { input: Report })
    sameType<Parameters<typeof planner>[0]>()({} as Report)
    sameType<Effect.Effect<string, Own, Model.Model>>()(planner({ city: "", at: new Date(0) }))
    // @ts-expect-error a text is no report
    planner("")
    // @ts-expect-error what it takes is decoded
    planner({ city: "", at: "2027-03-09" })
  })

  it("one that takes the parts of a message has just these [A412]", () => {
    const viewer = Agent.make("viewer", { input: Message.UserContent, output: Report })
    sameType<Effect.Effect<Report, Own | Invalid, Model.Model>>()(
      viewer([Message.text("what is it?"), Message.image("image/png", { url: "https://example.org/a.png" })])
    )
    // @ts-expect-error a call is no part of what a user says
    viewer([{ type: "tool-call", id: "", name: "", arguments: null }])
    // @ts-expect-error bytes or an address
    Message.image("image/png", {})
  })

  it("a text is the default [A412]", () => {
    // @ts-expect-error it takes a text
    reporter({ city: "" })
  })
})

describe("partials", () => {
  const Id = Schema.String.pipe(Schema.brand("Id"))
  const Count = Schema.Number.pipe(Schema.brand("Count"))

  it("plain structs, records, lists and tuples are partial [P301]", () => {
    sameType<{ readonly city?: string; readonly at?: Date }>()({} as Agent.Partially<Report>)
    sameType<ReadonlyArray<{ readonly a?: string }>>()([] as Agent.Partially<ReadonlyArray<{ readonly a: string }>>)
    sameType<readonly [string?, { readonly a?: 1 }?]>()([] as Agent.Partially<readonly [string, { readonly a: 1 }]>)
    sameType<{ readonly [x: string]: { readonly a?: 1 } | undefined }>()(
      {} as Agent.Partially<{ readonly [x: string]: { readonly a: 1 } }>
    )
    sameType<"a" | null | { readonly z?: number }>()(null as Agent.Partially<"a" | null | { readonly z: number }>)
  })

  it("everything else comes whole: what is branded, has methods, or is marked by a symbol [P301]", () => {
    sameType<typeof Count.Type>()({} as Agent.Partially<typeof Count.Type>)
    sameType<Duration.Duration>()({} as Agent.Partially<Duration.Duration>)
    sameType<Uint8Array>()({} as Agent.Partially<Uint8Array>)
    sameType<URL>()({} as Agent.Partially<URL>)
    sameType<Error>()({} as Agent.Partially<Error>)
    sameType<Option.Option<string>>()({} as Agent.Partially<Option.Option<string>>)
    sameType<Completion.Completion | string>()({} as Agent.Partially<Completion.Completion | string>)
  })

  it("of a branded text there may be only a part, which is plain text; a branded struct has fields [P301]", () => {
    sameType<string>()("" as Agent.Partially<typeof Id.Type>)
    const Marked = Schema.Struct({ id: Id }).pipe(Schema.brand("Marked"))
    sameType<{ readonly id?: string }>()({} as Agent.Partially<typeof Marked.Type>)
  })
})
