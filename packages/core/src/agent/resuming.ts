/** The checks before a run goes on from a snapshot: its agent, its signature, and that it is resumed once. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { demand, oneOf } from "../data/Demand.ts"
import { canonical } from "../data/Digest.ts"
import * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import { genuine } from "../event/Genuine.ts"
import { refused } from "../event/Refused.ts"
import * as Snapshot from "../event/Snapshot.ts"
import { SnapshotRefusedError } from "../errors/DoorError.ts"
import * as Token from "../data/Token.ts"
import { goingOn } from "../run/Continuing.ts"
import { resumes } from "../run/Resumed.ts"
import * as Run from "../run/Run.ts"
import { sayings } from "../run/Saying.ts"
import type { Resumption } from "../run/Start.ts"
import { decisionsOf } from "../tool/Decisions.ts"
import type { Decisions, Suspendable } from "../tool/ToolDefinition.ts"
import type { Definition } from "./definition.ts"
import * as Snapshots from "./snapshots.ts"

const isTranscript = Schema.is(Message.Transcript)

/** Checks a resumption, and claims the snapshot last. So a resumption that is refused for another reason can be tried again. */
const admit = (agent: Suspendable, resumption: Resumption<unknown>): Effect.Effect<void, SnapshotRefusedError> =>
  Effect.gen(function* () {
    const whose = `Agent.resume of agent '${agent.name}'`
    demand(whose, "given where to go on", resumption, Predicate.isObject(resumption))
    const { repeat, audience, budget = {}, decisions = [], from, incomplete, say = [], settlements = [] } = resumption
    oneOf("Agent.resume: incomplete", incomplete, ["keep", "continue", "drop"])
    demand(`${whose}: budget`, "limits", budget, Predicate.isObject(budget))
    sayings(agent.name, say)
    yield* listed(`${whose}: decisions`, decisions, isDecided)
    yield* listed(`${whose}: settlements`, settlements, isSettlement)
    if (isTranscript(from)) return
    if (!genuine.has(from) && !Snapshot.isSnapshot(from)) return yield* refused("malformed", "The value")
    const what = `The snapshot of run '${from.runId}'`
    // a sub-agent's snapshot has no id: it resumes only with its parent
    if (!Snapshots.fits(agent, from) || from.id === undefined) return yield* refused("other-agent", what)
    if ((yield* Snapshot.Signing) !== undefined && !genuine.has(from)) return yield* refused("unsigned", what)
    const verifiedFor = genuine.get(from)
    if (audience !== undefined && verifiedFor !== undefined && canonical(audience) !== canonical(verifiedFor)) {
      return yield* refused("bad-signature", what)
    }
    const expected = audience ?? verifiedFor
    for (const decided of decisions) {
      yield* Snapshot.verifyDecision(decided, expected === undefined ? {} : { audience: expected })
    }
    yield* readable(Snapshots.deferrals(agent, from), settlements)
    const { claim } = yield* Snapshot.Claims
    // the id is drawn inside the run, so the replay of a durable run draws the same id
    const isMine = yield* claim({ snapshot: from.id, claimant: yield* RunContext.makeId })
    if (!isMine && repeat !== true) return yield* refused("already-resumed", what)
  })

/** Refuses a value that is no list of decisions or settlements, because a client may send anything. */
const listed = (whose: string, given: unknown, is: (item: unknown) => boolean) =>
  Array.isArray(given) && given.every((item) => is(item))
    ? Effect.void
    : Effect.fail(SnapshotRefusedError.make({ reason: "malformed", what: `${whose} cannot be read` }))

/** Checks the shape of a decision; `Deciding.decided` checks its content. */
const isDecided = (one: unknown): boolean =>
  Predicate.hasProperty(one, "digest") &&
  Predicate.isString(one.digest) &&
  Predicate.hasProperty(one, "decision") &&
  Predicate.hasProperty(one.decision, "type")

const isSettlement = (one: unknown): boolean =>
  Predicate.hasProperty(one, "token") &&
  Predicate.isString(one.token) &&
  Predicate.hasProperty(one, "exit") &&
  Exit.isExit(one.exit)

