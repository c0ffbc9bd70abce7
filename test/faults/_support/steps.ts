/** Numbers the steps of a run as it takes them, and lets one of them go wrong. */
import { type Clock, Duration, Effect, Exit, type Fiber, Latch } from "effect"

/**
 * Who takes a step: a model, that of a fixer, that of a sub-agent, the one that chooses a skill, a tool, a policy, what a user hung
 * into a table, a listener, the handler of limits, the approver of calls.
 */
export type Layer =
  | "model"
  | "fixer"
  | "expert"
  | "router"
  | "tool"
  | "policy"
  | "row"
  | "listener"
  | "limits"
  | "approver"

/** What can go wrong within a step. */
export type Fault =
  | "failure"
  /** A limit of size of the transport, and one of silence. */
  | "too large"
  | "silent"
  | "defect"
  /** From outside, before anything of the step is done; when all of it is done, but its result is not passed on yet; while it begins. */
  | "interrupt"
  | "interrupt after"
  | "interrupt within"
  /** The step interrupts itself. */
  | "quit"
  /** It never ends. */
  | "never"
  /** A limit that is reached just there. */
  | "maxDuration"
  | "maxTurns"
  | "maxToolCalls"
  | "maxTokens"
  | "maxCost"
  | "maxConsecutiveSameTool"

export interface Step {
  readonly layer: Layer
  readonly kind: string
  /** Tells steps of one kind apart, together with how often it was reached. */
  readonly label: string
  readonly nth: number
  readonly at: number
  /** Which faults make sense here. */
  readonly faults: ReadonlyArray<Fault>
  /** For waits: how long. */
  readonly lasts: number
  /** Whether it came to an end by itself. */
  hasEnded: boolean
}

/** The n-th step goes wrong like this. */
export interface Injection {
  readonly index: number
  readonly step: Step
  readonly fault: Fault
  /** For limits. */
  readonly limit?: number
}

export class Steps {
  readonly reached: Array<Step> = []
  /** How many were begun and have not ended. */
  unfinished = 0
  /** Open once the run is to be interrupted from outside. */
  readonly signal = Latch.makeUnsafe()
  /** What is interrupted. */
  root: Fiber.Fiber<unknown, unknown> | undefined
  readonly #counts = new Map<string, number>()
  readonly #clock: Clock.Clock
  readonly #injection: Injection | undefined
  readonly #onFault: () => void

  constructor(clock: Clock.Clock, injection: Injection | undefined, onFault: () => void) {
    this.#clock = clock
    this.#injection = injection
    this.#onFault = onFault
  }

  /** An effect that is a step. With `fails`, it may fail like that, in these ways. */
  effect<A, E = never, R = never, E2 = never>(
    layer: Layer,
    kind: string,
    label: string,
    self: Effect.Effect<A, E, R>,
    fails?: (fault: Fault) => E2,
    ways: ReadonlyArray<Fault> = ["failure"]
  ): Effect.Effect<A, E | E2, R> {
    const always = ["defect", "interrupt", "quit", "never"] as const
    // a listener has no part in what its run does, nor in its time
    const own: ReadonlyArray<Fault> =
      layer === "listener" ? always : [...always, "interrupt after", "interrupt within", "maxDuration"]
    const faults: ReadonlyArray<Fault> = fails === undefined ? own : [...ways, ...own]
    return Effect.suspend(() => {
      const fault = this.#reach({ layer, kind, label, faults })
      this.unfinished++
      const step = this.reached.at(-1)
      return Effect.onExit(this.#faulty(layer, fault, self, fails), (exit) =>
        Effect.sync(() => {
          this.unfinished--
          if (step !== undefined) step.hasEnded = !Exit.hasInterrupts(exit)
        })
      )
    })
  }

  /** A plain function that is a step. */
  call<A>(layer: Layer, kind: string, label: string, self: () => A, fails?: () => A): A {
    const always = ["defect", "interrupt", "interrupt within"] as const
    const fault = this.#reach({ layer, kind, label, faults: fails === undefined ? always : ["failure", ...always] })
    if (fault === "defect") throw planted()
    if (fault === "interrupt") this.#signal()
    if (fault === "interrupt within") this.interrupt()
    return fault === "failure" && fails !== undefined ? fails() : self()
  }

  /** The wait before a retry, as it is about to begin. What goes wrong goes wrong in the middle of it. */
  wait(layer: Layer, label: string, delay: Duration.Duration): Effect.Effect<Duration.Duration> {
    return Effect.suspend(() => {
      const lasts = Duration.toMillis(delay)
      const fault = this.#reach({ layer, kind: "wait", label, faults: ["interrupt", "maxDuration"], lasts })
      const interrupting = Effect.andThen(
        Effect.sleep(lasts / 2),
        Effect.sync(() => this.interrupt())
      )
      return fault === "interrupt" ? Effect.as(Effect.forkDetach(interrupting), delay) : Effect.succeed(delay)
    })
  }

  #reach(step: Omit<Step, "at" | "nth" | "lasts" | "hasEnded"> & { readonly lasts?: number }): Fault | undefined {
    const name = [step.layer, step.kind, step.label].join()
    const nth = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, nth)
    this.reached.push({ lasts: 0, hasEnded: false, ...step, nth, at: this.#clock.currentTimeMillisUnsafe() })
    const { fault, index, step: at } = this.#injection ?? {}
    // by its name: listeners come to their steps at a pace of their own, so that a number would now and then be another's
    const isHere = at?.layer === step.layer && at.kind === step.kind && at.label === step.label && at.nth === nth
    if (!isHere || index === undefined || index < 0) return undefined
    this.#onFault()
    return fault
  }

  #faulty<A, E, R, E2>(
    layer: Layer,
    fault: Fault | undefined,
    self: Effect.Effect<A, E, R>,
    fails: ((fault: Fault) => E2) | undefined
  ): Effect.Effect<A, E | E2, R> {
    switch (fault) {
      case "failure":
      case "too large":
      case "silent":
        return fails === undefined ? self : Effect.suspend(() => Effect.fail(fails(fault)))
      case "defect":
        return Effect.suspend(() => Effect.die(planted()))
      case "interrupt":
        // a listener is not what is interrupted
        return Effect.suspend(() => (this.#signal(), layer === "listener" ? self : Effect.never))
      case "interrupt after":
        return Effect.flatMap(Effect.exit(self), () => (this.#signal(), Effect.never))
      case "interrupt within":
        return Effect.suspend(() => (this.interrupt(), self))
      case "quit":
        return Effect.interrupt
      case "never":
        return Effect.never
      case "maxDuration":
        return Effect.andThen(Effect.sleep(10), self)
      default:
        return self
    }
  }

  /** Interrupts the run at once, in the middle of its work: the step at work is interrupted a little later. */
  interrupt(): void {
    this.#onFault()
    this.root?.interruptUnsafe()
  }

  /** Has the run interrupted as soon as it waits for something. */
  #signal(): void {
    this.signal.openUnsafe()
  }
}

const planted = () => new Error("planted")
