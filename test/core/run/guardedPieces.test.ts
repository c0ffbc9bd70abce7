/** Guardrails with a number to hold back: which pieces readers get of an answer, when it is checked, and for how long. */
import { assert } from "@effect/vitest"
import { Agent, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { inPieces, reading } from "./_support/guarded.ts"

const { make, reply, text } = ScriptedModel
const { pass } = Agent.guard

const clerk = Agent.make("clerk", {})

it.effect("a number splits no character of a text or a thought in two [P1597]", () =>
  Effect.gen(function* () {
    const smiles = "\u{1f600}".repeat(40)
    const said = reply({ content: [{ type: "reasoning", text: smiles }, Message.text(smiles)] })
    for (const hold of [1, 3, 4, 5]) {
      const agent = clerk.pipe(Agent.guardOutput(() => pass, { hold }))
      const seen = yield* reading(Stream.runDrain(agent.stream("hi")), inPieces(said, 4))
      const pieces = seen.events.flatMap((event) =>
        event.type === "text-delta" || event.type === "reasoning-delta" ? [event.text] : []
      )
      assert.strictEqual(pieces.join(""), smiles + smiles)
      assert.isAbove(pieces.length, 4)
      for (const piece of pieces) assert.match(piece, /^\u{1f600}+$/u)
    }
  })
)

it.effect("a text is checked again when it has grown by the number, or by a sixteenth if that is more [P1597]", () =>
  Effect.gen(function* () {
    const words = "x".repeat(600)
    for (const hold of [1, 10]) {
      const checked: Array<number> = []
      const agent = clerk.pipe(
        Agent.guardOutput(
          ({ isWhole, text }) => {
            if (!isWhole) checked.push(text.length)
            return pass
          },
          { hold }
        )
      )
      yield* reading(Stream.runDrain(agent.stream("hi")), inPieces(reply({ content: [Message.text(words)] }), 1))
      const expected: Array<number> = []
      for (let at = hold; at <= words.length; at += Math.max(hold, Math.ceil(at / 16))) expected.push(at)
      assert.deepStrictEqual(checked, expected)
    }
  })
)

it.run("a check has 30 seconds by default [P1596]", (run) =>
  Effect.gen(function* () {
    const forever = () => Effect.never
    const guarded = [
      { agent: clerk.pipe(Agent.guardInput(forever)), steps: [text("hello")] },
      { agent: clerk.pipe(Agent.guardInput(forever, { mode: "before" })), steps: [] },
      { agent: clerk.pipe(Agent.guardOutput(forever)), steps: [text("hello")] }
    ]
    for (const { agent, steps } of guarded) {
      const model = yield* make(...steps)
      const seen = yield* reading(run(agent, "hi"), model.layer)
      assert.match(Exit.isFailure(seen.exit) ? String(Cause.squash(seen.exit.cause)) : "", /within 30s/)
      assert.strictEqual(seen.instants[seen.events.findIndex(({ type }) => type === "guardrail")], 30_000)
    }
  })
)
