/** What a reader of the events of a durable run reads of its rows, which the tests write by hand. */
import { assert, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Fiber, Option, Stream } from "effect"
import type * as DurableDeferred from "effect/workflow/DurableDeferred"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { calm } from "../_support/dialogue.ts"
import { options } from "./_support/logs.ts"

/** A row with events of the run `r`, whose first has this number. */
const row = (first: number, events: number) => ({
  writer: "w",
  epoch: 1,
  first,
  events: Array.from({ length: events }, (_, index) => ({
    type: "tool-progress",
    runId: "r",
    agent: "writer",
    turn: 1,
    at: 0,
    callId: "1",
    tool: "look",
    data: first + index
  }))
})

/** Reads the log of a run that has these rows; `reads` has the names of the rows that were read. */
const reading = (rows: ReadonlyArray<ReturnType<typeof row>>, isOver: boolean, after?: string) => {
  const durable = Durable.workflow(Agent.make("writer", {}), { name: "writer", ...options })
  const stored = new Map<string, unknown>(rows.map((one, nth) => [`events/${nth}`, one]))
  const reads: Array<string> = []
  // nothing else of the engine is used
  const engine = {
    deferredResult: ({ name }: DurableDeferred.Any) =>
      Effect.sync(() => {
        reads.push(name)
        const isThere = name === "begun" || stored.has(name)
        return isThere ? Option.some(Exit.succeed(stored.get(name))) : Option.none()
      }),
    poll: () => Effect.succeed(isOver ? Option.some({ _tag: "Complete" }) : Option.none())
  } as unknown as WorkflowEngine["Service"]
  const events = Stream.provideService(
    Durable.events(durable, "one", after === undefined ? {} : { after }),
    WorkflowEngine,
    engine
  )
  return { events, reads }
}

it.effect("a reader whose listener is slow does not read the whole log into memory [P1543]", () =>
  Effect.gen(function* () {
    const rows = Array.from({ length: 40 }, (_, nth) => row(1 + 20 * nth, 20))
    const { events, reads } = reading(rows, true)
    const stalled = yield* Effect.forkChild(Stream.runForEach(events, () => Effect.never))
    for (let k = 0; k < 8; k++) yield* calm
    assert.isAbove(reads.length, 2)
    // it has room for 256 events
    assert.isBelow(reads.length, 30)
    yield* Fiber.interrupt(stalled)
    assert.lengthOf(yield* Stream.runCollect(reading(rows, true).events), 800)
  })
)

it.effect("a cursor of another run fails at the first event, also while the run is at work [P1543]", () =>
  Effect.gen(function* () {
    const other = Cursor.of({ runId: "other", epoch: "1", number: 1 })
    const { events, reads } = reading([row(1, 2), row(3, 2)], false, other)
    const error = yield* Effect.flip(Stream.runCollect(events))
    const oldest = Cursor.of({ runId: "r", epoch: "1", number: 0 })
    assert.deepInclude(error, { _tag: "CursorExpiredError", reason: "other-run", oldest })
    assert.notInclude(reads, "events/1")
  })
)

it.effect("a cursor of a run that has ended without an event is unknown, and no cursor is older [P1543]", () =>
  Effect.gen(function* () {
    const gone = Cursor.of({ runId: "r", epoch: "1", number: 3 })
    const error = yield* Effect.flip(Stream.runCollect(reading([], true, gone).events))
    assert.deepInclude(error, { _tag: "CursorExpiredError", reason: "unknown", oldest: "" })
  })
)
