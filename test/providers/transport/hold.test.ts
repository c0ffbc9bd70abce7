/** Sends that go on after the fiber that waited for them was interrupted. */
import { assert, it } from "@effect/vitest"
import * as RunContext from "@kintsugi/core/RunContext"
import { Clock, Duration, Effect, Exit, Fiber, Scope } from "effect"
import { holding, sending } from "../../../packages/providers/src/transport/hold.ts"
import { calm, pass } from "../../_support/network.ts"

/** A run that ends after 55 seconds; a hold reads nothing else of a run. */
const run = { meter: { deadline: { ownDeadline: 55_000 } } } as unknown as RunContext.RunContext

it.effect("each send has its own grace once the scope closes, also if another one has more left [P1402]", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const hold = yield* Scope.provide(holding(Duration.minutes(1)), scope)
    const stopped: Array<readonly [string, number]> = []
    const send = (name: string) =>
      hold(() =>
        sending(
          Effect.onInterrupt(Effect.never, () =>
            Effect.map(Clock.currentTimeMillis, (at) => void stopped.push([name, at]))
          )
        )
      )
    const early = yield* Effect.forkChild(send("early"))
    const late = yield* Effect.forkChild(Effect.provideService(send("late"), RunContext.Current, run))
    yield* calm
    const leaving = [yield* Effect.forkChild(Fiber.interrupt(early))]
    yield* pass(50_000)
    leaving.push(yield* Effect.forkChild(Fiber.interrupt(late)))
    yield* pass(10_000)
    for (const one of leaving) yield* Fiber.join(one)
    assert.deepStrictEqual(stopped, [])
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    yield* pass(1000)
    assert.deepStrictEqual(stopped, [["early", 60_000]])
    yield* pass(49_000)
    yield* Fiber.join(closing)
    assert.deepStrictEqual(stopped, [
      ["early", 60_000],
      ["late", 110_000]
    ])
  })
)
