/** After a hard failure, the other calls of the reply begin nothing more. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Message, type Model, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Layer, Schema } from "effect"
import { type Runner, it } from "../../_support/run.ts"
import {
  asHard,
  batch,
  busy,
  done,
  eventLog,
  failureOf,
  fixer,
  gone,
  instantsOf,
  lastTranscript,
  overADay,
  play,
  scripted,
  settlements
} from "../../_support/dialogue.ts"

import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

/** Ends the run after these milliseconds. */
const raising = (millis: number) =>
  scripted("raise", Effect.andThen(Effect.sleep(millis), Effect.fail(gone("over")))).tool.pipe(
    Tool.onError({ Gone: Recovery.raise })
  )

/** When a tool ran, since its first run. */
const since = (runs: Parameters<typeof instantsOf>[0]) => instantsOf(runs).map((at) => at - (runs[0]?.at ?? 0))

const policies = ["settleAll", "interrupt"] as const

interface Options {
  readonly siblings?: (typeof policies)[number]
  readonly toolConcurrency?: number
  readonly order?: ReadonlyArray<string>
  readonly layer?: Layer.Layer<Approval.Approver>
}

/** Runs an agent whose model calls both tools at once: how the run ended, when, and how the calls were ends. */
const beside = (
  run: Runner,
  raise: Tool.AnyTool,
  sibling: Tool.AnyTool,
  { layer = Layer.empty as never, order = ["raise", "other"], siblings, toolConcurrency }: Options = {}
) =>
  Effect.gen(function* () {
    const log = eventLog()
    const start = yield* Clock.currentTimeMillis
    const model = yield* make(calls(...order.map((name, index) => call(name, {}, `c${index + 1}`))))
    const agent = Agent.make("worker", {
      ...(siblings === undefined ? {} : { siblings }),
      ...(toolConcurrency === undefined ? {} : { budget: { toolConcurrency } }),
      skills: [Skill.make("work", { description: "Works.", tools: [raise, sibling] as const })]
    }).pipe(log.listen)
    // what the tools need is given
    const running = run(agent, "go").pipe(Effect.provide([model.layer, layer])) as Effect.Effect<string, unknown>
    const error = asHard(yield* failureOf(yield* overADay(running)))
    assert.strictEqual(error.message, "over")
    assert.strictEqual(model.requests.length, 1)
    return { at: (log.end()?.at ?? start) - start, start, log, ends: settlements(lastTranscript(log.end())) }
  })

it.run("a sibling that waits for a retry is not repeated, and the run does not wait for it [P1350]", (run) =>
  Effect.gen(function* () {
    const retry = Recovery.retry({ retries: 3, initialBackoff: "1 second" })
    for (const siblings of policies) {
      const bare = scripted("other", Effect.fail(busy("no")))
      const given = yield* beside(run, raising(500), bare.tool.pipe(Tool.onError({ Busy: retry })), { siblings })
      assert.deepStrictEqual(since(bare.runs), [0])
      assert.strictEqual(given.at, 500)
      assert.deepStrictEqual(given.ends, [
        "told: ERROR: over",
        siblings === "interrupt"
          ? "interrupted: The call was interrupted before it ended."
          : "told: ERROR: Tool 'other' failed after 1 attempt (call c2): no"
      ])
    }
    const other = scripted("other", Effect.fail(busy("no")))
    const tell = Recovery.ladder(retry, Recovery.tell())
    const { log, ends } = yield* beside(run, raising(500), other.tool.pipe(Tool.onError({ Busy: tell })))
    assert.include(ends[1], "no")
    assert.deepStrictEqual(
      log.of("verdict").map((event) => ["tool" in event ? event.tool : "", event.verdict, event.gaveUp]),
      [
        ["other", "retry", false],
        ["raise", "raise", false],
        ["other", "retry", true],
        ["other", "tell", false]
      ]
    )
  })
)

