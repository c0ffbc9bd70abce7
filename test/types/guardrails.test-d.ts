import { Agent, type LlmError, type Model, Recovery, type RunError, Skill } from "@kintsugi/core"
import { Context, Effect, type Layer, type Stream } from "effect"
import { describe, it } from "vitest"
import type { Equal, Expect } from "./_support/Identity.ts"

class Judge extends Context.Service<Judge, { readonly judge: (text: string) => Effect.Effect<boolean, "down"> }>()(
  "Judge"
) {}

const judged = ({ text }: Agent.Checked) =>
  Effect.gen(function* () {
    const { judge } = yield* Judge
    return (yield* judge(text)) ? Agent.guard.pass : Agent.guard.block("judged")
  })

const pass = () => Agent.guard.pass

const clerk = Agent.make("clerk", {})

type Usual = RunError.BudgetExceededError | LlmError.LlmError

describe("Agent.guardInput and Agent.guardOutput", () => {
  it("add GuardrailError to the failures, and what a check needs, but nothing that it fails with [P1596 P1598]", () => {
    const input = clerk.pipe(Agent.guardInput(judged))("hi")
    type _input = Expect<
      Equal<typeof input, Effect.Effect<string, Usual | RunError.GuardrailError, Model.Model | Judge>>
    >
    const output = Agent.guardOutput(clerk, judged, { hold: 10 })("hi")
    type _output = Expect<
      Equal<typeof output, Effect.Effect<string, Usual | RunError.GuardrailError, Model.Model | Judge>>
    >
    const streamed = clerk.pipe(Agent.guardOutput(pass)).stream("hi")
    type _streamed = Expect<Equal<Stream.Error<typeof streamed>, Usual | RunError.GuardrailError>>
  })

  it("a check that calls a model needs one, although the agent has its own [P1599]", () => {
    const own = Agent.make("own", { model: {} as Layer.Layer<Model.Model> })
    const judge = Agent.make("judge", {})
    const asked = own.pipe(Agent.guardInput(({ text }) => Effect.map(judge(text), () => Agent.guard.pass)))("hi")
    type _asked = Expect<Equal<typeof asked, Effect.Effect<string, Usual | RunError.GuardrailError, Model.Model>>>
    const given = own.pipe(Agent.guardInput(pass))("hi")
    type _given = Expect<Equal<typeof given, Effect.Effect<string, Usual | RunError.GuardrailError>>>
  })

  it("only a check before the model call, or of what the model says, may replace [P1596]", () => {
    const replacing = () => Agent.guard.replace("x")
    clerk.pipe(Agent.guardInput(replacing, { mode: "before" }))
    clerk.pipe(Agent.guardOutput(replacing))
    // @ts-expect-error the model has read the text already
    clerk.pipe(Agent.guardInput(replacing))
    // @ts-expect-error the same said
    clerk.pipe(Agent.guardInput(replacing, { mode: "beside" }))
    // @ts-expect-error no verdict
    clerk.pipe(Agent.guardInput(() => true))
    // @ts-expect-error no way to hold
    clerk.pipe(Agent.guardOutput(pass, { hold: "some" }))
  })

  it("an agent whose skill is a function has both, and fails as they do [P1378]", () => {
    const echo = Skill.deterministic("echo", { description: "Echoes.", run: (text) => Effect.succeed(text) })
    const echoing = Agent.make("echo", { skills: [echo] }).pipe(Agent.guardInput(pass), Agent.guardOutput(pass))
    const asked = echoing("hi")
    type _asked = Expect<
      Equal<typeof asked, Effect.Effect<string, RunError.BudgetExceededError | RunError.GuardrailError>>
    >
    const answered = echoing.pipe(
      Agent.onGuardrail({ input: Recovery.respondWith("no"), output: Recovery.respondWith("no") })
    )("hi")
    type _answered = Expect<Equal<typeof answered, Effect.Effect<string, RunError.BudgetExceededError>>>
  })

  it("an agent without a model has no guardrails [P1595]", () => {
    const shout = Agent.deterministic("shout", (text: string) => Effect.succeed(text))
    // @ts-expect-error nothing of it is the text of a model
    shout.pipe(Agent.guardInput(pass))
    // @ts-expect-error its parts have their own
    Agent.map(clerk, (text) => text).pipe(Agent.guardOutput(pass))
  })
})

describe("Agent.onGuardrail", () => {
  const both = clerk.pipe(Agent.guardInput(pass), Agent.guardOutput(pass))

  it("takes the error of a side whose row answers, and of no other [P1598]", () => {
    const answered = both.pipe(
      Agent.onGuardrail({ input: Recovery.respondWith("no"), output: Recovery.respondWith("no") })
    )("hi")
    type _answered = Expect<Equal<typeof answered, Effect.Effect<string, Usual, Model.Model>>>
    const half = both.pipe(Agent.onGuardrail({ input: Recovery.respondWith("no") }))("hi")
    type _half = Expect<Equal<typeof half, Effect.Effect<string, Usual | RunError.GuardrailError, Model.Model>>>
    const retried = both.pipe(Agent.onGuardrail({ input: Recovery.respondWith("no"), output: Recovery.tell() }))("hi")
    type _retried = Expect<Equal<typeof retried, Effect.Effect<string, Usual | RunError.GuardrailError, Model.Model>>>
  })

  it("what a row fails with and needs is in the type of the agent [P1598]", () => {
    const needing = both.pipe(
      Agent.onGuardrail({
        input: Recovery.respondWith((error: RunError.GuardrailError) =>
          Effect.as(
            Effect.flatMap(Judge, ({ judge }) => judge(error.reason)),
            "no"
          )
        ),
        output: Recovery.respondWith("no")
      })
    )("hi")
    type _needing = Expect<Equal<typeof needing, Effect.Effect<string, Usual | "down", Model.Model | Judge>>>
  })

  it("an answer has to fit the output, and a verdict its side [P1598]", () => {
    // @ts-expect-error the output is a text
    both.pipe(Agent.onGuardrail({ input: Recovery.respondWith(1) }))
    // @ts-expect-error the model is not retried about what the user has said
    both.pipe(Agent.onGuardrail({ input: Recovery.tell() }))
    // @ts-expect-error nothing is retried
    both.pipe(Agent.onGuardrail({ output: Recovery.retry({ retries: 1 }) }))
    // @ts-expect-error no such side
    both.pipe(Agent.onGuardrail({ tools: Recovery.rethrow }))
    Agent.onGuardrail(both, { output: Recovery.tell() }, { retries: 2 })
  })
})
