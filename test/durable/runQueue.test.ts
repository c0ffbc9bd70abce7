import { assert, describe, it } from "@effect/vitest"
import { Agent, Approval, LlmError, Message, Model, Tool, Usage } from "@kintsugi/core"
import { Durable, RunQueue } from "@kintsugi/durable"
import { Deferred, Effect, Exit, Layer, Logger, Option, Schema, Scope } from "effect"
import { MessageStorage, Snowflake } from "effect/cluster"
import { PersistedQueue } from "effect/persistence"
import { TestClock } from "effect/testing"
import { WorkflowEngine } from "effect/workflow"
import { calm } from "../_support/dialogue.ts"
import { digested } from "./_support/digested.ts"
import { call, streaming } from "./_support/readingModel.ts"

/** Lets workers look for runs, and runs go on. */
const passing = (seconds: number) =>
  Effect.gen(function* () {
    for (let i = 0; i < seconds * 4; i++) {
      for (let k = 0; k < 6; k++) yield* Effect.andThen(calm, digested)
      yield* TestClock.adjust(250)
    }
  })

/** Runs that are at work until their gate opens; "fail" fails, "sign" asks a person, "both" asks one while another call is at work. */
const story = (name = "queued") => {
  const begun: Array<string> = []
  const gates = new Map<string, Deferred.Deferred<void>>()
  const asked: Array<Durable.DurableRequest> = []
  const gateOf = (input: string) => {
    const gate = gates.get(input) ?? Deferred.makeUnsafe<void>()
    gates.set(input, gate)
    return gate
  }
  const sign = Tool.make("sign", {
    description: "Signs.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("signed")
  }).pipe(Tool.requireApproval({ validFor: "9 days" }))
  const slow = Tool.make("slow", {
    description: "Is slow.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.as(Deferred.await(gateOf("slow")), "done")
  })
  const generate: Model.Service["generate"] = ({ messages }) =>
    Effect.suspend((): Effect.Effect<Message.Reply, LlmError.LlmError> => {
      const user = messages.find(({ role }) => role === "user")
      const input = user?.role === "user" ? Message.textOf(user) : ""
      const usage = Usage.make({ inputTokens: 1, outputTokens: 1 })
      if (messages.at(-1)?.role === "user") begun.push(input)
      if (input === "fail") return Effect.fail(LlmError.AuthenticationError.make({ model: "m" }))
      if (input === "sign" && messages.at(-1)?.role === "user") {
        return Effect.succeed({ content: [call("sign")], finish: "tool-calls", usage })
      }
      if (input === "both" && messages.at(-1)?.role === "user") {
        return Effect.succeed({ content: [call("sign"), call("slow")], finish: "tool-calls", usage })
      }
      const reply: Message.Reply = { content: [Message.text(`done: ${input}`)], finish: "stop", usage }
      return input.startsWith("wait") ? Effect.as(Deferred.await(gateOf(input)), reply) : Effect.succeed(reply)
    })
  const model = Layer.succeed(Model.Model, streaming({ name: "m", provider: "test", generate }))
  const durable = Durable.workflow(
    Agent.make("worker", { model, tools: [sign, slow], budget: { maxDuration: "30 days" } }),
    {
      name,
      input: Schema.String,
      output: Schema.String,
      onApproval: (one) => Effect.sync(() => void asked.push(one))
    }
  )
  const release = (input: string) => Deferred.doneUnsafe(gateOf(input), Effect.void)
  const ends = (id: string) =>
    Effect.gen(function* () {
      const executionId = yield* durable.workflow.executionId({ id, input: "" })
      const found = yield* Durable.poll(durable, executionId)
      return Option.isSome(found) ? found.value : undefined
    })
  return { asked, begun, durable, ends, release }
}

const storage = Layer.merge(Durable.layerMemory, Layer.provide(PersistedQueue.layer, PersistedQueue.layerStoreMemory))

/** The storage, where the engine answers differently for a while. */
const wrapping = (change: (engine: WorkflowEngine.WorkflowEngine["Service"]) => Partial<typeof engine>) =>
  Layer.provideMerge(
    Layer.effect(
      WorkflowEngine.WorkflowEngine,
      Effect.map(WorkflowEngine.WorkflowEngine, (engine) => ({ ...engine, ...change(engine) }))
    ),
    storage
  )

/** A worker in a scope of its own, as a process has it. */
const worker = ({ durable }: Pick<ReturnType<typeof story>, "durable">, concurrency = 2) =>
  Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope)
    yield* Layer.buildWithScope(RunQueue.layerWorker(durable, { concurrency }), scope)
    return Scope.close(scope, Exit.void)
  })

const answer = (text: string) => ({ _tag: "Complete" as const, exit: Exit.succeed(text) })

