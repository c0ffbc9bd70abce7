/** The numbered examples, played against a scripted model. Each test says what was answered, read and run. */
import { assert, it } from "@effect/vitest"
import { type AgentEvent, type LlmError, type Model, type RunError, ToolError } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Retry from "@kintsugi/examples/01-retry"
import * as Dates from "@kintsugi/examples/02-fix-deterministic"
import * as Keys from "@kintsugi/examples/03-fix-by-model"
import * as Trains from "@kintsugi/examples/04-escalate"
import * as Kani from "@kintsugi/examples/05-kani"
import * as Labels from "@kintsugi/examples/06-labels"
import * as Payments from "@kintsugi/examples/07-unsafe-with-verify"
import * as Plants from "@kintsugi/examples/09-structured-output"
import { Clock, Effect, Fiber, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { read } from "../_support/dialogue.ts"
import { sameType } from "../types/_support/Identity.ts"

const { call, calls, make, text } = ScriptedModel

type Own = LlmError.LlmError | RunError.BudgetExceededError
type BadArgs = ToolError.InvalidArgs | ToolError.DeserializationError
type Hard = ToolError.ToolExecutionError

/** Runs it while an hour goes by. */
const overAnHour = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

/** How often a tool ran that is behind no service: each run fails, or ends its call with a result. */
const countingRuns = () => {
  let runs = 0
  const count = (event: AgentEvent.AgentEvent) => {
    if (event.type === "tool-failed") runs++
    if (event.type === "tool-end" && event.use.settlement.kind === "result") runs++
  }
  return { runs: () => runs, observe: Effect.provideService(RunContext.Observers, [() => count]) }
}

/** The n-th call of a service is the n-th of these, and is written down with its instant. */
const playing = <Input, A, E>(...outcomes: ReadonlyArray<Effect.Effect<A, E>>) => {
  const log: Array<readonly [at: number, input: Input]> = []
  const play = (input: Input): Effect.Effect<A, E> =>
    Effect.flatMap(Clock.currentTimeMillis, (at) => {
      log.push([at, input])
      return outcomes[log.length - 1] ?? Effect.die(new Error(`call ${log.length} is not expected`))
    })
  return { log, play }
}

it.effect("01-retry: three runs, half a second and a second apart, and one answer", () =>
  Effect.gen(function* () {
    sameType<Effect.Effect<string, Own | BadArgs | Hard, Model.Model | Retry.Exchange>>()(Retry.program)
    const closed = Effect.fail(new Retry.Unavailable({ message: "the exchange is closed" }))
    const { log, play } = playing<string, number, Retry.Unavailable>(closed, closed, Effect.succeed(12.5))
    const model = yield* make(calls(call("quote", { symbol: "ACME" })), text("12.50 EUR"))
    const layer = Layer.merge(model.layer, Layer.succeed(Retry.Exchange, { latest: play }))
    assert.strictEqual(yield* overAnHour(Effect.provide(Retry.program, layer)), "12.50 EUR")
    assert.deepStrictEqual(log, [
      [0, "ACME"],
      [500, "ACME"],
      [1500, "ACME"]
    ])
    assert.deepStrictEqual(read(model), ["result: 12.5"])
  })
)

it.effect("01-retry: when all attempts fail, the error holds every failure, and there is no further model call", () =>
  Effect.gen(function* () {
    const failures = [1, 2, 3].map((n) => new Retry.Unavailable({ message: `closed ${n}` }))
    const { log, play } = playing<string, number, Retry.Unavailable>(...failures.map((error) => Effect.fail(error)))
    const model = yield* make(calls(call("quote", { symbol: "ACME" })))
    const layer = Layer.merge(model.layer, Layer.succeed(Retry.Exchange, { latest: play }))
    const error = yield* overAnHour(Effect.flip(Effect.provide(Retry.program, layer)))
    assert(error instanceof ToolError.ToolExecutionError)
    assert.deepStrictEqual(error.attempts, failures)
    assert.strictEqual(error.cause, failures[2])
    assert.strictEqual(log.length, 3)
  })
)

it.effect("02-fix-deterministic: the date is rewritten, the tool runs once, no further request is made", () =>
  Effect.gen(function* () {
    sameType<Effect.Effect<string, Own | Hard, Model.Model | Dates.Rooms>>()(Dates.program)
    const { log, play } = playing<string, number, never>(Effect.succeed(4))
    const model = yield* make(calls(call("freeRooms", '{"day":"9.3.2027"}')), text("Four."))
    const layer = Layer.merge(model.layer, Layer.succeed(Dates.Rooms, { freeOn: play }))
    assert.strictEqual(yield* Effect.provide(Dates.program, layer), "Four.")
    assert.deepStrictEqual(log, [[0, "2027-03-09"]])
    assert.deepStrictEqual(read(model), ["result: 4"])
    assert.strictEqual(model.requests.length, 2)
  })
)

it.effect("02-fix-deterministic: what it cannot rewrite ends the run, and the tool never ran", () =>
  Effect.gen(function* () {
    const { log, play } = playing<string, number, never>()
    const model = yield* make(calls(call("freeRooms", { day: "next Tuesday" })))
    const layer = Layer.merge(model.layer, Layer.succeed(Dates.Rooms, { freeOn: play }))
    const error = yield* Effect.flip(Effect.provide(Dates.program, layer))
    assert(error instanceof ToolError.ToolExecutionError)
    assert.instanceOf(error.cause, ToolError.DeserializationError)
    assert.deepStrictEqual(log, [])
  })
)

it.effect("03-fix-by-model: the model reads the corrected JSON, repeats the call and answers 3", () =>
  Effect.gen(function* () {
    sameType<Effect.Effect<string, Own | BadArgs | Hard, Model.Model>>()(Keys.program)
    const { observe, runs } = countingRuns()
    const corrected = '{"name":"world","age":30,"active":true}'
    const model = yield* make(
      calls(call("calculateNumberOfKeys", { json: "{name: world, age: 30, active: true}" }, "c1")),
      calls(call("escalate", { reason: `Unquoted keys. Corrected: ${corrected}` })),
      calls(call("calculateNumberOfKeys", { json: corrected }, "c2")),
      text("3")
    )
    assert.strictEqual(yield* Keys.program.pipe(Effect.provide(model.layer), observe), "3")
    assert.deepStrictEqual(read(model), [
      `told: ERROR: Tool 'calculateNumberOfKeys' failed: Unquoted keys. Corrected: ${corrected} (severity: HIGH). Please retry with corrected arguments.`,
      "result: 3"
    ])
    assert.strictEqual(runs(), 2)
  })
)

it.effect("04-escalate: the model reads which stations exist, and repeats the call", () =>
  Effect.gen(function* () {
    sameType<Effect.Effect<string, Own, Model.Model>>()(Trains.program)
    const { observe, runs } = countingRuns()
    const model = yield* make(
      calls(call("nextTrain", { station: "Vienna" }, "c1")),
      calls(call("nextTrain", { station: "Wien Hbf" }, "c2")),
      text("At 08:30.")
    )
    assert.strictEqual(yield* Trains.program.pipe(Effect.provide(model.layer), observe), "At 08:30.")
    assert.deepStrictEqual(read(model), [
      "told: ERROR: Tool 'nextTrain' failed: there is no station 'Vienna'; there are Wien Hbf, Praha hl.n. (severity: LOW). Please retry with corrected arguments.",
      "result: 08:30"
    ])
    assert.strictEqual(runs(), 2)
  })
)

it.effect("05-kani: the sarcastic relay; after a second failing batch there are no tools any more", () =>
  Effect.gen(function* () {
    sameType<Effect.Effect<string, Own, Model.Model>>()(Kani.program)
    const { observe, runs } = countingRuns()
    const model = yield* make(calls(call("get_time", {}, "c1")), calls(call("get_time", {}, "c2")), text("Oh, lovely."))
    assert.strictEqual(yield* Kani.program.pipe(Effect.provide(model.layer), observe), "Oh, lovely.")
    const relay =
      "told: The call encountered an error. Relay this error message to the user in a sarcastic manner: The time API is currently offline (error 0xDEADBEEF)."
    assert.deepStrictEqual(read(model), [relay, relay])
    assert.deepStrictEqual(
      model.requests.map(({ toolChoice }) => toolChoice),
      ["auto", "auto", "none"]
    )
    assert.strictEqual(runs(), 2)
  })
)

it.effect("06-labels: what passes is retried and then told as transient, what does not is told as permanent", () =>
  Effect.gen(function* () {
    sameType<Effect.Effect<string, Own, Model.Model | Labels.Orders>>()(Labels.program)
    const busy = Effect.fail(new Labels.Overloaded({ message: "too many requests" }))
    const { log, play } = playing<string, string, Labels.Overloaded | Labels.NoSuchOrder>(
      busy,
      busy,
      busy,
      Effect.fail(new Labels.NoSuchOrder({ id: "4711" })),
      Effect.succeed("on its way")
    )
    const model = yield* make(
      calls(call("orderStatus", { id: "4711" }, "c1")),
      calls(call("orderStatus", { id: "4711" }, "c2")),
      calls(call("orderStatus", { id: "0815" }, "c3")),
      text("It is on its way.")
    )
    const layer = Layer.merge(model.layer, Layer.succeed(Labels.Orders, { statusOf: play }))
    assert.strictEqual(yield* overAnHour(Effect.provide(Labels.program, layer)), "It is on its way.")
    assert.deepStrictEqual(read(model), [
      "told: transient: tool 'orderStatus' failed 3 times, at last: too many requests; safe to retry",
      "told: permanent: there is no order 4711; consider asking the user for clarification",
      "result: on its way"
    ])
    assert.deepStrictEqual(
      log.map(([at]) => at),
      [0, 1000, 3000, 3000, 3000]
    )
  })
)

/** A bank whose transfers take so long; `find` is asked by the key of the call. */
const paying = (
  find: (key: string) => Effect.Effect<Option.Option<string>, Payments.LedgerDown>,
  ...outcomes: ReadonlyArray<Effect.Effect<string, Payments.Declined>>
) =>
  Effect.gen(function* () {
    const { log, play } = playing<Payments.Transfer, string, Payments.Declined>(...outcomes)
    const asked: Array<string> = []
    const model = yield* make(calls(call("pay", { to: "ACME", cents: 1990 })), text("Done."))
    const bank = Layer.succeed(Payments.Bank, {
      transfer: play,
      find: (key) => Effect.suspend(() => (asked.push(key), find(key)))
    })
    const answer = yield* overAnHour(Effect.provide(Payments.program, Layer.merge(model.layer, bank)))
    assert.strictEqual(answer, "Done.")
    return { asked, keys: log.map(([, { key }]) => key), read: read(model), at: log.map(([at]) => at) }
  })

const hangs = Effect.never

it.effect("07-unsafe-with-verify: a payment that was cut off and found is the result, and is not repeated", () =>
  Effect.gen(function* () {
    sameType<Effect.Effect<string, Own | BadArgs | Hard, Model.Model | Payments.Bank>>()(Payments.program)
    const seen = yield* paying(() => Effect.succeed(Option.some("receipt 7")), hangs)
    assert.deepStrictEqual(seen.read, ["result: receipt 7"])
    assert.deepStrictEqual(seen.asked, seen.keys)
    assert.strictEqual(seen.keys.length, 1)
  })
)

it.effect("07-unsafe-with-verify: a payment that is not found is repeated, with the same key", () =>
  Effect.gen(function* () {
    const seen = yield* paying(() => Effect.succeed(Option.none()), hangs, Effect.succeed("receipt 8"))
    assert.deepStrictEqual(seen.read, ["result: receipt 8"])
    assert.deepStrictEqual(seen.at, [0, 5000])
    assert.strictEqual(seen.keys[0], seen.keys[1])
    assert.strictEqual(seen.keys.length, 2)
  })
)

it.effect("07-unsafe-with-verify: when the lookup fails, the model reads that the outcome is unknown", () =>
  Effect.gen(function* () {
    const seen = yield* paying(() => Effect.fail(new Payments.LedgerDown({ message: "no line" })), hangs)
    assert.deepStrictEqual(seen.read, [
      "unknown: ERROR: Tool 'pay' failed: it was cut off after its start and may have taken effect; looking it up failed: no line (severity: HIGH). Do not repeat the call: a person has to look it up."
    ])
    assert.strictEqual(seen.keys.length, 1)
  })
)

it.effect("07-unsafe-with-verify: a refusal is told, and never repeated", () =>
  Effect.gen(function* () {
    const declined = Effect.fail(new Payments.Declined({ message: "the account is empty" }))
    const seen = yield* paying(() => Effect.die("not expected"), declined)
    assert.deepStrictEqual(seen.read, [
      "told: permanent: the account is empty; consider asking the user for clarification"
    ])
    assert.strictEqual(seen.keys.length, 1)
  })
)

const report =
  '{"plant":"Ramsons","isEdible":true,"seenOn":"2027-03-09T08:00:00Z","remarks":["Smell it.","Not lily of the valley?"]}'

it.effect("09-structured-output: after an answer that does not fit, the model call is repeated, with the picture", () =>
  Effect.gen(function* () {
    sameType<Effect.Effect<string, Own, Model.Model>>()(Plants.program)
    const model = yield* make(text("Ramsons, I think."), text(report))
    assert.strictEqual(yield* Effect.provide(Plants.program, model.layer), "Ramsons: eat it")
    const [first, second] = model.requests
    assert.deepStrictEqual(
      first?.messages.flatMap((message) => (message.role === "user" ? message.content.map(({ type }) => type) : [])),
      ["text", "image"]
    )
    assert.strictEqual(second?.messages.length, 4)
  })
)

it.effect("09-structured-output: after two more tries there is no report", () =>
  Effect.gen(function* () {
    const model = yield* make(text("{}"), text("{}"), text("{}"))
    assert.strictEqual(yield* Effect.provide(Plants.program, model.layer), "no report, 4 issues")
  })
)

it.effect("09-structured-output: the remarks are seen as they come", () =>
  Effect.gen(function* () {
    const model = yield* make(text(report))
    const seen = yield* Stream.runCollect(Plants.watching).pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(seen.at(-1), ["Smell it.", "Not lily of the valley?"])
    assert.isAbove(seen.length, 1)
  })
)
