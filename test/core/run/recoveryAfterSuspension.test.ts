/** Calls that are suspended for approval in the middle of their ladders: they go on with the counts that they had. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Message, Recovery, RunError, Skill, Snapshot, Tool, type ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Effect, type Exit, Fiber, Queue, Schema, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { it, type Runner } from "../../_support/run.ts"
import {
  agentWith,
  asHard,
  busy,
  type Busy,
  done,
  eventLog,
  failureOf,
  gone,
  type Gone,
  interruptedAt,
  lastTranscript,
  read,
  settlements,
  tagsOf
} from "../../_support/dialogue.ts"
import { deciding, outcomeOf, snapshotOf, waitingCalls } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

const approving = Approval.layer(() => Effect.succeed(Approval.approve))

interface Attempt {
  readonly cents: number
  readonly attempt: number
}

/** Fails as long as it is told to; each repair gives other arguments, which need approval. */
const failing = (successAt = Infinity) => {
  const attempts: Array<Attempt> = []
  const contexts: Array<Recovery.FailureContext> = []
  let fixes = 0
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    run: ({ cents }, { attempt }): Effect.Effect<string, Busy> => {
      const made = attempts.push({ cents, attempt })
      return made < successAt ? Effect.fail(busy(`busy ${made}`)) : Effect.succeed("paid")
    }
  })
  const tool = pay.pipe(
    Tool.requireApproval({ validFor: "7 days" }),
    Tool.onError({
      Busy: Recovery.when((_error, context) => {
        contexts.push(context)
        return Recovery.ladder(
          Recovery.retry({ retries: 1 }),
          Recovery.fix((_raw: string) => Effect.sync(() => `{"cents":${100 + ++fixes}}`), { retries: 3 }),
          Recovery.retry({ retries: 2 }),
          Recovery.rethrow
        )
      })
    })
  )
  return { attempts, contexts, tool, pay }
}

/** What must not depend on whether, and how often, the run was suspended. */
const seenOf = ({ attempts, contexts }: ReturnType<typeof failing>) => ({
  attempts,
  contexts: contexts.map(({ attempt, elapsed, previous, runs }) => ({
    attempt,
    runs,
    elapsed: Duration.toMillis(elapsed),
    previous: previous.map(textOf),
    tags: tagsOf(previous)
  }))
})

const textOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "message" in error ? String(error.message) : ""

/** Suspends and resumes so often, hours apart, then approves of all the rest. */
const suspendedSoOften = (times: number, run: Runner, tool: Tool.AnyTool): Effect.Effect<Exited, never, Scope.Scope> =>
  Effect.gen(function* () {
    const agent = agentWith(tool)
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1")))
    // the failures and needs of any tool are not in the type: these need nothing else
    const toItsEnd = (running: Effect.Effect<string, unknown, unknown>) =>
      Effect.exit(
        running.pipe(Effect.provide(approving), Effect.provide(model.layer)) as Effect.Effect<string, unknown>
      )
    if (times === 0) return yield* toItsEnd(run(agent, "go"))
    let from = yield* snapshotOf(yield* Effect.orDie(outcomeOf(agent, "go", model)))
    for (let lap = 1; lap < times; lap++) {
      yield* TestClock.adjust("3 hours")
      from = yield* snapshotOf(yield* Effect.orDie(outcomeOf(Agent.resume(agent), deciding(from), model)))
    }
    yield* TestClock.adjust("3 hours")
    return yield* toItsEnd(run(Agent.resume(agent), deciding(from)))
  })

type Exited = Exit.Exit<string, unknown>

it.run("a call that is suspended within its ladder makes the attempts that it would have made [P1104 P902]", (run) =>
  Effect.gen(function* () {
    const plain = failing()
    const end = yield* failureOf(yield* suspendedSoOften(0, run, plain.tool))
    // one run, a retry, three repairs, two retries
    assert.deepStrictEqual(
      plain.attempts.map(({ cents }) => cents),
      [5, 5, 101, 102, 103, 103, 103]
    )
    for (const times of [1, 2, 3, 4]) {
      const cut = failing()
      const error = yield* failureOf(yield* suspendedSoOften(times, run, cut.tool))
      assert.deepStrictEqual(seenOf(cut), seenOf(plain), `suspended ${times} times`)
      assert.deepStrictEqual(tagsOf([error]), tagsOf([end]))
      assert.strictEqual(textOf(error), textOf(end))
    }
  })
)

