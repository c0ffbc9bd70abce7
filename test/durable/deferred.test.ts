/** Deferred calls of durable runs: they wait without a process, and are settled from any. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Clock, Duration, Effect, Exit, Layer, Option, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import type * as Workflow from "effect/workflow/Workflow"
import { batch, calm, done, read } from "../_support/dialogue.ts"
import { deferring } from "../core/tool/_support/deferring.ts"
import { type Death, process, watched } from "./_support/engines.ts"
import { call, reading } from "./_support/readingModel.ts"

const quiet = Effect.forEach([1, 2, 3, 4, 5, 6], () => calm, { discard: true })

/** A durable run that calls its only tool once. */
const waiting = <T extends Tool.AnyTool>(
  tool: T,
  options: { readonly isForgetful?: boolean; readonly isFailing?: boolean } = {}
) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(batch(tool.name), ...(options.isFailing === true ? [] : [done]))
    const agent = Agent.make("worker", {
      budget: { maxDuration: "20 days" },
      skills: [Skill.make("work", { description: "Works.", tools: [tool] })],
      model: model.layer
    })
    const engine = yield* watched(options.isForgetful ?? false)
    // by its type this agent fails as its tool does
    const durable = Durable.workflow(
      agent as never,
      {
        name: "orders",
        input: Schema.String,
        output: Schema.String,
        error: Schema.Unknown
      } as never
    ) as unknown as Durable.Durable<"orders", typeof Schema.String, typeof Schema.String, unknown, never>
    const context = yield* Layer.build(Layer.provideMerge(durable.layer, engine.layer))
    const within = Effect.provideContext(context)
    const id = yield* within(Durable.start(durable, { id: "one", input: "go" })) as Effect.Effect<string>
    yield* quiet
    const end = Effect.map(
      within(durable.workflow.poll(id)) as Effect.Effect<Option.Option<Workflow.Result<string, unknown>>>,
      (result) =>
        Option.match(result, {
          onNone: () => "at work",
          onSome: (one) => (one._tag === "Suspended" ? "Suspended" : one.exit)
        })
    )
    const settle = (token: string, exit: Exit.Exit<unknown, unknown>) =>
      within(Durable.settle(durable, tool, token, exit)) as Effect.Effect<Tool.Receipt, unknown>
    return { durable, end, engine, id, model, settle, within }
  })

const counted = { _tag: "Counted" }
const not = (reason: string) => ({ _tag: "NotCounted", reason })

