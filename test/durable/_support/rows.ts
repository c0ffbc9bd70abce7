/** An engine with rows only: what waits and notes write, and what steps give. */
import { Duration, Effect, type Exit, Option, Schema } from "effect"
import type * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import { type WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"

export const workflow = Workflow.make("story", {
  payload: Schema.Struct({ id: Schema.String }),
  idempotencyKey: ({ id }) => id
})

/** Makes an engine without storage, and shows its rows: the exits of deferred results, and those of activities. */
export const engineOfRows = () => {
  const rows = new Map<string, Exit.Exit<unknown, unknown>>()
  const steps = new Map<string, Exit.Exit<unknown, unknown>>()
  /** The runs that the engine was told to interrupt. */
  const interrupted: Array<string> = []
  /** The names of the results that were written, also where one stood already. */
  const written: Array<string> = []
  /** The alarms that were set, with their milliseconds. */
  const alarms: Array<readonly [string, number]> = []
  /** Whether the run is over. */
  const state = { isOver: false }
  const interrupt = (_: unknown, executionId: string) => Effect.sync(() => void interrupted.push(executionId))
  // an engine with only what a replay uses
  const engine = {
    deferredResult: ({ name }: { readonly name: string }) => Effect.sync(() => Option.fromNullishOr(rows.get(name))),
    deferredDone: (
      _: unknown,
      { deferredName, exit }: { readonly deferredName: string; readonly exit: Exit.Exit<unknown, unknown> }
    ) =>
      Effect.sync(() => {
        written.push(deferredName)
        if (!rows.has(deferredName)) rows.set(deferredName, exit)
      }),
    activityExecute: (activity: Activity.Any) =>
      Effect.gen(function* () {
        const before = steps.get(activity.name)
        if (before !== undefined) return new Workflow.Complete({ exit: before })
        const exit = yield* Effect.exit(activity.executeEncoded as Effect.Effect<unknown>)
        if ((yield* WorkflowInstance).suspended) return new Workflow.Suspended({})
        steps.set(activity.name, exit)
        return new Workflow.Complete({ exit })
      }),
    interrupt,
    interruptUnsafe: interrupt,
    scheduleClock: (
      _: unknown,
      { clock }: { readonly clock: { readonly name: string; readonly duration: Duration.Duration } }
    ) => Effect.sync(() => void alarms.push([clock.name, Duration.toMillis(clock.duration)])),
    poll: () => Effect.sync(() => (state.isOver ? Option.some({ _tag: "Complete" }) : Option.none()))
  } as unknown as WorkflowEngine["Service"]
  return { alarms, engine, interrupted, rows, state, steps, written }
}

export const instanceOf = (executionId = "run") => WorkflowInstance.initial(workflow, executionId)
