/** What a person reads of a failure and of its causes. */
import { assert, it } from "@effect/vitest"
import { Approval, Recovery, Tool } from "@kintsugi/core"
import { ScriptedApprover, ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Schema } from "effect"
import { agentWith, done } from "../../_support/dialogue.ts"

class Locked extends Data.TaggedError("Locked")<{ readonly message: string; readonly cause?: unknown }> {}

/** What the request about this failure says in full. */
const fullOf = (error: Locked) =>
  Effect.gen(function* () {
    let runs = 0
    const tool = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.suspend(() => (runs++ === 0 ? Effect.fail(error) : Effect.succeed("seen")))
    }).pipe(Tool.onError({ Locked: Recovery.ask() }))
    const approver = yield* ScriptedApprover.make(Approval.approve)
    const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("look", {})), done)
    yield* agentWith(tool)("go").pipe(Effect.provide([approver.layer, model.layer]))
    return approver.requests[0]?.failed?.full
  })

it.effect("each of the first five causes has a line: its name and what it says beside its name [P1510]", () =>
  Effect.gen(function* () {
    const named = (cause: unknown) => Object.assign(new Error("Named", { cause }), { name: "Named" })
    const four = new Error("four", { cause: new Error("five") })
    const cause = new Error("one", { cause: new Error("", { cause: named(four) }) })
    assert.strictEqual(
      yield* fullOf(new Locked({ message: "locked", cause })),
      ["Locked: locked", "caused by Error: one", "caused by Error", "caused by Named", "caused by Error: four"].join(
        "\n"
      )
    )
    assert.strictEqual(yield* fullOf(new Locked({ message: "locked", cause: null })), "Locked: locked")
  })
)
