import { assert, describe, it } from "@effect/vitest"
import { Recording, Scene } from "@kintsugi/view"
import { Effect } from "effect"
import * as Shares from "../../../packages/view/src/scene/Shares.ts"
import { lane, sceneOf, span } from "../drawing/_support/sceneOf.ts"
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

  it("each kind of work has its share, the first of those at once [P1277]", () => {
    const lanes = [lane("tool"), lane("model"), lane("transport"), lane("run"), lane("tool", 1, 1)]
    const tracks = [
      { kind: "run", agent: "a", depth: 0 },
      { kind: "fixer", agent: "b", depth: 1 }
    ] as const
    const shares = (...items: ReadonlyArray<ReturnType<typeof span>>) => {
      const found = Shares.make(sceneOf({ lanes, tracks, items }))
      return Object.fromEntries(Object.entries(found).filter(([, time]) => time !== 0))
    }
    for (const [more, share] of [
      [{}, "tool"],
      [{ lane: 1, part: "attempt" }, "model"],
      [{ lane: 1, part: "attempt", state: "failed" }, "recovery"],
      [{ lane: 1, part: "attempt", state: "discarded" }, "recovery"],
      [{ state: "suspended" }, "tool"],
      [{ part: "wait" }, "recovery"],
      [{ part: "mending" }, "recovery"],
      [{ part: "repair" }, "recovery"],
      [{ part: "approval" }, "person"],
      [{ lane: 4 }, "recovery"],
      // an item of no lane is of no fixer
      [{ lane: 9 }, "tool"],
      [{ part: "run", lane: 3 }, "other"],
      [{ part: "turn", lane: 3 }, "other"],
      [{ part: "send", lane: 2 }, "other"]
    ] as const)
      assert.deepStrictEqual(
        shares(span(100, 400, more)),
        share === "other" ? { other: 1000 } : { [share]: 300, other: 700 }
      )
    assert.deepStrictEqual(
      shares(
        span(0, 900, { part: "approval" }),
        span(100, 800, { part: "wait" }),
        span(200, 600),
        span(300, 400, { lane: 1 }),
        span(350, 350, { lane: 1 }),
        span(950, 940)
      ),
      { model: 100, tool: 300, recovery: 300, person: 200, other: 100 }
    )
    // clocks may go back
    assert.deepStrictEqual(shares(span(900, 1000), span(950, 940)), { tool: 100, other: 900 })
  })

  it("in a run that failed all the time, recovery is most [P1277]", () => {
    const { recovery, tool } = Shares.make(Scene.make(written("storm")))
    assert.isAbove(recovery, tool)
  })
})
