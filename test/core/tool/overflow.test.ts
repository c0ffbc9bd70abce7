import { assert, it } from "@effect/vitest"
import { isOverflow } from "../../../packages/core/src/tool/overflow.ts"

const endless = (): number => 1 + endless()

const thrownBy = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return error
  }
}

it("the overflow of the stack is told apart from other errors of its class, and from errors with its words [P1393]", () => {
  const overflow = thrownBy(endless)
  assert.instanceOf(overflow, RangeError)
  assert.isTrue(isOverflow(overflow))
  const others = [new RangeError("Invalid array length"), new Error("Maximum call stack size exceeded"), "call stack"]
  for (const other of [...others, undefined]) assert.isFalse(isOverflow(other))
})
