/** What is said to the runs of a tree while they are at work: each message waits for the next safe point of its run. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Message from "../data/Message.ts"
import * as RunContext from "./RunContext.ts"

/** A run to which messages are accepted. */
interface Hearing {
  readonly run: RunContext.RunContext
  readonly capacity: number
}

/** Identifies a running run. Its id may not be unique. */
type Identity = RunContext.RunContext["done"]

/** A message that waits. */
interface Waiting extends RunContext.Addressed {
  readonly to: Identity
  /** Whether it is in a snapshot. */
  isStored: boolean
}

/** A piece of work that a message may interrupt. */
interface AtWork {
  readonly run: RunContext.RunContext
  readonly what: RunContext.Endable
  readonly stop: () => void
}

/** Takes the messages that came to a run from another process, each once. */
type Pull = (run: RunContext.RunContext) => Effect.Effect<ReadonlyArray<Message.SaidMessage>>

/** The messages from another process that the run has not read at its end. */
type Unread = (run: RunContext.RunContext) => ReadonlyArray<Message.SaidMessage>

export class Inbox implements RunContext.Inbox {
  readonly #pull: Pull | undefined
  readonly #unread: Unread | undefined
  readonly #hearing = new Map<Identity, Hearing>()
  readonly #atWork = new Set<AtWork>()
  readonly #withdrawn = new Set<string>()
  #waiting: Array<Waiting> = []

  constructor(pull?: Pull, unread?: Unread) {
    this.#pull = pull
    this.#unread = unread
  }

  get withdrawn(): ReadonlyArray<string> {
    return [...this.#withdrawn]
  }

  withdraw(digest: string): void {
    this.#withdrawn.add(digest)
  }

  begin(run: RunContext.RunContext, capacity: number): void {
    this.#hearing.delete(run.done)
    this.#hearing.set(run.done, { run, capacity })
  }

  add(fiber: Fiber.Fiber<unknown, unknown>, to: string, message: RunContext.Addressed): number | undefined {
    const hearing = Array.from(this.#hearing.values()).findLast(({ run }) => run.runId === to)
    if (hearing === undefined) return undefined
    const { capacity, run } = hearing
    if (this.#of(run).length >= capacity) return capacity
    this.#waiting.push({ ...message, to: run.done, isStored: false })
    if (message.isEmitted !== true) emit("message-queued", fiber, run, message.said)
    for (const { run, stop, what } of this.#atWork) if (this.ends(run, what)) stop()
    return Infinity
  }

  waits(run: RunContext.RunContext): Effect.Effect<boolean> {
    return Effect.map(this.#pulled(run), () => this.#of(run).length > 0)
  }

  ends(run: RunContext.RunContext, what: RunContext.Endable): boolean {
    return this.#waiting.some(({ interrupt, said, to }) => {
      if (what === "request") return said.supersede === true && isWithin(run.done, to)
      return to === run.done && (what === "wait" || interrupt === "tools" || (interrupt === true && what === "model"))
    })
  }

  read(run: RunContext.RunContext, take: (message: Message.User) => void): Effect.Effect<void> {
    return Effect.flatMap(this.#pulled(run), () =>
      Effect.withFiber((fiber) => {
        for (const { said } of this.#remove(run)) {
          take(said.message)
          emit("message-read", fiber, run, said, 1)
        }
        return Effect.void
      })
    )
  }

  keep(run: RunContext.RunContext): ReadonlyArray<Message.SaidMessage> {
    return this.#of(run).map((waiting) => {
      waiting.isStored = true
      return waiting.said
    })
  }

  end(run: RunContext.RunContext): ReadonlyArray<Message.SaidMessage> {
    this.#hearing.delete(run.done)
    const here = this.#remove(run).flatMap(({ isStored, said }) => (isStored ? [] : said))
    return [...here, ...(this.#unread?.(run) ?? [])]
  }

  during<A, E, R>(
    run: RunContext.RunContext,
    what: RunContext.Endable,
    self: Effect.Effect<A, E, R>
  ): Effect.Effect<A | undefined, E, R> {
    return Effect.contextWith((context: Context.Context<R>) => {
      if (this.ends(run, what)) return Effect.undefined
      return Effect.callback<A | undefined, E>((resume) => {
        const fiber = Effect.runForkWith(context)(self)
        let isStopped = false
        const stop = () => {
          isStopped = true
          fiber.interruptUnsafe()
        }
        const atWork: AtWork = { run, what, stop }
        this.#atWork.add(atWork)
        fiber.addObserver((exit) => {
          this.#atWork.delete(atWork)
          resume(isStopped && Exit.hasInterrupts(exit) ? Effect.undefined : exit)
        })
        // a message may have come from within, while it was started
        if (this.ends(run, what)) stop()
        return Fiber.interrupt(fiber)
      })
    })
  }

  #of({ done }: RunContext.RunContext): ReadonlyArray<Waiting> {
    return this.#waiting.filter(({ to }) => to === done)
  }

  #remove(run: RunContext.RunContext): ReadonlyArray<Waiting> {
    const removed = this.#of(run)
    this.#waiting = this.#waiting.filter(({ to }) => to !== run.done)
    return removed
  }

  #pulled(run: RunContext.RunContext): Effect.Effect<void> {
    if (this.#pull === undefined) return Effect.void
    return Effect.flatMap(this.#pull(run), (messages) =>
      Effect.withFiber((fiber) => {
        // the store in the other process has its own limit
        for (const said of messages) {
          this.#waiting.push({ said, to: run.done, isStored: false })
          emit("message-queued", fiber, run, said)
        }
        return Effect.void
      })
    )
  }
}

/** Whether a run is this one, or one of its descendants. */
const isWithin = (done: Identity, ancestor: Identity): boolean =>
  done === ancestor || (done.parent !== undefined && isWithin(done.parent, ancestor))

/** Emits what became of a message, of the present turn or one after it. */
const emit = (
  type: "message-queued" | "message-read",
  fiber: Fiber.Fiber<unknown, unknown>,
  run: RunContext.RunContext,
  { id, message }: Message.SaidMessage,
  later = 0
): void => {
  const happening = { type, id, message, turn: run.turn() + later }
  RunContext.emitNow(run, fiber, () => happening)
}
