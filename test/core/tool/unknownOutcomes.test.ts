/** Calls of unsafe tools that were cut off: until a person has looked, they are settled as unknown. */
import { assert } from "@effect/vitest"
import { Agent, Message, type Model, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Schema } from "effect"
import { it, type Runnable, type Runner } from "../../_support/run.ts"
import {
  agentWith,
  asHard,
  batch,
  busy,
  done,
  eventLog,
  fixer,
  interruptedAt,
  lastTranscript,
  overADay,
  read,
  scripted,
  settlements,
  tagsOf
} from "../../_support/dialogue.ts"

/** What is added to each text about a call whose outcome is unknown. */
const notice =
  "An earlier run of this call was cut off after its start and may have taken effect: look that up before any repetition."

const acknowledge = "may run twice"
const options = { description: "Pays.", parameters: Schema.Struct({}), success: Schema.String } as const
const unsafe = { ...options, sideEffects: "unsafe", timeout: "1 second" } as const

/** Never ends by itself. */
const pay = Tool.make("pay", { ...unsafe, run: () => Effect.never })

/** Its first run never ends, its second ends like this. */
const payingLater = <E>(second: Effect.Effect<string, E>) => {
  let runs = 0
  return Tool.make("pay", { ...unsafe, run: () => Effect.suspend(() => (++runs === 1 ? Effect.never : second)) })
}

const script = (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) => ScriptedModel.make(batch("pay"), ...steps)

type Ours = Runnable<string, string, unknown, Model.Model>

/** Runs it while a day goes by; its failure, if it fails. */
const ending = (run: Runner, agent: Ours, model: ScriptedModel.ScriptedModel) =>
  Effect.map(overADay(run(agent, "go").pipe(Effect.provide(model.layer))), (exit) =>
    Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  )

it.run("however a call of unknown outcome ends hard, it is settled as unknown, and its text has that [P602]", (run) =>
  Effect.gen(function* () {
    const heard = eventLog()
    const helpless = fixer(Effect.fail(busy("no idea")))
    const agents: Readonly<Record<string, Ours>> = {
      raise: agentWith(pay.pipe(Tool.onError({ OutcomeUnknownError: Recovery.raise }))).pipe(heard.listen),
      exhausted: agentWith(
        pay.pipe(Tool.onError({ OutcomeUnknownError: Recovery.retry({ retries: 1, acknowledge }) }))
      ).pipe(heard.listen),
      fix: agentWith(
        pay.pipe(Tool.onError({ OutcomeUnknownError: Recovery.fix(helpless.agent, { acknowledge }) }))
      ).pipe(heard.listen),
      defaults: agentWith(pay).pipe(Agent.toolDefaults({ orElse: Recovery.retry({ retries: 3 }) }), heard.listen)
    }
    for (const [name, agent] of Object.entries(agents)) {
      const error = yield* ending(run, agent, yield* script())
      assert.instanceOf(asHard(error).attempts[0], ToolError.OutcomeUnknownError, name)
      const [settlement = ""] = settlements(lastTranscript(heard.end()))
      assert.match(settlement, /^unknown: ERROR: /, name)
      assert.isTrue(settlement.endsWith(`\n${notice}`), name)
    }
  })
)

it.run("an OutcomeUnknownError that leaves as itself speaks for itself [P602]", (run) =>
  Effect.gen(function* () {
    const heard = eventLog()
    const agents: ReadonlyArray<Ours> = [
      agentWith(pay).pipe(heard.listen),
      agentWith(pay.pipe(Tool.onError({ OutcomeUnknownError: Recovery.rethrow }))).pipe(heard.listen)
    ]
    for (const agent of agents) {
      assert.instanceOf(yield* ending(run, agent, yield* script()), ToolError.OutcomeUnknownError)
      const [settlement = ""] = settlements(lastTranscript(heard.end()))
      assert.match(settlement, /^unknown: ERROR: .* was cut off after its start, and may have taken effect/)
      assert.notInclude(settlement, notice)
    }
  })
)

