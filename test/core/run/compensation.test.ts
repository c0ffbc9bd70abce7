import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, LlmError, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Context, Data, Effect, Exit, Option, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  done,
  eventLog,
  gone,
  interruptedAt,
  isTerminal,
  lastTranscript,
  overADay,
  settlements
} from "../../_support/dialogue.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import type { Undoable } from "../../../packages/core/src/tool/Undoable.ts"

class Stuck extends Data.TaggedError("Stuck")<{ readonly message: string }> {}

/** Tools that can be undone, and what was undone, in order. */
const undoables = () => {
  const undone: Array<string> = []
  const book = <const Name extends string>(name: Name, millis = 0) =>
    Tool.make(name, {
      description: `Books ${name}.`,
      parameters: Schema.Struct({ n: Schema.optionalKey(Schema.Finite) }),
      success: Schema.String,
      run: ({ n = 0 }) => Effect.delay(Effect.succeed(`${name} ${n}`), millis)
    })
  const undoing = <P, A, E, R, T, S, const Name extends string>(tool: Tool.Tool<Name, P, A, E, R, T, S>) =>
    tool.pipe(
      Tool.compensate(({ params, result }: Undoable<P, A>) =>
        Effect.sync(() => void undone.push(`${JSON.stringify(params)} -> ${String(result)}`))
      )
    )
  const booking = <const Name extends string>(name: Name, millis?: number) => undoing(book(name, millis))
  return { undone, book, booking, undoing }
}

const failing = Tool.make("fail", {
  description: "Fails.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.fail(gone())
})

const compensated = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.flatMap((event) => (event.type === "tool-compensated" ? [event] : []))

const skillOf = <const T extends Tool.AnyTool>(tool: T) => Skill.make("work", { description: "Works.", tools: [tool] })

it.run("a run that fails undoes what it has done, the last thing first, and fails as it would have [P1120]", (run) =>
  Effect.gen(function* () {
    const { booking, undone } = undoables()
    const log = eventLog()
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("car", { n: 1 })),
      ScriptedModel.calls(ScriptedModel.call("car", { n: 2 })),
      batch("room"),
      batch("fail")
    )
    const agent = agentWith(booking("car"), booking("room"), failing).pipe(log.listen)
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual((error as { readonly _tag: string })._tag, "Gone")
    assert.deepStrictEqual(undone, ["{} -> room 0", '{"n":2} -> car 2', '{"n":1} -> car 1'])
    const events = log.all
    assert.deepStrictEqual(
      compensated(events).map(({ error, tool }) => [tool, error]),
      [
        ["room", undefined],
        ["car", undefined],
        ["car", undefined]
      ]
    )
    assert.strictEqual(new Set(compensated(events).map(({ key }) => key)).size, 3)
    // told before the end, of which the transcript still tells what was done
    assert.strictEqual(events.at(-1)?.type, "run-failed")
    assert.deepStrictEqual(settlements(lastTranscript(events.at(-1))).slice(0, 2), ["result: car 1", "result: car 2"])
  })
)

it.run("of calls at once that is undone first which was done last [P1120]", (run) =>
  Effect.gen(function* () {
    const { booking, undone } = undoables()
    const model = yield* ScriptedModel.make(batch("slow", "fast"), batch("fail"))
    const agent = agentWith(booking("slow", 2000), booking("fast", 1000), failing)
    yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(undone, ["{} -> slow 0", "{} -> fast 0"])
  })
)

