/** Deferred tool calls that wait for their settlement, as long as needed, without a process. */
import * as DurableClock from "effect/workflow/DurableClock"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import type * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Interception from "@kintsugi/core/Interception"
import * as RunContext from "@kintsugi/core/RunContext"
import type { Line } from "./lines.ts"
import { isLeft, isNoted, note, stillThere } from "./losing.ts"
import type { AnyCodec } from "./outcomes.ts"
import { acted, goingOn, outside, reading, record, type Replay, Said, saying, underWay } from "./recording.ts"
import { failuresOf } from "./tool.ts"
import { isSuperseded } from "./saying.ts"
import { list } from "./waiting.ts"

type Deferring = NonNullable<Interception.Interceptor["deferring"]>
type Call = Parameters<Deferring["wait"]>[0]
type Stored = Call["stored"]
type Ended = Exit.Exit<unknown, unknown>

/** The row that holds what ended the wait of a call: its settlement, or the reason why none counts. The first that is stored counts. */
const deferredOf = (token: string) => DurableDeferred.make(nameOf(token), { success: Schema.Json })

const nameOf = (token: string): string => `deferred/${token}`

const fields = { at: Schema.Finite, id: Schema.String }

/** The end of a call's wait: a settlement with the result, or `Closed` with the reason why no settlement counts. */
const Ending = Schema.Union([
  Schema.Struct({ _tag: Schema.tag("Settlement"), ...fields, exit: Schema.Json }),
  Schema.Struct({ _tag: Schema.tag("Closed"), ...fields, reason: Schema.Literals(["late", "run-over", "superseded"]) })
])

type Ending = typeof Ending.Type

const decodeEnding = Schema.decodeUnknownEffect(Ending)
const encodeEnding = Schema.encodeSync(Ending)

/** The stored end of a call's wait when a message of the user withdraws the call. */
export const withdrawing = (at: number) => encodeEnding({ _tag: "Closed", at, id: "", reason: "superseded" })

/** The codec with which the settlement of a tool call is stored. */
const codecOf = ({ failure, success }: Stored) =>
  Schema.toCodecJson(
    Schema.Union([
      Schema.Struct({ _tag: Schema.tag("Result"), value: success }),
      Schema.Struct({ _tag: Schema.tag("Failure"), error: failuresOf({ failure }).error })
    ])
  )

/** Encodes a settlement, to store it. A failure for which the tool has no schema is a defect. */
const encoded = (stored: Stored, exit: Ended): Effect.Effect<Schema.Json> => {
  const found: Effect.Effect<unknown> = Exit.match(exit, {
    onSuccess: (value) => Effect.succeed({ _tag: "Result", value }),
    onFailure: (cause) =>
      Effect.matchEffect(Effect.failCause(cause), {
        onFailure: (error) => Effect.succeed({ _tag: "Failure", error }),
        onSuccess: Effect.succeed
      })
  })
  // cast: the JSON codec of any schema encodes to JSON
  return Effect.flatMap(found, (one) =>
    Effect.orDie(Schema.encodeUnknownEffect(codecOf(stored))(one) as Effect.Effect<Schema.Json, Schema.SchemaError>)
  )
}

const decoded = (stored: Stored, exit: Schema.Json): Effect.Effect<Ended, Schema.SchemaError> =>
  Effect.map(Schema.decodeUnknownEffect(codecOf(stored))(exit), (found) =>
    found._tag === "Result" ? Exit.succeed(found.value) : Exit.fail(found.error)
  )

/** Ends the wait of a call, unless it has ended already. Returns what has ended it, which may be an earlier end. */
const end = (
  workflow: Workflow.Any,
  executionId: string,
  token: string,
  ending: Ending
): Effect.Effect<Ending, Schema.SchemaError, WorkflowEngine> =>
  Effect.gen(function* () {
    const deferred = deferredOf(token)
    const target = DurableDeferred.tokenFromExecutionId(deferred, { workflow, executionId })
    yield* DurableDeferred.succeed(deferred, { token: target, value: encodeEnding(ending) })
    return (yield* endingOf(workflow, executionId, token)) ?? ending
  })

