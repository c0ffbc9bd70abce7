/** Calls that wait for a person, who approves, edits, refuses, or comes too late, while the run is a document. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Message, Recovery, Skill, Snapshot, Tool } from "@kintsugi/core"
import type * as Llm from "@kintsugi/core/Model"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, type Layer, Schema, type Scope } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { settlements } from "../_support/dialogue.ts"
import { snapshotOf } from "../_support/suspension.ts"
import { agrees, type Command } from "./_support/commands.ts"
import { replying } from "./_support/talkingModel.ts"

interface Setup {
  /** What each call pays. */
  readonly cents: ReadonlyArray<number>
  readonly validFor: number
}

type Decision =
  | { readonly does: "approve" }
  | { readonly does: "refuse" }
  | { readonly does: "edit"; readonly cents: number | "a lot" }

/** A call: what was shown of it holds until an instant, and what was said about it since then. */
interface Call {
  readonly cents: number
  expiresAt: number
  said: Decision | undefined
  settlement: string | undefined
}

interface Model {
  readonly validFor: number
  now: number
  readonly calls: ReadonlyArray<Call>
  readonly paid: Array<number>
}

interface Real {
  outcome: Agent.Outcome<string>
  readonly resume: (from: Snapshot.Snapshot, decisions: ReadonlyArray<Approval.Decided>) => Resumed
  /** All that was ever decided, oldest first. */
  readonly decisions: Array<Approval.Decided>
  readonly paid: ReadonlyArray<number>
  /** By call, the digest that was shown last. */
  digests: ReadonlyMap<string, string>
}

type Resumed = Effect.Effect<Agent.Outcome<string>, unknown, Scope.Scope>

const waiting = ({ calls }: Model): ReadonlyArray<Call> => calls.filter(({ settlement }) => settlement === undefined)

const requestsOf = ({ outcome }: Real): ReadonlyArray<Approval.ApprovalRequest> =>
  outcome._tag === "Suspended" ? Snapshot.requestsOf(outcome.snapshot) : []

const decisionOf = (decision: Decision): Approval.Decision => {
  if (decision.does === "approve") return Approval.approve
  if (decision.does === "refuse") return Approval.refuse("no")
  return Approval.approveWith({ cents: decision.cents })
}

/** Of several decisions about one request the first counts. */
const deciding = (decision: Decision, which: number): Command<Model, Real> => ({
  says: `${decision.does === "edit" ? `edits to ${decision.cents}` : `${decision.does}s`} ${which}`,
  can: (model) => waiting(model).length > 0,
  does: (model, real) =>
    Effect.sync(() => {
      const calls = waiting(model)
      const at = which % calls.length
      const [call, request] = [calls[at], requestsOf(real)[at]]
      assert(call !== undefined && request !== undefined)
      call.said ??= decision
      real.decisions.push({ digest: request.digest, decision: decisionOf(decision) })
    })
})

const passing = (millis: number, to: "by" | "end" | "beyond"): Command<Model, Real> => ({
  says:
    to === "by" ? `${millis} ms go by` : `time goes by to ${to === "end" ? "the last instant" : "an instant after"}`,
  does: (model) =>
    Effect.suspend(() => {
      const ends = waiting(model).flatMap(({ expiresAt }) => (expiresAt >= model.now ? [expiresAt] : []))
      const end = Math.min(...ends)
      model.now = to === "by" || ends.length === 0 ? model.now + millis : to === "end" ? end : end + 1
      return TestClock.setTime(model.now)
    })
})

const settle = (model: Model, call: Call, decision: Decision): void => {
  if (decision.does === "refuse") call.settlement = "denied"
  else if (decision.does === "edit" && typeof decision.cents === "string") call.settlement = "told"
  else {
    call.settlement = "result"
    model.paid.push(decision.does === "edit" ? Number(decision.cents) : call.cents)
  }
}

