/** Of two words about one call, which one counts: each pair in both orders, and at one instant. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedApprover, ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { batch, calm, callingOnce, done, eventLog, interruptedAt, read, settlements } from "../_support/dialogue.ts"
import { law } from "../_support/laws.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../_support/suspension.ts"
import { agentWith, deferring } from "../core/tool/_support/deferring.ts"
import { started } from "../core/run/_support/saying.ts"
import { lasting } from "./_support/lasting.ts"
import { lawOfRuns, ofRuns } from "./_support/runs.ts"
import { runners } from "../_support/run.ts"

const { call, calls, make } = ScriptedModel

const pay = (...cents: ReadonlyArray<number>) => calls(...cents.map((one) => call("pay", { cents: one }, `c${one}`)))

/** The instants of two things: the one is first, the other is, or both come at once. */
const race = fc.record({
  limit: fc.integer({ min: 1, max: 500 }),
  off: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(-1, 0, 1) },
    { weight: 1, arbitrary: fc.integer({ min: -500, max: 500 }) }
  )
})

const instantOf = ({ limit, off }: { readonly limit: number; readonly off: number }) => Math.max(0, limit + off)

lawOfRuns(
  "a decision counts up to the instant at which its request expires, that instant included [L1201 P1530]",
  fc.record({
    race,
    onExpiry: fc.constantFrom("refuse" as const, "fail" as const),
    hops: fc.integer({ min: 1, max: 3 })
  }),
  ({ hops, onExpiry, race }, run) =>
    Effect.gen(function* () {
      const at = instantOf(race)
      const { runs, tool } = paying({ validFor: race.limit, onExpiry })
      const guarded = tool.pipe(Tool.onError({ orElse: Recovery.tell(() => "no") }))
      const model = yield* make(pay(5), done)
      // a person who waits several times decides at the same instant
      const legs = Array.from({ length: hops }, (_, hop) => Math.floor(at / hops) + (hop < at % hops ? 1 : 0))
      const decision = Effect.as(
        Effect.forEach(legs, (leg) => Effect.sleep(leg)),
        Approval.approve
      )
      const approver = yield* ScriptedApprover.make(decision)
      const log = eventLog()
      const fiber = yield* run(agentWith(guarded).pipe(log.listen), "go").pipe(
        Effect.provide([approver.layer, model.layer]),
        Effect.forkChild
      )
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      const isInTime = at <= race.limit
      assert.deepStrictEqual(runs, isInTime ? [5] : [])
      assert.strictEqual(log.of("approval-decided").length, isInTime ? 1 : 0)
      assert.strictEqual(log.of("approval-expired").length, isInTime ? 0 : 1)
      const kind = isInTime ? "result" : onExpiry === "refuse" ? "denied" : "told"
      assert.strictEqual(read(model)[0]?.split(":")[0], kind)
    })
)

law(
  "of all decisions about one request the first counts, over any number of resumptions; each other one is answered why not [L1202 P1533]",
  fc.record({
    requests: fc.integer({ min: 1, max: 3 }),
    resumptions: fc.array(fc.array(fc.record({ about: fc.nat(3), isApproved: fc.boolean() }), { maxLength: 4 }), {
      minLength: 1,
      maxLength: 4
    })
  }),
  ({ requests, resumptions }) =>
    ofRuns(
      () =>
        Effect.gen(function* () {
          const { runs, tool } = paying()
          const agent = agentWith(tool)
          const model = yield* make(pay(...Array.from({ length: requests }, (_, n) => n)), done)
          let from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
          const digests = Snapshot.requestsOf(from).map(({ digest }) => digest)
          const decided = new Map<number, boolean>()
          for (const words of [...resumptions, digests.map((_, about) => ({ about, isApproved: true }))]) {
            const decisions = words.map(({ about, isApproved }) => ({
              digest: digests[about] ?? `unknown ${about}`,
              decision: isApproved ? Approval.approve : Approval.refuse("no")
            }))
            const expected = words.map(({ about, isApproved }) => {
              if (about >= requests) return "unknown-request"
              if (decided.has(about)) return "already-decided"
              decided.set(about, isApproved)
              return "Counted"
            })
            const outcome = yield* outcomeOf(Agent.resume(agent), { from, decisions }, model)
            const answers = (outcome.decisions ?? []).map((one) => (one._tag === "Counted" ? one._tag : one.reason))
            assert.deepStrictEqual(answers, expected)
            assert.strictEqual(outcome._tag, decided.size === requests ? "Completed" : "Suspended")
            const paid = [...decided].flatMap(([about, isApproved]) => (isApproved ? [about] : []))
            assert.sameMembers(runs, paid)
            if (outcome._tag === "Completed") break
            from = yield* snapshotOf(outcome)
          }
          assert.strictEqual(decided.size, requests)
        }),
      runners.whole
    )(undefined)
)

