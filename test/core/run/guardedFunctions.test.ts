/** Guardrails of agents whose skills are functions: their words are checked before the function works, their texts behind it. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Message, Recovery, RunError, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import { outcomeOf } from "../../_support/suspension.ts"
import { reading, secret } from "./_support/guarded.ts"

const { make, text } = ScriptedModel
const { block, pass, replace } = Agent.guard

const unlessSecret = ({ text }: Agent.Checked) => (text.includes(secret) ? block("it has the password") : pass)

/** Two agents with a function that notes its inputs: it is the only skill of one, and chosen by a rule or a model in the other. */
const functions = <O>(run: (input: string) => O) => {
  const inputs: Array<string> = []
  const skill = Skill.deterministic("work", {
    description: "Works.",
    run: (input: string) => Effect.sync(() => (inputs.push(input), run(input)))
  })
  const talk = Skill.make("talk", { description: "Talks." })
  const only = Agent.make("only", { skills: [skill] })
  const chosen = Agent.make("chosen", { skills: [skill, talk] })
  // a test gives a model to both, and looks at what they fail with
  return { inputs, only, chosen: chosen as unknown as typeof only }
}

/** The model chooses the function. */
const choosing = (times: number) => make(...Array.from({ length: times }, () => text('{"name":"work","confidence":1}')))

const blockedBy = (exit: Exit.Exit<unknown, unknown>): string => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return error instanceof RunError.GuardrailError ? `${error.side}, ${error.guard}: ${error.reason}` : String(error)
}

const verdictsOf = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.flatMap((event) => (event.type === "guardrail" ? `${event.side}: ${event.verdict}` : []))

it.run("the words of the user are checked before the only skill, a function, works [P1378 P1595]", (run) =>
  Effect.gen(function* () {
    for (const mode of ["beside", "before"] as const) {
      const { inputs, only } = functions((input) => `did ${input}`)
      const agent = only.pipe(Agent.guardInput(unlessSecret, { mode }))
      const none = yield* make()
      const seen = yield* reading(run(agent, `say ${secret}`), none.layer)
      assert.strictEqual(blockedBy(seen.exit), "input, unlessSecret: it has the password")
      assert.deepStrictEqual(inputs, [])
      assert.deepStrictEqual(yield* run(agent, "fine"), "did fine")
      const answering = agent.pipe(Agent.onGuardrail({ input: Recovery.respondWith("no") }))
      assert.strictEqual(yield* run(answering, secret), "no")
    }
    const { inputs, only } = functions((input) => `did ${input}`)
    const starring = only.pipe(Agent.guardInput(() => replace("****"), { mode: "before" }))
    assert.strictEqual(yield* run(starring, "4711"), "did ****")
    assert.deepStrictEqual(inputs, ["****"])
    const error = yield* Effect.flip(run(only.pipe(Agent.guardInput(unlessSecret)), secret))
    assert(error._tag === "GuardrailError")
    assert.deepStrictEqual(error.transcript, [Message.blankWords])
  })
)

it.run("the text that a function gives is checked, replaced or blocked like an answer [P1378 P1596 P1597]", (run) =>
  Effect.gen(function* () {
    for (const by of ["only", "chosen"] as const) {
      const agent = functions((input) => `It is ${secret}, ${input}`)[by]
      const model = yield* by === "only" ? make() : choosing(3)
      const seen = yield* reading(run(agent.pipe(Agent.guardOutput(unlessSecret, { hold: 4 })), "you"), model.layer)
      assert.strictEqual(blockedBy(seen.exit), "output, unlessSecret: it has the password")
      assert.notInclude(seen.text, secret)
      assert.deepStrictEqual(verdictsOf(seen.events), ["output: block"])
      const starring = agent.pipe(
        Agent.guardOutput(({ isWhole, text }) => {
          assert.isTrue(isWhole)
          return replace(text.replace(secret, "****"))
        }),
        Agent.guardOutput(unlessSecret)
      )
      const passed = yield* reading(run(starring, "you"), model.layer)
      assert.deepStrictEqual(passed.exit, Exit.succeed("It is ****, you"))
      assert.deepStrictEqual(verdictsOf(passed.events), ["output: replace", "output: pass"])
      assert.notInclude(passed.text, secret)
      const answering = agent.pipe(
        Agent.guardOutput(unlessSecret),
        Agent.onGuardrail({ output: Recovery.respondWith("no") })
      )
      const answered = yield* reading(run(answering, "you"), model.layer)
      assert.deepStrictEqual(answered.exit, Exit.succeed("no"))
      assert.notInclude(answered.text, secret)
    }
  })
)

it.run("a function is not asked again, and what is no text is not checked [P1378 P1598]", (run) =>
  Effect.gen(function* () {
    const { inputs, only } = functions(() => secret)
    const telling = only.pipe(Agent.guardOutput(unlessSecret), Agent.onGuardrail({ output: Recovery.tell() }))
    const none = yield* make()
    assert.match(blockedBy((yield* reading(run(telling, "go"), none.layer)).exit), /^output/)
    assert.deepStrictEqual(inputs, ["go"])
    const asked: Array<string> = []
    const numbers = functions(() => 4711).only.pipe(
      Agent.guardOutput(({ text }) => {
        asked.push(text)
        return block("no")
      })
    )
    assert.strictEqual(yield* run(numbers, "go"), 4711)
    assert.deepStrictEqual(asked, [])
  })
)

it.effect("a conversation that goes on with a function has its words checked too [P1378 P1599]", () =>
  Effect.gen(function* () {
    const { inputs, only } = functions((input) => `did ${input}`)
    const agent = Agent.resume(only.pipe(Agent.guardInput(unlessSecret)))
    const none = yield* make()
    const from = [Message.user("hi"), Message.assistant("hello"), Message.user(secret)]
    const error = yield* Effect.flip(outcomeOf(agent, { from, input: "go" }, none))
    assert.strictEqual(error._tag, "GuardrailError")
    assert.deepStrictEqual(inputs, [])
  })
)
