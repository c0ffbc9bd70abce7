import { assert, it } from "@effect/vitest"
import { Agent, Approval, Backoff, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Clock, Deferred, Duration, Effect, Exit, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { batch, calm, done, read } from "../_support/dialogue.ts"
import { process, watched } from "./_support/engines.ts"
import { Busy } from "./_support/scenarios.ts"

const quiet = Effect.forEach([1, 2, 3, 4, 5, 6], () => calm, { discard: true })

/** A run that waits for a decision about a payment. */
const waiting = (validFor: string = "1 day") =>
  Effect.gen(function* () {
    const runs: Array<number | undefined> = []
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ n: Schema.optionalKey(Schema.Finite) }),
      success: Schema.String,
      run: ({ n }) => Effect.sync(() => (runs.push(n), "paid"))
    }).pipe(Tool.requireApproval({ validFor: validFor as "1 day" }))
    const agent = Agent.make("worker", {
      budget: { maxDuration: "20 days" },
      skills: [Skill.make("work", { description: "Works.", tools: [pay] })]
    })
    const model = yield* ScriptedModel.make(batch("pay"), done)
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

it.effect("the first decision counts, and one about something else is none [P1117]", () =>
  Effect.gen(function* () {
    const { asked, decide, end, model, runs } = yield* waiting()
    const [first] = asked
    assert.isDefined(first)
    const other = { ...first, request: new Approval.ApprovalRequest({ ...first.request, digest: "of something else" }) }
    yield* decide(other, Approval.approve)
    yield* quiet
    assert.strictEqual(yield* end, "Suspended")
    yield* decide(first, Approval.refuse("too much"))
    yield* decide(first, Approval.approve)
    yield* quiet
    assert.strictEqual(yield* end, "Success")
    assert.deepStrictEqual(runs, [])
    assert.match(read(model).join(), /^denied: .*too much/)
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
    const decide = (decision: Approval.Decision) => {
      const [one] = asked
      return one === undefined
        ? Effect.die(new Error("no request came"))
        : Durable.decide(durable, one, decision).pipe(on)
    }
    const served = Effect.andThen(serve, Durable.resume(durable, id).pipe(on))
    const answer = Effect.map(Durable.poll(durable, id).pipe(on), (result) =>
      Option.isSome(result) && result.value._tag === "Complete" ? result.value.exit : undefined
    )
    return { answer, decide, dies: Effect.andThen(stop, engine.kill), gate, model, runs, served }
  })

it.effect(
  "of two decisions that come before the call goes on a refusal counts, in either order; else the first [P1117]",
  () =>
    Effect.gen(function* () {
      for (const decisions of [
        [Approval.approve, Approval.refuse("too much")],
        [Approval.refuse("too much"), Approval.approve]
      ]) {
        const { answer, decide, dies, gate, model, runs, served } = yield* paying(false)
        yield* dies
        for (const decision of decisions) yield* decide(decision)
        yield* Deferred.succeed(gate, undefined)
        yield* served
        yield* quiet
        assert.deepStrictEqual(yield* answer, Exit.succeed("done"))
        assert.deepStrictEqual(runs, ["hold"])
        assert.match(read(model)[0] ?? "", /^denied: .*too much/)
      }
    })
)

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

it.effect("after a decision that comes too late, the run requests approval once more [P1117]", () =>
  Effect.gen(function* () {
    const { asked, decide, end, runs } = yield* waiting("1 day")
    yield* TestClock.adjust("2 days")
    yield* decide(asked[0], Approval.approve)
    yield* quiet
    assert.strictEqual(yield* end, "Suspended")
    assert.strictEqual(asked.length, 2)
    assert.notStrictEqual(asked[0]?.request.digest, asked[1]?.request.digest)
    yield* decide(asked[1], Approval.approve)
    yield* quiet
    assert.strictEqual(yield* end, "Success")
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