const endingOf = (
  workflow: Workflow.Any,
  executionId: string,
  token: string
): Effect.Effect<Ending | undefined, Schema.SchemaError, WorkflowEngine> =>
  Effect.gen(function* () {
    const engine = yield* WorkflowEngine
    const instance = WorkflowInstance.initial(workflow, executionId)
    const found = yield* Effect.provideService(engine.deferredResult(deferredOf(token)), WorkflowInstance, instance)
    return Option.isSome(found) && Exit.isSuccess(found.value) ? yield* decodeEnding(found.value.value) : undefined
  })

/** Settles a call from outside of its run. Returns whether the settlement counts, or why not. */
export const settle = (
  workflow: Workflow.Any,
  executionId: string,
  token: string,
  settlement: { readonly id: string; readonly stored: Stored; readonly exit: Ended }
): Effect.Effect<"counted" | "already-settled" | "late" | "run-over", Schema.SchemaError, WorkflowEngine> =>
  Effect.gen(function* () {
    const { id, stored } = settlement
    const before = yield* endingOf(workflow, executionId, token)
    const at = yield* Clock.currentTimeMillis
    const exit = yield* encoded(stored, settlement.exit)
    const ending = before ?? (yield* end(workflow, executionId, token, { _tag: "Settlement", at, id, exit }))
    if (ending._tag === "Closed") return ending.reason === "superseded" ? "run-over" : ending.reason
    return ending.id === id ? "counted" : "already-settled"
  })

/** How the deferred calls of one replay wait. */
export const deferring = (replay: Replay): Deferring => {
  const within = <A>(make: (line: Line) => Effect.Effect<A>): Effect.Effect<A> =>
    Effect.flatMap(RunContext.Current, (run) => make(replay.lines.of(run)))
  return {
    store: replay.executionId,
    wait: (call) =>
      Effect.flatMap(RunContext.Current, (run) => {
        const line = replay.lines.of(run)
        // a call whose run has gone on has a line of its own, which starts when the call began
        if (call.since !== undefined) line.advance(call.since)
        const isLate = call.since !== undefined
        return listed(replay, run, call, isLate).pipe(
          Effect.andThen(isLate ? Effect.void : unlessSuperseded(replay, run, call)),
          Effect.andThen(wait(replay, line, call))
        )
      }),
    begun: (call) => Effect.flatMap(RunContext.Current, (run) => listed(replay, run, call, true)),
    look: (calls) => Effect.flatMap(RunContext.Current, (run) => look(replay, replay.lines.of(run), run, calls)),
    close: (token) => (isLeft(replay) ? Effect.void : within((line) => close(replay, line, token)))
  }
}

/** Lists the call among the waits of its run, unless it is listed already. */
const listed = (
  replay: Replay,
  run: RunContext.RunContext | undefined,
  { callId, expiresAt, handle, token, tool }: Call,
  isLate: boolean
): Effect.Effect<void> => {
  const name = nameOf(token)
  const mark = `${name}/listed`
  const { agent = "", runId = "" } = run ?? {}
  const waiting = { type: "deferred" as const, runId, agent, callId, tool, handle, expiresAt }
  return Effect.flatMap(isNoted(replay, mark), (isListed) =>
    isListed ? Effect.void : Effect.andThen(list(replay, waiting, name, isLate), note(replay, mark))
  )
}

/** Ends the wait of a call before it begins if an unread message withdraws the call. */
const unlessSuperseded = (
  replay: Replay,
  run: RunContext.RunContext | undefined,
  { token }: Call
): Effect.Effect<void> =>
  Effect.flatMap(isSuperseded(replay, run?.runId ?? ""), (is) => {
    if (!is) return Effect.void
    const at = replay.clock.currentTimeMillisUnsafe()
    return Effect.asVoid(ended(replay, token, { _tag: "Closed", at, id: "", reason: "superseded" }))
  })
