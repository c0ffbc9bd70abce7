import * as Factories from "@kintsugi/core/Factories"
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, LlmError, Recovery, Tool } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Effect, Logger, Schema, Stream } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  callingOnce,
  done,
  eventLog,
  fixer,
  interruptedAt,
  isTerminal,
  lastUsage,
  overADay,
  play,
  scripted
} from "../../_support/dialogue.ts"

const { call, calls, fails, make } = ScriptedModel

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "scripted" })

it.run("every run emits exactly one terminal event: completed, failed, interrupted [A1202]", (run) =>
  Effect.gen(function* () {
    for (const [script, expected, at] of [
      [[done], "run-completed", undefined],
      [[fails(overloaded())], "run-failed", undefined],
      [[ScriptedModel.answers(() => Effect.die("bug"))], "run-failed", undefined],
      [[batch("quit")], "run-interrupted", undefined],
      [[ScriptedModel.answers(() => Effect.never)], "run-interrupted", 1000]
    ] as const) {
      const log = eventLog()
      const model = yield* make(...script)
      const agent = agentWith(scripted("quit", Effect.interrupt).tool).pipe(log.listen)
      const running = run(agent, "go").pipe(Effect.provide(model.layer))
      yield* at === undefined ? Effect.exit(running) : interruptedAt(at, running)
      assert.strictEqual(log.all[0]?.type, "run-start")
      assert.deepStrictEqual(
        log.all.filter(isTerminal).map(({ type }) => type),
        [expected]
      )
      assert.strictEqual(log.all.at(-1)?.type, expected)
    }
  })
)

it.run("a run emits nothing after its terminal event, even if a tool has left fibers at work [A1202]", (run) =>
  Effect.gen(function* () {
    const events: Array<AgentEvent.AgentEvent> = []
    const child = Agent.deterministic("below", () => Effect.as(Effect.sleep("2 seconds"), "late"))
    let ended = 0
    const leaving = Tool.make("leave", {
      description: "Goes on behind the run.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: (_, { progress }) =>
        Effect.andThen(Effect.sleep("1 second"), progress("late")).pipe(
          Effect.andThen(child("go")),
          Effect.andThen(Effect.sync(() => ended++)),
          Effect.forkDetach,
          Effect.as("left")
        )
    })
    const model = yield* make(batch("leave"), done)
    yield* run(agentWith(leaving), "go").pipe(
      Effect.provideService(RunContext.Observers, [() => (event) => void events.push(event)]),
      Effect.provide(model.layer)
    )
    const before = events.length
    yield* overADay(Effect.sleep("1 hour"))
    assert.strictEqual(ended, 1)
    assert.strictEqual(events[before - 1]?.type, "run-completed")
    // what begins afterwards is a run of its own
    assert.deepStrictEqual(
      events.slice(before).map(({ agent, type }) => [agent, type]),
      [
        ["below", "run-start"],
        ["below", "run-completed"]
      ]
    )
    const second = yield* make(batch("leave"), done)
    const handle = yield* agentWith(leaving).start("go").pipe(Effect.provide(second.layer))
    yield* handle.outcome
    yield* overADay(Effect.sleep("1 hour"))
    assert.strictEqual(ended, 2)
    assert.strictEqual((yield* Stream.runCollect(handle.events)).at(-1)?.type, "run-completed")
  })
)

it.run("a deterministic agent's run begins and ends by events too [A1202]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const shout = Agent.deterministic("shout", (text: string) => Effect.succeed(text.toUpperCase())).pipe(log.listen)
    assert.strictEqual(yield* run(shout, "hey"), "HEY")
    assert.deepStrictEqual(
      log.all.map(({ agent, turn, type }) => [agent, turn, type]),
      [
        ["shout", 0, "run-start"],
        ["shout", 0, "run-completed"]
      ]
    )
    assert.deepInclude(log.all[0], { input: "hey" })
    assert.deepInclude(log.all[1], { output: "HEY" })
  })
)

it.run(
  "attempts, waits, hints, verdicts and costs are events with run, agent, turn, call, attempt, instant [A1203]",
  (run) =>
    Effect.gen(function* () {
      const limited = Factories.apiRateLimit("api", "3 seconds")
      const { tool } = scripted("fetch", Effect.fail(busy("1")), Effect.fail(busy("2")), Effect.succeed("page"))
      const log = eventLog()
      const model = yield* make(fails(limited), batch("fetch"), done)
      const agent = agentWith(
        tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 2, initialBackoff: "500 millis" }) }))
      ).pipe(Agent.onLlmError({ RateLimitError: Recovery.retry({ retries: 1 }) }), log.listen)
      yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      const ids = new Set(log.all.map(({ runId }) => runId))
      assert.strictEqual(ids.size, 1)
      for (const event of log.all) assert.strictEqual(event.agent, "worker")
      const brief = (event: AgentEvent.AgentEvent) => {
        const { at, turn, type } = event
        const more =
          event.type === "verdict"
            ? [event.layer, event.tag, event.verdict, event.attempt, Duration.toMillis(event.delay)]
            : "attempt" in event
              ? [event.attempt]
              : []
        return [turn, at, type, ...more, ...("callId" in event ? [event.callId, event.tool] : [])].join(" ")
      }
      assert.deepStrictEqual(log.all.filter(({ type }) => type !== "text-delta").map(brief), [
        "0 0 run-start",
        "1 0 turn-start",
        "1 0 model-start 1",
        "1 0 model-failed 1",
        "1 0 verdict model RateLimitError retry 1 3000",
        "1 3000 model-start 2",
        "1 3000 model-end 2",
        "1 3000 tool-start c1 fetch",
        "1 3000 tool-failed 1 c1 fetch",
        "1 3000 verdict tool Busy retry 1 500 c1 fetch",
        "1 3500 tool-failed 2 c1 fetch",
        "1 3500 verdict tool Busy retry 2 1000 c1 fetch",
        "1 4500 tool-end c1 fetch",
        "1 4500 turn-end",
        "2 4500 turn-start",
        "2 4500 model-start 1",
        "2 4500 model-end 1",
        "2 4500 turn-end",
        "2 4500 run-completed"
      ])
      const [first] = log.of("verdict")
      assert.deepStrictEqual(first?.hint === undefined ? undefined : Duration.toMillis(first.hint), 3000)
      assert.strictEqual(first?.error, limited)
      assert.deepInclude(log.of("model-end")[0]?.reply.usage, { inputTokens: 10, outputTokens: 5 })
      assert.deepStrictEqual(
        [...log.of("model-failed"), ...log.of("model-end")].map(({ entry }) => [
          entry.outcome,
          entry.usage.inputTokens
        ]),
        [
          ["failed", 0],
          ["used", 10],
          ["used", 10]
        ]
      )
      assert.deepInclude(lastUsage(log.end()), { inputTokens: 20, outputTokens: 10 })
    })
)

