/** By which names the choices of a handler share their counts. */
import { assert, it } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { Effect, Schedule } from "effect"
import { Names } from "../../../packages/core/src/recovery/names.ts"
import type { Node } from "../../../packages/core/src/recovery/Node.ts"
import { nodeOf } from "../../../packages/core/src/recovery/making.ts"

const of = (names: Names, verdict: object): string => names.of(nodeOf(verdict as never) as Node)

const fixer = (input: string) => Effect.succeed(input)

it("retries have the names of their options, fixers that of their function, others those of their bounds", () => {
  const names = new Names()
  const named: ReadonlyArray<readonly [object, string]> = [
    [Recovery.retry({ retries: 2, initialBackoff: "1 second" }), 'retry {"retries":2,"initialBackoff":"1 second"}'],
    [Recovery.retry({ retries: 2, initialBackoff: 5n }), 'retry {"retries":2,"initialBackoff":"5n"}'],
    [Recovery.fix(fixer, { retries: 2 }), "fix fixer arguments 2"],
    [Recovery.fix(fixer, { retries: 1, as: "result" }), "fix fixer result 1"],
    [Recovery.ask({ times: 3 }), "ask 3"],
    [Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()), 'ladder [retry {"retries":1}, tell]'],
    [Recovery.tell(), "tell"],
    [Recovery.rethrow, "rethrow"]
  ]
  for (const [verdict, name] of named) assert.strictEqual(of(names, verdict), name)
})

it("schedules have numbers, each its own, and go on with new ones after several before a restart", () => {
  const [first, second] = [Recovery.retry(Schedule.recurs(1)), Recovery.retry(Schedule.recurs(1))]
  const names = new Names()
  assert.deepStrictEqual(
    [first, second, first].map((one) => of(names, one)),
    ["retry #0", "retry #1", "retry #0"]
  )
  const after = (...chosen: ReadonlyArray<string>) => {
    const anew = new Names()
    anew.resume(chosen)
    return [first, second].map((one) => of(anew, one))
  }
  assert.deepStrictEqual(after(), ["retry #0", "retry #1"])
  // one schedule is taken to be the same one
  assert.deepStrictEqual(after("retry #0", "tell", "ladder [retry #0, tell]"), ["retry #0", "retry #1"])
  assert.deepStrictEqual(after("retry #0", "ladder [retry #1, tell]"), ["retry #2", "retry #3"])
  assert.deepStrictEqual(after("ladder [retry #0, retry #1, retry #2]"), ["retry #3", "retry #4"])
})
