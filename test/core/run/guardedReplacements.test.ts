/** Answers that a guardrail replaces: the other text is the answer, for the run, its readers and its transcript. */
import { assert } from "@effect/vitest"
import { Agent, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { inPieces, kept, reading, secret } from "./_support/guarded.ts"

const { make, reply, text } = ScriptedModel
const { pass, replace } = Agent.guard

const clerk = Agent.make("clerk", {})

it.run("a replaced answer is the output, and all that is shown and kept of it [P1596]", (run) =>
  Effect.gen(function* () {
    const replacing = ({ text }: Agent.Checked) =>
      text.includes(secret) ? replace(text.replaceAll(secret, "***")) : pass
    const said = reply({ content: [{ type: "reasoning", text: secret }, Message.text(`It is ${secret}, friend`)] })
    for (const hold of ["all", 4] as const) {
      const seen = yield* reading(run(clerk.pipe(Agent.guardOutput(replacing, { hold })), "hi"), inPieces(said, 2))
      assert.deepStrictEqual(seen.exit, Exit.succeed("It is ***, friend"))
      assert.notInclude(seen.text.replaceAll(`"reasoning":"${secret}"`, ""), `is ${secret}`)
      if (run.isStreamed) assert.strictEqual(kept(seen.events), "It is ***, friend")
      assert.deepInclude(
        seen.events.find(({ type }) => type === "turn-end"),
        {
          message: Message.assistant("It is ***, friend")
        }
      )
    }
  })
)

it.run("an answer that is replaced by an empty text is empty, and the model is not asked again [P1596]", (run) =>
  Effect.gen(function* () {
    const said = reply({ content: [{ type: "reasoning", text: secret }, Message.text(`It is ${secret}`)] })
    for (const hold of ["all", 4] as const) {
      const agent = clerk.pipe(Agent.guardOutput(({ text }) => (text.includes(secret) ? replace("") : pass), { hold }))
      const seen = yield* reading(run(agent, "hi"), inPieces(said, 2))
      assert.deepStrictEqual(seen.exit, Exit.succeed(""))
      assert.strictEqual(kept(seen.events), "")
      assert.deepStrictEqual(
        seen.events.flatMap((event) => (event.type === "text-delta" && event.text === "" ? event : [])),
        []
      )
      assert.notInclude(seen.text.replaceAll(`"reasoning":"${secret}"`, ""), `is ${secret}`)
      assert.lengthOf(
        seen.events.filter(({ type }) => type === "model-start"),
        1
      )
    }
    // where a schema does not take an empty answer, that is told as of any other
    const counting = Agent.make("clerk", { output: Schema.Struct({ n: Schema.Finite }) }).pipe(
      Agent.guardOutput(({ text }) => (text.includes("1") ? replace("") : pass))
    )
    const model = yield* make(text('{"n":1}'), text('{"n":2}'))
    assert.deepStrictEqual(yield* run(counting, "hi").pipe(Effect.provide(model.layer)), { n: 2 })
    // an empty reply of a model is asked for again as before
    const twice = yield* make(text(""), text(""))
    const failed = yield* Effect.flip(
      run(clerk.pipe(Agent.guardOutput(() => pass)), "hi").pipe(Effect.provide(twice.layer))
    )
    assert.strictEqual(failed._tag, "EmptyReplyError")
  })
)

it.run("an answer of a schema is read from what has passed [P1596]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("clerk", { output: Schema.Struct({ n: Schema.Finite }) }).pipe(
      Agent.guardOutput(({ text }) => replace(text.replace("1", "2")))
    )
    const model = yield* make(text('{"n":1}'))
    assert.deepStrictEqual(yield* run(agent, "hi").pipe(Effect.provide(model.layer)), { n: 2 })
  })
)
