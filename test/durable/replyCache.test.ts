/** A cache of replies: what comes from it, what it costs, and what never comes from it. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Agent, Compaction, LlmError, Message, Model, Recovery, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { ReplyCache } from "@kintsugi/durable"
import { Cause, Context, Duration, Effect, Exit, Layer, Logger, Stream } from "effect"
import { Persistence } from "effect/persistence"
import { TestClock } from "effect/testing"
import { batch, eventLog, scripted } from "../_support/dialogue.ts"
import { it as both } from "../_support/run.ts"
import { sqlite } from "./_support/sqlite.ts"

const { call, calls, fails, make, text } = ScriptedModel

const acme = { tenant: "acme" } as const

/** An agent whose model has a cache in memory. */
const caching = (model: ScriptedModel.ScriptedModel, options: ReplyCache.CacheOptions = acme) =>
  Agent.make("clerk", { prompt: "Help.", model: ReplyCache.layer(model.layer, options) })

both.run("the same request is answered from the cache, booked with 0 tokens and without cost [P1710]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(text("Oslo"), text("Bergen"))
    const log = eventLog()
    const clerk = caching(model).pipe(log.listen)
    const answers = [yield* run(clerk, "Capital?"), yield* run(clerk, "Capital?"), yield* run(clerk, "Rain?")]
    assert.deepStrictEqual(answers, ["Oslo", "Oslo", "Bergen"])
    assert.lengthOf(model.requests, 2)
    const [first, second] = log.of("run-completed")
    assert.isAbove(first?.usage.inputTokens ?? 0, 0)
    assert.deepStrictEqual(second?.usage, Usage.empty)
    assert.deepInclude(second?.ledger?.[0] ?? {}, { outcome: "used", usage: Usage.empty, model: "scripted" })
  }).pipe(Effect.provide(Persistence.layerMemory))
)

it.effect("a whole reply answers a streamed request with the same parts, and the other way round [P1710]", () =>
  Effect.gen(function* () {
    const reply = calls(call("look", '{"n":1.50}', "c1"))
    for (const isStreamed of [true, false]) {
      const scripted = yield* make(reply)
      const services = yield* Layer.build(ReplyCache.layer(scripted.layer, acme))
      const model = Context.get(services, Model.Model)
      const request: Model.Request = { messages: [], tools: [], toolChoice: "auto" }
      const whole = Effect.map(model.generate(request), Model.partsOf)
      const streamed = Stream.runCollect(model.stream(request))
      const ofCalls = (parts: ReadonlyArray<Model.Part>) => parts.filter(({ type }) => type === "tool-call")
      const [one, other] = isStreamed ? [yield* streamed, yield* whole] : [yield* whole, yield* streamed]
      assert.deepStrictEqual(ofCalls(other), ofCalls(one))
      assert.lengthOf(ofCalls(one), 1)
      assert.lengthOf(scripted.requests, 1)
      assert.deepInclude(other.at(-1), { type: "finish", finish: "tool-calls", usage: Usage.empty, cost: 0 })
      yield* Effect.flatMap(Persistence.Persistence, ({ make }) => make({ storeId: "kintsugi_replies" })).pipe(
        Effect.flatMap(({ clear }) => clear)
      )
    }
  }).pipe(Effect.provide(Persistence.layerMemory))
)

it.effect("another tenant, model or request is asked anew; the tenant may be read at each call [P1710]", () =>
  Effect.gen(function* () {
    const Tenant = Context.Reference<string>("test/Tenant", { defaultValue: () => "acme" })
    const model = yield* make(text("one"), text("two"), text("three"), text("four"))
    const clerk = caching(model, { tenant: Effect.map(Tenant, (tenant) => tenant) })
    const as = (tenant: string) => clerk("hi").pipe(Effect.provideService(Tenant, tenant))
    assert.deepStrictEqual([yield* as("acme"), yield* as("other"), yield* as("acme")], ["one", "two", "one"])
    const other = Agent.make("clerk", { prompt: "Help!", model: ReplyCache.layer(model.layer, acme) })
    assert.strictEqual(yield* other("hi"), "three")
    const named = Layer.effect(
      Model.Model,
      Effect.map(Model.Model, (service) => ({ ...service, name: "large" }))
    )
    const renamed = Layer.provide(named, model.layer)
    const large = Agent.make("clerk", { prompt: "Help.", model: ReplyCache.layer(renamed, acme) })
    assert.strictEqual(yield* large("hi"), "four")
  }).pipe(Effect.provide(Persistence.layerMemory))
)

it.effect("without the name of a tenant no reply is shared: the layer throws, and a call dies [P1710]", () =>
  Effect.gen(function* () {
    const model = yield* make()
    for (const missing of ["", undefined]) {
      // cast: a program in JavaScript, or a header that is missing, gives what the type does not have
      const tenant = missing as string
      const got = missing === "" ? "an empty one" : "undefined"
      assert.throws(
        () => caching(model, { tenant }),
        TypeError,
        `ReplyCache: tenant must be a text that is not empty, got ${got}`
      )
      const exit = yield* Effect.exit(caching(model, { tenant: Effect.succeed(tenant) })("hi"))
      assert.instanceOf(Exit.isFailure(exit) && Cause.squash(exit.cause), TypeError)
    }
    assert.deepStrictEqual(model.requests, [])
  }).pipe(Effect.provide(Persistence.layerMemory))
)

