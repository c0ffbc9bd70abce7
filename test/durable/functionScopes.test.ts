/** The scope of an execution of a tool's function is a part of its step: it is closed before the outcome is stored. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Skill, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { describe } from "vitest"
import { calm } from "../_support/dialogue.ts"
import { process, type Watched, watched } from "./_support/engines.ts"
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
    const exit = yield* served(engine, durable)
    assert(Exit.isFailure(exit))
    assert.instanceOf(Cause.squash(exit.cause), Gone)
    return log
  })

/** Plays a run to its end. */
const served = <E>(
  engine: Watched,
  durable: Durable.Durable<string, typeof Schema.String, typeof Schema.String, E, never>
) =>
  Effect.gen(function* () {
    yield* process(durable.layer)
    const id = yield* Durable.start(durable, { id: "one", input: "go" })
    for (let i = 0; i < 60; i++) {
      for (let k = 0; k < 6; k++) yield* calm
      yield* TestClock.adjust("5 seconds")
    }
    const end = Option.getOrUndefined(yield* Durable.poll(durable, id))
    assert(end?._tag === "Complete")
    return end.exit
  }).pipe(Effect.provide(engine.layer))

describe.each([false, true])("replayed after each step: %s", (isForgetful) => {
  // Finds out nothing of its own: its subject is the scope that core opens within a recorded step
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

  // Finds out nothing of its own: its subject is the timeout of core, and the look-up after it, in replays
  it.effect("the release counts against the time of the step, in each replay [P1356]", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const engine = yield* watched(isForgetful)
      const pay = Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        sideEffects: "unsafe",
        timeout: "1 minute",
        run: () =>
          Effect.gen(function* () {
            yield* Effect.addFinalizer(() => Effect.sleep("50 seconds"))
            yield* Effect.sleep("30 seconds")
            log.push("paid")
            return "paid"
          }),
        verify: () => Effect.sync(() => Option.some(`looked up ${log.push("lookup")}`))
      })
      const model = reading("worker", (turn) => [[call("pay")]][turn] ?? [Message.text("done")])
      const agent = Agent.make("worker", { model: model.layer, tools: [pay] })
      const durable = Durable.workflow(agent, { name: "slow", input: Schema.String, output: Schema.String })
      assert.deepStrictEqual(yield* served(engine, durable), Exit.succeed("done"))
      assert.deepStrictEqual(log, ["paid", "lookup"])
    })
  )
})
