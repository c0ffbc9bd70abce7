/** Which parts are thoughts, which only the model that wrote them can read. */
import { assert, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { thoughtIn, unsigned } from "../../../packages/providers/src/codec/thoughts.ts"

const of = (data: Message.Opaque["data"]): Message.Opaque => ({ provider: "p", data })
const item = (kind: string, data: Message.Opaque["data"] = 1) =>
  ({ type: "provider-item", kind, opaque: of(data) }) as const
const call = (opaque?: Message.Opaque): Message.ToolCall => ({
  type: "tool-call",
  id: "c1",
  name: "f",
  arguments: {},
  ...(opaque === undefined ? {} : { opaque })
})

it("the data of reasoning, of thoughts among the items and of signed parts is a thought of its provider alone", () => {
  const signed = [of({ thoughtSignature: "s" }), of({ thought_signature: "s", id: "i" })]
  const thoughts = [
    { type: "reasoning", text: "hm", opaque: of("s") } as const,
    { type: "reasoning-delta", text: "hm", opaque: of("s") } as const,
    ...["redacted_thinking", "reasoning_details", "thoughtSignature", "stored_response"].map((kind) => item(kind)),
    ...signed.map(({ data }) => item("text", data)),
    ...signed.map(call)
  ]
  for (const part of thoughts) {
    assert.strictEqual(thoughtIn(part, "p"), part.opaque, JSON.stringify(part))
    assert.isUndefined(thoughtIn(part, "q"), JSON.stringify(part))
  }
  const [first] = signed
  const settlement = { kind: "result", text: "ok" } as const
  assert.strictEqual(thoughtIn({ type: "settled-call", call: call(first), settlement }, "p"), first)
})

it("other parts are no thoughts", () => {
  for (const part of [
    Message.text("hi"),
    { type: "reasoning", text: "hm" } as const,
    item("web_search_call", { id: "i" }),
    item("text", "thoughtSignature"),
    call(),
    call(of("fc_1")),
    call(of({ id: "i" }))
  ]) {
    assert.isUndefined(thoughtIn(part, "p"), JSON.stringify(part))
  }
})

it("without its signature a part keeps the rest of its data", () => {
  assert.deepStrictEqual(unsigned(of({ id: "i", thoughtSignature: "s", thought_signature: "s" })), of({ id: "i" }))
  for (const data of ["fc_1", null, [1], { id: "i" }]) assert.deepStrictEqual(unsigned(of(data)), of(data))
})
