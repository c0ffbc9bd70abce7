/**
 * Plain Effect stays a full citizen: a call is an effect, and what Effect's own combinators make of it is what the table
 * that says the same makes of it, attempt by attempt.
 */
import { assert, it } from "@effect/vitest"
import { Agent, type Message, type Model, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Duration, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import {
  agentWith,
  batch,
  busy,
  Busy,
  callingOnce,
  done,
  failureOf,
  gone,
  instantsOf,
  overADay,
  read,
  scripted
} from "../_support/dialogue.ts"
import { draw, jittered, options } from "./_support/policies.ts"
import {
  allFailing,
  type Failure,
  type Guard,
  law,
  type Play,
  type Script,
  script,
  type Tag,
  tags
} from "../_support/laws.ts"
import * as Waits from "../_support/waits.ts"

type Raw = Message.ToolCall["arguments"]
/** What the attempts of a script fail with, tag by tag. */
type Failing = { readonly [T in Tag]: Failure & { readonly _tag: T } }[Tag]
type Attempt = Effect.Effect<string, Failing>
type Rows = Tool.Rows<Failing | ToolError.ToolTimeoutError, string, "undeclared">

const about = { description: "Works.", parameters: Schema.Struct({ n: Schema.Finite }), success: Schema.String }

const working = (attempt: Attempt) => Tool.make("work", { ...about, run: () => attempt })

/** A tool with these rows, and perhaps with a limit. */
const guarded = (
  attempt: Attempt,
  rows: Rows,
  limits: { timeout?: Duration.Duration; callTimeout?: Duration.Duration } = {}
) =>
  Tool.make("work", {
    ...about,
    ...limits,
    run: () => attempt
  }).pipe(Tool.onError<Failing | ToolError.ToolTimeoutError, string, "undeclared", Rows>(rows))

/** A call by hand, of arguments that fit. */
const byHand = (attempt: Attempt) => Tool.call(working(attempt), fitting)

const fitting: Raw = '{"n":1}'

/** Arguments that fit, and such as are no JSON or do not decode. */
const raws: fc.Arbitrary<Raw> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Raw>(fitting, { n: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom<Raw>("{{", "", { n: "many" }, '{"m":1}') }
)

/** Effect's own combinators know nothing of the time of a run. */
const patient = (tool: Tool.AnyTool) =>
  Agent.make("worker", {
    budget: { maxDuration: Infinity },
    skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
  })

/** The text that the model reads of one call, or the failure that ends the run: beneath our own final error, the last. */
const asked = (tool: Tool.AnyTool, raw: Raw = fitting): Effect.Effect<string, unknown> =>
  Effect.scoped(
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call(tool.name, raw, "c1")), done)
      // the tools of these tests need nothing
      const running = patient(tool)("go") as Effect.Effect<string, unknown, Model.Model>
      yield* Effect.mapError(Effect.provide(running, model.layer), lastOf)
      const [text = ""] = read(model)
      assert.match(text, /^result: /)
      return text.slice("result: ".length)
    })
  )

const lastOf = (error: unknown): unknown => {
  if (!(error instanceof ToolError.ToolExecutionError)) return error
  assert.strictEqual(error.cause, error.attempts.at(-1))
  return error.cause
}

/** An error without the id of its call: a call by hand has one of its own. */
const contentOf = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const { callId, ...fields } = { callId: "none", ...error }
  return { ...fields, message: error.message.replaceAll(callId, "c") }
}

type Way = (attempt: Attempt) => Effect.Effect<string, unknown>

/** Plays a script both ways: the traces and the contents of what is left have to be equal. */
const agree = (play: Play, script: Script, draw: number, ...ways: readonly [plain: Way, tabled: Way]) =>
  Effect.gen(function* () {
    const [plain, tabled] = yield* Effect.forEach(ways, (way) => {
      const left: Array<unknown> = []
      const guard: Guard<unknown> = (attempt) =>
        // every failure of a script has one of the tags
        way(attempt as Attempt).pipe(
          Effect.tapError((error) => Effect.sync(() => left.push(contentOf(error)))),
          Waits.drawing(draw)
        )
      return Effect.map(play(script, guard), (trace) => ({ trace, left }))
    })
    assert.deepStrictEqual(plain, tabled)
  })

