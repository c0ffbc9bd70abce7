/** `Recovery.onError(effect, table)` does what the piped form does. */
import { assert, it } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { Clock, Effect, Exit } from "effect"
import { busy, gone, overADay } from "../../_support/dialogue.ts"

const table = {
  Busy: Recovery.retry({ retries: 2, initialBackoff: "1 second" }),
  Gone: Recovery.respondWith("answer")
}

it.effect("a table as an argument leaves the trace that it leaves in a pipe [A509]", () =>
  Effect.gen(function* () {
    for (const script of [[busy("1")], [busy("1"), gone("2")], [busy("1"), busy("2"), busy("3")], [gone("1")]]) {
      const traced = () => {
        const starts: Array<number> = []
        const effect = Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const failure = script[starts.push(now) - 1]
          return failure === undefined ? Effect.succeed("fine") : Effect.fail(failure)
        })
        return { effect, starts }
      }
      const first = traced()
      const piped = traced()
      const from = yield* Clock.currentTimeMillis
      const ofFirst = yield* overADay(Recovery.onError(first.effect, table))
      const between = yield* Clock.currentTimeMillis
      const ofPiped = yield* overADay(piped.effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual(ofFirst, ofPiped)
      assert.deepStrictEqual(
        first.starts.map((at) => at - from),
        piped.starts.map((at) => at - between)
      )
    }
  })
)

it.effect("a table without rows leaves the very failure [A509]", () =>
  Effect.gen(function* () {
    const failure = busy()
    const exit = yield* Effect.exit(Recovery.onError(Effect.fail(failure), {}))
    assert.deepStrictEqual(exit, Exit.fail(failure))
  })
)
