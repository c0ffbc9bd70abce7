/** `run.say`: a message of the user to a run at work waits in its inbox for the next safe point. */
import { assert } from "@effect/vitest"
import { Agent, Budget, Message, Model, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Deferred, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, batch, busy, calm, done, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { only } from "../../_support/suspension.ts"
import { accounted, eventsOf, lines, runIdOf, slowReply, slowTool, started, wordsOf } from "./_support/saying.ts"

const { answers, make, text } = ScriptedModel

it.effect("a message waits until the calls of the reply are settled, and the next turn reads it [P1580 P1581]", () =>
  Effect.gen(function* () {
    const slow = slowTool("look")
    const model = yield* make(batch("look"), done)
    const run = yield* started(agentWith(slow.tool).start("go"), model)
    yield* slow.begun
    const first = yield* run.say("the red one")
    const second = yield* run.say([{ type: "text", text: "not the blue one" }])
    assert.notStrictEqual(first, second)
    assert.deepStrictEqual(lines(yield* run.transcript), ["user: go", "model: look: interrupted"])
    yield* slow.end
    assert.deepStrictEqual(yield* run.outcome, { _tag: "Completed", output: "done", finish: "stop" })
    const expected = ["user: go", "model: look: result", "user: the red one", "user: not the blue one"]
    assert.deepStrictEqual(lines(model.requests[1]?.messages ?? []), expected)
    const events = yield* eventsOf(run)
    assert.deepStrictEqual(
      only(events, "message-queued").map(({ id, turn }) => ({ id, turn })),
      [
        { id: first, turn: 1 },
        { id: second, turn: 1 }
      ]
    )
    assert.deepStrictEqual(
      only(events, "message-read").map(({ id, turn }) => ({ id, turn })),
      [
        { id: first, turn: 2 },
        { id: second, turn: 2 }
      ]
    )
    yield* accounted(run)
  })
)

it.effect("an answer stays in the transcript, and one more turn answers the message [P1582]", () =>
  Effect.gen(function* () {
    const slow = slowReply(ScriptedModel.reply({ content: [{ type: "text", text: "blue" }] }))
    const model = yield* make(slow.step, text("red"))
    const run = yield* started(Agent.make("worker", {}).start("which?"), model)
    yield* slow.begun
    yield* run.say("not blue")
    yield* slow.end
    assert.deepStrictEqual(yield* run.outcome, { _tag: "Completed", output: "red", finish: "stop" })
    assert.deepStrictEqual(lines(yield* run.transcript), [
      "user: which?",
      "model: blue",
      "user: not blue",
      "model: red"
    ])
    yield* accounted(run)
  })
)

it.effect("a task that is complete goes on too while a message waits [P1582]", () =>
  Effect.gen(function* () {
    const slow = slowReply(
      ScriptedModel.reply({ content: [ScriptedModel.call("complete", { summary: "one" })], finish: "tool-calls" })
    )
    const model = yield* make(slow.step, ScriptedModel.calls(ScriptedModel.call("complete", { summary: "two" }, "c2")))
    const run = yield* started(agentWith(Tool.complete).start("go"), model)
    yield* slow.begun
    yield* run.say("and the other")
    yield* slow.end
    const outcome = yield* run.outcome
    assert(outcome._tag === "Completed" && typeof outcome.output === "object")
    assert.strictEqual(outcome.output.summary, "two")
    yield* accounted(run)
  })
)

it.effect("a message comes back when a failure, an interruption or a limit ends the run first [P1582]", () =>
  Effect.gen(function* () {
    for (const end of ["failure", "interruption", "limit"] as const) {
      const begun = Deferred.makeUnsafe<void>()
      const goOn = Deferred.makeUnsafe<void>()
      const failing = scripted(
        "work",
        Effect.andThen(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn)), Effect.fail(busy()))
      )
      const model = yield* make(batch("work"))
      const budget = end === "limit" ? { maxDuration: "1 second" as const } : {}
      const agent = Agent.make("worker", { budget, tools: [failing.tool] })
      const run = yield* started(agent.start("go"), model)
      yield* Deferred.await(begun)
      yield* run.say("wait")
      if (end === "failure") yield* Deferred.succeed(goOn, undefined)
      if (end === "interruption") yield* run.interrupt
      if (end === "limit") yield* calm.pipe(Effect.andThen(TestClock.adjust("1 second")))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(run.outcome)))
      const events = yield* eventsOf(run)
      const last = events.at(-1)
      assert(last !== undefined && "unread" in last, end)
      assert.deepStrictEqual(wordsOf(last.unread), ["wait"])
      assert.lengthOf(only(events, "message-returned"), 1)
      assert.lengthOf(only(events, "message-read"), 0)
      yield* accounted(run)
    }
  })
)

