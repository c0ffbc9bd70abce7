/** Gaps in the rows of a run, and whether a run goes on elsewhere. */
import { assert, it } from "@effect/vitest"
import * as DoorError from "@kintsugi/core/DoorError"
import { Cause, Effect, Exit, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import { leaveToNewer } from "../../packages/durable/src/leaving.ts"
import { isLeft, orLost, stillThere } from "../../packages/durable/src/losing.ts"
import { stepId } from "../../packages/durable/src/rows.ts"
import { exitOf, processOfReplays, quiet } from "./_support/replays.ts"

it("a run that is suspended, taken or in a process that ends goes on elsewhere, unless it was stopped [P1130]", () => {
  const left = (state: {
    readonly interrupted?: true
    readonly suspended?: true
    readonly stopped?: true
    readonly taken?: true
    readonly closed?: true
  }) =>
    // what is absent is not read
    isLeft({
      instance: { interrupted: state.interrupted === true, suspended: state.suspended === true },
      stopping: { isSo: state.stopped === true },
      taken: { isSo: state.taken === true },
      scope: { state: { _tag: state.closed === true ? "Closed" : "Empty" } }
    } as unknown as Parameters<typeof isLeft>[0])
  assert.isFalse(left({}))
  for (const state of [{ suspended: true }, { taken: true }, { closed: true }] as const) {
    assert.isTrue(left(state))
    assert.isFalse(left({ ...state, stopped: true }))
    assert.isFalse(left({ ...state, interrupted: true }))
  }
})

const lostIn = (exit: Exit.Exit<unknown, unknown>) => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  assert.instanceOf(error, DoorError.RunLostError)
  return error as DoorError.RunLostError
}

it.effect("a step whose reply is gone ends its run after ten seconds, and nothing is recorded after that [P1398]", () =>
  Effect.gen(function* () {
    const { replay } = yield* processOfReplays
    const looked: Array<string> = []
    let isLost = false
    const rows = { isLost: (tag: string, id: string) => Effect.sync(() => (looked.push(`${tag} ${id}`), isLost)) }
    const one = replay({ rows, waiting: new Set(["step"]) })
    const running = yield* Effect.forkChild(Effect.exit(orLost(one, Effect.never)))
    yield* quiet
    yield* TestClock.adjust(9999)
    yield* quiet
    assert.deepStrictEqual(looked, [])
    yield* TestClock.adjust(1)
    yield* quiet
    assert.deepStrictEqual([looked, running.pollUnsafe(), one.taken.isSo], [["activity step/1"], undefined, false])
    assert.strictEqual(stepId("step"), "step/1")
    isLost = true
    // the pauses double, up to a minute
    yield* TestClock.adjust(19_999)
    yield* quiet
    assert.lengthOf(looked, 1)
    yield* TestClock.adjust(1)
    assert.include(lostIn(yield* Fiber.join(running)).message, "the result of step 'step'")
    assert.isTrue(one.taken.isSo)
    // without storage there is nothing to look at
    assert.strictEqual(yield* orLost(replay(), Effect.succeed(1)), 1)
    assert.strictEqual(yield* orLost(one, Effect.succeed(2)), 2)
  })
)

it.effect("a wait that was over is not waited for once more: without its end the run is lost [P1398]", () =>
  Effect.gen(function* () {
    const { replay, rows } = yield* processOfReplays
    const deferred = DurableDeferred.make("end")
    const asked: Array<string> = []
    const storage = (wasOver: boolean) => ({
      has: (tag: string, id: string) => Effect.sync(() => (asked.push(`${tag} ${id}`), wasOver))
    })
    yield* stillThere(replay(), "wait", deferred)
    yield* stillThere(replay({ rows: storage(false) }), "wait", deferred)
    assert.deepStrictEqual(asked, ["activity wait/over/1"])
    const exit = yield* Effect.exit(stillThere(replay({ rows: storage(true) }), "wait", deferred))
    assert.isTrue(Exit.hasDies(exit))
    assert.include(lostIn(exit).message, "what ended 'wait'")
    rows.set("end", Exit.void)
    yield* stillThere(replay({ rows: storage(true) }), "wait", deferred)
  })
)

it.effect("a run of a newer agent is suspended with a line that says what it waits for [P1712]", () =>
  Effect.gen(function* () {
    const { replay } = yield* processOfReplays
    const lines: Array<unknown> = []
    const logger = Logger.make<unknown, void>(({ message }) => void lines.push(message))
    const one = replay({ migrations: [{}] })
    const exit = yield* exitOf(Effect.provide(leaveToNewer(one, 3), Logger.layer([logger])))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    assert.isTrue(one.instance.suspended)
    assert.deepStrictEqual(lines.flat(), [
      "Run 'run' of workflow 'story' was recorded by a newer release or a newer agent (3 migrations, this workflow has 1). It waits: serve its workflow by that release and agent, and wake the run by Durable.resume"
    ])
  })
)
