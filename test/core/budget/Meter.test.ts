import { assert, describe, it } from "@effect/vitest"
import { Budget, Ledger, Usage } from "@kintsugi/core"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { end, Exceeded, Halted, Meter, type Warning } from "../../../packages/core/src/budget/Meter.ts"

const meter = (
  limits: Budget.Limits,
  { parent, elapsed = 0, now = 0 }: { now?: number; elapsed?: number; parent?: Meter } = {}
) => new Meter("worker", Budget.make(limits), new Ledger.Ledger(), now, elapsed, parent)

const callsModel = (limits: Budget.Limits, parent?: Meter) => {
  const made = meter(limits, parent === undefined ? {} : { parent })
  made.onExceeded = () => Effect.succeed(Budget.stop)
  return made
}

describe("the rest of a limit", () => {
  it("is the least of this run's and its ancestors' [A908]", () => {
    const wide = meter({ maxTurns: 9, maxToolCalls: 9 })
    const narrow = meter({ maxTurns: 2, maxToolCalls: 3 })
    assert.deepStrictEqual([wide.left("maxTurns"), wide.left("maxToolCalls")], [9, 9])
    assert.strictEqual(meter({ maxTurns: 5 }, { parent: narrow }).left("maxTurns"), 2)
    assert.strictEqual(meter({ maxTurns: 5 }, { parent: wide }).left("maxTurns"), 5)
    assert.strictEqual(meter({ maxToolCalls: 1 }, { parent: narrow }).left("maxToolCalls"), 1)
    assert.strictEqual(narrow.limit("maxToolCalls"), 3)
  })

  it("is never negative for calls, and calls beyond it may not run [A902]", () => {
    const own = meter({ maxToolCalls: 2 }, { parent: meter({ maxToolCalls: 4 }) })
    assert.strictEqual(own.takeCalls(3), 2)
    assert.strictEqual(own.left("maxToolCalls"), 0)
    assert.strictEqual(own.takeCalls(2), 0)
  })
})

it("a meter counts the earlier spending of a resumed run once in its ancestors, however often it resumes [P902]", () => {
  const parent = meter({ maxTurns: 9, maxToolCalls: 9 })
  const goneOn = (spent: { readonly turns: number; readonly toolCalls: number }, runId = "below") => {
    const child = meter({ maxTurns: 9, maxToolCalls: 9 }, { parent })
    child.restore(runId, spent)
    return [parent.left("maxTurns"), parent.left("maxToolCalls")]
  }
  assert.deepStrictEqual(goneOn({ turns: 2, toolCalls: 1 }), [7, 8])
  assert.deepStrictEqual(goneOn({ turns: 2, toolCalls: 1 }), [7, 8])
  assert.deepStrictEqual(goneOn({ turns: 3, toolCalls: 3 }), [6, 6])
  assert.deepStrictEqual(goneOn({ turns: 3, toolCalls: 3 }), [6, 6])
  assert.deepStrictEqual(goneOn({ turns: 1, toolCalls: 1 }, "another"), [5, 5])
})

describe("the nearest end that cannot be extended", () => {
  it("is the earlier one of a run and its ancestors, its own if both are the same [A903]", () => {
    const parent = meter({ maxDuration: "10 seconds" })
    const sooner = meter({ maxDuration: "5 seconds" }, { parent })
    const later = meter({ maxDuration: "20 seconds" }, { parent })
    const same = meter({ maxDuration: "10 seconds" }, { parent })
    assert.strictEqual(parent.deadline, parent)
    assert.strictEqual(sooner.deadline, sooner)
    assert.strictEqual(later.deadline, parent)
    assert.strictEqual(same.deadline, parent)
  })

  it("skips a run whose time may be extended [A909]", () => {
    const parent = meter({ maxDuration: "10 seconds" })
    assert.strictEqual(callsModel({ maxDuration: "5 seconds" }, parent).deadline, parent)
    assert.strictEqual(callsModel({ maxDuration: "5 seconds" }).deadline, undefined)
  })

  it("counts from when the time began to run [A903]", () => {
    const resumed = meter({ maxDuration: "10 seconds" }, { now: 100_000, elapsed: 4000 })
    assert.strictEqual(resumed.ownDeadline, 106_000)
    const late = meter({ maxDuration: "10 seconds" }, { now: 100_000, elapsed: 14_000 })
    assert.deepInclude(late.late(100_001), { reason: "maxDuration", limit: 10_000, spent: 14_001 })
    assert.deepInclude(resumed.late(100_001), { limit: 10_000, spent: 10_000 })
  })
})

describe("warnings", () => {
  const warnings = (made: Meter, now: number) => {
    const emitted: Array<Warning> = []
    made.announce = (warning) => Effect.sync(() => void emitted.push(warning))
    Effect.runSync(made.warn(now))
    return emitted
  }

  it("tell of every limit that is near, once each, and of none at a share of 1 [A910]", () => {
    const made = meter({ maxTurns: 2, maxDuration: "10 seconds", warnAt: 0.5 })
    made.takeTurn()
    assert.deepStrictEqual(warnings(made, 5000), [
      { reason: "maxTurns", limit: 2, spent: 1 },
      { reason: "maxDuration", limit: 10_000, spent: 5000 }
    ])
    assert.deepStrictEqual(warnings(made, 9000), [])
    const quiet = meter({ maxTurns: 1, maxDuration: "10 seconds", warnAt: 1 })
    quiet.takeTurn()
    assert.deepStrictEqual(warnings(quiet, 10_000), [])
  })

  it("wait for their listener [A910]", () => {
    const made = meter({ maxTurns: 2, warnAt: 0.5 })
    made.takeTurn()
    Effect.runSync(made.warn(0))
    assert.deepStrictEqual(warnings(made, 0), [{ reason: "maxTurns", limit: 2, spent: 1 }])
  })

  it("report the limits of ancestors as well [A910]", () => {
    const parent = meter({ maxTurns: 2, warnAt: 0.5 })
    const ofParent: Array<Warning> = []
    parent.announce = (warning) => Effect.sync(() => void ofParent.push(warning))
    const child = meter({ maxTurns: 9 }, { parent })
    child.takeTurn()
    assert.deepStrictEqual(warnings(child, 0), [])
    assert.deepStrictEqual(ofParent, [{ reason: "maxTurns", limit: 2, spent: 1 }])
  })
})

