/** The waits of a durable run before another attempt. They survive a restart. */
import * as DurableClock from "effect/workflow/DurableClock"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Line } from "./lines.ts"
import { stillThere } from "./losing.ts"
import { acted, activity, goingOn, remainder, type Replay, underWay } from "./recording.ts"

/** In milliseconds. A shorter wait stays in this process; during a longer one the run needs no process. */
const short = Duration.toMillis("1 minute")

/** Waits until an instant that is set when the wait begins, so a restart does not prolong the wait. */
export const wait = (replay: Replay, line: Line, name: string, delay: Duration.Duration): Effect.Effect<void> =>
  underWay(
    line,
    Effect.suspend(() => {
      const target = line.time + Duration.toMillis(delay)
      const waiting = Effect.fnUntraced(function* (part: number): Effect.fn.Return<void> {
        const until = Math.min(target, line.until)
        yield* sleep(replay, line, part === 1 ? name : `${name}~${part}`, until)
        if (until === target) return line.advance(until)
        line.reach(until)
        yield* acted
        return yield* waiting(part + 1)
      })
      return waiting(1)
    })
  )

const sleep = (replay: Replay, line: Line, name: string, until: number): Effect.Effect<void> => {
  const from = line.time
  if (until - from <= short) {
    const rest = Effect.suspend(() => {
      line.live()
      return replay.clock.sleep(remainder(replay.clock, from, until))
    })
    return replay.lines.busy(Effect.andThen(Effect.yieldNow, activity(replay, name, rest)))
  }
  const { clock, engine, instance, lines } = replay
  const durable = Effect.gen(function* () {
    const rest = Duration.max(remainder(clock, from, until), Duration.millis(1))
    const alarm = DurableClock.make({ name, duration: rest })
    yield* stillThere(replay, name, alarm.deferred)
    // each replay sets this alarm again, and the engine ignores all but the first
    yield* engine.scheduleClock(instance.workflow, { executionId: replay.executionId, clock: alarm })
    yield* lines.calm
    yield* DurableDeferred.await(alarm.deferred)
  }).pipe(
    Effect.provideService(Clock.Clock, clock),
    Effect.provideService(WorkflowEngine, engine),
    Effect.provideService(WorkflowInstance, instance)
  )
  return Effect.andThen(durable, goingOn(replay, line, name))
}
