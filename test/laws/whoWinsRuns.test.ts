/** Of two things that end a step of a run, which one counts: each pair in both orders, and at one instant. */
import { assert } from "@effect/vitest"
import { Agent, Message, RunError, Tool } from "@kintsugi/core"
import * as Factories from "@kintsugi/core/Factories"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { calm, done, eventLog, play } from "../_support/dialogue.ts"
import { law } from "../_support/laws.ts"
import { runners } from "../_support/run.ts"
import { accounted, eventsOf, heard, started, wordsOf } from "../core/run/_support/saying.ts"
import { lasting } from "./_support/lasting.ts"
import { lawOfRuns, ofRuns } from "./_support/runs.ts"

const { answers, call, fails, make, reply } = ScriptedModel

const later = (millis: number, content: Message.Reply["content"]) =>
  answers(() => Effect.as(Effect.sleep(millis), reply({ content })))

lawOfRuns(
  "a check of the input that blocks wins against a reply that comes before it, after it and with it; one that passes changes nothing but the instant [L1207 P1595 P1596]",
  fc.record({
    replies: fc.integer({ min: 0, max: 5 }),
    checks: fc.integer({ min: 0, max: 5 }),
    verdict: fc.constantFrom("block" as const, "pass" as const, "fail" as const),
    isCalling: fc.boolean()
  }),
  ({ checks, isCalling, replies, verdict }, run) =>
    Effect.gen(function* () {
      const secret = "what the model says"
      const runs: Array<string> = []
      const tool = Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.sync(() => (runs.push("look"), "seen"))
      })
      const content = [Message.text(secret), ...(isCalling ? [call("look", {}, "c1")] : [])]
      const model = yield* make(later(replies, content), ...(verdict === "pass" && isCalling ? [done] : []))
      const given = { block: Agent.guard.block("no"), pass: Agent.guard.pass, fail: undefined }[verdict]
      const check = () => Effect.delay(given === undefined ? Effect.fail("broken") : Effect.succeed(given), checks)
      const log = eventLog()
      const agent = Agent.make("clerk", { tools: [tool] }).pipe(Agent.guardInput(check), log.listen)
      const fiber = yield* Effect.forkChild(Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
      yield* calm
      yield* TestClock.adjust("1 minute")
      const exit = yield* Fiber.join(fiber)
      const all = JSON.stringify(log.all)
      if (verdict === "pass") {
        assert.deepStrictEqual(exit, Exit.succeed(isCalling ? "done" : secret))
        const text = log.all.find(({ type }) => type === "model-end")
        assert.strictEqual(text?.at, Math.max(checks, replies))
        return
      }
      assert.instanceOf(yield* Effect.flip(exit), RunError.GuardrailError)
      assert.deepStrictEqual(runs, [])
      assert.notInclude(all, secret)
      assert.strictEqual(log.all.at(-1)?.at, checks)
    })
)

law(
  "a message that interrupts ends the model call if it comes before the reply, and fails if it comes after the run; at the same instant it is read or returned [L1208 P1582 P1583]",
  fc.record({ replies: fc.integer({ min: 1, max: 5 }), says: fc.integer({ min: 1, max: 5 }) }),
  ({ replies, says }) =>
    ofRuns(
      () =>
        Effect.gen(function* () {
          const model = yield* lasting(later(replies, [Message.text("first")]), done)
          const run = yield* started(Agent.make("worker", {}).start("go"), model)
          const saying = yield* Effect.forkChild(Effect.delay(Effect.exit(run.say("now", { interrupt: true })), says), {
            startImmediately: true
          })
          yield* calm
          yield* TestClock.adjust("1 minute")
          const said = yield* Fiber.join(saying)
          const outcome = yield* run.outcome
          assert(outcome._tag === "Completed")
          const isHeard = heard(yield* run.transcript).includes("now")
          if (says < replies) assert.isTrue(isHeard)
          if (says > replies) assert.isFalse(isHeard)
          // a message that was taken is not lost
          const isReturned = wordsOf(outcome.unread).includes("now")
          assert.strictEqual(isHeard || isReturned, Exit.isSuccess(said))
          assert.isFalse(isHeard && isReturned)
          assert.strictEqual(outcome.output, isHeard ? "done" : "first")
          const [booked] = yield* run.ledger
          if (says !== replies) assert.strictEqual(booked?.outcome, says < replies ? "interrupted" : "used")
          yield* accounted(run)
        }),
      runners.whole
    )(undefined)
)

interface Ends {
  readonly by: "an answer" | "a limit" | "a failure" | "an interruption"
  /** How long each turn takes, and when each message is said. */
  readonly turns: ReadonlyArray<number>
  readonly says: ReadonlyArray<number>
  readonly at: number
}

law(
  "however a run ends, and whenever messages are said to it, each that was taken is read once or returned once, in the order of arrival [L1209 P1580 P1581 P1582]",
  fc.record<Ends>({
    by: fc.constantFrom("an answer", "a limit", "a failure", "an interruption"),
    turns: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 4 }),
    says: fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 5 }),
    at: fc.integer({ min: 0, max: 12 })
  }),
  ({ at, by, says, turns }) =>
    ofRuns(
      () =>
        Effect.gen(function* () {
          const { tool } = play(
            "look",
            {},
            turns.map((takes) => Effect.as(Effect.sleep(takes), "seen"))
          )
          const work = turns.map((takes) => later(takes, [call("look", {})]))
          const last = by === "a failure" ? fails(Factories.serverError("scripted")) : done
          const model = yield* lasting(...work, last, ...says.map(() => done))
          const budget = by === "a limit" ? { maxTurns: turns.length } : {}
          const run = yield* started(Agent.make("worker", { tools: [tool], budget }).start("go"), model)
          const order = says.toSorted((one, other) => one - other)
          const saying = yield* Effect.forEach(order, (one, nth) =>
            Effect.forkChild(Effect.delay(Effect.exit(run.say(`word ${nth}`)), one), { startImmediately: true })
          )
          if (by === "an interruption") {
            yield* Effect.forkChild(Effect.delay(run.interrupt, at), { startImmediately: true })
          }
          yield* calm
          yield* TestClock.adjust("1 minute")
          const said = yield* Effect.forEach(saying, Fiber.join)
          const exit = yield* Effect.exit(run.outcome)
          const taken = said.flatMap((one, nth) => (Exit.isSuccess(one) ? [`word ${nth}`] : []))
          const read = heard(yield* run.transcript).slice(1)
          const end = (yield* eventsOf(run)).at(-1)
          const unread = wordsOf(end !== undefined && "unread" in end ? end.unread : [])
          assert.deepStrictEqual([...read, ...unread], taken)
          if (Exit.isSuccess(exit)) assert.deepStrictEqual(unread, [])
          yield* accounted(run)
        }),
      runners.whole
    )(undefined)
)
