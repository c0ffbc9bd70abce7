import { assert, describe, it } from "@effect/vitest"
import { Compaction, Recovery } from "@kintsugi/core"
import { Cause, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import {
  bare,
  failed,
  type Failure as Scripted,
  play,
  resourcesOf,
  type Script,
  type Step
} from "../../_support/laws.ts"
import { type Busy, busy, fails, type Failure, gone, odd, overADay, scripted } from "./_support/scriptedEffect.ts"

describe("tables", () => {
  it.effect("the nearest table comes first, tag by tag, and the next one sees what that leaves [A501]", () =>
    Effect.gen(function* () {
      const near = { Busy: Recovery.retry({ retries: 1 }) }
      const far = { Busy: Recovery.respondWith("far"), Gone: Recovery.respondWith("gone") }
      const both = scripted(...fails(busy(1), busy(2)))
      assert.strictEqual(yield* Effect.orDie(both.effect.pipe(Recovery.onError(near), Recovery.onError(far))), "far")
      assert.strictEqual(both.starts.length, 2)
      const other = scripted(...fails(gone(1)))
      assert.strictEqual(yield* Effect.orDie(other.effect.pipe(Recovery.onError(near), Recovery.onError(far))), "gone")
    })
  )

  it.effect("an exact tag beats orElse, and changing orElse changes nothing for it [A502 A503]", () =>
    Effect.gen(function* () {
      for (const orElse of [Recovery.respondWith("other"), Recovery.rethrow, Recovery.retry({ retries: 5 })]) {
        const { effect } = scripted(...fails(busy(1)))
        const answered = effect.pipe(Recovery.onError({ orElse, Busy: Recovery.respondWith("exact") }))
        assert.strictEqual(yield* Effect.orDie(answered), "exact")
      }
      const { effect } = scripted(...fails(odd(1)))
      const table = {
        Busy: Recovery.rethrow,
        orElse: Recovery.respondWith((error: Failure) => Effect.succeed(error._tag))
      }
      assert.strictEqual(yield* Effect.orDie(effect.pipe(Recovery.onError(table))), "Odd")
    })
  )

  it.effect("tags that share orElse share its count [A502]", () =>
    Effect.gen(function* () {
      const { effect, starts } = scripted(...fails(busy(1), gone(2), odd(3)))
      const left = yield* Effect.flip(effect.pipe(Recovery.onError({ orElse: Recovery.retry({ retries: 2 }) })))
      assert.deepStrictEqual([left._tag, starts.length], ["Odd", 3])
    })
  )

  it.effect("without a row a failure leaves as itself, the same object, at the same instant [A507]", () =>
    Effect.gen(function* () {
      const error = odd(1)
      for (const table of [{}, { Busy: Recovery.respondWith("busy") }]) {
        const { effect } = scripted(Effect.fail(error))
        const { end, exit } = yield* overADay(effect.pipe(Recovery.onError(table as {})))
        assert.strictEqual(end, 0)
        assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === error)
      }
    })
  )

  it.effect("on success no row decides and no time passes [A508]", () =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const orElse = Recovery.when((error: Failure) => {
        asked.push(error)
        return Recovery.rethrow
      })
      const value = { answer: 42 }
      const effect: Effect.Effect<typeof value, Failure> = Effect.delay(Effect.succeed(value), "3 millis")
      const { end, exit } = yield* overADay(effect.pipe(Recovery.onError({ orElse })))
      assert.strictEqual(end, 3)
      assert.isTrue(Exit.isSuccess(exit) && exit.value === value)
      assert.deepStrictEqual(asked, [])
    })
  )

  it.effect("rethrow leaves the failure as the same object, and no other row decides [A509]", () =>
    Effect.gen(function* () {
      const error = busy(1)
      const { effect, starts } = scripted(Effect.fail(error))
      const table = { Busy: Recovery.rethrow, orElse: Recovery.respondWith("other") }
      assert.strictEqual(yield* Effect.flip(effect.pipe(Recovery.onError(table))), error)
      assert.strictEqual(starts.length, 1)
    })
  )

  it.effect(
    "what needs a model is refused on a plain effect by type and by name; where a handler chose it, the failure leaves [A509 P1320]",
    () =>
      Effect.gen(function* () {
        const fixer = Recovery.fix(() => Effect.succeed(""))
        const shorter = Recovery.compact(Compaction.dropOldest({ keepLast: 1 }))
        for (const verdict of [Recovery.tell(), Recovery.escalate(), Recovery.raise, fixer, shorter]) {
          const error = busy(1)
          const { effect, starts } = scripted(...fails(error))
          const given = verdict as never
          assert.throws(
            () => effect.pipe(Recovery.onError({ Busy: given })),
            /Row 'Busy': the verdict '\w+' is not allowed in a table for a plain effect; allowed: retry, respondWith, rethrow/
          )
          const left: unknown = yield* Effect.flip(effect.pipe(Recovery.onError({ Busy: () => given })))
          assert.strictEqual(left, error)
          assert.strictEqual(starts.length, 1)
        }
      })
  )

  it.effect("respondWith answers with a value, or with an effect of the failure, and nothing is repeated [A510]", () =>
    Effect.gen(function* () {
      const value = scripted(...fails(busy(1)))
      const table = { Busy: Recovery.respondWith({ empty: true }) }
      assert.deepStrictEqual(yield* Effect.orDie(value.effect.pipe(Recovery.onError(table))), { empty: true })
      const effect = scripted(...fails(busy(7)))
      const late = { Busy: Recovery.respondWith((error: Busy) => Effect.delay(Effect.succeed(error.n), "1 second")) }
      const { end, exit } = yield* overADay(effect.effect.pipe(Recovery.onError(late)))
      assert.deepStrictEqual([end, exit], [1000, Exit.succeed(7)])
      assert.deepStrictEqual([value.starts.length, effect.starts.length], [1, 1])
    })
  )
})

