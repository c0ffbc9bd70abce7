/** Runs in a process: those that wait, in each store, and what becomes of decisions, messages and runs that have ended. */
import { assert, it } from "@effect/vitest"
import { Approval, LlmError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Conversations } from "@kintsugi/durable"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import * as DurableRuns from "@kintsugi/interop/DurableRuns"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { agent, contract, kinds, type Serving } from "./_support/served.ts"

const { answers, call, calls, fails, make, reply, text } = ScriptedModel

const paying = calls(call("pay", { cents: 500 }))
const of = { subject: "ann", run: "one" }
const asked = { ...of, input: "Pay." }

const overloaded = LlmError.ModelOverloadedError.make({ model: "scripted" })

/** The runs of one process. `stop` ends it. */
const process = (serving: Serving) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const runs = Context.get(yield* Layer.buildWithScope(kinds.memory.runsOf(serving), scope), contract.runs)
    return { ...runs, exit: Scope.close(scope, Exit.void) }
  })

const store = Effect.map(Layer.build(AgentRuns.layerSuspendedMemory()), Layer.succeedContext)

const stores = {
  "in memory": AgentRuns.layerSuspendedMemory(),
  "in conversations": Layer.provide(DurableRuns.layerSuspended, Conversations.layerMemory())
}

const digestsOf = (ending: Effect.Success<ReturnType<Effect.Success<ReturnType<typeof process>>["end"]>>) =>
  ending._tag === "Waiting"
    ? ending.waiting.flatMap((one) => (one.type === "approval" ? [one.request.digest] : []))
    : []

const approving = (digests: ReadonlyArray<string>) => ({
  ...of,
  decisions: digests.map((digest) => ({ digest, decision: Approval.approve }))
})

const refusing = (digests: ReadonlyArray<string>) => ({
  ...of,
  decisions: digests.map((digest) => ({ digest, decision: Approval.refuse("too much") }))
})

it.effect("a run that fails after its tool has begun is over: no later request pays again [P1533]", () =>
  Effect.gen(function* () {
    const { desk, paid } = yield* agent
    const model = yield* make(paying, fails(overloaded))
    const { decide, end, say, show, start } = yield* process({ desk, model: model.layer })
    yield* start(asked)
    const digests = digestsOf(yield* end(of))
    const failed = yield* Effect.flip(decide(approving(digests)))
    assert.strictEqual(failed._tag, "RunFailedError")
    assert.deepStrictEqual(yield* Effect.flip(show(of)), failed)
    const late = [
      decide(approving(digests)),
      decide(refusing(digests)),
      say({ ...of, message: "No.", supersede: true })
    ]
    for (const request of late) {
      const conflict = yield* Effect.flip(Effect.asVoid(request))
      assert.deepInclude({ ...conflict }, { status: 409, reason: "over" })
    }
    assert.deepStrictEqual(paid, [500])
  })
)

it.effect("a run that fails before a tool has begun waits as before, and a decision counts later [P1533]", () =>
  Effect.gen(function* () {
    const { desk, paid } = yield* agent
    const model = yield* make(paying, fails(overloaded), text("Paid."))
    const { decide, end, show, start } = yield* process({ desk, model: model.layer })
    yield* start(asked)
    const ending = yield* end(of)
    assert.strictEqual((yield* Effect.flip(decide(refusing(digestsOf(ending)))))._tag, "RunFailedError")
    assert.deepStrictEqual(yield* show(of), ending)
    assert.deepStrictEqual(paid, [])
    assert.deepInclude({ ...(yield* decide(approving(digestsOf(ending)))) }, { _tag: "Answered", output: "Paid." })
    assert.deepStrictEqual(paid, [500])
  })
)

for (const [decision, decided] of [
  ["a refusal", refusing],
  ["an approval", approving]
] as const) {
  it.effect(`a process that ends after ${decision} leaves the run to the next one, unless a tool has begun`, () =>
    Effect.gen(function* () {
      const { desk, paid } = yield* agent
      const isBegun = decided === approving
      const suspended = yield* store
      const reached = yield* Deferred.make<void>()
      const stuck = answers(() => Effect.andThen(Deferred.succeed(reached, undefined), Effect.never))
      const model = yield* make(paying, stuck, ...(isBegun ? [] : [text("Not paid.")]))
      const first = yield* process({ desk, model: model.layer, suspended })
      yield* first.start(asked)
      const digests = digestsOf(yield* first.end(of))
      const deciding = yield* Effect.forkChild(Effect.exit(first.decide(decided(digests))))
      yield* Deferred.await(reached)
      yield* first.exit
      yield* Fiber.join(deciding)
      const second = yield* process({ desk, model: model.layer, suspended })
      const late = yield* Effect.match(second.decide(decided(digests)), {
        onFailure: ({ _tag }): string => _tag,
        onSuccess: ({ _tag }) => _tag
      })
      assert.strictEqual(late, isBegun ? "RunNotFoundError" : "Answered")
      assert.deepStrictEqual(paid, isBegun ? [500] : [])
    })
  )
}

