/** Secrets that are divided over several texts. */
import { assert, it } from "@effect/vitest"
import type { Schema } from "effect"
import { gather } from "../../../../packages/providers/src/testing/recording/gathering.ts"

const gathered = (...documents: ReadonlyArray<Schema.Json>): ReadonlyArray<Schema.Json> => {
  const changed = structuredClone(documents)
  gather(changed, (text) => text.replaceAll("secret", "<redacted>"))
  return changed
}

const stays = (...documents: ReadonlyArray<Schema.Json>) => assert.deepStrictEqual(gathered(...documents), documents)

it("the pieces of one field are redacted as one text, over documents and over the items of a list [P202]", () => {
  assert.deepStrictEqual(gathered({ d: "a sec" }, { d: "ret b" }, null, { d: "c" }), [
    { d: "a <redacted> bc" },
    { d: "" },
    null,
    { d: "" }
  ])
  assert.deepStrictEqual(gathered({ l: ["sec", "ret"] }), [{ l: ["<redacted>", ""] }])
  assert.deepStrictEqual(gathered({ l: [{ d: "sec" }, { d: "ret" }] }), [{ l: [{ d: "<redacted>" }, { d: "" }] }])
  assert.deepStrictEqual(gathered({ l: [{ d: "sec" }] }, { l: [{ n: 1 }, { d: "ret" }] }), [
    { l: [{ d: "<redacted>" }] },
    { l: [{ n: 1 }, { d: "" }] }
  ])
  stays({ d: "sec" }, { d: "x" }, { d: "ret" })
  stays({ d: "sec" }, { e: "ret" })
  // a secret within one text is redacted afterwards
  stays({ d: "secret" }, { d: "x" })
})

it("the pieces of two items may alternate [P202]", () => {
  for (const name of ["type", "event_type", "item_id", "index", "output_index"]) {
    assert.deepStrictEqual(gathered({ [name]: 0, d: "sec" }, { [name]: 1, d: "x" }, { [name]: 0, d: "ret" }), [
      { [name]: 0, d: "<redacted>" },
      { [name]: 1, d: "x" },
      { [name]: 0, d: "" }
    ])
  }
  for (const name of ["my_type", "types", "id", "an_item_id", "indexes", "my-index"]) {
    stays({ [name]: 0, d: "sec" }, { [name]: 1, d: "x" }, { [name]: 0, d: "ret" })
  }
})

it("the words of the model go on from one field of an event to another of the next, but not within one document [P202]", () => {
  for (const name of ["content", "reasoning", "reasoning_content", "text", "thinking"]) {
    for (const other of ["content", "text"].filter((one) => one !== name)) {
      assert.deepStrictEqual(gathered({ [name]: "sec" }, { a: [{ [other]: "ret" }] }), [
        { [name]: "<redacted>" },
        { a: [{ [other]: "" }] }
      ])
      stays({ [name]: "sec", [other]: "ret" })
    }
    stays({ [`${name}s`]: "sec" }, { content: "ret" })
    stays({ [`a_${name}`]: "sec" }, { content: "ret" })
  }
})