it.run("a sibling that fails later gets no retry and no fixer; its `tell` rung writes the text [P1350]", (run) =>
  Effect.gen(function* () {
    const failing = Effect.andThen(Effect.sleep("1 second"), Effect.fail(busy("no")))
    const mend = fixer()
    for (const [row, expected] of [
      [Recovery.retry({ retries: 3 }), "told: ERROR: Tool 'other' failed after 1 attempt (call c2): no"],
      [Recovery.fix(mend.agent), "told: ERROR: Tool 'other' failed after 1 attempt (call c2): no"],
      [
        Recovery.ladder(
          Recovery.fix(mend.agent),
          Recovery.tell(() => "told")
        ),
        "told: told"
      ],
      [Recovery.ladder(Recovery.retry({ retries: 3 }), Recovery.respondWith("instead")), "result: instead"],
      [
        Recovery.when(() => Recovery.retry({ retries: 3 })),
        "told: ERROR: Tool 'other' failed after 1 attempt (call c2): no"
      ]
    ] as const) {
      const other = scripted("other", failing)
      const { at, ends } = yield* beside(run, raising(500), other.tool.pipe(Tool.onError({ Busy: row })))
      assert.deepStrictEqual(ends, ["told: ERROR: over", expected])
      assert.strictEqual(other.runs.length, 1)
      assert.strictEqual(at, 1000)
    }
    assert.deepStrictEqual(mend.inputs, [])
  })
)

it.run("the failure that ended the run stays its failure, in any order of the calls [P1350 P401]", (run) =>
  Effect.gen(function* () {
    const other = scripted("other", Effect.fail(busy("no")))
    const row = Recovery.retry({ retries: 3, initialBackoff: "1 second" })
    const { ends } = yield* beside(run, raising(500), other.tool.pipe(Tool.onError({ Busy: row })), {
      order: ["other", "raise"]
    })
    assert.deepStrictEqual(ends, [
      "told: ERROR: Tool 'other' failed after 1 attempt (call c1): no",
      "told: ERROR: over"
    ])
  })
)

it.run("a fixer at work ends by itself, or is interrupted, and what it repaired is not tried [P1350]", (run) =>
  Effect.gen(function* () {
    for (const siblings of policies) {
      const mend = fixer(Effect.as(Effect.sleep("2 seconds"), "{}"))
      const other = scripted("other", Effect.fail(busy("no")))
      const { at, log, ends } = yield* beside(
        run,
        raising(500),
        other.tool.pipe(Tool.onError({ Busy: Recovery.fix(mend.agent) })),
        { siblings }
      )
      assert.strictEqual(other.runs.length, 1)
      assert.strictEqual(mend.inputs.length, 1)
      assert.strictEqual(at, siblings === "interrupt" ? 500 : 2000)
      assert.strictEqual(log.of("fix-end").length, siblings === "interrupt" ? 0 : 1)
      assert.strictEqual(
        ends[1],
        siblings === "interrupt"
          ? "interrupted: The call was interrupted before it ended."
          : "interrupted: ERROR: the call was stopped, for another call has ended the run"
      )
    }
    // an answer in the place of the tool runs nothing
    const answer = fixer(Effect.as(Effect.sleep("2 seconds"), "mended"))
    const other = scripted("other", Effect.fail(busy("no")))
    const row = Recovery.fix(answer.agent, { as: "result" })
    const { ends } = yield* beside(run, raising(500), other.tool.pipe(Tool.onError({ Busy: row })))
    assert.strictEqual(ends[1], "result: mended")
    // one that fails is not run again
    const failing = fixer(Effect.andThen(Effect.sleep("2 seconds"), Effect.fail(busy("no idea"))))
    const unmended = scripted("other", Effect.fail(busy("no")))
    yield* beside(
      run,
      raising(500),
      unmended.tool.pipe(Tool.onError({ Busy: Recovery.fix(failing.agent, { retries: 3 }) }))
    )
    assert.strictEqual(failing.inputs.length, 1)
  })
)

const expertOf = <T extends Tool.AnyTool>(layer: Layer.Layer<Model.Model>, tool: T) =>
  Agent.make("expert", { model: layer, skills: [Skill.make("know", { description: "Knows.", tools: [tool] })] })

it.run("a fixer with a model makes no further model call, and begins no further tool [P1350]", (run) =>
  Effect.gen(function* () {
    for (const siblings of policies) {
      const model = yield* make(batch("look"))
      const look = scripted("look", Effect.as(Effect.sleep("1 second"), "seen"))
      const other = scripted("other", Effect.fail(busy("no")))
      const expert = expertOf(model.layer, look.tool)
      const { at, log, ends } = yield* beside(
        run,
        raising(500),
        other.tool.pipe(Tool.onError({ Busy: Recovery.fix((raw) => Effect.orDie(expert(raw))) })),
        { siblings }
      )
      assert.strictEqual(model.requests.length, 1)
      assert.strictEqual(look.runs.length, 1)
      assert.strictEqual(at, siblings === "interrupt" ? 500 : 1000)
      assert.match(ends[1] ?? "", /^interrupted: /)
      assert.deepStrictEqual(
        log.all.filter(({ agent, type }) => agent === "expert" && type.startsWith("run-")).map(({ type }) => type),
        ["run-start", "run-interrupted"]
      )
    }
  })
)