it.effect(
  "runs leave the queue when they end, by an answer or a failure, at most so many at work at a time [P1730]",
  () => {
    const { begun, durable, ends, release } = story()
    return Effect.gen(function* () {
      for (const input of ["wait 1", "wait 2", "fail", "last"]) yield* RunQueue.put(durable, { id: input, input })
      // the second element with an id is no run
      yield* RunQueue.put(durable, { id: "wait 1", input: "another" })
      yield* worker({ durable })
      yield* passing(3)
      assert.deepStrictEqual(begun, ["wait 1", "wait 2"])
      release("wait 1")
      yield* passing(5)
      assert.deepStrictEqual(begun, ["wait 1", "wait 2", "fail", "last"])
      assert.deepInclude(yield* ends("wait 1"), answer("done: wait 1"))
      assert.deepInclude(yield* ends("last"), answer("done: last"))
      const failed = yield* ends("fail")
      assert.isTrue(failed?._tag === "Complete" && Exit.isFailure(failed.exit))
      yield* RunQueue.put(durable, { id: "fail", input: "fail" })
      release("wait 2")
      yield* passing(5)
      assert.strictEqual(begun.length, 4)
    }).pipe(Effect.provide(Layer.provideMerge(durable.layer, storage)))
  }
)

// Finds out nothing of its own: its subject is the queue of Effect, which delivers once more what a worker left
it.effect("a run whose worker ends is delivered to another one, which finds it at work: it is one run [P1730]", () => {
  const { begun, durable, ends, release } = story()
  return Effect.gen(function* () {
    yield* RunQueue.put(durable, { id: "1", input: "wait" })
    const stop = yield* worker({ durable }, 1)
    yield* passing(2)
    assert.deepStrictEqual(begun, ["wait"])
    yield* stop
    yield* RunQueue.put(durable, { id: "2", input: "next" })
    yield* worker({ durable }, 1)
    yield* passing(5)
    // the first run comes first, and holds the only worker
    assert.deepStrictEqual(begun, ["wait"])
    release("wait")
    yield* passing(5)
    assert.deepStrictEqual(begun, ["wait", "next"])
    assert.deepInclude(yield* ends("1"), answer("done: wait"))
    assert.deepInclude(yield* ends("2"), answer("done: next"))
  }).pipe(Effect.provide(Layer.provideMerge(durable.layer, storage)))
})

it.effect("a run that waits for a person, and one that is stopped, hold no worker [P1730]", () => {
  const { asked, begun, durable, ends } = story()
  return Effect.gen(function* () {
    yield* RunQueue.put(durable, { id: "1", input: "sign" })
    yield* RunQueue.put(durable, { id: "2", input: "wait" })
    yield* RunQueue.put(durable, { id: "3", input: "last" })
    yield* worker({ durable }, 1)
    yield* passing(5)
    assert.deepStrictEqual(begun, ["sign", "wait"])
    yield* Durable.interrupt(durable, yield* durable.workflow.executionId({ id: "2", input: "" }))
    yield* passing(5)
    assert.deepStrictEqual(begun, ["sign", "wait", "last"])
    const [request] = asked
    if (request === undefined) return assert.fail("no person was asked")
    yield* Durable.decide(durable, request, Approval.approve)
    yield* passing(5)
    assert.deepInclude(yield* ends("1"), answer("done: sign"))
  }).pipe(Effect.provide(Layer.provideMerge(durable.layer, storage)))
})

it.effect("a run is not lost while the engine's storage is away, however often it is delivered [P1730]", () => {
  const { begun, durable, ends } = story()
  let away = true
  let attempts = 0
  const flaky = wrapping((engine) => ({
    // cast: a parameter list does not keep the type parameters of the function
    execute: ((...given: Parameters<typeof engine.execute>) => {
      if (!away) return engine.execute(...given)
      attempts++
      return Effect.die(new Error("the storage is away"))
    }) as typeof engine.execute
  }))
  const warnings: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => void warnings.push(String(message)))])
  const hours = (count: number) =>
    Effect.gen(function* () {
      for (let minute = 0; minute < count * 60; minute++) {
        for (let k = 0; k < 6; k++) yield* calm
        yield* TestClock.adjust("1 minute")
      }
    })
  return Effect.gen(function* () {
    yield* RunQueue.put(durable, { id: "1", input: "last" })
    yield* worker({ durable }, 1)
    yield* hours(2)
    assert.isAbove(attempts, 20)
    assert.lengthOf(warnings, attempts)
    for (const warning of warnings)
      assert.match(warning, /^RunQueue: a worker could not take or start a run,Error: the storage is away/)
    away = false
    yield* hours(1)
    assert.deepStrictEqual(begun, ["last"])
    assert.deepInclude(yield* ends("1"), answer("done: last"))
  }).pipe(Effect.provide(Layer.mergeAll(Layer.provideMerge(durable.layer, flaky), logger)))
})

