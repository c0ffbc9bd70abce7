/** Whether a durable run was stopped from outside, and which messages it returns then. */
import type { AgentEvent, Message } from "@kintsugi/core"
import type * as RunContext from "@kintsugi/core/RunContext"

/** A message that the run has not read. `to` is the run that should read it, by default the outermost one. */
interface Unread extends Message.SaidMessage {
  readonly to?: string
}

export class Stop {
  /** Whether the run must stop, because `Durable.interrupt` was called for it. */
  isSo = false
  /** The messages that are returned when the run stops. */
  unread: ReadonlyArray<Unread> = []
  /** The events that were emitted while the engine suspended the run. If the engine then ends the run instead, they are its last events. */
  readonly aside: Array<AgentEvent.AgentEvent> = []

  /** The unread messages that a run returns at its end. */
  unreadBy({ parent, runId }: RunContext.RunContext): ReadonlyArray<Message.SaidMessage> {
    return this.unread.flatMap(({ id, message, to }) =>
      to === runId || (to === undefined && parent === undefined) ? [{ id, message }] : []
    )
  }
}
