/** The refusal of a run that cannot be played again. */
import type { Recorded } from "../recording/Recorded.ts"

/** Thrown while events are read, and caught at the door of the folder. */
export class Refused {
  readonly event: Recorded | undefined
  readonly why: string

  constructor(event: Recorded | undefined, why: string) {
    this.event = event
    this.why = why
  }
}

/** The events that no script can repeat, each with the reason. */
export const reasons: ReadonlyMap<string, string> = new Map([
  ["skill-chosen", "a router has chosen a skill"],
  ["turn-prepared", "Agent.prepareTurn has chosen something for the turn"],
  ["compacted", "the conversation was shortened"],
  ["not-compacted", "the conversation was to be shortened"],
  ["attempt-continued", "a broken reply was continued"],
  ["tool-waiting", "a deferred call waits for its settlement"],
  ["tool-result", "a deferred call was settled"],
  ["tool-changed", "the server of a tool has changed it"],
  ["approval-expired", "no decision came in time"],
  ["output-coerced", "the answer was mended to fit the output schema"],
  ["output-rejected", "the answer did not fit the output schema"],
  ["events-lost", "earlier events are gone"],
  ["guardrail", "a guardrail has decided"],
  ["message-queued", "a person has said something to the run at work"],
  ["run-suspended", "the run was suspended"]
])
