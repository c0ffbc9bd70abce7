/** Runs of an agent in this process. Those that wait are documents in a store, so that they outlive it. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { type Agent, Snapshot, Tool } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { firstOfMost } from "./crowded.ts"
import { drawn, failureOf, notCounted, pause, refusalOf } from "./ends.ts"
import { RunConflictError, runFailed, RunNotFoundError, TooBusyError } from "./errors.ts"
import { hasBegun } from "./events.ts"
import { added, eventsOf, type Part, partBefore, partOf } from "./parts.ts"
import type { AgentRuns, Of } from "./runs.ts"
import { type Ending, shown } from "./schemas.ts"
import { type SuspendedRun, SuspendedRuns } from "./suspended.ts"
import { unfitOf } from "./unfit.ts"

/** The limits of the runs in a process. */
export interface RunLimits {
  /** The most runs at work at a time; 1000 by default. A request beyond it fails with `TooBusyError`. */
  readonly maxAtWork?: number
  /** How long a run is found after its end; 10 minutes by default. */
  readonly endedAge?: Duration.Input
  /** The most runs that are found after their end; 1000 by default. Beyond it, the first of the subject that has the most is forgotten. */
  readonly maxEnded?: number
}

type Run = Agent.Run<unknown, unknown>
type Starting = Effect.Effect<Run, never, Scope.Scope>

/** A run that this process has started. */
interface Entry {
  readonly run: Run
  /** Its events: those before a decision, and those since. */
  readonly parts: ReadonlyArray<Part>
  /** The JSON of its input. */
  readonly asked: string
  end: Deferred.Deferred<Ending<unknown>, unknown>
  /** The ids of the messages to it. */
  readonly said: Set<string>
  isAtWork: boolean
  isStopped: boolean
  /** Whether it has ended with a row in the store, and was not stopped since. */
  isSuspended: boolean
}

/** What a run of the agent begins with. */
export interface Served {
  readonly name: string
  readonly encode: (input: unknown) => Effect.Effect<unknown>
  readonly start: (input: unknown) => Starting
  readonly resume: (from: Agent.Resumption<unknown>) => Starting
}

/** The most ids of messages to a run that are remembered: a message with a forgotten id would be read a second time. */
const mostSaid = 1000

const remember = (said: Set<string>, id: string): void => {
  said.add(id)
  for (const first of said) {
    if (said.size <= mostSaid) break
    said.delete(first)
  }
}

const locationOf = ({ run, subject }: Of): string => JSON.stringify([subject, run])

