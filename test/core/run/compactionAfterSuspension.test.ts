/** Conversations that grow too long for a run that was suspended before: what it was asked stays, as without that. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Compaction, LlmError, Message, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { batch, eventLog } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { fails, make, text } = ScriptedModel

const tooLong = fails(LlmError.ContextTooLongError.make({ model: "scripted", limit: 100, actual: 120 }))

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("a page ".repeat(20))
}).pipe(Tool.requireApproval({ validFor: "7 days" }))

/** It counts pages, and needs approval each time that it looks. */
const counter = Agent.make("counter", {
  prompt: "Count.",
  output: Schema.FiniteFromString,
  skills: [{ name: "read", description: "Reads.", tools: [look] }]
}).pipe(
  Agent.outputRetries(3),
  Agent.onLlmError({ ContextTooLongError: Recovery.compact(Compaction.dropOldest({ keepLast: 1 })) })
)

/** After a false answer there is a later word to the model than what it was asked. */
const steps = [text("not a number"), batch("look"), tooLong, batch("look"), tooLong, text("5")]

const requested = (model: ScriptedModel.ScriptedModel) =>
  model.requests.map(({ messages }) =>
    messages.map((message) => (message.role === "user" ? Message.textOf(message) : message.role))
  )

it.run("the run's input stays after suspensions, as in a run that was never suspended [P1005 L1003]", (run) =>
  Effect.gen(function* () {
    const straight = yield* make(...steps)
    const approving = Approval.layer(() => Effect.succeed(Approval.approve))
    const output = yield* run(counter, "How many?").pipe(Effect.provide(straight.layer), Effect.provide(approving))
    assert.strictEqual(output, 5)
    // what was asked, the last word of a user, the last reply
    const last = requested(straight).at(-1) ?? []
    assert.deepStrictEqual([last[0], last[1], last.length], ["system", "How many?", 4])

    const model = yield* make(...steps)
    const first = yield* snapshotOf(yield* outcomeOf(counter, "How many?", model))
    assert.strictEqual(first.inputIndex, 1)
    const second = yield* snapshotOf(yield* outcomeOf(Agent.resume(counter), deciding(first), model))
    assert.isDefined(second.compacted)
    const log = eventLog()
    const outcome = yield* outcomeOf(Agent.resume(counter.pipe(log.listen)), deciding(second), model)
    assert.deepInclude(outcome, { _tag: "Completed", output: 5 })
    assert.deepStrictEqual(requested(model), requested(straight))
    // its `run-start` has its input, too
    assert.deepInclude(log.all[0], { type: "run-start", input: "How many?" })
  })
)

it.effect("a snapshot without the index of the input resumes with the last message of a user [P1005]", () =>
  Effect.gen(function* () {
    const model = yield* make(...steps.slice(0, 3), text("5"))
    const { inputIndex, ...older } = yield* snapshotOf(yield* outcomeOf(counter, "How many?", model))
    assert.strictEqual(inputIndex, 1)
    for (const from of [older, { ...older, inputIndex: 99 }, { ...older, inputIndex: 0 }]) {
      const secondModel = yield* make(tooLong, text("5"))
      const outcome = yield* outcomeOf(Agent.resume(counter), { ...deciding(from), repeat: true }, secondModel)
      assert.deepInclude(outcome, { _tag: "Completed", output: 5 })
      const [head, said, ...others] = requested(secondModel).at(-1) ?? []
      assert.deepStrictEqual([head, others], ["system", ["assistant"]])
      assert.match(said ?? "", /does not fit/)
    }
    yield* outcomeOf(Agent.resume(counter), { ...deciding({ ...older, inputIndex: 1 }), repeat: true }, model)
  })
)
