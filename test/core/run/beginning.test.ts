/** Conversations that end with words of the model, and whether they are the answer of a run that goes on from them. */
import { assert } from "@effect/vitest"
import { Agent, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"

const { make, text } = ScriptedModel

it.run("the last words of a model are the answer, unless they are withheld, paused or before calls [P501]", (run) =>
  Effect.gen(function* () {
    const said = Message.assistant("said")
    const call = { type: "tool-call", id: "c1", name: "look", arguments: {} } as const
    const answered = { type: "settled-call", call, settlement: { kind: "result", text: "ok" } } as const
    const ends: ReadonlyArray<readonly [Message.Message, string]> = [
      [said, "said"],
      [{ ...said, withheld: true }, "fine"],
      [{ ...said, paused: true }, "fine"],
      [{ ...said, content: [Message.text("said"), answered] }, "fine"],
      [Message.user("and?"), "fine"]
    ]
    for (const [last, answer] of ends) {
      const model = yield* make(...(answer === "said" ? [] : [text("fine")]))
      const from = [Message.user("hi"), last]
      const running = run(Agent.resume(Agent.make("clerk", {})), { from })
      assert.strictEqual(yield* running.pipe(Effect.provide(model.layer)), answer, JSON.stringify(last))
    }
  })
)
