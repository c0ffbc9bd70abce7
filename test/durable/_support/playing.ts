/** Plays a scenario in memory, as a workflow, and as one that is replayed from the top after each step. */
import { Agent, type AgentEvent, Approval, KintsugiError } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Clock, Effect, type Exit, Fiber, Layer, Option, Result, Schema, type Scope } from "effect"
import { TestClock } from "effect/testing"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { calm } from "../../_support/dialogue.ts"
import { type Death, process, watched, type Watched } from "./engines.ts"
import { approver, type Cast, decision, Failures } from "./scenarios.ts"

/** What can be seen of a run from outside. */
export interface Seen {
  readonly end: unknown
  /** What each model has read, and how often it was asked. */
  readonly requests: ReadonlyArray<ReadonlyArray<unknown>>
  readonly runs: ReadonlyArray<unknown>
  /** When tools ran, in milliseconds after the start. */
  readonly instants: ReadonlyArray<number>
  readonly events: ReadonlyArray<AgentEvent.AgentEvent>
  readonly ledger: unknown
}

/** How an effect is run while time goes by. */
export type Passing = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<Exit.Exit<A, E>, never, R>

/** Goes on for two days, in steps, so that each wait ends at its time. */
const overDays: Passing = (effect) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    for (let i = 0; i < 400 && fiber.pollUnsafe() === undefined; i++) {
      for (let k = 0; k < 4; k++) yield* calm
      yield* TestClock.adjust(i < 240 ? "500 millis" : "20 minutes")
    }
    return yield* Fiber.await(fiber)
  })

const errorOf = (exit: Exit.Exit<unknown, unknown>): unknown => {
  if (exit._tag === "Success") return { answer: exit.value }
  if (Cause.hasDies(exit.cause)) return { defect: Cause.pretty(exit.cause) }
  const error = Result.getOrUndefined(Cause.findError(exit.cause))
  return {
    error: Schema.encodeUnknownSync(Schema.toCodecJson(Schema.Union([Failures, KintsugiError.KintsugiError])))(error)
  }
}

export const playing = (
  make: Effect.Effect<Cast, never, Scope.Scope>,
  run: (cast: Cast) => Effect.Effect<unknown, unknown, Scope.Scope>,
  over = overDays
): Effect.Effect<Seen, never, Scope.Scope> =>
  Effect.gen(function* () {
    const cast = yield* make
    const start = yield* Clock.currentTimeMillis
    const events: Array<AgentEvent.AgentEvent> = []
    const agent = cast.agent.pipe(Agent.onEvent((event) => Effect.sync(() => void events.push(event))))
    const exit = yield* over(run({ ...cast, agent: agent as never }))
    const last = events.findLast(({ parent }) => parent === undefined)
    const ledger = last !== undefined && "ledger" in last ? last.ledger : []
    return {
      end: errorOf(exit),
      requests: cast.models.map(({ requests }) =>
        sorted(requests.map(({ messages, toolChoice }) => ({ messages, toolChoice })))
      ),
      runs: sorted(cast.runs.map(({ attempt, params, tool }) => ({ attempt, params, tool }))),
      instants: cast.runs.map(({ at }) => at - start),
      events,
      ledger: sorted(ledger.map((entry) => ({ ...entry, runId: "" })))
    }
  })

/** What goes on at once comes in any order. */
const sorted = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> =>
  values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

export const inMemory = (make: Effect.Effect<Cast, never, Scope.Scope>) =>
  playing(make, ({ agent, layer }) => agent("go").pipe(Effect.provide(layer), Effect.provide(approver)))

/** The workflow of a scenario, in which a decision comes after an hour. */
export const served = ({ agent, layer }: Pick<Cast, "agent" | "layer">, name = "worker") => {
  const durable: Durable.Durable<string, typeof Schema.String, typeof Schema.String, unknown, WorkflowEngine> =
    Durable.workflow(agent, {
      name,
      input: Schema.String,
      output: Schema.String,
      error: Failures,
      onApproval: (asked) =>
        Effect.asVoid(
          Effect.forkDetach(Effect.delay(Durable.decide(durable, asked, decision(asked.request)), "1 hour"))
        )
    }) as never
  return { durable, layer: durable.layer.pipe(Layer.provide(layer)) }
}

export interface Played extends Seen {
  readonly engine: Watched
}

export const asWorkflow = (
  make: Effect.Effect<Cast, never, Scope.Scope>,
  isForgetful: boolean
): Effect.Effect<Played, never, Scope.Scope> =>
  Effect.gen(function* () {
    const engine = yield* watched(isForgetful)
    const seen = yield* playing(make, (cast) => {
      const { durable, layer } = served(cast)
      return Effect.provide(
        durable.workflow.execute({ id: "one", input: "go" }),
        Layer.provideMerge(layer, engine.layer) as Layer.Layer<WorkflowEngine>
      )
    })
    return { ...seen, engine }
  })

/**
 * Runs a workflow to its end. Its process may die, and is followed by another one, an hour later. What it waits for, a person
 * approves of.
 */
export const surviving = <E>(
  durable: Durable.Durable<string, typeof Schema.String, typeof Schema.String, E, never>,
  served: Layer.Layer<never, never, WorkflowEngine>,
  death: Death | undefined,
  waiting: Array<Durable.DurableRequest> = []
) =>
  Effect.gen(function* () {
    const engine = yield* watched(false, death)
    const outcome = yield* Effect.gen(function* () {
      let stop = yield* process(served)
      const id = yield* Durable.start(durable, { id: "one", input: "go" })
      let hasDied = false
      for (let i = 0; i < 400; i++) {
        for (let k = 0; k < 6; k++) yield* calm
        if (!hasDied && (yield* engine.isDying)) {
          hasDied = true
          yield* stop
          yield* engine.kill
          yield* TestClock.adjust("1 hour")
          stop = yield* process(served)
          yield* Durable.resume(durable, id)
          continue
        }
        const result = Option.getOrUndefined(yield* Durable.poll(durable, id))
        if (result?._tag === "Complete") {
          yield* stop
          return { exit: result.exit, hasDied }
        }
        yield* TestClock.adjust("30 seconds")
        for (const asked of waiting.splice(0)) yield* Durable.decide(durable, asked, Approval.approve)
      }
      return yield* Effect.die(new Error("it never ended"))
    }).pipe(Effect.provide(engine.layer))
    return { ...outcome, engine }
  })
