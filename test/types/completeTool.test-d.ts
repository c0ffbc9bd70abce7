/** Tool.complete: what it adds to the output of agents that list it, and that it adds nothing to any other. */
import {
  Agent,
  type Completion,
  type Model,
  Recovery,
  Router,
  type RunError,
  Skill,
  Tool,
  type ToolError
} from "@kintsugi/core"
import { Effect } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import {
  ask,
  type BadArgs,
  type Boom,
  call,
  check,
  count,
  type Db,
  having,
  type NoKeys,
  type Oops,
  type Own
} from "./_support/subjects.ts"

type Output = string | Completion.Completion
type Call<O, E, R = never> = Effect.Effect<O, Own | E, Model.Model | R>

const closing = Agent.make("closing", {
  skills: [Skill.make("s", { description: "d", tools: [count, Tool.complete, Tool.escalate] })]
})

describe("Tool.complete", () => {
  it("the output of an agent whose skill lists it is its text or a Completion; its failures are the same [T28]", () => {
    sameType<Call<Output, never>>()(call(Tool.complete))
    sameType<Call<Output, BadArgs | NoKeys | Boom | ToolError.EscalationError>>()(closing(""))
  })

  it("agents that do not list it are unchanged [T28]", () => {
    sameType<Call<string, BadArgs>>()(call(check))
    sameType<Call<string, ToolError.EscalationError>>()(call(Tool.escalate))
    sameType<Call<string, ToolError.ToolExecutionError>>()(call(Tool.throwException))
    sameType<Call<string, never>>()(Agent.make("none", {})(""))
  })

  it("one of several skills is enough, and a function's output stays beside it [T28]", () => {
    const usingModel = Skill.deterministic("asking", { description: "d", run: () => ask })
    const ending = Skill.make("ending", { description: "d", tools: [Tool.complete] })
    const mixed = Agent.make("mixed", { skills: [usingModel, ending] }).pipe(Agent.route(Router.byRule(() => "ending")))
    sameType<Call<number | Output, Oops, Db>>()(mixed(""))
    const some: ReadonlyArray<typeof ending> = []
    sameType<Call<Output, RunError.RoutingError>>()(Agent.make("some", { skills: some })(""))
  })

  it("no table can name it, and none needs an answer for it [A409]", () => {
    // @ts-expect-error complete is outside every table
    closing.pipe(Agent.onToolError({ complete: { orElse: Recovery.tell() } }))
    sameType<Call<Output, ToolError.EscalationError>>()(
      closing.pipe(Agent.toolDefaults({ orElse: Recovery.respondWith(0) }))("")
    )
    // @ts-expect-error a built-in tool takes no table
    Tool.complete.pipe(Tool.onError({ orElse: Recovery.tell() }))
  })

  it("the table for model calls answers with either [T28]", () => {
    const answered = having(Tool.complete).pipe(Agent.onLlmError({ orElse: Recovery.respondWith("") }))
    sameType<Effect.Effect<Output, RunError.BudgetExceededError, Model.Model>>()(answered(""))
    having(Tool.complete).pipe(
      Agent.onLlmError({ orElse: Recovery.respondWith(() => Effect.succeed({} as Completion.Completion)) })
    )
    // @ts-expect-error neither text nor a Completion
    having(Tool.complete).pipe(Agent.onLlmError({ orElse: Recovery.respondWith(0) }))
    // @ts-expect-error without the tool, no Completion
    having(check).pipe(Agent.onLlmError({ orElse: Recovery.respondWith({} as Completion.Completion) }))
  })

  it("an agent that lists it is no fixer: a fixer answers with text [T28]", () => {
    // @ts-expect-error a Completion is no text
    Recovery.fix(closing)
    Recovery.fix((raw: string) =>
      Effect.map(having(Tool.complete)(raw), (output) => (typeof output === "string" ? output : output.summary))
    )
  })

  it("called by itself it gives its value [T28]", () => {
    sameType<Effect.Effect<Completion.Completion, BadArgs>>()(Tool.call(Tool.complete, { summary: "s" }))
  })
})