it.effect("of two processes that decide, one resumes the run: the other learns each time that it was resumed", () =>
  Effect.gen(function* () {
    const { desk, paid } = yield* agent
    const suspended = yield* store
    const reached = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    const waits = answers(() =>
      Effect.as(
        Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(gate)),
        reply({ content: [{ type: "text", text: "Paid." }] })
      )
    )
    const model = yield* make(paying, waits)
    const first = yield* process({ desk, model: model.layer, suspended })
    const second = yield* process({ desk, model: model.layer, suspended })
    yield* first.start(asked)
    const digests = digestsOf(yield* first.end(of))
    const deciding = yield* Effect.forkChild(first.decide(approving(digests)))
    yield* Deferred.await(reached)
    for (const late of [second.decide(approving(digests)), second.decide(approving(digests))]) {
      const { _tag, ...failure } = yield* Effect.flip(late)
      assert.deepInclude(
        { ...failure, _tag },
        { _tag: "RunFailedError", status: 409, code: "KINTSUGI-SNAPSHOT-REFUSED" }
      )
    }
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual((yield* Fiber.join(deciding))._tag, "Answered")
    assert.deepStrictEqual(paid, [500])
    assert.strictEqual((yield* Effect.flip(second.show({ ...of, run: "two" })))._tag, "RunNotFoundError")
  })
)

it.effect(
  "a message to a run that waits is read after the decision, and one that supersedes withdraws the request",
  () =>
    Effect.gen(function* () {
      const { desk, paid } = yield* agent
      const model = yield* make(paying, text("Paid."), paying, text("Withdrawn."))
      const { decide, end, events, say, start } = yield* process({ desk, model: model.layer })
      yield* start(asked)
      const digests = digestsOf(yield* end(of))
      yield* say({ ...of, message: "Hurry." })
      assert.strictEqual((yield* end(of))._tag, "Waiting")
      yield* decide(approving(digests))
      assert.include(JSON.stringify(model.requests[1]?.messages), "Hurry.")
      const two = { ...of, run: "two" }
      yield* start({ ...two, input: "Pay." })
      yield* end(two)
      yield* say({ ...two, message: "Rather not.", supersede: true })
      yield* Stream.runDrain(yield* events(two))
      assert.deepInclude({ ...(yield* end(two)) }, { _tag: "Answered", output: "Withdrawn." })
      assert.deepStrictEqual(paid, [500])
    })
)

for (const [name, layer] of Object.entries(stores)) {
  it.effect(`a message to a run that waits ${name} is read once, also by the next process`, () =>
    Effect.gen(function* () {
      const { desk } = yield* agent
      const suspended = Layer.succeedContext(yield* Layer.build(layer))
      const model = yield* make(paying, text("Paid."))
      const first = yield* process({ desk, model: model.layer, suspended })
      yield* first.start(asked)
      const digests = digestsOf(yield* first.end(of))
      const said = { ...of, message: "Hurry.", id: "said-1" }
      for (const { end, exit, say } of [first, yield* process({ desk, model: model.layer, suspended })]) {
        yield* say(said)
        yield* end(of)
        yield* say(said)
        yield* end(of)
        yield* exit
      }
      const last = yield* process({ desk, model: model.layer, suspended })
      yield* last.say({ ...said, id: "said-2", message: "Wait." })
      yield* last.end(of)
      yield* last.decide(approving(digests))
      const read = JSON.stringify(model.requests[1]?.messages)
      assert.deepStrictEqual([read.split("Hurry.").length, read.split("Wait.").length], [2, 2])
    })
  )
}

it.effect("a run that cannot be started leaves its room to others", () =>
  Effect.gen(function* () {
    const { desk } = yield* agent
    const model = yield* make(text("Fine."))
    let isBroken = true
    const start: typeof desk.start = (input) =>
      Effect.suspend(() => (isBroken ? Effect.die(new Error("no start")) : desk.start(input)))
    const broken = new Proxy(desk, { get: (own, name) => (name === "start" ? start : Reflect.get(own, name)) })
    const runs = yield* process({ desk: broken, model: model.layer, limits: { maxAtWork: 1 } })
    assert.isTrue(Exit.isFailure(yield* Effect.exit(runs.start(asked))))
    isBroken = false
    yield* runs.start(asked)
    assert.strictEqual((yield* runs.end(of))._tag, "Answered")
  })
)

