/**
 * What a durable run waits for. Each call that waits has a row of its own, numbered in the order in which the calls began to wait, so that any
 * process can list them. The row names another one, which is stored when the wait is over.
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
    /** The ancestors of the run that waits, the nearest first. */
    ancestors: Schema.optionalKey(Schema.Array(Schema.String)),
    /** Set for a call whose run goes on: no message withdraws it. */
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

/** A request, as what its call waits for. */
export const waitingFor = (request: Approval.ApprovalRequest): Snapshot.Waiting => {
  const { agent, callId, expiresAt, failed, runId, tool } = request
  return { type: failed === undefined ? "approval" : "ask", runId, agent, callId, tool, request, expiresAt }
}

/** Lists a call, until `end` is stored: under the first number that is free, unless it is listed. */
export const list = (replay: Replay, waiting: Snapshot.Waiting, end: string, isLate = false): Effect.Effect<void> =>
  Effect.gen(function* () {
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
      // another call may have got this number
      if ((yield* storedAt(replay, nth))?.end === end) return
    }
  })

const withdrawn = (end: string): string => `${end}/withdrawn`

/** Whether the call of this wait has ended without what it waited for. */
export const isWithdrawn = (of: Execution, end: string): Effect.Effect<boolean> => isNoted(of, withdrawn(end))

/** A call that ends while it waits is no longer listed, unless the run goes on in another replay. */
export const untilOver = <A>(replay: Replay, end: string, self: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.onExit(self, (exit) => (Exit.isSuccess(exit) || isLeft(replay) ? Effect.void : note(replay, withdrawn(end))))

/**
 * What is listed and not over: what the call waits for, what ends it, its run with the ancestors of that, and whether that run goes on without
 * it.
 */
export const listedIn = Effect.fnUntraced(function* (of: Execution) {
  // storage that shows a row late may have got it twice
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

/** What a run waits for now, with the messages to it that it has not read. */
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