const asTool = <E, R>(agent: Agent.AgentPart<string, string, E, R>) =>
  Agent.asTool(agent, {
    name: "other",
    description: "Asks.",
    parameters: Schema.Struct({}),
    toInput: () => "why?"
  })

it.run("a sub-agent makes no further model call or attempt; what it has at work ends by itself [P1350]", (run) =>
  Effect.gen(function* () {
    const besideExpert = <E>(expert: (layer: Layer.Layer<Model.Model>) => Agent.AgentPart<string, string, E, never>) =>
      Effect.gen(function* () {
        const model = yield* make(batch("look"))
        const given = yield* beside(run, raising(500), asTool(expert(model.layer)))
        return { ...given, asked: model.requests.length }
      })
    const stopped = "interrupted: ERROR: the call was stopped, for another call has ended the run"
    // its tool is at work: no model call after it
    const look = scripted("look", Effect.as(Effect.sleep("1 second"), "seen"))
    const first = yield* besideExpert((layer) => expertOf(layer, look.tool))
    assert.deepStrictEqual([first.asked, first.ends[1], first.at], [1, stopped, 1000])
    assert.strictEqual(first.log.of("turn-start").filter(({ agent }) => agent === "expert").length, 1)
    const inner = first.log.of("turn-end").find(({ agent }) => agent === "expert")
    assert.deepStrictEqual(inner && settlements([inner.message]), ["result: seen"])
    // its tool waits for a retry, or fails later: no attempt
    const retry = { Busy: Recovery.ladder(Recovery.retry({ retries: 3, initialBackoff: "1 second" }), Recovery.tell()) }
    const waits = scripted("look", Effect.fail(busy()))
    const second = yield* besideExpert((layer) => expertOf(layer, waits.tool.pipe(Tool.onError(retry))))
    assert.deepStrictEqual([second.asked, second.ends[1], second.at, waits.runs.length], [1, stopped, 500, 1])
    const fails = scripted("look", Effect.andThen(Effect.sleep("1 second"), Effect.fail(busy())))
    const third = yield* besideExpert((layer) => expertOf(layer, fails.tool.pipe(Tool.onError(retry))))
    assert.deepStrictEqual([third.asked, third.ends[1], third.at, fails.runs.length], [1, stopped, 1000, 1])
  })
)

it.run("a model call at work gives its answer: the sub-agent ends, or calls none of its tools [P1350]", (run) =>
  Effect.gen(function* () {
    for (const isAnswer of [true, false]) {
      const reply = ScriptedModel.reply(
        isAnswer ? { content: [Message.text("because")] } : { content: [call("look", {}, "c1")] }
      )
      const model = yield* make(ScriptedModel.answers(() => Effect.as(Effect.sleep("1 second"), reply)))
      const look = scripted("look")
      const { at, log, ends } = yield* beside(run, raising(500), asTool(expertOf(model.layer, look.tool)))
      assert.strictEqual(look.runs.length, 0)
      assert.strictEqual(at, 1000)
      assert.strictEqual(
        ends[1],
        isAnswer ? "result: because" : "interrupted: ERROR: the call was stopped, for another call has ended the run"
      )
      assert.strictEqual(log.of("model-end").filter(({ agent }) => agent === "expert").length, 1)
    }
  })
)

it.run("a call that has not begun does not begin, and a function around a tool gets no attempt more [P1350]", (run) =>
  Effect.gen(function* () {
    const other = scripted("other")
    const { ends } = yield* beside(run, raising(500), other.tool, { toolConcurrency: 1 })
    assert.deepStrictEqual(ends, ["told: ERROR: over", `interrupted: ${Message.notRun.text}`])
    const around = scripted("other", Effect.andThen(Effect.sleep("1 second"), Effect.fail(busy("no"))))
    const retried2 = around.tool.pipe(Tool.around((attempt) => Effect.retry(attempt, { times: 3 })))
    const given = yield* beside(run, raising(500), retried2)
    assert.strictEqual(around.runs.length, 1)
    assert.strictEqual(given.ends[1], "interrupted: ERROR: the call was stopped, for another call has ended the run")
  })
)

