/** Digests of what comes before thoughts. Stored conversations have them, so they stay the same. */
import { assert, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { digestOf, digestOfMessage } from "../../../packages/providers/src/codec/prefixDigest.ts"

it("are those of conversations that were stored before", () => {
  assert.deepStrictEqual([[], [""], ["a"], ["a", 1], [{ b: [null, true], a: "x" }]].map(digestOf), [
    "wvjl67o803",
    "s1xj1cbhjr",
    "1hjv7bzv1qz",
    "1r25fbn5zo5",
    "2g6wpz0oidn"
  ])
})

it("do not depend on the order of fields, and differ for a text and its JSON", () => {
  assert.strictEqual(digestOf([{ a: 1, b: { c: 2, d: 3 } }]), digestOf([{ b: { d: 3, c: 2 }, a: 1 }]))
  assert.notStrictEqual(digestOf(['"a"']), digestOf(["a"]))
  assert.notStrictEqual(digestOf(["ab"]), digestOf(["a", "b"]))
  assert.notStrictEqual(digestOf(["{}"]), digestOf([{}]))
})

it("leave thoughts and signatures out, and nothing else", () => {
  const item = (kind: string, data: Message.Opaque["data"]) =>
    ({ type: "provider-item", kind, opaque: { provider: "p", data } }) as const
  const of = (...content: Message.Assistant["content"]) => digestOfMessage({ role: "assistant", content })
  const text = Message.text("so")
  const search = item("web_search_call", { id: "i" })
  const whole = of(text, search)
  assert.strictEqual(of({ type: "reasoning", text: "hm" }, text, search), whole)
  for (const kind of ["redacted_thinking", "reasoning_details", "thoughtSignature", "stored_response"]) {
    assert.strictEqual(of(text, item(kind, "x"), search), whole, kind)
  }
  assert.strictEqual(of(text, item("web_search_call", { id: "i", thoughtSignature: "s" })), whole)
  for (const other of [
    of(text),
    of(search, text),
    of(text, item("web_search_call", { id: "j" })),
    of(text, item("file_search_call", { id: "i" })),
    digestOfMessage({ role: "user", content: [text] })
  ]) {
    assert.notStrictEqual(other, whole)
  }
})
