/** What a guardrail of the output is asked, and what is left of a reply that it replaces. */
import { assert } from "@effect/vitest"
import { Agent, Message, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import { inPieces, reading } from "./_support/guarded.ts"

const { call, calls, make, replies, reply, text } = ScriptedModel
const { pass, replace } = Agent.guard

const clerk = Agent.make("clerk", {})

/** A guardrail that passes, and what it was asked. */
const checking = (options: { readonly hold?: "all" | number } = {}) => {
  const checked: Array<Agent.Checked> = []
  return { guard: Agent.guardOutput((input) => (checked.push(input), pass), options), checked }
}

it.run("it reads the whole answer, with all thoughts and the conversation before it [P1597]", (run) =>
  Effect.gen(function* () {
    const { checked, guard } = checking()
    const content: Message.Reply["content"] = [
      { type: "reasoning", text: "so", opaque: { provider: "p", data: "a" } },
      { type: "reasoning", text: "hm" },
      Message.text("fine")
    ]
    const model = yield* make(replies(reply({ content })))
    const seen = yield* reading(run(clerk.pipe(guard), "hi"), model.layer)
    const transcript = [Message.user("hi")]
    const runId = seen.events[0]?.runId ?? ""
    assert.deepStrictEqual(checked, [
      { agent: "clerk", runId, side: "output", text: "fine", reasoning: "sohm", isWhole: true, transcript }
    ])
  })
)

it.run("an answer that is a call is read as its arguments, and cannot be replaced [P1597]", (run) =>
  Effect.gen(function* () {
    const closing = Agent.make("clerk", { tools: [Tool.complete] })
    const { checked, guard } = checking()
    const step = calls(call("complete", { text: "over" }))
    const model = yield* make(step)
    yield* reading(run(closing.pipe(guard), "hi"), model.layer)
    assert.deepStrictEqual(
      checked.map(({ text }) => text),
      ['{"text":"over"}']
    )
    const other = yield* make(step)
    const replacing = closing.pipe(Agent.guardOutput(() => replace("x")))
    const { exit } = yield* reading(run(replacing, "hi"), other.layer)
    assert(Exit.isFailure(exit))
    assert.deepInclude(Cause.squash(exit.cause), { reason: "the arguments of a call cannot be replaced" })
  })
)

it.run("a reply that its provider has paused is no answer yet [P1597]", (run) =>
  Effect.gen(function* () {
    const { checked, guard } = checking()
    const model = yield* make(replies(reply({ content: [Message.text("wait")], finish: "paused" })), text("fine"))
    yield* reading(run(clerk.pipe(guard), "hi"), model.layer)
    assert.deepStrictEqual(
      checked.map(({ text }) => text),
      ["fine"]
    )
  })
)

it.run("one guardrail that holds back all holds back all, beside one with a number, too [P1597]", (run) =>
  Effect.gen(function* () {
    for (const [first, second] of [
      ["all", 3],
      [3, "all"]
    ] as const) {
      const { checked, guard } = checking({ hold: second })
      const agent = clerk.pipe(checking({ hold: first }).guard, guard)
      const said = reply({ content: [Message.text("This is a longer answer")] })
      yield* reading(run(agent, "hi"), inPieces(said, 2))
      assert.deepStrictEqual(
        checked.map(({ isWhole }) => isWhole),
        [true]
      )
    }
  })
)

it.run("the items of the provider stay when an answer is replaced, and its thoughts go [P1597]", (run) =>
  Effect.gen(function* () {
    const item: Message.ProviderItem = { type: "provider-item", kind: "search", opaque: { provider: "p", data: 1 } }
    const content: Message.Reply["content"] = [{ type: "reasoning", text: "hm" }, item, Message.text("bad")]
    const model = yield* make(replies(reply({ content })))
    const agent = clerk.pipe(Agent.guardOutput(() => replace("good")))
    const seen = yield* reading(run(agent, "hi"), model.layer)
    const ends = seen.events.flatMap((event) => (event.type === "turn-end" ? [event.message.content] : []))
    assert.deepStrictEqual(ends, [[Message.text("good"), item]])
  })
)
