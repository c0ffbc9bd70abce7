/** Laws of the attempts of one call: what a timeout leaves of them, and when callbacks are asked about them. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Clock, Effect, Exit, Schema } from "effect"
import fc from "fast-check"
import { agentWith, type Busy, busy, eventLog, overADay, read } from "../_support/dialogue.ts"
import { type Runner } from "../_support/run.ts"
import { calling, lawOfRuns, timed } from "./_support/runs.ts"

const about = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String }

const oneCall = calling([ScriptedModel.call("work", {}, "c1")])

/** One attempt: what its parts do beside each other, how long it takes to clean up, and how it ends. */
interface Attempt {
  readonly parts: ReadonlyArray<ReadonlyArray<number>>
  readonly cleanup: number
  readonly isFailing: boolean
}

const attempt: fc.Arbitrary<Attempt> = fc.record({
  parts: fc.array(fc.array(fc.nat(3_000), { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
  cleanup: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3_000 })),
  isFailing: fc.boolean()
})

/** Behind the generated ones. */
const spare: Attempt = { parts: [[]], cleanup: 0, isFailing: false }

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((one, other) => one + other, 0)

/** Between two instants of the clock: nothing ends at it. */
const limit = fc.integer({ min: 0, max: 8_000 }).map((millis) => millis + 0.5)

lawOfRuns(
  "after its timeout an attempt does nothing more [L405]",
  fc.record({
    attempts: fc.array(attempt, { minLength: 1, maxLength: 5 }),
    limits: fc.record({ timeout: limit, callTimeout: limit }, { requiredKeys: [] }),
    initialBackoff: fc.nat(2_000)
  }),
  Effect.fnUntraced(function* ({ attempts, initialBackoff, limits }, run) {
    const log: Array<{
      readonly of: number
      readonly what: "start" | "part" | "closed" | "over"
      readonly at: number
    }> = []
    const note = (of: number, what: (typeof log)[number]["what"]) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        log.push({ of, what, at })
      })
    let started = 0
    const work = Effect.suspend(() => {
      const n = ++started
      const { cleanup, isFailing, parts } = attempts[n - 1] ?? spare
      const part = (pieces: ReadonlyArray<number>) =>
        Effect.forEach(pieces, (takes) => Effect.andThen(Effect.sleep(takes), note(n, "part")), { discard: true })
      return note(n, "start").pipe(
        Effect.andThen(Effect.forEach(parts, part, { concurrency: "unbounded", discard: true })),
        Effect.onInterrupt(() => Effect.andThen(Effect.sleep(cleanup), note(n, "closed"))),
        Effect.andThen(isFailing ? Effect.fail(busy()) : Effect.succeed("page"))
      )
    })
    const retry = Recovery.retry<unknown>({ retries: 4, initialBackoff, factor: 1 })
    const tool = Tool.make("work", { ...about, ...limits, run: () => work }).pipe(Tool.onError({ orElse: retry }))
    const model = yield* oneCall
    // the limits that are set are not in the type
    const agent = agentWith(tool as Tool.AnyTool)
    const running = run(agent, "go").pipe(
      Effect.onExit(() => note(Infinity, "over")),
      Effect.provide(model.layer)
    )
    const exit = yield* overADay(running as Effect.Effect<string, unknown>)

    assert.isTrue(Exit.isSuccess(exit) || !Cause.hasDies(exit.cause))
    assert.deepStrictEqual([log[0]?.what, log.at(-1)?.what], ["start", "over"])
    assert.deepStrictEqual(
      log.map(({ of }) => of),
      log.map(({ of }) => of).toSorted((one, other) => one - other)
    )
    const { callTimeout = Infinity, timeout = Infinity } = limits
    for (const { at: start, of, what } of log) {
      if (what !== "start") continue
      const { cleanup, parts } = attempts[of - 1] ?? spare
      const end = start + Math.max(...parts.map(sum))
      const cutOff = Math.min(start + timeout, callTimeout)
      const lines = log.filter((line) => line.of === of)
      const closed = lines.filter(({ what }) => what === "closed")
      assert.deepStrictEqual(
        closed.map(({ at }) => at),
        end > cutOff ? [cutOff + cleanup] : []
      )
      assert.deepStrictEqual(
        lines.filter(({ at }) => at > cutOff),
        closed.filter(({ at }) => at > cutOff)
      )
    }
  })
)

/** How a renderer behaves: the model reads the default text unless it says something. */
type Renderer = "says" | "fails" | "is blank" | "is absent"

interface Story {
  /** How long each attempt takes before it fails; the one behind them succeeds. */
  readonly failures: ReadonlyArray<number>
  readonly retries: number
  readonly wait: number
  readonly repairs: number
  readonly fixing: number
  readonly renderer: Renderer
  /** Whether a listener is there that fails at every event. */
  readonly isHeardBadly: boolean
}

