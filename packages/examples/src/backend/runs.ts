/** Runs of the agent, and those that wait: the same for every endpoint. A run lives in the scope of its request. */
import { Agent, type Approval, type KintsugiError, type Message, type Model, Snapshot } from "@kintsugi/core"
import { Effect, Option, type Scope, Stream } from "effect"
import type { Ending } from "./api.ts"
import { desk } from "./desk.ts"
import { NoSuchRun, RunFailed, StaleDecision } from "./problems.ts"
import { Running } from "./running.ts"
import type { Shop } from "./shop.ts"
import { type Row, Suspended } from "./suspended.ts"

type Run = Agent.Run<string, KintsugiError.KintsugiError>

const going = Agent.resume(desk)

export const ask = (input: string, user?: string) =>
  Effect.scoped(Effect.flatMap(desk.start(input), (run) => stored(run, user)))

/** The end of a run; one that waits is stored first. */
const stored = (run: Run, user: string | undefined) =>
  Effect.flatMap(ended(run, user), ({ ending, row, runId }) =>
    runId === undefined
      ? Effect.succeed(ending)
      : Effect.as(
          Suspended.use(({ put }) => put(runId, row)),
          ending
        )
  )

interface Ended {
  readonly ending: Ending
  /** The row of the run, and its id if it waits. */
  readonly row: Row
  readonly runId?: string
  /** What became of the decisions. */
  readonly answers: ReadonlyArray<Approval.DecisionReceipt>
}

const ended = (run: Run, user: string | undefined): Effect.Effect<Ended, RunFailed> =>
  Effect.gen(function* () {
    const outcome = yield* Effect.tapError(Effect.mapError(run.outcome, RunFailed.from), (failed) => log(run, failed))
    const { decisions: answers = [] } = outcome
    if (outcome._tag === "Completed") {
      const usage = yield* run.usage
      return { ending: { type: "answered", answer: outcome.output, usage }, row: { state: "decided" }, answers }
    }
    const { snapshot } = outcome
    return {
      ending: waiting(snapshot),
      row: { state: "waiting", document: Snapshot.toJson(snapshot), user },
      runId: snapshot.runId,
      answers
    }
  })

/** Each run that fails is a line in the log, with the id and the code that its client has too. */
const log = (run: Run, { code, detail }: RunFailed) =>
  Effect.flatMap(Stream.runHead(run.events), (first) =>
    Effect.annotateLogs(Effect.logWarning(`a run has failed: ${detail}`), {
      runId: Option.getOrUndefined(first)?.runId,
      code
    })
  )

const waiting = (snapshot: Snapshot.Snapshot) => ({
  type: "waiting" as const,
  runId: snapshot.runId,
  requests: Snapshot.requestsOf(snapshot)
})

/** Documents in the store are our own: one that cannot be read is a bug. */
const read = (document: unknown) => Effect.orDie(Snapshot.fromJson(document))

export const show = (runId: string) =>
  Suspended.use((store) => Effect.map(Effect.flatMap(store.show(runId), read), waiting))

/** What the runs of a user wait for. */
export const waitingOf = (user: string) =>
  Suspended.use((store) =>
    Effect.flatMap(store.list(user), (documents) =>
      Effect.forEach(documents, (document) =>
        Effect.map(read(document), (snapshot) => ({
          runId: snapshot.runId,
          waiting: Snapshot.waitingOf(snapshot)
        }))
      )
    )
  )

/**
 * Goes on with a run. If it fails or is interrupted, it waits as before: the same decision may be sent again, and the
 * idempotency keys of its tools are the same then.
 */
export const decide = (runId: string, decisions: ReadonlyArray<Approval.Decided>) =>
  Suspended.use((store) =>
    Effect.acquireUseRelease(
      store.take(runId),
      (before) => Effect.flatMap(read(before.document), (snapshot) => goOn(snapshot, decisions, before.user)),
      (before, exit) => store.put(runId, exit._tag === "Success" ? exit.value.row : { state: "waiting", ...before })
    )
  ).pipe(
    Effect.flatMap(({ ending }) => ending),
    // of a run that was decided about before, the store knows no more
    Effect.catchTag("StaleDecision", (stale) =>
      stale.answers.length > 0
        ? Effect.fail(stale)
        : Effect.fail(
            new StaleDecision({
              runId,
              requests: [],
              answers: decisions.map(({ digest }) => notCounted(digest, "already-decided"))
            })
          )
    )
  )

interface Gone {
  /** Its new row, also after a decision that did not count. */
  readonly row: Row
  readonly ending: Effect.Effect<Ending, StaleDecision>
}

const goOn = (from: Snapshot.Snapshot, decisions: ReadonlyArray<Approval.Decided>, user: string | undefined) =>
  Effect.gen(function* (): Effect.fn.Return<Gone, RunFailed, Model.Model | Shop | Scope.Scope> {
    const { runId } = from
    const asked = Snapshot.requestsOf(from)
    const digests = new Set(asked.map(({ digest }) => digest))
    const unknown = decisions.flatMap(({ digest }) =>
      digests.has(digest) ? [] : [notCounted(digest, "unknown-request")]
    )
    if (unknown.length > 0) {
      const stale = new StaleDecision({ runId, requests: asked, answers: unknown })
      return { row: { state: "waiting", document: Snapshot.toJson(from), user }, ending: Effect.fail(stale) }
    }
    // the store has given the document to this decision alone, and has it back after a failure
    const { answers, ending, row } = yield* Effect.flatMap(going.start({ from, decisions, repeat: true }), (run) =>
      ended(run, user)
    )
    if (answers.every(({ _tag }) => _tag === "Counted")) return { row, ending: Effect.succeed(ending) }
    const requests = ending.type === "waiting" ? ending.requests : []
    return { row, ending: Effect.fail(new StaleDecision({ runId, requests, answers })) }
  }).pipe(Effect.scoped)

const notCounted = (digest: string, reason: "unknown-request" | "already-decided"): Approval.DecisionReceipt => ({
  _tag: "NotCounted",
  digest,
  reason
})

/** The events of a run, as they happen. The run is interrupted when its reader goes away, and stored before the stream ends. */
const eventsOf = <E extends KintsugiError.KintsugiError, R>(
  starting: Effect.Effect<Agent.Run<string, E>, never, R | Scope.Scope>,
  user?: string
) => Stream.unwrap(Effect.map(starting, (run) => Stream.concat(run.events, Stream.fromEffectDrain(stored(run, user)))))

export const watch = (input: string, user?: string) => eventsOf(desk.start(input), user)

/** Starts a run that goes on without its reader. */
export const start = (input: string, user?: string) =>
  Running.use((running) => running.start(desk.start(input), (run) => stored(run, user)))

/** Stops such a run; a reader that leaves does not. */
export const stop = (runId: string) =>
  Running.use(({ find }) => find(runId)?.interrupt ?? Effect.fail(new NoSuchRun({ runId })))

/** The next turn of a conversation. With the id of its chat, it goes on without its reader. */
export const chat = (from: Message.Transcript, input: string, id?: string) => {
  const starting = going.start({ from, input })
  if (id === undefined) return Effect.succeed(eventsOf(starting))
  return Running.use((running) =>
    Effect.map(
      running.start(starting, (run) => stored(run, undefined), id),
      (runId) => running.find(runId)?.events ?? Stream.empty
    )
  )
}