it.run("a run that succeeds, dies or is interrupted undoes nothing [P1120]", (run) =>
  Effect.gen(function* () {
    const { booking, undone } = undoables()
    const dying = Tool.make("die", {
      description: "Dies.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.die(new Error("a bug"))
    })
    const agent = agentWith(booking("car"), booking("slow", 60_000), dying)
    const model = yield* ScriptedModel.make(batch("car"), done, batch("car"), batch("die"), batch("car"), batch("slow"))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    const died = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.isTrue(Exit.isFailure(died) && Cause.hasDies(died.cause))
    yield* interruptedAt(1000, run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(undone, [])
  })
)

it.run("what had not succeeded, or a row has answered, is not undone; what was found to be done is [P1120]", (run) =>
  Effect.gen(function* () {
    const { undoing, undone } = undoables()
    const about = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String } as const
    const answered = undoing(Tool.make("answered", { ...about, run: () => Effect.fail(gone()) })).pipe(
      Tool.onError({ Gone: Recovery.respondWith("made up") })
    )
    const found = undoing(
      Tool.make("found", {
        ...about,
        sideEffects: "unsafe",
        timeout: 1000,
        verify: () => Effect.succeed(Option.some("it was")),
        run: () => Effect.never
      })
    )
    const model = yield* ScriptedModel.make(batch("answered"), batch("found"), batch("fail"))
    yield* overADay(run(agentWith(answered, found, failing), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(undone, ["{} -> it was"])
  })
)

it.run("a sub-agent that fails undoes its own; where it succeeded, its parent does, each once [P1120]", (run) =>
  Effect.gen(function* () {
    const { booking, undone } = undoables()
    const inner = (name: "good" | "bad", ...last: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
      Effect.map(ScriptedModel.make(batch(`${name}-car`), ...last), (model) =>
        Agent.make(name, {
          model: model.layer,
          skills: [Skill.make("work", { description: "Works.", tools: [booking(`${name}-car`), failing] })]
        })
      )
    const [good, bad] = [yield* inner("good", done), yield* inner("bad", batch("fail"))]
    const seen: Array<number> = []
    const looking = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.sync(() => `${seen.push(undone.length)}`)
    })
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("good", { input: "go" })),
      ScriptedModel.calls(ScriptedModel.call("bad", { input: "go" })),
      batch("look"),
      batch("car"),
      batch("fail")
    )
    const tools = [
      Agent.asTool(good, { description: "Works." }),
      Agent.asTool(bad, { description: "Works." }).pipe(Tool.onError({ orElse: Recovery.tell() })),
      looking,
      booking("car"),
      failing
    ] as const
    const agent = Agent.make("worker", {
      budget: { maxTurns: 20 },
      skills: [Skill.make("work", { description: "Works.", tools })]
    })
    const error: unknown = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual((error as { readonly _tag: string })._tag, "Gone")
    // when its failure is told, what it had done is undone
    assert.deepStrictEqual(seen, [1])
    assert.deepStrictEqual(undone, ["{} -> bad-car 0", "{} -> car 0", "{} -> good-car 0"])
  })
)

it.run("in a fallback, the failed agent undoes its own calls before the next begins [P1120]", (run) =>
  Effect.gen(function* () {
    const { booking, undone } = undoables()
    const seen: Array<number> = []
    const first = yield* ScriptedModel.make(
      batch("car"),
      ScriptedModel.fails(LlmError.ModelOverloadedError.make({ model: "scripted" }))
    )
    const one = Agent.make("one", { model: first.layer, skills: [skillOf(booking("car"))] })
    const two = Agent.deterministic("two", (said: string) => Effect.sync(() => `${said} ${seen.push(undone.length)}`))
    assert.strictEqual(yield* run(Agent.fallback(one, two), "go"), "go 1")
    assert.deepStrictEqual(seen, [1])
    // in a row, the run around them undoes what the first has done, once the second has failed
    const second = yield* ScriptedModel.make(batch("car"), done)
    const both = Agent.andThen(
      Agent.make("one", { model: second.layer, skills: [skillOf(booking("car"))] }),
      Agent.deterministic("two", (said: string) => Effect.fail(gone(said)))
    )
    yield* Effect.flip(run(both, "go"))
    assert.strictEqual(undone.length, 2)
  })
)

it.run("a failed compensation is an event, the rest is undone, and the run fails as it would have [P1120]", (run) =>
  Effect.gen(function* () {
    const { book, booking, undone } = undoables()
    const log = eventLog()
    const stuck = book("stuck").pipe(Tool.compensate(() => Effect.fail(new Stuck({ message: "no way back" }))))
    const model = yield* ScriptedModel.make(batch("car"), batch("stuck"), batch("room"), batch("fail"))
    const agent = agentWith(booking("car"), stuck, booking("room"), failing).pipe(log.listen)
    const error: unknown = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual((error as { readonly _tag: string })._tag, "Gone")
    assert.deepStrictEqual(undone, ["{} -> room 0", "{} -> car 0"])
    const [, second] = compensated(log.all)
    assert.strictEqual(second?.tool, "stuck")
    assert.instanceOf(second?.error, Stuck)
  })
)