it.effect("a run that cannot be stored ends with a bug, and leaves its room to others", () =>
  Effect.gen(function* () {
    const { desk } = yield* agent
    const model = yield* make(paying, text("Fine."))
    const sound = Context.get(yield* Layer.build(AgentRuns.layerSuspendedMemory()), AgentRuns.SuspendedRuns)
    const broken = Layer.succeed(AgentRuns.SuspendedRuns, { ...sound, put: () => Effect.die(new Error("no disk")) })
    const { end, start } = yield* process({ desk, model: model.layer, limits: { maxAtWork: 1 }, suspended: broken })
    yield* start(asked)
    assert.deepInclude({ ...Object(yield* Effect.flip(end(of))) }, { code: "KINTSUGI-BUG", status: 500 })
    yield* start({ ...of, run: "two", input: "What?" })
    assert.strictEqual((yield* end({ ...of, run: "two" }))._tag, "Answered")
  })
)

// Finds out nothing of its own: no small mistake merges the two contexts in the other order
it.effect("a run has the services of the server, and not those of the request that started it", () =>
  Effect.gen(function* () {
    const { desk } = yield* agent
    const [ours, theirs] = [yield* make(text("Ours.")), yield* make()]
    const { end, start } = yield* process({ desk, model: ours.layer })
    yield* Effect.provide(start(asked), theirs.layer)
    assert.deepInclude({ ...(yield* end(of)) }, { output: "Ours." })
  })
)

it.effect("runs that have ended are found for so long, and only so many of them", () =>
  Effect.gen(function* () {
    const { desk } = yield* agent
    const model = yield* make(...["0", "1", "2", "3"].map((answer) => text(answer)))
    const limits = { endedAge: "1 minute", maxEnded: 3 } as const
    const { end, show, start } = yield* process({ desk, model: model.layer, limits })
    // another subject loses nothing
    const other = { subject: "bob", run: "one" }
    yield* start({ ...other, input: "What?" })
    yield* end(other)
    yield* TestClock.adjust(0)
    for (const run of ["one", "two", "three"]) {
      yield* start({ ...of, run, input: "What?" })
      yield* end({ ...of, run })
      yield* TestClock.adjust(0)
    }
    const found = Effect.forEach(["one", "two", "three"], (run) =>
      Effect.match(show({ ...of, run }), { onFailure: ({ _tag }): string => _tag, onSuccess: () => "found" })
    )
    assert.deepStrictEqual(yield* found, ["RunNotFoundError", "found", "found"])
    assert.deepInclude({ ...(yield* show(other)) }, { output: "0" })
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* found, ["RunNotFoundError", "RunNotFoundError", "RunNotFoundError"])
  })
)

const key = (run: string, subject = "ann") => ({ agent: "desk", subject, run })
const row = (asked: string) => ({ asked, snapshot: { asked }, repeat: false })

it.effect("a store in memory drops the oldest run of the subject that has the most [P1387]", () =>
  Effect.gen(function* () {
    const { get, put } = yield* AgentRuns.SuspendedRuns
    yield* put(key("first", "bob"), row("first"))
    for (const run of ["a", "b", "c"]) yield* put(key(run), row(run))
    assert.isUndefined(yield* get(key("a")))
    assert.isDefined(yield* get(key("b")))
    assert.isDefined(yield* get(key("first", "bob")))
    // of as many, the oldest
    yield* put(key("new", "eve"), row("new"))
    yield* put(key("new", "dan"), row("new"))
    assert.isUndefined(yield* get(key("first", "bob")))
    assert.isDefined(yield* get(key("c")))
  }).pipe(Effect.provide(AgentRuns.layerSuspendedMemory({ maxRuns: 3 })))
)

it.effect("a store in memory drops the oldest runs beyond its limits [P1387]", () =>
  Effect.gen(function* () {
    const { get, put } = yield* AgentRuns.SuspendedRuns
    for (const run of ["a", "b", "c", "a", "d"]) yield* put(key(run), row(run))
    assert.isUndefined(yield* get(key("b")))
    assert.isDefined(yield* get(key("a")))
    yield* TestClock.adjust("23 hours")
    yield* put(key("e"), row("e"))
    yield* TestClock.adjust("1 hour")
    assert.isUndefined(yield* get(key("d")))
    assert.isDefined(yield* get(key("e")))
  }).pipe(Effect.provide(AgentRuns.layerSuspendedMemory({ maxAge: "1 day", maxRuns: 3 })))
)
