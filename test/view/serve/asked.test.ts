/** What a person asks for, and errors in words. */
import { assert, describe, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { decisionOf, inputOf, refuse, worded } from "../../../packages/view/src/serve/asked.ts"

describe("what a person asks for", () => {
  it.effect("is a text, or what the schema of the input takes [P1284]", () =>
    Effect.gen(function* () {
      const plain = Agent.make("plain", {})
      assert.strictEqual(yield* inputOf(plain, "Hi"), "Hi")
      assert.strictEqual(yield* inputOf(plain, { a: 1 }), '{"a":1}')
      const dated = Agent.make("dated", { input: Schema.Struct({ at: Schema.DateFromString }) })
      assert.deepStrictEqual(yield* inputOf(dated, { at: "2026-01-15T00:00:00.000Z" }), {
        at: new Date("2026-01-15T00:00:00.000Z")
      })
      const refused = yield* Effect.flip(inputOf(dated, { at: 5 }))
      assert.strictEqual(refused.status, 400)
      assert.match(refused.message, /^the input does not fit: .*"at"/s)
    })
  )

  it("is a decision, with other arguments if there are some [P1284]", () => {
    assert.deepStrictEqual(decisionOf({ type: "refuse", reason: "no" }), { type: "refuse", reason: "no" })
    assert.deepStrictEqual(decisionOf({ type: "approve" }), { type: "approve" })
    assert.deepStrictEqual(decisionOf({ type: "approve", arguments: { cents: 5 } }), {
      type: "approve",
      arguments: { cents: 5 }
    })
  })

  it.effect("is refused with a status and a message [P1284]", () =>
    Effect.gen(function* () {
      const { _tag, message, status } = yield* Effect.flip(refuse(409, "not now"))
      assert.deepStrictEqual([_tag, status, message], ["Refused", 409, "not now"])
    })
  )
})

it("an error in words has its tag or its name, and its message [P1287]", () => {
  const tagged = Object.assign(new TypeError("later"), { _tag: "Busy" })
  const words = [tagged, new TypeError("later"), new Error(""), "text", undefined, { _tag: "Busy" }].map(worded)
  assert.deepStrictEqual(words, ["Busy: later", "TypeError: later", "Error", "text", "undefined", "[object Object]"])
})
