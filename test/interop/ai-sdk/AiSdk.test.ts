/** Tools of the Vercel AI SDK by their shape; `test/sdk/ai.process.test.ts` tries the real ones. */
import { assert } from "@effect/vitest"
import { Approval, Tool, ToolError } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as AiSdk from "@kintsugi/interop/AiSdk"
import { Deferred, Effect, Fiber, Scope } from "effect"
import { agentWith, done, eventLog, read } from "../../_support/dialogue.ts"
import { setImmediate as macrotask } from "node:timers/promises"
import { it } from "../../_support/run.ts"

const { call, calls, make } = ScriptedModel

const cityJson = {
  type: "object" as const,
  properties: { city: { type: "string" as const }, days: { type: "integer" as const } },
  required: ["city"]
}

interface City {
  readonly city: string
  readonly days?: number
}

/** As `jsonSchema(…)` of the SDK makes it. */
const inputSchema = { _type: undefined, jsonSchema: cityJson }

/** A Standard Schema that shouts, and refuses Atlantis. */
const standard = (wrap: <A>(value: A) => A | Promise<A>) => ({
  "~standard": {
    version: 1,
    vendor: "test",
    jsonSchema: { input: () => cityJson },
    validate: ({ city }: City) =>
      wrap(
        city === "Atlantis"
          ? { issues: [{ message: "a city above the sea", path: [{ key: "city" }] }] }
          : { value: { city: city.toUpperCase() } }
      )
  }
})

const failed = <A, E>(effect: Effect.Effect<A, E>) => Effect.flip(effect)

it.effect("a result that cannot be written as JSON is a failure of category validation [A112 P1107]", () =>
  Effect.gen(function* () {
    const itself: Record<string, unknown> = {}
    itself["itself"] = itself
    const nameless = { toJSON: () => undefined }
    for (const value of [itself, { size: 10n }, [itself], 10n, () => "my source", Symbol("mine"), nameless]) {
      const error = yield* failed(Tool.call(AiSdk.tool("odd", { inputSchema, execute: () => value }), { city: "Oslo" }))
      assert(error instanceof ToolError.ExecutionError)
      assert.deepInclude(error, { category: "validation", tool: "odd", isRetryable: false })
      assert(error.cause instanceof TypeError)
    }
    const shown = { inputSchema, execute: () => itself, toModelOutput: () => ({ type: "text", value: "a ring" }) }
    assert.strictEqual((yield* Tool.call(AiSdk.tool("odd", shown), { city: "Oslo" })).text, "a ring")
    const silent = AiSdk.tool("silent", { inputSchema, execute: () => undefined })
    assert.strictEqual((yield* Tool.call(silent, { city: "Oslo" })).text, "null")
  })
)

it.effect("an unreadable part is a failure and no defect: its answer for a model, its iterator [P1107]", () =>
  Effect.gen(function* () {
    const bare: unknown = Object.create(null)
    const outputs = [10n, { type: "json", value: 10n }, { type: "content", value: [{ type: 10n }] }]
    for (const output of outputs) {
      const tool = AiSdk.tool("odd", { inputSchema, execute: () => 1, toModelOutput: () => output })
      assert.strictEqual((yield* failed(Tool.call(tool, { city: "Oslo" })))._tag, "ExecutionError")
    }
    const part = { inputSchema, execute: () => 1, toModelOutput: () => ({ type: "content", value: [{ type: bare }] }) }
    assert.strictEqual((yield* Tool.call(AiSdk.tool("odd", part), { city: "Oslo" })).text, "[{}, not shown]")
    const iterators = [
      () => {
        throw new RangeError("no iterator")
      },
      () => ({ next: () => Promise.resolve(5) })
    ]
    for (const iterator of iterators) {
      // no iterator by its type
      const broken = { [Symbol.asyncIterator]: iterator } as unknown as AsyncIterable<number>
      const tool = AiSdk.tool("odd", { inputSchema, execute: () => broken })
      assert.strictEqual((yield* failed(Tool.call(tool, { city: "Oslo" })))._tag, "ExecutionError")
    }
  })
)

// Finds out nothing of its own: no mutant takes away the yield after each value
it.live("a generator that never waits can be interrupted, and keeps no timer from running [P1107]", () =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    let yielded = 0
    const busy = AiSdk.tool("busy", {
      inputSchema,
      execute: async function* () {
        // a test that hangs says less than one that fails
        while (yielded < 1_000_000) {
          // as a timer would: that comes after all promises
          if (yielded++ === 10) void macrotask().then(() => Deferred.doneUnsafe(begun, Effect.void))
          yield yielded
        }
      }
    })
    const fiber = yield* Effect.forkChild(Tool.call(busy, { city: "Oslo" }))
    yield* Deferred.await(begun)
    yield* Fiber.interrupt(fiber)
    assert.isBelow(yielded, 1_000_000)
  })
)

