/** Words of the user that come while a run with guardrails is at work, and what stops its checks. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, RunError, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { calm } from "../../_support/dialogue.ts"
import { slowModel } from "./_support/guarded.ts"
import { eventsOf, started } from "./_support/saying.ts"

const { call, calls, make, text } = ScriptedModel
const { block, pass } = Agent.guard

const blockedBy = (exit: Exit.Exit<unknown, unknown>): string => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return error instanceof RunError.GuardrailError ? `${error.side}, ${error.guard}: ${error.reason}` : String(error)
}

it.effect(
  "what is said to a run at work is checked at the safe point that reads it; nothing else is checked twice [P1598]",
  () =>
    Effect.gen(function* () {
      const checked: Array<string> = []
      const slow = Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.delay(Effect.succeed("hunted"), 10)
      })
      const agent = Agent.make("clerk", { tools: [slow] }).pipe(
        Agent.guardInput(({ text, transcript }) => {
          checked.push(`${text} of ${transcript.length}`)
          return text === "bad" ? block("bad") : pass
        })
      )
      const model = yield* make(calls(call("look", {})), calls(call("look", {})), text("unseen"))
      const run = yield* started(agent.start("good"), model)
      yield* calm
      yield* run.say("fine")
      yield* TestClock.adjust(10)
      yield* calm
      yield* run.say("bad")
      yield* TestClock.adjust(10)
      yield* calm
      assert.strictEqual(blockedBy(yield* Effect.exit(run.outcome)), "input, guardInput 1: bad")
      // the results of tools are not checked
      assert.deepStrictEqual(checked, ["good of 1", "fine of 3", "bad of 5"])
      assert.notInclude(JSON.stringify(yield* eventsOf(run)), "unseen")
    })
)

it.effect("a message that interrupts the model call has the words before it checked again [P1595]", () =>
  Effect.gen(function* () {
    const checked: Array<string> = []
    const agent = Agent.make("clerk", {}).pipe(
      Agent.guardInput(({ text }) => {
        checked.push(text)
        return Effect.delay(Effect.succeed(pass), 20)
      })
    )
    const run = yield* agent.start("first").pipe(Effect.provide(slowModel().layer))
    yield* calm
    yield* TestClock.adjust(10)
    yield* run.say("second", { interrupt: true })
    yield* calm
    yield* TestClock.adjust(200)
    yield* calm
    assert.deepStrictEqual(checked, ["first", "first", "second"])
    const transcript = yield* run.transcript
    assert.deepStrictEqual(transcript.slice(0, 2), [Message.user("first"), Message.user("second")])
    yield* run.interrupt
  })
)

it.effect("an interruption stops the check and the model call [P1595]", () =>
  Effect.gen(function* () {
    let stopped = 0
    const agent = Agent.make("clerk", {}).pipe(
      Agent.guardInput(() => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void stopped++)))
    )
    const fiber = yield* Effect.forkChild(agent("hi").pipe(Effect.provide(slowModel().layer)))
    yield* TestClock.adjust(20)
    yield* Fiber.interrupt(fiber)
    assert.strictEqual(stopped, 1)
  })
)