for (const isForgetful of [false, true]) {
  const how = isForgetful ? "replayed after each step" : "in one process"
  it.effect(`a call waits for days without a process, and is settled from outside, ${how} [P1521 P1528]`, () =>
    Effect.gen(function* () {
      const { begun, cancelled, tokenOf, tool } = deferring({ deadline: "10 days" })
      const { end, model, settle } = yield* waiting(tool, { isForgetful })
      assert.strictEqual(yield* end, "Suspended")
      assert.strictEqual(begun.length, 1)
      yield* TestClock.adjust("3 days")
      yield* quiet
      const misfit = yield* Effect.flip(settle(tokenOf(), Exit.succeed({ at: "soon" })))
      assert.isTrue(Schema.isSchemaError(misfit))
      assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })), not("unknown-token") as never)
      assert.deepStrictEqual(yield* settle(tokenOf(), Exit.succeed({ at: 7 })), counted as never)
      assert.deepStrictEqual(yield* settle(tokenOf(), Exit.succeed({ at: 8 })), not("already-settled") as never)
      yield* quiet
      yield* quiet
      assert.deepStrictEqual(yield* end, Exit.succeed("done"))
      assert.deepStrictEqual(read(model), ['result: {"at":7}'])
      assert.strictEqual(begun.length, 1)
      assert.deepStrictEqual(cancelled, [])
      assert.deepStrictEqual(yield* settle(tokenOf(), Exit.succeed({ at: 9 })), not("run-over") as never)
      assert.deepStrictEqual(yield* settle("none", Exit.succeed({ at: 9 })), not("unknown-token") as never)
    })
  )

  it.effect(`at its deadline the work is cancelled once, and the call fails, ${how} [P1525]`, () =>
    Effect.gen(function* () {
      const { begun, cancelled, tokenOf, tool } = deferring({ deadline: "3 days" })
      const telling = tool.pipe(Tool.onError({ ToolTimeoutError: Recovery.tell(({ message }) => message) }))
      const { end, model, settle } = yield* waiting(telling, { isForgetful })
      yield* TestClock.adjust(Duration.millis(Duration.toMillis("3 days") - 1))
      yield* quiet
      assert.deepStrictEqual(cancelled, [])
      yield* TestClock.adjust(1)
      yield* quiet
      yield* quiet
      yield* quiet
      assert.deepStrictEqual(cancelled, [1])
      assert.deepStrictEqual(yield* settle(tokenOf(), Exit.succeed({ at: 1 })), not("run-over") as never)
      assert.deepStrictEqual(yield* end, Exit.succeed("done"))
      assert.match(read(model)[0] ?? "", /^told: .*did not end within 3d/)
      assert.strictEqual(begun.length, 1)
    })
  )

  it.effect(`a settlement after the deadline is late, also while the run goes on, ${how} [P1521 P1525]`, () =>
    Effect.gen(function* () {
      const { begun, tokenOf, tool } = deferring({ deadline: "3 days" })
      const retry = Recovery.retry({ retries: 1, initialBackoff: "1 day" })
      const { end, settle } = yield* waiting(tool.pipe(Tool.onError({ ToolTimeoutError: retry })), { isForgetful })
      yield* TestClock.adjust("3 days")
      yield* quiet
      yield* quiet
      assert.deepStrictEqual(yield* settle(tokenOf(0), Exit.succeed({ at: 1 })), not("late") as never)
      yield* TestClock.adjust("1 day")
      yield* quiet
      yield* quiet
      assert.strictEqual(begun.length, 2)
      assert.deepStrictEqual(yield* settle(tokenOf(1), Exit.succeed({ at: 2 })), counted as never)
      yield* quiet
      yield* quiet
      assert.deepStrictEqual(yield* end, Exit.succeed("done"))
    })
  )

  it.effect(`a settled failure goes to the rows, and the next attempt has its own token, ${how} [P1522]`, () =>
    Effect.gen(function* () {
      const { begun, tokenOf, tool } = deferring({ deadline: "3 days" })
      const retried = tool.pipe(Tool.onError({ Declined: Recovery.retry({ retries: 1, initialBackoff: "1 day" }) }))
      const { end, model, settle } = yield* waiting(retried, { isForgetful })
      assert.deepStrictEqual(yield* settle(tokenOf(0), Exit.fail({ _tag: "Declined", why: "no" })), counted as never)
      yield* quiet
      yield* TestClock.adjust("1 day")
      yield* quiet
      yield* quiet
      assert.strictEqual(begun.length, 2)
      assert.strictEqual(begun[0]?.key, begun[1]?.key)
      assert.deepStrictEqual(yield* settle(tokenOf(0), Exit.succeed({ at: 1 })), not("already-settled") as never)
      assert.deepStrictEqual(yield* settle(tokenOf(1), Exit.succeed({ at: 2 })), counted as never)
      yield* quiet
      yield* quiet
      assert.deepStrictEqual(yield* end, Exit.succeed("done"))
      assert.deepStrictEqual(read(model), ['result: {"at":2}'])
      assert.strictEqual(begun.length, 2)
    })
  )

  it.effect(`polls wait without a process, and none is made twice, ${how} [P1527]`, () =>
    Effect.gen(function* () {
      const polls: Array<number> = []
      let starts = 0
      const tool = Tool.deferred("order", {
        description: "Orders.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        start: () => Effect.sync(() => ++starts),
        wait: "suspend",
        deadline: "10 days",
        poll: {
          every: Schedule.spaced("1 day"),
          check: () =>
            Effect.map(Clock.currentTimeMillis, (at) =>
              polls.push(at) === 3 ? Option.some("here") : Option.none<string>()
            )
        }
      })
      const { end, model } = yield* waiting(tool, { isForgetful })
      for (let day = 1; day <= 4; day++) {
        assert.strictEqual(polls.length, day - 1)
        yield* TestClock.adjust("1 day")
        yield* quiet
        yield* quiet
        yield* quiet
        if (day === 3) break
        assert.strictEqual(yield* end, "Suspended")
      }
      assert.deepStrictEqual(yield* end, Exit.succeed("done"))
      assert.deepStrictEqual(read(model), ["result: here"])
      assert.strictEqual(polls.length, 3)
      assert.strictEqual(starts, 1)
    })
  )

  it.effect(`a settlement between two polls counts, ${how} [P1521 P1527]`, () =>
    Effect.gen(function* () {
      const tokens: Array<string> = []
      let polls = 0
      const tool = Tool.deferred("order", {
        description: "Orders.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        start: (_, { token }) => Effect.sync(() => tokens.push(token)),
        wait: "suspend",
        deadline: "10 days",
        poll: { every: Schedule.spaced("1 day"), check: () => Effect.sync(() => (polls++, Option.none())) }
      })
      const { end, model, settle } = yield* waiting(tool, { isForgetful })
      yield* TestClock.adjust("1 day")
      yield* quiet
      yield* quiet
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* settle(tokens[0] ?? "", Exit.succeed("settled")), counted as never)
      yield* quiet
      yield* quiet
      assert.deepStrictEqual(yield* end, Exit.succeed("done"))
      assert.deepStrictEqual(read(model), ["result: settled"])
      assert.strictEqual(polls, 1)
      assert.strictEqual(tokens.length, 1)
    })
  )

  it.effect(`the end of the time of the call ends the wait, ${how} [P1525]`, () =>
    Effect.gen(function* () {
      const cancelled: Array<number> = []
      const tool = Tool.deferred("order", {
        description: "Orders.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        start: () => Effect.succeed(1),
        wait: "suspend",
        deadline: "10 days",
        callTimeout: "2 days",
        cancel: (job) => Effect.sync(() => void cancelled.push(job))
      })
      const { end } = yield* waiting(tool, { isForgetful, isFailing: true })
      yield* TestClock.adjust("2 days")
      yield* quiet
      yield* quiet
      yield* quiet
      assert.match(String(JSON.stringify(yield* end)), /after 2d for the whole call/)
      assert.deepStrictEqual(cancelled, [1])
    })
  )
}

