import { assert, it } from "@effect/vitest"
import { Agent, Approval, Model, Recovery, Skill, Tool, ToolPolicy } from "@kintsugi/core"
import { FaultSweep, type Invariants, ScriptedModel } from "@kintsugi/core/testing"
import { Context, Effect, Layer, Option } from "effect"
import type { FaultStep } from "../../../packages/core/src/testing/faults.ts"
import { format } from "../../../packages/core/src/testing/FaultSweep.ts"
import { busy, type Gone, gone } from "../../_support/dialogue.ts"
import { around, common, fine, script, toolOf } from "./_support/workers.ts"

const { call, calls, text } = ScriptedModel

type SweepError = Effect.Error<ReturnType<typeof FaultSweep.run>>

/** The error of a sweep that has to find something. */
const failing = <A, R>(sweep: Effect.Effect<A, SweepError, R>) =>
  Effect.flatMap(Effect.flip(sweep), (error) =>
    error._tag === "FaultSweepError" ? Effect.succeed(error) : Effect.die(error)
  )

const invariantsOf = ({ violations }: Extract<SweepError, { readonly _tag: "FaultSweepError" }>) => [
  ...new Set(violations.flatMap(({ found }) => found.map(({ invariant }) => invariant)))
]

// --- an agent in which nearly everything happens

class Desk extends Context.Service<Desk, { readonly look: (n: number) => Effect.Effect<string> }>()("Desk") {}

const real = Layer.effect(
  Model.Model,
  Effect.die(new Error("the own model of an agent is built"))
) as Layer.Layer<Model.Model>

const mender = Agent.make("mender", { model: real, skills: [Skill.make("mend", { description: "d" })] })

const book = Tool.make("book", {
  ...common,
  run: ({ n }): Effect.Effect<string, Gone> => (n < 10 ? Effect.fail(gone()) : Effect.succeed(`booked ${n}`))
}).pipe(
  Tool.onError({
    orElse: Recovery.ladder(
      Recovery.retry({ retries: 1, initialBackoff: "1 second" }),
      Recovery.fix(mender, { retries: 2 }),
      Recovery.tell()
    )
  })
)

const pay = Tool.make("pay", {
  ...common,
  sideEffects: "unsafe",
  timeout: "5 seconds",
  verify: () => Effect.succeed(Option.none()),
  run: ({ n }) => Effect.as(Effect.sleep(20), `paid ${n}`)
}).pipe(
  Tool.requireApproval(),
  Tool.onError({ ToolTimeoutError: Recovery.retry({ retries: 1 }), orElse: Recovery.tell() })
)

const look = toolOf("look", (n) => Effect.flatMap(Desk, (desk) => desk.look(n)))

const expert = Agent.make("expert", {
  prompt: "Know.",
  skills: [Skill.make("know", { description: "d", tools: [toolOf("recall", fine)] })]
})

const rich = Agent.make("worker", {
  skills: [
    Skill.make("work", {
      description: "d",
      tools: [look, book, pay, Agent.asTool(expert, { name: "ask", description: "d" })]
    }),
    Skill.make("rest", { description: "d" })
  ]
}).pipe(
  Agent.onLlmError({ orElse: Recovery.retry({ retries: 1, initialBackoff: "1 second" }) }, { onPartial: "restart" }),
  Agent.toolDefaults({ orElse: Recovery.tell() }),
  Agent.toolPolicy(() => ToolPolicy.allow),
  Agent.onToolUse(() => Effect.void)
)

const richScript = {
  worker: [
    text('{"name": "work", "confidence": 1}'),
    calls(call("look", { n: 1 }, "c1"), call("book", { n: 2 }, "c2")),
    calls(call("pay", { n: 3 }, "c3"), call("ask", { input: "Well?" }, "c4")),
    text("All is done.")
  ],
  mender: [text('{"n": 12}')],
  expert: [calls(call("recall", { n: 4 }, "e1")), text("So it is.")]
}

it.effect(
  "a sweep finds nothing in a sound agent: every kind of step, whole and streamed [P1105]",
  () =>
    Effect.gen(function* () {
      const report = yield* FaultSweep.run(rich, {
        input: "go",
        script: richScript,
        layer: Layer.merge(
          Layer.succeed(Desk, { look: fine }),
          Approval.layer(() => Effect.delay(Effect.succeed(Approval.approve), 10))
        ),
        failures: { look: gone, pay: busy }
      })
      assert.sameMembers(
        [...report.injections.keys()],
        ["model call", "stream part", "tool attempt", "fixer run", "policy", "grant", "approval", "listener", "wait"]
      )
      const injected = [...report.injections.values()].reduce((sum, count) => sum + count, 0)
      console.log(`${injected} faults in one agent`)
      assert.strictEqual(report.runs, injected + 2)
      assert.isAbove(injected, 150)
    }),
  60_000
)

