/** The poll with which a deferred call goes on from a snapshot, and what comes while it is under way. */
import { assert, it } from "@effect/vitest"
import { Agent, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Option, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { batch, calm, callingOnce, done, read } from "../../_support/dialogue.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { agentWith } from "./_support/deferring.ts"

const { call, calls, make, text } = ScriptedModel

type Check = Effect.Effect<Option.Option<{ readonly at: number }>>

const slow = (found: Option.Option<{ readonly at: number }>): Check => Effect.delay(Effect.succeed(found), "1 second")

/** A tool whose polls find nothing before the run goes on, and then answer so. */
const polled = (check: Check, wait: "suspend" | "continue" = "suspend") => {
  const tokens: Array<string> = []
  const cancelled: Array<number> = []
  let isResumed = false
  const tool = Tool.deferred("order", {
    description: "Orders.",
    parameters: Schema.Struct({}),
    success: Schema.Struct({ at: Schema.Finite }),
    start: (_, { token }) => Effect.sync(() => ({ job: tokens.push(token) })),
    wait,
    deadline: "1 hour",
    poll: {
      every: Schedule.spaced("1 minute"),
      check: () => Effect.suspend(() => (isResumed ? check : Effect.succeedNone))
    },
    cancel: ({ job }) => Effect.sync(() => void cancelled.push(job))
  }).pipe(Tool.onError({ ToolTimeoutError: Recovery.tell(({ message }) => message) }))
  const resume = () => {
    isResumed = true
  }
  const settle = (at: number) => Tool.settle(tokens[0] ?? "none", Exit.succeed({ at }))
  return { cancelled, resume, settle, tokens, tool }
}

/** Goes on from the suspension of a run, and settles its call so many milliseconds later. */
const duringPoll = (
  { resume, settle }: ReturnType<typeof polled>,
  agent: ReturnType<typeof agentWith>,
  model: ScriptedModel.ScriptedModel,
  after: number
) =>
  Effect.gen(function* () {
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    resume()
    const fiber = yield* Effect.forkChild(outcomeOf(Agent.resume(agent), { from }, model))
    yield* calm
    const arriving = yield* Effect.forkChild(Effect.delay(settle(7), after))
    yield* calm
    yield* TestClock.adjust("1 minute")
    return { receipt: yield* Fiber.join(arriving), end: yield* Fiber.join(fiber) }
  })

const counted: Tool.Receipt = { _tag: "Counted" }

it.effect(
  "a settlement that comes while the poll finds nothing counts, and the run goes on with it [P1521 P1528]",
  () =>
    Effect.gen(function* () {
      for (const after of [0, 999, 1000]) {
        const deferred = polled(slow(Option.none()))
        const agent = agentWith(deferred.tool)
        const model = yield* callingOnce("order")
        const { end, receipt } = yield* duringPoll(deferred, agent, model, after)
        // at the instant at which the poll ends, one of the two comes first
        if (after < 1000) assert.deepStrictEqual(receipt, counted)
        assert.strictEqual(end._tag, receipt._tag === "Counted" ? "Completed" : "Suspended")
        if (end._tag === "Suspended") {
          const settlements = Snapshot.waitingOf(end.snapshot).flatMap((one) =>
            one.type === "deferred" ? [{ token: one.token, exit: Exit.succeed({ at: 7 }) }] : []
          )
          const next = { from: yield* snapshotOf(end), settlements }
          assert.strictEqual((yield* outcomeOf(Agent.resume(agent), next, model))._tag, "Completed")
        }
        assert.deepStrictEqual(read(model), ['result: {"at":7}'])
      }
    })
)

it.effect("of a settlement and what the poll finds, the first counts [P1521 P1527]", () =>
  Effect.gen(function* () {
    for (const wait of ["suspend", "continue"] as const) {
      for (const after of [0, 999, 1000, 1001]) {
        const deferred = polled(slow(Option.some({ at: 99 })), wait)
        const agent = agentWith(deferred.tool)
        const model = yield* wait === "suspend" ? callingOnce("order") : make(batch("order"), done, done)
        const { end, receipt } = yield* duringPoll(deferred, agent, model, after)
        assert.strictEqual(end._tag, "Completed")
        if (after !== 1000) assert.strictEqual(receipt._tag, after < 1000 ? "Counted" : "NotCounted")
        const last = JSON.stringify(model.requests.at(-1)?.messages)
        assert.include(last, receipt._tag === "Counted" ? 'at\\":7' : 'at\\":99')
        assert.notInclude(last, receipt._tag === "Counted" ? 'at\\":99' : 'at\\":7')
      }
    }
  })
)

it.effect("in a sub-agent too, a settlement that comes during the poll counts [P1521 P1528]", () =>
  Effect.gen(function* () {
    const { resume, settle, tool } = polled(slow(Option.none()))
    const child = Agent.make("child", { tools: [tool] })
    const boss = Agent.make("boss", { tools: [Agent.asTool(child, { description: "Works." })] })
    const model = yield* make(calls(call("child", { input: "go" }, "x")), batch("order"), text("child done"), done)
    const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    resume()
    const fiber = yield* Effect.forkChild(outcomeOf(Agent.resume(boss), { from }, model))
    yield* calm
    assert.deepStrictEqual(yield* settle(7), counted)
    yield* TestClock.adjust("1 minute")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Completed")
    assert.deepStrictEqual(read(model), ["result: child done"])
  })
)

it.effect("a poll that hangs ends at the deadline, which cancels the work [P1525 P1527]", () =>
  Effect.gen(function* () {
    for (const wait of ["suspend", "continue"] as const) {
      const { cancelled, resume, settle, tool } = polled(Effect.never, wait)
      const agent = agentWith(tool)
      const model = yield* wait === "suspend" ? callingOnce("order") : make(batch("order"), done, done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      resume()
      const fiber = yield* Effect.forkChild(outcomeOf(Agent.resume(agent), { from }, model))
      yield* calm
      yield* TestClock.adjust(3_599_999)
      assert.deepStrictEqual(cancelled, [])
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Completed")
      assert.deepStrictEqual(cancelled, [1])
      assert.include(JSON.stringify(model.requests.at(-1)?.messages), "did not end within 1h")
      assert.strictEqual((yield* settle(7))._tag, "NotCounted")
    }
  })
)

it.effect("a message that supersedes the call ends the poll [P1526 P1527]", () =>
  Effect.gen(function* () {
    const { cancelled, resume, settle, tool } = polled(Effect.never)
    const agent = agentWith(tool)
    const model = yield* callingOnce("order")
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    resume()
    const run = yield* Agent.resume(agent).start({ from }).pipe(Effect.provide(model.layer))
    yield* calm
    yield* run.say("never mind", { supersede: true })
    assert.strictEqual((yield* run.outcome)._tag, "Completed")
    assert.deepStrictEqual(cancelled, [1])
    assert.match(read(model)[0] ?? "", /superseded by a message of the user/)
    assert.strictEqual((yield* settle(7))._tag, "NotCounted")
  })
)
