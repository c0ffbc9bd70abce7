/** How long a deferred call may take, and the call that takes the place of another. */
import { assert } from "@effect/vitest"
import { Message, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Effect, Exit, Fiber, Schema } from "effect"
import { batch, calm, done, eventLog } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { agentWith, deferring } from "./_support/deferring.ts"

it.effect("a call lasts to its deadline, with a cancel some seconds more, and without an end if it may be left", () =>
  Effect.sync(() => {
    const longestOf = (tool: Tool.AnyTool) => {
      const { longest } = tool.definition.deferral ?? {}
      return longest === undefined ? undefined : Duration.toMillis(longest)
    }
    const bare = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      start: () => Effect.succeed(1),
      wait: "suspend",
      deadline: "1 hour"
    })
    assert.deepStrictEqual(
      [bare, deferring().tool, deferring({ wait: "continue" }).tool].map(longestOf),
      [3_600_000, 3_605_000, 3_605_000]
    )
    assert.isUndefined(longestOf(deferring({ wait: "continue", atEnd: "detach" }).tool))
  })
)

it.run("a call that begins anew says whose place it takes, and the first one takes none [P1522 P1524]", (run) =>
  Effect.gen(function* () {
    let starts = 0
    const { tool } = deferring({
      wait: "continue",
      start: ({ token }) => {
        const exit = ++starts === 1 ? Exit.fail({ _tag: "Declined", why: "no" }) : Exit.succeed({ at: starts })
        return Effect.as(Effect.orDie(Tool.settle(token, exit)), { job: starts })
      }
    })
    const log = eventLog()
    const model = yield* ScriptedModel.make(batch("order"), ScriptedModel.text("so far"), done)
    const retrying = tool.pipe(Tool.onError({ Declined: Recovery.retry({ retries: 1 }) }))
    yield* run(agentWith(retrying).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      log.of("tool-waiting").map(({ handle, ...event }) => [handle, "replaces" in event ? event.replaces : "none"]),
      [
        [{ job: 1 }, "none"],
        [{ job: 2 }, { job: 1 }]
      ]
    )
    const said = model.requests.at(-1)?.messages.at(-1)
    assert.include(said?.role === "user" ? Message.textOf(said) : "", '{"at":2}')
  })
)

it.run(
  "the work of a call that was settled is not cancelled, though its run is interrupted at once [P1521 P1526]",
  (run) =>
    Effect.gen(function* () {
      const { cancelled, tokenOf, tool } = deferring()
      const model = yield* ScriptedModel.make(batch("order"), done)
      const fiber = yield* Effect.forkChild(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
      yield* calm
      assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })), { _tag: "Counted" })
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(cancelled, [])
    })
)
