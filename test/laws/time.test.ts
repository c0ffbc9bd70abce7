/** Laws of limits of time: of a policy, of an attempt, of a call, of a run. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, RunError, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Clock, Duration, Effect, Exit, Schema } from "effect"
import fc from "fast-check"
import { busy, overADay } from "../_support/dialogue.ts"
import type { Runner } from "../_support/run.ts"
import { draw, drawing, guardedBy, jittered, options, nanos, type Options, retriesOf } from "./_support/policies.ts"
import { calling, lawOfRuns } from "./_support/runs.ts"
import { allFailing, type Failure, law, script, stepOf, waitsOf } from "../_support/laws.ts"

const anyOptions = fc.oneof(options, jittered)

/** An instant that no wait of a policy may pass; a run of a script begins at 0. */
const deadline = fc.integer({ min: 0, max: 60_000 })

const slack = 1e-3

const always = (options: Options & { readonly deadline?: number }) => guardedBy({ orElse: Recovery.retry(options) })

law(
  "all waits together are within the deadline, and no attempt starts behind it [L301]",
  fc.record({ options: anyOptions, deadline, script: fc.oneof(script, allFailing()), draw }),
  ({ deadline, draw, options, script }, play) =>
    Effect.map(play(script, drawing(draw, always({ ...options, deadline }))), (trace) => {
      assert.isAtMost(
        waitsOf(script, trace).reduce((sum, wait) => sum + wait, 0),
        deadline + slack
      )
      // every schedule allows a first attempt
      for (const { start } of trace.attempts) assert.isAtMost(start, deadline)
    })
)

law(
  "a policy ends within its deadline and the time of its last attempt [L302]",
  fc.record({ options: anyOptions, deadline, script: allFailing(), draw }),
  ({ deadline, draw, options, script }, play) =>
    Effect.map(play(script, drawing(draw, always({ ...options, deadline }))), ({ attempts, end, exit }) => {
      const last = attempts.length
      assert.isAtMost(end ?? Infinity, deadline + stepOf(script, last).takes)
      // what ends it is the last failure, at its own instant
      assert.match(exit, new RegExp(`of attempt ${last}$`))
      assert.strictEqual(end, attempts[last - 1]!.start + stepOf(script, last).takes)
    })
)

law(
  "more attempts, more time or longer hints that are granted never make fewer attempts [L304]",
  fc.record({
    options: anyOptions.map((options): Options => ({ maxHint: 30_000, ...options })),
    deadline,
    more: fc.record(
      {
        retries: fc.integer({ min: 1, max: 5 }),
        deadline: fc.integer({ min: 1, max: 60_000 }),
        maxHint: fc.integer({ min: 1, max: 10 ** 9 })
      },
      { requiredKeys: [] }
    ),
    script: fc.oneof(script, allFailing()),
    draw
  }),
  ({ deadline, draw, more, options, script }, play) =>
    Effect.gen(function* () {
      const { maxAttempts: _, maxHint = 0, retries: __, ...delays } = options
      const limited = (retries: number, deadline: number, maxHint: number) => ({
        ...delays,
        retries,
        deadline,
        maxHint
      })
      const retries = retriesOf(options)
      const less = yield* play(script, drawing(draw, always(limited(retries, deadline, maxHint))))
      const greater = limited(
        retries + (more.retries ?? 0),
        deadline + (more.deadline ?? 0),
        maxHint + (more.maxHint ?? 0)
      )
      const found = yield* play(script, drawing(draw, always(greater)))
      // it does the same, and goes on
      assert.deepStrictEqual(found.attempts.slice(0, less.attempts.length), less.attempts)
    })
)

law(
  "time is counted from the start of the first attempt, whenever that was [L305]",
  fc.record({ options: anyOptions, before: fc.integer({ min: 0, max: 20_000 }), script: allFailing(), draw }),
  ({ before, draw, options, script }, play) =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const orElse = Recovery.when((_: Failure, { elapsed }) => {
        seen.push(Duration.toMillis(elapsed))
        return retry
      })
      const retry = Recovery.retry<Failure>({ ...options, maxHint: 10 ** 9 })
      const guard = drawing(draw, guardedBy({ orElse }))
      const { attempts } = yield* play(script, (scripted) => Effect.delay(guard(scripted), before))
      assert.strictEqual(seen.length, 1 + retriesOf(options))
      assert.deepStrictEqual(
        seen.map(nanos),
        attempts.map(({ start, attempt }) => nanos(start + stepOf(script, attempt).takes - before))
      )
    })
)

// --- of calls of tools, whole and streamed

/** How long each attempt takes; then it fails, but for the last of them. */
interface Story {
  readonly takes: ReadonlyArray<number>
  readonly retries: number
  readonly wait: number
}

const story: fc.Arbitrary<Story> = fc.record({
  takes: fc.array(fc.nat(3_000), { minLength: 1, maxLength: 6 }),
  retries: fc.integer({ min: 0, max: 5 }),
  wait: fc.nat(2_000)
})

/** Between two instants of the clock: nothing ends at it. */
const limit = fc.integer({ min: 0, max: 8_000 }).map((millis) => millis + 0.5)

interface Limits {
  readonly timeout?: number
  readonly callTimeout?: number
  readonly maxDuration?: number
}

interface Attempt {
  readonly start: number
  readonly end: number
  readonly isCut: boolean
}

