import { assert, it } from "@effect/vitest"
import { LlmError, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Reader from "@kintsugi/examples/18-model-recovery"
import { Effect, Exit, Layer } from "effect"
import { overADay } from "../_support/dialogue.ts"
import { namedModel } from "../_support/namedModels.ts"

const { call, calls, fails, text } = ScriptedModel

const overloaded = fails(LlmError.ModelOverloadedError.make({ model: "first" }))
const tooLong = fails(LlmError.ContextTooLongError.make({ model: "first" }))
const turn = (page: number) => calls(call("read", { page }, `c${page}`))

type Steps = ReadonlyArray<ScriptedModel.ScriptedStep>

const reading = Effect.fnUntraced(function* (first: Steps, second: Steps, small: Steps, length: number) {
  const [one, two, three] = [
    yield* namedModel("first", ...first),
    yield* namedModel("second", ...second),
    yield* namedModel("small", ...small)
  ]
  const services = Layer.succeed(Reader.Models, { first: one.service, second: two.service, small: three.service })
  const archive = Layer.succeed(Reader.Archive, {
    read: (page) => Effect.succeed(`page ${page} ${"x".repeat(page === 1 ? length : 100)}`)
  })
  const exit = yield* overADay(Effect.provide(Reader.program, Layer.merge(services, archive)))
  return { exit, one, two, three }
})

it.effect("18-model-recovery: the second model is called when the first one's attempts are used up", () =>
  Effect.gen(function* () {
    const { exit, one, two } = yield* reading([overloaded, overloaded, overloaded], [text("It is old.")], [], 1)
    assert.deepStrictEqual(exit, Exit.succeed("It is old."))
    assert.deepStrictEqual(one.instants, [0, 500, 1500])
    assert.deepStrictEqual(two.instants, [1500])
  })
)

it.effect("18-model-recovery: the longest page is cut, then what was read is summed up", () =>
  Effect.gen(function* () {
    const { exit, one, three } = yield* reading(
      [turn(1), turn(2), turn(3), tooLong, tooLong, text("It is old.")],
      [],
      [text("Three pages about a bridge.")],
      6000
    )
    assert.deepStrictEqual(exit, Exit.succeed("It is old."))
    const sizes = one.requests.map(({ messages }) => JSON.stringify(messages).length)
    assert.isTrue(sizes[3]! > sizes[4]! && sizes[4]! > sizes[5]!)
    assert.strictEqual(three.requests.length, 1)
    const [, summary] = one.requests.at(-1)?.messages ?? []
    const said = summary?.role === "user" ? Message.textOf(summary) : ""
    assert.match(said, /\n\n<data>Three pages about a bridge\.<\/data>$/)
  })
)

it.effect("18-model-recovery: where no model has any quota left, there is an answer", () =>
  Effect.gen(function* () {
    const empty = fails(LlmError.QuotaExhaustedError.make({ model: "any" }))
    const { exit } = yield* reading([empty], [empty], [], 1)
    assert.deepStrictEqual(exit, Exit.succeed("No model can read for you today."))
  })
)
