/** Which values are found, and that a removed value leaves nothing behind. */
import { assert, it } from "@effect/vitest"
import { SecretIndex } from "../../../packages/core/src/data/Redaction.ts"

/** The parts of a text that are found. */
const found = (index: SecretIndex, text: string): ReadonlyArray<string> =>
  index.in(text).map(([from, to]) => text.slice(from, to))

// values without a striking piece: only the whole one is found
const plain = "ABCDabcdefgh."
const similar = "ABCDabcdefgh!"

it("a removed value is not found, and one that begins alike still is [P1331]", () => {
  const index = new SecretIndex()
  index.add([plain])
  index.add([similar])
  assert.deepStrictEqual(found(index, `so ${plain} ${similar} so`), [plain, similar])
  index.remove([plain])
  assert.deepStrictEqual(found(index, `so ${plain} ${similar} so`), [similar])
  index.remove([similar])
  assert.deepStrictEqual(found(index, `so ${plain} ${similar} so`), [])
})

it("a value that was added twice is found until it is removed twice [P1331]", () => {
  const index = new SecretIndex()
  const striking = "q7Lw2Zr9Xk4T"
  index.add([plain, striking])
  index.add([striking, plain])
  index.remove([plain, striking])
  assert.deepStrictEqual(found(index, `so ${plain} ${striking}`), [plain, striking])
  index.remove([plain, striking])
  assert.deepStrictEqual(found(index, `so ${plain} ${striking}`), [])
})