law(
  "a decision or settlement that comes with a message that supersedes, or before it, counts; all other requests are withdrawn [L1203 P1584 P1585]",
  fc.record({
    decided: fc.array(fc.constantFrom("approve" as const, "refuse" as const, undefined), {
      minLength: 1,
      maxLength: 3
    }),
    hasResult: fc.boolean(),
    when: fc.constantFrom("with" as const, "after" as const)
  }),
  ({ decided, hasResult, when }) =>
    ofRuns(
      () =>
        Effect.gen(function* () {
          const { runs, tool } = paying()
          const order = deferring()
          const agent = agentWith(tool, order.tool)
          const requests = decided.map((_, n) => call("pay", { cents: n }, `c${n}`))
          const model = yield* make(calls(...requests, call("order", {}, "o")), done)
          const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
          const digests = Snapshot.requestsOf(from).map(({ digest }) => digest)
          const decisions = decided.flatMap((word, n) => {
            const decision = word === "approve" ? Approval.approve : Approval.refuse("no")
            return word === undefined ? [] : [{ digest: digests[n] ?? "none", decision }]
          })
          const given = hasResult ? [{ token: order.tokenOf(), exit: Exit.succeed({ at: 1 }) }] : []
          const message = { message: "never mind", supersede: true }
          const say = when === "with" ? { say: [message] } : {}
          const run = yield* started(Agent.resume(agent).start({ from, decisions, settlements: given, ...say }), model)
          if (when === "after") yield* Effect.ignore(run.say(message.message, message))
          const outcome = yield* Effect.orDie(run.outcome)
          assert.strictEqual(outcome._tag, "Completed")
          assert.isTrue((outcome.decisions ?? []).every(({ _tag }) => _tag === "Counted"))
          const kinds = settlements(yield* run.transcript).map((line) => line.split(":")[0])
          const decidedKinds = decided.map((word) =>
            word === "approve" ? "result" : word === undefined ? "interrupted" : "denied"
          )
          assert.deepStrictEqual(kinds, [...decidedKinds, hasResult ? "result" : "interrupted"])
          assert.sameMembers(
            runs,
            decided.flatMap((word, n) => (word === "approve" ? [n] : []))
          )
          assert.deepStrictEqual(order.cancelled, hasResult ? [] : [1])
        }),
      runners.whole
    )(undefined)
)

lawOfRuns(
  "a settlement counts before the deadline, and not after it; at the same instant either the settlement counts or the work is cancelled [L1204 P1521 P1525]",
  fc.record({ race, isSetFirst: fc.boolean() }),
  ({ isSetFirst, race }, run) =>
    Effect.gen(function* () {
      const at = instantOf(race)
      const answers: Array<Tool.Receipt> = []
      const settleLater = (token: string) =>
        Effect.gen(function* () {
          yield* Effect.sleep(at)
          answers.push(yield* Effect.orDie(Tool.settle(token, Exit.succeed({ at }))))
        }).pipe(Effect.forkDetach({ startImmediately: true }))
      const { cancelled, tokenOf, tool } = deferring({
        deadline: race.limit,
        start: ({ token }) => Effect.as(isSetFirst ? settleLater(token) : Effect.void, { job: 1 })
      })
      const model = yield* callingOnce("order")
      const agent = agentWith(tool.pipe(Tool.onError({ ToolTimeoutError: Recovery.tell(() => "no") })))
      const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
      yield* calm
      if (!isSetFirst) yield* settleLater(tokenOf())
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      const [answer] = answers
      const isCounted = answer?._tag === "Counted"
      if (at !== race.limit || isSetFirst) assert.strictEqual(isCounted, at <= race.limit)
      if (!isCounted) assert.deepStrictEqual(answer, { _tag: "NotCounted", reason: "late" })
      assert.deepStrictEqual(read(model), [isCounted ? `result: {"at":${at}}` : "told: no"])
      assert.deepStrictEqual(cancelled, isCounted ? [] : [1])
    })
)