describe("toSchedule", () => {
  it.effect(
    "Effect.retry with the schedule of a verdict makes the attempts of the table, at the same instants [A516]",
    () =>
      Effect.gen(function* () {
        const verdict = Recovery.retry<Failure>({
          maxAttempts: 4,
          initialBackoff: "500 millis",
          maxBackoff: "700 millis"
        })
        const errors = [busy(1), gone(2), busy(3, "5 seconds"), busy(4)]
        const table = scripted(...fails(...errors).map(Effect.delay("100 millis")))
        const inTable = yield* overADay(table.effect.pipe(Recovery.onError({ orElse: verdict })))
        yield* TestClock.setTime(0)
        const retried = scripted(...fails(...errors).map(Effect.delay("100 millis")))
        const inRetry = yield* overADay(Effect.retry(retried.effect, Recovery.toSchedule(verdict)))
        assert.deepStrictEqual(table.starts, [0, 600, 1400, 6500])
        assert.deepStrictEqual(retried.starts, table.starts)
        assert.deepStrictEqual(inRetry, inTable)
      })
  )

  it("only a retry has a schedule [A516]", () => {
    // @ts-expect-error no schedule can say it
    assert.throws(() => Recovery.toSchedule(Recovery.rethrow), TypeError, "Recovery.toSchedule: not a retry verdict")
  })
})

describe("interruption and defects", () => {
  const handled: Array<string> = []
  const orElse = Recovery.ladder(
    Recovery.when((error: Scripted) => {
      handled.push(error._tag)
      return Recovery.retry<Scripted>({ retries: 3 })
    }),
    Recovery.respondWith("handled")
  )
  const handling = (effect: Effect.Effect<string, Scripted>) => effect.pipe(Recovery.onError({ orElse }))
  const ending = (...steps: ReadonlyArray<Step>) => {
    const script: Script = { steps, rest: { does: "succeed", takes: 0, value: "went on" } }
    handled.length = 0
    return play(script, handling)
  }

  it.effect("a defect is offered to no row, and neither is a failure beside one, which becomes one [A110]", () =>
    Effect.gen(function* () {
      const died = yield* ending({ does: "die", takes: 5 })
      assert.deepStrictEqual([died.end, died.exit], [5, "died of defect of attempt 1"])
      const both = yield* ending({ does: "fail and die", tag: "A", takes: 0 })
      assert.strictEqual(both.exit, `died of ${failed("A", 1)} and died of defect of attempt 1`)
      assert.deepStrictEqual(handled, [])
      const later = yield* ending({ does: "fail", tag: "A", takes: 0 }, { does: "fail and die", tag: "B", takes: 0 })
      assert.strictEqual(later.attempts.length, 2)
      assert.deepStrictEqual(handled, ["A"])
    })
  )

  it.effect("interruption is offered to no row, and wins over a failure beside it [A111]", () =>
    Effect.gen(function* () {
      for (const step of [
        { does: "interrupt", takes: 5 },
        { does: "fail and interrupt", tag: "A", takes: 5 }
      ] as const) {
        const first = yield* ending(step)
        assert.deepStrictEqual([first.attempts.length, first.end, first.exit], [1, 5, "interrupted"])
        assert.deepStrictEqual(handled, [])
        const later = yield* ending({ does: "fail", tag: "B", takes: 1 }, step)
        assert.deepStrictEqual([later.attempts.length, later.end, later.exit], [2, 6, "interrupted"])
        assert.deepStrictEqual(handled, ["B"])
      }
    })
  )

  it.effect("an interrupt from outside ends a wait, an attempt and a handler for good [A111]", () =>
    Effect.gen(function* () {
      const script: Script = { steps: [], rest: { does: "fail", tag: "A", takes: 1000 } }
      const policy = Recovery.ladder(
        Recovery.retry({ retries: 1, initialBackoff: "1 second" }),
        Recovery.respondWith(() => Effect.as(Effect.sleep("1 second"), "handled"))
      )
      const guard = (effect: Effect.Effect<string, Scripted>) => effect.pipe(Recovery.onError({ orElse: policy }))
      // attempt 0–1 s, wait 1–2 s, attempt 2–3 s, handler 3–4 s
      for (const [at, attempts] of [
        [500, 1],
        [1500, 1],
        [2500, 2],
        [3500, 2]
      ] as const) {
        const trace = yield* play(script, guard, at)
        assert.deepStrictEqual([trace.end, trace.exit], [at, "interrupted"])
        assert.deepStrictEqual(trace.resources, resourcesOf(attempts))
      }
      const whole = yield* play(script, guard, 4000)
      assert.deepStrictEqual([whole.end, whole.exit], [4000, "success handled"])
    })
  )

  it.effect("a cause with no failure in it has no row, and stays as it is [A507]", () =>
    Effect.gen(function* () {
      const nothing: Effect.Effect<string, Failure> = Effect.failCause(Cause.empty)
      const exit = yield* Effect.exit(nothing.pipe(Recovery.onError({ orElse: Recovery.respondWith("handled") })))
      assert.deepStrictEqual(exit, Exit.failCause(Cause.empty))
    })
  )

  it.effect("a guarded success is the unguarded one, attempt for attempt [A508]", () =>
    Effect.gen(function* () {
      const script: Script = { steps: [], rest: { does: "succeed", takes: 20, value: "fine" } }
      assert.deepStrictEqual(yield* play(script, handling), yield* play(script, bare))
    })
  )
})