/** Refuses a settlement that does not fit its tool, or is for another definition of it. */
const readable = Effect.fnUntraced(function* (
  deferrals: ReturnType<typeof Snapshots.deferrals>,
  settlements: NonNullable<Resumption<unknown>["settlements"]>
) {
  for (const { exit, token } of settlements) {
    const deferral = deferrals.find((waiting) => waiting.token === token)?.deferral
    if (deferral === undefined) continue
    const what = `The settlement of tool '${Token.partsOf(token)?.tool ?? ""}'`
    const store = yield* deferral.storeOf(token)
    if (store === "bad-signature") return yield* refused(store, `The token of ${what}`)
    if (store === "unknown-token") {
      const changed = `${what} is for another definition of the tool`
      return yield* Effect.fail(SnapshotRefusedError.make({ reason: "other-agent", what: changed }))
    }
    yield* Effect.mapError(deferral.decode(exit), ({ message }) =>
      SnapshotRefusedError.make({ reason: "malformed", what: `${what} does not fit: ${message}` })
    )
  }
})

/**
 * The digests of requests and tokens of deferred calls that are withdrawn: by an unread message of the snapshot, which was recorded before
 * any decision of the resumption, or earlier.
 */
const withdrawnIn = (
  { inbox = [], unfinished, withdrawn = [] }: Snapshot.Snapshot,
  isWithin = false
): ReadonlyArray<string> => {
  const isWithdrawn = isWithin || inbox.some(({ supersede }) => supersede === true)
  const now = (unfinished?.calls ?? []).flatMap((call) => {
    if (call.type === "agent") return withdrawnIn(call.snapshot, isWithdrawn)
    if (!isWithdrawn) return []
    return call.type === "decision" ? call.request.digest : call.type === "deferred" ? call.token : []
  })
  return [...withdrawn, ...now]
}

/** The transcript without the incomplete message of a stopped model call at its end. */
const withoutIncomplete = (from: Resumption<unknown>["from"]): Resumption<unknown>["from"] => {
  const transcript = "version" in from ? from.transcript : from
  const last = transcript.at(-1)
  if (last?.role !== "assistant" || last.incomplete !== true) return from
  const before = transcript.slice(0, -1)
  return "version" in from ? { ...from, transcript: before } : before
}

/** The runner of an agent that `Agent.resume` made: it checks the resumption, then the run goes on. */
export const going: NonNullable<Definition["going"]> = (plan, around, agent) => (input, sink, mode) => {
  // by its type, the input is a resumption
  const resumption = input as Resumption<unknown>
  // any other input is refused
  const running = Effect.suspend(() => {
    const decisions = decidedIn(resumption)
    mode.deciding?.(decisions)
    const begun = beginningOf(resumption, around)
    const start = { ...resumption, from: begun.from, kind: "resumption", by: resumes, decisions } as const
    return Run.run(plan, start, sink, mode, begun.around)
  })
  const admitted = admit(agent, resumption)
  // no interruption reaches the fiber of a handle until its run begins; a claim may wait for a store, so it can be interrupted
  return Effect.andThen(mode.isForked === true ? Effect.interruptible(admitted) : admitted, running)
}

/** Where the run goes on, and what is around its loop. */
const beginningOf = (
  { from, incomplete }: Resumption<unknown>,
  around: Run.Around | undefined
): Pick<Resumption<unknown>, "from"> & { readonly around: Run.Around | undefined } => {
  if (incomplete !== "continue") return { from: incomplete === "drop" ? withoutIncomplete(from) : from, around }
  return { from, around: { ...around, loop: (loop) => (around?.loop ?? identity)(goingOn(loop)) } }
}

const decidedIn = ({ decisions, from, settlements }: Resumption<unknown>): Decisions =>
  decisionsOf(
    { decisions, settlements },
    () => (isTranscript(from) ? [] : Snapshot.requestsOf(from)),
    () => (isTranscript(from) ? [] : Snapshots.tokensOf(from)),
    () => (isTranscript(from) ? [] : withdrawnIn(from)),
    () => (isTranscript(from) ? [] : (from.decided ?? []))
  )