it.effect("a sweep looks at agents that are made of others, and at a look-up after a timeout [P1105]", () =>
  Effect.gen(function* () {
    const slow = Tool.make("pay", {
      ...common,
      sideEffects: "unsafe",
      timeout: "1 second",
      verify: () => Effect.succeed(Option.some("paid before")),
      run: () => Effect.never
    }).pipe(Tool.onError({ orElse: Recovery.tell() }))
    const team = Agent.andThen(around(slow), expert)
    const report = yield* FaultSweep.run(team, {
      input: "go",
      script: { worker: [calls(call("pay", { n: 1 }, "c1")), text("done")], expert: richScript.expert }
    })
    assert.isTrue(report.injections.has("look-up"))
  })
)

// --- agents that are not sound

it.effect("a sweep finds a tool that leaves a fiber behind [P1105]", () =>
  Effect.gen(function* () {
    const leaking = toolOf("look", (n) => Effect.as(Effect.forkDetach(Effect.sleep("3 days")), `${n}`))
    const error = yield* failing(FaultSweep.run(around(leaking), { input: "go", script: script("look") }))
    assert.deepStrictEqual(invariantsOf(error), ["nothing is left behind"])
    assert.include(error.message, "2 fibers are left at its end")
  })
)

it.effect("a sweep finds a tool that resists an interruption, and the step [P1105 A111]", () =>
  Effect.gen(function* () {
    const single = [calls(call("look", { n: 1 }, "c1")), text("done")]
    const deaf = toolOf("look", (n) => Effect.uninterruptible(Effect.as(Effect.sleep(50), `${n}`)))
    const error = yield* failing(FaultSweep.run(around(deaf), { input: "go", script: single }))
    assert.include(invariantsOf(error), "interruption passes")
    const [first] = error.violations
    assert(first !== undefined)
    const formatted = format(first)
    assert.match(
      formatted,
      /^whole, step \d+, tool attempt: look, call c1, attempt 1, interruption while it is at work/
    )
    assert.match(formatted, /✗ interruption passes: .* comes 50 ms after the interruption of the run/)
    assert.include(formatted, "worker  turn 1  tool-start  c1")
  })
)

it.effect("a sweep finds a tool that calls a model outside of its run [P1105 P703]", () =>
  Effect.gen(function* () {
    const sly = toolOf("look", () =>
      Effect.flatMap(Model.Model, (model) =>
        Effect.orDie(Effect.as(model.generate({ messages: [], tools: [], toolChoice: "none" }), "asked"))
      )
    )
    const error = yield* failing(FaultSweep.run(around(sly), { input: "go", script: script("look") }))
    assert.include(invariantsOf(error), "the ledger is complete")
    assert.strictEqual(error.violations[0]?.step, undefined)
    assert.include(error.message, "whole, nothing injected")
  })
)

it.effect("a sweep finds an unsafe tool that runs twice, unless that is admitted [P1105 P602]", () =>
  Effect.gen(function* () {
    const twice = toolOf("pay", fine, "unsafe").pipe(
      Tool.onError({ orElse: Recovery.retry({ retries: 1, acknowledge: "may run twice" }) })
    )
    const agent = around(twice).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    const scenario = { input: "go", script: script("pay") }
    const error = yield* failing(FaultSweep.run(agent, scenario))
    assert.deepStrictEqual(invariantsOf(error), ["no unsafe tool runs twice"])
    assert.include(error.message, "'pay' is unsafe and runs again in call c1")
    yield* FaultSweep.run(agent, { ...scenario, mayRunTwice: ["pay"] })
  })
)

it.effect("a sweep finds an agent that does not end when it fails [P1105]", () =>
  Effect.gen(function* () {
    const inner = around(toolOf("look", fine))
    const stuck = Object.assign((input: string) => Effect.onError(inner(input), () => Effect.never), {
      stream: inner.stream
    })
    Object.defineProperty(stuck, "name", { value: "worker" })
    const error = yield* failing(FaultSweep.run(stuck, { input: "go", script: script("look") }))
    assert.include(error.message, "it does not end within a day")
    assert.isTrue(error.violations.every(({ mode }) => mode === "whole"))
  })
)

