/** Time that goes by while a call waits for approval: what is said of a call that never ran, and of one that did. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, RunError, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Queue, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  asHard,
  busy,
  type Busy,
  eventLog,
  lastTranscript,
  settlements,
  tagsOf
} from "../../_support/dialogue.ts"

const { call, calls, make } = ScriptedModel

/** Approves so often, and thinks for ever after that; `asked` hears of each question. */
const thinking = (approvals = 0) =>
  Effect.map(Queue.unbounded<void>(), (asked) => {
    let left = approvals
    const layer = Approval.layer(() =>
      Effect.andThen(Queue.offer(asked, undefined), left-- > 0 ? Effect.succeed(Approval.approve) : Effect.never)
    )
    return { asked, layer }
  })

const paying = (first: Effect.Effect<string, Busy> = Effect.succeed("paid"), limits: object = {}) => {
  const runs: Array<number> = []
  const tool = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    coercion: [],
    sideEffects: "unsafe",
    ...limits,
    run: ({ cents }) =>
      Effect.andThen(
        Effect.sync(() => runs.push(cents)),
        first
      )
  })
  return { runs, tool: tool.pipe(Tool.requireApproval({ validFor: "30 days" })) }
}

/** Lets so much time go by once the approver has been asked so often. */
const late = <A, E, R>(asked: Queue.Queue<void>, times: number, seconds: number, running: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.flip(running))
    yield* Effect.forEach(Array.from({ length: times }), () => Queue.take(asked), { discard: true })
    yield* TestClock.adjust(`${seconds} seconds`)
    return yield* Fiber.join(fiber)
  })

it.run("a call whose time ends during its approval has never run, though it is unsafe [A906 P602 P907]", (run) =>
  Effect.gen(function* () {
    const { asked, layer } = yield* thinking()
    const { runs, tool } = paying(undefined, { callTimeout: "10 seconds" })
    const log = eventLog()
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1")))
    const running = run(agentWith(tool).pipe(log.listen), "go")
    const error = asHard(yield* late(asked, 1, 10, running.pipe(Effect.provide(layer), Effect.provide(model.layer))))
    assert.deepStrictEqual(runs, [])
    assert.match(
      error.message,
      /^Tool 'pay' was never run \(call c1, after 10s for the whole call\): .*its call had no approval/
    )
    assert.deepStrictEqual(error.attempts, [])
    assert.deepStrictEqual(error.trail, [])
    assert(error.cause instanceof ToolError.ToolTimeoutError)
    assert.deepInclude(error.cause, { tookEffect: false, sideEffects: "unsafe" })
    assert.isTrue(error.cause.isRetryable)
    const [said] = settlements(lastTranscript(log.end()))
    assert.match(said ?? "", /^told: ERROR: .*was never run/)
    assert.deepStrictEqual(log.of("tool-failed"), [])
  })
)

