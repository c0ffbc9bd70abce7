/** What a run waits for, by its events. */
import type * as AgentEvent from "./AgentEvent.ts"
import type { Snapshot } from "./Checkpoint.ts"
import { waitingFor, waitingOf } from "./stored.ts"
import type { Waiting } from "./waiting.ts"

/** Who reads what a run waits for need not be who may settle its calls. */
const withoutToken = (waiting: Waiting): Waiting => {
  if (waiting.type !== "deferred") return waiting
  const { agent, callId, expiresAt, handle, runId, tool, type } = waiting
  return { type, runId, agent, callId, tool, handle, expiresAt }
}

/** What a run waits for after each event, all of its own or of its descendants. */
export class Waits {
  all: ReadonlyArray<Waiting> = []
  readonly #parents = new Map<string, string>()
  /** The runs of which nothing is at work. */
  readonly #suspended = new Set<string>()

  add(event: AgentEvent.AgentEvent): void {
    const { agent, parent, runId } = event
    if (parent !== undefined) this.#parents.set(runId, parent.runId)
    switch (event.type) {
      case "run-start":
        this.#suspended.delete(runId)
        return
      case "approval-requested": {
        const { request } = event
        // a request that has expired is made anew
        this.#drop((one) => "request" in one && one.request.key === request.key)
        this.all = [...this.all, waitingFor(request)]
        return
      }
      case "tool-waiting": {
        const { callId, expiresAt, handle, tool } = event
        this.#drop((one) => isOf(one, event))
        this.all = [...this.all, { type: "deferred", runId, agent, callId, tool, handle, expiresAt }]
        return
      }
      case "message-queued": {
        const { id, message } = event
        this.all = [...this.all, { type: "message", runId, agent, id, message }]
        return
      }
      case "message-read":
      case "message-returned":
        return this.#drop((one) => one.type === "message" && one.id === event.id)
      case "approval-decided":
      case "approval-expired":
      case "tool-denied":
      case "tool-skipped":
      case "tool-failed":
      case "tool-end":
        return this.#drop((one) => isOf(one, event))
      case "turn-end":
        // the calls that a limit withdraws have no event of their own
        return this.#drop(
          (one) =>
            (one.runId === runId && one.type !== "message") ||
            (one.runId !== runId && this.#suspended.has(one.runId ?? "") && this.#isWithin(one.runId, runId))
        )
      case "run-completed":
      case "run-failed":
      case "run-interrupted":
        return this.#drop((one) => this.#isWithin(one.runId, runId))
      case "run-suspended":
        this.#drop((one) => this.#isWithin(one.runId, runId))
        return this.#suspend(event.snapshot)
    }
  }

  /** The run of the first event goes on here. */
  resumed(from: Snapshot): void {
    this.#suspend(from)
    this.#suspended.delete(from.runId)
  }

  #suspend(snapshot: Snapshot): void {
    this.all = [...this.all, ...waitingOf(snapshot).map(withoutToken)]
    this.#note(snapshot)
  }

  #note({ runId, unfinished }: Snapshot): void {
    this.#suspended.add(runId)
    for (const call of unfinished?.calls ?? []) {
      if (call.type !== "agent") continue
      this.#parents.set(call.snapshot.runId, runId)
      this.#note(call.snapshot)
    }
  }

  #drop(isOver: (waiting: Waiting) => boolean): void {
    if (this.all.length > 0) this.all = this.all.filter((one) => !isOver(one))
  }

  #isWithin(runId: string | undefined, ancestor: string): boolean {
    return runId !== undefined && (runId === ancestor || this.#isWithin(this.#parents.get(runId), ancestor))
  }
}

const isOf = (waiting: Waiting, { callId, runId }: { readonly runId: string; readonly callId: string }): boolean =>
  waiting.type !== "message" && waiting.runId === runId && waiting.callId === callId
