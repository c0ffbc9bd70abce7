/** The scope of each execution of a function of a deferred tool, and what hanging or foreign answers of these functions change. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Recovery, Tool } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Fiber, Logger, Option, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { batch, calm, callingOnce, done, eventLog, overADay, read, settlements } from "../../_support/dialogue.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { agentWith, Declined, deferring } from "./_support/deferring.ts"

const { make } = ScriptedModel

it.run("each execution of start, poll and cancel has a scope of its own, whose finalizer may fail [P1356]", (run) =>
  Effect.gen(function* () {
    for (const breaks of [false, true]) {
      const log: Array<string> = []
      const warnings: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void warnings.push(String([message].flat()[0])))])
      const acquire = (what: string) =>
        Effect.acquireRelease(
          Effect.sync(() => void log.push(`${what} opens`)),
          () =>
            Effect.andThen(
              Effect.sync(() => void log.push(`${what} closes`)),
              breaks ? Effect.die("stuck") : Effect.void
            )
        )
      const tool = Tool.deferred("order", {
        description: "Orders.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        start: () => Effect.as(acquire("start"), 1),
        wait: "suspend",
        deadline: "150 seconds",
        poll: { every: Schedule.spaced("1 minute"), check: () => Effect.as(acquire("poll"), Option.none()) },
        cancel: () => acquire("cancel")
      }).pipe(Tool.onError({ ToolTimeoutError: Recovery.tell() }))
      const observe = Effect.provideService(RunContext.Observers, [
        () =>
          ({ type }: AgentEvent.AgentEvent) => {
            if (["tool-waiting", "tool-failed", "tool-end"].includes(type)) log.push(type)
          }
      ])
      const model = yield* callingOnce("order")
      const running = run(agentWith(tool), "go").pipe(Effect.provide(model.layer), Effect.provide(logger), observe)
      assert.deepStrictEqual(yield* overADay(running), Exit.succeed("done"))
      const both = (what: string) => [`${what} opens`, `${what} closes`]
      assert.deepStrictEqual(log, [
        ...both("start"),
        "tool-waiting",
        ...both("poll"),
        ...both("poll"),
        ...both("cancel"),
        "tool-failed",
        "tool-end"
      ])
      assert.match(read(model)[0] ?? "", /^told: .*did not end within/)
      assert.deepStrictEqual(
        warnings.filter((line) => line.startsWith("A finalizer failed")),
        Array.from({ length: breaks ? 4 : 0 }, () => "A finalizer failed: tool 'order', call 'c1'")
      )
      assert.isFalse(warnings.some((line) => line.includes("cancel of tool")))
    }
  })
)

it.run("a deferred call that begins anew counts once against maxToolCalls [P1520]", (run) =>
  Effect.gen(function* () {
    for (const wait of ["suspend", "continue"] as const) {
      const { begun, tool } = deferring({
        wait,
        start: ({ attempt, token }) => {
          const exit = attempt < 3 ? Exit.fail(new Declined({ why: "no" })) : Exit.succeed({ at: attempt })
          return Effect.as(Effect.forkDetach(Effect.delay(Effect.ignore(Tool.settle(token, exit)), "1 minute")), {
            job: 1
          })
        }
      })
      const agent = Agent.make("worker", {
        budget: { maxDuration: "1 day", maxToolCalls: 1 },
        tools: [tool.pipe(Tool.onError({ Declined: Recovery.retry({ retries: 3 }) }))]
      })
      const model = yield* make(batch("order"), done, ...(wait === "suspend" ? [] : [done]))
      const end = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(end, Exit.succeed("done"))
      assert.deepStrictEqual(
        begun.map(({ attempt }) => attempt),
        [1, 2, 3]
      )
    }
  })
)

it.run("a cancel that hangs at an interruption ends after 5 seconds [P1526]", (run) =>
  Effect.gen(function* () {
    for (const wait of ["suspend", "continue"] as const) {
      const { cancelled, tool } = deferring({ wait, cancel: () => Effect.never })
      const log = eventLog()
      const hanging = Effect.as(Effect.never, "x")
      const slow = Tool.make("slow", {
        description: "Takes long.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => hanging
      })
      const model = yield* make(batch("order", "slow"))
      const fiber = yield* Effect.forkChild(
        run(agentWith(tool, slow).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      )
      yield* calm
      const interruption = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* calm
      assert.deepStrictEqual(cancelled, [1])
      yield* TestClock.adjust(4999)
      yield* calm
      assert.isUndefined(interruption.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(interruption)
      const [interrupted] = log.of("run-interrupted")
      assert.match(
        settlements(interrupted?.transcript ?? [])[0] ?? "",
        wait === "suspend" ? /^interrupted/ : /^deferred/
      )
    }
  })
)

const misfitting = () =>
  Tool.deferred("order", {
    description: "Orders.",
    parameters: Schema.Struct({}),
    success: Schema.Struct({ at: Schema.Finite }),
    start: () => Effect.succeed(1),
    wait: "suspend",
    deadline: "1 hour",
    poll: {
      every: Schedule.spaced("1 minute"),
      check: () => Effect.succeedSome({ at: "x" } as unknown as { readonly at: number })
    }
  })

it.run("what a poll finds and does not fit is a defect, as the result of any tool [P1527]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("order"))
    const exit = yield* overADay(run(agentWith(misfitting()), "go").pipe(Effect.provide(model.layer)))
    assert(Exit.isFailure(exit))
    assert.match(String(Cause.squash(exit.cause)), /Tool 'order' returned a value that its own success schema refuses/)
    const plain = yield* make(batch("order"))
    const agent = agentWith(misfitting())
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", plain))
    const resumed = yield* Effect.exit(outcomeOf(Agent.resume(agent), { from }, plain))
    assert(Exit.isFailure(resumed))
    assert.strictEqual(String(Cause.squash(resumed.cause)), String(Cause.squash(exit.cause)))
  })
)