it.effect("nothing can be said to a run that is over, or that is none [P1580]", () =>
  Effect.gen(function* () {
    const run = yield* started(Agent.make("worker", {}).start("go"), yield* make(done))
    assert.deepInclude(yield* Effect.flip(run.say("hello", { to: "another" })), {
      _tag: "RunOverError",
      runId: "another"
    })
    yield* run.outcome
    const [begin] = yield* eventsOf(run)
    const error = yield* Effect.flip(run.say("too late"))
    assert.deepInclude(error, { _tag: "RunOverError", runId: begin?.runId ?? "", code: "KINTSUGI-RUN-OVER" })
  })
)

it.effect("a run that never begins takes no message [P1580]", () =>
  Effect.gen(function* () {
    const layer = Layer.effectDiscard(Effect.andThen(Effect.sleep("1 second"), Effect.fail("closed")))
    const agent = Agent.make("worker", {}).pipe(Agent.provide(layer))
    const run = yield* started(agent.start("go"), yield* make())
    const saying = yield* Effect.forkChild(Effect.flip(run.say("hello")))
    yield* calm
    yield* TestClock.adjust("1 second")
    assert.deepInclude(yield* Fiber.join(saying), { _tag: "RunOverError", runId: "" })
  })
)

it.effect("a message to a run that is about to begin waits for that [P1580]", () =>
  Effect.gen(function* () {
    const layer = Layer.effectDiscard(Effect.sleep("1 second"))
    const agent = Agent.make("worker", {}).pipe(Agent.provide(layer))
    const model = yield* make(done)
    const run = yield* started(agent.start("go"), model)
    const saying = yield* Effect.forkChild(run.say("hello"))
    yield* calm
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(saying)
    yield* run.outcome
    assert.deepStrictEqual(lines(model.requests[0]?.messages ?? []), ["user: go", "user: hello"])
    assert.strictEqual((yield* eventsOf(run))[0]?.type, "run-start")
    yield* accounted(run)
  })
)

it.effect("the inbox has 64 places, or as many as the budget says [P1580]", () =>
  Effect.gen(function* () {
    for (const most of [64, 2]) {
      const slow = slowTool("look")
      const tools = [slow.tool]
      const agent =
        most === 64 ? Agent.make("worker", { tools }) : Agent.make("worker", { tools, budget: { maxUnread: most } })
      const model = yield* make(batch("look"), done)
      const run = yield* started(agent.start("go"), model)
      yield* slow.begun
      yield* Effect.forEach(Array.from({ length: most }), (_, index) => run.say(`${index}`))
      const error = yield* Effect.flip(run.say("one more"))
      assert.deepInclude(error, { _tag: "InboxFullError", limit: most, code: "KINTSUGI-INBOX-FULL" })
      yield* slow.end
      yield* run.outcome
      assert.lengthOf(only(yield* eventsOf(run), "message-read"), most)
      yield* accounted(run)
    }
    assert.throws(() => Budget.make({ maxUnread: Infinity }), /maxUnread must be a whole number/)
  })
)

it.effect("a run that goes on has as many places, beside what was said before it [P1580 P1585]", () =>
  Effect.gen(function* () {
    const slow = slowReply(ScriptedModel.reply({ content: [{ type: "text", text: "so far" }] }))
    const model = yield* make(slow.step, done)
    const from = [Message.user("go"), Message.assistant("begun")]
    const say = [{ message: "one" }, { message: "two" }]
    const agent = Agent.make("worker", { budget: { maxUnread: 1 } })
    const run = yield* started(Agent.resume(agent).start({ from, say }), model)
    yield* slow.begun
    yield* run.say("three")
    assert.deepInclude(yield* Effect.flip(run.say("four")), { _tag: "InboxFullError", limit: 1 })
    yield* slow.end
    yield* run.outcome
    assert.deepStrictEqual(lines(yield* run.transcript), [
      "user: go",
      "model: begun",
      "user: one",
      "user: two",
      "model: so far",
      "user: three",
      "model: done"
    ])
  })
)

