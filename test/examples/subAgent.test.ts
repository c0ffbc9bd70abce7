/** The example of an agent within an agent, played against one scripted model for both. */
import { assert, it } from "@effect/vitest"
import type { Completion, LlmError, Model, RunError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Sub from "@kintsugi/examples/10-sub-agent"
import { Effect, Layer } from "effect"
import { read } from "../_support/dialogue.ts"
import { sameType } from "../types/_support/Identity.ts"

const { call, calls, make, text } = ScriptedModel

type Own = LlmError.LlmError | RunError.BudgetExceededError

/** What the editor reads of its call, when the archive says this and the researcher then does that. */
const reads = (
  archive: Effect.Effect<string, Sub.ArchiveClosed>,
  ...afterwards: ReadonlyArray<ReturnType<typeof text>>
) =>
  Effect.gen(function* () {
    const model = yield* make(
      calls(call("research", { input: "When was the bridge built?" })),
      calls(call("search", { topic: "bridge" })),
      ...afterwards,
      text("A sentence.")
    )
    const layer = Layer.merge(model.layer, Layer.succeed(Sub.Archive, { find: () => archive }))
    assert.strictEqual(yield* Effect.provide(Sub.program, layer), "A sentence.")
    return read(model)
  })

it.effect("10-sub-agent: the editor reads what the researcher has found", () =>
  Effect.gen(function* () {
    sameType<Effect.Effect<string, Own, Model.Model | Sub.Archive>>()(Sub.program)
    sameType<Effect.Effect<string | Completion.Completion, Own | Sub.ArchiveClosed, Model.Model | Sub.Archive>>()(
      Sub.found
    )
    const completing = calls(call("complete", { summary: "In 1357.", result: { year: 1357 } }))
    assert.deepStrictEqual(yield* reads(Effect.succeed("Begun in 1357."), completing), [
      'result: In 1357.\nResult: {"year":1357}'
    ])
  })
)

it.effect("10-sub-agent: a task that cannot be done is read as an error, and is none", () =>
  Effect.gen(function* () {
    const giving = calls(call("complete", { summary: "Nothing found.", success: false, reason: "no entry" }))
    assert.deepStrictEqual(yield* reads(Effect.succeed("-"), giving), ["told: Nothing found.\nReason: no entry"])
  })
)

it.effect(
  "10-sub-agent: a failure of the researcher's tool is a failure of the editor's tool, and the model reads it",
  () =>
    Effect.gen(function* () {
      const closed = Effect.fail(new Sub.ArchiveClosed({ message: "the archive is closed" }))
      assert.match((yield* reads(closed))[0] ?? "", /^told: permanent: the archive is closed/)
    })
)

it.effect("10-sub-agent: a researcher that does not come to an end is cut off by its own budget", () =>
  Effect.gen(function* () {
    const search = calls(call("search", { topic: "bridge" }))
    assert.deepStrictEqual(yield* reads(Effect.succeed("-"), search, search, search), [
      "told: The researcher needs longer than there is time."
    ])
  })
)
