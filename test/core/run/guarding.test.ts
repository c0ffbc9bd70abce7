/** What a guardrail of the input is asked, and in which order several of them are. */
import { assert } from "@effect/vitest"
import { Agent, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"
import { reading } from "./_support/guarded.ts"

const { make, text } = ScriptedModel
const { block, pass } = Agent.guard

const clerk = Agent.make("clerk", {})

it.run("each guardrail before the model call is asked about each message before a turn begins [P1595]", (run) =>
  Effect.gen(function* () {
    for (const blocked of ["one", "two"]) {
      const asked: Array<string> = []
      const check = (name: string) =>
        Agent.guardInput(
          ({ text }) => {
            asked.push(`${name} ${text}`)
            return name === "last" && text === blocked ? block("no") : pass
          },
          { mode: "before", name }
        )
      const model = yield* make()
      const agent = Agent.resume(clerk.pipe(check("first"), check("last")))
      const from = [Message.user("one"), Message.user("two")]
      const seen = yield* reading(run(agent, { from }), model.layer)
      const both = ["first one", "last one", "first two", "last two"]
      assert.deepStrictEqual(asked, blocked === "one" ? both.slice(0, 2) : both)
      assert.deepStrictEqual(
        seen.events.flatMap((event) => (event.type === "guardrail" ? event.verdict : event.type)),
        ["run-start", ...asked.slice(1).map(() => "pass"), "block", "run-failed"]
      )
    }
  })
)

it.run("it reads a message as a whole, with the conversation up to it [P1595 P1596]", (run) =>
  Effect.gen(function* () {
    for (const mode of ["beside", "before"] as const) {
      const checked: Array<Agent.Checked> = []
      const agent = clerk.pipe(Agent.guardInput((input) => (checked.push(input), pass), { mode }))
      const model = yield* make(text("fine"))
      const seen = yield* reading(run(agent, "hi"), model.layer)
      const transcript = [Message.user("hi")]
      const runId = seen.events[0]?.runId ?? ""
      assert.deepStrictEqual(checked, [
        { agent: "clerk", runId, side: "input", text: "hi", reasoning: "", isWhole: true, transcript }
      ])
    }
  })
)

it.run("a message without content passes a guardrail that passes it [P1596]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.resume(clerk.pipe(Agent.guardInput(() => pass, { mode: "before" })))
    const model = yield* make(text("fine"))
    const from: Message.Transcript = [{ role: "user", content: [] }]
    assert.strictEqual(yield* run(agent, { from }).pipe(Effect.provide(model.layer)), "fine")
  })
)