it.effect("a message goes to the started run, or to the run that it names [P1580 P1586]", () =>
  Effect.gen(function* () {
    const slow = slowTool("look")
    const inner = Agent.make("inner", { tools: [slow.tool] })
    const outer = agentWith(Agent.asTool(inner, { description: "Asks." }))
    const model = yield* make(
      ScriptedModel.calls(ScriptedModel.call("inner", { input: "find" })),
      batch("look"),
      text("found"),
      done
    )
    const run = yield* started(outer.start("go"), model)
    yield* slow.begun
    yield* run.say("for the outer")
    yield* run.say("for the inner", { to: yield* runIdOf(run, "inner") })
    yield* slow.end
    yield* run.outcome
    assert.deepStrictEqual(
      model.requests.map(({ messages }) => lines(messages).at(-1)),
      ["user: go", "user: find", "user: for the inner", "user: for the outer"]
    )
    assert.deepStrictEqual(lines(model.requests[3]?.messages ?? []), [
      "user: go",
      "model: inner: result",
      "user: for the outer"
    ])
    yield* accounted(run)
  })
)

it.effect(
  "of two sub-agents with one run id, the one that is at work and has begun last reads the message [P1357 P1586]",
  () =>
    Effect.gen(function* () {
      const look = Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({ seconds: Schema.Finite }),
        success: Schema.String,
        run: ({ seconds }) => Effect.as(Effect.sleep(seconds * 1000), "seen")
      })
      const inner = Agent.make("inner", { tools: [look] }).pipe(Agent.withRunId("shared"))
      const { call, calls } = ScriptedModel
      const ask = (...inputs: ReadonlyArray<string>) => calls(...inputs.map((input) => call("inner", { input }, input)))
      for (const seconds of [
        [60, 10],
        [10, 60]
      ]) {
        const looks = seconds.map((one) => calls(call("look", { seconds: one }, "l")))
        const model = yield* make(ask("one", "two"), ...looks, text("a"), text("b"), done)
        const run = yield* started(agentWith(Agent.asTool(inner, { description: "Asks." })).start("go"), model)
        yield* calm
        const first = yield* run.say("to the second", { to: "shared" })
        yield* TestClock.adjust("20 seconds")
        yield* calm
        const second = yield* run.say("to the other, or to it again", { to: "shared" })
        yield* TestClock.adjust("1 minute")
        assert.deepInclude(yield* run.outcome, { output: "done" })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(run.say("too late", { to: "shared" }))))
        const texts = model.requests
          .slice(3, 5)
          .map(({ messages }) => lines(messages).filter((line) => / to the /.test(line)))
        assert.deepStrictEqual(
          texts,
          seconds[0] === 60
            ? [["user: to the second"], ["user: to the other, or to it again"]]
            : [[], ["user: to the second", "user: to the other, or to it again"]]
        )
        assert.deepStrictEqual(
          only(yield* eventsOf(run), "message-read").map(({ id }) => id),
          [first, second]
        )
        yield* accounted(run)
      }
    })
)

it.effect("what a sub-agent has not read comes back with the outcome of the started run [P1582 P1586]", () =>
  Effect.gen(function* () {
    const hanging = Agent.make("inner", { budget: { maxDuration: "1 second" } })
    const outer = agentWith(Agent.asTool(hanging, { description: "Asks." })).pipe(
      Agent.onToolError({ inner: { BudgetExceededError: Recovery.tell() } })
    )
    const model = yield* make(
      ScriptedModel.calls(ScriptedModel.call("inner", { input: "find" })),
      answers(() => Effect.never),
      done
    )
    const run = yield* started(outer.start("go"), model)
    yield* calm
    yield* run.say("faster", { to: yield* runIdOf(run, "inner") })
    yield* TestClock.adjust("1 second")
    const outcome = yield* run.outcome
    assert(outcome._tag === "Completed")
    assert.deepStrictEqual(wordsOf(outcome.unread), ["faster"])
    assert.deepStrictEqual(
      only(yield* eventsOf(run), "message-returned").map(({ agent }) => agent),
      ["inner"]
    )
    yield* accounted(run)
  })
)

