/** Until how many events wait for its reader a streamed run reads on. */
import { assert, it } from "@effect/vitest"
import type { AgentEvent } from "@kintsugi/core"
import { Deferred, Effect, Exit, Fiber, Scope, Stream } from "effect"
import * as Room from "../../../packages/core/src/event/Room.ts"
import { reading } from "../../../packages/core/src/run/Reader.ts"

const most = 4096
const event = { type: "turn-start", runId: "r", agent: "a", turn: 1, at: 0 } as AgentEvent.AgentEvent
const pause = Effect.repeat(Effect.yieldNow, { times: 50 })

/** Whether a run with this wait reads on at once. */
const readsOn = (wait: Effect.Effect<unknown>) => Effect.runFork(wait).pollUnsafe() !== undefined

type Emits = (one: AgentEvent.AgentEvent) => void

const emitted = (emit: Emits, count: number) =>
  Effect.sync(() => {
    for (let done = 0; done < count; done++) emit(event)
  })

it.effect("it waits from the 4,096th waiting event on, until the reader takes them [P1404]", () =>
  Effect.gen(function* () {
    const log: Array<boolean> = []
    const stream = reading((emit) =>
      Effect.gen(function* () {
        const wait = yield* Room.Current
        yield* emitted(emit, most - 1)
        log.push(readsOn(wait))
        yield* emitted(emit, 1)
        log.push(readsOn(wait))
        yield* wait
        log.push(readsOn(wait))
      })
    )
    assert.lengthOf(yield* Stream.runCollect(stream), most)
    assert.deepStrictEqual(log, [true, false, true])
  })
)

it.effect("it waits for the readers around it too, and for none after its end [P1404]", () =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const [begun, ends] = [yield* Deferred.make<Effect.Effect<unknown>>(), yield* Deferred.make<void>()]
    let late: Emits = () => assert.fail("there is no run")
    const stream = reading((emit) =>
      Effect.gen(function* () {
        late = emit
        const wait = yield* Room.Current
        yield* emitted(emit, 1)
        yield* Deferred.succeed(begun, wait)
        yield* Deferred.await(ends)
        yield* emitted(emit, most)
        assert.isFalse(readsOn(wait))
      })
    )
    const outer = Effect.sync(() => log.push("outer"))
    const scope = yield* Scope.make()
    const pull = yield* Stream.toPull(stream).pipe(Scope.provide(scope), Effect.provideService(Room.Current, outer))
    const first = yield* Effect.forkChild(Effect.provideService(pull, Room.Current, outer))
    const wait = yield* Deferred.await(begun)
    yield* Fiber.join(first)
    assert.isTrue(readsOn(wait))
    assert.deepStrictEqual(log, ["outer"])
    yield* Deferred.succeed(ends, undefined)
    yield* pause
    // the run is over, and its reader has not taken the rest
    assert.isTrue(readsOn(wait))
    late(event)
    assert.isTrue(readsOn(wait))
    yield* Scope.close(scope, Exit.void)
  })
)
