/** What a replay knows of a stop from outside. */
import type { AgentEvent, Message } from "@kintsugi/core"
import type * as RunContext from "@kintsugi/core/RunContext"

/** A message that no safe point has read, and the run that was to read it. */
interface Unread extends Message.SaidMessage {
  readonly to?: string
}

export class Stop {
  /** Whether the run is to stop. */
  isSo = false
  /** The messages that are returned then. */
  unread: ReadonlyArray<Unread> = []
  /** What was emitted while the engine put the run aside: the end of the run, if the engine has ended it instead. */
  readonly aside: Array<AgentEvent.AgentEvent> = []

  /** The messages that are returned at the end of a run. */
  unreadBy({ parent, runId }: RunContext.RunContext): ReadonlyArray<Message.SaidMessage> {
    return this.unread.flatMap(({ id, message, to }) =>
      to === runId || (to === undefined && parent === undefined) ? [{ id, message }] : []
    )
  }
}
