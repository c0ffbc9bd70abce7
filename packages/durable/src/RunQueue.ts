/**
 * A queue of durable runs, on Effect's `PersistedQueue`. The queue delivers an element at least once; the element's id is the id of its run,
 * so a run that is delivered twice is one run. A run that cannot be started is delivered again, after 1 second at first and after 5 minutes at
 * the most, until it is started. Each time a warning is logged.
 */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import * as Durable from "./Durable.ts"
import { fitting, type UnfitInputError } from "./errors.ts"

type AnyCodec = Schema.Codec<unknown, unknown>

/** A workflow whose runs are queued. */
type Queueing<Input extends AnyCodec, Output extends AnyCodec, E, R> = Durable.Durable<string, Input, Output, E, R>

/** The queue of a workflow. Runs that wait when the agent changes are those of the version with which they were put there. */
const queueOf = <Input extends AnyCodec, Output extends AnyCodec, E, R>({ workflow }: Queueing<Input, Output, E, R>) =>
  PersistedQueue.make({
    name: `runs/${workflow._tag}`,
    schema: workflow.payloadSchema,
    // otherwise the queue gives up a run while the storage of the engine is away
    maxAttempts: unlimited
  })

/** The highest number that the column of attempts holds. */
const unlimited = 2_147_483_647

/**
 * Puts a run into the queue of its workflow. A second one with the same `id` is not put there, and neither after the run was done, until
 * `PersistedQueue.layerCleanup` removes it. An `id` has at most 255 characters. Fails with `UnfitInputError` if the input does not fit.
 *
 * @example
 * ```ts
 * import { Agent } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Durable, RunQueue } from "@kintsugi/durable"
 * import { Effect, Layer, Schema } from "effect"
 * import { PersistedQueue } from "effect/persistence"
 *
 * const greetings = Durable.workflow(Agent.make("greeter", { prompt: "Greet." }), {
 *   name: "greeter",
 *   input: Schema.String,
 *   output: Schema.String
 * })
 * const queue = Layer.provide(PersistedQueue.layer, PersistedQueue.layerStoreMemory)
 * const live = RunQueue.layerWorker(greetings, { concurrency: 10 }).pipe(
 *   Layer.provideMerge(greetings.layer),
 *   Layer.provide(ScriptedModel.answering(() => ScriptedModel.text("Hello!"))),
 *   Layer.provideMerge(Layer.merge(Durable.layerMemory, queue))
 * )
 * const program = Effect.gen(function* () {
 *   yield* RunQueue.put(greetings, { id: "visitor-7", input: "Hi" })
 *   return yield* greetings.workflow.execute({ id: "visitor-7", input: "Hi" })
 * })
 * console.log(await Effect.runPromise(Effect.provide(program, live))) // Hello!
 * ```
 */
export const put = <Input extends AnyCodec, Output extends AnyCodec, E, R>(
  self: Queueing<Input, Output, E, R>,
  run: { readonly id: string; readonly input: Input["Type"] }
): Effect.Effect<void, UnfitInputError | PersistedQueue.PersistedQueueError, PersistedQueue.PersistedQueueFactory> =>
  Effect.gen(function* () {
    const payload = yield* fitting(self.workflow, run)
    const queue = yield* queueOf(self)
    // what fits the schema is encoded
    yield* Effect.catchTag(queue.offer(payload, { id: run.id }), "SchemaError", Effect.die)
  })

/** The options of `layerWorker`. */
interface WorkerOptions {
  /** The most runs of the queue that are at work at a time in this process; 10 by default. */
  readonly concurrency?: number
}

/**
 * Takes runs from the queue of a workflow and starts them. A run leaves the queue when it has ended, also by a failure, or when it waits
 * without a process, as for a decision: then the engine wakes it. If this process ends before that, another worker takes the run, and finds
 * it where it is. Serve the workflow too, here or in other processes.
 */
export const layerWorker = <Input extends AnyCodec, Output extends AnyCodec, E, R>(
  self: Queueing<Input, Output, E, R>,
  { concurrency = 10 }: WorkerOptions = {}
): Layer.Layer<never, never, PersistedQueue.PersistedQueueFactory | WorkflowEngine> => {
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw new RangeError(`RunQueue.layerWorker: concurrency must be a whole number above 0, got ${concurrency}`)
  }
  return Layer.effectDiscard(
    Effect.gen(function* () {
      const queue = yield* queueOf(self)
      // cast: the queue gives what its schema decodes
      const taking = queue.take((run) => done(self, run as { readonly id: string; readonly input: Input["Type"] }))
      const worker = taking.pipe(
        // the storage is away, or a run could not be started: the queue delivers it later
        Effect.catchCause((cause) => Effect.andThen(logged(cause), Effect.sleep("1 second"))),
        Effect.forever
      )
      for (let nth = 0; nth < concurrency; nth++) yield* Effect.forkScoped(worker)
    })
  )
}

const logged = (cause: Cause.Cause<unknown>) =>
  Effect.logWarning("RunQueue: a worker could not take or start a run", ErrorCause.logged(cause))

/** The pauses before a worker looks again whether a run is at work: from 100 ms to 2 s. */
const pauses = Schedule.min([Schedule.exponential("100 millis", 1.5), Schedule.spaced("2 seconds")])

/** Starts a run, and waits until nothing of it is at work. */
const done = <Input extends AnyCodec, Output extends AnyCodec, E, R>(
  self: Queueing<Input, Output, E, R>,
  run: { readonly id: string; readonly input: Input["Type"] }
) =>
  Effect.gen(function* () {
    const executionId = yield* Durable.start(self, run)
    const isDone = Effect.map(
      Durable.poll(self, executionId),
      (found) => found._tag === "Some" && found.value._tag !== "Running"
    ).pipe(
      // a run whose rows are gone or unreadable has ended, with that error
      Effect.catchTags({ RunLostError: () => Effect.succeed(true), UnreadableStepError: () => Effect.succeed(true) })
    )
    yield* Effect.repeat(isDone, { schedule: pauses, until: (isSo) => isSo })
  })