it.run("a schedule that was begun before a suspension goes on after it [P1104 P902]", (run) =>
  Effect.gen(function* () {
    for (const times of [0, 1, 2]) {
      let runs = 0
      const tool = Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({ cents: Schema.Int }),
        success: Schema.String,
        run: (): Effect.Effect<string, Busy | Gone> => Effect.fail(++runs === 2 ? gone() : busy())
      }).pipe(
        Tool.requireApproval({ validFor: "7 days" }),
        Tool.onError({
          Busy: Recovery.retry({ retries: 2 }),
          Gone: Recovery.fix((_raw: string) => Effect.succeed('{"cents":7}'))
        })
      )
      const error = asHard(yield* failureOf(yield* suspendedSoOften(times, run, tool)))
      assert.deepStrictEqual(tagsOf(error.attempts), ["Busy", "Gone", "Busy", "Busy"])
      assert.match(error.message, /failed after 4 attempts/)
      assert.strictEqual(runs, 4)
    }
  })
)

it.run(
  "the final error of a resumed call has all errors, verdicts and attempts before the suspension [P1104 A307]",
  (run) =>
    Effect.gen(function* () {
      const ends: Array<ToolError.ToolExecutionError> = []
      for (const times of [0, 2]) {
        const { pay } = failing()
        const tool = pay.pipe(
          Tool.requireApproval({ validFor: "7 days" }),
          Tool.onError({
            Busy: Recovery.ladder(
              Recovery.retry({ retries: 1 }),
              Recovery.fix((_raw: string) => Effect.succeed('{"cents":7}'))
            )
          })
        )
        ends.push(asHard(yield* failureOf(yield* suspendedSoOften(times, run, tool))))
      }
      const [plain, cut] = ends
      assert(plain !== undefined && cut !== undefined)
      assert.strictEqual(cut.message, plain.message)
      assert.deepStrictEqual(cut.trail, plain.trail)
      assert.isAbove(cut.trail?.length ?? 0, 2)
      assert.deepStrictEqual(tagsOf(cut.attempts), tagsOf(plain.attempts))
      assert.deepStrictEqual(cut.attempts.map(textOf), plain.attempts.map(textOf))
    })
)

/** What a slot counts: the steps of a schedule move with the clock during a suspension. */
const countOf = ({ count, kind, row, rungs, steps }: Recovery.Position["slots"][number]) => ({
  row,
  rungs,
  kind,
  count,
  steps: steps.map(({ seen }) => seen)
})

it.effect("suspending repeatedly without a decision changes no count [P1104 P907]", () =>
  Effect.gen(function* () {
    const { attempts, tool } = failing(4)
    const agent = agentWith(tool)
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1")), done)
    const resumed = (input: { readonly from: Snapshot.Snapshot }) =>
      Effect.andThen(TestClock.adjust("3 hours"), outcomeOf(Agent.resume(agent), input, model))
    let from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.deepStrictEqual(
      waitingCalls(from).map(({ progress }) => progress),
      [undefined]
    )
    from = yield* snapshotOf(yield* resumed(deciding(from)))
    const progress = waitingCalls(from)[0]?.progress
    assert.deepInclude(progress, { executions: 2, isUncertain: false })
    assert.deepInclude(progress?.position, { attempts: 2, repairs: 1 })
    for (let lap = 0; lap < 3; lap++) {
      const next = yield* snapshotOf(yield* resumed({ from }))
      const { startedAt, wakeAt, ...position } = waitingCalls(next)[0]?.progress?.position ?? assert.fail("it is gone")
      assert.deepInclude(progress?.position, { attempts: position.attempts, repairs: position.repairs })
      assert.deepStrictEqual(position.slots.map(countOf), progress?.position.slots.map(countOf))
      assert.strictEqual(
        wakeAt - startedAt,
        (progress?.position.wakeAt ?? 0) - (progress?.position.startedAt ?? 0),
        "the time of a suspension is none of the call's"
      )
      from = next
    }
    from = yield* snapshotOf(yield* resumed(deciding(from)))
    const end = yield* resumed(deciding(from))
    assert.deepInclude(end, { _tag: "Completed", output: "done", finish: "stop" })
    assert.deepStrictEqual(
      attempts.map(({ attempt }) => attempt),
      [1, 2, 3, 4]
    )
    assert.deepStrictEqual(read(model), ["result: paid"])
  })
)

/** Lets time go by once a run of the tool has begun: what comes before needs none. */
const after = <A, E, R>(began: Queue.Queue<void>, time: Duration.Input, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* Queue.take(began)
    yield* TestClock.adjust(time)
    return yield* Fiber.join(fiber)
  })

