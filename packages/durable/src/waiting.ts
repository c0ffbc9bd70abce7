/**
 * Lists what a durable run waits for. Each call that waits has a row of its own, so any process can list them; the rows are numbered in the
 * order in which the calls began to wait. A row names the row that is stored when the wait is over.
 */
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import type * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Approval, Snapshot } from "@kintsugi/core"
import { isLeft, isNoted, note } from "./losing.ts"
import type { Replay } from "./recording.ts"
import { ancestry, unreadOf } from "./saying.ts"

type Execution = Pick<Replay, "engine" | "executionId" | "instance">

const Stored = Schema.toCodecJson(
  Schema.Struct({
    waiting: Snapshot.Waiting,
    end: Schema.String,
    /** The ids of the ancestors of the run that waits, the nearest first. */
    ancestors: Schema.optionalKey(Schema.Array(Schema.String)),
    /** Set for a deferred call whose run has gone on without it. No message withdraws such a call. */
    isLate: Schema.optionalKey(Schema.Literal(true))
  })
)
const encode = Schema.encodeEffect(Stored)
const decode = Schema.decodeUnknownEffect(Stored)

const rowOf = (nth: number) => DurableDeferred.make(`waits/${nth}`, { success: Schema.Json })

const resultOf = <S extends Schema.Constraint>(
  { engine, instance }: Execution,
  row: DurableDeferred.DurableDeferred<S, Schema.Never>
) => Effect.provideService(engine.deferredResult(row), WorkflowInstance, instance)

const storedAt = (of: Execution, nth: number): Effect.Effect<typeof Stored.Type | undefined> =>
  Effect.flatMap(resultOf(of, rowOf(nth)), (found) =>
    Option.isNone(found) || Exit.isFailure(found.value) ? Effect.undefined : Effect.orDie(decode(found.value.value))
  )

/** The entry of the list for a request for approval. */
export const waitingFor = (request: Approval.ApprovalRequest): Snapshot.Waiting => {
  const { agent, callId, expiresAt, failed, runId, tool } = request
  return { type: failed === undefined ? "approval" : "ask", runId, agent, callId, tool, request, expiresAt }
}

/** Lists a call until the row `end` is stored. The call gets the first free number, unless it is listed already. */
export const list = (replay: Replay, waiting: Snapshot.Waiting, end: string, isLate = false): Effect.Effect<void> =>
  Effect.gen(function* () {
    // Mutant `"Stryker was here!"` survives: no run has this id either, so it has no ancestors
    const ancestors = ancestry(replay, waiting.runId ?? "").slice(1)
    const around = ancestors.length === 0 ? {} : { ancestors }
    const value = yield* Effect.orDie(encode({ waiting, end, ...around, ...(isLate ? { isLate } : {}) }))
    for (let nth = 0; ; nth++) {
      const before = yield* storedAt(replay, nth)
      if (before?.end === end) return
      if (before !== undefined) continue
      const token = DurableDeferred.tokenFromExecutionId(rowOf(nth), {
        workflow: replay.instance.workflow,
        executionId: replay.executionId
      })
      yield* Effect.provideService(DurableDeferred.succeed(rowOf(nth), { token, value }), WorkflowEngine, replay.engine)
      // another call may have taken this number meanwhile, so look which one is stored
      if ((yield* storedAt(replay, nth))?.end === end) return
    }
  })

/** The requests about one call that were listed, the oldest first. */
export const requestsOf = Effect.fnUntraced(function* (of: Execution, key: string) {
  const found = new Map<string, Approval.ApprovalRequest>()
  for (let nth = 0; ; nth++) {
    const waiting = (yield* storedAt(of, nth))?.waiting
    if (waiting === undefined) return [...found.values()]
    if ((waiting.type === "approval" || waiting.type === "ask") && waiting.request.key === key) {
      found.set(waiting.request.digest, waiting.request)
    }
  }
})

const withdrawn = (end: string): string => `${end}/withdrawn`

/** Whether the wait with this `end` was over without its decision or result, because its call ended. */
export const isWithdrawn = (of: Execution, end: string): Effect.Effect<boolean> => isNoted(of, withdrawn(end))

/** Runs a wait. If the wait is cut off, its call is no longer listed, unless the run goes on in another replay. */
export const untilOver = <A>(replay: Replay, end: string, self: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.onExit(self, (exit) => (Exit.isSuccess(exit) || isLeft(replay) ? Effect.void : note(replay, withdrawn(end))))

/**
 * Lists the waits that are not over: the entry of each, the row that ends it, its run and the ancestors of that run, and whether that run
 * goes on without the result.
 */
export const listedIn = Effect.fnUntraced(function* (of: Execution) {
  // a map, because a storage that shows rows late may store a call twice
  const found = new Map<string, typeof Stored.Type>()
  for (let nth = 0; ; nth++) {
    const stored = yield* storedAt(of, nth)
    if (stored === undefined) break
    found.set(stored.end, stored)
  }
  const all: Array<{
    readonly end: string
    readonly waiting: Snapshot.Waiting
    readonly within: ReadonlyArray<string>
    readonly isLate: boolean
  }> = []
  for (const { ancestors = [], end, isLate = false, waiting } of found.values()) {
    const isOver = Option.isSome(yield* resultOf(of, DurableDeferred.make(end, { success: Schema.Json })))
    const within = [waiting.runId ?? "", ...ancestors]
    if (!isOver && !(yield* isWithdrawn(of, end))) all.push({ end, waiting, within, isLate })
  }
  return all
})

/** The decisions, deferred calls and unread messages that a run has at this moment. */
export const waitingNow = (
  { hasInbox, workflow }: { readonly hasInbox: boolean; readonly workflow: Workflow.Any },
  executionId: string
): Effect.Effect<ReadonlyArray<Snapshot.Waiting>, never, WorkflowEngine> =>
  Effect.gen(function* () {
    const engine = yield* WorkflowEngine
    const of: Execution = { engine, executionId, instance: WorkflowInstance.initial(workflow, executionId) }
    const all = (yield* listedIn(of)).map(({ waiting }) => waiting)
    if (!hasInbox) return all
    const unread = yield* unreadOf({ engine, workflow, executionId })
    return [
      ...all,
      ...unread.map(({ id, message, to }) => ({
        type: "message" as const,
        ...(to === undefined ? {} : { runId: to }),
        id,
        message
      }))
    ]
  })
