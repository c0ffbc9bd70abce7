/** The limits of a composition, and of a run whose clock jumps. */
import { assert } from "@effect/vitest"
import { Agent, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect } from "effect"
import { overADay, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { exceeded, failing } from "../budget/_support/limitedAgents.ts"

const { answers, call, make, replies, reply } = ScriptedModel

it.run("the error at the limit of a composition has what the part said that it ended [A904]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen"))
    const saying = replies(reply({ content: [Message.text("I look"), call("look", {})] }))
    const model = yield* make(saying)
    const part = Agent.make("part", { tools: [tool] })
    const both = Agent.andThen(
      part,
      Agent.deterministic("shout", (said: string) => Effect.succeed(`${said}!`))
    ).pipe(Agent.withBudget({ maxTurns: 1 }))
    const error = exceeded(yield* Effect.flip(run(both, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, { reason: "maxTurns", limit: 1, partial: "I look" })
    assert.deepStrictEqual(
      error.transcript.map(({ role }) => role),
      ["user", "assistant"]
    )
  })
)

it.run("a deadline that a jump of the clock reaches at once does not hide the next one [A903]", (run) =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    let ahead = 0
    const now = () => clock.currentTimeMillisUnsafe() + ahead
    const jumping: Clock.Clock = {
      ...clock,
      currentTimeMillisUnsafe: now,
      currentTimeMillis: Effect.sync(now),
      sleep: (duration) => (ahead === 0 ? Effect.sync(() => void (ahead = 2000)) : clock.sleep(duration))
    }
    const never = answers(() => Effect.never)
    const model = yield* make(never, never)
    for (const maxDuration of ["1 second", "1 hour"] as const) {
      const agent = Agent.make("patient", { budget: { maxDuration } })
      const exit = yield* overADay(
        run(agent, "go").pipe(Effect.provide(model.layer), Effect.provideService(Clock.Clock, jumping))
      )
      assert.strictEqual(exceeded(failing(exit)).reason, "maxDuration")
    }
  })
)
