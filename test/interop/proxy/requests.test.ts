/** Requests about one run at the same time, and those of which a part does not count. */
import { assert, describe, it } from "@effect/vitest"
import { Approval } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { calm } from "../../_support/dialogue.ts"
import { agent, contract, kinds, type Serving } from "./_support/served.ts"

const { call, calls, make, text } = ScriptedModel

const pay = call("pay", { cents: 500 })
const of = { subject: "ann", run: "one" }

/** The runs of an agent behind a script of its model. */
const serving = (
  kind: (typeof kinds)[keyof typeof kinds],
  steps: ReadonlyArray<ScriptedModel.ScriptedStep>,
  more: Omit<Serving, "desk" | "model"> = {}
) =>
  Effect.gen(function* () {
    const { desk, ...rest } = yield* agent
    const model = yield* make(...steps)
    yield* kind.begin
    const context = yield* Layer.build(kind.runsOf({ desk, model: model.layer, ...more }))
    return { ...rest, model, ...Context.get(context, contract.runs) }
  })

type Runs = Effect.Success<ReturnType<typeof serving>>

const started = ({ end, start }: Runs, input: string) =>
  Effect.gen(function* () {
    yield* start({ ...of, input })
    const ending = yield* end(of)
    assert(ending._tag === "Waiting")
    return ending.waiting.flatMap((one) =>
      one.type === "approval" ? [{ digest: one.request.digest, decision: Approval.approve }] : []
    )
  })

/** Starts a run whose tool `pay` waits for a decision while its tool `wait` is at work. */
const halfway = ({ events, start }: Runs) =>
  Effect.gen(function* () {
    yield* start({ ...of, input: "Pay and wait." })
    const begun = new Set<string>()
    const isBegun = ({ type }: { readonly type: string }) =>
      begun.add(type).has("tool-start") && (begun.has("tool-waiting") || begun.has("approval-requested"))
    yield* Stream.runDrain(Stream.takeUntil(yield* events(of), isBegun))
  })

for (const [name, kind] of Object.entries(kinds)) {
  describe(name, () => {
    it.effect("beside a decision about an unknown request no other counts, and nothing begins [P1533]", () =>
      Effect.gen(function* () {
        const runs = yield* serving(kind, [calls(pay), text("Paid.")])
        const [approval] = yield* started(runs, "Pay.")
        assert(approval !== undefined)
        const unknown = { digest: "another", decision: Approval.approve }
        const refused = yield* Effect.flip(runs.decide({ ...of, decisions: [approval, unknown] }))
        assert.deepInclude(Object(refused), {
          _tag: "RunConflictError",
          reason: "not-counted",
          receipts: [{ _tag: "NotCounted", digest: "another", reason: "unknown-request" }]
        })
        assert.deepStrictEqual(runs.paid, [])
        const answered = yield* runs.decide({ ...of, decisions: [approval] })
        assert.deepInclude({ ...answered }, { _tag: "Answered", output: "Paid." })
        assert.deepStrictEqual(runs.paid, [500])
      })
    )

    it.effect("a run with a request and a tool at work is at work", () =>
      Effect.gen(function* () {
        const runs = yield* serving(kind, [calls(pay, call("wait", {}))])
        yield* halfway(runs)
        assert.isUndefined(yield* runs.show(of))
        yield* runs.release
        assert.strictEqual((yield* runs.end(of))._tag, "Waiting")
      })
    )
  })
}

const memory = (steps: ReadonlyArray<ScriptedModel.ScriptedStep>, more?: Omit<Serving, "desk" | "model">) =>
  serving(kinds.memory, steps, more)

it.effect("of requests about one run, each waits for those before it, and for none about another run", () =>
  Effect.gen(function* () {
    const gates = yield* Effect.forEach([1, 2, 3, 4], () => Deferred.make<void>())
    let reads = 0
    const sound = Context.get(yield* Layer.build(AgentRuns.layerSuspendedMemory()), AgentRuns.SuspendedRuns)
    const slow = Layer.succeed(AgentRuns.SuspendedRuns, {
      ...sound,
      get: () => Effect.suspend(() => Effect.as(Deferred.await(gates[reads++]!), undefined))
    })
    const { stop } = yield* memory([], { suspended: slow })
    const stopping = Effect.forkChild(Effect.flip(stop(of)))
    const other = Effect.forkChild(Effect.flip(stop({ ...of, run: "two" })))
    const first = yield* stopping
    const second = yield* stopping
    yield* calm
    assert.strictEqual(reads, 1)
    const beside = yield* other
    yield* calm
    assert.strictEqual(reads, 2)
    yield* Deferred.succeed(gates[0]!, undefined)
    assert.strictEqual((yield* Fiber.join(first))._tag, "RunNotFoundError")
    const third = yield* stopping
    yield* calm
    assert.strictEqual(reads, 3)
    for (const gate of gates) yield* Deferred.succeed(gate, undefined)
    for (const fiber of [beside, second, third]) yield* Fiber.join(fiber)
    assert.strictEqual(reads, 4)
  })
)

