/** Claims on snapshots in the memory of a process. */
import { assert, it } from "@effect/vitest"
import { Snapshot } from "@kintsugi/core"
import { Effect, Logger } from "effect"
import { Claims, claimsOfProcess } from "../../../packages/core/src/event/claims.ts"

it.effect("the first claim decides, and its claimant may make it again [P1506]", () =>
  Effect.gen(function* () {
    const { claim } = claimsOfProcess()
    const claims = [
      ["s1", "a"],
      ["s1", "b"],
      ["s1", "a"],
      ["s2", "b"]
    ] as const
    const taken = yield* Effect.forEach(claims, ([snapshot, claimant]) => claim({ snapshot, claimant }))
    assert.deepStrictEqual(taken, [true, false, true, true])
  })
)

it.effect("it keeps the newest claims, as many as it is told [P1506]", () =>
  Effect.gen(function* () {
    const { claim } = claimsOfProcess({ most: 2 })
    const taken = yield* Effect.forEach(["s1", "s2", "s3"], (snapshot) => claim({ snapshot, claimant: "a" }))
    assert.deepStrictEqual(taken, [true, true, true])
    assert.isFalse(yield* claim({ snapshot: "s3", claimant: "b" }))
    assert.isFalse(yield* claim({ snapshot: "s2", claimant: "b" }))
    assert.isTrue(yield* claim({ snapshot: "s1", claimant: "b" }))
    // the oldest made room for it
    assert.isTrue(yield* claim({ snapshot: "s2", claimant: "b" }))
  })
)

it.effect("the first claim logs that no other process has these claims, the later ones nothing [P1506]", () =>
  Effect.gen(function* () {
    const lines: Array<unknown> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => void lines.push([logLevel, message]))
    const { claim } = claimsOfProcess()
    const claimed = Effect.provide(claim({ snapshot: "s", claimant: "a" }), Logger.layer([logger]))
    assert.deepStrictEqual([yield* claimed, yield* claimed], [true, true])
    const notice =
      "Only this process knows which snapshots it has resumed: another process, or this process after a restart, can resume them a second " +
      "time. SnapshotClaims of @kintsugi/durable keeps that in a store"
    assert.deepStrictEqual(lines, [["Info", [notice]]])
  })
)

let made = 0

it.effect("a program without a store of claims has those of the process, under a name of their own [P1506]", () =>
  Effect.gen(function* () {
    assert.strictEqual(Claims.key, "@kintsugi/core/Snapshot/Claims")
    const { claim } = yield* Snapshot.Claims
    assert.strictEqual(yield* Claims, yield* Snapshot.Claims)
    // the process has the claims of the tests before
    const snapshot = `s${(made += 1)}`
    assert.isTrue(yield* claim({ snapshot, claimant: "a" }))
    assert.isFalse(yield* claim({ snapshot, claimant: "b" }))
  })
)
