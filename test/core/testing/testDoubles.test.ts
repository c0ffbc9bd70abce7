import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent, KintsugiError, Message, Model, Skill, Tool } from "@kintsugi/core"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import { RecordedEvents, ScriptedModel } from "@kintsugi/core/testing"
import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
import * as FastCheck from "@kintsugi/core/testing/FastCheck"
import * as fc from "fast-check"
import { Cause, Effect, Exit, Layer, Schema, Stream } from "effect"
import { toParts } from "../../../packages/core/src/testing/ScriptedModel.ts"
import { failing } from "../../../packages/core/src/testing/policyArbitraries.ts"
import { it as runIt } from "../../_support/run.ts"

const agent = Agent.make("worker", { prompt: "Work.", skills: [Skill.make("work", { description: "d" })] })

// --- the scripted model

const checked = (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
  Effect.exit(
    Effect.scoped(Effect.flatMap(ScriptedModel.make(...steps), ({ layer }) => Effect.provide(agent("go"), layer)))
  )

it.effect(
  "a step of the script that no request takes fails the test, and so does a request that is not in it [P1105]",
  () =>
    Effect.gen(function* () {
      assert.isTrue(Exit.isSuccess(yield* checked(ScriptedModel.text("done"))))
      const unused = yield* checked(ScriptedModel.text("done"), ScriptedModel.text("never said"))
      assert(Exit.isFailure(unused))
      assert.include(String(Cause.squash(unused.cause)), "only 1 of 2 steps were asked for")
      const unexpected = yield* checked()
      assert(Exit.isFailure(unexpected) && Cause.hasDies(unexpected.cause))
      const why = String(Cause.squash(unexpected.cause))
      assert.include(why, "request 1 is not in the script of 0 steps; its last message is {")
      assert.include(why, '"role":"user"')
    })
)

// --- no real models

const died = <A, E>(exit: Exit.Exit<A, E>): string => {
  assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
  return String(Cause.squash(exit.cause))
}

runIt.run("under the test layer an agent that was given no model dies, and none is asked [P1106]", (run) =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(Effect.provide(run(agent, "go"), ScriptedModel.noRealModels))
    assert.include(died(exit), "provide a ScriptedModel")
  })
)

runIt.run("under the test layer a model that is reached over a wire dies before anything is sent [P1106]", (run) =>
  Effect.gen(function* () {
    let sent = 0
    const reply = Effect.sync(() => {
      sent++
      return ScriptedModel.reply({ content: [Message.text("costly")] })
    })
    const model: Layer.Layer<Model.Model> = Layer.succeed(Model.Model, {
      name: "gpt-5",
      provider: "real",
      generate: () => Model.leaving("gpt-5", reply),
      stream: () =>
        Stream.unwrap(
          Model.leaving(
            "gpt-5",
            Effect.map(reply, (whole) => Stream.fromIterable(toParts(whole)))
          )
        )
    })
    const own = Agent.make("worker", { prompt: "Work.", model })
    const exit = yield* Effect.exit(Effect.provide(run(own, "go"), ScriptedModel.noRealModels))
    assert.include(died(exit), "A test calls the real model 'gpt-5'")
    assert.strictEqual(sent, 0)
    assert.strictEqual(yield* run(own, "go"), "costly")
  })
)

runIt.run("under the test layer scripted models answer as ever [P1106]", (run) =>
  Effect.gen(function* () {
    const { layer } = yield* ScriptedModel.make(ScriptedModel.text("done"))
    const answer = yield* run(agent, "go").pipe(Effect.provide(layer), Effect.provide(ScriptedModel.noRealModels))
    assert.strictEqual(answer, "done")
  })
)

// --- recorded events

