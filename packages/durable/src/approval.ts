/** Tool calls that wait for the decision of a person, as long as needed, without a process. */
import * as DurableClock from "effect/workflow/DurableClock"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import type * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { Approval } from "@kintsugi/core"
import type { Line } from "./lines.ts"
import { leaveToNewer } from "./leaving.ts"
import { isNoted, note, stillThere } from "./losing.ts"
import { migratedArguments } from "./migrating.ts"
import type { AnyCodec } from "./outcomes.ts"
import { acted, activity, goingOn, reading, record, type Replay, underWay } from "./recording.ts"
import { isSuperseded } from "./saying.ts"
import { isWithdrawn, list, requestsOf, untilOver, waitingFor } from "./waiting.ts"

/**
 * The stored answer to a request: the decision, when it came, and its id. Without a decision, the request has expired, or was withdrawn.
 */
const Answer = Schema.toCodecJson(
  Schema.Struct({
    at: Schema.Finite,
    decision: Schema.optionalKey(Approval.Decision),
    id: Schema.optionalKey(Schema.String),
    /** Set if a message of the user has withdrawn the request. */
    superseded: Schema.optionalKey(Schema.Literal(true)),
    /** How many migrations the workflow has, if a newer agent has withdrawn the request because it asks about the migrated call. */
    revision: Schema.optionalKey(Schema.Finite)
  })
)

const isDecision = Schema.is(Approval.Decision)

const decodeAnswer = Schema.decodeUnknownEffect(Answer)

/** Encodes an answer to a request, to store it. */
const answerOf = (at: number, decided: Omit<typeof Answer.Type, "at">) =>
  Effect.orDie(Schema.encodeEffect(Answer)({ at, ...decided }))

/** The answer that ends the wait for a decision when a message of the user withdraws the request. */
export const superseding = (at: number) => answerOf(at, { superseded: true })

const late = "late"

/**
 * The row that holds the answer to a request; the first answer that is stored counts. A request that has changed, or was made again, has
 * another digest and so another row.
 */
const deferredOf = ({ digest, key }: Approval.ApprovalRequest) =>
  DurableDeferred.make(nameOf({ digest, key }), { success: Schema.Json })

const nameOf = ({ digest, key }: Pick<Approval.ApprovalRequest, "digest" | "key">): string =>
  `${key}/approval/${digest}`

/** The name of the note that this request was made. `askedAbout` is that of the note that any request was made about its call. */
const asked = (request: Approval.ApprovalRequest): string => `${nameOf(request)}/waiting`
const askedAbout = ({ key }: Approval.ApprovalRequest): string => `${key}/approval/open`

/**
 * Announces a request once, then waits for its decision. The wait ends at `endsAt`, or with a wait around it, such as a timeout. A decision
 * that was stored before counts. Gives `undefined` if a message of the user has withdrawn the request.
 */
export const decided = (
  replay: Replay,
  line: Line,
  request: Approval.ApprovalRequest,
  endsAt: number | undefined,
  tell: Effect.Effect<void>
): Effect.Effect<Approval.Decision | "expired" | undefined> =>
  Effect.gen(function* () {
    const before = replay.migrations.length === 0 ? undefined : yield* decidedBefore(replay, request)
    const decision = yield* deciding(replay, line, before ?? request, endsAt, tell)
    if (before === undefined || decision === undefined || decision === "expired") return decision
    if (decision.type !== "approve" || decision.arguments === undefined) return decision
    const { runId, tool } = before
    const edited = yield* migratedArguments(replay, { runId, step: nameOf(before), tool }, decision.arguments)
    return { ...decision, arguments: edited }
  })

/** The result of a step which says that a replay has come to its place only after a migration. */
const undecided = "undecided"

/**
 * The request about this call that an earlier version of the agent has made and whose decision the run has taken then: the call goes on with
 * that decision. A request without one is withdrawn, because the person has looked at other arguments. `undefined` without such a request.
 */
