/** Calls that wait for the word of a person, for as long as that takes, without a process. */
import * as DurableClock from "effect/workflow/DurableClock"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Approval } from "@kintsugi/core"
import type { Line } from "./lines.ts"
import { stillThere } from "./losing.ts"
import { acted, goingOn, reading, record, type Replay, underWay } from "./recording.ts"

/** What was decided, and when. */
const Answer = Schema.toCodecJson(Schema.Struct({ at: Schema.Finite, decision: Approval.Decision }))

const decodeAnswer = Schema.decodeUnknownEffect(Answer)

/** A decision as it is stored. */
export const answerOf = (at: number, decision: Approval.Decision) => Schema.encodeEffect(Answer)({ at, decision })

const late = "late"

/** Holds the decision about a request. A request that changed, or was made anew, has another one. */
export const deferredOf = ({ digest, key }: Approval.ApprovalRequest) =>
  DurableDeferred.make(nameOf({ digest, key }), { success: Schema.Json })

/** Holds a refusal besides: until the call goes on, it counts even after an approval. */
export const refusalOf = (request: Approval.ApprovalRequest) =>
  DurableDeferred.make(`${nameOf(request)}/refused`, { success: Schema.Json })

const nameOf = ({ digest, key }: Pick<Approval.ApprovalRequest, "digest" | "key">): string =>
  `${key}/approval/${digest}`

/** Announces the request once; then waits for its decision, no longer than the time of the call. */
export const decided = (
  replay: Replay,
  line: Line,
  request: Approval.ApprovalRequest,
  tell: Effect.Effect<void>
): Effect.Effect<Approval.Decision> => {
  const name = nameOf(request)
  const asked = record(replay, { line, name: `${name}/asked`, value: Schema.Void, error: Schema.Never, work: tell })
  const deferred = deferredOf(request)
  const answered = DurableDeferred.await(deferred)
  const waiting = Effect.gen(function* () {
    yield* stillThere(replay, name, deferred)
    for (let part = 1; ; part++) {
      const { time, until } = line
      const waited: Schema.Json = yield* until === Infinity
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
                  duration: Duration.millis(Math.max(1, until - time)),
                  inMemoryThreshold: 0
                }),
                late
              )
            ]
          })
      if (waited !== late) {
        const { at, decision } = yield* reading(replay, name, decodeAnswer(waited))
        line.advance(at)
        yield* goingOn(replay, line, name)
        return decision
      }
      line.reach(until)
      yield* acted
    }
  }).pipe(
    Effect.provideService(Clock.Clock, replay.clock),
    Effect.provideService(WorkflowEngine, replay.engine),
    Effect.provideService(WorkflowInstance, replay.instance)
  )
  const first = Effect.andThen(asked, underWay(line, Effect.andThen(replay.lines.calm, waiting)))
  return Effect.flatMap(first, (decision) =>
    decision.type === "approve"
      ? Effect.map(refused(replay, line, request), (refusal) => refusal ?? decision)
      : Effect.succeed(decision)
  )
}

/** A refusal that has come by the time the call goes on. Recorded, so that a later refusal counts in no replay either. */
const refused = (
  replay: Replay,
  line: Line,
  request: Approval.ApprovalRequest
): Effect.Effect<Approval.Decision | null> => {
  const name = `${nameOf(request)}/refused`
  const work = Effect.gen(function* () {
    const exit = yield* replay.engine.deferredResult(refusalOf(request))
    if (Option.isNone(exit) || Exit.isFailure(exit.value)) return null
    return (yield* reading(replay, name, decodeAnswer(exit.value.value))).decision
  }).pipe(Effect.provideService(WorkflowInstance, replay.instance))
  return record(replay, { line, name, value: Schema.NullOr(Approval.Decision), error: Schema.Never, work })
}
