/** Plans of Effect as models, and fallbacks as plans: both make the same calls at the same instants, with the same end. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, LlmError, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as ExecutionPlans from "@kintsugi/interop/ExecutionPlans"
import { Clock, Context, Effect, ExecutionPlan, Exit, Fiber, Layer, Schedule, Stream } from "effect"
import { TestClock } from "effect/testing"
import { eventLog } from "../../_support/dialogue.ts"
import { it as both } from "../../_support/run.ts"

const { fails, makeNamed, text } = ScriptedModel

const request: Model.Request = { messages: [], tools: [], toolChoice: "auto" }

const errors = {
  overloaded: LlmError.ModelOverloadedError.make({ model: "m" }),
  server: LlmError.ServerError.make({ model: "m" }),
  key: LlmError.AuthenticationError.make({ model: "m" })
}

/** What a model does at each call, by letters; after the last one it answers. */
type Script = ReadonlyArray<keyof typeof errors>

/** Models that note each call with its instant. */
const playing = (scripts: ReadonlyArray<Script>) => {
  const calls: Array<string> = []
  const models = scripts.map((script, nth) => {
    const name = `m${nth}`
    let made = 0
    const generate = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      calls.push(`${name} at ${now}`)
      const failure = script[made++]
      return failure === undefined
        ? Effect.succeed(ScriptedModel.reply({ content: [{ type: "text", text: name }] }))
        : Effect.fail(errors[failure])
    })
    const parts = Stream.unwrap(Effect.map(generate, (reply) => Stream.fromArray(Model.partsOf(reply))))
    return { name, provider: "test", generate: () => generate, stream: () => parts } satisfies Model.Service
  })
  return { calls, models }
}

/** The calls and the end of something that may wait for hours. */
const outcome = <A, E>(calls: ReadonlyArray<string>, effect: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const running = yield* Effect.forkChild(effect)
    yield* TestClock.adjust("1 day")
    const exit = yield* Fiber.await(running)
    return { calls, end: Exit.match(exit, { onSuccess: String, onFailure: (cause) => String(cause) }) }
  }).pipe(Effect.provide(TestClock.layer()))

const said = Effect.map((reply: { readonly content: ReadonlyArray<object> }) => JSON.stringify(reply.content))

interface Step {
  readonly attempts?: number
  readonly schedule?: Schedule.Schedule<unknown>
  readonly while?: (error: LlmError.LlmError) => boolean | Effect.Effect<boolean, string>
}

/** Kinds of steps: how often, when, and after which errors. */
const kinds: Readonly<Record<string, Step>> = {
  once: {},
  "one attempt": { attempts: 1 },
  "three attempts": { attempts: 3 },
  "by a schedule": { schedule: Schedule.exponential("1 second").pipe(Schedule.upTo({ times: 2 })) },
  "two attempts, spaced": { attempts: 2, schedule: Schedule.spaced("1 minute") },
  "unless the key is wrong": { attempts: 2, while: ({ _tag }) => _tag !== "AuthenticationError" },
  "by an effect": {
    attempts: 2,
    while: ({ _tag }) =>
      Effect.delay(Effect.succeed(_tag === "ServerError" || _tag === "ModelOverloadedError"), "1 second")
  }
}

const scripts: ReadonlyArray<ReadonlyArray<Script>> = [
  [["overloaded", "server"], ["server"], []],
  [["key"], ["overloaded", "overloaded"], ["key", "server"]],
  [
    ["server", "server", "server", "server"],
    ["key", "key", "key"],
    ["overloaded", "key", "server", "server"]
  ]
]

const planOf = (models: ReadonlyArray<Model.Service>, steps: ReadonlyArray<Step>) => {
  const [first, ...others] = models.map((model, nth) => ({ ...steps[nth], provide: Context.make(Model.Model, model) }))
  return ExecutionPlan.make(first!, ...others)
}

const generated = Effect.flatMap(Model.Model, (model) => said(model.generate(request)))

