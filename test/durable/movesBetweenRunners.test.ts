import { assert, it } from "@effect/vitest"
import { Agent, Message, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Fiber, Option, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { describe } from "vitest"
import { calm } from "../_support/dialogue.ts"
import { cluster } from "./_support/cluster.ts"
import { process, watched } from "./_support/engines.ts"
import { call, reading } from "./_support/readingModel.ts"
import { Busy } from "./_support/scenarios.ts"

/** At what a run is when it is given away. */
const stages = ["the model", "a tool", "a tool of an agent below", "a wait", "an unsafe tool"] as const

/** A run that is at that place until the gate opens. What ends there is interrupted, or has come to its end. */
const story = (stage: (typeof stages)[number], isVerified: boolean) => {
  let isReleased = false
  const at: Array<string> = []
  const gate = (here: (typeof stages)[number]): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (here !== stage) return Effect.void
      at.push("begins")
      return isReleased
        ? Effect.void
        : Effect.onInterrupt(Effect.never, () => Effect.sync(() => void at.push("given away")))
    })
  const model = reading(
    "outer",
    (turn) =>
      [[call("look")], [call("inner", { input: "go" })], [call("pay")], [call("flaky")]][turn] ?? [
        Message.text("done")
      ],
    (turn) => (turn === 1 ? gate("the model") : Effect.void)
  )
  const innerModel = reading("inner", (turn) => (turn === 0 ? [call("see")] : [Message.text("inner done")]))
  const about = { parameters: Schema.Struct({}), success: Schema.String }
  const tool = <const Name extends string>(name: Name, here: (typeof stages)[number]) =>
    Tool.make(name, { ...about, description: name, run: () => Effect.as(gate(here), `${name}!`) })
  const flaky = Tool.make("flaky", {
    ...about,
    description: "flaky",
    failure: Busy,
    run: (_, { attempt }) =>
      attempt === 1 ? Effect.fail(new Busy({ message: "busy" })) : Effect.succeed(`attempt ${attempt}`)
  }).pipe(Tool.onError({ Busy: Recovery.retry({ maxAttempts: 2, initialBackoff: "20 seconds" }) }))
  const pay = Tool.make("pay", {
    ...about,
    description: "pay",
    sideEffects: "unsafe",
    ...(isVerified ? { verify: () => Effect.succeed(Option.some("found to be paid")) } : {}),
    run: () => Effect.as(gate("an unsafe tool"), "paid")
  })
  const inner = Agent.make("inner", {
    model: innerModel.layer,
    skills: [Skill.make("work", { description: "Works.", tools: [tool("see", "a tool of an agent below")] })]
  })
  const ledgers: Array<number> = []
  const tools = [tool("look", "a tool"), flaky, pay, Agent.asTool(inner, { description: "Works." })] as const
  const agent = Agent.make("worker", {
    model: model.layer,
    skills: [Skill.make("work", { description: "Works.", tools })]
  }).pipe(
    Agent.onEvent((event) =>
      Effect.sync(() => {
        if (event.type === "run-completed" && event.parent === undefined) ledgers.push(event.usage.inputTokens)
      })
    )
  )
  return { agent, at, ledgers, release: () => (isReleased = true), requests: () => model.asked() + innerModel.asked() }
}

const passing = (seconds: number) =>
  Effect.gen(function* () {
    for (let i = 0; i < seconds * 4; i++) {
      for (let k = 0; k < 6; k++) yield* calm
      yield* TestClock.adjust(250)
    }
  })