it.run(
  "a compensation that dies, or returns no effect, changes no failure, and the rest is undone [P1120 P1395]",
  (run) =>
    Effect.gen(function* () {
      const bug = new Error("a bug")
      for (const [name, undo, said] of [
        ["dying", () => Effect.die(bug), "a bug"],
        ["throwing", () => assert.fail("thrown"), "thrown"],
        // JavaScript lets a plain function pass
        [
          "plain",
          () => undefined as unknown as Effect.Effect<void>,
          "The compensation of tool 'plain' returned undefined, not an Effect"
        ]
      ] as const) {
        const { book, booking, undone } = undoables()
        const log = eventLog()
        const model = yield* ScriptedModel.make(batch("car"), batch(name), batch("room"), batch("fail"))
        const broken = book(name).pipe(Tool.compensate(undo))
        const agent = agentWith(booking("car"), broken, booking("room"), failing).pipe(log.listen)
        const error: unknown = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
        assert.strictEqual((error as { readonly _tag: string })._tag, "Gone")
        assert.deepStrictEqual(undone, ["{} -> room 0", "{} -> car 0"])
        const failures = compensated(log.all).map(({ error, tool }) => [
          tool,
          error instanceof Error ? error.message : error
        ])
        assert.deepStrictEqual(failures, [
          ["room", undefined],
          [name, said],
          ["car", undefined]
        ])
        const ends = log.all.filter(isTerminal)
        assert.deepStrictEqual(
          ends.map((end) => end.type === "run-failed" && end.error === error && !end.isDefect),
          [true]
        )
        assert.strictEqual(log.all.at(-1), ends[0])
      }
    })
)

class Office extends Context.Service<Office, { readonly cancel: (what: string) => Effect.Effect<void> }>()("Office") {}

it.run("what undoes has the services of its tool, and the end of the budget is a failure too [P1120]", (run) =>
  Effect.gen(function* () {
    const { book } = undoables()
    const cancelled: Array<string> = []
    const car = book("car").pipe(
      Tool.compensate(({ result }) => Effect.flatMap(Office, ({ cancel }) => cancel(result)))
    )
    const model = yield* ScriptedModel.make(batch("car"))
    const agent = Agent.make("worker", { budget: { maxTurns: 1 }, skills: [skillOf(car)] })
    const office = { cancel: (what: string) => Effect.sync(() => void cancelled.push(what)) }
    const error = yield* Effect.flip(
      run(agent, "go").pipe(Effect.provide(model.layer), Effect.provideService(Office, office))
    )
    assert.strictEqual(error._tag, "BudgetExceededError")
    assert.deepStrictEqual(cancelled, ["car 0"])
  })
)

it.effect("a suspended run undoes nothing; a resumed run undoes what it has done since [P1120]", () =>
  Effect.gen(function* () {
    const { booking, undone } = undoables()
    const model = yield* ScriptedModel.make(batch("car"), batch("room"), batch("fail"))
    const agent = agentWith(booking("car"), booking("room").pipe(Tool.requireApproval()), failing)
    const first = yield* outcomeOf(agent, "go", model)
    assert.deepStrictEqual(undone, [])
    const from = deciding(yield* snapshotOf(first))
    yield* outcomeOf(Agent.resume(agent), from, model).pipe(Effect.exit)
    assert.deepStrictEqual(undone, ["{} -> room 0"])
  })
)

it.run("where a limit of the parent was reached, the parent undoes what its children did [P1120]", (run) =>
  Effect.gen(function* () {
    const { booking, undone } = undoables()
    const log = eventLog()
    const innerModel = yield* ScriptedModel.make(batch("car"))
    const inner = Agent.make("inner", { model: innerModel.layer, skills: [skillOf(booking("car"))] })
    const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("inner", { input: "go" })))
    const agent = Agent.make("worker", {
      budget: { maxTurns: 2 },
      skills: [skillOf(Agent.asTool(inner, { description: "Works." }).pipe(Tool.onError({ orElse: Recovery.tell() })))]
    }).pipe(log.listen)
    const error: unknown = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual((error as { readonly _tag: string })._tag, "BudgetExceededError")
    assert.deepStrictEqual(undone, ["{} -> car 0"])
    assert.deepStrictEqual(
      compensated(log.all).map(({ agent }) => agent),
      ["worker"]
    )
  })
)
