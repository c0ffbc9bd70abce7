import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, LlmError, Message, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Clock, Effect, type Exit, Stream } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  done,
  eventLog,
  fixer,
  interruptedAt,
  lastTranscript,
  lastUsage,
  overADay,
  play,
  read,
  scripted
} from "../../_support/dialogue.ts"

const { call, calls, fails, make, text } = ScriptedModel

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "scripted" })

/** Stories for the comparison of both ways to run an agent: a script, and tools that are made afresh for each run. */
const stories: ReadonlyArray<
  readonly [title: string, script: ReadonlyArray<ScriptedModel.ScriptedStep>, tools: () => ReadonlyArray<Tool.AnyTool>]
> = [
  ["answers at once", [text("hello")], () => []],
  ["answers with an empty text", [text("")], () => []],
  [
    "calls tools, one of them unknown, then answers",
    [batch("fetch", "nope", "fetch"), text("two pages")],
    () => [scripted("fetch", Effect.succeed("1"), Effect.succeed("2")).tool]
  ],
  [
    "recovers from a failed call of the model, and from one of a tool",
    [fails(overloaded()), batch("fetch"), fails(overloaded()), done],
    () => [
      scripted("fetch", Effect.fail(busy()), Effect.succeed("page")).tool.pipe(
        Tool.onError({ Busy: Recovery.retry({ retries: 1, initialBackoff: "1 second" }) })
      )
    ]
  ],
  [
    "has its arguments mended",
    [calls(call("fetch", '{"n":1,}', "c1")), done],
    () => [
      play("fetch", { coercion: [] }, [Effect.succeed("page")]).tool.pipe(
        Tool.onError({ InvalidArgs: Recovery.fix(fixer(Effect.succeed('{"n":1}')).agent) })
      )
    ]
  ],
  ["fails with a tool's own failure", [batch("fetch")], () => [scripted("fetch", Effect.fail(busy())).tool]],
  [
    "fails hard",
    [batch("fetch")],
    () => [scripted("fetch", Effect.fail(busy())).tool.pipe(Tool.onError({ Busy: Recovery.raise }))]
  ],
  ["gives its task back", [calls(call("escalate", { reason: "r" }, "c1"))], () => [Tool.escalate]],
  ["fails with its model", [fails(overloaded()), fails(overloaded())], () => []],
  [
    "runs out of turns",
    [batch("fetch"), batch("fetch"), batch("fetch")],
    () => [scripted("fetch", ...Array.from({ length: 3 }, () => Effect.succeed("page"))).tool]
  ],
  ["dies", [batch("fetch")], () => [scripted("fetch", Effect.die("bug")).tool]],
  [
    "thinks aloud",
    [
      ScriptedModel.replies(
        ScriptedModel.reply({
          content: [{ type: "reasoning", text: "hm" }, Message.text("well"), call("fetch", {}, "c")]
        })
      ),
      done
    ],
    () => [scripted("fetch", Effect.succeed("page")).tool]
  ],
  [
    "answers in several texts, empty ones among them",
    [
      ScriptedModel.replies(
        ScriptedModel.reply({
          content: [
            ...["", "one ", "", "two "].map((part) => Message.text(part)),
            call("fetch", {}, "c1"),
            Message.text(""),
            call("fetch", {}, "c2"),
            ...["a", "b"].map((text) => ({ type: "reasoning" as const, text })),
            ...["c", "d"].map((text) => ({ type: "reasoning" as const, text, opaque: { provider: "p", data: text } })),
            Message.text("three")
          ]
        })
      ),
      done
    ],
    () => [scripted("fetch", Effect.succeed("1"), Effect.succeed("2")).tool]
  ]
]

const outcome = (exit: Exit.Exit<unknown, unknown>) =>
  exit._tag === "Success"
    ? { answer: exit.value }
    : { failure: Cause.squash(exit.cause), kinds: exit.cause.reasons.map(({ _tag }) => _tag) }

/** Without what belongs to one run alone, and without the deltas. */
const brief = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.filter(({ type }) => !type.endsWith("-delta")).map(({ agent, turn, type }) => [agent, turn, type])

for (const [title, script, tools] of stories) {
  it.effect(`whole and streamed are one run: an agent that ${title} [A1201]`, () =>
    Effect.gen(function* () {
      const observe = Effect.fnUntraced(function* (isStreamed: boolean) {
        const model = yield* make(...script)
        const log = eventLog()
        const agent = Agent.make("worker", {
          prompt: "Work.",
          budget: { maxTurns: 3 },
          skills: [Skill.make("work", { description: "Works.", tools: tools() })]
        }).pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }), log.listen)
        const running = isStreamed ? Stream.runDrain(agent.stream("go")) : agent("go")
        const exit = yield* overADay(running.pipe(Effect.provide(model.layer)) as Effect.Effect<unknown, unknown>)
        const answer = exit._tag === "Success" ? log.of("run-completed")[0]?.output : undefined
        for (const request of model.requests) assert.strictEqual(request.isStreamed, isStreamed)
        return {
          outcome: { ...outcome(exit), ...(answer === undefined ? {} : { answer }) },
          requests: model.requests.map(({ messages, toolChoice, tools }) => ({ messages, toolChoice, tools })),
          events: brief(log.all),
          transcript: lastTranscript(log.end()),
          usage: lastUsage(log.end())
        }
      })
      assert.deepStrictEqual(yield* observe(true), yield* observe(false))
    })
  )
}

