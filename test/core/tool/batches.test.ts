import { assert } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  asHard,
  batch,
  busy,
  callingOnce,
  calm,
  done,
  eventLog,
  failureOf,
  fixer,
  gone,
  lastTranscript,
  overADay,
  read,
  scripted,
  settlements,
  tagsOf
} from "../../_support/dialogue.ts"

const { make } = ScriptedModel

const skillOf = <const Tools extends ReadonlyArray<Tool.AnyTool>>(...tools: Tools) =>
  [Skill.make("work", { description: "Works.", tools })] as const

it.run("toolConcurrency bounds the tools that run at once; results stand in request order [P606]", (run) =>
  Effect.gen(function* () {
    let running = 0
    const most: Array<number> = []
    const slow = Tool.make("slow", {
      description: "Takes a second.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: (_params, { callId }) =>
        Effect.gen(function* () {
          most.push(++running)
          yield* Effect.sleep(callId === "c1" ? "3 seconds" : "1 second")
          running--
          return callId
        })
    })
    for (const [toolConcurrency, expected] of [
      [2, 2],
      [1, 1],
      [Infinity, 4]
    ] as const) {
      most.length = 0
      const model = yield* callingOnce("slow", "slow", "slow", "slow")
      const agent = Agent.make("worker", { budget: { toolConcurrency }, skills: skillOf(slow) })
      yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.strictEqual(Math.max(...most), expected)
      assert.deepStrictEqual(read(model), ["result: c1", "result: c2", "result: c3", "result: c4"])
    }
  })
)

it.run("a call that waited for its turn and interrupts its own run is awaited like any other [A111 P606]", (run) =>
  Effect.gen(function* () {
    for (const last of [3, 4]) {
      let cleanedAt: number | undefined
      let interrupt = () => {}
      const waits = Effect.as(Effect.sleep("1 second"), "seen")
      const look = scripted("look", waits, waits, waits)
      const stopping = Effect.suspend(() => {
        interrupt()
        return Effect.never
      })
      const cleaning = Effect.andThen(Effect.sleep("5 seconds"), Clock.currentTimeMillis)
      const cleaned = Effect.map(cleaning, (at) => void (cleanedAt = at))
      const stop = scripted(
        "stop",
        Effect.onInterrupt(stopping, () => cleaned)
      )
      const log = eventLog()
      const looks = Array.from({ length: last - 1 }, () => "look")
      const model = yield* make(batch(...looks, "stop"))
      const skills = skillOf(look.tool, stop.tool)
      const agent = Agent.make("worker", { budget: { toolConcurrency: 2 }, skills }).pipe(log.listen)
      const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
      interrupt = () => fiber.interruptUnsafe()
      yield* calm
      yield* TestClock.adjust("1 day")
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.deepStrictEqual([cleanedAt, log.end()?.type], [log.end()?.at, "run-interrupted"])
    }
  })
)

it.run("a hard failure lets the siblings end by default, and interrupts them on demand [P605]", (run) =>
  Effect.gen(function* () {
    for (const [siblings, kinds] of [
      ["settleAll", ["told", "result"]],
      ["interrupt", ["told", "interrupted"]]
    ] as const) {
      const failing = scripted("fail", Effect.andThen(Effect.sleep("1 second"), Effect.fail(busy())))
      const slow = scripted("slow", Effect.as(Effect.sleep("5 seconds"), "seen"))
      const log = eventLog()
      const model = yield* make(batch("fail", "slow"))
      const agent = Agent.make("worker", { siblings, skills: skillOf(failing.tool, slow.tool) }).pipe(log.listen)
      const fiber = yield* Effect.forkChild(Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
      yield* calm
      yield* TestClock.adjust("1 second")
      yield* calm
      assert.strictEqual(log.end() !== undefined, siblings === "interrupt")
      yield* TestClock.adjust("1 day")
      const error = yield* failureOf(yield* Fiber.join(fiber))
      assert.deepStrictEqual(tagsOf([error]), ["Busy"])
      assert.deepStrictEqual(
        settlements(lastTranscript(log.end())).map((line) => line.split(":")[0]),
        [...kinds]
      )
    }
  })
)

it.run("a told failure never touches siblings, under any policy [P605]", (run) =>
  Effect.gen(function* () {
    const failing = scripted("fail", Effect.fail(busy()))
    const slow = scripted("slow", Effect.as(Effect.sleep("5 seconds"), "seen"))
    const model = yield* callingOnce("fail", "slow")
    const telling = failing.tool.pipe(Tool.onError({ Busy: Recovery.tell(() => "no") }))
    const agent = Agent.make("worker", { siblings: "interrupt", skills: skillOf(telling, slow.tool) })
    yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(read(model), ["told: no", "result: seen"])
  })
)

it.run("the model reads a suggestion for a near miss, which never runs [P405]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("readFile")
    for (const [name, suggestion] of [
      ["readFiel", "; did you mean readFile?"],
      ["redFile", "; did you mean readFile?"],
      ["writeDisk", ""],
      ["r", ""],
      ["", ""]
    ] as const) {
      const model = yield* make(ScriptedModel.calls(ScriptedModel.call(name, {}, "c1")), done)
      yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer), Effect.orDie)
      assert.deepStrictEqual(read(model), [`told: unknown tool: ${name}; available tools: readFile${suggestion}`])
    }
    assert.deepStrictEqual(runs, [])
  })
)

