/** Items that a stream counts in another way than the whole response does. */
import { assert, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { Result } from "effect"
import { call, decodeStream, type Item, response } from "./_support/responses.ts"

const counted = (index: number, item: Item): ReadonlyArray<Item> => [
  { type: "response.output_item.added", output_index: index, item },
  { type: "response.output_item.done", output_index: index, item }
]

it("an item whose index is not its place in the whole response comes once, by its id [T8]", () => {
  const items = [call("a", '{"n":1}'), call("b", '{"n":2}')]
  for (const indices of [
    [0, 1],
    [1, 2],
    [7, 2 ** 32 - 1],
    [1.5, 1e300]
  ]) {
    const streamed = items.flatMap((item, at) => counted(indices[at] ?? 0, item))
    const reply = Result.getOrThrow(
      decodeStream([...streamed, { type: "response.completed", response: response(items) }])
    )
    assert.deepStrictEqual(
      Message.callsOf(reply ?? assert.fail("no reply")).map(({ arguments: args }) => args),
      ['{"n":1}', '{"n":2}'],
      String(indices)
    )
  }
})