/** Runs the tool of a story under these limits: its attempts and the end of the run, from the start of the first. */
const attempted = Effect.fnUntraced(function* (story: Story, limits: Limits, run: Runner) {
  const { maxDuration, ...ofTool } = limits
  const attempts: Array<Attempt> = []
  let made = 0
  const work = Effect.suspend(() => {
    const index = made++
    return Effect.flatMap(Clock.currentTimeMillis, (start) =>
      Effect.sleep(story.takes[index] ?? 0).pipe(
        Effect.andThen(index < story.takes.length - 1 ? Effect.fail(busy()) : Effect.succeed("page")),
        Effect.onExit((exit) =>
          Effect.map(Clock.currentTimeMillis, (end) => {
            attempts.push({ start, end, isCut: Exit.hasInterrupts(exit) })
          })
        )
      )
    )
  })
  const retry = Recovery.retry<unknown>({ retries: story.retries, initialBackoff: story.wait, factor: 1 })
  const about = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String, ...ofTool }
  const tool = Tool.make("work", { ...about, run: () => work }).pipe(Tool.onError({ orElse: retry }))
  const model = yield* calling([ScriptedModel.call("work", {}, "c1")])
  const agent = Agent.make("worker", {
    ...(maxDuration === undefined ? {} : { budget: { maxDuration } }),
    // the limits that are set are not in the type
    skills: [Skill.make("work", { description: "Works.", tools: [tool as Tool.AnyTool] })]
  })
  let end = 0
  const running = Effect.onExit(run(agent, "go"), () =>
    Effect.map(Clock.currentTimeMillis, (at) => {
      end = at
    })
  )
  const exit = yield* overADay(Effect.provide(running, model.layer) as Effect.Effect<string, unknown>)
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return { attempts, end, error }
})

/** The attempts of a story, told without the library: none behind the limit of all, and none longer than the one of each. */
const foretold = ({ retries, takes, wait }: Story, each: number, all: number, isWaitCut: boolean) => {
  const attempts: Array<Attempt> = []
  let now = 0
  for (let k = 0; k <= retries; k++) {
    const left = Math.min(each, all - now)
    const isCut = (takes[k] ?? 0) > left
    attempts.push({ start: now, end: now + Math.min(takes[k] ?? 0, left), isCut })
    now += Math.min(takes[k] ?? 0, left)
    if (now >= all) return { attempts, end: all, isLate: true }
    if (k >= takes.length - 1 && !isCut) return { attempts, end: now, isLate: false }
    if (k === retries) break
    if (now + wait > all) return { attempts, end: isWaitCut ? all : now, isLate: true }
    now += wait
  }
  return { attempts, end: now, isLate: false }
}

lawOfRuns(
  "the timeout of a call holds for all its attempts and waits: it ends by then, and a running attempt is interrupted [L302]",
  fc.record({ story, callTimeout: limit }),
  Effect.fnUntraced(function* ({ callTimeout, story }, run) {
    const { attempts, end, error } = yield* attempted(story, { callTimeout }, run)
    const expected = foretold(story, Infinity, callTimeout, true)
    assert.deepStrictEqual(attempts, expected.attempts)
    assert.isAtMost(end, callTimeout)
    assert.strictEqual(end, expected.end)
    const cause = error instanceof ToolError.ToolExecutionError ? error.cause : undefined
    assert.strictEqual(cause instanceof ToolError.ToolTimeoutError, expected.isLate)
  })
)

lawOfRuns(
  "maxDuration holds for the whole run: the run ends by then, and no wait that would pass it begins [L302 L301]",
  fc.record({ story, maxDuration: limit.filter((millis) => millis >= 1) }),
  Effect.fnUntraced(function* ({ maxDuration, story }, run) {
    const { attempts, end, error } = yield* attempted(story, { maxDuration }, run)
    const expected = foretold(story, Infinity, maxDuration, false)
    assert.deepStrictEqual(attempts, expected.attempts)
    assert.isAtMost(end, maxDuration)
    assert.strictEqual(end, expected.end)
    if (expected.isLate) assert.instanceOf(error, RunError.BudgetExceededError)
  })
)

lawOfRuns(
  "the limit of an attempt is that of each of them: none is longer, and the call no longer than all of them and its waits [L303]",
  fc.record({ story, timeout: limit }),
  Effect.fnUntraced(function* ({ story, timeout }, run) {
    const { attempts, end } = yield* attempted(story, { timeout }, run)
    const expected = foretold(story, timeout, Infinity, true)
    for (const { end, start } of attempts) assert.isAtMost(end - start, timeout)
    assert.isAtMost(end, (1 + story.retries) * timeout + story.retries * story.wait)
    assert.deepStrictEqual({ attempts, end }, { attempts: expected.attempts, end: expected.end })
  })
)

lawOfRuns(
  "a tool with more attempts or more time makes no fewer attempts [L304]",
  fc.record({
    story,
    limits: fc.record({ callTimeout: limit, maxDuration: limit.filter((millis) => millis >= 1) }, { requiredKeys: [] }),
    more: fc.record({ retries: fc.nat(3), time: fc.nat(5_000) })
  }),
  Effect.fnUntraced(function* ({ limits, more, story }, run) {
    const less = yield* attempted(story, limits, run)
    const longer = Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit + more.time]))
    const { attempts } = yield* attempted({ ...story, retries: story.retries + more.retries }, longer, run)
    assert.isAtLeast(attempts.length, less.attempts.length)
  })
)