describe("a plan as a model", () => {
  for (const [one, first] of Object.entries(kinds)) {
    for (const [two, second] of Object.entries(kinds)) {
      it.effect(`makes the calls of the plan: ${one}, then ${two} [P1722]`, () =>
        Effect.gen(function* () {
          for (const script of scripts) {
            for (const steps of [
              [first, second, first],
              [second, second, first]
            ]) {
              const plain = playing(script)
              const direct = Effect.withExecutionPlan(generated, planOf(plain.models, steps))
              const expected = yield* outcome(plain.calls, direct)
              const made = playing(script)
              const model = ExecutionPlans.toModel(planOf(made.models, steps))
              const actual = yield* outcome(made.calls, Effect.provide(generated, model))
              assert.deepStrictEqual(actual, expected)
            }
          }
        })
      )
    }
  }

  both.run("books each attempt of a run under the name of its model [P1722]", (run) =>
    Effect.gen(function* () {
      const large = yield* makeNamed("large", fails(errors.overloaded), fails(errors.server))
      const small = yield* makeNamed("small", text("hello"))
      const plan = ExecutionPlan.make(
        { provide: yield* Layer.build(large.layer), attempts: 2 },
        { provide: yield* Layer.build(small.layer) }
      )
      const log = eventLog()
      const clerk = Agent.make("clerk", { model: ExecutionPlans.toModel(plan) }).pipe(log.listen)
      assert.strictEqual(yield* run(clerk, "hi"), "hello")
      const [completed] = log.of("run-completed")
      assert.deepStrictEqual(
        completed?.ledger?.map(({ model, outcome }) => `${model} ${outcome}`),
        ["large failed", "large failed", "small used"]
      )
    })
  )

  it.effect("makes no other attempt after a reader has seen a text [P1722]", () =>
    Effect.gen(function* () {
      const large = yield* makeNamed("large", fails(errors.server, { type: "text-delta", text: "He" }))
      const small = yield* makeNamed("small")
      const plan = ExecutionPlan.make({ provide: large.layer, attempts: 2 }, { provide: small.layer })
      const { stream } = Context.get(yield* Layer.build(ExecutionPlans.toModel(plan)), Model.Model)
      const error = yield* Effect.flip(Stream.runDrain(stream(request)))
      assert.deepInclude(error, { _tag: "ServerError", partial: "He" })
      assert.lengthOf(small.requests, 0)
    })
  )

  it.effect("fails with an UnknownLlmError for an error of the plan itself [P1722]", () =>
    Effect.gen(function* () {
      const { models } = playing([["server"], []])
      const steps = [{}, { while: () => Effect.fail("no quota service") }]
      const model = ExecutionPlans.toModel(planOf(models, steps))
      const error = yield* Effect.flip(Effect.provide(generated, model))
      assert.instanceOf(error, LlmError.UnknownLlmError)
      assert.strictEqual(error.cause, "no quota service")
      assert.deepInclude(error, { model: "m0", provider: "test" })
    })
  )

  it.effect("builds the layer of each step once, with what the program provides [P1722]", () =>
    Effect.gen(function* () {
      const Key = Context.Reference<string>("test/PlanKey", { defaultValue: () => "none" })
      const [model] = playing([["server", "server"]]).models
      const built: Array<string> = []
      const layer = Layer.effect(
        Model.Model,
        Effect.map(Key, (key) => {
          built.push(key)
          return model!
        })
      )
      const plan = ExecutionPlan.make({ provide: layer, attempts: 3 })
      yield* Effect.all([generated, generated]).pipe(
        Effect.provide(ExecutionPlans.toModel(plan)),
        Effect.provideService(Key, "secret")
      )
      assert.deepStrictEqual(built, ["secret"])
    })
  )
})

describe("a fallback as a plan", () => {
  const options = { default: {}, "every error": { when: () => true }, none: { when: () => false } }
  for (const [name, option] of Object.entries(options)) {
    it.effect(`makes the calls of Model.fallback: ${name} [P1722]`, () =>
      Effect.gen(function* () {
        for (const script of [...scripts, [["overloaded"], ["key"], []] as const, [[], [], []]]) {
          const ways = [
            (one: Model.Service, ...others: ReadonlyArray<Model.Service>) =>
              Effect.provideService(generated, Model.Model, Model.fallback(one, ...others, option)),
            (...models: readonly [Model.Service, ...Array<Model.Service>]) =>
              Effect.withExecutionPlan(generated, ExecutionPlans.fromFallback(models, option))
          ]
          const outcomes = yield* Effect.forEach(ways, (way) => {
            const { calls, models } = playing(script)
            const [one, ...others] = models
            return outcome(calls, Effect.mapError(way(one!, ...others), tagOf))
          })
          assert.deepStrictEqual(outcomes[1], outcomes[0])
        }
      })
    )
  }

  it("needs a model [P1722]", () => {
    const none = [] as unknown as readonly [Model.Service]
    const says = "ExecutionPlans.fromFallback: it needs a model"
    assert.throws(() => ExecutionPlans.fromFallback(none), TypeError, says)
  })

  it.effect("goes on after an error whose recovery is another model or another send, and after no other [P1722]", () =>
    Effect.gen(function* () {
      for (const [error, recovery] of [
        [errors.overloaded, "resend"],
        [LlmError.ModelNotFoundError.make({ model: "m" }), "fallback"],
        [errors.key, "escalate"],
        [LlmError.ContextTooLongError.make({ model: "m" }), "shrink"]
      ] as const) {
        assert.strictEqual(error.recovery, recovery)
        const large = yield* makeNamed("large", fails(error))
        const isAdmitted = recovery === "resend" || recovery === "fallback"
        const small = yield* makeNamed("small", ...(isAdmitted ? [text("hello")] : []))
        const plan = ExecutionPlans.fromFallback([large.layer, small.layer])
        yield* Effect.exit(Effect.withExecutionPlan(generated, plan))
        assert.deepStrictEqual([large.requests.length, small.requests.length], [1, isAdmitted ? 1 : 0])
      }
    })
  )

  it.effect("takes layers, and goes on for no error of the program around it [P1722]", () =>
    Effect.gen(function* () {
      const { calls, models } = playing([[], []])
      const layers = models.map((model) => Layer.succeed(Model.Model, model)) as [Layer.Layer<Model.Model>]
      const plan = ExecutionPlans.fromFallback(layers, { when: () => true })
      const program = Effect.andThen(generated, Effect.fail("of the program"))
      assert.strictEqual(yield* Effect.flip(Effect.withExecutionPlan(program, plan)), "of the program")
      assert.deepStrictEqual(calls, ["m0 at 0"])
    })
  )
})

// `Model.fallback` adds the errors of earlier models
const tagOf = ({ _tag }: { readonly _tag: string }): string => _tag
