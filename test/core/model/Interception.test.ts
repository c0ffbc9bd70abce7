import { assert } from "@effect/vitest"
import { Agent, LlmError, Model, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, busy, callingOnce, done, read, scripted } from "../../_support/dialogue.ts"

type Verify = (idempotencyKey: string) => Effect.Effect<Option.Option<string>>

/** Who stands in the way of steps, and lets all of them through. */
const through: Interception.Interceptor = { intercept: (_, self) => self }

const intercepted =
  (interceptor: Partial<Interception.Interceptor>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(self, Interception.Current, { ...through, ...interceptor })

it.run("the interceptor waits before another attempt, for a model and for a tool [P1112]", (run) =>
  Effect.gen(function* () {
    const waits: Array<number> = []
    const wait = (delay: Duration.Duration) => Effect.sync(() => void waits.push(Duration.toMillis(delay)))
    const model = yield* ScriptedModel.make(
      ScriptedModel.fails(LlmError.ModelOverloadedError.make({ model: "scripted" })),
      batch("look"),
      done
    )
    const look = scripted("look", Effect.fail(busy()), Effect.succeed("seen"))
    const agent = agentWith(
      look.tool.pipe(Tool.onError({ Busy: Recovery.retry({ maxAttempts: 2, initialBackoff: "3 seconds" }) }))
    ).pipe(Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ maxAttempts: 2, initialBackoff: "5 seconds" }) }))
    // nothing moves the clock
    const answer = yield* run(agent, "go").pipe(intercepted({ wait }), Effect.provide(model.layer))
    assert.strictEqual(answer, "done")
    assert.deepStrictEqual(waits, [5000, 3000])
  })
)

it.run("each member of a model that is made of others is a step, and an entry of the ledger [P1112]", (run) =>
  Effect.gen(function* () {
    const failing: Model.Service = {
      name: "first",
      provider: "a",
      generate: () => Effect.fail(LlmError.ModelOverloadedError.make({ model: "first" })),
      stream: () => Stream.fail(LlmError.ModelOverloadedError.make({ model: "first" }))
    }
    const second = yield* ScriptedModel.make(done)
    const asked: Array<string> = []
    const booked: Array<string> = []
    const agent = agentWith().pipe(
      Agent.onEvent((event) =>
        Effect.sync(() => {
          if (event.type === "run-completed") booked.push(...event.ledger.map(({ model }) => model))
        })
      )
    )
    const layer = Model.fallback(Layer.succeed(Model.Model, failing), second.layer)
    const intercept: Interception.Interceptor["intercept"] = (step, self) => {
      if (step.type === "model call") asked.push(step.model)
      return self
    }
    yield* run(agent, "go").pipe(intercepted({ intercept }), Effect.provide(layer))
    assert.deepStrictEqual(asked, ["first", "scripted"])
    assert.deepStrictEqual(booked, ["first", "scripted"])
  })
)

it.run(
  "the interceptor gets the key of a call that waited for others before it begins, and of no other call [P1112]",
  (run) =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const turn = (key: string) => Effect.sync(() => void order.push(`turn ${key.split("/").slice(1).join("/")}`))
      const intercept: Interception.Interceptor["intercept"] = (step, self) => {
        if (step.type === "tool attempt") order.push(step.tool)
        return self
      }
      const model = yield* callingOnce("a", "b", "c")
      const tools = ["a", "b", "c"].map((name) => scripted(name, Effect.succeed("ok")).tool)
      const agent = Agent.make("worker", {
        budget: { toolConcurrency: 1 },
        skills: [Skill.make("work", { description: "Works.", tools })]
      })
      yield* run(agent, "go").pipe(intercepted({ intercept, beforeCall: turn }), Effect.provide(model.layer))
      assert.deepStrictEqual(order, ["a", "turn 1/1", "b", "turn 1/2", "c"])
    })
)

it.run(
  "an effect within a call knows the key of the call, and a child knows in which call it was started [P1112]",
  (run) =>
    Effect.gen(function* () {
      const keys: Array<string> = []
      const look = Effect.map(RunContext.Current, (current) => {
        keys.push(`${current?.agent}: ${current?.callKey === undefined ? "no" : "a"} key, ${current?.parentCallKey}`)
        return "seen"
      })
      const inner = Agent.deterministic("inner", (_input: string) => look)
      const model = yield* ScriptedModel.make(
        ScriptedModel.calls(ScriptedModel.call("plain", {}), ScriptedModel.call("inner", { input: "look" })),
        done
      )
      const agent = agentWith(scripted("plain", look).tool, Agent.asTool(inner, { description: "Looks." }))
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.strictEqual(keys[0], "worker: a key, undefined")
      assert.match(keys[1] ?? "", /^inner: no key, run-\w+\/1\/1$/)
    })
)

