import { assert } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import fc from "fast-check"
import { draw, drawing, guarded, guardedBy, reference, type Table, table } from "./_support/policies.ts"
import {
  failing,
  type Failure,
  law,
  resourcesOf,
  type Script,
  type Step,
  script,
  stepOf,
  tags
} from "../_support/laws.ts"

/** An instant from the start to a second after the end of a run. */
const instant = fc.double({ min: 0, max: 1, noNaN: true })
const at = (share: number, table: Table, script: Script, draw: number): number => {
  const { attempts, end } = reference(table, script, draw)
  const last = attempts.at(-1)!
  return Math.floor(share * ((end ?? last.start + stepOf(script, last.attempt).takes) + 1_000))
}

law(
  "an interrupt at any instant ends the run for good, and every finalizer has run once [L401]",
  fc.record({ table, script, share: instant, draw }),
  ({ draw, script, share, table }, play) => {
    const when = at(share, table, script, draw)
    const whole = reference(table, script, draw)
    return Effect.map(play(script, drawing(draw, guarded(table)), when), (trace) => {
      if (whole.end !== undefined && whole.end <= when) return assert.deepStrictEqual(trace, whole)
      const started = whole.attempts.filter(({ start }) => start <= when)
      assert.deepStrictEqual(
        trace.attempts.map(({ start }) => start),
        started.map(({ start }) => start)
      )
      assert.strictEqual(trace.exit, "interrupted")
      assert.strictEqual(trace.end, when)
      assert.deepStrictEqual(trace.resources, resourcesOf(started.length))
    })
  }
)

law(
  "an interruption in an attempt closes it, without a row and without a handler [L402]",
  fc.record({
    before: fc.array(failing(tags, Arbitrary.Constant(undefined)), { maxLength: 6 }),
    takes: fc.integer({ min: 1, max: 20_000 }),
    share: instant,
    // what else the attempt is about to do; the last two interrupt themselves, at their end
    does: fc.constantFrom("fail" as const, "fail and interrupt" as const, "interrupt" as const)
  }),
  ({ before, does, share, takes }, play) => {
    const rest: Step = does === "interrupt" ? { does, takes } : { does, tag: "A", takes }
    const script: Script = { steps: before, rest }
    const asked: Array<number> = []
    const policy = Recovery.when(({ attempt }: Failure) => {
      asked.push(attempt)
      return Recovery.ladder(Recovery.retry({ retries: before.length }), Recovery.respondWith("handled"))
    })
    const start = before.reduce((sum, { takes }) => sum + takes, 0)
    const when = does === "fail" ? start + Math.floor(share * (takes - 1)) : undefined
    return Effect.map(play(script, guardedBy({ orElse: policy }), when), (trace) => {
      assert.deepStrictEqual(
        asked,
        before.map((_, index) => index + 1)
      )
      assert.strictEqual(trace.exit, "interrupted")
      assert.deepStrictEqual(trace.resources, resourcesOf(before.length + 1))
    })
  }
)

law(
  "the scope of an attempt is closed before the next one opens, and no scope stays open [L403]",
  fc.record({ table, script, share: fc.option(instant, { nil: undefined }), draw }),
  ({ draw, script, share, table }, play) => {
    const log: Array<string> = []
    const scoped = (attempt: Effect.Effect<string, Failure>) =>
      Effect.scoped(
        Effect.andThen(
          Effect.acquireRelease(
            Effect.sync(() => log.push("open")),
            () => Effect.sync(() => log.push("close"))
          ),
          attempt
        )
      )
    const guard = drawing(draw, guarded(table))
    const when = share === undefined ? undefined : at(share, table, script, draw)
    return Effect.map(
      play(script, (scripted) => guard(scoped(scripted)), when),
      ({ attempts }) =>
        assert.deepStrictEqual(
          log,
          attempts.flatMap(() => ["open", "close"])
        )
    )
  }
)
