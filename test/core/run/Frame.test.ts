/** What a run has of the run that started it: the seed of its keys, whether it is apart from it, and whether its text is asked for. */
import { assert, it } from "@effect/vitest"
import { Agent, Skill, Tool } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"

const { call, calls, make, text } = ScriptedModel

/** An agent that notes the run in which its function works. */
const noting = () => {
  const runs: Array<RunContext.RunContext> = []
  const inner = Agent.deterministic("inner", (said: string) =>
    Effect.map(RunContext.Current, (run) => {
      if (run !== undefined) runs.push(run)
      return said
    })
  )
  return { inner, runs }
}

/** The seeds of the runs, with `key` in the place of the keys of calls. */
const seeds = (runs: ReadonlyArray<RunContext.RunContext>) =>
  runs.map(({ isApart, seed }) => [seed.replace(/^[0-9a-f]{32}-0/, "key"), isApart])

it.effect(
  "a run that a function starts has the seed that its caller gives, or its number, and is not apart [P1502 P1515]",
  () =>
    Effect.gen(function* () {
      const { inner, runs } = noting()
      const outer = Agent.make("outer", {
        skills: [
          Skill.deterministic("work", {
            description: "Works.",
            run: (said: string) =>
              inner(said).pipe(
                Effect.andThen(inner(said)),
                Effect.andThen(inner.pipe(Agent.withRunId("order-8"))(said))
              )
          })
        ]
      }).pipe(Agent.withRunId("order-7"))
      yield* outer("go")
      assert.deepStrictEqual(seeds(runs), [
        ['order-7\n0 "inner" 0', false],
        ['order-7\n0 "inner" 1', false],
        ["order-8", false]
      ])
    })
)

it.effect("an agent that is a tool has the seed of its call, and one that a tool starts is apart [P1502 P1515]", () =>
  Effect.gen(function* () {
    const { inner, runs } = noting()
    const starting = Tool.make("start", {
      description: "Starts it.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.andThen(inner("a"), inner.pipe(Agent.withRunId("order-8"))("b"))
    })
    const outer = Agent.make("outer", { tools: [Agent.asTool(inner, { description: "Is one." }), starting] })
    const model = yield* make(calls(call("inner", { input: "x" }, "c1")), calls(call("start", {}, "c2")), text("done"))
    yield* outer.pipe(Agent.withRunId("order-7"))("go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(seeds(runs), [
      ["key\nagent", false],
      ['key\nundefined "inner" 0', true],
      ["key\nrun order-8", true]
    ])
  })
)

it.effect("the text of a run is asked for by what stands in its way, and of a child run by its parent [P1112]", () =>
  Effect.gen(function* () {
    for (const isStreamed of [true, false]) {
      const { inner, runs } = noting()
      const outer = Agent.deterministic("outer", inner)
      const interceptor: Interception.Interceptor = { intercept: (_, self) => self, isStreamed }
      yield* Effect.provideService(inner("go"), Interception.Current, interceptor)
      yield* Effect.provideService(outer("go"), Interception.Current, interceptor)
      assert.deepStrictEqual(
        runs.map((run) => run.isStreamed),
        [isStreamed, isStreamed]
      )
    }
  })
)