it.effect("a settlement with an unknown token begins nothing, even while no run can begin", () =>
  Effect.gen(function* () {
    const runs = yield* memory([calls(call("order", {})), calls(call("wait", {}))], { limits: { maxAtWork: 1 } })
    yield* runs.start({ ...of, input: "Order." })
    assert.strictEqual((yield* runs.end(of))._tag, "Waiting")
    yield* runs.start({ ...of, run: "two", input: "Wait." })
    yield* calm
    const settle = (token: string) => runs.settle({ ...of, tool: runs.order, token, exit: Exit.succeed("ordered") })
    assert.deepStrictEqual(yield* settle("no token"), { _tag: "NotCounted", reason: "unknown-token" })
    const [token = ""] = runs.tokens
    assert.strictEqual((yield* Effect.flip(settle(token)))._tag, "TooBusyError")
    yield* runs.stop({ ...of, run: "two" })
  })
)

it.effect("a message that supersedes withdraws the requests of a run at work", () =>
  Effect.gen(function* () {
    const runs = yield* memory([calls(pay, call("wait", {})), text("Done.")])
    yield* halfway(runs)
    yield* runs.say({ ...of, message: "Rather not.", supersede: true })
    yield* runs.release
    assert.deepInclude({ ...(yield* runs.end(of)) }, { _tag: "Answered", output: "Done." })
    assert.deepStrictEqual(runs.paid, [])
  })
)

it.effect("a run with too many unread messages is busy, and one that is over is not", () =>
  Effect.gen(function* () {
    const runs = yield* memory([calls(call("wait", {})), text("Done.")])
    yield* runs.start({ ...of, input: "Wait." })
    const saying = runs.say({ ...of, message: "Hurry." })
    let said = 0
    const refused = yield* Effect.flip(Effect.forever(Effect.tap(saying, () => Effect.sync(() => said++))))
    assert.strictEqual(refused._tag, "TooBusyError")
    assert.isAtLeast(said, 10)
    yield* runs.release
    assert.strictEqual((yield* runs.end(of))._tag, "Answered")
    assert.deepInclude(Object(yield* Effect.flip(saying)), { _tag: "RunConflictError", reason: "over" })
  })
)

it.effect("a run that goes on after a decision is found for its whole time", () =>
  Effect.gen(function* () {
    const runs = yield* memory([calls(pay), text("Paid.")], { limits: { endedAge: "10 minutes" } })
    const decisions = yield* started(runs, "Pay.")
    yield* TestClock.adjust("9 minutes")
    yield* runs.decide({ ...of, decisions })
    yield* TestClock.adjust("9 minutes")
    assert.deepInclude({ ...(yield* runs.show(of)) }, { _tag: "Answered", output: "Paid." })
    yield* TestClock.adjust("1 minute")
    assert.strictEqual((yield* Effect.flip(runs.show(of)))._tag, "RunNotFoundError")
  })
)

it.effect("of runs that are stored at the same moment, no more are remembered than the limit allows", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const sound = Context.get(yield* Layer.build(AgentRuns.layerSuspendedMemory()), AgentRuns.SuspendedRuns)
    const slow = Layer.succeed(AgentRuns.SuspendedRuns, {
      ...sound,
      put: (key, run) => Effect.andThen(Deferred.await(gate), sound.put(key, run))
    })
    const names = ["one", "two", "three", "four"]
    const { end, events, start } = yield* memory(
      names.map(() => calls(pay)),
      { limits: { maxEnded: 1 }, suspended: slow }
    )
    for (const run of names) yield* start({ ...of, run, input: "Pay." })
    yield* Effect.repeat(calm, { times: 10 })
    yield* Deferred.succeed(gate, undefined)
    yield* Effect.forEach(names, (run) => end({ ...of, run }))
    yield* calm
    // the store has the state of a forgotten run, and none of its events
    const first = yield* Effect.forEach(names, (run) =>
      Effect.flatMap(events({ ...of, run }), (all) => Stream.runCollect(Stream.take(all, 1)))
    )
    assert.deepStrictEqual(
      first.flat().map(({ type }) => type),
      ["events-lost", "events-lost", "events-lost", "run-start"]
    )
  })
)
