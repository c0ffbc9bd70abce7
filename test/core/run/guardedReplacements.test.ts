/** Answers that a guardrail replaces: the other text is the answer, for the run, its readers and its transcript. */
import { assert } from "@effect/vitest"
import { Agent, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import { scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { inPieces, kept, reading, secret } from "./_support/guarded.ts"
import { slowTool, started } from "./_support/saying.ts"

const { call, calls, make, replies, reply, text } = ScriptedModel
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
      // a run that is not streamed shows no text, and none in its place
      assert.strictEqual(kept(seen.events), run.isStreamed ? "It is ***, friend" : "")
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

it.effect("images and files of the user stay when a guardrail replaces their text [P1595 P1596]", () =>
  Effect.gen(function* () {
    const image = Message.image("image/png", { data: "AA==" })
    const file = Message.file("application/pdf", { url: "https://a.test/b.pdf" }, "b.pdf")
    const starred = Message.user([Message.text("see ***"), image, file])
    const guarding = Agent.guardInput(({ text }) => replace(text.replace(secret, "***")), { mode: "before" })
    const content = [image, Message.text(`see ${secret}`), file]
    const resumed = yield* make(text("seen"))
    yield* Effect.provide(Agent.resume(guarding(clerk))({ from: [Message.user(content)] }), resumed.layer)
    assert.deepStrictEqual(resumed.requests[0]?.messages, [starred])
    const { begun, end, tool } = slowTool("look")
    const model = yield* make(calls(call("look", {})), text("seen"))
    const run = yield* started(guarding(Agent.make("clerk", { tools: [tool] })).start("hi"), model)
    yield* begun
    yield* run.say(content)
    yield* end
    yield* run.outcome
    assert.deepStrictEqual(model.requests.at(-1)?.messages.at(-1), starred)
    assert.deepInclude(yield* run.transcript, starred)
  })
)

it.run("the thoughts beside a call stay when its text is replaced, those behind an answer go [P1597]", (run) =>
  Effect.gen(function* () {
    const look = scripted("look", Effect.succeed("found"))
    const agent = Agent.make("clerk", { tools: [look.tool] }).pipe(
      Agent.guardOutput(({ text }) => replace(text.replace(secret, "***")), { each: true })
    )
    const thought = { type: "reasoning" as const, text: "hm" }
    const said = Message.text(`It is ${secret}`)
    const looking = call("look", {})
    const model = yield* make(
      replies(reply({ content: [thought, said, looking] })),
      replies(reply({ content: [thought, said] }))
    )
    const seen = yield* reading(run(agent, "hi"), model.layer)
    assert.deepStrictEqual(seen.exit, Exit.succeed("It is ***"))
    assert.lengthOf(look.runs, 1)
    const [beside, answer] = seen.events.flatMap((event) => (event.type === "turn-end" ? [event.message.content] : []))
    assert.deepStrictEqual(beside?.slice(0, 2), [thought, Message.text("It is ***")])
    assert.deepStrictEqual(
      beside?.map(({ type }) => type),
      ["reasoning", "text", "settled-call"]
    )
    assert.deepStrictEqual(answer, [Message.text("It is ***")])
  })
)
