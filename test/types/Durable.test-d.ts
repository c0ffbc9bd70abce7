import { Agent, type LlmError, type Model, Recovery, type RunError, Skill, Tool, type ToolError } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Context, Effect, type Layer, Schema } from "effect"
import type * as Workflow from "effect/workflow/Workflow"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { describe, it } from "vitest"
import type { Equal, Expect } from "./_support/Identity.ts"

class Gone extends Schema.TaggedError<Gone>()("Gone", { message: Schema.String }) {}
class Busy extends Schema.TaggedError<Busy>()("Busy", { message: Schema.String }) {}
class Books extends Context.Service<Books, { readonly find: Effect.Effect<string> }>()("Books") {}

const parameters = Schema.Struct({})
const about = { description: "Looks.", parameters, success: Schema.String } as const

const stored = Tool.make("look", { ...about, failure: Gone, run: () => Effect.fail(new Gone({ message: "gone" })) })
const unstored = Tool.make("look", { ...about, run: () => Effect.fail(new Gone({ message: "gone" })) })
const plain = Tool.make("look", { ...about, run: () => Effect.flatMap(Books, ({ find }) => find) })
const unsafe = Tool.make("pay", { ...about, sideEffects: "unsafe", run: () => Effect.succeed("paid") })

const agentWith = <const Tools extends ReadonlyArray<Tool.AnyTool>>(...tools: Tools) =>
  Agent.make("worker", { skills: [Skill.make("work", { description: "Works.", tools })] })

const withPlain = agentWith(plain)
const withStored = agentWith(stored)
const two = Tool.make("look", {
  ...about,
  failure: Schema.Union([Gone, Busy]),
  run: () => Effect.fail(new Gone({ message: "gone" }) as Gone | Busy)
})
const withTwo = agentWith(two)
const withUnstored = agentWith(unstored)
const withUnstoredTelling = agentWith(unstored.pipe(Tool.onError({ Gone: Recovery.tell() })))
const withUnsafe = agentWith(unsafe)
const withApproval = agentWith(plain.pipe(Tool.requireApproval()))

const text = { name: "worker", input: Schema.String, output: Schema.String } as const

type ErrorOf<D> = D extends { readonly workflow: Workflow.Workflow<string, infer _P, infer _S, infer E> }
  ? E["Type"]
  : never
type NeedsOf<D> = D extends { readonly layer: Layer.Layer<never, never, infer R> } ? R : never

type Always =
  | LlmError.LlmError
  | RunError.BudgetExceededError
  | ToolError.InvalidArgs
  | ToolError.DeserializationError
  | Durable.ReplayError