/** Every callback and every verdict with its instant, and what the model reads. */
const watch = Effect.fnUntraced(function* (story: Story, run: Runner) {
  const { lines, note } = timed()
  const clock = yield* Clock.clockWith(Effect.succeed)
  const noted = (line: string) => {
    lines.push(`${line} at ${clock.currentTimeMillisUnsafe()}`)
  }
  let started = 0
  const work = Effect.suspend(() => {
    const n = ++started
    const takes = story.failures[n - 1]
    return Effect.andThen(
      note(`attempt ${n}`),
      takes === undefined ? Effect.succeed("page") : Effect.delay(Effect.fail(busy(`${n}`)), takes)
    )
  })
  const retry = Recovery.retry<unknown>({ retries: story.retries, initialBackoff: story.wait, factor: 1 })
  const fixer = () => Effect.as(Effect.andThen(note("fixer"), Effect.sleep(story.fixing)), "{}")
  const render = ({ message }: Busy) => {
    noted(`tell ${message}`)
    return story.renderer === "fails" ? Effect.fail("no words") : story.renderer === "says" ? `said ${message}` : " "
  }
  const tool = Tool.make("work", { ...about, run: () => work }).pipe(
    Tool.onError({
      Busy: Recovery.ladder(
        Recovery.when(({ message }: Busy) => {
          noted(`when ${message}`)
          return retry
        }),
        Recovery.fix(fixer, {
          retries: story.repairs,
          input: ({ error }) => {
            noted(`input ${error.message}`)
            return "broken"
          }
        }),
        story.renderer === "is absent" ? Recovery.tell() : Recovery.tell(render)
      )
    })
  )
  const heard = eventLog()
  const badly = Agent.onEvent(() => Effect.die("deaf"))
  const agent = agentWith(tool).pipe(heard.listen)
  const model = yield* oneCall
  const running = run(story.isHeardBadly ? agent.pipe(badly) : agent, "go").pipe(Effect.provide(model.layer))
  yield* overADay(running)
  const verdicts = heard.of("verdict").map(({ at, attempt, gaveUp, verdict }) => ({ verdict, gaveUp, attempt, at }))
  return { lines, verdicts, read: read(model) }
})

/** What `watch` has to see, told without the library. */
const foretold = ({ failures, fixing, renderer, retries, repairs, wait }: Story) => {
  const lines: Array<string> = []
  const verdicts: Array<object> = []
  for (let n = 1, now = 0, retried = 0, fixed = 0; ; n++) {
    lines.push(`attempt ${n} at ${now}`)
    const takes = failures[n - 1]
    if (takes === undefined) return { lines, verdicts, tells: false, last: n }
    now += takes
    const decide = (verdict: string, gaveUp = false) => verdicts.push({ verdict, gaveUp, attempt: n, at: now })
    if (fixed === 0 && retried <= retries) {
      lines.push(`when ${n} at ${now}`)
      decide("retry", retried === retries)
      if (retried++ < retries) {
        now += wait
        continue
      }
    }
    if (fixed < repairs) {
      decide("fix")
      lines.push(`input ${n} at ${now}`, `fixer at ${now}`)
      now += fixing
      fixed++
      continue
    }
    decide("fix", true)
    decide("tell")
    if (renderer !== "is absent") lines.push(`tell ${n} at ${now}`)
    return { lines, verdicts, tells: true, last: n }
  }
}

const story: fc.Arbitrary<Story> = fc.record({
  failures: fc.array(fc.nat(3_000), { maxLength: 9 }),
  retries: fc.integer({ min: 0, max: 4 }),
  wait: fc.nat(5_000),
  repairs: fc.integer({ min: 0, max: 3 }),
  fixing: fc.nat(2_000),
  renderer: fc.constantFrom<Renderer>("says", "fails", "is blank", "is absent"),
  isHeardBadly: fc.boolean()
})

lawOfRuns(
  "callbacks run once for each failure, in order, before the wait; one that fails changes no more than its text [L404]",
  story,
  Effect.fnUntraced(function* (story, run) {
    const seen = yield* watch(story, run)
    const { tells, last, lines, verdicts } = foretold(story)
    assert.deepStrictEqual({ lines: seen.lines, verdicts: seen.verdicts }, { lines, verdicts })
    if (!tells) return assert.deepStrictEqual(seen.read, ["result: page"])
    if (story.renderer === "says") return assert.deepStrictEqual(seen.read, [`told: said ${last}`])
    return assert.deepStrictEqual(seen.read, (yield* watch({ ...story, renderer: "is absent" }, run)).read)
  })
)