/** Effect itself retries a failure beside an interrupt. */
const scripts = fc
  .oneof(script, allFailing())
  .filter(({ rest, steps }) => [...steps, rest].every(({ does }) => does !== "fail and interrupt"))

/** Whether a row is about a failure. */
const isOf = (row: string, { _tag: tag }: { readonly _tag: string }) => row === "orElse" || tag === row

law(
  "a call under Effect.retry with the schedule of a retry is the call of a tool with that row [A516]",
  fc.record({
    options: fc.oneof(options, jittered),
    row: fc.constantFrom(...tags, "orElse"),
    script: scripts,
    draw
  }),
  ({ draw, options, row, script }, play) => {
    const policy = Recovery.retry<unknown>(options)
    return agree(
      play,
      script,
      draw,
      (attempt) =>
        Effect.retry(byHand(attempt), { schedule: Recovery.toSchedule(policy), while: (error) => isOf(row, error) }),
      (attempt) => asked(guarded(attempt, { [row]: policy }))
    )
  }
)

/** A handler that takes a while, then answers or fails. */
const handler = fc.record({ after: fc.nat(5_000), isFailing: fc.boolean() }).map(
  ({ after, isFailing }) =>
    (error: { readonly _tag: string }): Effect.Effect<string, { readonly _tag: "HandlerError" }> =>
      Effect.delay(
        isFailing ? Effect.fail({ _tag: "HandlerError" }) : Effect.succeed(`instead of ${error._tag}`),
        after
      )
)

law(
  "Effect.retry, then Effect.catchTag, is the ladder of a retry and an answer [A510 A516]",
  fc.record({ options, tag: fc.constantFrom(...tags), handler, script: scripts }),
  ({ handler, options, script, tag }, play) => {
    const policy = Recovery.retry<unknown>(options)
    const schedule = Recovery.toSchedule(policy)
    return agree(
      play,
      script,
      0,
      (attempt) =>
        byHand(attempt).pipe(
          Effect.retry({ schedule, while: (error) => isOf(tag, error) }),
          Effect.catchTag(tag, handler)
        ),
      (attempt) => asked(guarded(attempt, { [tag]: Recovery.ladder(policy, Recovery.respondWith(handler)) }))
    )
  }
)

law(
  "Effect.catchTag is a row with an answer, for bad arguments and for the tool's own failures [A510]",
  fc.record({
    raw: raws,
    row: fc.constantFrom("InvalidArgs" as const, "DeserializationError" as const, ...tags),
    handler,
    script: scripts
  }),
  ({ handler, raw, row, script }, play) => {
    // the row of bad text stands for bad values as well
    const caught = row === "InvalidArgs" ? (["InvalidArgs", "DeserializationError"] as const) : ([row] as const)
    return agree(
      play,
      script,
      0,
      (attempt) => Effect.catchTag(Tool.call(working(attempt), raw), caught, handler),
      (attempt) => asked(guarded(attempt, { [row]: Recovery.respondWith(handler) }), raw)
    )
  }
)

/** Between two instants of the clock: no attempt ends at it. */
const limit = fc.integer({ min: 0, max: 20_000 }).map((millis) => Duration.millis(millis + 0.123))

const timedOut = (limit: Duration.Duration) => () =>
  Effect.fail(
    ToolError.ToolTimeoutError.make({ tool: "work", timeout: limit, callId: "c1", sideEffects: "undeclared" })
  )

law(
  "Effect.timeout within Effect.retry is a tool with that limit for each run [A906]",
  fc.record({ options, limit, row: fc.constantFrom("ToolTimeoutError", "orElse"), script: scripts }),
  ({ limit, options, row, script }, play) => {
    const policy = Recovery.retry<unknown>(options)
    return agree(
      play,
      script,
      0,
      (attempt) =>
        byHand(attempt).pipe(
          Effect.timeout(limit),
          Effect.catchTag("TimeoutError", timedOut(limit)),
          Effect.retry({ schedule: Recovery.toSchedule(policy), while: (error) => isOf(row, error) })
        ),
      (attempt) => asked(guarded(attempt, { [row]: policy }, { timeout: limit }))
    )
  }
)

