/** The rows of what a durable run waits for. */
import { assert, it } from "@effect/vitest"
import { Approval, type Snapshot } from "@kintsugi/core"
import { Effect, Exit } from "effect"
import type { Replay } from "../../packages/durable/src/recording.ts"
import { note } from "../../packages/durable/src/losing.ts"
import { isWithdrawn, list, listedIn, requestsOf, untilOver, waitingFor } from "../../packages/durable/src/waiting.ts"
import { engineOfRows, instanceOf } from "./_support/rows.ts"

const ofCall = { runId: "child", agent: "clerk", tool: "pay", callId: "c1", expiresAt: 9 }

const request = (digest: string, key = "k") =>
  new Approval.ApprovalRequest({
    ...ofCall,
    key,
    arguments: { cents: 5 },
    reason: "it pays",
    schema: "s",
    digest,
    requestedAt: 1
  })

const deferred: Snapshot.Waiting = { type: "deferred", ...ofCall, handle: { job: 7 } }

/** A replay of a run in which `child` is a run of `root`, with only what the rows need. */
const replaying = (state: { readonly isTaken?: boolean } = {}) => {
  const { engine, rows } = engineOfRows()
  const replay = {
    engine,
    executionId: "run",
    instance: instanceOf(),
    parents: new Map([
      ["child", "middle"],
      ["middle", "root"]
    ]),
    stopping: { isSo: false },
    taken: { isSo: state.isTaken === true },
    scope: { state: { _tag: "Empty" } }
  } as unknown as Replay
  const stored = () =>
    [...rows].flatMap(([name, exit]) => (/^waits\/\d+$/.test(name) && Exit.isSuccess(exit) ? [[name, exit.value]] : []))
  return { replay, rows, stored }
}

it.effect("a call that waits has a row with its end and the ancestors of its run, once [P1113]", () =>
  Effect.gen(function* () {
    const { replay, stored } = replaying()
    yield* list(replay, deferred, "end-1")
    yield* list(replay, deferred, "end-1")
    yield* list(replay, { ...deferred, runId: "root" }, "end-2", true)
    yield* list(replay, deferred, "end-1")
    assert.deepStrictEqual<unknown>(stored(), [
      ["waits/0", { waiting: deferred, end: "end-1", ancestors: ["middle", "root"] }],
      ["waits/1", { waiting: { ...deferred, runId: "root" }, end: "end-2", isLate: true }]
    ])
    assert.deepStrictEqual(yield* listedIn(replay), [
      { end: "end-1", waiting: deferred, within: ["child", "middle", "root"], isLate: false },
      { end: "end-2", waiting: { ...deferred, runId: "root" }, within: ["root"], isLate: true }
    ])
  })
)

it.effect("a wait is listed until its end is stored, or it is withdrawn [P1113]", () =>
  Effect.gen(function* () {
    const { replay, rows } = replaying()
    for (const end of ["end-1", "end-2", "end-3"]) yield* list(replay, deferred, end)
    rows.set("end-2", Exit.void)
    yield* note(replay, "end-1/withdrawn")
    assert.deepStrictEqual([yield* isWithdrawn(replay, "end-1"), yield* isWithdrawn(replay, "end-3")], [true, false])
    assert.deepStrictEqual(
      (yield* listedIn(replay)).map(({ end }) => end),
      ["end-3"]
    )
  })
)

it.effect(
  "the requests about a call are listed once each, the oldest first; about a failed call, as questions [P1117]",
  () =>
    Effect.gen(function* () {
      const { replay } = replaying()
      const [first, second, other] = [request("d1"), request("d2"), request("d3", "other")]
      yield* list(replay, waitingFor(first), "end-1")
      yield* list(replay, deferred, "end-2")
      yield* list(replay, waitingFor(other), "end-3")
      yield* list(replay, waitingFor(second), "end-4")
      yield* list(replay, waitingFor(first), "end-5")
      assert.deepStrictEqual(
        (yield* requestsOf(replay, "k")).map(({ digest }) => digest),
        ["d1", "d2"]
      )
      assert.deepStrictEqual(yield* requestsOf(replay, "none"), [])
      assert.deepStrictEqual<unknown>(waitingFor(first), { type: "approval", ...ofCall, request: first })
      const failed = Object.assign(request("d6"), { failed: {} })
      assert.deepStrictEqual<unknown>(waitingFor(failed), { type: "ask", ...ofCall, request: failed })
    })
)

it.effect("a wait that is cut off is withdrawn, unless its run goes on elsewhere [P1113]", () =>
  Effect.gen(function* () {
    for (const [isTaken, self, isSo] of [
      [false, Effect.succeed(1), false],
      [false, Effect.interrupt, true],
      [true, Effect.interrupt, false]
    ] as ReadonlyArray<readonly [boolean, Effect.Effect<number>, boolean]>) {
      const { replay } = replaying({ isTaken })
      yield* Effect.exit(untilOver(replay, "end-1", self))
      assert.strictEqual(yield* isWithdrawn(replay, "end-1"), isSo)
    }
  })
)
