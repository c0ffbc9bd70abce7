/**
 * Fault plans: at the n-th step of a program, a failure, a defect, a delay or an interruption. Steps are what runs do: model
 * calls, parts of streamed replies, runs of tools, fixers, policies, hooks, decisions, waits before a retry.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as Interception from "../model/Interception.ts"
import * as LlmError from "../errors/LlmError.ts"
import type * as Model from "../model/Model.ts"
import * as RunContext from "../event/RunContext.ts"

/** What goes wrong at a step. */
export type Fault =
  /** Fails in the place of the step; `make` gives the failure, that of the step's kind by default. */
  | { readonly kind: "error"; readonly make?: (step: Step) => unknown }
  /** Dies in the place of the step. */
  | { readonly kind: "defect" }
  /** The step begins that much later. */
  | { readonly kind: "latency"; readonly by: Duration.Duration }
  /** The whole program is interrupted; see `When`. */
  | { readonly kind: "interruption"; readonly when: When }

/**
 * `before`: in the place of the step; of a wait, in the middle. `within`: as soon as the step waits for something. `after`: when
 * all of it is done, and its result is lost.
 */
export type When = "before" | "within" | "after"

/** What goes wrong, and at which step: the first is 1. */
export interface FaultPlan {
  readonly at: number
  readonly fault: Fault
}

/** Steps are counted from 1: a plan for any other number would never do anything. */
const numbered = (at: number): number => {
  if (Number.isSafeInteger(at) && at >= 1) return at
  throw new RangeError(`FaultPlan: the number of a step must be a whole number of at least 1, got ${String(at)}`)
}

/** Fails at the n-th step. Without `make`, a model is overloaded, and what is not a model fails with an `InjectedError`. */
export const error = (at: number, make?: (step: Step) => unknown): FaultPlan => ({
  at: numbered(at),
  fault: { kind: "error", ...(make === undefined ? {} : { make }) }
})

/** Dies at the n-th step. */
export const defect = (at: number): FaultPlan => ({ at: numbered(at), fault: { kind: "defect" } })

/** Delays the n-th step, by Effect's `Clock`. */
export const latency = (at: number, by: Duration.Input): FaultPlan => ({
  at: numbered(at),
  fault: { kind: "latency", by: Duration.fromInputUnsafe(by) }
})

/** Interrupts the program at its n-th step. */
export const interruption = (at: number, when: When = "before"): FaultPlan => ({
  at: numbered(at),
  fault: { kind: "interruption", when }
})

/** The default failure of a step. */
export class InjectedError extends Data.TaggedError("InjectedError")<{ readonly message: string }> {}

/** A step that was reached. */
export interface Step {
  /** Counted from 1. */
  readonly number: number
  readonly kind: Interception.InterceptedStep["kind"] | "wait"
  /** What distinguishes it from others of its kind, for people. */
  readonly name: string
  /** Milliseconds, by the clock of the program. */
  readonly at: number
  /** The agent whose run takes the step; absent outside of runs. */
  readonly agent: string | undefined
  readonly runId: string | undefined
  readonly turn: number
  /** The step as interceptors get it; absent for waits. */
  readonly of: Interception.InterceptedStep | undefined
}

/** For people: `step 3, tool attempt: look, call c1, attempt 1`. */
export const format = ({ kind, name, number }: Step): string => `step ${number}, ${kind}: ${name}`

/** Watches steps as they are reached, and may replace one. */
interface Hearing {
  readonly model?: Model.Service
  readonly reached?: (step: Step) => void
  readonly interrupted?: (at: number) => void
  readonly ended?: (step: Step, exit: Exit.Exit<unknown, unknown>) => void
  readonly substitute?: (step: Step, self: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>
}

/**
 * Runs a program with a plan. An interruption is that of the whole program. Several plans may be put around one program: each
 * counts all steps. A program that succeeds before it reaches the step dies, because its test would show nothing.
 */
export const inject =
  (plan: FaultPlan) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      let taken = 0
      const watched = injecting(plan, { reached: ({ number }) => (taken = number) })(self)
      return Effect.tap(watched, () =>
        taken < plan.at
          ? Effect.die(new Error(`FaultPlan: step ${plan.at} was never reached, the program took ${taken}`))
          : Effect.void
      )
    })

/** The steps of a program, in the order in which it reaches them; each can have a fault. It ends as the program ends. */
export const steps = <A, E, R>(
  self: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly exit: Exit.Exit<A, E>; readonly steps: ReadonlyArray<Step> }, never, R> =>
  Effect.suspend(() => {
    const reached: Array<Step> = []
    const watched = injecting(undefined, { reached: (step) => reached.push(step) })(self)
    return Effect.map(Effect.exit(watched), (exit) => ({ exit, steps: reached }))
  })

