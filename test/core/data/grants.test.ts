import { assert, it } from "@effect/vitest"
import { Approval } from "@kintsugi/core"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

const grant = (id: string, at = 0): Approval.Grant => ({
  id,
  agent: "a",
  tool: "t",
  definition: "d",
  admits: { arguments: "{}" },
  at
})

it.effect("a store in memory keeps the youngest grants, of the conversations that got one last [P1531]", () =>
  Effect.gen(function* () {
    const store = Approval.approvalsOfProcess({ conversations: 2, grants: 2 })
    const idsOf = (conversation: string) =>
      Effect.map(store.grantsOf(conversation), (grants) => grants.map(({ id }) => id).join(""))
    for (const id of ["a", "b", "c", "b"]) yield* store.add("1", grant(id))
    assert.strictEqual(yield* idsOf("1"), "cb")
    yield* store.add("2", grant("a"))
    yield* store.add("1", grant("d"))
    yield* store.add("3", grant("a"))
    assert.deepStrictEqual([yield* idsOf("1"), yield* idsOf("2"), yield* idsOf("3")], ["bd", "", "a"])
  })
)

it.effect(
  "a revocation is never forgotten: when the oldest goes, every grant before it counts as revoked [P1531]",
  () =>
    Effect.gen(function* () {
      const store = Approval.approvalsOfProcess({ revocations: 1 })
      const early = grant("early")
      yield* store.add("1", early)
      yield* TestClock.adjust(10)
      yield* store.revoke("early")
      assert.deepStrictEqual(yield* store.grantsOf("1"), [])
      assert.isTrue(yield* store.isRevoked(early))
      assert.isFalse(yield* store.isRevoked(grant("other", 5)))
      yield* TestClock.adjust(10)
      yield* store.revoke("second")
      for (const one of [early, grant("other", 5), grant("tie", 10), grant("second", 20)]) {
        assert.isTrue(yield* store.isRevoked(one))
      }
      assert.isFalse(yield* store.isRevoked(grant("later", 11)))
    })
)