it.effect(
  "the tool's own check runs, at once or by promise, and the tool runs with what the check makes of the input [P1107]",
  () =>
    Effect.gen(function* () {
      const made = (wrap: <A>(value: A) => A | Promise<A>) =>
        AiSdk.tool("look", { inputSchema: standard(wrap), execute: ({ city }: City) => city })
      const [atOnce, later] = [made((value) => value), made((value) => Promise.resolve(value))]
      for (const tool of [atOnce, later]) assert.strictEqual((yield* Tool.call(tool, { city: "Oslo" })).value, "OSLO")
      const misfit = yield* failed(Tool.call(atOnce, { city: "Atlantis" }))
      assert(misfit instanceof ToolError.DeserializationError)
      assert.deepStrictEqual(misfit.issues, [
        { path: ["city"], expected: "a city above the sea", actual: 'string "Atlantis"' }
      ])
      const late = yield* failed(Tool.call(later, { city: "Atlantis" }))
      assert(late instanceof ToolError.ExecutionError)
      assert.deepInclude(late, { category: "parameter", recovery: "repair" })
      assert.match(late.message, /a city above the sea/)
    })
)

it.effect("its signal is aborted when its call is interrupted, and a generator is closed [P1107]", () =>
  Effect.gen(function* () {
    const started = yield* Deferred.make<void>()
    const signals: Array<AbortSignal> = []
    const waiting = AiSdk.tool("wait", {
      inputSchema,
      execute: (_: City, { abortSignal }: { abortSignal: AbortSignal }) => {
        signals.push(abortSignal)
        Deferred.doneUnsafe(started, Effect.void)
        return new Promise<string>(() => undefined)
      }
    })
    const fiber = yield* Effect.forkChild(Tool.call(waiting, { city: "Oslo" }))
    yield* Deferred.await(started)
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(
      signals.map(({ aborted }) => aborted),
      [true]
    )
    const begun = yield* Deferred.make<void>()
    const closed = yield* Deferred.make<void>()
    const yielding = AiSdk.tool("yield", {
      inputSchema,
      execute: async function* (_: City, { abortSignal }: { abortSignal: AbortSignal }) {
        try {
          yield 1
          Deferred.doneUnsafe(begun, Effect.void)
          await new Promise((resolve) => abortSignal.addEventListener("abort", resolve))
          yield 2
        } finally {
          Deferred.doneUnsafe(closed, Effect.void)
        }
      }
    })
    const loading = yield* Effect.forkChild(Tool.call(yielding, { city: "Oslo" }))
    yield* Deferred.await(begun)
    yield* Fiber.interrupt(loading)
    yield* Deferred.await(closed)
  })
)

it.effect("values before its last one are progress [P1107]", () =>
  Effect.gen(function* () {
    const tool = AiSdk.tool("load", {
      inputSchema,
      execute: async function* ({ city }: City) {
        yield "loading"
        yield `loaded ${city}`
      }
    })
    const heard: Array<unknown> = []
    const answer = yield* tool.definition.run(
      { city: "Oslo" },
      {
        attempt: 1,
        callId: "c",
        idempotencyKey: "c",
        agent: "a",
        progress: (data) => Effect.sync(() => heard.push(data)),
        runScope: Scope.makeUnsafe()
      }
    )
    assert.deepStrictEqual(heard, ["loading", "loaded Oslo"])
    assert.deepStrictEqual(answer, { value: "loaded Oslo", text: "loaded Oslo" })
  })
)

it.run("the model reads its toModelOutput, as an error if its type is an error [P1107]", (run) =>
  Effect.gen(function* () {
    const tool = AiSdk.tool("weather", {
      inputSchema,
      execute: ({ city }: City) => ({ city, degrees: 7 }),
      toModelOutput: async ({ output }: { output: { city: string; degrees: number } }) =>
        output.city === "Oslo"
          ? {
              type: "content",
              value: [
                { type: "text", text: "7 degrees" },
                { type: "file", mediaType: "image/png", data: "" }
              ]
            }
          : { type: "error-text", value: "it is unknown" }
    })
    const model = yield* make(
      calls(call("weather", { city: "Oslo" }, "c1"), call("weather", { city: "Rome" }, "c2")),
      done
    )
    yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["result: 7 degrees\n[file, image/png, not shown]", "told: it is unknown"])
  })
)

