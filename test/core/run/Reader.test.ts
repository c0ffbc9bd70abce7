/** Until how many events wait for its reader a streamed run reads on. */
import { assert, it } from "@effect/vitest"
import type { AgentEvent } from "@kintsugi/core"
import { Deferred, Effect, Exit, Fiber, Scope, Stream } from "effect"
import * as Room from "../../../packages/core/src/event/Room.ts"
import { reading } from "../../../packages/core/src/run/Reader.ts"

const most = 4096
const event = { type: "turn-start", runId: "r", agent: "a", turn: 1, at: 0 } as AgentEvent.AgentEvent
const pause = Effect.repeat(Effect.yieldNow, { times: 50 })

it.effect("it waits from the 4,096th waiting event on, until the reader takes them [P1404]", () =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const ends = yield* Deferred.make<void>()
    const writes = (count: number) =>
      Effect.andThen(
        Effect.sync(() => Array.from({ length: count }, () => events(event))),
        Effect.flatMap(Room.Current, (wait) => wait)
      )
    let events: (one: AgentEvent.AgentEvent) => void = () => assert.fail("nothing reads")
    const stream = reading((sink) =>
      Effect.gen(function* () {
        events = sink
        yield* writes(most - 1)
        log.push("one fewer")
        yield* writes(1)
        log.push("as many")
        yield* Deferred.await(ends)
      })
    )
    const scope = yield* Scope.make()
    const pull = yield* Stream.toPull(stream).pipe(Scope.provide(scope))
    const first = yield* Effect.forkChild(Effect.exit(pull), { startImmediately: true })
    yield* pause
    assert.strictEqual(log[0], "one fewer")
    yield* Fiber.join(first)
    yield* Effect.forkChild(Effect.exit(pull))
    yield* pause
    assert.deepStrictEqual(log, ["one fewer", "as many"])
    yield* Scope.close(scope, Exit.void)
  })
)

it.effect("it waits within the readers around it, and for no reader after its end [P1404]", () =>
  Effect.gen(function* () {
    const log: Array<string> = []
    let after: Effect.Effect<unknown> = Effect.die("no run")
    const stream = reading((sink) =>
      Effect.gen(function* () {
        after = yield* Room.Current
        yield* after
        // more than may wait: no reader has taken them yet
        for (let count = 0; count <= most; count++) sink(event)
      })
    )
    const outer = Effect.sync(() => log.push("outer"))
    const events = yield* Stream.runCollect(stream).pipe(Effect.provideService(Room.Current, outer))
    assert.lengthOf(events, most + 1)
    assert.deepStrictEqual(log, ["outer"])
    yield* after
    assert.deepStrictEqual(log, ["outer", "outer"])
  })
)