// Finds out nothing of its own: it plays an engine that gives a waiting run away
it.effect("a run that an engine gives to another process cancels nothing, and goes on there [P1526 P1528]", () =>
  Effect.gen(function* () {
    const { begun, cancelled, tokenOf, tool } = deferring({ deadline: "10 days" })
    const { durable, end, engine, id, settle, within } = yield* waiting(tool)
    yield* engine.giveAway
    yield* quiet
    yield* within(Durable.resume(durable, id))
    yield* quiet
    assert.deepStrictEqual(cancelled, [])
    assert.deepStrictEqual(yield* settle(tokenOf(), Exit.succeed({ at: 1 })), counted as never)
    yield* quiet
    yield* quiet
    assert.deepStrictEqual(yield* end, Exit.succeed("done"))
    assert.strictEqual(begun.length, 1)
    assert.deepStrictEqual(cancelled, [])
  })
)

// Finds out nothing of its own: the subject is the interruption by the engine itself
it.effect(
  "a workflow that is interrupted while it waits has no fiber that cancels, and no settlement counts any more [P1526]",
  () =>
    Effect.gen(function* () {
      const { cancelled, tokenOf, tool } = deferring({ deadline: "10 days" })
      const { durable, id, settle, within } = yield* waiting(tool, { isFailing: true })
      yield* within(durable.workflow.interrupt(id))
      yield* quiet
      assert.deepStrictEqual(cancelled, [])
      assert.deepStrictEqual(yield* settle(tokenOf(), Exit.succeed({ at: 1 })), not("run-over") as never)
    })
)

/** A durable run whose process dies; the call is settled once its token is known and the run waits. */
const survivingA = (death: Death, sideEffects: "unsafe" | "undeclared") =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring({ deadline: "10 days", sideEffects })
    const said = reading("outer", (turn) => (turn === 0 ? [call("order")] : [Message.text("done")]))
    const agent = Agent.make("worker", {
      budget: { maxDuration: "20 days" },
      skills: [Skill.make("work", { description: "Works.", tools: [tool] })],
      model: said.layer
    }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    const durable = Durable.workflow(agent, { name: "orders", input: Schema.String, output: Schema.String })
    const engine = yield* watched(false, death)
    return yield* Effect.gen(function* () {
      let stop = yield* process(durable.layer)
      const id = yield* Durable.start(durable, { id: "one", input: "go" })
      let hasDied = false
      const answers: Array<string> = []
      for (let hour = 0; hour < 60; hour++) {
        yield* quiet
        if (!hasDied && (yield* engine.isDying)) {
          hasDied = true
          yield* stop
          yield* engine.kill
          yield* TestClock.adjust("1 hour")
          stop = yield* process(durable.layer)
          yield* Durable.resume(durable, id)
          continue
        }
        const result = Option.getOrUndefined(yield* Durable.poll(durable, id))
        if (result?._tag === "Complete") {
          yield* stop
          return { answers, exit: result.exit, hasDied, starts: begun.length }
        }
        if (result?._tag === "Suspended" && begun.length > 0) {
          const token = tokenOf(begun.length - 1)
          answers.push((yield* Durable.settle(durable, tool, token, Exit.succeed({ at: hour })))._tag)
        }
        yield* TestClock.adjust("1 hour")
      }
      return yield* Effect.die(new Error("it never ended"))
    }).pipe(Effect.provide(engine.layer))
  })

for (const sideEffects of ["unsafe", "undeclared"] as const) {
  // Finds out nothing of its own: it plays a death at each step of a deferred call of core
  it.effect(`a process that dies at any step never calls start twice, ${sideEffects} [P1528]`, () =>
    Effect.gen(function* () {
      const starts: Array<number> = []
      let deaths = 0
      for (let at = 1; at <= 8; at++) {
        for (const when of ["before", "after"] as const) {
          const { answers, exit, hasDied, starts: times } = yield* survivingA({ at, when }, sideEffects)
          if (!hasDied) continue
          deaths++
          assert.deepStrictEqual(exit, Exit.succeed("done"))
          assert.isAtMost(answers.filter((answer) => answer === "Counted").length, 1)
          starts.push(times)
        }
      }
      assert.isAtLeast(deaths, 8)
      // only a start whose end was not recorded is begun again, as the run of any tool
      const repeated = starts.filter((times) => times > 1).length
      assert.strictEqual(repeated, sideEffects === "unsafe" ? 0 : 1)
    })
  )
}
