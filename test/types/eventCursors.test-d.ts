/** How a reader of events goes on, and how that fails. */
import type { Agent, AgentEvent } from "@kintsugi/core"
import type * as DoorError from "@kintsugi/core/DoorError"
import { type Effect, Stream } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"

declare const run: Agent.Run<string, never>
declare const header: string | undefined

describe("run.events", () => {
  it("is a stream that does not fail, and so it is from the state; from a cursor it may fail [P1541 P1542]", () => {
    type Events = AgentEvent.AgentEvent
    sameType<Effect.Effect<Array<Events>>>()(Stream.runCollect(run.events))
    sameType<Stream.Stream<Events>>()(run.events({ after: header, onGap: "state" }))
    sameType<Stream.Stream<Events, DoorError.CursorExpiredError>>()(run.events({ after: header }))
    sameType<Stream.Stream<Events, DoorError.CursorExpiredError>>()(run.events({}))
    // @ts-expect-error a cursor is a text
    run.events({ after: 7 })
    // @ts-expect-error a gap fails, or is answered with the state
    run.events({ onGap: "skip" })
  })
})