it.run("of arguments that were repaired first, the trail tells, but of no run [A906 P907]", (run) =>
  Effect.gen(function* () {
    const { asked, layer } = yield* thinking()
    const { runs, tool } = paying(undefined, { callTimeout: "10 seconds" })
    const mended = tool.pipe(
      Tool.onError({ InvalidArgs: Recovery.fix((_raw: string) => Effect.succeed('{"cents":5}')) })
    )
    const model = yield* make(calls(call("pay", "{cents", "c1")))
    const running = run(agentWith(mended), "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    const error = asHard(yield* late(asked, 1, 10, running))
    assert.deepStrictEqual(runs, [])
    assert.match(error.message, /was never run/)
    assert.deepStrictEqual(tagsOf(error.attempts), ["InvalidArgs"])
    assert.deepStrictEqual(tagsOf([error.cause]), ["ToolTimeoutError"])
    assert.deepStrictEqual(
      error.trail?.map(({ attempt, tag, verdict }) => [tag, verdict, attempt]),
      [["InvalidArgs", "fix", 1]]
    )
  })
)

it.run("an attempt that waits for its approval is not counted, those before it are [A906 P907]", (run) =>
  Effect.gen(function* () {
    const { asked, layer } = yield* thinking(1)
    const { runs, tool } = paying(Effect.fail(busy()), { callTimeout: "10 seconds" })
    const mended = tool.pipe(
      Tool.onError({
        Busy: Recovery.fix((_raw: string) => Effect.succeed('{"cents":6}'), { acknowledge: "may run twice" })
      })
    )
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1")))
    const log = eventLog()
    const running = run(agentWith(mended).pipe(log.listen), "go")
    const error = asHard(yield* late(asked, 2, 10, running.pipe(Effect.provide(layer), Effect.provide(model.layer))))
    assert.deepStrictEqual(runs, [5])
    assert.match(error.message, /failed after 1 attempt \(/)
    assert.deepStrictEqual(tagsOf(error.attempts), ["Busy", "ToolTimeoutError"])
    assert.match(settlements(lastTranscript(log.end()))[0] ?? "", /^told: /)
  })
)

it.run("if the run's time ends during an approval, the call is settled as not run [A903 P602 P907]", (run) =>
  Effect.gen(function* () {
    const { asked, layer } = yield* thinking(1)
    const { runs, tool } = paying()
    const agent = Agent.make("worker", {
      budget: { maxDuration: "10 seconds", toolConcurrency: 1 },
      skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
    })
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1"), call("pay", { cents: 6 }, "c2")))
    const error = yield* late(asked, 2, 10, run(agent, "go").pipe(Effect.provide(layer), Effect.provide(model.layer)))
    assert(error instanceof RunError.BudgetExceededError)
    assert.strictEqual(error.reason, "maxDuration")
    assert.deepStrictEqual(runs, [5])
    assert.deepStrictEqual(settlements(error.transcript), [
      "result: paid",
      "interrupted: The call was not run: it was still waiting for approval."
    ])
  })
)

it.run("a call that may have taken effect stays so while its next attempt waits for approval [A903 P602]", (run) =>
  Effect.gen(function* () {
    const { asked, layer } = yield* thinking(1)
    const began = yield* Queue.unbounded<void>()
    const { tool } = paying(Effect.andThen(Queue.offer(began, undefined), Effect.never), { timeout: "1 second" })
    const mended = tool.pipe(
      Tool.onError({
        orElse: Recovery.fix((_raw: string) => Effect.succeed('{"cents":6}'), { acknowledge: "may run twice" })
      })
    )
    const agent = Agent.make("worker", {
      budget: { maxDuration: "10 seconds" },
      skills: [Skill.make("work", { description: "Works.", tools: [mended] })]
    })
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1")))
    const running = run(agent, "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    const fiber = yield* Effect.forkChild(late(asked, 2, 10, running))
    yield* Queue.take(began)
    yield* TestClock.adjust("1 second")
    const error = yield* Fiber.join(fiber)
    assert(error instanceof RunError.BudgetExceededError)
    assert.match(settlements(error.transcript)[0] ?? "", /^unknown: /)
  })
)

it.run("an approved call that is cut off is settled as cut off [A903 P907]", (run) =>
  Effect.gen(function* () {
    const began = yield* Queue.unbounded<void>()
    const { layer } = yield* thinking(1)
    const { runs, tool } = paying(Effect.andThen(Queue.offer(began, undefined), Effect.never), { sideEffects: "none" })
    const agent = Agent.make("worker", {
      budget: { maxDuration: "10 seconds" },
      skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
    })
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1")))
    const running = run(agent, "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    const error = yield* late(began, 1, 10, running)
    assert(error instanceof RunError.BudgetExceededError)
    assert.deepStrictEqual(runs, [5])
    assert.deepStrictEqual(settlements(error.transcript), ["interrupted: The call was interrupted before it ended."])
  })
)

it.run("arguments that a person edits badly leave what an earlier run did as open as before [P602 P904]", (run) =>
  Effect.gen(function* () {
    const began = yield* Queue.unbounded<void>()
    const mending = yield* Queue.unbounded<void>()
    const decisions = [Approval.approve, Approval.approveWith({ cents: "no number" })]
    const layer = Approval.layer(() => Effect.sync(() => decisions.shift() ?? Approval.refuse("asked too often")))
    const { runs, tool } = paying(Effect.andThen(Queue.offer(began, undefined), Effect.never), { timeout: "1 second" })
    const mended = tool.pipe(
      Tool.onError({
        DeserializationError: Recovery.respondWith(() => Effect.andThen(Queue.offer(mending, undefined), Effect.never)),
        orElse: Recovery.fix((_raw: string) => Effect.succeed('{"cents":6}'), { acknowledge: "may run twice" })
      })
    )
    const agent = Agent.make("worker", {
      budget: { maxDuration: "10 seconds" },
      skills: [Skill.make("work", { description: "Works.", tools: [mended] })]
    })
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1")))
    const running = run(agent, "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    const fiber = yield* Effect.forkChild(late(mending, 1, 10, running))
    yield* Queue.take(began)
    yield* TestClock.adjust("1 second")
    const error = yield* Fiber.join(fiber)
    assert(error instanceof RunError.BudgetExceededError)
    assert.deepStrictEqual(runs, [5])
    assert.match(settlements(error.transcript)[0] ?? "", /^unknown: /)
  })
)