const Pay = {
  description: "Pays.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  sideEffects: "unsafe"
} as const

/** As if the first attempt had begun elsewhere. */
const losing = () => {
  let attempts = 0
  const intercept: Interception.Interceptor["intercept"] = (step, self) =>
    step.type === "tool attempt" && ++attempts === 1 ? Effect.fail(new Interception.Lost()) : self
  return intercepted({ intercept })
}

it.run("a lost attempt is looked up: it is found, it runs, or its outcome is unknown [P1112]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const pay = (verify?: Verify) =>
      Tool.make("pay", {
        ...Pay,
        ...(verify === undefined ? {} : { verify }),
        run: () => Effect.sync(() => `paid ${++runs}`)
      })
    const read1 = (verify: Verify) =>
      Effect.gen(function* () {
        const model = yield* callingOnce("pay")
        yield* run(agentWith(pay(verify)), "go").pipe(losing(), Effect.provide(model.layer))
        return read(model)
      })
    assert.deepStrictEqual(yield* read1(() => Effect.succeed(Option.some("found"))), ["result: found"])
    assert.strictEqual(runs, 0)
    assert.deepStrictEqual(yield* read1(() => Effect.succeed(Option.none())), ["result: paid 1"])
    const unknown = yield* Effect.scoped(
      Effect.gen(function* () {
        const model = yield* ScriptedModel.make(batch("pay"))
        return yield* Effect.flip(run(agentWith(pay()), "go").pipe(losing(), Effect.provide(model.layer)))
      })
    )
    assert.instanceOf(unknown, ToolError.OutcomeUnknownError)
    assert.strictEqual(runs, 1)
  })
)

it.run("a step of a model says whether its reply is streamed [P1112]", (run) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(done)
    const steps: Array<boolean> = []
    const intercept: Interception.Interceptor["intercept"] = (step, self) => {
      if (step.type === "model call") steps.push(step.isStreamed)
      return self
    }
    yield* run(agentWith(), "go").pipe(intercepted({ intercept }), Effect.provide(model.layer))
    assert.deepStrictEqual(steps, [run.isStreamed])
  })
)

it.run(
  "the interceptor gives calls of a reply another tool and other arguments, and the transcript keeps them [P1112]",
  (run) =>
    Effect.gen(function* () {
      const [look, find] = [scripted("look", Effect.succeed("seen")), scripted("find", Effect.succeed("found"))]
      const model = yield* callingOnce("look", "look")
      const migrated: Interception.Interceptor["migrated"] = (_, calls) =>
        Effect.succeed(
          calls.map(({ id }) => (id === "c2" ? { name: "find", arguments: { n: 7 }, numbers: [] } : undefined))
        )
      yield* run(agentWith(look.tool, find.tool), "go").pipe(intercepted({ migrated }), Effect.provide(model.layer))
      assert.deepStrictEqual(
        [look, find].map(({ runs }) => runs.map(({ params }) => params)),
        [[{}], [{ n: 7 }]]
      )
      assert.deepStrictEqual(read(model), ["result: seen", "result: found"])
      const reply = model.requests[1]?.messages.at(-1)
      assert(reply?.role === "assistant")
      assert.deepStrictEqual(
        reply.content.map((part) => part.type === "settled-call" && part.call.name),
        ["look", "look"]
      )
    })
)

it.run("the key of such a call has the digits of numbers that the earlier tool took as texts [P1112 P1502]", (run) =>
  Effect.gen(function* () {
    const keyOf = (written: string, numbers: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const find = scripted("find", Effect.succeed("found"))
        const { call, calls, make } = ScriptedModel
        const model = yield* make(calls(call("look", `{"n":${written}}`)), done)
        const migrated: Interception.Interceptor["migrated"] = () =>
          Effect.succeed([{ name: "find", arguments: { n: 5 }, numbers }])
        const agent = agentWith(find.tool).pipe(Agent.withRunId("order-7"))
        yield* run(agent, "go").pipe(intercepted({ migrated }), Effect.provide(model.layer))
        return find.runs[0]?.context.idempotencyKey
      })
    const plain = yield* keyOf("5", [])
    assert.isString(plain)
    assert.strictEqual(yield* keyOf("5.0", []), plain)
    assert.notStrictEqual(yield* keyOf("5.0", ["5.0"]), plain)
  })
)
