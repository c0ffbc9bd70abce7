/** Tools of ours under `effect/ai`'s own `LanguageModel`: their recovery is at work in its toolkits. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Recovery, Tool, ToolError } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { RecordedEvents, ScriptedModel } from "@kintsugi/core/testing"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Clock, Effect, Layer, Schema, Stream } from "effect"
import { LanguageModel, type Prompt, Tool as AiTool, type Toolkit } from "effect/ai"
import { overADay } from "../../_support/dialogue.ts"
import * as Script from "./_support/scriptedLanguageModel.ts"

class Closed extends Schema.TaggedError<Closed>()("Closed", { shop: Schema.String }) {}

const shop = (run: (shop: string, context: Tool.ToolContext) => Effect.Effect<number, Closed>) =>
  Tool.make("unlock", {
    description: "Opens a shop.",
    parameters: Schema.Struct({ shop: Schema.String, day: Schema.optionalKey(Schema.Finite) }),
    success: Schema.Finite,
    failure: Closed,
    run: (params, context) => run(params.shop, context)
  })

const closed = (shop: string) => Effect.fail(new Closed({ shop }))

/** What a test needs of the results, however they came. */
interface Outcome {
  readonly result: unknown
  readonly isFailure: boolean
  readonly encoded: unknown
}

interface Options<Tools extends Record<string, AiTool.Any>> {
  readonly toolkit: Toolkit.Toolkit<Tools>
  readonly prompt?: Prompt.RawInput
}

type Way = <Tools extends Record<string, AiTool.Any>>(
  options: Options<Tools>
) => Effect.Effect<ReadonlyArray<Outcome>, unknown, unknown>

const outcomeOf = (part: {
  readonly result: unknown
  readonly isFailure: boolean
  readonly encodedResult: unknown
}) => ({
  result: part.result,
  isFailure: part.isFailure,
  encoded: part.encodedResult
})

const ways: Readonly<Record<string, Way>> = {
  whole: ({ prompt = "go", toolkit }) =>
    Effect.map(LanguageModel.generateText({ prompt, toolkit }), ({ content }) =>
      content.flatMap((part) => (part.type === "tool-result" ? [outcomeOf(part)] : []))
    ),
  streamed: ({ prompt = "go", toolkit }) =>
    Effect.map(Stream.runCollect(LanguageModel.streamText({ prompt, toolkit })), (parts) =>
      parts.flatMap((part) => (part.type === "tool-result" ? [outcomeOf(part)] : []))
    )
}

const both = (
  name: string,
  body: (
    ask: <Tools extends Record<string, AiTool.Any>>(
      options: Options<Tools> & { readonly layer: Layer.Layer<AiTool.HandlersFor<Tools>> },
      ...calls: ReadonlyArray<unknown>
    ) => Effect.Effect<ReadonlyArray<Outcome>, unknown>
  ) => Effect.Effect<void, unknown>
) => {
  for (const [way, run] of Object.entries(ways)) {
    it.effect(`${name} (${way})`, () =>
      body((options, ...calls) =>
        Effect.scoped(
          Effect.gen(function* () {
            const script = yield* Script.make(
              Script.calls(...calls.map((params, index) => Script.call("unlock", params, `c${index + 1}`)))
            )
            const asked = Effect.provide(run(options), Layer.merge(script.layer, options.layer))
            // all that is left of its needs was provided above
            return yield* asked as Effect.Effect<ReadonlyArray<Outcome>, unknown>
          })
        )
      )
    )
  }
}

