/**
 * Computes the operations of runs from their events. An operation is a run, an attempt of a model call, or a tool call, with its begin, its
 * inner events and its end. The end of a run also ends its unfinished operations.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as AgentEvent from "../event/AgentEvent.ts"
import type * as Message from "../data/Message.ts"
import { ToolDeniedError } from "../errors/ToolError.ts"
import { quietly } from "../data/Foreign.ts"

/** The events that begin an operation. */
export type Beginning = AgentEvent.OfType<"run-start" | "model-start" | "tool-start">

export type Terminal = AgentEvent.OfType<"run-completed" | "run-suspended" | "run-failed" | "run-interrupted">

export interface Ending {
  /** Nanoseconds since the epoch. */
  readonly at: bigint
  /** How the operation ended. If the end of its run cut it off, it is `interrupted`. */
  readonly how: "completed" | "failed" | "suspended" | "interrupted"
  /** The error of the operation, if it is known. */
  readonly error?: unknown
  readonly isDefect?: boolean
  /** The event that ended the operation; absent if the end of its run interrupted it. */
  readonly event?: AgentEvent.AgentEvent
}

/** Makes a span or a measurement of each operation. */
export interface Watcher<Operation> {
  readonly begin: (event: Beginning, context: Context.Context<never>, now: bigint) => Operation
  readonly within: (operation: Operation, event: AgentEvent.AgentEvent, now: bigint) => void
  readonly end: (operation: Operation, ending: Ending) => void
}

interface ActiveRun<Operation> {
  readonly run: Operation
  model: Operation | undefined
  calls: ReadonlyArray<ActiveCall<Operation>>
}

interface ActiveCall<Operation> {
  readonly callId: string
  readonly operation: Operation
  /** The error of the last attempt of the call, or of its last repair. */
  failure?: { readonly error: unknown }
  /** The instant of the last event of the call. */
  heard: bigint
}

/** The unfinished operations of a tree of runs. */
export class Operations<Operation> {
  readonly #runs = new Map<string, ActiveRun<Operation>>()
  readonly #watcher: Watcher<Operation>
  readonly #context: Context.Context<never>
  readonly #clock: Clock.Clock

  constructor(watcher: Watcher<Operation>, context: Context.Context<never>) {
    this.#watcher = watcher
    this.#context = context
    this.#clock = Context.get(context, Clock.Clock)
  }

  /** The number of unfinished runs. */
  get size(): number {
    return this.#runs.size
  }

  /** Reads an event, and returns the operation that begins with it, if one does. A failure of the watcher does not reach the run. */
  readonly hear = (event: AgentEvent.AgentEvent, context?: Context.Context<never>): Operation | undefined =>
    quietly(() => this.#hear(event, context ?? this.#context), undefined)

  #hear(event: AgentEvent.AgentEvent, context: Context.Context<never>): Operation | undefined {
    // these events begin and end no operation, and reading the clock is slow
    if (event.type === "turn-start") return undefined
    const active = this.#runs.get(event.runId)
    if (event.type === "turn-end" && active?.calls.length === 0) return undefined
    const now = this.#clock.currentTimeNanosUnsafe()
    if (event.type === "run-start") {
      const run = this.#watcher.begin(event, context, now)
      this.#runs.set(event.runId, { run, model: undefined, calls: [] })
      return run
    }
    if (active === undefined) return undefined
    switch (event.type) {
      case "model-start":
        return (active.model = this.#watcher.begin(event, context, now))
      case "model-end":
        return this.#endModel(active, { at: now, how: "completed", event })
      case "model-failed":
        return this.#endModel(active, { at: now, how: "failed", error: event.error, event })
      case "model-interrupted":
        return this.#endModel(active, { at: now, how: "interrupted", event })
      case "tool-start": {
        const operation = this.#watcher.begin(event, context, now)
        active.calls = [...active.calls, { callId: event.callId, operation, heard: now }]
        return operation
      }
      case "tool-end":
        return this.#settle(active, event.callId, event.use.settlement, event, now)
      case "tool-denied": {
        const call = callOf(active, event.callId)
        if (call === undefined) return this.#note(active, event, now)
        call.failure = {
          error: ToolDeniedError.make({ tool: event.tool, callId: event.callId, reason: event.settlement.text })
        }
        return this.#settle(active, event.callId, event.settlement, event, now)
      }
      case "turn-end":
        for (const part of event.message.content) {
          if (part.type !== "settled-call") continue
          this.#settle(active, part.call.id, part.settlement, event, now)
        }
        return undefined
      case "run-completed":
      case "run-suspended":
      case "run-failed":
      case "run-interrupted":
        return this.#endRun(active, event, now)
      default:
        return this.#note(active, event, now)
    }
  }

  /** Passes an event that neither begins nor ends an operation to the nearest unfinished one. */
  #note(active: ActiveRun<Operation>, event: AgentEvent.AgentEvent, now: bigint): undefined {
    // Mutant `true` survives: an event without a call has the id of none
    const call = "callId" in event && event.callId !== undefined ? callOf(active, event.callId) : undefined
    if (call !== undefined) {
      call.heard = now
      if (event.type === "tool-failed" || event.type === "fix-failed") call.failure = { error: event.error }
    }
    const nearest = call?.operation ?? (isOfModel(event) ? active.model : undefined) ?? active.run
    this.#watcher.within(nearest, event, now)
  }