describe("what a workflow fails with and needs", () => {
  it("fails with what the agent fails with, and needs an engine besides", () => {
    const durable = Durable.workflow(withPlain, text)
    type _E = Expect<Equal<ErrorOf<typeof durable>, Always>>
    type _R = Expect<Equal<NeedsOf<typeof durable>, Model.Model | Books | WorkflowEngine>>
    const _stated: Effect.Effect<string, Always, WorkflowEngine> = durable.workflow.execute({ id: "1", input: "go" })
  })

  it("keeps a failure of a tool as itself, with its schema", () => {
    const durable = Durable.workflow(withStored, { ...text, error: Gone })
    type _E = Expect<Equal<ErrorOf<typeof durable>, Always | Gone>>
  })

  it("needs no schema for a failure that is handled", () => {
    const handled = agentWith(stored.pipe(Tool.onError({ Gone: Recovery.tell() })))
    const durable = Durable.workflow(handled, text)
    type _E = Expect<Equal<ErrorOf<typeof durable>, Always>>
  })

  it("takes an agent that is made in its place, of services of the body around it too", () => {
    const skills = [Skill.make("work", { description: "Works.", tools: [stored] })] as const
    const durable = Durable.workflow(Agent.make("worker", { skills }), { ...text, error: Gone })
    type _E = Expect<Equal<ErrorOf<typeof durable>, Always | Gone>>
    const within = Effect.map(Books, ({ find }) => {
      const see = Tool.make("see", { ...about, run: () => find })
      return Durable.workflow(
        Agent.make("worker", { skills: [Skill.make("work", { description: "Works.", tools: [see] })] }),
        text
      )
    })
    type _R = Expect<Equal<NeedsOf<Effect.Success<typeof within>>, Model.Model | WorkflowEngine>>
    // @ts-expect-error -- `Gone` leaves the agent
    Durable.workflow(Agent.make("worker", { skills }), text)
    // @ts-expect-error -- the agent takes a text
    Durable.workflow(Agent.make("worker", {}), { ...text, input: Schema.Finite })
    // @ts-expect-error -- that is no agent
    Durable.workflow(5, text)
  })

  it("knows that the outcome of an unsafe tool may be unknown", () => {
    const durable = Durable.workflow(withUnsafe, text)
    type _E = Expect<Equal<ErrorOf<typeof durable>, Always | ToolError.OutcomeUnknownError>>
  })

  it("knows it of the tools of a composition too [P1134]", () => {
    const both = Durable.workflow(withUnsafe.pipe(Agent.andThen(withPlain)), text)
    type _E = Expect<Equal<ErrorOf<typeof both>, Always | ToolError.OutcomeUnknownError>>
    const neither = Durable.workflow(withPlain.pipe(Agent.andThen(withPlain)), text)
    type _N = Expect<Equal<ErrorOf<typeof neither>, Always>>
  })

  it("needs no approver: the run waits", () => {
    const durable = Durable.workflow(withApproval, text)
    type _R = Expect<Equal<NeedsOf<typeof durable>, Model.Model | Books | WorkflowEngine>>
  })
})

describe("what does not compile", () => {
  it("a tool whose failure has no schema, handled or not", () => {
    // @ts-expect-error -- `Gone` of tool `look` cannot be stored
    Durable.workflow(withUnstored, { ...text, error: Gone })
    // @ts-expect-error -- neither where a row handles it: the row has to read it in each replay
    Durable.workflow(withUnstoredTelling, text)
  })

  it("a failure that leaves the agent without a schema, or with that of another", () => {
    // @ts-expect-error -- `Gone` leaves the agent
    Durable.workflow(withStored, text)
    // @ts-expect-error -- `Busy` does not know `Gone`
    Durable.workflow(withStored, { ...text, error: Busy })
  })

  it("a schema that knows only some of the failures, or of the outputs [P1134]", () => {
    // @ts-expect-error -- `Busy` leaves the agent as well
    Durable.workflow(withTwo, { ...text, error: Gone })
    Durable.workflow(withTwo, { ...text, error: Schema.Union([Gone, Busy]) })
    // @ts-expect-error -- the agent gives any text
    Durable.workflow(withPlain, { ...text, output: Schema.Literal("yes") })
  })

  it("schemas of other inputs and outputs", () => {
    // @ts-expect-error -- the agent takes a text
    Durable.workflow(withPlain, { ...text, input: Schema.Finite })
    // @ts-expect-error -- the agent gives a text
    Durable.workflow(withPlain, { ...text, output: Schema.Finite })
  })

  it("a migration of another tool's parameters [P1714]", () => {
    const about = { description: "Finds.", success: Schema.String, run: () => Effect.succeed("found") } as const
    const find = Tool.make("find", { ...about, parameters: Schema.Struct({ ids: Schema.Array(Schema.String) }) })
    const from = { tool: "look", parameters: Schema.Struct({ id: Schema.String }) }
    const call = Durable.migrateCall({ from, to: find, migrate: ({ id }) => ({ ids: [id] }) })
    Durable.workflow(withPlain, { ...text, migrations: [{ calls: [call] }, {}] })
    // @ts-expect-error -- `find` takes `ids`
    Durable.migrateCall({ from, to: find, migrate: ({ id }) => ({ id }) })
    // @ts-expect-error -- the earlier parameters have no `ids`
    Durable.migrateCall({ from, to: find, migrate: ({ ids }) => ({ ids }) })
  })
})
