/** The lines of a run, for readers that come at any time. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { RunLog } from "../../../packages/view/src/serve/log.ts"

const read = (log: RunLog, after: number) =>
  Effect.map(Stream.runCollect(log.after(after)), (lines) => [...lines].map(({ line, number }) => `${number} ${line}`))

describe("the log of a run", () => {
  it.effect("is read from any line on, until the run is over [P1284]", () =>
    Effect.gen(function* () {
      const appended: Array<string> = []
      const log = new RunLog(["a", "b"], (line) => appended.push(line))
      const reading = yield* Effect.forkChild(
        Effect.all([read(log, 0), read(log, 2), read(log, -5)], { concurrency: 3 }),
        {
          startImmediately: true
        }
      )
      log.push("c")
      yield* Effect.yieldNow
      log.push("d")
      yield* Effect.yieldNow
      assert.isUndefined(reading.pollUnsafe())
      log.end()
      const all = ["1 a", "2 b", "3 c", "4 d"]
      assert.deepStrictEqual(yield* Fiber.join(reading), [all, all.slice(2), all])
      assert.deepStrictEqual(appended, ["c", "d"])
      assert.deepStrictEqual(log.lines, ["a", "b", "c", "d"])
      assert.deepStrictEqual(yield* read(log, 3), ["4 d"])
      assert.deepStrictEqual(yield* read(log, 9), [])
    })
  )

  it.effect("has every line once, however many there are [P1284]", () =>
    Effect.gen(function* () {
      const lines = Array.from({ length: 600 }, (_, index) => `line ${index + 1}`)
      const log = new RunLog(lines, () => undefined)
      log.end()
      assert.deepStrictEqual(
        yield* read(log, 1),
        lines.slice(1).map((line, index) => `${index + 2} ${line}`)
      )
    })
  )
})
