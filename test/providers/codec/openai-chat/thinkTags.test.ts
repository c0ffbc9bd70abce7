import { assert, it } from "@effect/vitest"
import { ThinkTags } from "../../../../packages/providers/src/codec/openai-chat/thinkTags.ts"

/** What comes out after each piece and at the end, with the bytes that are held back. */
const read = (...pieces: ReadonlyArray<string>) => {
  const tags = new ThinkTags()
  const short = ({ text, type }: { readonly text: string; readonly type: string }) =>
    `${type === "text-delta" ? "text" : "thought"} ${text}`
  const given = pieces.map((text) => [...tags.push(text).map(short), tags.size])
  return [...given, tags.end().map(short)]
}

it("a thought comes piece by piece: only what may begin the closing tag is held back", () => {
  assert.deepStrictEqual(read("<think>so", ", hm", "</think>", "4"), [
    ["thought so", 0],
    ["thought , hm", 0],
    [0],
    ["text 4", 0],
    []
  ])
  assert.deepStrictEqual(read("<think>a</th", "b<", "/think>\n 4"), [
    ["thought a", 4],
    ["thought </thb", 1],
    ["text 4", 0],
    []
  ])
  assert.deepStrictEqual(read("<think>a</think", "</think> b"), [
    ["thought a", 7],
    ["thought </think", "text b", 0],
    []
  ])
  assert.deepStrictEqual(read("<think>a</"), [["thought a", 2], ["thought </"]])
})

it("a text without a tag comes as it is, and what may be an opening tag is held back with the blanks before it", () => {
  assert.deepStrictEqual(read(" ", "<thi", "s>"), [[1], [5], ["text  <this>", 0], []])
  assert.deepStrictEqual(read("\n", "<think", ">hm"), [[1], [7], ["thought hm", 0], []])
  assert.deepStrictEqual(read(" <th"), [[4], ["text  <th"]])
  assert.deepStrictEqual(read("4 ", "<think>no</think>"), [["text 4 ", 0], ["text <think>no</think>", 0], []])
})