/** Six runs at that place, of which some are given away, and the rest when their runner ends; what has come of each. */
const given = (stage: (typeof stages)[number], isVerified = true) =>
  Effect.gen(function* () {
    const { agent, at, ledgers, release, requests } = story(stage, isVerified)
    const durable = Durable.workflow(agent, { name: "story", input: Schema.String, output: Schema.String })
    const join = yield* cluster
    const one = yield* join(durable.layer)
    yield* passing(3)
    const ids = yield* Effect.forEach(["a", "b", "c", "d", "e", "f"], (id) =>
      Effect.provideContext(Durable.start(durable, { id, input: "go" }), one.context)
    )
    yield* passing(3)
    const begun = at.length
    release()
    const two = yield* join(durable.layer)
    const ends = Effect.forEach(ids, (id) =>
      Effect.map(Effect.provideContext(Durable.poll(durable, id), two.context), Option.getOrUndefined)
    )
    yield* passing(5)
    const moved = at.filter((what) => what === "given away").length
    const stopping = yield* Effect.forkChild(one.stop)
    yield* passing(45)
    yield* Fiber.join(stopping)
    const exits = (yield* ends).map((end) => (end?._tag === "Complete" ? end.exit : undefined))
    return { at, begun, exits, ledgers, moved, requests: requests() }
  })

const done = { _id: "Exit", _tag: "Success", value: "done" }

describe.each(stages)("a run at %s", (stage) => {
  // Finds out nothing of its own: its subject is how the runners of Effect take a run of core from each other
  it.effect(
    "goes on elsewhere when a living runner gives it away, and when that ends: as if nothing had happened [P1130]",
    () =>
      Effect.gen(function* () {
        const { at, begun, exits, ledgers, moved, requests } = yield* given(stage)
        for (const exit of exits) assert.deepStrictEqual(exit?.toJSON(), done)
        assert.deepStrictEqual(ledgers, Array(6).fill(70))
        // six runs with seven requests each; only those that were under way are asked again
        assert.strictEqual(requests, stage === "the model" ? 48 : 42)
        if (stage === "a wait") return
        assert.isAbove(moved, 0)
        assert.isBelow(moved, 6)
        assert.strictEqual(begun, 6)
        const repeated = stage === "an unsafe tool" ? 0 : 6
        assert.strictEqual(at.filter((what) => what === "begins").length, begun + repeated)
        assert.strictEqual(at.filter((what) => what === "given away").length, 6)
      })
  )
})

// Finds out nothing of its own: its subject is how the runners of Effect take a run of core from each other
it.effect(
  "an unsafe tool without a look-up that was under way there is an OutcomeUnknownError, never a second run [P1131]",
  () =>
    Effect.gen(function* () {
      const { at, exits } = yield* given("an unsafe tool", false)
      assert.strictEqual(at.filter((what) => what === "begins").length, 6)
      for (const exit of exits) {
        assert.strictEqual(exit?._tag, "Failure")
        const error = exit?._tag === "Failure" ? Cause.findError(exit.cause) : undefined
        assert.instanceOf(error && Result.getOrUndefined(error), ToolError.OutcomeUnknownError)
      }
    })
)

// Finds out nothing of its own: its subject is an engine that gives a run back to its process
it.effect("an unsafe tool does not rerun if its run comes back to the process that has begun it [P1131]", () =>
  Effect.gen(function* () {
    const { agent, at, release } = story("an unsafe tool", false)
    const durable = Durable.workflow(agent, { name: "story", input: Schema.String, output: Schema.String })
    const engine = yield* watched(false)
    yield* Effect.gen(function* () {
      yield* process(durable.layer)
      const id = yield* Durable.start(durable, { id: "one", input: "go" })
      yield* passing(3)
      assert.deepStrictEqual(at, ["begins"])
      release()
      yield* engine.giveAway
      assert.deepStrictEqual(at, ["begins", "given away"])
      yield* Durable.resume(durable, id)
      yield* passing(3)
      assert.deepStrictEqual(at, ["begins", "given away"])
      const end = Option.getOrUndefined(yield* Durable.poll(durable, id))
      assert.strictEqual(end?._tag, "Complete")
      const error =
        end?._tag === "Complete" && end.exit._tag === "Failure" ? Cause.findError(end.exit.cause) : undefined
      assert.instanceOf(error && Result.getOrUndefined(error), ToolError.OutcomeUnknownError)
    }).pipe(Effect.provide(engine.layer))
  })
)
