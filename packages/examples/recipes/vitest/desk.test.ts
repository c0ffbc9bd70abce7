/**
 * Tests of an agent with Vitest: `npm install --save-dev vitest @effect/vitest fast-check`. `it.effect` brings a scope and the
 * `TestClock`, so that no test waits; `it.effect.prop` draws cases and shrinks the one that fails.
 */
import { assert, it } from "@effect/vitest"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Carrier, CarrierDown, desk, NoSuchParcel } from "./desk.ts"

const { answering, call, calls, make, text } = ScriptedModel

const lookingUp = calls(call("track", { parcel: 7 }))

const carrier = (find: (typeof Carrier)["Service"]["find"]) => Layer.succeed(Carrier, { find })

it.effect("tries again, after 1 and 2 seconds", () =>
  Effect.gen(function* () {
    const model = yield* make(lookingUp, text("It is in Graz."))
    let attempts = 0
    const flaky = carrier(() =>
      Effect.suspend(() =>
        ++attempts < 3 ? Effect.fail(new CarrierDown({ message: "no answer" })) : Effect.succeed("in Graz")
      )
    )
    const run = yield* Effect.forkChild(desk("Where is 7?").pipe(Effect.provide([model.layer, flaky])))
    yield* TestClock.adjust("3 seconds")
    assert.strictEqual(yield* Fiber.join(run), "It is in Graz.")
    assert.strictEqual(attempts, 3)
  })
)

it.effect("tells the model of a parcel that there is not", () =>
  Effect.gen(function* () {
    const model = yield* make(lookingUp, text("There is no such parcel."))
    const empty = carrier(() => Effect.fail(new NoSuchParcel({ message: "no parcel 7" })))
    yield* desk("Where is 7?").pipe(Effect.provide([model.layer, empty]))
    // what the second request has shown to the model; `requests` is an array, not an effect
    assert.include(JSON.stringify(model.requests[1]?.messages), "no parcel 7")
  })
)

it.effect.prop(
  "makes no more than 3 attempts, however often the carrier fails",
  [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))],
  ([failures]) =>
    Effect.gen(function* () {
      // a model that answers any number of requests
      const model = answering(({ messages }) => (messages.at(-1)?.role === "user" ? lookingUp : text("It is in Graz.")))
      let attempts = 0
      const down = carrier(() =>
        Effect.suspend(() =>
          ++attempts <= failures ? Effect.fail(new CarrierDown({ message: "no answer" })) : Effect.succeed("in Graz")
        )
      )
      const run = yield* Effect.forkChild(desk("Where is 7?").pipe(Effect.provide([model, down])))
      yield* TestClock.adjust("1 minute")
      const exit = yield* Fiber.await(run)
      assert.strictEqual(Exit.isSuccess(exit), failures < 3)
      assert.strictEqual(attempts, Math.min(failures + 1, 3))
    })
)