type Looked = Parameters<Deferring["look"]>[0]

const Endings = Schema.Array(Schema.NullOr(Ending))

/** Looks for the results of deferred calls whose run has gone on. The results that the run sees at this safe point are recorded. */
const look = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  calls: Looked
): Effect.Effect<ReadonlyArray<Ended | "late" | undefined>> => {
  const { clock, engine, executionId, instance } = replay
  const lookUp = ({ expiresAt, found, stored, token }: Looked[number]) =>
    Effect.gen(function* () {
      const before = yield* Effect.orDie(endingOf(instance.workflow, executionId, token))
      if (before !== undefined) return before
      const at = clock.currentTimeMillisUnsafe()
      if (found !== undefined) {
        return yield* ended(replay, token, { _tag: "Settlement", at, id: "poll", exit: yield* encoded(stored, found) })
      }
      return at < expiresAt ? null : yield* ended(replay, token, { _tag: "Closed", at, id: "", reason: "late" })
    })
  const base = `${line.key}/${run?.turn() ?? 0}/look`
  const name = `${base}/${line.next(base)}`
  const work = Effect.provideService(Effect.forEach(calls, lookUp), WorkflowEngine, engine)
  return Effect.flatMap(record(replay, { line, name, value: Endings, error: Schema.Never, work }), (endings) => {
    // the rows of the tools run from now on, so the lines of the calls advance to this time
    for (const call of calls) replay.lines.of(call.run).advance(line.time)
    return Effect.forEach(endings, (ending, index): Effect.Effect<Ended | "late" | undefined> => {
      const call = calls[index]
      if (ending === null || call === undefined) return Effect.undefined
      return ending._tag === "Closed"
        ? Effect.succeed("late")
        : reading(replay, name, decoded(call.stored, ending.exit))
    })
  })
}

const close = (replay: Replay, line: Line, token: string): Effect.Effect<void> => {
  const { engine, executionId, instance } = replay
  const ending: Ending = { _tag: "Closed", at: line.time, id: "", reason: "run-over" }
  return Effect.asVoid(Effect.orDie(end(instance.workflow, executionId, token, ending))).pipe(
    Effect.provideService(WorkflowEngine, engine),
    // with the instance of the run, the engine does not wake the run because of this row
    Effect.provideService(WorkflowInstance, instance),
    Effect.provideService(Clock.Clock, replay.clock)
  )
}

/** The failure that ends a pause between two polls because the wait of the call is over. */
class Over {
  readonly ending: Ending
  constructor(ending: Ending) {
    this.ending = ending
  }
}

const wait = (
  replay: Replay,
  line: Line,
  { expiresAt, polls, stored, token }: Call
): Effect.Effect<Ended | "withdrawn" | undefined> => {
  const name = nameOf(token)
  const pausing = pauses(replay, line, token, expiresAt)
  // each poll is recorded as a step of its own
  const polled =
    polls?.((delay) => underWay(line, pausing(Math.min(expiresAt, line.time + Duration.toMillis(delay))))) ??
    Effect.undefined
  const found = Effect.flatMap(polled, (exit) => {
    if (exit === undefined) return Effect.andThen(underWay(line, pausing(expiresAt)), Effect.undefined)
    return Effect.flatMap(encoded(stored, exit), (exit) => {
      const ending: Ending = { _tag: "Settlement", at: line.time, id: "poll", exit }
      return Effect.flatMap(ended(replay, token, ending), (ending) => Effect.fail(new Over(ending)))
    })
  })
  return found.pipe(
    Effect.catch(({ ending }): Effect.Effect<Ended | "withdrawn" | undefined> => {
      line.advance(ending.at)
      if (ending._tag === "Closed") return Effect.succeed(ending.reason === "superseded" ? "withdrawn" : undefined)
      return reading(replay, name, decoded(stored, ending.exit))
    })
  )
}