  #endModel(active: ActiveRun<Operation>, ending: Ending): undefined {
    if (active.model !== undefined) this.#watcher.end(active.model, ending)
    active.model = undefined
  }

  /**
   * Ends the operation of a settled call. A call that ends its run is settled at `turn-end` only; it was over at its last event. An
   * interrupted call stays open until the end of the run, whose event has the reason.
   */
  #settle(
    active: ActiveRun<Operation>,
    callId: string,
    { kind }: Message.Settlement,
    event: AgentEvent.AgentEvent,
    now: bigint
  ): undefined {
    const call = callOf(active, callId)
    if (call === undefined) return undefined
    const isLate = event.type === "turn-end"
    if (isLate && (kind === "interrupted" || (kind === "unknown" && call.failure === undefined))) return undefined
    active.calls = active.calls.filter((one) => one !== call)
    const at = isLate && kind !== "result" ? call.heard : now
    const failed = { at, how: "failed", event, ...call.failure } as const
    this.#watcher.end(call.operation, kind === "result" ? { at, how: "completed", event } : failed)
  }

  #endRun(active: ActiveRun<Operation>, event: Terminal, at: bigint): undefined {
    this.#runs.delete(event.runId)
    const ending = endingOf(event, at)
    // a failing run interrupts its open operations; if only one operation is open, a defect must have come from it
    const isCulprit = ending.isDefect === true && active.calls.length + (active.model === undefined ? 0 : 1) === 1
    const how = ending.how === "failed" && !isCulprit ? "interrupted" : ending.how
    const cut: Ending = how === "failed" ? { at, how, error: ending.error, isDefect: true } : { at, how }
    for (const { operation } of active.calls.toReversed()) this.#watcher.end(operation, cut)
    this.#endModel(active, cut)
    this.#watcher.end(active.run, ending)
  }
}

const endingOf = (event: Terminal, at: bigint): Ending => {
  switch (event.type) {
    case "run-completed":
      return { at, how: "completed", event }
    case "run-suspended":
      return { at, how: "suspended", event }
    case "run-interrupted":
      return { at, how: "interrupted", event }
    case "run-failed":
      return { at, how: "failed", error: event.error, isDefect: event.isDefect, event }
  }
}

const isOfModel = (event: AgentEvent.AgentEvent): boolean =>
  event.type === "text-delta" ||
  event.type === "reasoning-delta" ||
  event.type === "request-adapted" ||
  // Mutant `true` for `event.type === "verdict"` survives: no other event has a layer
  (event.type === "verdict" && event.layer === "transport")

/** The oldest unfinished call with this id. Some models repeat an id within one reply. */
const callOf = <Operation>(active: ActiveRun<Operation>, callId: string): ActiveCall<Operation> | undefined =>
  active.calls.find((call) => call.callId === callId)
