/** Whether another attempt may follow the text that a reader has seen. */
import { assert, it } from "@effect/vitest"
import type { Calling } from "../../../packages/core/src/run/modelCallState.ts"
import { admits, whyNot } from "../../../packages/core/src/run/shown.ts"

/** A call of which nothing else is read. */
const callWith = (onPartial: unknown, text?: string) =>
  ({ options: { onPartial }, state: { shown: text === undefined ? undefined : { text } } }) as unknown as Calling

it("a text that was seen admits another attempt only if it may be discarded or continued [P1561]", () => {
  for (const onPartial of ["fail", "restart"]) {
    assert.isTrue(admits(callWith(onPartial)))
    assert.isTrue(admits(callWith(onPartial, "")))
    assert.strictEqual(admits(callWith(onPartial, "Well")), onPartial === "restart")
  }
  for (const isAdmitted of [true, false])
    assert.strictEqual(admits(callWith({ admits: () => isAdmitted }, "Well")), isAdmitted)
})

it("a trail says why there is no other attempt only where the text is kept and cannot be continued [P1561]", () => {
  assert.deepStrictEqual(whyNot(callWith({ keepsText: true })), { why: "no-continuation" })
  for (const onPartial of [{ keepsText: false }, "fail", "restart"])
    assert.deepStrictEqual(whyNot(callWith(onPartial)), {})
})
