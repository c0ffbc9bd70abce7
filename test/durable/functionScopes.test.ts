/** The scope of an execution of a tool's function is a part of its step: it is closed before the outcome is stored. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Skill, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { describe } from "vitest"
import { calm } from "../_support/dialogue.ts"
import { process, watched } from "./_support/engines.ts"
import { call, reading } from "./_support/readingModel.ts"
import { Gone } from "./_support/scenarios.ts"

const play = (isForgetful: boolean) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const engine = yield* watched(isForgetful)
    const isStored = (step: string) => engine.done.some((name) => name.endsWith(step))
    const acquire = (what: string, step: string) =>
      Effect.acquireRelease(
        Effect.sync(() => void log.push(`open ${what}`)),
        (_, exit) =>
          Effect.delay(
            Effect.sync(() => {
              const end = Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause) ? "interruption" : exit._tag
              log.push(`close ${what} after ${end}, ${isStored(step) ? "stored" : "not stored yet"}`)
            }),
            "1 second"
          )
      )
    const options = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String }
    const book = Tool.make("book", {
      ...options,
      run: () => Effect.as(Effect.delay(acquire("run", "/run/1"), "1 minute"), "booked")
    }).pipe(Tool.compensate(() => acquire("undo", "/undo")))
    const pay = Tool.make("pay", {
      ...options,
      sideEffects: "unsafe",
      timeout: "1 minute",
      run: () => Effect.andThen(acquire("payment", "nothing"), Effect.never),
      verify: () => Effect.as(acquire("lookup", "/look-up/1"), Option.some("paid"))
    })
    const fail = Tool.make("fail", { ...options, failure: Gone, run: () => Effect.fail(new Gone({ message: "gone" })) })
    const calls = ["book", "pay", "fail"].map((name) => [call(name)])
    const model = reading("worker", (turn) => calls[turn] ?? [Message.text("done")])
    const skill = Skill.make("work", { description: "Works.", tools: [book, pay, fail] })
    const agent = Agent.make("worker", { model: model.layer, skills: [skill] })
    const durable = Durable.workflow(agent, {
      name: "scoped",
      input: Schema.String,
      output: Schema.String,
      error: Gone
    })
    yield* Effect.gen(function* () {
      yield* process(durable.layer)
      const id = yield* Durable.start(durable, { id: "one", input: "go" })
      for (let i = 0; i < 60; i++) {
        for (let k = 0; k < 6; k++) yield* calm
        yield* TestClock.adjust("5 seconds")
      }
      const end = Option.getOrUndefined(yield* Durable.poll(durable, id))
      assert(end?._tag === "Complete" && Exit.isFailure(end.exit))
      assert.instanceOf(Cause.squash(end.exit.cause), Gone)
    }).pipe(Effect.provide(engine.layer))
    return log
  })

describe.each([false, true])("replayed after each step: %s", (isForgetful) => {
  it.effect("each function opens and closes once, before its outcome is stored [P1356]", () =>
    Effect.gen(function* () {
      const closed = (what: string, end: string) => [`open ${what}`, `close ${what} after ${end}, not stored yet`]
      assert.deepStrictEqual(yield* play(isForgetful), [
        ...closed("run", "Success"),
        ...closed("payment", "interruption"),
        ...closed("lookup", "Success"),
        ...closed("undo", "Success")
      ])
    })
  )
})