it.effect("a listener gets the same events as the stream, in the same order [A1201]", () =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.succeed("page"))
    const log = eventLog()
    const model = yield* make(batch("fetch"), done)
    const events = yield* Stream.runCollect(agentWith(tool).pipe(log.listen).stream("go")).pipe(
      Effect.provide(model.layer)
    )
    assert.deepStrictEqual(events, log.all)
    assert.include(log.types(), "text-delta")
  })
)

it.run("one effect, run twice, is two fresh runs [A1201]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.succeed("1"), Effect.succeed("2"))
    const log = eventLog()
    const model = yield* make(batch("fetch"), text("first"), batch("fetch"), text("second"))
    const effect = run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual([yield* effect, yield* effect], ["first", "second"])
    assert.deepStrictEqual(
      model.requests.map(({ messages }) => messages.length),
      [1, 2, 1, 2]
    )
    assert.deepStrictEqual(read(model), ["result: 2"])
    const [first, second] = log.of("run-completed")
    assert.notStrictEqual(first?.runId, second?.runId)
    assert.deepStrictEqual(first?.usage, second?.usage)
  })
)

it.run("Effect.retry around an agent starts afresh each time [A1201]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.fail(busy()), Effect.succeed("page"))
    const model = yield* make(batch("fetch"), batch("fetch"), done)
    const effect = run(agentWith(tool), "go").pipe(Effect.retry({ times: 1 }), Effect.provide(model.layer))
    assert.strictEqual(yield* effect, "done")
    assert.deepStrictEqual(
      model.requests.map(({ messages }) => messages.length),
      [1, 1, 2]
    )
  })
)

it.run("two runs of one agent at once share nothing [A1201]", (run) =>
  Effect.gen(function* () {
    const { tool } = play("fetch", {}, [
      Effect.as(Effect.sleep(30), "a page"),
      Effect.andThen(Effect.sleep(10), Effect.fail(busy())),
      Effect.as(Effect.sleep(10), "b page")
    ])
    const script = (name: string) => [batch("fetch"), text(name)]
    const [a, b] = [yield* make(...script("a")), yield* make(...script("b"))]
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }) })))
    const both = Effect.all(
      [run(agent, "ask a").pipe(Effect.provide(a.layer)), run(agent, "ask b").pipe(Effect.provide(b.layer))],
      { concurrency: "unbounded" }
    )
    const exit = yield* overADay(both)
    assert.deepStrictEqual(exit._tag === "Success" ? exit.value : exit, ["a", "b"])
    assert.deepStrictEqual([read(a), read(b)], [["result: a page"], ["result: b page"]])
    for (const [model, input] of [
      [a, "ask a"],
      [b, "ask b"]
    ] as const) {
      assert.deepStrictEqual(model.requests[1]?.messages[0], Message.user(input))
      assert.strictEqual(model.requests[1]?.messages.length, 2)
    }
  })
)

it.run("a deterministic agent makes no model call and keeps its failures [A1004]", (run) =>
  Effect.gen(function* () {
    const failure = busy()
    const double = Agent.deterministic("double", (n: number) => (n < 0 ? Effect.fail(failure) : Effect.succeed(2 * n)))
    assert.strictEqual(yield* run(double, 21), 42)
    assert.strictEqual(yield* Effect.flip(run(double, -1)), failure)
    assert.strictEqual(double.name, "double")
  })
)

it.run("a deterministic agent has no conversation, however it ends [A1004]", (run) =>
  Effect.gen(function* () {
    const double = Agent.deterministic("double", (n: number) => (n < 0 ? Effect.fail(busy()) : Effect.succeed(2 * n)))
    const log = eventLog()
    yield* run(double.pipe(log.listen), 21)
    assert.deepInclude(log.all[0], { type: "run-start", transcript: [] })
    const failing = eventLog()
    yield* Effect.exit(run(double.pipe(failing.listen), -1))
    assert.deepInclude(failing.end(), { type: "run-failed", transcript: [] })
  })
)

it.run("an interruption of a deterministic agent passes at once [A1004]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const stuck = Agent.deterministic("stuck", () => Effect.never).pipe(log.listen)
    const exit = yield* interruptedAt(70, run(stuck, "go"))
    assert.isTrue(exit._tag === "Failure" && Cause.hasInterruptsOnly(exit.cause))
    assert.deepInclude(log.end(), { type: "run-interrupted", at: 70 })
    assert.strictEqual(yield* Clock.currentTimeMillis, 24 * 3600 * 1000 + 70)
  })
)
