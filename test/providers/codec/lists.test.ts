/** Lists that come in pieces. */
import { assert, it } from "@effect/vitest"
import { Lists } from "../../../packages/providers/src/codec/lists.ts"

it("the pieces of each list are joined, and their bytes counted; what is no list is left out", () => {
  const lists = new Lists()
  assert.deepStrictEqual([lists.all, lists.size], [undefined, 0])
  for (const fields of [undefined, null, "x", [["a"]], {}, { a: [] }, { a: "b" }]) lists.push(fields)
  assert.deepStrictEqual([lists.all, lists.size], [undefined, 0])
  lists.push({ a: ["xy"], b: [{ n: 10 }] })
  lists.push({ a: ["z", 5], c: null })
  assert.deepStrictEqual<unknown>([lists.all, lists.size], [{ a: ["xy", "z", 5], b: [{ n: 10 }] }, 7])
})
