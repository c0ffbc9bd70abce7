/** Which effect of a run is undone first. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Done, type Effected } from "../../../packages/core/src/event/effects.ts"

it("the latest effect is taken first, of equally late ones the one that was added last, and each once", () => {
  const parent = new Done(undefined)
  const done = new Done(parent, "worker", "r1")
  const times = [2, 5, 3, 5, 1]
  times.forEach((at, index) => {
    const effected: Effected = {
      tool: "look",
      callId: `c${index}`,
      key: "k",
      callKey: undefined,
      at,
      undo: Effect.void,
      isUndone: false
    }
    done.add(effected)
  })
  assert.deepStrictEqual([done.take()?.callId, parent.take()?.callId, done.take()?.callId], ["c3", "c1", "c2"])
  assert.deepStrictEqual([parent.take()?.callId, done.take()?.callId, parent.take()], ["c0", "c4", undefined])
})
