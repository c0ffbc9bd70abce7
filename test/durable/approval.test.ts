import { assert, it } from "@effect/vitest"
import { Agent, Approval, Backoff, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Clock, Deferred, Duration, Effect, Exit, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { batch, calm, done, read } from "../_support/dialogue.ts"
import { process, watched } from "./_support/engines.ts"
import { Busy } from "./_support/scenarios.ts"

/** What became of a decision. */
const fateOf = (answer: Approval.DecisionReceipt): string => (answer._tag === "Counted" ? answer._tag : answer.reason)

const quiet = Effect.forEach([1, 2, 3, 4, 5, 6], () => calm, { discard: true })

/** A run that waits for a decision about a payment. */
const waiting = (
  validFor: string = "1 day",
  onExpiry: "ask-again" | "refuse" | "fail" = "ask-again",
  answers = [done]
) =>
  Effect.gen(function* () {
    const runs: Array<number | undefined> = []
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ n: Schema.optionalKey(Schema.Finite) }),
      success: Schema.String,
      run: ({ n }) => Effect.sync(() => (runs.push(n), "paid"))
    }).pipe(Tool.requireApproval({ validFor: validFor as "1 day", onExpiry }))
    const agent = Agent.make("worker", {
      budget: { maxDuration: "20 days" },
      skills: [Skill.make("work", { description: "Works.", tools: [pay] })]
    })
    const model = yield* ScriptedModel.make(batch("pay"), ...answers)
    const engine = yield* watched(false)
    const asked: Array<Durable.DurableRequest> = []
    const durable = Durable.workflow(agent, {
      name: "payments",
      version: "2",
      input: Schema.String,
      output: Schema.String,
      onApproval: (one) => Effect.sync(() => void asked.push(one))
    })
    const served = durable.layer.pipe(Layer.provide(model.layer), Layer.provideMerge(engine.layer))
    const context = yield* Layer.build(served)
    const id = yield* Effect.provideContext(
      durable.workflow.execute({ id: "one", input: "go" }, { discard: true }),
      context
    )
    yield* quiet
    const decide = (one: Durable.DurableRequest | undefined, decision: Approval.Decision) =>
      one === undefined
        ? Effect.die(new Error("no request came"))
        : Effect.provideContext(Durable.decide(durable, one, decision), context)
    const end = Effect.map(Effect.provideContext(durable.workflow.poll(id), context), (result) =>
      Option.match(result, {
        onNone: () => "at work",
        onSome: (one) => (one._tag === "Suspended" ? one._tag : one.exit._tag)
      })
    )
    return { asked, decide, durable, end, engine, id, model, runs }
  })

// Finds out nothing of its own: that a suspended run holds no fiber, and goes on, is the work of the engine
it.effect("a run waits for a person without a fiber, and goes on with the decision, days later [P1117]", () =>
  Effect.gen(function* () {
    const { asked, decide, durable, end, id, model, runs } = yield* waiting("10 days")
    assert.strictEqual(durable.workflow._tag, "payments@2")
    assert.strictEqual(yield* end, "Suspended")
    assert.deepStrictEqual(
      asked.map(({ executionId, request }) => [executionId, request.tool]),
      [[id, "pay"]]
    )
    yield* TestClock.adjust("3 days")
    yield* quiet
    assert.strictEqual(yield* end, "Suspended")
    yield* decide(asked[0], Approval.approveWith({ n: 7 }))
    yield* quiet
    assert.strictEqual(yield* end, "Success")
    assert.deepStrictEqual(runs, [7])
    assert.deepStrictEqual(read(model), ["result: paid"])
    assert.strictEqual(asked.length, 1)
  })
)

/** A payment that has to be approved, and then something that takes its time, under an engine that may replay all of it at each step. */
const paying = (isForgetful: boolean) =>
  Effect.gen(function* () {
    const runs: Array<string> = []
    const gate = yield* Deferred.make<void>()
    const tool = (name: string, before: Effect.Effect<void>) =>
      Tool.make(name, {
        description: name,
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.map(before, () => `${name} ${runs.push(name)}`)
      })
    const pay = tool("pay", Effect.void).pipe(Tool.requireApproval())
    const skills = [Skill.make("work", { description: "Works.", tools: [pay, tool("hold", Deferred.await(gate))] })]
    const model = yield* ScriptedModel.make(batch("pay"), batch("hold"), done)
    const asked: Array<Durable.DurableRequest> = []
    const durable = Durable.workflow(Agent.make("worker", { skills }), {
      name: "payments",
      input: Schema.String,
      output: Schema.String,
      onApproval: (one) => Effect.sync(() => void asked.push(one))
    })
    const engine = yield* watched(isForgetful)
    const context = yield* Layer.build(engine.layer)
    const on = Effect.provideContext(context)
    const serve = process(durable.layer.pipe(Layer.provide(model.layer), Layer.provide(engine.layer)))
    const stop = yield* serve
    const id = yield* Durable.start(durable, { id: "one", input: "go" }).pipe(on)
    yield* quiet
    const decide = (decision: Approval.Decision, changed: object = {}) => {
      const [one] = asked
      if (one === undefined) return Effect.die(new Error("no request came"))
      const request = new Approval.ApprovalRequest({ ...one.request, ...changed })
      return Durable.decide(durable, { ...one, request }, decision).pipe(on)
    }
    const served = Effect.andThen(serve, Durable.resume(durable, id).pipe(on))
    const answer = Effect.map(Durable.poll(durable, id).pipe(on), (result) =>
      Option.isSome(result) && result.value._tag === "Complete" ? result.value.exit : undefined
    )
    return { answer, decide, dies: Effect.andThen(stop, engine.kill), gate, model, runs, served }
  })

