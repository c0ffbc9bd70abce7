import { assert, describe, it } from "@effect/vitest"
import { LlmError, Message, Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Exit, Schedule, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Broken, type Busy, busy, fails, fine, gone, odd, overADay, scripted } from "./_support/scriptedEffect.ts"

const many = Recovery.retry({ retries: 1_000_000 })
const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
const denied = LlmError.AuthenticationError.make({ model: "m", detail: "no" })
const said = (text: string) => ScriptedModel.reply({ content: [Message.text(text)] })

/** A model that fails each time, behind a table. */
const modelCall = (failureOf: (attempt: number) => LlmError.LlmError) => {
  let asked = 0
  const service: Model.Service = {
    name: "m",
    provider: "p",
    generate: () => Effect.suspend(() => Effect.fail(failureOf(++asked))),
    stream: () => Stream.empty
  }
  return { asked: () => asked, service }
}

const request: Model.Request = { messages: [], tools: [], toolChoice: "auto" }

describe("retry", () => {
  it.effect("retries: n runs it at most 1 + n times, and the first success ends it [A201]", () =>
    Effect.gen(function* () {
      for (const failures of [0, 1, 3]) {
        const { effect, starts } = scripted(...fails(busy(1), busy(2), busy(3)).slice(0, failures), fine)
        assert.strictEqual(yield* effect.pipe(Recovery.onError({ Busy: Recovery.retry({ retries: 3 }) })), "fine")
        assert.strictEqual(starts.length, failures + 1)
      }
      const errors = [busy(1), busy(2), busy(3), busy(4)]
      const { effect, starts } = scripted(...fails(...errors))
      const left = yield* Effect.flip(effect.pipe(Recovery.onError({ Busy: Recovery.retry({ retries: 3 }) })))
      assert.strictEqual(left, errors[3])
      assert.strictEqual(starts.length, 4)
    })
  )

  it.effect("maxAttempts: m runs it at most m times in all [A202]", () =>
    Effect.gen(function* () {
      for (const maxAttempts of [1, 2, 4]) {
        const errors = [busy(1), busy(2), busy(3), busy(4)].slice(0, maxAttempts)
        const { effect, starts } = scripted(...fails(...errors))
        const left = yield* Effect.flip(effect.pipe(Recovery.onError({ Busy: Recovery.retry({ maxAttempts }) })))
        assert.strictEqual(left, errors.at(-1))
        assert.strictEqual(starts.length, maxAttempts)
      }
    })
  )

  it("both counts, neither, or a senseless option are refused when the verdict is made [A203 A204]", () => {
    // @ts-expect-error both of them
    assert.throws(() => Recovery.retry({ retries: 1, maxAttempts: 2 }), RangeError)
    // @ts-expect-error neither of them
    assert.throws(() => Recovery.retry({ initialBackoff: "1 second" }), RangeError)
    assert.throws(() => Recovery.retry({ retries: -1 }), /retries must be a whole number of at least 0, got -1/)
    assert.throws(() => Recovery.retry({ maxAttempts: 0 }), /maxAttempts must be a whole number of at least 1, got 0/)
    assert.throws(() => Recovery.retry({ retries: 1, initialBackoff: -1 }), /initialBackoff must be a finite duration/)
  })

  it.effect("without a delay the next attempt starts at the same instant; with one, waits double [A205]", () =>
    Effect.gen(function* () {
      const errors = [busy(1), busy(2), busy(3), busy(4)]
      const hasty = scripted(...fails(...errors))
      const hastily = yield* overADay(hasty.effect.pipe(Recovery.onError({ Busy: Recovery.retry({ retries: 3 }) })))
      assert.deepStrictEqual(hasty.starts, [0, 0, 0, 0])
      assert.strictEqual(hastily.end, 0)
      const calm = scripted(...fails(...errors).map(Effect.delay("10 millis")))
      const table = { Busy: Recovery.retry({ retries: 3, initialBackoff: "500 millis" }) }
      yield* TestClock.setTime(0)
      yield* overADay(calm.effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual(calm.starts, [0, 510, 1520, 3530])
    })
  )

  it.effect("no sleep follows the last attempt [A206]", () =>
    Effect.gen(function* () {
      const { effect } = scripted(...fails(busy(1), busy(2)).map(Effect.delay("10 millis")))
      const table = { Busy: Recovery.retry({ maxAttempts: 2, initialBackoff: "1 hour" }) }
      const { end } = yield* overADay(effect.pipe(Recovery.onError(table)))
      assert.strictEqual(end, 3_600_020)
    })
  )

  it.effect("every failure is looked up anew: another tag has its own row [A209]", () =>
    Effect.gen(function* () {
      const { effect, starts } = scripted(...fails(busy(1), gone(2)))
      const table = { Busy: Recovery.retry({ retries: 5 }), Gone: Recovery.respondWith("answer") }
      assert.strictEqual(yield* effect.pipe(Recovery.onError(table)), "answer")
      assert.strictEqual(starts.length, 2)
      const unlisted = scripted(...fails(busy(1), odd(2)))
      const left = yield* Effect.flip(unlisted.effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual([left._tag, unlisted.starts.length], ["Odd", 2])
    })
  )

  it.effect("each row counts for the whole call: two rows of three make at most seven attempts [A210]", () =>
    Effect.gen(function* () {
      const table = { Busy: Recovery.retry({ retries: 3 }), Gone: Recovery.retry({ retries: 3 }) }
      const interleaved = scripted(
        ...fails(busy(1), gone(2), busy(3), gone(4), busy(5), gone(6), busy(7)),
        Effect.die("an eighth attempt")
      )
      const left = yield* Effect.flip(interleaved.effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual([left._tag, left.n], ["Busy", 7])
      const twice = scripted(...fails(busy(1), busy(2), gone(3), busy(4), busy(5)), Effect.die("a sixth attempt"))
      const other = yield* Effect.flip(twice.effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual([other._tag, other.n], ["Busy", 5])
    })
  )

  it.effect("a row goes on with its next wait after failures of other rows [A210]", () =>
    Effect.gen(function* () {
      const table = {
        Busy: Recovery.retry({ retries: 3, initialBackoff: "1 second" }),
        Gone: Recovery.retry({ retries: 3, initialBackoff: "1 minute" })
      }
      const { effect, starts } = scripted(...fails(busy(1), gone(2), busy(3), gone(4), busy(5)), fine)
      yield* overADay(effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual(starts, [0, 1000, 61_000, 63_000, 183_000, 187_000])
    })
  )

  it.effect("counts belong to rows and calls: one value may stand in two rows and serve many calls [A210]", () =>
    Effect.gen(function* () {
      const twice = Recovery.retry({ retries: 1, initialBackoff: "1 second" })
      const table = { Busy: twice, Gone: twice }
      const runs = Array.from({ length: 3 }, () => scripted(...fails(busy(1), gone(2)), fine))
      const all = Effect.all(
        runs.map(({ effect }) => effect.pipe(Recovery.onError(table))),
        { concurrency: "unbounded" }
      )
      const { end, exit } = yield* overADay(all)
      assert.deepStrictEqual(exit, Exit.succeed(["fine", "fine", "fine"]))
      assert.strictEqual(end, 2000)
      for (const { starts } of runs) assert.deepStrictEqual(starts, [0, 1000, 2000])
    })
  )

  it.effect("rows count apart, even if their tags look alike [A210]", () =>
    Effect.gen(function* () {
      let runs = 0
      const effect = Effect.suspend((): Effect.Effect<string, { readonly _tag: "A" } | { readonly _tag: "A/0" }> =>
        Effect.fail(++runs % 2 === 1 ? { _tag: "A" } : { _tag: "A/0" })
      )
      const table = { A: Recovery.ladder(Recovery.retry({ retries: 2 })), "A/0": Recovery.retry({ retries: 2 }) }
      yield* Effect.exit(effect.pipe(Recovery.onError(table)))
      assert.strictEqual(runs, 5)
    })
  )

  it.effect(
    "around a model call rows with absurd counts end at 10,000 attempts, with the last error [A210 P1325]",
    () =>
      Effect.gen(function* () {
        const { asked, service } = modelCall((n) => (n % 2 === 0 ? denied : overloaded))
        const guarded = Model.onError(service, { ModelOverloadedError: many, AuthenticationError: many })
        const left = yield* Effect.flip(guarded.generate(request))
        assert.deepStrictEqual([left._tag, asked()], ["AuthenticationError", 10_000])
      })
  )

  it.effect("at that cap a ladder goes on to its next rung, and a row that answers still answers [A210 P1101]", () =>
    Effect.gen(function* () {
      const ladder = modelCall(() => overloaded)
      const row = Recovery.ladder(many, Recovery.respondWith(said("next rung")))
      const reply = yield* Model.onError(ladder.service, { ModelOverloadedError: row }).generate(request)
      assert.deepStrictEqual([reply, ladder.asked()], [said("next rung"), 10_000])
      const other = modelCall((n) => (n < 10_000 ? overloaded : denied))
      const own = Recovery.respondWith(said("row of its own"))
      const guarded = Model.onError(other.service, { ModelOverloadedError: many, AuthenticationError: own })
      const answer = yield* guarded.generate(request)
      assert.deepStrictEqual([answer, other.asked()], [said("row of its own"), 10_000])
    })
  )

  it.effect("around a plain effect nothing caps the attempts, as with Effect.retry [P1325]", () =>
    Effect.gen(function* () {
      let runs = 0
      const counting = Effect.suspend(() => (++runs <= 10_050 ? Effect.fail(busy(runs)) : Effect.succeed("at last")))
      assert.strictEqual(yield* counting.pipe(Recovery.onError({ Busy: Schedule.forever })), "at last")
      assert.strictEqual(runs, 10_051)
    })
  )

  it.effect("around a plain effect each attempt knows the step of the schedule, as with Effect.retry [P1325]", () =>
    Effect.gen(function* () {
      const schedule = Schedule.max([Schedule.exponential("1 second"), Schedule.recurs(3)])
      const watched = () => {
        const seen: Array<Schedule.Metadata> = []
        const effect = Effect.flatMap(Schedule.CurrentMetadata, (metadata) => {
          seen.push(metadata)
          return Effect.delay(Effect.fail(busy(seen.length)), "5 seconds")
        })
        return { effect, seen }
      }
      const [ours, theirs] = [watched(), watched()]
      const start = yield* Clock.currentTimeMillis
      yield* overADay(ours.effect.pipe(Recovery.onError({ Busy: schedule })))
      const between = yield* Clock.currentTimeMillis
      yield* overADay(theirs.effect.pipe(Effect.retry(schedule)))
      const since = (all: ReadonlyArray<Schedule.Metadata>, from: number) =>
        all.map((one) => (one.attempt === 0 ? one : { ...one, start: one.start - from, now: one.now - from }))
      assert.deepStrictEqual(since(ours.seen, start), since(theirs.seen, between))
      assert.strictEqual(ours.seen.length, 4)
    })
  )

  it.effect("a schedule is fed each error of its row, typed; when it is done, the last error leaves [A213]", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const schedule = Schedule.spaced("1 second").pipe(
        Schedule.setInputType<Busy>(),
        Schedule.while(({ input }) => {
          seen.push(input.n)
          return Effect.succeed(input.n < 4)
        })
      )
      const { effect, starts } = scripted(...fails(busy(1), gone(2), busy(3), busy(4)))
      const table = { Busy: Recovery.retry(schedule), Gone: Recovery.retry({ retries: 1 }) }
      const { exit } = yield* overADay(effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual(exit, Exit.fail(busy(4)))
      assert.deepStrictEqual(seen, [1, 3, 4])
      assert.deepStrictEqual(starts, [0, 1000, 1000, 2000])
    })
  )

  it.effect(
    "a schedule that fails ends the retries with its own error; a schedule that dies kills them [A213 A512]",
    () =>
      Effect.gen(function* () {
        const failing = Schedule.forever.pipe(Schedule.tap(() => Effect.fail(new Broken())))
        const first = scripted(...fails(busy(1)))
        const left = yield* Effect.flip(
          first.effect.pipe(Recovery.onError({ Busy: Recovery.retry(failing), orElse: Recovery.respondWith("never") }))
        )
        assert.instanceOf(left, Broken)
        const dying = Schedule.forever.pipe(Schedule.tap(() => Effect.die("schedule")))
        const second = scripted(...fails(busy(1)))
        const exit = yield* Effect.exit(second.effect.pipe(Recovery.onError({ Busy: Recovery.retry(dying) })))
        assert.deepStrictEqual(exit, Exit.die("schedule"))
      })
  )

  it.effect(
    "a hint is a floor under a retry, also under a schedule; one above maxHint makes the rung give up [P804]",
    () =>
      Effect.gen(function* () {
        const { effect, starts } = scripted(...fails(busy(1, "7 seconds"), busy(2, 0), busy(3, "61 seconds")))
        const { exit } = yield* overADay(effect.pipe(Recovery.onError({ Busy: Recovery.retry(Schedule.recurs(9)) })))
        assert.deepStrictEqual(starts, [0, 7000, 7001])
        assert.deepStrictEqual(exit, Exit.fail(busy(3, "61 seconds")))
        const next = scripted(...fails(busy(1, "2 minutes")))
        const table = {
          Busy: Recovery.ladder(Recovery.retry({ retries: 9, maxHint: "1 minute" }), Recovery.respondWith("elsewhere"))
        }
        const { end, exit: answered } = yield* overADay(next.effect.pipe(Recovery.onError(table)))
        assert.deepStrictEqual([end, answered], [0, Exit.succeed("elsewhere")])
      })
  )
})
