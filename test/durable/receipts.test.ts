/** What `Durable.settle` and `Durable.poll` answer before they ask any run. */
import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { engineOfRows, workflow } from "./_support/rows.ts"

const within = Effect.provideService(WorkflowEngine, engineOfRows().engine)

// a durable agent with only its workflow
const durable = { workflow } as unknown as Durable.Durable<
  string,
  typeof Schema.String,
  typeof Schema.String,
  never,
  never
>

it.effect("a tool that is not deferred cannot be settled [P1520]", () =>
  Effect.gen(function* () {
    const look = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.succeed("seen")
    })
    const exit = yield* Effect.exit(within(Durable.settle(durable, look, "token", Exit.succeed("x"))))
    assert(Exit.isFailure(exit))
    assert.strictEqual(String(Cause.squash(exit.cause)), "TypeError: Tool 'look' is not a deferred tool")
  })
)

it.effect.each(["bad-signature", "unknown-token", { store: "" }] as const)(
  "a token that names no run counts for none: %j [P1520]",
  (found) =>
    Effect.gen(function* () {
      // a tool with only what reads its tokens
      const tool = { name: "order", definition: { deferral: { storeOf: () => Effect.succeed(found) } } }
      const receipt = yield* within(Durable.settle(durable, tool as never, "token", Exit.succeed("x")))
      const reason = found === "bad-signature" ? found : "unknown-token"
      assert.deepStrictEqual<unknown>(receipt, { _tag: "NotCounted", reason })
    })
)

it.effect("an end that the schemas do not read is named with its run and its field [P1119]", () =>
  Effect.gen(function* () {
    const Answer = Schema.Struct({ answer: Schema.String })
    const misfit = yield* Effect.flip(Schema.decodeUnknownEffect(Answer)({ answer: 7 }))
    const polled = (poll: Effect.Effect<unknown>) =>
      Durable.poll({ workflow: { _tag: "clerk@2", poll: () => poll } } as never, "run-1").pipe(within)
    const error = yield* Effect.flip(polled(Effect.die(misfit)))
    assert.instanceOf(error, Durable.UnreadableStepError)
    assert.deepInclude<object>(error, { workflow: "clerk@2", executionId: "run-1", step: "end", field: "answer" })
    const other = new Error("other")
    assert.deepStrictEqual(yield* Effect.exit(polled(Effect.die(other))), Exit.die(other))
    const complete = Option.some({ _tag: "Complete", exit: Exit.succeed("done") })
    assert.deepStrictEqual<unknown>(yield* polled(Effect.succeed(complete)), complete)
  })
)
