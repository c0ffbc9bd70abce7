/** Computes what a run waits for from its events. */
import type * as AgentEvent from "./AgentEvent.ts"
import type { Snapshot } from "./Checkpoint.ts"
import { waitingFor, waitingOf } from "./stored.ts"
import type { Waiting } from "./waiting.ts"
import { whole } from "./withoutBytes.ts"

/** Leaves tokens out: a reader of this list may not be allowed to settle the calls. */
const withoutToken = (waiting: Waiting): Waiting => {
  if (waiting.type !== "deferred") return waiting
  const { agent, callId, expiresAt, handle, runId, tool, type } = waiting
  return { type, runId, agent, callId, tool, handle, expiresAt }
}

/** Computes, after each event, everything that a run and its descendants wait for. */
export class Waits {
  all: ReadonlyArray<Waiting> = []
  readonly #parents = new Map<string, string>()
  /** The runs that are suspended. */
  readonly #suspended = new Set<string>()
  /** The deferred calls whose run has gone on. */
  readonly #late = new Set<Waiting>()

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
        const { callId, expiresAt, handle, replaces, tool } = event
        const one = { type: "deferred" as const, runId, agent, callId, tool, handle, expiresAt }
        if (replaces === undefined) this.#dropCall(event)
        else {
          this.#dropLate(event, replaces)
          this.#late.add(one)
        }
        this.all = [...this.all, one]
        return
      }
      case "message-queued": {
        const { id, message } = event
        this.all = [...this.all, { type: "message", runId, agent, id, message: whole(message) }]
        return
      }
      case "message-read":
      case "message-returned":
        // Mutant `true` for `one.type === "message"` survives: nothing else has an id
        return this.#drop((one) => one.type === "message" && one.id === event.id)
      case "tool-end":
        if (event.use.settlement.kind !== "deferred") return this.#dropCall(event)
        for (const one of this.all) if (isOf(one, event)) this.#late.add(one)
        return
      case "tool-result": {
        return this.#dropLate(event, event.handle)
      }
      case "approval-decided":
      case "approval-expired":
      case "tool-denied":
      case "tool-skipped":
      case "tool-failed":
        return this.#dropCall(event)
      case "turn-end":
        // calls that a limit withdraws get no event
        return this.#drop(
          (one) =>
            (one.runId === runId && one.type !== "message" && !this.#late.has(one)) ||
            // Mutant `"Stryker was here!"` survives: no run has this id
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

  // Mutant `["Stryker was here"]` survives: what has no call id is no call
  #note({ late = [], runId, unfinished }: Snapshot): void {
    this.#suspended.add(runId)
    for (const { callId, handle } of late) {
      for (const one of this.all) {
        if (one.type === "deferred" && isOf(one, { callId, runId }) && one.handle === handle) this.#late.add(one)
      }
    }
    // Mutant `["Stryker was here"]` survives: what has no type is no agent
    for (const call of unfinished?.calls ?? []) {
      if (call.type !== "agent") continue
      this.#parents.set(call.snapshot.runId, runId)
      this.#note(call.snapshot)
    }
  }

  #dropCall(event: { readonly runId: string; readonly callId: string }): void {
    this.#drop((one) => isOf(one, event) && !this.#late.has(one))
  }

  /** Finds the call with this handle among several attempts, or several calls with one id. */
  #dropLate(event: { readonly runId: string; readonly callId: string }, handle: unknown): void {
    const text = JSON.stringify(handle)
    this.#drop(
      // Mutant `true` for `one.type === "deferred"` survives: no other wait is late
      (one) => one.type === "deferred" && this.#late.has(one) && isOf(one, event) && JSON.stringify(one.handle) === text
    )
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