it.run("interrupted while it is being recovered, it is settled as unknown too [P602]", (run) =>
  Effect.gen(function* () {
    const heard = eventLog()
    const slow = fixer(Effect.as(Effect.sleep("1 hour"), "{}"))
    const waiting = Recovery.retry({ retries: 1, initialBackoff: "1 minute", maxBackoff: "1 minute", acknowledge })
    const handler = Recovery.respondWith(() => Effect.as(Effect.sleep("1 hour"), "late"))
    const agents: Readonly<Record<string, Ours>> = {
      handler: agentWith(pay.pipe(Tool.onError({ OutcomeUnknownError: handler }))).pipe(heard.listen),
      fixer: agentWith(pay.pipe(Tool.onError({ OutcomeUnknownError: Recovery.fix(slow.agent, { acknowledge }) }))).pipe(
        heard.listen
      ),
      wait: agentWith(pay.pipe(Tool.onError({ OutcomeUnknownError: waiting }))).pipe(heard.listen)
    }
    for (const [name, agent] of Object.entries(agents)) {
      const model = yield* script()
      const exit = yield* interruptedAt(5000, run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause), name)
      assert.strictEqual(heard.end()?.type, "run-interrupted", name)
      assert.match(settlements(lastTranscript(heard.end()))[0] ?? "", /^unknown: /, name)
    }
  })
)

it.run("a sibling's hard failure that interrupts it leaves it settled as unknown [P602 P605]", (run) =>
  Effect.gen(function* () {
    const heard = eventLog()
    const { tool: failing } = scripted("fail", Effect.andThen(Effect.sleep("5 seconds"), Effect.fail(busy())))
    const handler = Recovery.respondWith(() => Effect.as(Effect.sleep("1 hour"), "late"))
    const recovering = pay.pipe(Tool.onError({ OutcomeUnknownError: handler }))
    const skills = [Skill.make("work", { description: "Works.", tools: [recovering, failing] })] as const
    const agent = Agent.make("worker", { siblings: "interrupt", skills }).pipe(heard.listen)
    const model = yield* ScriptedModel.make(batch("pay", "fail"))
    yield* ending(run, agent, model)
    assert.strictEqual(heard.end()?.at, 5000)
    assert.deepStrictEqual(
      settlements(lastTranscript(heard.end())).map((line) => line.split(":")[0]),
      ["unknown", "told"]
    )
  })
)

it.run("a call that runs out of time while it is being recovered is settled as unknown [P602 A906]", (run) =>
  Effect.gen(function* () {
    const heard = eventLog()
    const limited = Tool.make("pay", { ...unsafe, callTimeout: "10 seconds", run: () => Effect.never })
    const handler = Recovery.respondWith(() => Effect.as(Effect.sleep("1 hour"), "late"))
    const agent = agentWith(limited.pipe(Tool.onError({ OutcomeUnknownError: handler }))).pipe(heard.listen)
    const error = asHard(yield* ending(run, agent, yield* script()))
    assert.strictEqual(heard.end()?.at, 10_000)
    assert.deepStrictEqual(tagsOf(error.attempts), ["OutcomeUnknownError", "ToolTimeoutError"])
    const [settlement = ""] = settlements(lastTranscript(heard.end()))
    assert.match(settlement, /^unknown: ERROR: /)
    assert.include(settlement, notice)
  })
)

it.run("an unsafe function that throws is a defect, and settled as unknown like any other crash [P602]", (run) =>
  Effect.gen(function* () {
    const crash = new Error("crash")
    const runs: ReadonlyArray<() => Effect.Effect<string>> = [
      () => {
        throw crash
      },
      () => Effect.die(crash)
    ]
    for (const crashing of runs) {
      for (const timeout of [undefined, "1 second"] as const) {
        const heard = eventLog()
        const tool = Tool.make("pay", { ...unsafe, timeout, run: crashing })
        const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.tell() }))).pipe(heard.listen)
        const model = yield* script()
        const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
        assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        assert.strictEqual(Cause.squash(exit.cause), crash)
        assert.match(settlements(lastTranscript(heard.end()))[0] ?? "", /^unknown: /)
      }
    }
  })
)

it.run("after an acknowledged repetition that fails the first run is as open as before [P602]", (run) =>
  Effect.gen(function* () {
    const tool = payingLater(Effect.fail(busy())).pipe(
      Tool.onError({ OutcomeUnknownError: Recovery.retry({ retries: 1, acknowledge }), Busy: Recovery.tell() })
    )
    const model = yield* script(done)
    yield* ending(run, agentWith(tool), model)
    assert.deepStrictEqual(read(model), [
      `unknown: permanent: tool 'pay' failed 2 times, at last: busy; ${notice.replace("An", "an").slice(0, -1)}`
    ])
  })
)

it.run("after an unknown outcome, the result of a repetition that succeeds is the result [P602]", (run) =>
  Effect.gen(function* () {
    const tool = payingLater(Effect.succeed("paid")).pipe(
      Tool.onError({ OutcomeUnknownError: Recovery.retry({ retries: 1, acknowledge }) })
    )
    const model = yield* script(done)
    yield* ending(run, agentWith(tool), model)
    assert.deepStrictEqual(read(model), ["result: paid"])
  })
)

