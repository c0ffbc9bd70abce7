import { assert } from "@effect/vitest"
import { Agent, Budget, Recovery, Skill, Tool, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import * as fc from "fast-check"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  callingOnce,
  done,
  eventLog,
  fixer,
  gone,
  play,
  read,
  scripted
} from "../../_support/dialogue.ts"

const { call, calls, make } = ScriptedModel
const { allow, deny } = ToolPolicy

it.run("a policy sees every call once its arguments fit, with tool, params, effects and depth [A515]", (run) =>
  Effect.gen(function* () {
    const seen: Array<ToolPolicy.ProposedCall> = []
    const { tool } = play("pay", { sideEffects: "unsafe" }, [Effect.succeed("paid")])
    const model = yield* make(calls(call("pay", '```{"n":1}```', "c1"), call("pay", { n: "x" }, "c2")), done)
    const agent = agentWith(tool.pipe(Tool.onError({ DeserializationError: Recovery.tell() }))).pipe(
      Agent.toolPolicy((call) => {
        seen.push(call)
        return allow
      })
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const expected = { agent: "worker", tool: "pay", params: { n: 1 }, sideEffects: "unsafe", depth: 0, callId: "c1" }
    assert.deepStrictEqual(seen, [{ ...expected, arguments: '```{"n":1}```' }] as Array<unknown>)
  })
)

it.run("a denied call is not run: the model reads the reason, no row decides, siblings run [A515]", (run) =>
  Effect.gen(function* () {
    const denied = scripted("pay")
    const fine = scripted("look", Effect.succeed("seen"))
    const log = eventLog()
    const heard: Array<string> = []
    const model = yield* callingOnce("pay", "look")
    const guarded = denied.tool.pipe(Tool.onError({ orElse: Recovery.respondWith("answered") }))
    const agent = agentWith(guarded, fine.tool).pipe(
      Agent.toolPolicy(({ tool }) => (tool === "pay" ? deny("not at night") : allow)),
      Agent.onToolUse((name) => Effect.sync(() => heard.push(name))),
      log.listen
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), [
      "denied: The call of tool 'pay' was denied and not run: not at night",
      "result: seen"
    ])
    assert.deepStrictEqual(denied.runs, [])
    assert.deepStrictEqual(heard, ["look"])
    assert.deepStrictEqual(
      log.of("tool-denied").map(({ callId, tool }) => [callId, tool]),
      [["c1", "pay"]]
    )
  })
)

it.run("a policy that fails denies; a defect in it ends the run, and nothing runs [A515]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("pay")
    const model = yield* callingOnce("pay")
    const failing = agentWith(tool).pipe(Agent.toolPolicy(() => Effect.fail(gone("the directory is down"))))
    yield* run(failing, "go").pipe(Effect.provide(model.layer))
    assert.match(read(model)[0] ?? "", /^denied: .*the policy could not decide: the directory is down$/)
    const dying = yield* make(batch("pay"))
    const exit = yield* Effect.exit(
      run(agentWith(tool).pipe(Agent.toolPolicy(() => Effect.die("boom"))), "go").pipe(Effect.provide(dying.layer))
    )
    assert(Exit.hasDies(exit))
    assert.deepStrictEqual(runs, [])
  })
)

it.run("repaired arguments pass the policy once more; a mere retry does not [A515 A306]", (run) =>
  Effect.gen(function* () {
    const asked: Array<unknown> = []
    const { runs, tool } = scripted("pay", Effect.fail(busy()), Effect.fail(gone()), Effect.succeed("never"))
    const { agent: repair } = fixer(Effect.succeed('{"n":1000}'))
    const model = yield* callingOnce("pay")
    const agent = agentWith(
      tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }), Gone: Recovery.fix(repair) }))
    ).pipe(
      Agent.toolPolicy(({ params }) => {
        asked.push(params)
        return (params as { readonly n?: number }).n === 1000 ? deny("too much") : allow
      })
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(asked, [{}, { n: 1000 }])
    assert.strictEqual(runs.length, 2)
    assert.match(read(model)[0] ?? "", /^denied: .*too much$/)
  })
)

