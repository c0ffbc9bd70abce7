/** Toolkits of `effect/ai` under agents of ours: their failures are rows of our tables, and their hints are kept. */
import { assert, describe } from "@effect/vitest"
import { Agent, Approval, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import * as Render from "@kintsugi/core/Render"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Cause, Context, Effect, Exit, Layer, Schema } from "effect"
import { AiError, Prompt, Tool as AiTool, Toolkit } from "effect/ai"
import { done, eventLog, overADay, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

class Closed extends Schema.TaggedError<Closed>()("Closed", { shop: Schema.String }) {}

const Unlock = AiTool.make("unlock", {
  description: "Opens a shop.",
  parameters: Schema.Struct({ shop: Schema.String, on: Schema.optionalKey(Schema.DateFromString) }),
  success: Schema.Struct({ till: Schema.Finite }),
  failure: Closed
})

const Soft = AiTool.make("soft", {
  parameters: Schema.Struct({ shop: Schema.String }),
  success: Schema.String,
  failure: Closed,
  failureMode: "return"
})

const { call, calls, make } = ScriptedModel

const agentWith = <const Tools extends ReadonlyArray<Tool.AnyTool>>(...tools: Tools) =>
  Agent.make("worker", { skills: [Skill.make("work", { description: "Works.", tools })] })

describe("a toolkit under tables of ours", () => {
  it.run(
    "runs the handler with decoded parameters and its services; the model reads the encoded result [P1107]",
    (run) =>
      Effect.gen(function* () {
        class Prices extends Context.Service<Prices, { readonly of: (shop: string) => number }>()("Prices") {}
        const Price = AiTool.make("price", {
          description: "Opens a shop.",
          parameters: Schema.Struct({ shop: Schema.String, on: Schema.DateFromString }),
          success: Schema.Struct({ till: Schema.FiniteFromString }),
          dependencies: [Prices]
        })
        const toolkit = Toolkit.make(Price)
        const seen: Array<unknown> = []
        const handlers = toolkit.toLayer({
          price: (params, { preliminary, toolCallId }) =>
            Effect.gen(function* () {
              seen.push([params, toolCallId])
              yield* preliminary({ till: 1 })
              return { till: (yield* Prices).of(params.shop) }
            })
        })
        const { price } = EffectAi.fromToolkit(toolkit)
        const log = eventLog()
        const model = yield* make(
          calls(call("price", '```json\n{"shop":"abc","on":"2026-01-05T08:00:00Z"}\n```', "c1")),
          done
        )
        yield* run(agentWith(price).pipe(log.listen), "go").pipe(
          Effect.provide([model.layer, handlers, Layer.succeed(Prices, { of: (shop) => shop.length })])
        )
        assert.deepStrictEqual(seen, [[{ shop: "abc", on: new Date("2026-01-05T08:00:00Z") }, "c1"]])
        assert.deepStrictEqual(
          log.of("tool-progress").map(({ data }) => data),
          [{ till: 1 }]
        )
        assert.deepStrictEqual(read(model), ['result: {"till":"3"}'])
        const [spec] = model.requests[0]?.tools ?? []
        assert.strictEqual(spec?.description, "Opens a shop.")
        assert.deepInclude(spec?.parameters, { required: ["shop", "on"], additionalProperties: false })
      })
  )

  it.run(
    "its handler and its options are found by the toolkit's name where models know the tool by another [P1107]",
    (run) =>
      Effect.gen(function* () {
        const parameters = Schema.Struct({})
        const dotted = AiTool.make("shop.unlock", { parameters, success: Schema.String, needsApproval: true }).annotate(
          AiTool.Destructive,
          true
        )
        const under = AiTool.make("shop_unlock", { parameters, success: Schema.String })
        const toolkit = Toolkit.make(dotted, under)
        const handlers = toolkit.toLayer({
          "shop.unlock": () => Effect.succeed("by dot"),
          shop_unlock: () => Effect.succeed("by line")
        })
        const tools = EffectAi.fromToolkit(toolkit, {
          approvals: ["shop.unlock"],
          sideEffects: { "shop.unlock": "none" }
        })
        const log = eventLog()
        const model = yield* make(calls(call("shop_unlock_2", {}), call("shop_unlock", {})), done)
        yield* run(agentWith(tools["shop.unlock"], tools.shop_unlock).pipe(log.listen), "go").pipe(
          Effect.provide([model.layer, handlers, Approval.layer(() => Effect.succeed(Approval.approve))])
        )
        assert.deepStrictEqual(read(model), ["result: by dot", "result: by line"])
        assert.strictEqual(tools["shop.unlock"].definition.sideEffects, "none")
        assert.deepStrictEqual(
          log.all.flatMap((event) => (event.type === "tool-start" ? [[event.tool, event.foreignName]] : [])),
          [
            ["shop_unlock_2", "shop.unlock"],
            ["shop_unlock", undefined]
          ]
        )
      })
  )

  it.run("a typed failure leaves the agent as itself, and a row of its tag recovers from it [P1107]", (run) =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(Unlock)
      let runs = 0
      const handlers = toolkit.toLayer({
        unlock: ({ shop }) => (++runs < 3 ? Effect.fail(new Closed({ shop })) : Effect.succeed({ till: runs }))
      })
      const { unlock } = EffectAi.fromToolkit(toolkit)
      const bare = yield* make(calls(call("unlock", { shop: "a" })))
      const failed = yield* Effect.exit(run(agentWith(unlock), "go").pipe(Effect.provide([bare.layer, handlers])))
      assert(Exit.isFailure(failed))
      assert.deepStrictEqual(Cause.squash(failed.cause), new Closed({ shop: "a" }))
      const model = yield* make(calls(call("unlock", { shop: "b" })), done)
      const mended = unlock.pipe(Tool.onError({ Closed: Recovery.retry({ retries: 1 }) }))
      yield* overADay(run(agentWith(mended), "go").pipe(Effect.provide([model.layer, handlers])))
      assert.strictEqual(runs, 3)
      assert.deepStrictEqual(read(model), ['result: {"till":3}'])
    })
  )

  it.run("with failureMode return the model reads the same text, until a row decides otherwise [P1107]", (run) =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(Soft)
      const handlers = toolkit.toLayer({ soft: ({ shop }) => Effect.fail(new Closed({ shop })) })
      const { soft } = EffectAi.fromToolkit(toolkit)
      const model = yield* make(calls(call("soft", { shop: "a" }, "c1"), call("soft", {}, "c2")), done)
      yield* run(agentWith(soft), "go").pipe(Effect.provide([model.layer, handlers]))
      const [failed, bad] = read(model)
      assert.strictEqual(failed, 'told: {"_tag":"Closed","shop":"a"}')
      assert.match(bad ?? "", /^told: The arguments of tool 'soft' .*shop.*; correct shop and call the tool again$/s)
      const second = yield* make(calls(call("soft", { shop: "a" })), done)
      const answered = soft.pipe(Tool.onError({ Closed: Recovery.respondWith("later") }))
      yield* run(agentWith(answered), "go").pipe(Effect.provide([second.layer, handlers]))
      assert.deepStrictEqual(read(second), ["result: later"])
    })
  )

  it.run(
    "the failures of an open world are data for the model; of a call that never was they say nothing [P1107]",
    (run) =>
      Effect.gen(function* () {
        const toolkit = Toolkit.make(Soft.annotate(AiTool.OpenWorld, true))
        const handlers = toolkit.toLayer({ soft: ({ shop }) => Effect.fail(new Closed({ shop })) })
        const { soft } = EffectAi.fromToolkit(toolkit)
        const model = yield* make(calls(call("soft", { shop: "a" }, "c1"), call("soft", {}, "c2")), done)
        yield* run(agentWith(soft), "go").pipe(Effect.provide([model.layer, handlers]))
        const [failed, bad] = read(model)
        assert.strictEqual(failed, `told: ${Render.asData('{"_tag":"Closed","shop":"a"}')}`)
        assert.match(bad ?? "", /^told: .*The arguments of tool 'soft' .*shop/s)
      })
  )

  it.run("a failure of effect/ai itself is an ExecutionError: of a model, or of a wrong result [P1107]", (run) =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(Unlock)
      const { unlock } = EffectAi.fromToolkit(toolkit)
      const failing = (handler: Effect.Effect<{ readonly till: number }, AiError.AiErrorReason>) =>
        Effect.gen(function* () {
          const model = yield* make(calls(call("unlock", { shop: "a" })))
          const handlers = toolkit.toLayer({ unlock: () => handler })
          const exit = yield* Effect.exit(run(agentWith(unlock), "go").pipe(Effect.provide([model.layer, handlers])))
          assert(Exit.isFailure(exit))
          const error = Cause.squash(exit.cause)
          assert.instanceOf(error, ToolError.ExecutionError)
          return error instanceof ToolError.ExecutionError ? error : assert.fail()
        })
      const limited = yield* failing(Effect.fail(new AiError.RateLimitError({})))
      assert.deepInclude(limited, { category: "llm", isRetryable: true, tool: "unlock" })
      const context = { toolName: "unlock", description: "no such shop" }
      const reasons: ReadonlyArray<readonly [AiError.AiErrorReason, ToolError.ExecutionError["category"]]> = [
        [new AiError.ToolParameterValidationError(context), "parameter"],
        [new AiError.ToolNotFoundError({ toolName: "unlock", availableTools: [] }), "invocation"],
        [new AiError.ToolConfigurationError(context), "invocation"],
        [new AiError.ToolkitRequiredError(JSON.parse('{"pendingApprovals":["unlock"]}')), "invocation"]
      ]
      for (const [reason, category] of reasons) {
        const error = yield* failing(Effect.fail(reason))
        assert.deepInclude(error, { category, tool: "unlock", callId: "call-unlock" })
        assert.include(error.message, reason.message)
      }
      const results = [
        Effect.succeed({ till: Number.NaN }),
        Effect.fail(new AiError.InvalidToolResultError(context)),
        Effect.fail(new AiError.ToolResultEncodingError({ ...context, toolResult: 1 }))
      ]
      for (const wrong of results)
        assert.deepInclude(yield* failing(wrong), { category: "validation", isRetryable: false })
    })
  )

  it.run("a tool without parameters, one in JSON Schema, and one that is shown in its own words [P1107]", (run) =>
    Effect.gen(function* () {
      const schema = {
        type: "object",
        properties: { n: { type: "number", description: "How many." } },
        required: ["n"],
        additionalProperties: false
      } as const
      const toolkit = Toolkit.make(
        AiTool.make("ping"),
        AiTool.dynamic("count", { parameters: schema, success: Schema.Finite }),
        AiTool.make("show", {
          success: Schema.Struct({ n: Schema.Finite }),
          toModelOutput: ({ n }) => [Prompt.textPart({ text: `n is ${n}` })]
        })
      )
      const handlers = toolkit.toLayer({
        ping: () => Effect.void,
        count: (params) => Effect.succeed((params as { readonly n: number }).n + 1),
        show: () => Effect.succeed({ n: 2 })
      })
      const { count, ping, show } = EffectAi.fromToolkit(toolkit)
      const model = yield* make(
        calls(call("ping", {}), call("count", '{"n":"1"}', "c2"), call("count", {}, "c3"), call("show", {}, "c4")),
        done
      )
      const telling = count.pipe(Tool.onError({ InvalidArgs: Recovery.tell((error) => error._tag) }))
      yield* run(agentWith(ping, telling, show), "go").pipe(Effect.provide([model.layer, handlers]))
      assert.deepStrictEqual(read(model), ["result: null", "result: 2", "told: DeserializationError", "result: n is 2"])
      assert.deepStrictEqual(model.requests[0]?.tools[1]?.parameters, schema)
    })
  )

  it.run("of a JSON Schema that cannot be read as a whole, the rest is checked [P1107]", (run) =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(
        AiTool.dynamic("count", {
          parameters: {
            type: "object",
            properties: { n: { type: "number" }, far: { $ref: "https://example.com/far.json" } },
            required: ["n"]
          },
          success: Schema.Json
        })
      )
      const handlers = toolkit.toLayer({ count: (params) => Effect.succeed(params as Schema.Json) })
      const { count } = EffectAi.fromToolkit(toolkit)
      const telling = count.pipe(Tool.onError({ InvalidArgs: Recovery.tell((error) => error._tag) }))
      const model = yield* make(calls(call("count", { n: "1", far: [2] }), call("count", { far: [2] }, "c2")), done)
      yield* run(agentWith(telling), "go").pipe(Effect.provide([model.layer, handlers]))
      assert.deepStrictEqual(read(model), ['result: {"n":1,"far":[2]}', "told: DeserializationError"])
    })
  )
})

