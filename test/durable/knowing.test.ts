/** Whether a run has ended, as its engine says. */
import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { isOver } from "../../packages/durable/src/knowing.ts"
import { workflow } from "./_support/rows.ts"

it.effect.each([
  { says: "nothing", isSo: false, poll: Effect.succeed(Option.none()) },
  { says: "that it waits", isSo: false, poll: Effect.succeed(Option.some({ _tag: "Suspended" })) },
  { says: "its end", isSo: true, poll: Effect.succeed(Option.some({ _tag: "Complete" })) },
  { says: "an end that cannot be read", isSo: true, poll: Effect.die(new Error("unreadable")) }
])("a run of which the engine says $says is over: $isSo", ({ isSo, poll }) =>
  Effect.gen(function* () {
    // nothing else of the engine is used
    const engine = { poll: () => poll } as unknown as WorkflowEngine["Service"]
    assert.strictEqual(yield* isOver(engine, workflow, "run"), isSo)
  })
)
