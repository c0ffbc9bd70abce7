/** The queue of events for one listener, which gets them one by one. */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as ErrorCause from "../data/ErrorCause.ts"
import { labelsOf } from "../errors/RecoveryAdvice.ts"
import * as AgentEvent from "./AgentEvent.ts"
import { Backlog } from "./backlog.ts"
import type { RunContext } from "./RunContext.ts"

/** How many events may wait for a listener. */
const capacity = 16_384

/** The handler of a listener. */
export type Handle = (event: AgentEvent.AgentEvent) => Effect.Effect<void>

/** An event, with the context of the fiber that handles it. */
interface Item {
  readonly event: AgentEvent.AgentEvent
  readonly context: Context.Context<never>
}

/** The event that a listener handles now, and the fiber of its handler. */
interface Work {
  readonly event: AgentEvent.AgentEvent
  fiber?: Fiber.Fiber<unknown, unknown>
}

export class Deliveries {
  readonly #handle: Handle
  readonly #lost: Lost
  readonly #waiting = new Backlog<Item>()
  #work: Work | undefined
  #isClosed = false

  constructor(handle: Handle, lost: Lost) {
    this.#handle = handle
    this.#lost = lost
  }

  /** The fiber in which the listener is at work on an event, if it is. */
  get fiber(): Fiber.Fiber<unknown, unknown> | undefined {
    return this.#work?.fiber
  }

  /** Keeps an event for the listener. Beyond the capacity it is lost, unless it is the end of a run. */
  add(event: AgentEvent.AgentEvent, context: Context.Context<never>): void {
    if (this.#isClosed) return
    if (this.#waiting.size >= capacity && !AgentEvent.isTerminal(event)) this.#lost.add(event)
    else this.#waiting.add({ event, context })
  }

  /** Takes no event from here on. */
  close(): void {
    this.#isClosed = true
  }

  /**
   * Hands over the next event, if there is one and the listener is not at work, and says whether it did. The handler starts at once,
   * in a fiber. If it has to wait, the events that follow are handed over by themselves when it is through.
   */
  next(): boolean {
    if (this.#work !== undefined || this.#waiting.size === 0) return false
    const { context, event } = this.#waiting.take()
    const work: Work = { event }
    this.#work = work
    const fiber = Effect.runForkWith(context)(this.#handled(work))
    if (fiber.pollUnsafe() === undefined) fiber.addObserver(() => this.#through(work) && this.#goOn())
    else this.#through(work)
    return true
  }

  /** Notes that a handler is through, unless it was interrupted. */
  #through(work: Work): boolean {
    if (this.#work !== work) return false
    this.#work = undefined
    return true
  }

  /**
   * Interrupts the listener. Queued terminal events are still delivered: each handler starts, and is interrupted if it waits. The other
   * queued events are lost.
   */
  stop(): void {
    const left = this.#waiting.clear()
    this.#interrupt()
    for (const item of left) {
      if (AgentEvent.isTerminal(item.event)) {
        this.#waiting.add(item)
        this.next()
        this.#interrupt()
      } else this.#lost.add(item.event)
    }
  }

  #interrupt(): void {
    const work = this.#work
    if (work === undefined) return
    this.#work = undefined
    this.#lost.add(work.event)
    work.fiber?.interruptUnsafe()
  }

  #goOn(): void {
    while (this.next());
  }

  /** A listener cannot change a run: its failure is logged, and it gets the next event all the same. */
  #handled(work: Work): Effect.Effect<void> {
    const { event } = work
    const handling = Effect.withFiber((fiber) => {
      // known before the handler starts: it may end the run, which interrupts its listeners
      work.fiber = fiber
      return this.#handle(event)
    })
    return Effect.catchCause(handling, (cause) => logged(event, cause))
  }
}

const logged = (event: AgentEvent.AgentEvent, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.annotateLogs(
    Effect.logWarning(`A listener failed on '${event.type}' of agent '${event.agent}'`, ErrorCause.logged(cause)),
    annotationsOf(event, Cause.squash(cause))
  )

/** The ids in a log line about a failure. */
const annotationsOf = (event: AgentEvent.AgentEvent, error: unknown): Record<string, unknown> => ({
  ...labelsOf(error),
  runId: event.runId,
  agent: event.agent,
  ...("callId" in event ? { callId: event.callId } : {})
})

/** The events that listeners have lost, counted by type, for one warning about all of them. */
export class Lost {
  readonly #byType = new Map<AgentEvent.AgentEvent["type"], number>()
  readonly #tree: Pick<RunContext["tree"], "lost">

  constructor(tree: Pick<RunContext["tree"], "lost">) {
    this.#tree = tree
  }

  add({ type }: AgentEvent.AgentEvent): void {
    this.#tree.lost++
    this.#byType.set(type, (this.#byType.get(type) ?? 0) + 1)
  }

  /** Warns of lost events, if there are any. */
  report(labels: { readonly agent: string; readonly runId?: string }): Effect.Effect<void> | undefined {
    if (this.#byType.size === 0) return undefined
    let lost = 0
    const parts: Array<string> = []
    for (const [type, count] of this.#byType) {
      lost += count
      parts.push(`${count} × ${type}`)
    }
    return Effect.annotateLogs(
      Effect.logWarning(`Listeners of agent '${labels.agent}' were too slow, and lost ${parts.join(", ")}`),
      { ...labels, lost }
    )
  }
}