/** With all that was ever decided: what is too old, or about something else, does not count. */
const resuming: Command<Model, Real> = {
  says: "resumes",
  can: (model) => waiting(model).length > 0,
  does: (model, real) =>
    Effect.gen(function* () {
      const before = real.digests
      const from = yield* snapshotOf(real.outcome)
      real.outcome = yield* real.resume(from, real.decisions)
      const renewed = new Set<Call>()
      for (const call of waiting(model)) {
        if (model.now > call.expiresAt) {
          call.expiresAt = model.now + model.validFor
          call.said = undefined
          renewed.add(call)
        } else if (call.said !== undefined) settle(model, call, call.said)
      }
      const requests = requestsOf(real)
      real.digests = digestsOf(requests)
      check(model, real)
      for (const [index, call] of waiting(model).entries()) {
        const { callId = "", digest } = requests[index] ?? {}
        assert.strictEqual(digest === before.get(callId), !renewed.has(call), "the digest")
      }
    })
}

const digestsOf = (requests: ReadonlyArray<Approval.ApprovalRequest>): ReadonlyMap<string, string> =>
  new Map(requests.map(({ callId, digest }) => [callId, digest]))

const check = (model: Model, real: Real): void => {
  assert.sameOrderedMembers([...real.paid], model.paid)
  const left = waiting(model)
  assert.deepStrictEqual(
    requestsOf(real).map(({ arguments: args, expiresAt }) => [args, expiresAt]),
    left.map(({ cents, expiresAt }) => [{ cents }, expiresAt])
  )
  if (left.length > 0) return assert.strictEqual(real.outcome._tag, "Suspended")
  assert.deepInclude(real.outcome, {
    _tag: "Completed",
    output: model.calls.map(({ settlement }) => settlement).join(" "),
    finish: "stop"
  })
  return undefined
}

/** Calls all at once; then says how they were settled. */
const modelFor = (cents: ReadonlyArray<number>): Layer.Layer<Llm.Model> => {
  const replyTo = ({ messages }: Llm.Request): Message.Reply => {
    const ends = settlements(messages).map((text) => text.split(":")[0])
    const calls = cents.map((cents, index) => ScriptedModel.call("pay", { cents }, `c${index}`))
    return ScriptedModel.reply({ content: ends.length > 0 ? [Message.text(ends.join(" "))] : calls })
  }
  return replying(replyTo)
}

const suspended = ({ cents, validFor }: Setup): Effect.Effect<Real, never, Scope.Scope> =>
  Effect.gen(function* () {
    yield* TestClock.setTime(0)
    const paid: Array<number> = []
    const tool = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int }),
      success: Schema.String,
      run: ({ cents }) => Effect.sync(() => `paid ${paid.push(cents)}`)
    }).pipe(Tool.requireApproval({ validFor }), Tool.onError({ orElse: Recovery.tell() }))
    const agent = Agent.make("worker", {
      model: modelFor(cents),
      // one after the other, so that they pay in order
      budget: { toolConcurrency: 1 },
      skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
    })
    const outcome = yield* Effect.orDie(Effect.flatMap(agent.start("go"), ({ outcome }) => outcome))
    const resume: Real["resume"] = (from, decisions) =>
      Effect.flatMap(Agent.resume(agent).start({ from, decisions }), ({ outcome }) => outcome)
    const real: Real = { outcome, resume, decisions: [], paid, digests: new Map() }
    real.digests = digestsOf(requestsOf(real))
    assert.strictEqual(yield* Clock.currentTimeMillis, 0)
    return real
  })

const which = fc.nat(4)

const decision: fc.Arbitrary<Decision> = fc.oneof(
  fc.constantFrom<Decision>({ does: "approve" }, { does: "refuse" }, { does: "edit", cents: "a lot" }),
  fc.integer({ min: 100, max: 999 }).map((cents): Decision => ({ does: "edit", cents }))
)

agrees("a call waits, is decided about, and is asked about again once what was shown is too old [P902-P905]", {
  setup: fc.record({
    cents: fc.array(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 4 }),
    validFor: fc.integer({ min: 1, max: 10_000 })
  }),
  commands: [
    fc.tuple(decision, which).map((of) => deciding(...of)),
    fc.tuple(fc.nat(6_000), fc.constantFrom("by", "end", "beyond")).map((of) => passing(...of)),
    fc.constant(resuming)
  ],
  maxCommands: 16,
  model: ({ cents, validFor }): Model => ({
    validFor,
    now: 0,
    calls: cents.map((cents) => ({ cents, expiresAt: validFor, said: undefined, settlement: undefined })),
    paid: []
  }),
  real: suspended
})
