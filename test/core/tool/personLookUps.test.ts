/** A person as a rung for tools with `verify`: what is looked up before the person is asked, and what that ends. */
import { assert } from "@effect/vitest"
import { Approval, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedApprover, ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Option, Schema } from "effect"
import { agentWith, done, eventLog, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { call, calls, make } = ScriptedModel

class Locked extends Data.TaggedError("Locked")<{ readonly message: string }> {}

const approved = Approval.approve

/** An unsafe tool with `verify`, which fails at its first run. */
const paying = (
  verify: Effect.Effect<Option.Option<string>, string>,
  sideEffects: "unsafe" | "idempotent" = "unsafe"
) => {
  const runs: Array<string> = []
  const tool = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects,
    verify: () => verify,
    run: (_, { idempotencyKey }) =>
      runs.push(idempotencyKey) > 1 ? Effect.succeed("paid") : Effect.fail(new Locked({ message: "broken off" }))
  }).pipe(Tool.onError({ Locked: Recovery.ask(), InvalidArgs: Recovery.ask() }))
  return { runs, tool }
}

it.run("an unsafe tool that has begun is looked up first: with a result no person is asked [P1512]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying(Effect.succeed(Option.some("paid before")))
    const model = yield* make(calls(call("pay", {})), done)
    const approver = yield* ScriptedApprover.make()
    const log = eventLog()
    yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide([approver.layer, model.layer]))
    assert.strictEqual(runs.length, 1)
    assert.deepStrictEqual(read(model), ["result: paid before"])
    assert.strictEqual(log.of("tool-end")[0]?.use.recoveredBy, "verify")
  })
)

it.run(
  "the request says what was found; an approval of what may have taken effect says that it may run twice [P1512]",
  (run) =>
    Effect.gen(function* () {
      for (const [verify, verified, mayRunTwice] of [
        [Effect.succeed(Option.none()), "no-effect", undefined],
        [Effect.fail("the bank is closed"), { unknown: "the bank is closed" }, true]
      ] as const) {
        const { runs, tool } = paying(verify)
        const model = yield* make(calls(call("pay", {})), done)
        const approver = yield* ScriptedApprover.make(approved)
        const log = eventLog()
        yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide([approver.layer, model.layer]))
        assert.strictEqual(runs.length, 2)
        assert.strictEqual(runs[0], runs[1])
        assert.deepStrictEqual(read(model), ["result: paid"])
        assert.deepStrictEqual(approver.requests[0]?.failed?.verified, verified)
        assert.strictEqual(approver.requests[0]?.failed?.mayHaveTakenEffect, mayRunTwice === true)
        assert.strictEqual(log.of("approval-decided")[0]?.mayRunTwice, mayRunTwice)
      }
    })
)

it.run("a call that has not begun, and one that may be run twice, are not looked up [P1512]", (run) =>
  Effect.gen(function* () {
    const found = Effect.succeed(Option.some("paid before"))
    for (const [sideEffects, args, decision, tag, reads, times] of [
      ["unsafe", "{", Approval.approveWith({}), "InvalidArgs", "paid before", 1],
      ["idempotent", {}, approved, "Locked", "paid", 2]
    ] as const) {
      const { runs, tool } = paying(found, sideEffects)
      const model = yield* make(calls(call("pay", args)), done)
      const approver = yield* ScriptedApprover.make(decision)
      yield* run(agentWith(tool), "go").pipe(Effect.provide([approver.layer, model.layer]))
      assert.deepStrictEqual(
        approver.requests.map(({ failed }) => [failed?.tag, failed?.verified]),
        [[tag, undefined]]
      )
      assert.lengthOf(runs, times)
      assert.deepStrictEqual(read(model), [`result: ${reads}`])
    }
  })
)

it.run("a look-up that finds no effect ends the doubt about the run before it [P1512]", (run) =>
  Effect.gen(function* () {
    for (const [isFound, reads] of [
      [true, "told: locked"],
      [
        false,
        "unknown: locked\nAn earlier run of this call was cut off after its start and may have taken effect: look that up before any repetition."
      ]
    ] as const) {
      let runs = 0
      // by its type a tool cannot fail with this error of the library
      const unknown: unknown = ToolError.OutcomeUnknownError.make({ tool: "pay", callId: "c1", idempotencyKey: "k1" })
      const tool = Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        sideEffects: "unsafe",
        verify: () => (isFound ? Effect.succeedNone : Effect.fail("the bank is closed")),
        run: () =>
          Effect.suspend(() => Effect.fail(runs++ === 0 ? (unknown as Locked) : new Locked({ message: "locked" })))
      }).pipe(Tool.onError({ orElse: Recovery.ask(), Locked: Recovery.tell(({ message }) => message) }))
      const model = yield* make(calls(call("pay", {})), done)
      const approver = yield* ScriptedApprover.make(approved)
      yield* run(agentWith(tool), "go").pipe(Effect.provide([approver.layer, model.layer]))
      assert.strictEqual(runs, 2)
      assert.deepStrictEqual(read(model), [reads])
    }
  })
)
