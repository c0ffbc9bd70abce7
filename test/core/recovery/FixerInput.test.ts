import { assert, it } from "@effect/vitest"
import { FixerInput } from "../../../packages/core/src/recovery/FixerInput.ts"

it("the input of a fixer is made for each part; what is made is not made anew [A601 A1110]", () => {
  const input = new FixerInput((reads) => `for ${reads}`)
  for (const reads of ["arguments", "answer", "answer-or-end", "end"] as const)
    assert.strictEqual(FixerInput.for(input, reads), `for ${reads}`)
  assert.strictEqual(FixerInput.for(input, "each"), input)
  for (const reads of ["arguments", "each"] as const) assert.strictEqual(FixerInput.for("text", reads), "text")
})