describe("the hints of a toolkit", () => {
  const plain = AiTool.make("t")
  type Annotate = (tool: typeof plain) => typeof plain

  it.each<readonly [string, Annotate, Recovery.SideEffects]>([
    ["nothing", (tool) => tool, "undeclared"],
    ["Readonly", (tool) => tool.annotate(AiTool.Readonly, true), "none"],
    [
      "Readonly and Destructive",
      (tool) => tool.annotate(AiTool.Readonly, true).annotate(AiTool.Destructive, true),
      "none"
    ],
    ["Idempotent", (tool) => tool.annotate(AiTool.Idempotent, true), "idempotent"],
    ["Destructive", (tool) => tool.annotate(AiTool.Destructive, true), "unsafe"],
    ["only that it destroys nothing", (tool) => tool.annotate(AiTool.Destructive, false), "unsafe"],
    [
      "Destructive and Idempotent",
      (tool) => tool.annotate(AiTool.Destructive, true).annotate(AiTool.Idempotent, true),
      "idempotent"
    ],
    ["that it is not Readonly", (tool) => tool.annotate(AiTool.Readonly, false), "undeclared"]
  ])("with %s [P1107]", (_, annotate, sideEffects) => {
    const { t } = EffectAi.fromToolkit(Toolkit.make(annotate(plain)))
    assert.strictEqual(t.definition.sideEffects, sideEffects)
  })

  it("a tool that needs approval has to be named, or nothing is made [P906 P1107]", () => {
    const toolkit = Toolkit.make(
      AiTool.make("pay", { needsApproval: true }),
      AiTool.make("ship", { needsApproval: () => true }),
      AiTool.make("free", { needsApproval: false })
    )
    assert.throws(() => EffectAi.fromToolkit(toolkit), /'pay', 'ship' need approval; name them in 'approvals'/)
    assert.throws(() => EffectAi.fromToolkit(toolkit, { approvals: ["pay"] }), /of 'ship' need approval/)
    assert.strictEqual(
      EffectAi.fromToolkit(toolkit, { approvals: ["pay", "ship"] }).free.definition.approval,
      undefined
    )
  })

  it.run("its approvals are kept: a predicate that cannot decide requires approval [P906 P1107]", (run) =>
    Effect.gen(function* () {
      const pay = (name: string, needsApproval: AiTool.NeedsApproval<typeof Params>) =>
        AiTool.make(name, { parameters: Params, success: Schema.String, needsApproval })
      const Params = Schema.Struct({ cents: Schema.Finite })
      const toolkit = Toolkit.make(
        pay("always", true),
        pay("expensive", ({ cents }) => Effect.succeed(cents > 100)),
        pay("unsure", (_, { messages }) => [messages].flat().length > 5),
        pay("broken", () => Effect.die(new Error("who knows"))),
        pay("byCall", (_, { toolCallId }) => toolCallId === "c6")
      )
      const paid = Effect.succeed("paid")
      const handlers = toolkit.toLayer({
        always: () => paid,
        expensive: () => paid,
        unsure: () => paid,
        broken: () => paid,
        byCall: () => paid
      })
      const tools = EffectAi.fromToolkit(toolkit, { approvals: ["always", "expensive", "unsure", "broken", "byCall"] })
      const asked: Array<string> = []
      const approver = Approval.layer(({ callId, tool }) =>
        Effect.sync(
          () => (asked.push(`${tool} ${callId}`), tool === "broken" ? Approval.refuse("no") : Approval.approve)
        )
      )
      const model = yield* make(
        calls(
          call("always", { cents: 1 }, "c1"),
          call("expensive", { cents: 100 }, "c2"),
          call("expensive", { cents: 101 }, "c3"),
          call("unsure", { cents: 1 }, "c4"),
          call("broken", { cents: 1 }, "c5"),
          call("byCall", { cents: 1 }, "c6"),
          call("byCall", { cents: 1 }, "c7")
        ),
        done
      )
      yield* run(agentWith(...Object.values(tools)), "go").pipe(Effect.provide([model.layer, handlers, approver]))
      assert.deepStrictEqual(asked.toSorted(), ["always c1", "broken c5", "byCall c6", "expensive c3", "unsure c4"])
      assert.strictEqual(read(model).filter((text) => text === "result: paid").length, 6)
    })
  )

  it("a tool that the provider runs is no tool of an agent [P1107]", () => {
    const search = AiTool.providerDefined({ id: "a.search", customName: "Search", providerName: "search" })()
    assert.deepStrictEqual(Object.keys(EffectAi.fromToolkit(Toolkit.make(search, AiTool.make("own")))), ["own"])
  })

  it("its failures survive JSON with their class [P1108]", () => {
    const { unlock } = EffectAi.fromToolkit(Toolkit.make(Unlock))
    const codec = Schema.toCodecJson(Tool.errorSchema(unlock))
    const json = JSON.stringify(Schema.encodeSync(codec)(new Closed({ shop: "a" })))
    assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(JSON.parse(json)), new Closed({ shop: "a" }))
  })
})