it.effect("a script that is another agent's is refused before anything is injected [P1105]", () =>
  Effect.gen(function* () {
    const agent = around(toolOf("look", fine))
    const refusal = (lines: Parameters<typeof FaultSweep.run>[1]["script"]) =>
      Effect.map(Effect.flip(FaultSweep.run(agent, { input: "go", script: lines })), ({ message }) => message)
    assert.strictEqual(
      yield* refusal([text("done"), text("never said")]),
      "whole: only 1 of 2 steps of the agent 'worker' were asked for"
    )
    assert.strictEqual(
      yield* refusal([calls(call("look", { n: 1 }))]),
      "whole: the agent 'worker' asks for turn 8, which is not in the script"
    )
    const broken = around(toolOf("look", () => Effect.die(new Error("boom"))))
    assert.strictEqual(
      (yield* Effect.flip(FaultSweep.run(broken, { input: "go", script: script("look") }))).message,
      "whole: only 1 of 2 steps of the agent 'worker' were asked for, and the run ended with Error: boom"
    )
    const deaf = Agent.make("worker", { budget: { maxDuration: Infinity } })
    const silent = ScriptedModel.answers(() => Effect.never)
    assert.strictEqual(
      (yield* Effect.flip(FaultSweep.run(deaf, { input: "go", script: [silent, text("done")] }))).message,
      "whole: the run does not end within a day, though nothing went wrong in it"
    )
    assert.strictEqual(
      yield* refusal({ other: [text("done")] }),
      "whole: the script has no lines for the agent 'worker'"
    )
  })
)

it.effect("a sweep checks the invariants of the program too [P1105]", () =>
  Effect.gen(function* () {
    const quiet: Invariants.Invariant = ({ events }) =>
      events.some(({ type }) => type === "tool-failed") ? ["a tool has failed"] : []
    const agent = around(toolOf("look", fine))
    const error = yield* failing(
      FaultSweep.run(agent, { input: "go", script: script("look"), invariants: { "all tools work": quiet } })
    )
    assert.deepStrictEqual(invariantsOf(error), ["all tools work"])
    assert.isTrue(error.violations.every(({ step }) => step?.type === "tool attempt"))
  })
)

it.effect(
  "a sweep injects every fault that can come at a step: before it, at its work, and when it is done [P1105]",
  () =>
    Effect.gen(function* () {
      const error = yield* failing(
        FaultSweep.run(around(toolOf("look", fine)), {
          input: "go",
          script: script("look"),
          failures: { look: gone },
          latencies: ["1 minute"],
          invariants: { "nothing happens": () => ["something has"] }
        })
      )
      const injectedAt = (kind: FaultStep["type"], mode: "whole" | "streamed") =>
        error.violations.flatMap(({ fault, mode: its, step }) =>
          step?.type !== kind || its !== mode || fault === undefined
            ? []
            : [fault.type === "interruption" ? `interruption ${fault.when}` : fault.type]
        )
      const always = ["error", "defect", "latency", "interruption before"]
      const everywhere = [...always, "interruption within", "interruption after"]
      for (const mode of ["whole", "streamed"] as const) {
        assert.deepStrictEqual(injectedAt("tool attempt", mode), [...everywhere, ...everywhere])
        assert.deepStrictEqual(injectedAt("model call", mode), [...always, ...always])
      }
    })
)

it.effect("a call that waited for its turn, and interrupts its own run, is awaited as all others [A111]", () =>
  Effect.gen(function* () {
    const helper = Agent.make("helper", { prompt: "Help." })
    const ask = Agent.asTool(helper, { name: "ask", description: "d" })
    const crew = Agent.make("worker", {
      budget: { toolConcurrency: 2 },
      skills: [Skill.make("work", { description: "d", tools: [ask] })]
    }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    const slow = ScriptedModel.answers(() =>
      Effect.as(Effect.sleep(20), ScriptedModel.reply({ content: [{ type: "text", text: "helped" }] }))
    )
    const askCalls = [1, 2, 3].map((n) => ScriptedModel.call("ask", { input: "go" }, `c${n}`))
    const report = yield* FaultSweep.run(crew, {
      input: "go",
      script: { worker: [ScriptedModel.calls(...askCalls), ScriptedModel.text("done")], helper: [slow] }
    })
    assert.isAbove(report.runs, 50)
  })
)
