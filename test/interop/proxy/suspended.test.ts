/** The store of runs that wait, in memory. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { firstOfMost } from "../../../packages/interop/src/proxy/crowded.ts"
import * as Suspended from "../../../packages/interop/src/proxy/suspended.ts"

const keyOf = (run: string, subject = "ann", agent = "desk") => ({ agent, subject, run })

const runOf = (asked: string) => ({ asked, snapshot: { s: 1 }, repeat: false, said: ["m"] })

const storeOf = (limits?: Suspended.SuspendedLimits) =>
  Effect.map(Layer.build(Suspended.layerSuspendedMemory(limits)), (context) =>
    Context.get(context, Suspended.SuspendedRuns)
  )

it("of the subject that has the most, the first item is dropped", () => {
  const first = (...items: ReadonlyArray<string>) => firstOfMost(items, (item) => item.charAt(0))
  assert.isUndefined(first())
  assert.strictEqual(first("a1"), "a1")
  assert.strictEqual(first("a1", "b1", "b2", "a2", "b3"), "b1")
  // of equals, the subject that came first
  assert.strictEqual(first("a1", "b1", "b2", "a2"), "a1")
})

describe("a run that waits", () => {
  it.effect("is found by its agent, subject and id, until it is removed", () =>
    Effect.gen(function* () {
      const store = yield* storeOf()
      yield* store.put(keyOf("1"), runOf("one"))
      yield* store.put(keyOf("2"), runOf("two"))
      yield* store.put(keyOf("1", "bob"), runOf("three"))
      yield* store.put(keyOf("1", "ann", "other"), runOf("four"))
      assert.deepStrictEqual(yield* store.get(keyOf("1")), runOf("one"))
      assert.deepStrictEqual(yield* store.get(keyOf("1", "bob")), runOf("three"))
      assert.isUndefined(yield* store.get(keyOf("2", "bob")))
      assert.deepStrictEqual(yield* store.list({ agent: "desk", subject: "ann" }), [
        { ...runOf("one"), run: "1" },
        { ...runOf("two"), run: "2" }
      ])
      // a run that waits once more is the newest
      yield* store.put(keyOf("1"), runOf("later"))
      assert.deepStrictEqual(
        (yield* store.list({ agent: "desk", subject: "ann" })).map(({ asked }) => asked),
        ["two", "later"]
      )
      yield* store.remove(keyOf("1"))
      assert.isUndefined(yield* store.get(keyOf("1")))
      assert.deepStrictEqual(yield* store.get(keyOf("1", "bob")), runOf("three"))
    }).pipe(Effect.scoped)
  )

  it.effect("waits for seven days, or as long as its option says", () =>
    Effect.gen(function* () {
      for (const [limits, age] of [
        [undefined, 7 * 86_400_000],
        [{ maxAge: "5 seconds" }, 5000]
      ] as const) {
        const store = yield* storeOf(limits)
        yield* store.put(keyOf("1"), runOf("one"))
        yield* TestClock.adjust(1000)
        yield* store.put(keyOf("2"), runOf("two"))
        yield* TestClock.adjust(age - 1001)
        assert.isDefined(yield* store.get(keyOf("1")))
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(
          (yield* store.list({ agent: "desk", subject: "ann" })).map(({ run }) => run),
          ["2"]
        )
        yield* TestClock.adjust(1000)
        assert.isUndefined(yield* store.get(keyOf("2")))
      }
    }).pipe(Effect.scoped)
  )

  it.effect("is dropped beyond the limit, as the oldest of the subject that has the most", () =>
    Effect.gen(function* () {
      const store = yield* storeOf({ maxRuns: 3 })
      for (const [run, subject] of [
        ["1", "bob"],
        ["2", "ann"],
        ["3", "ann"],
        ["4", "ann"]
      ] as const)
        yield* store.put(keyOf(run, subject), runOf(run))
      const runsOf = (subject: string) =>
        Effect.map(store.list({ agent: "desk", subject }), (runs) => runs.map(({ run }) => run))
      assert.deepStrictEqual([yield* runsOf("ann"), yield* runsOf("bob")], [["3", "4"], ["1"]])
      const usual = yield* storeOf()
      for (let run = 0; run <= 1000; run++) yield* usual.put(keyOf(String(run)), runOf("x"))
      const all = yield* usual.list({ agent: "desk", subject: "ann" })
      assert.deepStrictEqual([all.length, all[0]?.run], [1000, "1"])
      const none = yield* storeOf({ maxRuns: 0 })
      yield* none.put(keyOf("1"), runOf("x"))
      assert.isUndefined(yield* none.get(keyOf("1")))
    }).pipe(Effect.scoped)
  )
})