it.effect("after a call of a tool the model is asked, unless that is allowed of all tools or of this one [P1710]", () =>
  Effect.gen(function* () {
    const asked = (afterTools: ReplyCache.CacheOptions["afterTools"]) =>
      Effect.gen(function* () {
        const { tool } = scripted("look", Effect.succeed("rain"), Effect.succeed("rain"))
        const model = yield* make(batch("look"), text("Rain."), text("Rain."))
        const options = afterTools === undefined ? { tenant: "t" } : { tenant: String(afterTools), afterTools }
        const clerk = Agent.make("clerk", { tools: [tool], model: ReplyCache.layer(model.layer, options) })
        yield* Effect.all([clerk("go"), clerk("go")])
        return model.requests.length
      }).pipe(Effect.scoped, Effect.exit)
    const [none, other] = [yield* asked(undefined), yield* asked(["pay"])]
    assert.deepStrictEqual([none, other], [Exit.succeed(3), Exit.succeed(3)])
    // the script has a step that is not asked for, which ends its scope with a defect
    for (const allowed of [true, ["look"]]) assert.isTrue(Exit.isFailure(yield* asked(allowed)), String(allowed))
  }).pipe(Effect.provide(Persistence.layerMemory))
)

it.effect("a call that a compaction has left out counts as one that is there [P1710]", () =>
  Effect.gen(function* () {
    const forgetting = Compaction.make("forget", ({ transcript }) => transcript.filter(({ role }) => role === "user"))
    const { tool } = scripted("look", Effect.succeed("rain"), Effect.succeed("rain"))
    const tooLong = LlmError.ContextTooLongError.make({ model: "scripted" })
    // the call itself comes from the cache the second time
    const script = [batch("look"), fails(tooLong), text("Rain."), fails(tooLong), text("Rain.")]
    const model = yield* make(...script)
    const clerk = Agent.make("clerk", { tools: [tool], model: ReplyCache.layer(model.layer, acme) }).pipe(
      Agent.onLlmError({ ContextTooLongError: Recovery.compact(forgetting) })
    )
    assert.deepStrictEqual([yield* clerk("go"), yield* clerk("go")], ["Rain.", "Rain."])
    assert.deepStrictEqual(
      model.requests.map(({ messages, uncompacted }) => [messages.length, uncompacted?.[1]?.role]),
      [
        [1, undefined],
        [2, undefined],
        [1, "assistant"],
        [2, undefined],
        [1, "assistant"]
      ]
    )
  }).pipe(Effect.provide(Persistence.layerMemory))
)

it.effect("a reply counts for its time to live, one day by default [P1710]", () =>
  Effect.gen(function* () {
    const model = yield* make(text("one"), text("two"), text("three"))
    const clerk = caching(model)
    assert.strictEqual(yield* clerk("hi"), "one")
    yield* TestClock.adjust("23 hours")
    assert.strictEqual(yield* clerk("hi"), "one")
    yield* TestClock.adjust("2 hours")
    assert.strictEqual(yield* clerk("hi"), "two")
    const brief = caching(model, { tenant: "brief", timeToLive: Duration.seconds(1) })
    assert.strictEqual(yield* brief("hi"), "three")
    for (const timeToLive of [0, -1]) {
      assert.throws(() => caching(model, { ...acme, timeToLive }), RangeError, "timeToLive")
    }
  }).pipe(Effect.provide(Persistence.layerMemory))
)

both.run("failures and replies that were cut off are not kept [P1710]", (run) =>
  Effect.gen(function* () {
    const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
    const half = ScriptedModel.reply({ content: [{ type: "text", text: "Os" }], finish: "length" })
    const cut = ScriptedModel.answers(() => Effect.succeed(half))
    const model = yield* make(fails(overloaded), cut, text("Oslo"))
    const clerk = caching(model).pipe(
      Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1, initialBackoff: "1 millis" }) })
    )
    yield* Effect.forkChild(TestClock.adjust("1 second"))
    assert.strictEqual(yield* run(clerk, "Capital?"), "Os")
    assert.strictEqual(yield* run(clerk, "Capital?"), "Oslo")
    assert.lengthOf(model.requests, 3)
  }).pipe(Effect.provide(Persistence.layerMemory))
)

it.effect("a store that fails is logged, and the model is asked [P1710]", () =>
  Effect.gen(function* () {
    const failure = Effect.fail(new Persistence.PersistenceError({ message: "disk is full" }))
    const broken = Layer.succeed(Persistence.Persistence, {
      make: () =>
        Effect.succeed({
          get: () => failure,
          set: () => failure,
          getMany: () => failure,
          setMany: () => failure,
          remove: () => failure,
          clear: failure
        })
    })
    const logs: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => void logs.push(String(message)))])
    const model = yield* make(text("one"), text("two"))
    const clerk = caching(model)
    const asked = Effect.all([clerk("hi"), clerk("hi")])
    assert.deepStrictEqual(yield* asked.pipe(Effect.provide([broken, logger])), ["one", "two"])
    assert.lengthOf(
      logs.filter((line) => line.includes("cache of replies")),
      4
    )
  })
)