it.effect("callTimeout counts from the beginning of the call, not from its last resumption [P1104 A906]", () =>
  Effect.gen(function* () {
    const began = yield* Queue.unbounded<void>()
    const tool = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int }),
      success: Schema.String,
      callTimeout: "10 seconds",
      run: (): Effect.Effect<string, Busy> =>
        Queue.offer(began, undefined).pipe(
          Effect.andThen(Effect.sleep("6 seconds")),
          Effect.andThen(Effect.fail(busy()))
        )
    }).pipe(
      Tool.requireApproval(),
      Tool.onError({ Busy: Recovery.fix((_raw: string) => Effect.succeed('{"cents":7}'), { retries: 2 }) })
    )
    const agent = agentWith(tool)
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1")))
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const resumed = (from: Snapshot.Snapshot) => outcomeOf(Agent.resume(agent), deciding(from), model)
    const second = yield* snapshotOf(yield* after(began, "6 seconds", resumed(first)))
    yield* TestClock.adjust("1 hour")
    const error = asHard(yield* Effect.flip(after(began, "4 seconds", resumed(second))))
    assert.match(error.message, /failed after 2 attempts \(.*after 10s for the whole call\)/)
    assert.deepStrictEqual(tagsOf(error.attempts), ["Busy", "ToolTimeoutError"])
  })
)

it.effect("a document of another version is refused, by the name of that field [P1104 P902]", () =>
  Effect.gen(function* () {
    const { tool } = failing(2)
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1")))
    const now = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
    // a snapshot is an object
    const { version, ...json } = Snapshot.toJson(now) as Record<string, unknown>
    assert.strictEqual(version, 6)
    for (const other of [{}, { version: 5 }, { version: 7 }]) {
      const error = yield* Effect.flip(Snapshot.fromJson({ ...json, ...other }))
      assert.include(String(error), '["version"]')
    }
  })
)

it.run("what may have taken effect before a suspension may still have after it [P1104 P602]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const began = yield* Queue.unbounded<void>()
    const tool = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int }),
      success: Schema.String,
      sideEffects: "unsafe",
      timeout: "5 seconds",
      run: (): Effect.Effect<string, Busy> =>
        ++runs === 1 ? Effect.andThen(Queue.offer(began, undefined), Effect.never) : Effect.fail(busy())
    }).pipe(
      Tool.requireApproval({ validFor: "7 days" }),
      Tool.onError({
        OutcomeUnknownError: Recovery.fix((_raw: string) => Effect.succeed('{"cents":7}'), {
          acknowledge: "may run twice"
        }),
        Busy: Recovery.tell()
      })
    )
    const skills = [Skill.make("work", { description: "Works.", tools: [tool] })] as const
    const agent = Agent.make("worker", { budget: { maxDuration: "1 minute" }, skills })
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1")), done)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const second = yield* after(began, "5 seconds", outcomeOf(Agent.resume(agent), deciding(first), model))
    const from = yield* snapshotOf(second)
    assert.deepInclude(waitingCalls(from)[0]?.progress, { isUncertain: true, executions: 1 })
    const asked = yield* Queue.unbounded<void>()
    const thinking = Approval.layer(() => Effect.andThen(Queue.offer(asked, undefined), Effect.never))
    const resumed = Effect.flip(run(Agent.resume(agent), { from }))
    const late = yield* after(asked, "1 minute", resumed.pipe(Effect.provide(thinking), Effect.provide(model.layer)))
    assert(late instanceof RunError.BudgetExceededError)
    assert.match(settlements(late.transcript)[0] ?? "", /^unknown: /)
    yield* outcomeOf(Agent.resume(agent), { ...deciding(from), repeat: true }, model)
    assert.strictEqual(runs, 2)
    assert.match(read(model)[0] ?? "", /^unknown: /)
  })
)

it.run("what has failed before a suspension and is cut off after it was just cut off [P1104 P602]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const log = eventLog()
    const tool = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int }),
      success: Schema.String,
      run: () => Effect.suspend(() => (++runs === 1 ? Effect.fail(busy()) : Effect.never))
    }).pipe(
      Tool.requireApproval({ validFor: "7 days" }),
      Tool.onError({ Busy: Recovery.fix((_raw: string) => Effect.succeed('{"cents":7}')) })
    )
    const agent = agentWith(tool)
    const model = yield* make(calls(call("pay", { cents: 5 }, "c1")))
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const from = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), deciding(first), model))
    assert.deepInclude(waitingCalls(from)[0]?.progress, { isUncertain: false, executions: 1 })
    const resumed = run(Agent.resume(agent.pipe(log.listen)), deciding(from))
    yield* interruptedAt(1000, resumed.pipe(Effect.provide(approving), Effect.provide(model.layer)))
    assert.strictEqual(runs, 2)
    assert.deepStrictEqual(settlements(lastTranscript(log.end())), [`interrupted: ${Message.interrupted.text}`])
  })
)