// Finds out nothing of its own: the subject is the order of the rows that the engine stores while no process is there
it.effect(
  "of two decisions that come before the call goes on the first counts, and the other is told so [P1117 P1533]",
  () =>
    Effect.gen(function* () {
      for (const decisions of [
        [Approval.approve, Approval.refuse("too much")],
        [Approval.refuse("too much"), Approval.approve]
      ]) {
        const { answer, decide, dies, gate, model, runs, served } = yield* paying(false)
        yield* dies
        const answers = yield* Effect.forEach(decisions, (one) => decide(one))
        assert.deepStrictEqual(answers.map(fateOf), ["Counted", "already-decided"])
        yield* Deferred.succeed(gate, undefined)
        yield* served
        yield* quiet
        assert.deepStrictEqual(yield* answer, Exit.succeed("done"))
        const isApproved = decisions[0]?.type === "approve"
        assert.deepStrictEqual(runs, isApproved ? ["pay", "hold"] : ["hold"])
        assert.match(read(model)[0] ?? "", isApproved ? /^result: pay 1/ : /^denied: .*too much/)
      }
    })
)

// Finds out nothing of its own: the subject is the replay of core after the call
it.effect("a refusal that comes after the call went on changes nothing, in no replay [P1117]", () =>
  Effect.gen(function* () {
    const { answer, decide, gate, model, runs } = yield* paying(true)
    yield* decide(Approval.approve)
    for (let i = 0; i < 10; i++) yield* quiet
    assert.deepStrictEqual(runs, ["pay"])
    yield* decide(Approval.refuse("too much"))
    yield* Deferred.succeed(gate, undefined)
    for (let i = 0; i < 10; i++) yield* quiet
    assert.deepStrictEqual(yield* answer, Exit.succeed("done"))
    assert.deepStrictEqual(runs, ["pay", "hold"])
    assert.deepStrictEqual(read(model), ["result: pay 1", "result: hold 2"])
  })
)

// Finds out nothing of its own: the alarm is that of the engine
it.effect("the engine sets an alarm for a request that expires: without a decision the call is refused [P1530]", () =>
  Effect.gen(function* () {
    const { asked, decide, end, model, runs } = yield* waiting("1 day", "refuse")
    assert.strictEqual(yield* end, "Suspended")
    yield* TestClock.adjust("1 day")
    yield* quiet
    assert.strictEqual(yield* end, "Suspended")
    yield* TestClock.adjust("1 millis")
    yield* quiet
    assert.strictEqual(yield* end, "Success")
    assert.deepStrictEqual(runs, [])
    assert.match(read(model)[0] ?? "", /^denied: .*no decision about it came in time$/)
    assert.strictEqual(fateOf(yield* decide(asked[0], Approval.approve)), "late")
  })
)

it.effect("a decision at the last instant counts, and one millisecond later the request may fail the run [P1530]", () =>
  Effect.gen(function* () {
    const inTime = yield* waiting("1 day", "fail")
    yield* TestClock.adjust("1 day")
    assert.strictEqual(fateOf(yield* inTime.decide(inTime.asked[0], Approval.approve)), "Counted")
    yield* quiet
    assert.strictEqual(yield* inTime.end, "Success")
    assert.deepStrictEqual(inTime.runs, [undefined])
    const expired = yield* waiting("1 day", "fail", [])
    yield* TestClock.adjust("1 day")
    yield* quiet
    assert.strictEqual(yield* expired.end, "Suspended")
    yield* TestClock.adjust("1 millis")
    yield* quiet
    assert.strictEqual(yield* expired.end, "Failure")
    assert.deepStrictEqual(expired.runs, [])
  })
)

