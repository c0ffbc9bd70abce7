/** Engines that lose what they replay: the same runs have to come out. */
import { Durable } from "@kintsugi/durable"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import type * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"

/** An engine, and what was seen of it. */
export interface Watched {
  readonly layer: Layer.Layer<WorkflowEngine>
  /** The names of the activities that were done, in order; one that was done twice stands there twice. */
  readonly done: ReadonlyArray<string>
  /** How often bodies were begun. */
  readonly bodies: () => number
  /** How many activities were begun. */
  readonly started: () => number
  /** Whether the process is at its death. */
  readonly isDying: Effect.Effect<boolean>
  /** Stops all bodies as the death of their process would: what they were at is lost, what was recorded is not. */
  readonly kill: Effect.Effect<void>
  /** Stops all bodies, as an engine does that gives them to another process; this one may get them back. */
  readonly giveAway: Effect.Effect<void>
}

type Body = (payload: object, executionId: string) => Effect.Effect<unknown, unknown, never>

/** When a process dies: at the n-th activity that is begun, counted from 1; before it does anything, or when all is done. */
export interface Death {
  readonly at: number
  readonly when: "before" | "after"
}

/** What is read of an activity that was done before, in the place of what is stored. */
export type Reads = (activity: string, stored: unknown) => unknown

/**
 * The engine in memory. With `isForgetful`, it suspends a body after each activity and replays it from the top. A new process that
 * registers a workflow once more takes over its runs.
 */
export const watched = (
  isForgetful: boolean,
  death?: Death,
  reads: Reads = (_, stored) => stored
): Effect.Effect<Watched, never, Scope.Scope> =>
  Effect.gen(function* () {
    const dying = yield* Deferred.make<void>()
    const dies = Effect.andThen(Deferred.succeed(dying, undefined), Effect.never)
    let started = 0
    const scope = yield* Effect.scope
    const inner = Context.get(yield* Layer.buildWithScope(Durable.layerMemory, scope), WorkflowEngine)
    const done: Array<string> = []
    const registered = new Set<string>()
    const bodies = new Map<string, Body>()
    const running = new Set<Fiber.Fiber<unknown, unknown>>()
    const names = new Set<string>()
    let begun = 0
    const stop = Effect.suspend(() => Fiber.interruptAll([...running]))
    const engine: WorkflowEngine["Service"] = {
      ...inner,
      register: ((workflow: Workflow.Any, execute: Body) =>
        Effect.suspend(() => {
          const isNew = !names.has(workflow._tag)
          names.add(workflow._tag)
          bodies.set(workflow._tag, execute)
          if (!isNew) return stop
          const latest: Body = (payload, executionId) =>
            Effect.suspend(() => {
              const body = bodies.get(workflow._tag)
              // without a process, nothing can wake it
              if (body === undefined) return Effect.never
              begun++
              return body(payload, executionId)
            })
          const tracked: Body = (payload, executionId) =>
            Effect.flatMap(Effect.forkChild(latest(payload, executionId), { startImmediately: true }), (fiber) => {
              running.add(fiber)
              return Effect.onInterrupt(
                Effect.ensuring(
                  Fiber.join(fiber),
                  Effect.sync(() => running.delete(fiber))
                ),
                () => Fiber.interrupt(fiber)
              )
            })
          return Scope.provide(inner.register(workflow as never, tracked as never) as Effect.Effect<void>, scope)
        })) as never,
      activityExecute: ((activity: Activity.Any, attempt: number) =>
        Effect.gen(function* () {
          const instance = yield* WorkflowInstance
          const key = `${instance.executionId}/${activity.name}/${attempt}`
          const isLast = !registered.has(key) && ++started === death?.at
          if (isLast && death?.when === "before") return yield* dies
          const { executeEncoded } = activity
          const lost = { ...activity, executeEncoded: Effect.andThen(Effect.exit(executeEncoded), dies) }
          const result = yield* inner.activityExecute((isLast ? lost : activity) as never, attempt)
          if (result._tag !== "Complete") return result
          if (registered.has(key)) {
            const stored: Exit.Exit<unknown, unknown> = result.exit
            return new Workflow.Complete({ exit: Exit.map(stored, (value) => reads(activity.name, value)) })
          }
          registered.add(key)
          done.push(activity.name)
          if (!isForgetful) return result
          yield* Effect.forkIn(inner.resume(instance.workflow, instance.executionId), scope)
          return new Workflow.Suspended({})
        })) as never
    }
    return {
      layer: Layer.succeed(WorkflowEngine, engine),
      done,
      bodies: () => begun,
      started: () => started,
      isDying: Deferred.isDone(dying),
      giveAway: stop,
      kill: Effect.suspend(() => {
        bodies.clear()
        return stop
      })
    }
  })

/** What stands for a process: what it serves ends with it. */
export const process = <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(layer, scope)
    return Scope.close(scope, Exit.void)
  })
