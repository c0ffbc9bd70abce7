import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import * as Returned from "../../../packages/core/src/data/Returned.ts"

/** The message of the defect, or the value. */
const outcomeOf = (effect: Effect.Effect<unknown>) =>
  Effect.map(Effect.exit(effect), (exit) => (Exit.isSuccess(exit) ? exit.value : String(Cause.squash(exit.cause))))

it.effect("what a function returns is of its kind, or a defect names the function", () =>
  Effect.gen(function* () {
    const kind = Returned.decision(["stop", "go"])
    const stop = { type: "stop" }
    const hostile = {
      get type(): string {
        throw new Error("no")
      }
    }
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const says = (what: string) =>
      `TypeError: The policy of 'clerk' returned ${what}, not a decision or an Effect of that`
    const cases: ReadonlyArray<readonly [given: unknown, outcome: unknown]> = [
      [stop, stop],
      [Effect.succeed(stop), stop],
      [Effect.succeed({ type: "other" }), says("an object")],
      [{ type: "other" }, says("an object")],
      [{}, says("an object")],
      [hostile, says("an object")],
      [proxy, says("an object")],
      [undefined, says("undefined")],
      [null, says("null")],
      ["stop", says("a string")],
      [5, says("a number")],
      [() => stop, says("a function")],
      [Promise.reject(new Error("unheard")), says("a Promise")]
    ]
    for (const [given, outcome] of cases)
      assert.strictEqual(yield* outcomeOf(Returned.valueOf(given, kind, "The policy of", "clerk")), outcome)
    const { aBoolean, aText } = Returned
    assert.strictEqual(yield* outcomeOf(Returned.valueOf(false, aBoolean, "f")), false)
    assert.strictEqual(
      yield* outcomeOf(Returned.valueOf("", aBoolean, "f")),
      "TypeError: f returned a string, not a boolean or an Effect of that"
    )
    assert.strictEqual(yield* outcomeOf(Returned.valueOf("", aText, "f")), "")
    assert.strictEqual(yield* outcomeOf(Returned.effect(Effect.succeed(1), "f")), 1)
    // by its type it is an effect
    const none = 5 as unknown as Effect.Effect<never>
    assert.strictEqual(yield* outcomeOf(Returned.effect(none, "f")), "TypeError: f returned a number, not an Effect")
  })
)

it("a promise that is refused is heard, so that its rejection does not end the process", () => {
  const heard: Array<string> = []
  const promise = {
    then: (...handlers: ReadonlyArray<unknown>) => heard.push(handlers.map((one) => typeof one).join())
  }
  assert.strictEqual(Returned.wrong(promise, "a text", "f").message, "f returned an object, not a text")
  assert.deepStrictEqual(heard, ["undefined,function"])
})