runIt.run("recorded events are those of the whole program, or of one agent, in order [P1105]", (run) =>
  Effect.gen(function* () {
    const all = yield* RecordedEvents.make
    const own = yield* RecordedEvents.make
    const { layer } = yield* ScriptedModel.make(ScriptedModel.text("done"))
    const listening = agent.pipe(Agent.onEvent(own.listener))
    yield* run(listening, "go").pipe(Effect.provide(layer), Effect.provide(all.layer))
    assert.strictEqual(all.types()[0], "run-start")
    assert.strictEqual(all.end(), all.all.at(-1))
    assert.deepStrictEqual(
      all.of("run-completed").map(({ output }) => output),
      ["done"]
    )
    assert.deepStrictEqual(own.all, all.all)
    assert.strictEqual(RecordedEvents.format(all.all[0]!), "0 ms  worker  turn 0  run-start")
  })
)

it("the end of recorded events is that of the outermost run", () => {
  const record = RecordedEvents.makeUnsafe()
  const event = (type: string, parts: object = {}) =>
    ({ type, runId: "r", agent: "a", turn: 1, at: 5, ...parts }) as unknown as AgentEvent.AgentEvent
  const note = (one: AgentEvent.AgentEvent) => Effect.runSync(record.listener(one))
  const child = event("run-completed", { runId: "s", parent: { runId: "r" } })
  note(child)
  assert.isUndefined(record.end())
  const last = event("run-failed")
  for (const one of [last, child]) note(one)
  assert.strictEqual(record.end(), last)
  assert.deepStrictEqual(record.types(), ["run-completed", "run-failed", "run-completed"])
  const called = event("tool-start", { callId: "c1" })
  assert.strictEqual(RecordedEvents.format(called), "5 ms  a  turn 1  tool-start  c1")
})

// --- arbitraries

const transfer = Tool.make("transfer", {
  description: "d",
  parameters: Schema.Struct({ to: Schema.String, amount: Schema.Int, note: Schema.optionalKey(Schema.String) }),
  success: Schema.String,
  run: () => Effect.succeed("fine")
})

it.effect("generated arguments fit their tool, and broken ones never parse [P1105]", () =>
  Effect.gen(function* () {
    yield* FastCheck.check(Arbitraries.toolArguments(transfer), (args) => Tool.call(transfer, args), { runs: 300 })
    yield* FastCheck.check(
      Arbitraries.brokenArguments(transfer),
      (args) => Effect.sync(() => assert.throws(() => JSON.parse(args))),
      { runs: 300 }
    )
  })
)

it("a step that fails shrinks to one without a hint, where hints do not matter [P1105]", () => {
  for (let seed = 0; seed < 20; seed++) {
    const { counterexample } = fc.check(
      fc.property(FastCheck.fromEffect(failing(["Busy"])), ({ takes }) => takes < 10),
      { seed, numRuns: 1000 }
    )
    assert.deepStrictEqual(counterexample, [{ does: "fail", takes: 10, tag: "Busy" }])
  }
})

it.effect("generated transcripts survive JSON, and so do errors of every class [P1105 P401]", () =>
  Effect.gen(function* () {
    const transcripts = Schema.toCodecJson(Message.Transcript)
    yield* FastCheck.check(
      Arbitraries.transcript,
      (transcript) =>
        Effect.sync(() => {
          const json = JSON.stringify(Schema.encodeSync(transcripts)(transcript))
          const back = Schema.encodeSync(transcripts)(Schema.decodeUnknownSync(transcripts)(JSON.parse(json)))
          assert.strictEqual(JSON.stringify(back), json)
        }),
      { runs: 100 }
    )
    const seen = new Set<string>()
    yield* FastCheck.check(
      Arbitraries.error,
      (error) =>
        Effect.sync(() => {
          assert.isTrue(KintsugiError.isKintsugiError(error))
          seen.add(error._tag)
        }),
      { runs: 500, seed: 1 }
    )
    assert.sameMembers([...seen], [...RecoveryAdvice.tags])
    assert.throws(() => Arbitraries.errorOf("Nothing" as KintsugiError.KintsugiError["_tag"]))
  })
)
