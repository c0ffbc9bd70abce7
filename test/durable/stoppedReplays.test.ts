/** How a run that was stopped from outside learns of it, and notes that it has ended. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { note } from "../../packages/durable/src/losing.ts"
import type { Replay } from "../../packages/durable/src/recording.ts"
import { put } from "../../packages/durable/src/saying.ts"
import { hasStopped, interrupt, isStopped, watched } from "../../packages/durable/src/stopping.ts"
import { processOfReplays, quiet } from "./_support/replays.ts"
import { workflow } from "./_support/rows.ts"

const said = { id: "m", message: { role: "user", content: [{ type: "text", text: "hi" }] } } as const

/** A log that is over or not, and the events with which it was ended. */
const logOf = (isOver: boolean) => {
  const ends: Array<unknown> = []
  return { ends, log: { isOver, end: (_: unknown, events: unknown) => Effect.sync(() => void ends.push(events)) } }
}

it.effect("a stop notes that the run must stop, and tells the engine; a run that is over ignores it [P1544]", () =>
  Effect.gen(function* () {
    const { interrupted, replay, rows, state, written } = yield* processOfReplays
    const one = replay()
    const stop = Effect.provideService(interrupt({ workflow }, "run"), WorkflowEngine, one.engine)
    assert.strictEqual((yield* Effect.flip(stop))._tag, "UnknownRunError")
    rows.set("begun", Exit.void)
    state.isOver = true
    yield* stop
    assert.deepStrictEqual([interrupted, written, yield* isStopped(one)], [[], [], false])
    state.isOver = false
    yield* stop
    assert.deepStrictEqual([interrupted, written, yield* isStopped(one)], [["run"], ["interrupt/noted"], true])
  })
)

it.effect("a replay that begins looks whether its run was stopped, and tells the engine [P1544]", () =>
  Effect.gen(function* () {
    const { interrupted, replay } = yield* processOfReplays
    const one = replay()
    assert.deepStrictEqual([yield* hasStopped(one), one.stopping.isSo], [false, false])
    yield* note(one, "interrupt")
    yield* put({ ...one, workflow }, said)
    for (const hasInbox of [true, false]) {
      const next = replay({ hasInbox })
      assert.deepStrictEqual([yield* hasStopped(next), next.stopping.isSo], [false, true])
      assert.deepStrictEqual(next.stopping.unread, hasInbox ? [said] : [])
    }
    yield* quiet
    assert.deepStrictEqual(interrupted, ["run", "run"])
    // its listeners had the last event before
    yield* note(one, "interrupted")
    assert.isTrue(yield* hasStopped(replay()))
    // a log knows itself
    assert.isFalse(yield* hasStopped(replay(logOf(false))))
    assert.isTrue(yield* hasStopped(replay(logOf(true))))
  })
)

it.effect("a run that its engine ends instead of suspending it has its last events in its log [P1544]", () =>
  Effect.gen(function* () {
    const { replay } = yield* processOfReplays
    for (const isEnded of [true, false]) {
      const { ends, log } = logOf(false)
      const one = replay({ log })
      yield* hasStopped(one)
      one.stopping.aside.push({ type: "turn-end" } as never)
      one.instance.interrupted = isEnded
      yield* Scope.close(one.instance.scope, Exit.void)
      assert.deepStrictEqual(ends, isEnded ? [[{ type: "turn-end" }]] : [])
    }
  })
)

it.effect.each([
  { name: "was stopped, without a log", isStopped: true, log: undefined, isNoted: true },
  { name: "was stopped, with a log", isStopped: true, log: logOf(false).log, isNoted: false },
  { name: "goes on elsewhere", isStopped: false, log: undefined, isNoted: false },
  { name: "goes on elsewhere, with a log", isStopped: false, log: logOf(false).log, isNoted: false }
])("an interruption of a run that $name means that [P1130 P1544]", ({ isNoted, isStopped, log }) =>
  Effect.gen(function* () {
    const { replay, rows } = yield* processOfReplays
    const one: Replay = replay({ log })
    if (isStopped) yield* note(one, "interrupt")
    const seen: Array<unknown> = []
    const work = Effect.onInterrupt(Effect.never, () =>
      Effect.sync(() => void seen.push(one.stopping.isSo, one.taken.isSo, rows.has("interrupted/noted")))
    )
    const running = yield* Effect.forkChild(watched(one, work))
    yield* quiet
    yield* Fiber.interrupt(running)
    // it knows while it stops, and notes its end after that
    assert.deepStrictEqual([seen, rows.has("interrupted/noted")], [[isStopped, !isStopped, false], isNoted])
    assert.strictEqual(yield* watched(replay(), Effect.succeed(1)), 1)
  })
)