const decidedBefore = (
  replay: Replay,
  request: Approval.ApprovalRequest
): Effect.Effect<Approval.ApprovalRequest | undefined> =>
  Effect.gen(function* () {
    const all = yield* requestsOf(replay, request.key)
    if (all.some(({ digest }) => digest === request.digest)) return undefined
    for (const one of all) {
      const name = nameOf(one)
      // the approval of a call says nothing about what to do after its failure
      const isAboutOther = (one.failed === undefined) !== (request.failed === undefined)
      if (isAboutOther || replay.asked.has(name)) continue
      replay.asked.add(name)
      const over = yield* replay.lines.busy(activity(replay, `${name}/over`, Effect.succeed(undecided)))
      if (over !== undecided) return one
      const at = replay.clock.currentTimeMillisUnsafe()
      yield* Effect.flatMap(answerOf(at, { superseded: true, revision: replay.migrations.length }), (answer) =>
        store(deferredOf(one), replay, answer)
      ).pipe(Effect.provideService(WorkflowEngine, replay.engine))
    }
    return undefined
  })

const deciding = (
  replay: Replay,
  line: Line,
  request: Approval.ApprovalRequest,
  endsAt: number | undefined,
  tell: Effect.Effect<void>
): Effect.Effect<Approval.Decision | "expired" | undefined> => {
  const name = nameOf(request)
  const listing = Effect.flatMap(isNoted(replay, asked(request)), (isListed) =>
    isListed ? Effect.void : list(replay, waitingFor(request), name)
  )
  const marking = Effect.forEach([asked(request), askedAbout(request)], (mark) => markOnce(replay, mark), {
    discard: true
  })
  const telling = record(replay, {
    line,
    name: `${name}/requested`,
    value: Schema.Void,
    error: Schema.Never,
    work: tell
  })
  const deferred = deferredOf(request)
  const answered = DurableDeferred.await(deferred)
  // `endsAt` is the last instant at which a decision counts
  const over = endsAt === undefined ? Infinity : endsAt + 1
  const waiting = Effect.gen(function* () {
    yield* stillThere(replay, name, deferred)
    if (yield* isSuperseded(replay, request.runId)) {
      yield* store(deferred, replay, yield* superseding(yield* Clock.currentTimeMillis))
    }
    for (let part = 1; ; part++) {
      const { time, until } = line
      const end = Math.min(until, over)
      const waited: Schema.Json = yield* end === Infinity
        ? answered
        : DurableDeferred.raceAll({
            name: `${name}~${part}`,
            success: Schema.Json,
            error: Schema.Never,
            effects: [
              answered,
              Effect.as(
                DurableClock.sleep({
                  name: `${name}~${part}`,
                  duration: Duration.millis(Math.max(1, end - time)),
                  inMemoryThreshold: 0
                }),
                late
              )
            ]
          })
      if (waited !== late) return yield* taken(waited)
      if (end < until) {
        // a decision may have been stored just before, and then it counts
        yield* store(deferred, replay, yield* answerOf(over, {}))
        return yield* taken(yield* answered)
      }
      line.reach(until)
      yield* acted
    }
  }).pipe(
    Effect.provideService(Clock.Clock, replay.clock),
    Effect.provideService(WorkflowEngine, replay.engine),
    Effect.provideService(WorkflowInstance, replay.instance)
  )
  const taken = Effect.fnUntraced(function* (waited: Schema.Json) {
    const { at, decision, revision = 0, superseded = false } = yield* reading(replay, name, decodeAnswer(waited))
    if (revision > replay.migrations.length) return yield* leaveToNewer(replay, revision)
    line.advance(at)
    yield* goingOn(replay, line, name)
    // a request that has expired before the message came is expired, and not withdrawn
    return decision ?? (superseded && at < over ? undefined : ("expired" as const))
  })
  const announced = Effect.andThen(Effect.andThen(listing, marking), telling)
  const untilDecided = untilOver(replay, name, underWay(line, Effect.andThen(replay.lines.calm, waiting)))
  return Effect.andThen(announced, untilDecided)
}

const markOnce = (replay: Replay, mark: string): Effect.Effect<void> =>
  Effect.flatMap(isNoted(replay, mark), (isMarked) => (isMarked ? Effect.void : note(replay, mark)))