// Finds out nothing of its own: its subject is the table of Effect, and that its rows can be read in the next process
it.live("a table has the replies of one process for the next [P1710]", () =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "kintsugi-replies-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    )
    const model = yield* make(text("one"))
    for (const _ of [1, 2]) {
      const store = Persistence.layerSql.pipe(Layer.provide(sqlite(join(folder, "replies.db"))))
      assert.strictEqual(yield* caching(model)("hi").pipe(Effect.provide(store)), "one")
    }
    assert.lengthOf(model.requests, 1)
  })
)

it.effect("empty replies, and replies with work of the provider or behind it, are not kept or given [P1710]", () =>
  Effect.gen(function* () {
    const item = { type: "provider-item", kind: "mcp_call", opaque: { provider: "p", data: {} } } as const
    const said = { type: "text", text: "sent" } as const
    const answer = (content: Message.Reply["content"]) =>
      ScriptedModel.answers(() => Effect.succeed(ScriptedModel.reply({ content, finish: "stop" })))
    const scripted = yield* make(
      answer([]),
      answer([said]),
      answer([item, said]),
      answer([item, said]),
      text("a"),
      text("b"),
      text("c")
    )
    const services = yield* Layer.build(ReplyCache.layer(scripted.layer, acme))
    const { generate } = Context.get(services, Model.Model)
    const asked = (...messages: Message.Transcript) => generate({ messages, tools: [], toolChoice: "auto" })
    for (const _ of [1, 2]) yield* asked(Message.user("empty at first"))
    for (const _ of [1, 2]) yield* asked(Message.user("by the provider"))
    const late = { ...Message.user("the result of pay"), lateResult: { callId: "c", tool: "pay" } }
    for (const _ of [1, 2]) yield* asked(late)
    const behind: Message.Assistant = { role: "assistant", content: [item, said] }
    yield* asked(behind, Message.user("and now?"))
    assert.lengthOf(scripted.requests, 7)
  }).pipe(Effect.provide(Persistence.layerMemory))
)

it.effect("calls of tools on demand count by the names of the tools, and options tell layers apart [P1710 P1385]", () =>
  Effect.gen(function* () {
    const scripted = yield* make(text("one"), text("two"), text("three"), text("four"))
    const layer = (options: object) => Layer.build(ReplyCache.layer(scripted.layer, { tenant: "t", ...options }))
    const through = (name: string): Message.Assistant => ({
      role: "assistant",
      content: [
        {
          type: "settled-call",
          call: { type: "tool-call", id: "c", name: "call_tool", arguments: { name, arguments: {} } },
          settlement: { kind: "result", text: "ok" }
        }
      ]
    })
    const ask = (options: object, name: string) =>
      Effect.flatMap(layer(options), (services) =>
        Context.get(services, Model.Model).generate({ messages: [through(name)], tools: [], toolChoice: "auto" })
      )
    for (const _ of [1, 2]) yield* ask({ afterTools: ["look"] }, "look")
    assert.lengthOf(scripted.requests, 1)
    for (const _ of [1, 2]) yield* ask({ afterTools: ["look"] }, "pay")
    assert.lengthOf(scripted.requests, 3)
    yield* ask({ afterTools: ["look"], options: { temperature: 1 } }, "look")
    assert.lengthOf(scripted.requests, 4)
  }).pipe(Effect.provide(Persistence.layerMemory))
)

it.effect("a reply from the cache is what was said, by which model; one without a character is not kept [P1710]", () =>
  Effect.gen(function* () {
    const said = { type: "text", text: "sent" } as const
    const answer = (reply: Partial<Message.Reply>) =>
      ScriptedModel.answers(() => Effect.succeed(ScriptedModel.reply({ content: [said], finish: "stop", ...reply })))
    const used = { usage: Usage.make({ inputTokens: 3 }), cost: 1, responseId: "r" }
    const empty = { content: [{ type: "text", text: "" }] } as const
    const scripted = yield* make(answer({ ...used, model: "m-2" }), answer(used), answer(empty), answer(empty))
    const services = yield* Layer.build(ReplyCache.layer(scripted.layer, acme))
    const { generate } = Context.get(services, Model.Model)
    const twice = (text: string) => {
      const asked = generate({ messages: [Message.user(text)], tools: [], toolChoice: "auto" })
      return Effect.andThen(asked, asked)
    }
    const free = { content: [said], finish: "stop", usage: Usage.empty, cost: 0 } as const
    assert.deepStrictEqual(yield* twice("named"), { ...free, model: "m-2" })
    assert.deepStrictEqual(yield* twice("unnamed"), free)
    yield* twice("empty")
    assert.lengthOf(scripted.requests, 4)
  }).pipe(Effect.provide(Persistence.layerMemory))
)