/** @internal */
export const injecting =
  (plan: FaultPlan | undefined, hearing: Hearing) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.contextWith((context) =>
      Effect.suspend(() => {
        const outer = Context.get(context, Interception.Current)
        let count = 0
        let root: Fiber.Fiber<A, E> | undefined
        const interrupt = Effect.map(Clock.currentTimeMillis, (at) => {
          hearing.interrupted?.(at)
          root?.interruptUnsafe()
        })
        const reach = (
          described: Pick<Step, "kind" | "name" | "of">,
          at: number,
          run: Where
        ): [Step, Fault | undefined] => {
          const step = { ...described, ...run, number: ++count, at }
          const fault = plan?.at === step.number ? plan.fault : undefined
          hearing.reached?.(step)
          return [step, fault]
        }
        const intercept: Interception.Interceptor["intercept"] = (of, inner) =>
          Effect.withFiber((fiber) => {
            const run = fiber.getRef(RunContext.Current)
            const where = { agent: run?.agent, runId: run?.runId, turn: run?.turn() ?? 0 }
            const at = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
            const [step, fault] = reach({ kind: of.kind, name: nameOf(of), of }, at, where)
            const faulty = withFault(step, fault, inner, interrupt)
            const heard = Effect.onExit(hearing.substitute?.(step, faulty) ?? faulty, (exit) =>
              Effect.sync(() => hearing.ended?.(step, exit))
            )
            return outer === undefined ? heard : outer.intercept(of, heard)
          })
        const observer = (event: AgentEvent.AgentEvent): void => {
          if (event.type !== "verdict" || event.verdict !== "retry" || event.gaveUp) return
          if (Duration.isZero(event.delay)) return
          const { agent, at, runId, turn } = event
          const lasts = Duration.toMillis(event.delay)
          const name = `${lasts} ms, after ${event.tag}`
          const [, fault] = reach({ kind: "wait", name, of: undefined }, at, { agent, runId, turn })
          const amid = fault?.kind === "interruption" ? Effect.andThen(Effect.sleep(lasts / 2), interrupt) : undefined
          if (amid !== undefined) Effect.runForkWith(context)(amid)
        }
        const model = hearing.model ?? outer?.model
        const interceptor = { intercept, ...(model === undefined ? {} : { model }) }
        const watched = Effect.flatMap(RunContext.Observers, (others) =>
          self.pipe(
            Effect.provideService(Interception.Current, interceptor),
            Effect.provideService(RunContext.Observers, [...others, () => observer])
          )
        )
        return Effect.flatMap(Effect.forkChild(watched), (fiber) => {
          root = fiber
          return Effect.onInterrupt(Fiber.join(fiber), () => Fiber.interrupt(fiber))
        })
      })
    )

type Where = Pick<Step, "agent" | "runId" | "turn">

const withFault = (
  step: Step,
  fault: Fault | undefined,
  self: Effect.Effect<unknown, unknown>,
  interrupt: Effect.Effect<void>
): Effect.Effect<unknown, unknown> => {
  switch (fault?.kind) {
    case undefined:
      return self
    case "error":
      return Effect.suspend(() => Effect.fail(fault.make === undefined ? failureOf(step) : fault.make(step)))
    case "defect":
      return Effect.suspend(() => Effect.die(new Error(`injected at ${format(step)}`)))
    case "latency":
      return Effect.delay(self, fault.by)
    case "interruption":
      // the run is interrupted, not its listener; the other steps wait until they are interrupted
      if (step.kind === "hook") return Effect.andThen(interrupt, self)
      if (fault.when === "before") return Effect.andThen(interrupt, Effect.never)
      if (fault.when === "within") return Effect.andThen(Effect.forkDetach(Effect.andThen(soon, interrupt)), self)
      return Effect.flatMap(Effect.exit(self), () => Effect.andThen(interrupt, Effect.never))
  }
}

/** Once the others have had their turn. */
const soon = Effect.forEach([1, 2, 3], () => Effect.yieldNow, { discard: true })

const failureOf = (step: Step): unknown =>
  step.kind === "model call" || step.kind === "stream part"
    ? LlmError.ModelOverloadedError.make({ model: step.name })
    : new InjectedError({ message: `injected at ${format(step)}` })

const nameOf = (step: Interception.InterceptedStep): string => {
  switch (step.kind) {
    case "model call":
      return step.isStreamed ? `${step.model}, streamed` : step.model
    case "stream part":
      return `${step.model}, ${step.part.type}`
    case "tool attempt":
      return `${step.tool}, call ${step.callId}, attempt ${step.attempt}`
    case "look-up":
    case "compensation":
      return step.tool
    case "fixer run":
      return `of ${step.tool}, call ${step.callId}, repair ${step.repair}`
    case "decision":
      return step.about
    case "policy":
      return `${step.tool}, call ${step.callId}`
    case "approval":
      return `${step.request.tool}, call ${step.request.callId}`
    case "hook":
      return step.event.type
  }
}