it.effect(
  "each decision about a durable run is answered, and one that does not count changes nothing [P1117 P1533]",
  () =>
    Effect.gen(function* () {
      const { asked, decide, end, runs } = yield* waiting("1 day")
      const [first] = asked
      assert.isDefined(first)
      const other = (fields: object) => ({
        ...first,
        request: new Approval.ApprovalRequest({ ...first.request, ...fields })
      })
      const answers = [
        yield* decide(other({ digest: "d" }), Approval.approve),
        yield* decide(other({ digest: "d", key: "k" }), Approval.approve)
      ]
      assert.deepStrictEqual(answers.map(fateOf), ["other-digest", "unknown-request"])
      yield* quiet
      assert.strictEqual(yield* end, "Suspended")
      yield* TestClock.adjust("2 days")
      // it wakes the run, which asks again
      assert.strictEqual(fateOf(yield* decide(first, Approval.approve)), "late")
      yield* quiet
      assert.strictEqual(asked.length, 2)
      assert.notStrictEqual(asked[1]?.request.digest, first.request.digest)
      assert.strictEqual(fateOf(yield* decide(first, Approval.approve)), "late")
      assert.strictEqual(fateOf(yield* decide(asked[1], Approval.approve)), "Counted")
      assert.strictEqual(fateOf(yield* decide(asked[1], Approval.approve)), "already-decided")
      yield* quiet
      assert.strictEqual(yield* end, "Success")
      assert.strictEqual(fateOf(yield* decide(asked[1], Approval.refuse("no"))), "already-decided")
      assert.strictEqual(fateOf(yield* decide(other({ digest: "d" }), Approval.approve)), "run-over")
      assert.deepStrictEqual(runs, [undefined])
    })
)

it.effect("waits that were drawn by chance, idempotency keys and instants are those of the first time [P1118]", () =>
  Effect.gen(function* () {
    const keys: Array<string> = []
    const instants: Array<number> = []
    const waits: Array<number> = []
    let nth = 0
    const flaky = Tool.make("flaky", {
      description: "Fails.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      failure: Busy,
      run: (_, { idempotencyKey }) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) => {
          keys.push(idempotencyKey)
          instants.push(at)
          return ++nth < 4 ? Effect.fail(new Busy({ message: "busy" })) : Effect.succeed("done")
        })
    }).pipe(
      Tool.onError({
        Busy: Recovery.retry(Backoff.make({ initialBackoff: "1 minute", maxAttempts: 5, jitter: "full" }))
      })
    )
    const agent = Agent.make("worker", {
      budget: { maxDuration: "1 day" },
      skills: [Skill.make("work", { description: "Works.", tools: [flaky] })]
    }).pipe(
      Agent.onEvent((event) =>
        Effect.sync(() => {
          if (event.type === "verdict") waits.push(Duration.toMillis(event.delay))
        })
      )
    )
    const model = yield* ScriptedModel.make(batch("flaky"), done)
    const engine = yield* watched(true)
    const durable = Durable.workflow(agent, { name: "worker", input: Schema.String, output: Schema.String })
    yield* Effect.gen(function* () {
      const id = yield* durable.workflow.execute({ id: "one", input: "go" }, { discard: true })
      for (let i = 0; i < 400; i++) {
        yield* quiet
        const result = Option.getOrUndefined(yield* durable.workflow.poll(id))
        if (result?._tag === "Complete") break
        yield* TestClock.adjust("5 seconds")
      }
    }).pipe(Effect.provide(durable.layer.pipe(Layer.provide(model.layer), Layer.provideMerge(engine.layer))))
    assert.strictEqual(nth, 4)
    assert.strictEqual(new Set(keys).size, 1)
    // one activity each: had a wait been drawn again, it would be another instant
    assert.strictEqual(new Set(engine.done).size, engine.done.length)
    assert.deepStrictEqual(
      instants,
      instants.toSorted((a, b) => a - b)
    )
    const between = instants.slice(1).map((at, index) => at - (instants[index] ?? 0))
    // what was not told of in a replay was waited for all the same
    for (const wait of waits) assert.isTrue(between.some((gap) => gap >= Math.floor(wait) && gap < wait + 10_000))
  })
)

it.effect("a decision that cannot be read is a defect of the caller, and the run keeps waiting [P1531 P1533]", () =>
  Effect.gen(function* () {
    const { asked, decide, end, runs } = yield* waiting()
    for (const decision of [
      null,
      "approve",
      { type: "allow" },
      { type: "refuse" },
      { type: "approve", for: {} },
      { type: "approve", for: "run", until: Number.NaN }
    ]) {
      // as a program without types does
      const exit = yield* Effect.exit(decide(asked[0], decision as Approval.Decision))
      assert(exit._tag === "Failure" && exit.cause.reasons[0]?._tag === "Die")
      const expected = "TypeError: Durable.decide about tool 'pay': the decision cannot be read"
      assert.strictEqual(String(exit.cause.reasons[0].defect), expected)
    }
    yield* quiet
    assert.strictEqual(yield* end, "Suspended")
    yield* decide(asked[0], Approval.approve)
    yield* quiet
    assert.strictEqual(yield* end, "Success")
    assert.lengthOf(runs, 1)
  })
)