const store = (
  deferred: ReturnType<typeof deferredOf>,
  { executionId, instance: { workflow } }: Pick<Replay, "executionId" | "instance">,
  value: Schema.Json
) =>
  DurableDeferred.succeed(deferred, {
    token: DurableDeferred.tokenFromExecutionId(deferred, { workflow, executionId }),
    value
  })

/**
 * Stores a decision if it can count, and returns whether it counts. A late decision is stored too, because it wakes a run that asks again.
 */
export const decide = (
  workflow: Workflow.Any,
  executionId: string,
  request: Approval.ApprovalRequest,
  decision: Approval.Decision
): Effect.Effect<Approval.DecisionReceipt, never, WorkflowEngine> =>
  Effect.gen(function* () {
    if (!isDecision(decision)) {
      return yield* Effect.die(
        new TypeError(`Durable.decide about tool '${request.tool}': the decision cannot be read`)
      )
    }
    const engine = yield* WorkflowEngine
    const instance = WorkflowInstance.initial(workflow, executionId)
    const run = { engine, executionId, instance }
    const { digest } = request
    const no = (reason: NotCounted["reason"]): Approval.DecisionReceipt => ({ _tag: "NotCounted", digest, reason })
    const deferred = deferredOf(request)
    const read = Effect.map(
      Effect.provideService(engine.deferredResult(deferred), WorkflowInstance, instance),
      Option.flatMap((exit) => (Exit.isSuccess(exit) ? Option.some(exit.value) : Option.none()))
    )
    const fateOf = (stored: Schema.Json, id?: string) =>
      Effect.map(Effect.orDie(decodeAnswer(stored)), (answer): Approval.DecisionReceipt => {
        if (answer.at > request.expiresAt) return no("late")
        if (answer.decision === undefined) return no(answer.superseded === true ? "withdrawn" : "late")
        return id !== undefined && answer.id === id ? { _tag: "Counted", digest } : no("already-decided")
      })
    const before = yield* read
    if (Option.isSome(before)) return yield* fateOf(before.value)
    if (yield* isOver(engine, workflow, executionId)) return no("run-over")
    if (!(yield* isNoted(run, asked(request)))) {
      return no((yield* isNoted(run, askedAbout(request))) ? "other-digest" : "unknown-request")
    }
    if (yield* isWithdrawn(run, nameOf(request))) return no("withdrawn")
    const isEmpty = decision.type === "approve" && decision.arguments === undefined
    if (isEmpty && request.failed?.needsArguments === true) return no("nothing-to-run")
    const id = String(yield* Random.next)
    const at = yield* Clock.currentTimeMillis
    yield* store(deferred, run, yield* answerOf(at, { decision, id }))
    // a cluster shows a row some time after it was sent, and the first decision that was sent counts
    const shown = yield* Effect.repeat(read, {
      schedule: Schedule.max([Schedule.spaced("50 millis"), Schedule.recurs(20)]),
      until: Option.isSome
    })
    if (Option.isSome(shown)) return yield* fateOf(shown.value, id)
    return at > request.expiresAt ? no("late") : { _tag: "Counted", digest }
  })

type NotCounted = Extract<Approval.DecisionReceipt, { readonly _tag: "NotCounted" }>

/** Whether a run has ended. An end that the schemas cannot read counts too. */
const isOver = (
  engine: WorkflowEngine["Service"],
  workflow: Workflow.Any,
  executionId: string
): Effect.Effect<boolean> => {
  // cast: the workflow comes from `Durable.workflow`, so its schemas need no services
  const polled = engine.poll(
    workflow as Workflow.Workflow<string, Workflow.AnyStructSchema, AnyCodec, AnyCodec>,
    executionId
  )
  return Effect.catchDefect(
    Effect.map(polled, (result) => Option.isSome(result) && result.value._tag === "Complete"),
    (defect) => (Schema.isSchemaError(defect) ? Effect.succeed(true) : Effect.die(defect))
  )
}
