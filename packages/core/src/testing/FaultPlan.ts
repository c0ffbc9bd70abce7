/**
 * Injects one fault at the n-th step of a program. A fault is a failure, a defect, a delay or an interruption. The steps of runs are model
 * calls, parts of streamed replies, runs of tools, fixers, policies, listeners, choices, and waits before a retry.
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
import type { Fault, FaultStep, When } from "./faults.ts"

export type { FaultStep } from "./faults.ts"

/** A fault, and the number of the step at which it is injected. The first step has the number 1. */
export interface FaultPlan {
  readonly at: number
  readonly fault: Fault
}

/** Throws for a number that no step has: such a plan would never inject its fault. */
const numbered = (at: number): number => {
  if (Number.isSafeInteger(at) && at >= 1) return at
  throw new RangeError(`FaultPlan: the number of a step must be a whole number of at least 1, got ${String(at)}`)
}

/**
 * Fails at the n-th step. `make` gives the failure; by default a step of a model fails with a `ModelOverloadedError`, and any other step
 * with an `InjectedError`.
 */
export const error = (at: number, make?: (step: FaultStep) => unknown): FaultPlan => ({
  at: numbered(at),
  fault: { type: "error", ...(make === undefined ? {} : { make }) }
})

/** Dies at the n-th step. */
export const defect = (at: number): FaultPlan => ({ at: numbered(at), fault: { type: "defect" } })

/** Delays the n-th step on Effect's `Clock`. */
export const latency = (at: number, by: Duration.Input): FaultPlan => ({
  at: numbered(at),
  fault: { type: "latency", by: Duration.fromInputUnsafe(by) }
})

/**
 * Interrupts the program at its n-th step. It comes `before` the step, `within` it as soon as it waits, or `after` it, when its result is
 * lost. In a wait, `before` means the middle.
 */
export const interruption = (at: number, when: When = "before"): FaultPlan => ({
  at: numbered(at),
  fault: { type: "interruption", when }
})

/** The default failure at a step that belongs to no model. */
class InjectedError extends Data.TaggedError("InjectedError")<{ readonly message: string }> {}

/**
 * A step as text: `step 3, tool attempt: look, call c1, attempt 1`.
 *
 * @internal
 */
export const format = ({ name, number, type }: FaultStep): string => `step ${number}, ${type}: ${name}`

/** Callbacks that learn each step as the program reaches it. `substitute` may replace the step. */
interface Hearing {
  readonly model?: Model.Service
  readonly reached?: (step: FaultStep) => void
  readonly interrupted?: (at: number) => void
  readonly ended?: (step: FaultStep, exit: Exit.Exit<unknown, unknown>) => void
  readonly substitute?: (step: FaultStep, self: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>
}

/**
 * Runs a program with a plan. An interruption stops the whole program. Of several plans around one program each counts all steps. A program
 * that succeeds before it reaches the step dies, because its test would show nothing.
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

/** Runs a program and records its steps. It gives the exit and the steps in their order. Each step can have a fault. */
export const steps = <A, E, R>(
  self: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly exit: Exit.Exit<A, E>; readonly steps: ReadonlyArray<FaultStep> }, never, R> =>
  Effect.suspend(() => {
    const reached: Array<FaultStep> = []
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
          described: Pick<FaultStep, "type" | "name" | "of">,
          at: number,
          run: Where
        ): [FaultStep, Fault | undefined] => {
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
            const [step, fault] = reach({ type: of.type, name: nameOf(of), of }, at, where)
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
          const [, fault] = reach({ type: "wait", name, of: undefined }, at, { agent, runId, turn })
          const amid = fault?.type === "interruption" ? Effect.andThen(Effect.sleep(lasts / 2), interrupt) : undefined
          if (amid !== undefined) Effect.runForkWith(context)(amid)
        }
        const model = hearing.model ?? outer?.model
        // Mutant `true` survives: `undefined` is read like no model
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

type Where = Pick<FaultStep, "agent" | "runId" | "turn">

const withFault = (
  step: FaultStep,
  fault: Fault | undefined,
  self: Effect.Effect<unknown, unknown>,
  interrupt: Effect.Effect<void>
): Effect.Effect<unknown, unknown> => {
  switch (fault?.type) {
    case undefined:
      return self
    case "error":
      return Effect.suspend(() => Effect.fail(fault.make === undefined ? failureOf(step) : fault.make(step)))
    case "defect":
      return Effect.suspend(() => Effect.die(new Error(`injected at ${format(step)}`)))
    case "latency":
      return Effect.delay(self, fault.by)
    case "interruption":
      // a listener goes on while its run is interrupted; every other step waits here until the interruption reaches it
      if (step.type === "listener") return Effect.andThen(interrupt, self)
      if (fault.when === "before") return Effect.andThen(interrupt, Effect.never)
      if (fault.when === "within") return Effect.andThen(Effect.forkDetach(Effect.andThen(soon, interrupt)), self)
      return Effect.flatMap(Effect.exit(self), () => Effect.andThen(interrupt, Effect.never))
  }
}

/** Ends after the other fibers have run. */
const soon = Effect.forEach([1, 2, 3], () => Effect.yieldNow, { discard: true })

const failureOf = (step: FaultStep): unknown =>
  step.type === "model call" || step.type === "stream part"
    ? LlmError.ModelOverloadedError.make({ model: step.name })
    : new InjectedError({ message: `injected at ${format(step)}` })

const nameOf = (step: Interception.InterceptedStep): string => {
  switch (step.type) {
    case "job cancel":
      return step.model
    case "model call":
      return step.isStreamed ? `${step.model}, streamed` : step.model
    case "stream part":
      return `${step.model}, ${step.part.type}`
    case "tool attempt":
      return `${step.tool}, call ${step.callId}, attempt ${step.attempt}`
    case "look-up":
    case "compensation":
    case "poll":
    case "cancel":
      return step.tool
    case "fixer run":
      return `of ${step.tool}, call ${step.callId}, repair ${step.repair}`
    case "choice":
      return step.about
    case "policy":
    case "grant":
    case "put aside":
      return `${step.tool}, call ${step.callId}`
    case "approval":
      return `${step.request.tool}, call ${step.request.callId}`
    case "guardrail":
      return `${step.guard}, ${step.side}`
    case "pins":
      return "definitions of tools"
    case "compaction":
      return step.compaction
    case "token count":
      return step.model
    case "listener":
      return step.event.type
  }
}