it.run("every rung of a ladder that gives up, and every repair, is an event [A1203]", (run) =>
  Effect.gen(function* () {
    const { tool } = play("fetch", { coercion: [] }, [Effect.fail(busy())])
    const mender = fixer(Effect.succeed("nonsense"), Effect.succeed("{}"))
    const log = eventLog()
    const model = yield* make(calls(call("fetch", "broken", "c1")), done)
    const agent = agentWith(
      tool.pipe(
        Tool.onError({
          InvalidArgs: Recovery.ladder(
            Recovery.retry({ retries: 1 }),
            Recovery.fix(mender.agent, { retries: 2 }),
            Recovery.raise
          ),
          Busy: Recovery.escalate()
        })
      )
    ).pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      log.of("verdict").map(({ gaveUp, rung, tag, verdict }) => [rung, tag, verdict, gaveUp]),
      [
        [0, "InvalidArgs", "retry", true],
        [1, "InvalidArgs", "fix", false],
        [1, "InvalidArgs", "fix", false],
        [0, "Busy", "escalate", false]
      ]
    )
    assert.deepStrictEqual(
      log.of("fix-end").map(({ answer, repair }) => [repair, answer]),
      [
        [1, "nonsense"],
        [2, "{}"]
      ]
    )
  })
)

it.run("events of sub-agents within tools nest under their call, at every depth; usage rolls up [A1204]", (run) =>
  Effect.gen(function* () {
    const inner = yield* callingOnce("calc")
    const clerk = Agent.deterministic("clerk", () => Effect.succeed("3"))
    const calc = scripted("calc", clerk(""))
    const expert = agentWith(calc.tool)
    const ask = scripted("ask", Effect.orDie(expert("why?").pipe(Effect.provide(inner.layer))))
    const log = eventLog()
    const model = yield* make(calls(call("ask", {}, "outer-call")), done)
    yield* run(agentWith(ask.tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const starts = log.of("run-start")
    assert.deepStrictEqual(
      starts.map(({ parent }) => parent),
      [
        undefined,
        { runId: starts[0]?.runId ?? "", callId: "outer-call" },
        { runId: starts[1]?.runId ?? "", callId: "c1" }
      ]
    )
    assert.strictEqual(new Set(starts.map(({ runId }) => runId)).size, 3)
    assert.deepStrictEqual(
      log
        .of("run-completed")
        .map(({ runId, usage }) => [starts.findIndex((start) => start.runId === runId), usage.inputTokens]),
      [
        [2, 0],
        [1, 20],
        [0, 40]
      ]
    )
    for (const id of starts.map(({ runId }) => runId)) {
      assert.strictEqual(log.all.filter((event) => event.runId === id && isTerminal(event)).length, 1)
    }
  })
)

it.run("a listener that fails, dies or throws changes nothing; all listeners get every event [A1205]", (run) =>
  Effect.gen(function* () {
    const warnings: Array<string> = []
    const logger = Logger.make(({ message }) => void warnings.push(String(message)))
    const log = eventLog()
    const { tool } = scripted("fetch", Effect.succeed("1"), Effect.succeed("2"))
    let thrown = 0
    const model = yield* make(batch("fetch"), batch("fetch"), done)
    const agent = agentWith(tool).pipe(
      Agent.onEvent(({ type }) => (type === "turn-start" ? Effect.die(new Error("a bad listener")) : Effect.void)),
      Agent.onEvent(({ type }) => (type === "run-start" ? Effect.interrupt : Effect.void)),
      Agent.onToolUse(() => {
        thrown++
        throw new Error("a worse one")
      }),
      log.listen
    )
    const running = run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(Logger.layer([logger])))
    assert.strictEqual(yield* running, "done")
    assert.strictEqual(log.end()?.type, "run-completed")
    assert.strictEqual(thrown, 2)
    const about = (type: string) => warnings.filter((line) => line.includes(`on '${type}' of agent 'worker'`)).length
    assert.deepStrictEqual(["run-start", "turn-start", "tool-end"].map(about), [1, 3, 2])
  })
)