describe("tools of ours as a toolkit", () => {
  both("run with mended arguments, and give their typed result [P1107]", (ask) =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const unlock = shop((name, { callId }) => Effect.sync(() => (seen.push([name, callId]), 8)))
      const made = EffectAi.toToolkit([unlock])
      const results = yield* ask(made, { shop: "a", day: "2" }, '```json\n{"shop": "b"}\n```')
      assert.deepStrictEqual(seen, [
        ["a", "c1"],
        ["b", "c2"]
      ])
      assert.deepStrictEqual(results, [
        { result: 8, isFailure: false, encoded: 8 },
        { result: 8, isFailure: false, encoded: 8 }
      ])
    })
  )

  it.effect("a call without an id has the name of the tool as its id [P1107]", () =>
    Effect.gen(function* () {
      const { layer, toolkit } = EffectAi.toToolkit([shop((_, { callId }) => Effect.succeed(callId.length))])
      const { handle } = yield* Effect.provide(toolkit, layer)
      const results = yield* Stream.runCollect(Stream.unwrap(handle("unlock", { shop: "a" })))
      assert.deepStrictEqual(
        results.map(({ result }) => result),
        [6]
      )
    })
  )

  both("recover by their own table, and what remains is a typed failure of the caller of the model [P1107]", (ask) =>
    Effect.gen(function* () {
      const runs: Array<number> = []
      const failing = shop((name) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          name === "fixed" || runs.push(now) > 2 ? Effect.succeed(runs.length) : closed(name)
        )
      )
      const retried = failing.pipe(
        Tool.onError({ Closed: Recovery.retry({ maxAttempts: 3, initialBackoff: "1 second" }) })
      )
      assert.deepStrictEqual(yield* Effect.flatten(overADay(ask(EffectAi.toToolkit([retried]), { shop: "a" }))), [
        { result: 3, isFailure: false, encoded: 3 }
      ])
      assert.deepStrictEqual(runs, [0, 1000, 3000])
      const fixer = Agent.deterministic("fixer", () => Effect.succeed('{"shop":"fixed"}'))
      const fixed = failing.pipe(Tool.onError({ InvalidArgs: Recovery.fix(fixer) }))
      assert.deepStrictEqual(yield* ask(EffectAi.toToolkit([fixed]), { shop: ["?"] }), [
        { result: 3, isFailure: false, encoded: 3 }
      ])
      const telling = shop(closed).pipe(Tool.onError({ Closed: Recovery.tell((error) => `closed: ${error.shop}`) }))
      const textResult = new EffectAi.TextResult({ kind: "told", text: "closed: a" })
      assert.deepStrictEqual(yield* ask(EffectAi.toToolkit([telling]), { shop: "a" }), [
        { result: textResult, isFailure: false, encoded: "closed: a" }
      ])
      assert.deepStrictEqual(
        yield* Effect.flip(ask(EffectAi.toToolkit([shop(closed)]), { shop: "a" })),
        new Closed({ shop: "a" })
      )
      const raising = shop(closed).pipe(Tool.onError({ Closed: Recovery.raise }))
      assert.instanceOf(
        yield* Effect.flip(ask(EffectAi.toToolkit([raising]), { shop: "a" })),
        ToolError.ToolExecutionError
      )
    })
  )

  both("with failureMode return both are failed results [P1107]", (ask) =>
    Effect.gen(function* () {
      const unlock = shop(closed).pipe(
        Tool.onError({
          Closed: Recovery.when((error) => (error.shop === "a" ? Recovery.tell(() => "closed") : Recovery.rethrow))
        })
      )
      const results = yield* ask(EffectAi.toToolkit([unlock], { failureMode: "return" }), { shop: "a" }, { shop: "b" })
      assert.deepStrictEqual(
        results.map(({ encoded, isFailure }) => [isFailure, encoded]),
        [
          [true, "closed"],
          [true, { _tag: "Closed", shop: "b" }]
        ]
      )
    })
  )

  both("a result that is a text is that text, also if it is JSON; a result that was cut is a text [P1107]", (ask) =>
    Effect.gen(function* () {
      const texts = ['"quoted"', "8", "plain", ""]
      const parameters = Schema.Struct({ n: Schema.Finite })
      const description = "Opens a shop."
      const speaking = Tool.make("unlock", {
        description,
        parameters,
        success: Schema.String,
        run: ({ n }) => Effect.succeed(texts[n] ?? "none")
      })
      const said = yield* ask(EffectAi.toToolkit([speaking]), ...texts.map((_, n) => ({ n })))
      assert.sameDeepMembers(
        [...said],
        texts.map((text) => ({ result: text, isFailure: false, encoded: text }))
      )
      const counting = Tool.make("unlock", {
        description,
        parameters,
        success: Schema.Array(Schema.Finite),
        maxResultChars: 50,
        run: ({ n }) => Effect.succeed(Array.from({ length: n }, (_, index) => index))
      })
      const made = EffectAi.toToolkit([counting])
      assert.deepStrictEqual(yield* ask(made, { n: 2 }), [{ result: [0, 1], isFailure: false, encoded: [0, 1] }])
      const [cut] = yield* ask(made, { n: 99 })
      assert(cut?.result instanceof EffectAi.TextResult)
      assert.strictEqual(cut.result.kind, "result")
      assert.match(cut.result.text, /^\[0,1,2,/)
      assert.deepStrictEqual([cut.isFailure, cut.encoded], [false, cut.result.text])
    })
  )

  it.effect("their calls are runs that observers see [P1107]", () =>
    Effect.gen(function* () {
      const log = yield* RecordedEvents.make
      const { layer, toolkit } = EffectAi.toToolkit([shop(() => Effect.succeed(1))])
      const script = yield* Script.make(Script.calls(Script.call("unlock", { shop: "a" }, "c1")))
      yield* LanguageModel.generateText({ prompt: "go", toolkit }).pipe(
        Effect.provide([script.layer, layer]),
        Effect.provide(log.layer)
      )
      assert.deepStrictEqual(
        log.of("tool-end").map(({ agent, callId, tool }) => [agent, tool, callId]),
        [["unlock", "unlock", "c1"]]
      )
      // no model is asked: what stands in its place says so
      assert.deepStrictEqual(
        log.of("model-start").map(({ model, provider }) => [model, provider]),
        [
          ["effect/ai", "effect/ai"],
          ["effect/ai", "effect/ai"]
        ]
      )
      assert.isUndefined(yield* RunContext.Current)
    })
  )

  // Finds out nothing of its own: no small mistake puts another model in the place of that of the layer
  it.effect("a fixer with a model, and an agent as a tool, call the model of the layer [P1107]", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make(ScriptedModel.text('{"shop":"fixed"}'), ScriptedModel.text("seven"))
      const fixer = Agent.make("fixer", { prompt: "Mend it." })
      const unlock = shop(() => Effect.succeed(7)).pipe(Tool.onError({ InvalidArgs: Recovery.fix(fixer) }))
      const speaker = Agent.asTool(Agent.make("speaker", { prompt: "Speak." }), { description: "Speaks." })
      const { layer, toolkit } = EffectAi.toToolkit([unlock, speaker])
      const script = yield* Script.make(
        Script.calls(Script.call("unlock", {}), Script.call("speaker", { input: "say 7" }))
      )
      const response = yield* LanguageModel.generateText({ prompt: "go", toolkit, concurrency: 1 }).pipe(
        Effect.provide([script.layer, Layer.provide(layer, model.layer)])
      )
      assert.deepStrictEqual(
        response.toolResults.map(({ result }) => result),
        [7, "seven"]
      )
      assert.strictEqual(model.requests.length, 2)
    })
  )

  it("their schemas and side effects are written in the words of effect/ai [P1107]", () => {
    const declared = (sideEffects: Recovery.SideEffects, kind: ToolError.Kind = "local") => {
      const tool = Tool.make("t", {
        description: "Does it.",
        parameters: Schema.Struct({ n: Schema.Finite }),
        success: Schema.String,
        sideEffects,
        kind,
        run: () => Effect.succeed("")
      })
      const { t } = EffectAi.toToolkit([tool]).toolkit.tools
      // `effect/ai` offers strict schemas unless it is told otherwise, and these take what the tool mends
      assert.isFalse(AiTool.getStrictMode(t))
      assert.strictEqual(t.description, "Does it.")
      assert.deepStrictEqual(AiTool.getJsonSchema(t), tool.definition.spec().parameters)
      return EffectAi.fromToolkit(EffectAi.toToolkit([tool]).toolkit).t.definition
    }
    const all: ReadonlyArray<Recovery.SideEffects> = ["none", "idempotent", "unsafe", "undeclared"]
    assert.deepStrictEqual(
      all.map((sideEffects) => declared(sideEffects).sideEffects),
      [...all]
    )
    const kinds = ["local", "web-service", "mcp-tool", "llm"] as const
    assert.deepStrictEqual(
      kinds.map((kind) => declared("none", kind).kind),
      ["local", "web-service", "web-service", "web-service"]
    )
  })

  it("two tools of one name are none [P1107]", () => {
    const unlock = shop(closed)
    assert.throws(() => EffectAi.toToolkit([unlock, unlock]), /two tools named 'unlock'/)
  })
})
