/** A model whose function calls others. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Context, Effect, Exit, Layer, Stream } from "effect"
import { eventLog } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { answers, fails, makeNamed, text } = ScriptedModel

const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })

/** A scripted model, and its service. */
const named = (name: string, ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
  Effect.gen(function* () {
    const scripted = yield* makeNamed(name, ...steps)
    return { ...scripted, model: Context.get(yield* Layer.build(scripted.layer), Model.Model) }
  })

const clerkWith = (model: Model.Service) => {
  const log = eventLog()
  const clerk = Agent.make("clerk", { model: Layer.succeed(Model.Model, model) }).pipe(log.listen)
  const booked = () => log.of("run-completed")[0]?.ledger?.map(({ model, outcome }) => `${model} ${outcome}`)
  return { clerk, booked }
}

it.run("the function decides which models are called, and each attempt is booked under its model [P1322]", (run) =>
  Effect.gen(function* () {
    const [one, two] = [yield* named("one", fails(overloaded), fails(overloaded)), yield* named("two", text("hi"))]
    const model = Model.compose([one.model, two.model], (ask) =>
      ask(one.model).pipe(
        Effect.retry({ times: 1 }),
        Effect.catch(() => ask(two.model))
      )
    )
    assert.deepInclude(model, { name: "one or two", provider: one.model.provider })
    const { booked, clerk } = clerkWith(model)
    assert.strictEqual(yield* run(clerk, "go"), "hi")
    assert.deepStrictEqual(booked(), ["one failed", "one failed", "two used"])
  })
)

it.run("two attempts at once are a defect, because a run books one after the other [P1322]", (run) =>
  Effect.gen(function* () {
    const one = yield* named(
      "one",
      answers(() => Effect.never)
    )
    const two = yield* named("two")
    const { clerk } = clerkWith(
      Model.compose([one.model, two.model], (ask) =>
        Effect.map(Effect.all([ask(one.model), ask(two.model)], { concurrency: 2 }), ([first]) => first)
      )
    )
    const exit = yield* Effect.exit(run(clerk, "go"))
    assert.include(String(exit), "two attempts at once")
    assert.lengthOf(two.requests, 0)
  })
)

it.effect("after the first text of a stream the function sees no failure [P1322]", () =>
  Effect.gen(function* () {
    const one = yield* named("one", fails(overloaded, { type: "text-delta", text: "He" }))
    const two = yield* named("two")
    const model = Model.compose([one.model, two.model], (ask) =>
      ask(one.model).pipe(Effect.catch(() => ask(two.model)))
    )
    const { clerk } = clerkWith(model)
    const error = yield* Effect.flip(Stream.runDrain(clerk.stream("go")))
    assert.deepInclude(error, { _tag: "ModelOverloadedError", partial: "He" })
    assert.lengthOf(two.requests, 0)
  })
)

it.run("a function that gives no effect is a defect that names it [P1395]", (run) =>
  Effect.gen(function* () {
    const { model } = yield* named("one")
    // cast: what JavaScript may return
    const { clerk } = clerkWith(Model.compose([model], () => "one" as never))
    const exit = yield* Effect.exit(run(clerk, "go"))
    assert.isTrue(Exit.isFailure(exit))
    assert.include(String(exit), "The function of Model.compose")
  })
)

it("a composed model has the names of its members and their providers, each once [P1322]", () => {
  const member = (name: string, provider: string): Model.Service => ({
    name,
    provider,
    generate: () => Effect.die("is not asked"),
    stream: () => Stream.die("is not asked")
  })
  const members = [member("one", "here"), member("two", "there"), member("one", "there")] as const
  assert.deepInclude(
    Model.compose(members, (ask) => ask(members[0])),
    { name: "one or two", provider: "here or there" }
  )
})
