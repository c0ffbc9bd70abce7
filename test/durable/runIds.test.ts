/** The keys of durable runs: over replays, and over runs to which the caller has given one id. */
import { assert, it } from "@effect/vitest"
import { Agent, LlmError, Message, Model, Recovery, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, type Layer, Schema } from "effect"
import { type Death, process, watched } from "./_support/engines.ts"
import { surviving } from "./_support/playing.ts"
import { call, reading } from "./_support/readingModel.ts"

/** A till that pays nothing twice under one key. It does not die with a process. */
const till = () => {
  const keys: Array<string> = []
  const paid = new Map<string, number>()
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Finite }),
    success: Schema.String,
    sideEffects: "idempotent",
    run: ({ cents }, { idempotencyKey }) =>
      Effect.sync(() => {
        keys.push(idempotencyKey)
        paid.set(idempotencyKey, cents)
        return "paid"
      })
  })
  return { keys, paid, pay }
}

/** Pays 5 cents in two calls of one reply. The first requests after that fail, as many as `failures`; the next ones are answered. */
const payer = (failures: number): Layer.Layer<Model.Model> => {
  let left = failures
  const { layer } = reading(
    "payer",
    (turn) => (turn === 0 ? [call("pay", { cents: 5 }), call("pay", '{ "cents": 5 }')] : [Message.text("done")]),
    (turn) => (turn > 0 && left-- > 0 ? Effect.die(overloaded) : Effect.void)
  )
  return Model.around(layer, (attempt) =>
    Effect.catchDefect(attempt, (defect) => (defect === overloaded ? Effect.fail(overloaded) : Effect.die(defect)))
  )
}

const overloaded = LlmError.ModelOverloadedError.make({ model: "payer" })

const schemas = { input: Schema.String, output: Schema.String }

// Finds out nothing of its own: its subject is how core derives the keys of calls from a run id
it.effect(
  "a second execution with the same run id derives the same keys: each of its calls is paid once [P1357 P1502]",
  () =>
    Effect.gen(function* () {
      for (const [given, paid] of [
        [true, 2],
        [false, 4]
      ] as const) {
        const bank = till()
        const clerk = Agent.make("clerk", { model: payer(1), tools: [bank.pay] })
        const agent = given ? clerk.pipe(Agent.withRunId((order) => `order-${order}`)) : clerk
        const durable = Durable.workflow(agent, { name: "clerk", ...schemas })
        const engine = yield* watched(true)
        let tries = 0
        const execute = Effect.suspend(() => durable.workflow.execute({ id: `order-17/${tries++}`, input: "17" }))
        const answer = yield* Effect.gen(function* () {
          yield* process(durable.layer)
          return yield* Effect.retry(execute, { times: 1 })
        }).pipe(Effect.provide(engine.layer))
        assert.strictEqual(answer, "done")
        assert.strictEqual(bank.keys.length, 4)
        assert.strictEqual(bank.paid.size, paid)
      }
    })
)

/** An agent whose run tries another one twice, under one run id. */
const desk = (failures: number, pay: ReturnType<typeof till>["pay"]) => {
  // time goes on while there is no process
  const budget = { maxDuration: "2 days" } as const
  const clerk = Agent.make("clerk", { model: payer(failures), tools: [pay], budget }).pipe(Agent.withRunId("order-17"))
  return Agent.deterministic("desk", (order: string) => Effect.retry(clerk(order), { times: 1 }))
}

// Finds out nothing of its own: its subject is how core derives the keys of calls, after a death at each step
it.effect("a retry within an execution pays each call once, wherever its process dies [P1357 P1502]", () =>
  Effect.gen(function* () {
    const play = (death: Death | undefined) => {
      const bank = till()
      const durable = Durable.workflow(desk(1, bank.pay), { name: "desk", ...schemas })
      return Effect.map(surviving(durable, durable.layer, death), (played) => ({ ...played, bank }))
    }
    const { engine } = yield* play(undefined)
    assert.isAbove(engine.started(), 6)
    for (let at = 1; at <= engine.started(); at++) {
      for (const when of ["before", "after"] as const) {
        const { bank, exit, hasDied } = yield* play({ at, when })
        assert.isTrue(hasDied)
        assert.deepStrictEqual(exit, Exit.succeed("done"))
        assert.strictEqual(bank.paid.size, 2)
      }
    }
  })
)

it.effect("what two runs with one id have done in one execution is undone for each of them [P1357 P1502]", () =>
  Effect.gen(function* () {
    const bank = till()
    const undone: Array<string> = []
    const undoing = bank.pay.pipe(Tool.compensate(({ callId }) => Effect.sync(() => void undone.push(callId))))
    const durable = Durable.workflow(desk(2, undoing), { name: "desk", ...schemas })
    const { exit } = yield* surviving(durable, durable.layer, undefined)
    assert.isTrue(Exit.isFailure(exit))
    assert.strictEqual(bank.keys.length, 4)
    assert.strictEqual(bank.paid.size, 2)
    assert.strictEqual(undone.length, 4)
  })
)

// Finds out nothing of its own: its subject is how core derives the keys of calls of a sub-agent
it.effect("the calls of two attempts of a sub-agent have one key, and a record each [P1502]", () =>
  Effect.gen(function* () {
    const bank = till()
    const clerk = Agent.make("clerk", { model: payer(1), tools: [bank.pay] })
    const asTool = Agent.asTool(clerk, { description: "Pays." }).pipe(
      Tool.onError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) })
    )
    const outer = reading("outer", (turn) =>
      turn === 0 ? [call("clerk", { input: "go" })] : [Message.text("all done")]
    )
    const boss = Agent.make("boss", { model: outer.layer, tools: [asTool] })
    const durable = Durable.workflow(boss, { name: "boss", ...schemas })
    const { exit } = yield* surviving(durable, durable.layer, undefined)
    assert.deepStrictEqual(exit, Exit.succeed("all done"))
    assert.strictEqual(bank.keys.length, 4)
    assert.strictEqual(bank.paid.size, 2)
  })
)