it.run("tools are switched off if every failure of a batch has that `then`, for the rest of the run [K10 K11]", (run) =>
  Effect.gen(function* () {
    const off = Recovery.tell(() => "no more", { then: "tools-off" })
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const model = yield* callingOnce("fetch")
    yield* run(agentWith(tool.pipe(Tool.onError({ Busy: off }))), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      model.requests.map(({ toolChoice }) => toolChoice),
      ["auto", "none"]
    )
    assert.deepStrictEqual(read(model), ["told: no more"])
  })
)

it.run("one failure of the batch with `then: continue` keeps tools on [K8]", (run) =>
  Effect.gen(function* () {
    const off = scripted("off", Effect.fail(busy())).tool.pipe(
      Tool.onError({ Busy: Recovery.tell(() => "off", { then: "tools-off" }) })
    )
    const on = scripted("on", Effect.fail(busy())).tool.pipe(
      Tool.onError({ Busy: Recovery.tell(() => "on", { then: "continue" }) })
    )
    const model = yield* callingOnce("off", "on")
    yield* run(agentWith(off, on), "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(model.requests[1]?.toolChoice, "auto")
  })
)

it.run(
  "the trail of a hard failure equals the verdicts among the events: rung, delay, hint, what was left [P1103]",
  (run) =>
    Effect.gen(function* () {
      const { agent: repair } = fixer(Effect.succeed("{}"))
      const { tool } = scripted("fetch", Effect.fail(busy("one")), Effect.fail(gone("two")), Effect.fail(busy("three")))
      const guarded = tool.pipe(
        Tool.onError({
          Busy: Recovery.ladder(Recovery.retry({ retries: 1, initialBackoff: "1 second" }), Recovery.raise),
          Gone: Recovery.fix(repair)
        })
      )
      const log = eventLog()
      const model = yield* make(batch("fetch"))
      const running = run(agentWith(guarded).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      const exit = yield* overADay(running)
      const error = asHard(
        exit._tag === "Failure" && exit.cause.reasons[0]?._tag === "Fail" ? exit.cause.reasons[0].error : 0
      )
      const seen = log.of("verdict").map(({ attempt, delay, gaveUp, left, rung, tag, verdict }) => ({
        attempt,
        delay,
        gaveUp,
        left,
        rung,
        tag,
        verdict
      }))
      assert.deepStrictEqual(
        error.trail?.map(({ attempt, delay, gaveUp, left, rung, tag, verdict }) => ({
          attempt,
          delay,
          gaveUp,
          left,
          rung,
          tag,
          verdict
        })),
        seen
      )
      assert.deepStrictEqual(
        error.trail?.map(({ gaveUp, message, rung, verdict }) => [verdict, gaveUp, rung, message]),
        [
          ["retry", false, 0, "one"],
          ["fix", false, 0, "two"],
          ["retry", true, 0, "three"],
          ["raise", false, 1, "three"]
        ]
      )
      assert.deepStrictEqual(error.trail?.[0]?.left, { turns: 7, toolCalls: 31 })
    })
)

it.run("a told error or a repair never changes the transcript before it [P1110]", (run) =>
  Effect.gen(function* () {
    const { agent: repair } = fixer(Effect.succeed('{"n":2}'))
    const failing = scripted("fetch", Effect.fail(busy()), Effect.fail(gone()), Effect.succeed("fine"))
    const guarded = failing.tool.pipe(Tool.onError({ Busy: Recovery.tell(), Gone: Recovery.fix(repair) }))
    const model = yield* make(batch("fetch"), batch("fetch"), batch("nothing"), done)
    yield* run(agentWith(guarded), "go").pipe(Effect.provide(model.layer))
    for (const [index, request] of model.requests.entries()) {
      const next = model.requests[index + 1]
      if (next === undefined) continue
      assert.deepStrictEqual(next.messages.slice(0, request.messages.length), [...request.messages])
      assert.strictEqual(next.messages.length, request.messages.length + 1)
      assert.deepStrictEqual(next.tools, request.tools)
    }
  })
)
