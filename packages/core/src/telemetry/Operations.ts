/**
 * The operations of runs (the runs themselves, attempts of model calls, tool calls), put together from their events: where
 * each begins, what happens within it, and how it ends. Unfinished operations are dropped with the end of their run.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as AgentEvent from "../event/AgentEvent.ts"
import type * as Message from "../data/Message.ts"
import { ToolDeniedError } from "../errors/ToolError.ts"
import { quietly } from "../data/Foreign.ts"

/** An event with which an operation begins. */
export type Beginning = AgentEvent.OfType<"run-start" | "model-start" | "tool-start">

export type Terminal = AgentEvent.OfType<"run-completed" | "run-suspended" | "run-failed" | "run-interrupted">

export interface Ending {
  /** Nanoseconds since the epoch. */
  readonly at: bigint
  /** `interrupted` also where the end of its run cut it off. */
  readonly how: "completed" | "failed" | "suspended" | "interrupted"
  /** What it failed with, where that is known. */
  readonly error?: unknown
  readonly isDefect?: boolean
  /** The event of its own end; absent where it was cut off. */
  readonly event?: AgentEvent.AgentEvent
}

/** Makes something of operations: a span, or a measurement. */
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
  /** What its last attempt, or the last repair of it, has failed with. */
  failure?: { readonly error: unknown }
  /** The time of its last event. */
  heard: bigint
}

/** All unfinished operations in a tree of runs. */
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

  /** How many runs are unfinished. */
  get size(): number {
    return this.#runs.size
  }

  /** The operation that begins with the event, if one does. A failure of the watcher does not reach the run. */
  readonly hear = (event: AgentEvent.AgentEvent, context?: Context.Context<never>): Operation | undefined =>
    quietly(() => this.#hear(event, context ?? this.#context), undefined)

  #hear(event: AgentEvent.AgentEvent, context: Context.Context<never>): Operation | undefined {
    // nothing begins, ends or is noted with these, and the time is dear to read
    if (event.type === "turn-start") return undefined
    const active = this.#runs.get(event.runId)
    if (event.type === "turn-end" && active?.calls.length === 0) return undefined
    const now = this.#clock.currentTimeNanosUnsafe()
    const begin = (event: Beginning) => this.#watcher.begin(event, context, now)
    if (event.type === "run-start") {
      const run = begin(event)
      this.#runs.set(event.runId, { run, model: undefined, calls: [] })
      return run
    }
    if (active === undefined) return undefined
    switch (event.type) {
      case "model-start":
        return (active.model = begin(event))
      case "model-end":
        return this.#endModel(active, { at: now, how: "completed", event })
      case "model-failed":
        return this.#endModel(active, { at: now, how: "failed", error: event.error, event })
      case "model-interrupted":
        return this.#endModel(active, { at: now, how: "interrupted", event })
      case "tool-start": {
        const operation = begin(event)
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

  /** An event that neither begins nor ends an operation goes to the nearest unfinished one. */
  #note(active: ActiveRun<Operation>, event: AgentEvent.AgentEvent, now: bigint): undefined {
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
   * A call that ends its run is settled at the end of the turn, and was over when it was last heard of. One that was stopped is
   * left to the end of the run, which says why.
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
    // a run that fails cuts off what is open; a defect has come out of that, if it is only one
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
  (event.type === "verdict" && event.layer === "transport")

/** The oldest unfinished call with this id: with some models ids repeat within one reply. */
const callOf = <Operation>(active: ActiveRun<Operation>, callId: string): ActiveCall<Operation> | undefined =>
  active.calls.find((call) => call.callId === callId)
