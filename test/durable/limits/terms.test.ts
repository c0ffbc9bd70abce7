/** What a call reserves of a shared budget before it is sent. */
import { assert, it } from "@effect/vitest"
import type { Model } from "@kintsugi/core"
import { amountBefore, amountAfter, sinceOf, termsOf } from "../../../packages/durable/src/limits/terms.ts"
import { Usage } from "@kintsugi/core"

// a model with only what the amount follows from
const model = { name: "m" } as Model.Service
const request = (...messages: ReadonlyArray<unknown>) =>
  // a request with only what is counted
  ({ messages, tools: [], toolChoice: "auto" }) as unknown as Model.Request

const terms = termsOf({ key: "acme", tokens: 1_000_000, reserve: { outputTokens: 1 } })
const amount = (...messages: ReadonlyArray<unknown>) => amountBefore(terms, request(...messages), model) ?? 0

const user = (...content: ReadonlyArray<unknown>) => ({ role: "user", content })
const withSettlement = (settlement: unknown) => ({
  role: "assistant",
  content: [{ type: "settled-call", id: "1", name: "look", arguments: {}, settlement }]
})
const text = (length: number) => ({ type: "text", text: "a".repeat(length) })
const picture = { type: "image", url: "https://example.com/a.png" }

it("a request has a token for four characters of its texts, and a thousand for a picture [P1720]", () => {
  const base = amount(user(text(0)))
  assert.strictEqual(amount(user(text(400))) - base, 100)
  assert.strictEqual(amount(user(text(0), picture)) - base, 1001)
  const result = (...parts: ReadonlyArray<unknown>) => withSettlement({ kind: "result", text: "seen", parts })
  const found = amount(result())
  assert.strictEqual(amount(result(picture)) - found, 1001)
  // the bytes of a picture do not count
  assert.strictEqual(amount(result({ ...picture, url: "x".repeat(9000) })), amount(result(picture)))
  assert.strictEqual(amount(result(text(400))) - amount(result(text(0))), 100)
  // the rest of the settlement counts
  assert.strictEqual(amount(withSettlement({ kind: "result", text: "s".repeat(404), parts: [] })) - found, 100)
  assert.isAbove(amount(withSettlement({ kind: "result", text: "s".repeat(400) })), 100)
  assert.isAbove(amount({ role: "assistant", content: [text(400)] }), 100)
  assert.isAbove(amount({ role: "system", content: "s".repeat(400) }), 100)
})

it("prices and durations are checked, at their limits [P1720]", () => {
  assert.strictEqual(termsOf({ key: "acme", tokens: 1, per: "1 millis" }).per, 1)
  const price = { usdPerMillionTokens: { input: -1, output: 1 } }
  assert.throws(() => termsOf({ key: "acme", cost: 1, prices: { m: price } }), "the price of 'm'")
  assert.throws(() => termsOf({ key: "acme", tokens: 1.5 }), "a whole number of tokens of at least 1")
  assert.throws(() => termsOf({ key: "acme", cost: 0 }), "at least a billionth of a US dollar, and below 9 million")
})

it("a period begins at a multiple of its length, and one without a length began at the beginning [P1720]", () => {
  assert.deepStrictEqual([sinceOf(1999, 1000), sinceOf(2000, 1000), sinceOf(2000, 0)], [1000, 2000, 0])
})

it("a reply without sound usage says no amount [P1720]", () => {
  const usage = Usage.make({ inputTokens: 3, outputTokens: 4 })
  assert.strictEqual(amountAfter(terms, { usage }, model), 7)
  for (const inputTokens of [-1, -5, NaN]) {
    assert.strictEqual(amountAfter(terms, { usage: { ...usage, inputTokens } }, model), undefined)
  }
})
