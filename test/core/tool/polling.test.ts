/** When a deferred call is polled in passing, without a fiber that waits. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, type Option, Schedule } from "effect"
import { inPassing } from "../../../packages/core/src/tool/polling.ts"

type Found = Effect.Effect<Option.Option<string>, string>

/** A poll at 110, 120 and 130; its n-th check finds the n-th of these. */
const poller = (...found: ReadonlyArray<Found>) =>
  Effect.gen(function* () {
    let checks = 0
    const pass = yield* inPassing(
      {
        every: Schedule.max([Schedule.spaced("10 millis"), Schedule.recurs(3)]),
        check: Effect.suspend(() => found[checks++] ?? Effect.die("there is no such check"))
      },
      100
    )
    return { pass, checks: () => checks }
  })

const nothing: Found = Effect.succeedNone

it.effect("a check is made once it is due, and at most one for each pass [P1528]", () =>
  Effect.gen(function* () {
    const { checks, pass } = yield* poller(nothing, nothing, Effect.succeedSome("found"))
    const made: Array<readonly [now: number, checks: number]> = []
    for (const now of [100, 109, 110, 115, 119, 125, 134]) {
      assert.isUndefined(yield* pass(now))
      made.push([now, checks()])
    }
    assert.deepStrictEqual(made, [
      [100, 0],
      [109, 0],
      [110, 1],
      [115, 1],
      [119, 1],
      [125, 2],
      [134, 2]
    ])
    assert.deepStrictEqual(yield* pass(135), Exit.succeed("found"))
  })
)

it.effect("a failure counts if the schedule ends with it, and after its end no check is made [P1528]", () =>
  Effect.gen(function* () {
    const { checks, pass } = yield* poller(nothing, Effect.fail("busy"), Effect.fail("gone"))
    assert.deepStrictEqual([yield* pass(110), yield* pass(120)], [undefined, undefined])
    assert.deepStrictEqual(yield* pass(130), Exit.fail("gone"))
    assert.isUndefined(yield* pass(1e9))
    assert.strictEqual(checks(), 3)
    const vain = yield* poller(nothing, nothing, nothing)
    for (const now of [110, 120, 130, 1e9]) assert.isUndefined(yield* vain.pass(now))
    assert.strictEqual(vain.checks(), 3)
  })
)

it.effect("a defect of a check passes [P1528]", () =>
  Effect.gen(function* () {
    const { pass } = yield* poller(Effect.die("broken"))
    assert.deepStrictEqual(yield* Effect.exit(pass(110)), Exit.die("broken"))
  })
)
