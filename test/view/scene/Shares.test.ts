import { assert, describe, it } from "@effect/vitest"
import { Recording, Scene } from "@kintsugi/view"
import { Effect } from "effect"
import * as Shares from "../../../packages/view/src/scene/Shares.ts"
import { mid } from "../_support/recorded.ts"
import { references, written } from "../_support/references.ts"

describe("where the time of a run went [P1277]", () => {
  it.effect("the shares add up to its duration [P1277]", () =>
    Effect.gen(function* () {
      const all = yield* Effect.all(Object.values(references))
      for (const recording of [...all, mid("mid-fail"), Recording.fromEvents([])]) {
        const scene = Scene.make(recording)
        const shares = Shares.make(scene)
        const sum = Object.values(shares).reduce((one, other) => one + other, 0)
        assert.closeTo(sum, scene.to - scene.from, 0.001)
        for (const share of Object.values(shares)) assert.isAtLeast(share, 0)
      }
    })
  )

  it("three hours for a person are no work, and a wait before an attempt is recovery [P1277]", () => {
    const { model, other, person, recovery, tool } = Shares.make(Scene.make(mid("mid-fail")))
    assert.strictEqual(person, 3 * 3_600_000)
    assert.isAbove(recovery, 0)
    assert.strictEqual(other, 0)
    assert.strictEqual(model + tool + recovery, 59_786)
  })

  it("in a run that failed all the time, recovery is most [P1277]", () => {
    const { recovery, tool } = Shares.make(Scene.make(written("storm")))
    assert.isAbove(recovery, tool)
  })
})