it.run("a tool that needs approval needs an Approver, and is refused without the option [P1107]", (run) =>
  Effect.gen(function* () {
    const ran: Array<string> = []
    const foreign = {
      inputSchema,
      needsApproval: ({ city }: City) => Promise.resolve(city === "Rome"),
      execute: ({ city }: City) => {
        ran.push(city)
        return city
      }
    }
    assert.throws(() => AiSdk.tool("go", foreign), /tool 'go' needs approval: say approval: true/)
    // a form of a later version is not passed over
    const later = { ...foreign, needsApproval: { type: "user-approval" } }
    assert.throws(() => AiSdk.tool("go", later), /tool 'go' needs approval: say approval: true/)
    assert.doesNotThrow(() => AiSdk.tool("go", { ...foreign, needsApproval: false }))
    const tool = AiSdk.tool("go", foreign, { approval: true })
    const model = yield* make(calls(call("go", { city: "Oslo" }, "c1"), call("go", { city: "Rome" }, "c2")), done)
    const layer = Approval.layer(() => Effect.succeed(Approval.refuse("too far")))
    yield* run(agentWith(tool), "go").pipe(Effect.provide(layer), Effect.provide(model.layer))
    assert.deepStrictEqual(ran, ["Oslo"])
  })
)

it.run("a name that some provider refuses is changed, and the event of a call has both [P1107]", (run) =>
  Effect.gen(function* () {
    const execute = () => "sunny"
    const tools = AiSdk.tools({
      "weather.now": { inputSchema, execute },
      weather_now: { inputSchema, execute: () => "rainy" },
      complete: { inputSchema, execute }
    })
    assert.deepStrictEqual(
      tools.map(({ name }) => name),
      ["weather_now_2", "weather_now", "complete_"]
    )
    const alone = AiSdk.tool("weather.now", {
      inputSchema,
      execute: () => {
        throw new Error("clouds")
      }
    })
    const log = eventLog()
    const model = yield* make(calls(call("weather_now", { city: "Oslo" })))
    const error = yield* failed(run(agentWith(alone).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(error, { _tag: "ExecutionError", tool: "weather_now" })
    assert.deepStrictEqual(
      log.all.flatMap((event) => (event.type === "tool-start" ? [event.tool, event.foreignName] : [])),
      ["weather_now", "weather.now"]
    )
  })
)

it("a tool that cannot be converted is refused by name [P1107]", () => {
  assert.throws(() => AiSdk.tool("client", { inputSchema }), /tool 'client' has no execute/)
  for (const schema of [{ "~standard": { version: 1 } }, { jsonSchema: Promise.resolve(cityJson) }, undefined])
    assert.throws(() => AiSdk.tool("odd", { inputSchema: schema, execute: () => 1 }), /JSON Schema of tool 'odd'/)
  const tool = AiSdk.tool("odd", { inputSchema: undefined, execute: () => 1 }, { jsonSchema: cityJson })
  assert.deepStrictEqual(tool.definition.spec().parameters, cityJson)
  const set = AiSdk.tools({ one: { inputSchema, execute: () => 1 }, two: { inputSchema, execute: () => 2 } })
  assert.deepStrictEqual(
    set.map(({ name }) => name),
    ["one", "two"]
  )
})

it("a tool whose schema is beyond a bound is refused by name, and a bound is an option [P1391 P1393]", () => {
  const refused = (jsonSchema: object, bounds?: object) => {
    try {
      AiSdk.tool(
        "weather",
        { inputSchema: { jsonSchema }, execute: () => "sun" },
        bounds === undefined ? {} : { bounds }
      )
    } catch (error) {
      assert(error instanceof DoorError.InputTooLargeError)
      const { bound, limit, what } = error
      return { bound, limit, what }
    }
    return "admitted"
  }
  const what = "The input schema of tool 'weather'"
  const deep: object = JSON.parse('{"items":'.repeat(6000) + "{}" + "}".repeat(6000))
  assert.deepStrictEqual(refused({ type: "object", properties: { a: deep } }), { bound: "depth", limit: 128, what })
  assert.deepStrictEqual(refused(cityJson), "admitted")
  assert.deepStrictEqual(refused(cityJson, { nodes: 2 }), { bound: "nodes", limit: 2, what })
})
