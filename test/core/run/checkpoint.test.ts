/** When a run is suspended at a limit, and what its snapshot has beside its state. */
import { assert, it } from "@effect/vitest"
import type { Snapshot } from "@kintsugi/core"
import { Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { capture, endAt, isCheckpoint, suspend } from "../../../packages/core/src/run/checkpoint.ts"
import type { Running } from "../../../packages/core/src/run/running.ts"

const meterThat = (action: string) => ({ actionAt: () => action })

type Work = { readonly kind: string; readonly works?: ReadonlyMap<string, { readonly kind: string }> }

interface Parts {
  readonly work?: Work
  readonly skill?: string
  readonly ended?: object
  readonly own?: object
  readonly mode?: object
  readonly start?: object
  readonly state?: object
}

const loop: Work = { kind: "loop" }

/** A run of which the functions under test read these parts alone. */
const running = ({ ended, mode, own = {}, skill, start = { kind: "input" }, state, work = loop }: Parts) =>
  ({
    plan: { work },
    run: { meter: Object.assign(own, { ended }), agent: "worker" },
    mode: { isSuspendable: true, ...mode },
    start,
    state: { skill, snapshot: (_: unknown, at: number) => ({ at }), ...state }
  }) as unknown as Running

const endedAt = (meter: object) => ({ reason: "maxTurns", meter })

it("a run is suspended at its own limit, if the limit asks for that and the run can wait [P701]", () => {
  const at = (action: string, parts: Parts = {}) => {
    const meter = meterThat(action)
    return isCheckpoint(running({ own: meter, ended: endedAt(meter), ...parts }))
  }
  assert.isTrue(at("checkpoint"))
  assert.isTrue(at("checkpoint", { work: { kind: "function" } }))
  for (const action of ["fail", "answer"]) assert.isFalse(at(action), action)
  assert.isFalse(at("checkpoint", { mode: { isSuspendable: false } }))
  assert.isFalse(isCheckpoint(running({ own: meterThat("checkpoint") })))
})

it("a run is suspended at the limit of a parent that waits for it, if it can go on in the middle [P701]", () => {
  const meter = meterThat("checkpoint")
  const at = (parts: Parts, parents: ReadonlyArray<object> = [meter]) =>
    isCheckpoint(running({ ended: endedAt(meter), mode: { nesting: { parents } }, ...parts }))
  assert.isTrue(at({}))
  assert.isFalse(at({}, [meterThat("checkpoint")]))
  assert.isFalse(at({ mode: {} }))
  assert.isFalse(at({ work: { kind: "function" } }))
  const works = new Map([
    ["look", { kind: "loop" }],
    ["count", { kind: "function" }]
  ])
  const choice = { kind: "choice", works }
  assert.isTrue(at({ work: choice }))
  assert.isTrue(at({ work: choice, skill: "look" }))
  assert.isFalse(at({ work: choice, skill: "count" }))
  assert.isFalse(at({ work: choice, skill: "gone" }))
  for (const [work, isTaken] of [
    [loop, true],
    [{ kind: "function" }, false]
  ] as const)
    assert.deepStrictEqual(
      capture(running({ work }))(7),
      isTaken ? ({ at: 7 } as unknown as Snapshot.Snapshot) : undefined
    )
})

it.effect(
  "an outermost snapshot has an id, and the decisions that were given; one of a sub-agent has neither [P902]",
  () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(7)
      const suspended: Array<string> = []
      const late = { suspend: () => suspended.push("late") }
      const snapshotOf = (parts: Parts) =>
        Effect.map(suspend(running({ state: { late }, ...parts })), ({ snapshot }): object => snapshot)
      const resumed = (decided: ReadonlyArray<string>) => ({
        kind: "resumption",
        decisions: { decided: () => decided }
      })
      const { id, ...first } = (yield* snapshotOf({})) as { readonly id?: unknown }
      assert.isString(id)
      assert.deepStrictEqual(first, { at: 7 })
      const keys = (parts: Parts) => Effect.map(snapshotOf(parts), (snapshot) => Object.keys(snapshot))
      assert.deepStrictEqual(yield* keys({ start: { kind: "resumption" } }), ["at", "id"])
      assert.deepStrictEqual(yield* keys({ start: resumed([]) }), ["at", "id"])
      const decided = yield* snapshotOf({ start: resumed(["d1"]) })
      assert.deepInclude(decided, { at: 7, decided: ["d1"] })
      const nested = { mode: { nesting: { parents: [] } }, start: resumed(["d1"]) }
      assert.deepStrictEqual(yield* snapshotOf(nested), { at: 7 })
      assert.lengthOf(suspended, 5)
    })
)

it.effect("a run that has had its last turn ends as that turn did [P1594]", () =>
  Effect.gen(function* () {
    const error = new Error("no row")
    const end = (action: string, isOwn: boolean, state: object) => {
      const meter = meterThat(action)
      // the parts that the function reads
      const exceeded = { ...endedAt(meter), limit: 2, spent: 3 } as unknown as Parameters<typeof endAt>[0]
      return endAt(exceeded, isOwn, running({ own: meter, ended: exceeded, state }))
    }
    assert.isUndefined(end("checkpoint", true, { endedBy: { reason: "maxTurns", limit: 2 } }))
    assert.isUndefined(end("fail", false, {}))
    assert.isUndefined(end("answer", false, { unhandled: { error } }))
    const fails = (effect: ReturnType<typeof endAt>) => Effect.exit(effect ?? assert.fail("it goes on"))
    assert.deepStrictEqual(yield* fails(end("answer", true, { unhandled: { error } })), Exit.fail(error))
    assert.deepStrictEqual(yield* fails(end("checkpoint", true, { unhandled: { error } })), Exit.fail(error))
    assert.isTrue(Exit.isSuccess(yield* fails(end("checkpoint", true, {}))))
  })
)
