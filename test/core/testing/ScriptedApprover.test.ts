import { assert, it } from "@effect/vitest"
import { Approval, Tool } from "@kintsugi/core"
import { ScriptedApprover, ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, done, read } from "../../_support/dialogue.ts"

const pay = Tool.make("pay", {
  description: "Pays.",
  parameters: Schema.Struct({ cents: Schema.Int }),
  success: Schema.String,
  run: ({ cents }) => Effect.succeed(`paid ${cents}`)
}).pipe(Tool.requireApproval())

const paid = (cents: number) => ScriptedModel.calls(ScriptedModel.call("pay", { cents }, `c${cents}`))

it.effect("a scripted approver decides in order, after delays in virtual time", () =>
  Effect.gen(function* () {
    const { after, make } = ScriptedApprover
    const model = yield* ScriptedModel.make(paid(1), paid(2), done)
    const approver = yield* make(after("90 seconds", Approval.approve), Approval.refuse("no more"))
    const run = yield* agentWith(pay)("go").pipe(
      Effect.provide(approver.layer),
      Effect.provide(model.layer),
      Effect.forkChild
    )
    yield* TestClock.adjust("89 seconds")
    assert.deepStrictEqual([approver.requests.length, model.requests.length], [1, 1])
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* Fiber.join(run), "done")
    assert.deepStrictEqual(read(model), [
      "result: paid 1",
      "denied: The call of tool 'pay' was denied and not run: no more"
    ])
    assert.deepStrictEqual(
      approver.requests.map(({ arguments: args }) => args),
      [{ cents: 1 }, { cents: 2 }]
    )
  })
)

it.effect("a request beyond the script names its tool, and a decision that no request took fails the test", () =>
  Effect.gen(function* () {
    const beyond = Effect.gen(function* () {
      const model = yield* ScriptedModel.make(paid(1), done)
      const approver = yield* ScriptedApprover.make()
      yield* agentWith(pay)("go").pipe(Effect.provide(approver.layer), Effect.provide(model.layer))
    })
    const first = yield* Effect.exit(Effect.scoped(beyond))
    assert(Exit.isFailure(first))
    assert.include(String(first.cause), "request 1, about tool 'pay', is not in the script of 0 decisions")
    const left = yield* Effect.exit(Effect.scoped(ScriptedApprover.make(Approval.approve)))
    assert(Exit.isFailure(left))
    assert.include(String(left.cause), "only 0 of 1 decisions were asked for")
  })
)

it.effect("a decision that never comes leaves the request open", () =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(paid(1))
    const approver = yield* ScriptedApprover.make(ScriptedApprover.after("never", Approval.approve))
    const run = yield* agentWith(pay)("go").pipe(
      Effect.provide(approver.layer),
      Effect.provide(model.layer),
      Effect.forkChild
    )
    yield* TestClock.adjust("1 minute")
    assert.isUndefined(run.pollUnsafe())
    yield* Fiber.interrupt(run)
  })
)