const ended = (
  { clock, engine, executionId, instance }: Replay,
  token: string,
  ending: Ending
): Effect.Effect<Ending> =>
  Effect.orDie(end(instance.workflow, executionId, token, ending)).pipe(
    Effect.provideService(WorkflowEngine, engine),
    Effect.provideService(Clock.Clock, clock)
  )

const late = "late"

/**
 * Makes the pauses of a deferred call. A pause lasts until an instant, and fails with `Over` when the wait of the call is over, at its
 * deadline at the latest.
 */
const pauses = (replay: Replay, line: Line, token: string, expiresAt: number) => {
  const name = nameOf(token)
  const deferred = deferredOf(token)
  const answered = DurableDeferred.await(deferred)
  let part = 0
  return (target: number): Effect.Effect<void, Over> =>
    Effect.gen(function* () {
      yield* replay.lines.calm
      yield* stillThere(replay, name, deferred)
      while (true) {
        const step = `${name}~${++part}`
        const until = Math.min(line.until, target)
        const asleep = DurableClock.sleep({
          name: step,
          duration: Duration.millis(Math.max(1, until - line.time)),
          inMemoryThreshold: 0
        })
        const waited: Schema.Json = yield* DurableDeferred.raceAll({
          name: step,
          success: Schema.Json,
          error: Schema.Never,
          effects: [answered, Effect.as(asleep, late)]
        })
        yield* goingOn(replay, line, step)
        if (waited !== late) {
          const ending = yield* reading(replay, name, decodeEnding(waited))
          return yield* Effect.fail(new Over(ending))
        }
        if (until === expiresAt) {
          const ending = yield* ended(replay, token, { _tag: "Closed", at: until, id: "", reason: "late" })
          return yield* Effect.fail(new Over(ending))
        }
        if (until === target) return line.advance(until)
        line.reach(until)
        yield* acted
      }
    }).pipe(
      Effect.provideService(Clock.Clock, replay.clock),
      Effect.provideService(WorkflowEngine, replay.engine),
      Effect.provideService(WorkflowInstance, replay.instance)
    )
}

type Step<Kind> = Extract<Interception.InterceptedStep, { readonly type: Kind }>

const options = new WeakMap<AnyCodec, AnyCodec>()

/** Records the answer of each poll, so that a replay does not poll again. */
export const poll = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  { stored: { failure, success } }: Step<"poll">,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  const base = `${line.key}/poll`
  const value: AnyCodec = options.get(success) ?? Schema.Option(success)
  // Mutant `;` survives: speed only
  options.set(success, value)
  return record(replay, {
    line,
    name: `${base}/${line.next(base)}`,
    run,
    value,
    error: failuresOf({ failure }).error,
    work: self
  })
}

/** Cancels the work of a deferred call once. If the run goes on in another replay, it cancels nothing. */
export const cancel = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  self: Effect.Effect<unknown, unknown>,
  value: AnyCodec
): Effect.Effect<unknown, unknown> => {
  if (replay.instance.interrupted) return self
  if (isLeft(replay)) return Effect.interrupt
  const base = `${line.key}/cancel`
  const name = `${base}/${line.next(base)}`
  // an engine that ends a run runs no more steps, so a note records the cancellation
  if (replay.stopping.isSo) {
    return Effect.flatMap(isNoted(replay, name), (isDone) =>
      isDone ? Effect.void : Effect.andThen(outside(replay, self), note(replay, name))
    )
  }
  const { executionId, instance } = replay
  // a separate instance: the call that cancels may be interrupted itself, so an engine that suspends this step must not suspend the run
  // with it
  const apart = { ...replay, instance: WorkflowInstance.initial(instance.workflow, executionId) }
  const work = Effect.mapError(self, saying)
  const recorded = record(apart, { line, name, run, value, error: Said, work })
  return Effect.flatMap(Effect.forkChild(recorded), Fiber.join)
}