describe("extending", () => {
  it("is refused when the limit does not grow, with both limits [A909]", () => {
    const made = meter({ maxTurns: 3 })
    for (const limit of [2, 3]) {
      assert.throws(() => made.extend("maxTurns", limit), `Budget.extend: maxTurns is 3, ${limit} is not above it`)
    }
    made.extend("maxTurns", 4)
    assert.strictEqual(made.limit("maxTurns"), 4)
  })
})

it("what a reply without items costs is what its tokens cost [A904]", () => {
  const made = meter({ prices: { priced: { usdPerMillionTokens: { input: 1, output: 2 } } } })
  const usage = Usage.make({ inputTokens: 1_000_000, outputTokens: 1_000_000 })
  assert.strictEqual(made.costOf({ name: "priced" }, usage), 3)
  assert.strictEqual(made.costOf({ name: "unpriced" }, usage), undefined)
})

it.effect("the first limit that ends a run ends it and its descendants, and no other run [P1308]", () =>
  Effect.gen(function* () {
    const parent = meter({ maxTurns: 1 })
    const child = meter({ maxTurns: 9 }, { parent })
    const beside = meter({})
    const exceeded = new Exceeded(parent, "maxTurns", 1, 1)
    const exit = yield* Effect.exit(end(child, exceeded))
    assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    assert.strictEqual(Cause.squash(exit.cause), exceeded)
    yield* Effect.exit(end(parent, new Exceeded(parent, "maxTokens", 5, 6)))
    assert.deepStrictEqual([parent.ended, child.ended, beside.ended], [exceeded, exceeded, undefined])
    const own = new Exceeded(child, "maxTurns", 9, 9)
    yield* Effect.exit(end(child, own))
    assert.deepStrictEqual([parent.ended, child.ended], [exceeded, own])
  })
)

it.effect("a limit that a contender of a race reaches ends the contender alone [P1308]", () =>
  Effect.gen(function* () {
    const parent = meter({ maxTurns: 1 })
    const contender = parent.contender()
    const child = meter({ maxTurns: 9 }, { parent: contender })
    const exceeded = new Exceeded(parent, "maxTurns", 1, 1)
    yield* Effect.exit(end(child, exceeded))
    assert.deepStrictEqual(
      [parent.ended, parent.contender().ended, contender.ended, child.ended],
      [undefined, undefined, exceeded, exceeded]
    )
    yield* Effect.exit(end(parent, exceeded))
    assert.strictEqual(parent.contender().ended, exceeded)
  })
)

it("a check counts its turns and calls apart, with the runs within it", () => {
  const parent = meter({ maxTurns: 5, maxToolCalls: 5 })
  const check = parent.checking()
  const child = meter({}, { parent: check })
  child.takeTurn()
  check.takeTurn()
  child.takeCalls(2)
  const counts = [child, check, parent].map((one) => one.counts)
  assert.deepStrictEqual(counts, [
    { turns: 1, toolCalls: 2 },
    { turns: 2, toolCalls: 2 },
    { turns: 0, toolCalls: 0 }
  ])
})

it("a run withdraws its waits while it, or an ancestor, gives its last answer", () => {
  const parent = meter({})
  const child = meter({}, { parent })
  const withdraws = () => [parent.withdraws, child.withdraws]
  assert.deepStrictEqual(withdraws(), [false, false])
  child.isAnswering = true
  assert.deepStrictEqual(withdraws(), [false, true])
  child.isAnswering = false
  parent.isAnswering = true
  assert.deepStrictEqual(withdraws(), [true, true])
})

it("a decision about a limit is about no other limit [A909]", () => {
  const made = meter({})
  assert.isUndefined(made.actionAt("maxTurns"))
  made.asked.set("maxTurns", { limit: 8, answer: Deferred.makeUnsafe(), action: "stop" })
  assert.deepStrictEqual([made.actionAt("maxTurns"), made.actionAt("maxTokens")], ["stop", undefined])
})

it.effect("a wait ends when a call of a batch ends its run, unless the call interrupts the others itself", () =>
  Effect.gen(function* () {
    const parent = meter({})
    const child = meter({}, { parent })
    const halting = () => child.halting
    assert.isUndefined(halting())
    parent.beginBatch({ isCutShort: true })
    assert.isUndefined(halting())
    parent.beginBatch({ isCutShort: false })
    const waits = halting()
    assert(waits !== undefined)
    const [stays, gone] = [yield* Effect.forkChild(waits), yield* Effect.forkChild(waits)]
    yield* Effect.yieldNow
    yield* Fiber.interrupt(gone)
    parent.halt(7)
    parent.halt(8)
    assert.deepStrictEqual(yield* Fiber.join(stays), new Halted(7))
    assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(gone)))
    assert.deepStrictEqual([child.haltedAt, meter({}).haltedAt], [7, Infinity])
    parent.endBatch()
    assert.deepStrictEqual([child.haltedAt, halting()], [Infinity, undefined])
  })
)