lawOfRuns(
  "a settlement before the interruption of its run counts, and one after it does not; the work of a call without a result is cancelled once [L1205 P1521 P1526]",
  race,
  (race, run) =>
    Effect.gen(function* () {
      const at = instantOf(race)
      const { cancelled, tokenOf, tool } = deferring({ deadline: "1 hour" })
      const model = yield* lasting(batch("order"), done)
      const start = yield* Clock.currentTimeMillis
      const answering = yield* Effect.forkChild(
        Effect.andThen(
          Effect.sleep(at + 1),
          Effect.suspend(() => Tool.settle(tokenOf(), Exit.succeed({ at })))
        )
      )
      yield* calm
      const exit = yield* interruptedAt(race.limit + 1, run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
      assert.isAtLeast((yield* Clock.currentTimeMillis) - start, race.limit)
      const answer = yield* Fiber.join(answering)
      const isCounted = answer._tag === "Counted"
      if (at !== race.limit) assert.strictEqual(isCounted, at < race.limit)
      if (!isCounted) assert.deepStrictEqual(answer, { _tag: "NotCounted", reason: "run-over" })
      if (at < race.limit) assert.deepStrictEqual(exit, Exit.succeed("done"))
      assert.isAtMost(cancelled.length, isCounted ? 0 : 1)
      if (at > race.limit) assert.deepStrictEqual(cancelled, [1])
    })
)

law(
  "of all resumptions of one snapshot, at any instants, the first goes on and each other one is refused, except on purpose [L1206 P1506]",
  fc.array(fc.record({ at: fc.nat(3), isMeant: fc.boolean(), isRead: fc.boolean() }), { minLength: 1, maxLength: 6 }),
  (resumptions) =>
    ofRuns(
      () =>
        Effect.gen(function* () {
          const { runs, tool } = paying()
          const agent = agentWith(tool)
          const model = yield* lasting(pay(5), ...resumptions.map(() => done))
          const live = yield* outcomeOf(agent, "go", model)
          assert(live._tag === "Suspended")
          const document = yield* snapshotOf(live)
          const claims = yield* Effect.forEach(resumptions, ({ at, isMeant, isRead }) => {
            const from = isRead ? document : live.snapshot
            const given = { ...deciding(from), ...(isMeant ? { repeat: true } : {}) }
            return Effect.forkChild(Effect.delay(Effect.exit(outcomeOf(Agent.resume(agent), given, model)), at))
          })
          yield* calm
          yield* TestClock.adjust(10)
          const exits = yield* Effect.forEach(claims, Fiber.join)
          const won = resumptions.filter((_, n) => {
            const exit = exits[n]
            return exit !== undefined && Exit.isSuccess(exit)
          })
          assert.strictEqual(won.length, runs.length)
          for (const [n, exit] of exits.entries()) {
            if (Exit.isSuccess(exit)) continue
            assert.deepInclude(yield* Effect.flip(exit), { _tag: "SnapshotRefusedError", reason: "already-resumed" })
            assert.isFalse(resumptions[n]?.isMeant)
          }
          const [first, ...more] = won.filter(({ isMeant }) => !isMeant)
          assert.deepStrictEqual(more, [])
          const earliest = Math.min(...resumptions.map(({ at }) => at))
          const isFirstPlain = !resumptions.some(({ at, isMeant }) => isMeant && at <= (first?.at ?? 0))
          if (first !== undefined && isFirstPlain) assert.strictEqual(first.at, earliest)
          // those of the process, instead of those that the kit gives to each case
        }).pipe(Effect.provideService(Snapshot.Claims, Snapshot.claimsOfProcess())),
      runners.whole
    )(undefined)
)
