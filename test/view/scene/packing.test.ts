/** The order of the items of a call. */
import { assert, it } from "@effect/vitest"
import { Recording } from "@kintsugi/view"
import * as Scene from "../../../packages/view/src/scene/Scene.ts"

it("a repair stands before the attempt that it makes possible, though the end of the call belongs to it [P1201]", () => {
  const event = (at: number, type: string) => ({ runId: "r", agent: "a", turn: 1, at, type, callId: "c", tool: "look" })
  // the start of the second attempt is lost
  const events = [
    event(0, "tool-start"),
    event(7, "tool-failed"),
    event(7, "verdict"),
    event(7, "fix-start"),
    event(7, "fix-end"),
    event(1007, "tool-end")
  ]
  const { items } = Scene.make(Recording.fromEvents([{ ...event(0, "run-start"), callId: undefined }, ...events]))
  assert.deepStrictEqual(
    items.flatMap((item) =>
      item.shape === "span" && item.label.startsWith("look") ? [[item.label, item.from, item.to]] : []
    ),
    [
      ["look", 0, 7],
      ["look is being mended", 7, 7],
      ["look, attempt 2", 7, 1007]
    ]
  )
})