law(
  "Effect.timeout around Effect.retry is a tool with that limit for its calls [A906]",
  fc.record({ options, limit, script: scripts }),
  ({ limit, options, script }, play) => {
    const policy = Recovery.retry<unknown>(options)
    return agree(
      play,
      script,
      0,
      (attempt) =>
        byHand(attempt).pipe(
          Effect.retry(Recovery.toSchedule(policy)),
          Effect.timeout(limit),
          Effect.catchTag("TimeoutError", timedOut(limit))
        ),
      (attempt) => asked(guarded(attempt, { orElse: policy }, { callTimeout: limit }))
    )
  }
)

// --- side by side

it.effect("side by side: three attempts that wait 1 s and 2 s, by Effect.retry and by a row [A516]", () =>
  Effect.gen(function* () {
    const policy = Recovery.retry<unknown>({ maxAttempts: 3, initialBackoff: "1 second" })
    const steps = [Effect.fail(busy()), Effect.fail(busy()), Effect.succeed("page")] as const

    const byHand = scripted("fetch", ...steps)
    const called = Tool.call(byHand.tool, "{}").pipe(Effect.retry(Recovery.toSchedule(policy)))
    assert.strictEqual(yield* called.pipe(overADay, Effect.flatten), "page")

    const tabled = scripted("fetch", ...steps)
    const model = yield* callingOnce("fetch")
    const agent = agentWith(tabled.tool.pipe(Tool.onError({ Busy: policy })))
    yield* overADay(agent("go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(read(model), ["result: page"])

    assert.deepStrictEqual(instantsOf(byHand.runs), [0, 1000, 3000])
    const start = 24 * 60 * 60 * 1000
    assert.deepStrictEqual(instantsOf(tabled.runs), [start, start + 1000, start + 3000])
  })
)

it.effect("side by side: an answer in the place of a failure, by Effect.catchTag and by a row [A510]", () =>
  Effect.gen(function* () {
    const stale = ({ message }: { readonly message: string }) => Effect.succeed(`stale, for ${message}`)
    const steps = [Effect.fail(gone("no page")), Effect.fail(busy("too many"))] as const

    const byHand = scripted("fetch", ...steps).tool
    const called = Tool.call(byHand, "{}").pipe(Effect.catchTag("Gone", stale))
    assert.strictEqual(yield* called, "stale, for no page")
    assert.strictEqual((yield* Effect.flip(called)).message, "too many")

    const tabled = scripted("fetch", ...steps).tool.pipe(Tool.onError({ Gone: Recovery.respondWith(stale) }))
    const model = yield* ScriptedModel.make(batch("fetch"), batch("fetch"))
    const error = yield* Effect.flip(agentWith(tabled)("go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(read(model), ["result: stale, for no page"])
    assert(error instanceof Busy)
    assert.strictEqual(error.message, "too many")
  })
)

it.effect("side by side: an attempt that hangs is cut off after 5 s, by Effect.timeout and by a limit [A906]", () =>
  Effect.gen(function* () {
    const hanging = () => {
      const log: Array<string> = []
      const note = (line: string) => Effect.map(Clock.currentTimeMillis, (at) => void log.push(`${line} at ${at}`))
      const run = note("starts").pipe(
        Effect.andThen(Effect.onInterrupt(Effect.never, () => note("is stopped"))),
        Effect.as("page")
      )
      return { log, options: { ...about, parameters: Schema.Struct({}), run: () => run } }
    }
    const expected = ["starts at 0", "is stopped at 5000"]

    const byHand = hanging()
    const called = Tool.call(Tool.make("fetch", byHand.options), "{}").pipe(Effect.timeout("5 seconds"))
    const late = yield* failureOf(yield* Effect.provide(overADay(called), TestClock.layer()))
    assert.strictEqual((late as { readonly _tag: string })._tag, "TimeoutError")
    assert.deepStrictEqual(byHand.log, expected)

    const limited = hanging()
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(Tool.make("fetch", { ...limited.options, timeout: "5 seconds" }))
    const running = overADay(agent("go").pipe(Effect.provide(model.layer)))
    const error = yield* failureOf(yield* Effect.provide(running, TestClock.layer()))
    assert.instanceOf(error, ToolError.ToolTimeoutError)
    assert.deepStrictEqual(limited.log, expected)
  })
)