it.run(
  "a sibling at work ends by itself, and may report its progress; an unsafe one keeps its outcome [P1350 P605]",
  (run) =>
    Effect.gen(function* () {
      const other = Tool.make("other", {
        description: "Works.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        sideEffects: "unsafe",
        run: (_, { progress }) =>
          Effect.sleep("1 second").pipe(
            Effect.andThen(progress("half")),
            Effect.andThen(Effect.sleep("1 second")),
            Effect.as("paid")
          )
      })
      const { at, log, ends } = yield* beside(run, raising(500), other)
      assert.deepStrictEqual([at, ends[1], log.of("tool-progress").length], [2000, "result: paid", 1])
    })
)

it.run("a sibling that waits for a decision does not wait on [P1350]", (run) =>
  Effect.gen(function* () {
    const other = play("other", {}, [])
    const layer = Layer.succeed(Approval.Approver, {
      decide: () => Effect.as(Effect.sleep("1 hour"), Approval.approve)
    })
    const { at, ends } = yield* beside(run, raising(500), other.tool.pipe(Tool.requireApproval()), { layer })
    assert.deepStrictEqual([at, ends[1]], [500, `interrupted: ${Message.unapproved.text}`])
    assert.strictEqual(other.runs.length, 0)
  })
)

it.run(
  "of a retry and a hard failure at one instant the first counts: a retry that has begun ends by itself [P1350]",
  (run) =>
    Effect.gen(function* () {
      const row = Tool.onError({ Busy: Recovery.retry({ retries: 3, initialBackoff: "500 millis" }) })
      for (const order of [
        ["raise", "other"],
        ["other", "raise"]
      ] as const) {
        const other = scripted("other", Effect.fail(busy("no")), Effect.as(Effect.sleep("1 second"), "seen"))
        const { at, ends } = yield* beside(run, raising(500), other.tool.pipe(row as never), { order })
        const isFirst = order[0] === "other"
        assert.deepStrictEqual(since(other.runs), isFirst ? [0, 500] : [0])
        assert.strictEqual(at, isFirst ? 1500 : 500)
        assert.strictEqual(ends.includes("result: seen"), isFirst)
      }
    })
)

it.run("a defect of a sibling is still one, and a told failure stops nothing [P1350 A110 P605]", (run) =>
  Effect.gen(function* () {
    const bug = new Error("bug")
    const other = scripted("other", Effect.andThen(Effect.sleep("1 second"), Effect.die(bug)))
    const model = yield* make(batch("raise", "other"))
    const agent = Agent.make("worker", {
      skills: [Skill.make("work", { description: "Works.", tools: [raising(500), other.tool] })]
    })
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.isTrue(exit._tag === "Failure" && exit.cause.reasons.some((reason) => reason._tag === "Die"))

    const telling = scripted("told", Effect.fail(gone())).tool.pipe(Tool.onError({ Gone: Recovery.tell() }))
    const retried = scripted("other", Effect.fail(busy()), Effect.succeed("seen"))
    const model2 = yield* make(batch("told", "other"), done)
    const other2 = retried.tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1, initialBackoff: "1 second" }) }))
    const fine = Agent.make("worker", {
      skills: [Skill.make("work", { description: "Works.", tools: [telling, other2] })]
    })
    yield* overADay(run(fine, "go").pipe(Effect.provide(model2.layer)))
    assert.deepStrictEqual(since(retried.runs), [0, 1000])
  })
)

it.effect("a resumed run does not repeat a sibling of a hard failure either [P1350]", () =>
  Effect.gen(function* () {
    const other = scripted("other", Effect.fail(busy("no")))
    const row = { Busy: Recovery.retry({ retries: 3, initialBackoff: "1 second" }) }
    const agent = Agent.make("worker", {
      tools: [raising(500).pipe(Tool.requireApproval()), other.tool.pipe(Tool.onError(row), Tool.requireApproval())]
    })
    const model = yield* make(batch("raise", "other"))
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const resumed = outcomeOf(Agent.resume(agent), deciding(from), model)
    assert.strictEqual(asHard(yield* failureOf(yield* overADay(resumed))).message, "over")
    assert.deepStrictEqual(since(other.runs), [0])
  })
)