it.effect("an input that does not fit is not put there, and options that cannot be are refused", () => {
  const { durable } = story()
  return Effect.gen(function* () {
    // @ts-expect-error the agent takes a text
    const unfit = yield* Effect.flip(RunQueue.put(durable, { id: "1", input: 7 }))
    assert.deepInclude(unfit, { _tag: "UnfitInputError", workflow: "queued", id: "1", field: "input" })
    assert.throws(() => RunQueue.layerWorker(durable, { concurrency: 0 }), RangeError, "concurrency")
  }).pipe(Effect.provide(storage))
})

it.effect("each workflow has a queue of its own in one storage [P1730]", () => {
  const one = story("one")
  const two = story("two")
  return Effect.gen(function* () {
    yield* RunQueue.put(one.durable, { id: "1", input: "of one" })
    yield* RunQueue.put(two.durable, { id: "1", input: "of two" })
    yield* worker(two)
    yield* passing(5)
    assert.deepStrictEqual([one.begun, two.begun], [[], ["of two"]])
    yield* worker(one)
    yield* passing(5)
    assert.deepStrictEqual([one.begun, two.begun], [["of one"], ["of two"]])
  }).pipe(Effect.provide(Layer.provideMerge(Layer.merge(one.durable.layer, two.durable.layer), storage)))
})

it.effect("the id of a run is that of its element, so that no store has it twice [P1730]", () => {
  const { durable } = story()
  const offered: Array<unknown> = []
  const store = Layer.succeed(PersistedQueue.PersistedQueueStore, {
    offer: ({ id, isCustomId, name }) => Effect.sync(() => void offered.push({ id, isCustomId, name })),
    take: () => Effect.never,
    cleanup: () => Effect.void
  })
  return Effect.gen(function* () {
    yield* RunQueue.put(durable, { id: "visitor-7", input: "last" })
    assert.deepStrictEqual(offered, [{ id: "visitor-7", isCustomId: true, name: "runs/queued" }])
  }).pipe(Effect.provide(Layer.provide(PersistedQueue.layer, store)))
})

it.effect("a run with a call at work holds its worker, though another of its calls waits for a person [P1730]", () => {
  const { asked, begun, durable, ends, release } = story()
  return Effect.gen(function* () {
    yield* RunQueue.put(durable, { id: "1", input: "both" })
    yield* RunQueue.put(durable, { id: "2", input: "last" })
    yield* worker({ durable }, 1)
    yield* passing(5)
    assert.deepInclude(yield* ends("1"), { _tag: "Running" })
    assert.strictEqual(asked.length, 1)
    assert.deepStrictEqual(begun, ["both"])
    release("slow")
    yield* passing(5)
    assert.deepInclude(yield* ends("1"), { _tag: "Suspended" })
    assert.deepStrictEqual(begun, ["both", "last"])
  }).pipe(Effect.provide(Layer.provideMerge(durable.layer, storage)))
})

it.effect("a worker looks first after 100 ms and then ever less often, at least every 2 seconds [P1730]", () => {
  const { durable } = story()
  let looks = 0
  const counting = wrapping((engine) => ({
    // cast: a parameter list does not keep the type parameters of the function
    poll: ((...given: Parameters<typeof engine.poll>) =>
      Effect.suspend(() => {
        looks++
        return engine.poll(...given)
      })) as typeof engine.poll
  }))
  return Effect.gen(function* () {
    yield* RunQueue.put(durable, { id: "1", input: "wait" })
    yield* worker({ durable }, 1)
    yield* passing(10)
    const before = looks
    yield* passing(40)
    assert.deepStrictEqual([before, looks - before], [11, 20])
  }).pipe(Effect.provide(Layer.provideMerge(durable.layer, counting)))
})

describe("no worker is held by a run", () => {
  const lost = Layer.succeed(MessageStorage.MessageStorage, {
    ...MessageStorage.noop,
    requestIdForPrimaryKey: () => Effect.succeedSome(Snowflake.Snowflake("1"))
  })
  const unreadable = wrapping(() => ({
    poll: () => Effect.flatMap(Schema.decodeUnknownEffect(Schema.String)(7), () => Effect.never).pipe(Effect.orDie)
  }))
  const cases = {
    "of which a row is gone": Layer.merge(storage, lost),
    "of which the end cannot be read": unreadable
  }
  for (const [name, around] of Object.entries(cases)) {
    it.effect(`${name} [P1730]`, () => {
      const { begun, durable } = story()
      return Effect.gen(function* () {
        yield* RunQueue.put(durable, { id: "1", input: "wait" })
        yield* RunQueue.put(durable, { id: "2", input: "last" })
        yield* worker({ durable }, 1)
        yield* passing(10)
        assert.deepStrictEqual(begun, ["wait", "last"])
      }).pipe(Effect.provide(Layer.provideMerge(durable.layer, around)))
    })
  }
})