it.run("of several policies each has to allow; no policy is called after the first that denies [A515]", (run) =>
  Effect.gen(function* () {
    const asked: Array<number> = []
    const policyOf = (n: number, decision: ToolPolicy.Permission) =>
      Agent.toolPolicy(() => {
        asked.push(n)
        return decision
      })
    const { tool } = scripted("pay", Effect.succeed("paid"))
    const two = yield* callingOnce("pay")
    yield* run(agentWith(tool).pipe(policyOf(1, allow), policyOf(2, allow)), "go").pipe(Effect.provide(two.layer))
    assert.deepStrictEqual(read(two), ["result: paid"])
    const one = yield* callingOnce("pay")
    yield* run(agentWith(tool).pipe(policyOf(3, deny("no")), policyOf(4, allow)), "go").pipe(Effect.provide(one.layer))
    assert.deepStrictEqual(asked, [1, 2, 3])
  })
)

const limited = <T extends Tool.AnyTool>(maxArgsBytes: number, tool: T) =>
  Agent.make("worker", { budget: { maxArgsBytes }, skills: [Skill.make("s", { description: "d", tools: [tool] })] })

it.run("arguments above the limit are denied before they are decoded, text and objects alike [A907]", (run) =>
  Effect.gen(function* () {
    for (const args of [`{"n":1,"x":"${"é".repeat(20)}"}`, { n: 1, x: "é".repeat(20) }, `{"broken ${"x".repeat(40)}`]) {
      const { runs, tool } = scripted("pay")
      const model = yield* make(calls(call("pay", args, "c1")), done)
      yield* run(limited(45, tool), "go").pipe(Effect.provide(model.layer), Effect.orDie)
      assert.match(read(model)[0] ?? "", /^denied: .*longer than 45 bytes$/)
      assert.deepStrictEqual(runs, [])
    }
  })
)

it.run("arguments are measured in bytes, and once more after a repair [A907]", (run) =>
  Effect.gen(function* () {
    const fits = scripted("pay", Effect.succeed("paid"))
    const model = yield* make(calls(call("pay", '{"n":1}', "c1")), done)
    yield* run(limited(7, fits.tool), "go").pipe(Effect.provide(model.layer), Effect.orDie)
    assert.deepStrictEqual(read(model), ["result: paid"])

    const { agent: repair } = fixer(Effect.succeed(`{"n":1${" ".repeat(50)}}`))
    const repaired = scripted("pay", Effect.fail(busy()))
    const second = yield* make(calls(call("pay", "{}", "c1")), done)
    const guarded = repaired.tool.pipe(Tool.onError({ Busy: Recovery.fix(repair) }))
    yield* run(limited(20, guarded), "go").pipe(Effect.provide(second.layer), Effect.orDie)
    assert.match(read(second)[0] ?? "", /^denied: .*longer than 20 bytes$/)
    assert.strictEqual(repaired.runs.length, 1)
  })
)

const anything = Tool.make("take", {
  description: "Takes anything.",
  parameters: Schema.Record(Schema.String, Schema.Json),
  success: Schema.String,
  coercion: [],
  run: () => Effect.succeed("taken")
})

it.effect("the limit is exact for any text and any object [A907]", () =>
  Effect.promise(() =>
    fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), async (args) => {
        const bytes = new TextEncoder().encode(JSON.stringify(args)).length
        for (const [max, text] of [
          [bytes, "result: taken"],
          [bytes - 1, "denied: "]
        ] as const) {
          for (const sent of [JSON.stringify(args), args as Schema.JsonObject]) {
            const running = Effect.scoped(
              Effect.gen(function* () {
                const model = yield* make(calls(call("take", sent, "c1")), done)
                yield* limited(max, anything)("go").pipe(Effect.provide(model.layer), Effect.orDie)
                return read(model)[0] ?? ""
              })
            )
            assert.isTrue((await Effect.runPromise(running)).startsWith(text))
          }
        }
      }),
      { numRuns: 50, seed: 7 }
    )
  )
)

it.effect(
  "limits are refused when they make no sense, and may be infinite where nothing runs for ever [A907 A901]",
  () =>
    Effect.sync(() => {
      for (const name of ["maxArgsBytes", "toolConcurrency"]) {
        for (const limit of [0, -1, 1.5, NaN]) assert.throws(() => Budget.make({ [name]: limit }), RangeError)
        assert.strictEqual(Reflect.get(Budget.make({ [name]: Infinity }), name), Infinity)
      }
      assert.deepInclude(Budget.make(), { maxArgsBytes: 1024 * 1024, toolConcurrency: Infinity })
      assert.throws(() => Budget.make({ repeatedFailures: { stop: 0 } }), RangeError)
    })
)