it.run("an interruption while a repetition recovers leaves the outcome unknown [P602]", (run) =>
  Effect.gen(function* () {
    const heard = eventLog()
    const handler = Recovery.respondWith(() => Effect.as(Effect.sleep("1 hour"), "late"))
    const tool = payingLater(Effect.fail(busy())).pipe(
      Tool.onError({ OutcomeUnknownError: Recovery.retry({ retries: 1, acknowledge }), Busy: handler })
    )
    const model = yield* script()
    const agent = agentWith(tool).pipe(heard.listen)
    yield* interruptedAt(5000, run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.match(settlements(lastTranscript(heard.end()))[0] ?? "", /^unknown: /)
  })
)

it.run(
  "a fixer that escalates in its second repair leaves the outcome open, and the failure what it was [A310 P602]",
  (run) =>
    Effect.gen(function* () {
      const heard = eventLog()
      const giving = fixer(
        Effect.fail(busy("no idea")),
        Effect.fail(ToolError.EscalationError.make({ source: "fixer", reason: "ask Ann" }))
      )
      const verdict = Recovery.fix(giving.agent, { retries: 2, acknowledge })
      const agent = agentWith(pay.pipe(Tool.onError({ OutcomeUnknownError: verdict }))).pipe(heard.listen)
      const model = yield* script(done)
      yield* ending(run, agent, model)
      assert.deepStrictEqual(read(model), [`unknown: ERROR: Tool 'pay' failed: ask Ann (severity: HIGH). ${notice}`])
      assert.deepStrictEqual(
        heard.of("verdict").map(({ error, verdict: decided }) => [tagsOf([error])[0], decided]),
        [
          ["OutcomeUnknownError", "fix"],
          ["OutcomeUnknownError", "fix"]
        ]
      )
    })
)

it.run("a repetition with a result that its schema refuses is settled as unknown: it took effect [P602 A112]", (run) =>
  Effect.gen(function* () {
    const heard = eventLog()
    // with and without a time limit, which is no limit of what it gives
    for (const limits of [{}, { timeout: "1 second" }] as const) {
      const tool = Tool.make("pay", {
        ...options,
        ...limits,
        sideEffects: "unsafe",
        success: Schema.String.check(Schema.isMinLength(10)),
        run: () => Effect.succeed("paid")
      })
      const exit = yield* Effect.exit(
        run(agentWith(tool).pipe(heard.listen), "go").pipe(Effect.provide((yield* script()).layer))
      )
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.match(settlements(lastTranscript(heard.end()))[0] ?? "", /^unknown: /)
    }
  })
)

it.run("a call that has failed is settled as unknown, if it is interrupted while it recovers [P602]", (run) =>
  Effect.gen(function* () {
    const heard = eventLog()
    const handler = Recovery.respondWith(() => Effect.as(Effect.sleep("1 hour"), "late"))
    const tool = Tool.make("pay", { ...unsafe, run: () => Effect.fail(busy()) }).pipe(Tool.onError({ Busy: handler }))
    const model = yield* script()
    yield* interruptedAt(5000, run(agentWith(tool).pipe(heard.listen), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(settlements(lastTranscript(heard.end())), [`unknown: ${Message.unknown.text}`])
  })
)

it.run(
  "a fixer may answer in the place of an unsafe tool, and mends its arguments only as acknowledged [A309 P601]",
  (run) =>
    Effect.gen(function* () {
      for (const as of ["result", "arguments"] as const) {
        let runs = 0
        const tool = Tool.make("pay", {
          ...unsafe,
          run: () => Effect.suspend(() => Effect.fail(busy(`run ${++runs}`)))
        })
        const mender = fixer(Effect.succeed(as === "result" ? "paid by hand" : "{}"))
        const agent = agentWith(tool).pipe(Agent.toolDefaults({ orElse: Recovery.fix(mender.agent, { as }) }))
        const model = yield* as === "result" ? script(done) : script()
        const error = yield* ending(run, agent, model)
        assert.strictEqual(runs, 1)
        if (as === "result") assert.deepStrictEqual(read(model), ["result: paid by hand"])
        else {
          assert.deepStrictEqual(tagsOf(asHard(error).attempts), ["Busy"])
          assert.deepStrictEqual(mender.inputs, [])
        }
      }
    })
)