export const runsInMemory = (
  { encode, name, resume, start }: Served,
  { endedAge = "10 minutes", maxAtWork = 1000, maxEnded = 1000 }: RunLimits
): Effect.Effect<AgentRuns<unknown, unknown, unknown>, never, SuspendedRuns | Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const suspended = yield* SuspendedRuns
    const locks = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
    /** One request at a time finds a run and begins something with it. */
    const alone =
      (of: Of) =>
      <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.suspend(() => {
          const at = locationOf(of)
          const lock = locks.get(at) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
          locks.set(at, lock)
          lock.users++
          // Mutant `true` for `--lock.users === 0 && locks.delete(at)` survives: memory only
          const unlock = Effect.sync(() => --lock.users === 0 && locks.delete(at))
          return Effect.ensuring(lock.semaphore.withPermit(self), unlock)
        })
    const entries = new Map<string, Entry>()
    /** The runs that have ended, in this order: what makes each be forgotten before its time, and whose it is. */
    const ended = new Map<Deferred.Deferred<void>, string>()
    let atWork = 0

    /** Remembers a run that has ended for a while. */
    const forget = (of: Of, entry: Entry) =>
      Effect.gen(function* () {
        const early = yield* Deferred.make<void>()
        ended.set(early, of.subject)
        const [first] = (ended.size > maxEnded && firstOfMost(ended, ([, subject]) => subject)) || []
        if (first !== undefined) {
          // Mutant `;` survives: the fiber that is woken below deletes it in the same step
          ended.delete(first)
          yield* Deferred.succeed(first, undefined)
        }
        yield* Effect.raceFirst(Effect.sleep(endedAge), Deferred.await(early))
        ended.delete(early)
        const at = locationOf(of)
        if (entries.get(at) === entry) entries.delete(at)
      })

    /** Documents in the store are those of the server: one that cannot be read is a bug. */
    const read = ({ snapshot }: SuspendedRun) => Effect.orDie(Snapshot.fromJson(snapshot))

    const begin = (of: Of, asked: string, starting: Starting, from?: SuspendedRun, said?: string) =>
      Effect.gen(function* () {
        if (atWork >= maxAtWork) return yield* Effect.fail(new TooBusyError({ retryAfter: pause }))
        atWork++
        const own = yield* Scope.fork(scope)
        const abandoned = Effect.andThen(
          Effect.sync(() => atWork--),
          Scope.close(own, Exit.void)
        )
        const run = yield* Effect.onError(Effect.provideService(starting, Scope.Scope, own), () => abandoned)
        const end = yield* Deferred.make<Ending<unknown>, unknown>()
        const ids = new Set(from?.said)
        if (said !== undefined) remember(ids, said)
        const earlier =
          entries.get(locationOf(of))?.parts ?? (from === undefined ? [] : [partBefore(yield* read(from))])
        const parts = from === undefined ? [partOf(run)] : added(earlier, partOf(run))
        const entry: Entry = { run, parts, asked, end, said: ids, isAtWork: true, isStopped: false, isSuspended: false }
        entries.set(locationOf(of), entry)
        const ending = Effect.gen(function* () {
          const exit = yield* Effect.exit(run.outcome)
          const put = yield* Effect.exit(stored(of, entry, exit, from))
          entry.isAtWork = false
          // a run that waits and is not in the store cannot go on
          entry.isSuspended &&= Exit.isSuccess(put)
          atWork--
          yield* Deferred.done(end, yield* endOf(of, run, Exit.isSuccess(put) ? exit : Exit.failCause(put.cause)))
          yield* Scope.close(own, Exit.void)
        })
        const watching = Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(Effect.exit(restore(Effect.exit(run.outcome))), () =>
            // the server may be about to stop
            Effect.andThen(Effect.andThen(run.interrupt, ending), restore(forget(of, entry)))
          )
        )
        yield* Effect.forkIn(watching, scope, { startImmediately: true })
        return entry
      }).pipe(Effect.uninterruptible)

    /** Stores a run that waits. One that goes on and fails before a tool has begun waits as before; after that, it has ended. */
    const stored = (of: Of, entry: Entry, exit: Exit.Exit<Agent.Outcome<unknown>, unknown>, from?: SuspendedRun) => {
      const key = { agent: name, ...of }
      if (Exit.isSuccess(exit) && exit.value._tag === "Suspended") {
        entry.isSuspended = true
        const snapshot = Snapshot.toJson(exit.value.snapshot)
        return suspended.put(key, { asked: entry.asked, snapshot, repeat: false, said: [...entry.said] })
      }
      if (from === undefined) return Effect.void
      if (Exit.isSuccess(exit) || entry.isStopped) return suspended.remove(key)
      const isRefused = exit.cause.reasons.some(
        (reason) => Cause.isFailReason(reason) && reason.error instanceof DoorError.SnapshotRefusedError
      )
      if (isRefused) return Effect.void
      return Effect.flatMap(Stream.runCollect(entry.run.events), (events) =>
        hasBegun(events) ? suspended.remove(key) : suspended.put(key, { ...from, repeat: true })
      )
    }

    const endOf = (
      { run: id }: Of,
      run: Run,
      exit: Exit.Exit<Agent.Outcome<unknown>, unknown>
    ): Effect.Effect<Exit.Exit<Ending<unknown>, unknown>> => {
      if (Exit.isFailure(exit)) return Effect.map(failureOf(id, exit.cause), Exit.fail)
      const outcome = exit.value
      if (outcome._tag === "Suspended") return Effect.succeed(Exit.succeed(waitingIn(id, outcome.snapshot)))
      return Effect.map(run.usage, (usage) =>
        Exit.succeed({ _tag: "Answered" as const, run: id, output: outcome.output, usage })
      )
    }

    /** A run at work or over, or the row of one that waits. */
    const found = (of: Of) =>
      Effect.gen(function* () {
        const entry = entries.get(locationOf(of))
        if (entry?.isAtWork === true) return { entry, row: undefined }
        const row = yield* suspended.get({ agent: name, ...of })
        if (row !== undefined) return { entry, row }
        // a run without its row goes on in another process, or has waited for too long
        if (entry === undefined || entry.isSuspended) return yield* Effect.fail(new RunNotFoundError({ run: of.run }))
        return { entry, row }
      })

    const waitingOf = (of: Of, row: SuspendedRun) =>
      Effect.map(read(row), (snapshot): Ending<unknown> => waitingIn(of.run, snapshot))

    const runs: AgentRuns<unknown, unknown, unknown> = {
      start: ({ input, run: given, subject }) =>
        Effect.gen(function* () {
          const asked = JSON.stringify(yield* encode(input))
          const run = given ?? (yield* drawn)
          const of = { subject, run }
          const finding = Effect.gen(function* () {
            const before = yield* Effect.orElseSucceed(found(of), () => undefined)
            if (before === undefined) return yield* begin(of, asked, start(input))
            if ((before.entry ?? before.row)?.asked === asked) return
            return yield* Effect.fail(new RunConflictError({ run, reason: "other-input" }))
          })
          yield* alone(of)(finding)
          return run
        }),
      end: (of) =>
        Effect.flatMap(found(of), ({ entry, row }) =>
          row === undefined ? Deferred.await(entry.end) : waitingOf(of, row)
        ),
      show: (of) =>
        Effect.flatMap(found(of), ({ entry, row }) => {
          if (row !== undefined) return waitingOf(of, row)
          return entry.isAtWork ? Effect.undefined : Deferred.await(entry.end)
        }),
      events: ({ after, ...of }) =>
        Effect.gen(function* () {
          const there = yield* found(of)
          const parts =
            there.row === undefined ? there.entry.parts : (there.entry?.parts ?? [partBefore(yield* read(there.row))])
          return Stream.mapError(yield* eventsOf(of.run, parts, after), runFailed)
        }).pipe(Effect.mapError((error) => (error._tag === "CursorExpiredError" ? runFailed(error) : error))),
      decide: ({ decisions, ...of }) =>
        Effect.gen(function* () {
          const { run } = of
          const { entry, row } = yield* found(of)
          if (row === undefined) {
            return yield* Effect.fail(new RunConflictError({ run, reason: entry.isAtWork ? "at-work" : "over" }))
          }
          const snapshot = yield* read(row)
          const digests = new Set(Snapshot.requestsOf(snapshot).map(({ digest }) => digest))
          const unknown = decisions.filter(({ digest }) => !digests.has(digest))
          if (unknown.length > 0) {
            const receipts = unknown.map(({ digest }) => notCounted(digest))
            return yield* Effect.fail(
              new RunConflictError({
                run,
                reason: "not-counted",
                receipts,
                waiting: shown(Snapshot.waitingOf(snapshot))
              })
            )
          }
          return yield* begin(of, row.asked, resume({ from: snapshot, decisions, repeat: row.repeat }), row)
        }).pipe(
          alone(of),
          Effect.flatMap((entry) => decided(of, entry))
        ),
      settle: ({ exit, run, subject, token }) => {
        const of = { run, subject }
        return Effect.gen(function* () {
          const { entry, row } = yield* found(of)
          if (row === undefined) {
            return entry.isAtWork ? yield* Effect.mapError(Tool.settle(token, exit), unfitOf) : uncounted("run-over")
          }
          const from = yield* read(row)
          const waits = Snapshot.waitingOf(from).some((one) => one.type === "deferred" && one.token === token)
          if (!waits) return uncounted("unknown-token")
          const settlements = [{ token, exit }]
          return yield* begin(of, row.asked, resume({ from, settlements, repeat: row.repeat }), row)
        }).pipe(
          alone(of),
          Effect.flatMap((begun) => ("_tag" in begun ? Effect.succeed(begun) : receiptOf(begun, token)))
        )
      },
      say: ({ id, message, supersede = false, ...of }) =>
        Effect.gen(function* () {
          const { entry, row } = yield* found(of)
          if (id !== undefined && (row === undefined ? entry.said.has(id) : row.said?.includes(id))) return
          if (row !== undefined) {
            const from = yield* read(row)
            yield* begin(of, row.asked, resume({ from, say: { message, supersede }, repeat: row.repeat }), row, id)
            return
          }
          yield* Effect.mapError(entry.run.say(message, { supersede }), (error) =>
            error._tag === "RunOverError"
              ? new RunConflictError({ run: of.run, reason: "over" })
              : new TooBusyError({ retryAfter: pause })
          )
          if (id !== undefined) remember(entry.said, id)
        }).pipe(alone(of)),
      stop: (of) =>
        Effect.gen(function* () {
          const { entry, row } = yield* found(of)
          if (row === undefined) {
            entry.isStopped = true
            yield* entry.run.interrupt
            yield* Effect.exit(Deferred.await(entry.end))
            return
          }
          yield* suspended.remove({ agent: name, ...of })
          if (entry === undefined) return
          entry.isSuspended = false
          entry.end = yield* Deferred.make<Ending<unknown>, unknown>()
          yield* Deferred.fail(entry.end, new RunConflictError({ run: of.run, reason: "stopped" }))
        }).pipe(alone(of))
    }
    return runs
  })

/** The end of a run that goes on with decisions: a failure if one of them does not count. */
const decided = ({ run }: Of, entry: Entry) =>
  Effect.gen(function* () {
    const ending = yield* Deferred.await(entry.end)
    const receipts = yield* entry.run.decisions
    const refusal = refusalOf(run, receipts, ending._tag === "Waiting" ? ending.waiting : [])
    return refusal === undefined ? ending : yield* Effect.fail(refusal)
  })

const uncounted = (reason: Extract<Tool.Receipt, { readonly _tag: "NotCounted" }>["reason"]): Tool.Receipt => ({
  _tag: "NotCounted",
  reason
})

/** Whether the settlement with which a run goes on counts. */
const receiptOf = ({ run }: Entry, token: string): Effect.Effect<Tool.Receipt> =>
  Effect.map(run.settlements, (receipts) => {
    // Mutant `true` survives: a run goes on with one settlement
    const { token: _, ...receipt } = receipts.find((one) => one.token === token) ?? {
      ...uncounted("unknown-token"),
      token
    }
    return receipt
  })

const waitingIn = (run: string, snapshot: Snapshot.Snapshot): Ending<never> => ({
  _tag: "Waiting",
  run,
  waiting: shown(Snapshot.waitingOf(snapshot))
})