it.effect("a part of a composition is spoken to by its run; the composition reads nothing itself [P1582 P1586]", () =>
  Effect.gen(function* () {
    const slow = slowTool("look")
    const first = Agent.make("first", { tools: [slow.tool] })
    const both = first.pipe(Agent.andThen(Agent.make("second", {})))
    const model = yield* make(batch("look"), text("one"), text("two"))
    const run = yield* started(both.start("go"), model)
    yield* slow.begun
    yield* run.say("to all")
    yield* run.say("to the first", { to: yield* runIdOf(run, "first") })
    yield* slow.end
    const outcome = yield* run.outcome
    assert(outcome._tag === "Completed")
    assert.deepStrictEqual(wordsOf(outcome.unread), ["to all"])
    assert.deepStrictEqual(lines(model.requests[1]?.messages ?? []).at(-1), "user: to the first")
    yield* accounted(run)
  })
)

it.effect("a reply that its provider has paused goes back as it is before a message is read [P1581]", () =>
  Effect.gen(function* () {
    const slow = slowReply(ScriptedModel.reply({ content: [{ type: "text", text: "searching" }], finish: "paused" }))
    const model = yield* make(slow.step, text("found"), done)
    const run = yield* started(Agent.make("worker", {}).start("go"), model)
    yield* slow.begun
    yield* run.say("hurry")
    yield* slow.end
    yield* run.outcome
    assert.deepStrictEqual(lines(model.requests[1]?.messages ?? []), ["user: go", "model: searching"])
    assert.deepStrictEqual(lines(model.requests[2]?.messages ?? []).slice(2), ["model: found", "user: hurry"])
    yield* accounted(run)
  })
)

it.effect("the last turn at a limit reads the messages first; what comes while it is asked comes back [P1582]", () =>
  Effect.gen(function* () {
    const slow = slowTool("look")
    const last = slowReply(ScriptedModel.reply({ content: [{ type: "text", text: "red" }] }))
    const model = yield* make(batch("look"), last.step)
    const agent = Agent.make("worker", { tools: [slow.tool], budget: { maxTurns: 1 } }).pipe(
      Agent.onBudgetExceeded(() => Effect.succeed(Budget.answer))
    )
    const run = yield* started(agent.start("go"), model)
    yield* slow.begun
    yield* run.say("the red one")
    yield* slow.end
    yield* last.begun
    yield* run.say("no, the blue one", { interrupt: true })
    yield* last.end
    const outcome = yield* run.outcome
    assert(outcome._tag === "Completed")
    assert.strictEqual(outcome.output, "red")
    assert.deepStrictEqual(wordsOf(outcome.unread), ["no, the blue one"])
    assert.strictEqual(lines(model.requests[1]?.messages ?? [])[2], "user: the red one")
    yield* accounted(run)
  })
)

it.effect(
  "what was shown of the reply stays as an incomplete message, before the message that ended it [P1583 P1358]",
  () =>
    Effect.gen(function* () {
      let asked = 0
      const half = Stream.concat(Stream.make({ type: "text-delta" as const, text: "It is bl" }), Stream.never)
      const whole = Stream.fromArray(
        ScriptedModel.toParts(ScriptedModel.reply({ content: [{ type: "text", text: "red" }] }))
      )
      const layer = Layer.succeed(Model.Model, {
        name: "m",
        provider: "p",
        generate: () => Effect.never,
        stream: () => (++asked === 1 ? half : whole)
      })
      const run = yield* Effect.provide(Agent.make("worker", {}).start("which?"), layer)
      yield* calm
      yield* run.say("not blue", { interrupt: true })
      assert.deepInclude(yield* run.outcome, { output: "red" })
      assert.deepStrictEqual(lines(yield* run.transcript), [
        "user: which?",
        "model: It is bl",
        "user: not blue",
        "model: red"
      ])
      assert.deepInclude((yield* run.transcript)[1], { role: "assistant", incomplete: true })
      yield* accounted(run)
    })
)
