import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Budget, LlmError, Message, Model, Router, RunError, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer, Stream } from "effect"
import { stopped } from "../../../packages/core/src/recovery/Render.ts"
import { keepShown } from "../../../packages/core/src/run/turn.ts"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  done,
  eventLog,
  failureOf,
  gone,
  interruptedAt,
  lastTranscript,
  overADay,
  scripted
} from "../../_support/dialogue.ts"
import { only, outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { collect, overloaded, restarting, says } from "./_support/streamedEvents.ts"

const { answers, fails, make, text } = ScriptedModel

const cut = (shown: string): Message.Message => ({ ...Message.assistant(shown), incomplete: true })
const thinks: Model.Part = { type: "reasoning-delta", text: "hm" }
const call: Model.Part = { type: "tool-call", id: "c1", name: "look", arguments: '{"n": 1}' }

type Parts = Stream.Stream<Model.Part, LlmError.LlmError>

/** A model that streams these parts at each call. */
const streaming = (parts: Parts) =>
  Layer.succeed(Model.Model, { name: "scripted", provider: "here", generate: () => Effect.never, stream: () => parts })

/** The transcript of a streamed run that is stopped after half a second at the latest. */
const stoppedAt = Effect.fnUntraced(function* (parts: Parts, budget: Budget.Limits = {}) {
  const log = eventLog()
  const agent = Agent.make("worker", { budget }).pipe(log.listen)
  const running = Stream.runDrain(agent.stream("go")).pipe(Effect.provide(streaming(parts)))
  const exit = yield* interruptedAt(500, running)
  const stored = lastTranscript(log.end())
  assert.deepStrictEqual(AgentEvent.transcriptOf(log.all), stored)
  return { end: log.end()?.type, exit, stored: stored.slice(1) }
})

it.effect("what a reader has seen before a stop is in the transcript, marked as incomplete [P1358]", () =>
  Effect.gen(function* () {
    const cutOff = LlmError.NetworkError.make({ host: "h", what: "cut off" })
    const cases: ReadonlyArray<readonly [string, Stream.Stream<never, LlmError.LlmError>, Budget.Limits]> = [
      ["run-interrupted", Stream.never, {}],
      ["run-failed", Stream.never, { maxDuration: 100 }],
      ["run-failed", Stream.fail(cutOff), {}],
      ["run-failed", Stream.empty, {}],
      ["run-failed", Stream.die("a bug"), {}]
    ]
    for (const [end, then, budget] of cases) {
      const parts = Stream.concat(Stream.make(says("The answer "), thinks, says("is ")), then)
      const stop = yield* stoppedAt(parts, budget)
      assert.strictEqual(stop.end, end)
      assert.deepStrictEqual(stop.stored, [cut("The answer is ")])
      if (budget.maxDuration === undefined) continue
      const error = yield* failureOf(stop.exit)
      assert(error instanceof RunError.BudgetExceededError)
      assert.deepStrictEqual(error.transcript, [Message.user("go"), ...stop.stored])
    }
  })
)

it.effect("an incomplete message has nothing but text; without a word of it there is none [P1358]", () =>
  Effect.gen(function* () {
    const cases: ReadonlyArray<readonly [ReadonlyArray<Model.Part>, ReadonlyArray<Message.Message>]> = [
      [[], []],
      [[thinks], []],
      [[says(" \n")], []],
      [[call], []],
      [[says("I look."), call], [cut("I look.")]],
      [[thinks, says("a"), call, says("b")], [cut("ab")]]
    ]
    for (const [parts, expected] of cases) {
      const { stored } = yield* stoppedAt(Stream.concat(Stream.fromIterable(parts), Stream.never))
      assert.deepStrictEqual(stored, expected)
    }
  })
)

it.run("a whole reply that was stopped has shown nothing, and an answer is not marked [P1358]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* make(
      text("all is well"),
      answers(() => Effect.never)
    )
    const agent = agentWith().pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(only(log.all, "turn-end")[0]?.message, Message.assistant("all is well"))
    yield* interruptedAt(5, run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(lastTranscript(log.end()), [Message.user("go")])
  })
)

it.effect("what was discarded, refused, or answered in the place of the model is not kept [P1358]", () =>
  Effect.gen(function* () {
    const half = fails(overloaded(), says("all is "))
    const log = eventLog()
    const model = yield* make(
      half,
      answers(() => Effect.never)
    )
    const stream = agentWith().pipe(restarting, log.listen).stream("go")
    yield* interruptedAt(500, Stream.runDrain(stream).pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(lastTranscript(log.end()), [Message.user("go")])
    const finish: Model.Part = {
      type: "finish",
      finish: "filtered",
      usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
    }
    const refused = yield* stoppedAt(Stream.make(says("I would "), finish))
    assert.deepStrictEqual([refused.end, refused.stored], ["run-failed", []])
  })
)

it.effect("a call of the model before it that has tools is kept too, each with its settlement [P1358]", () =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen"))
    const log = eventLog()
    const model = yield* make(batch("look"), ScriptedModel.cutOff(says("I have ")))
    yield* collect(agentWith(tool).pipe(log.listen).stream("go").pipe(Stream.provide(model.layer)))
    const stored = lastTranscript(log.end())
    assert.deepStrictEqual(
      stored.map(({ role }) => role),
      ["user", "assistant", "assistant"]
    )
    assert.deepStrictEqual(stored.at(-1), cut("I have "))
    assert.deepStrictEqual(AgentEvent.transcriptOf(log.all), stored)
  })
)

it.run("a run goes on from it: what was shown stays, and the model is asked for the whole answer [P1358]", (run) =>
  Effect.gen(function* () {
    const from = [Message.user("go"), cut("The answer "), Message.user("Shorter."), cut("It ")]
    const model = yield* make(text("It is 42."), text("42"))
    const log = eventLog()
    const agent = agentWith().pipe(log.listen)
    const resumed = run(Agent.resume(agent), { from })
    assert.strictEqual(yield* resumed.pipe(Effect.provide(model.layer)), "It is 42.")
    const whole = [...from, Message.user(stopped)]
    assert.deepStrictEqual(model.requests[0]?.messages, whole)
    assert.deepStrictEqual(AgentEvent.transcriptOf(log.all), [...whole, Message.assistant("It is 42.")])
    // where the user says something, that stands behind it
    const other = run(Agent.resume(agent), { from, input: "Just the number." })
    assert.strictEqual(yield* other.pipe(Effect.provide(model.layer)), "42")
    assert.deepStrictEqual(model.requests[1]?.messages, [...from, Message.user("Just the number.")])
  })
)

it.run("the input of a run that goes on is still what the user has said [P1358]", (run) =>
  Effect.gen(function* () {
    let input = ""
    const rule = Router.byRule((said) => {
      input = said
      return "one"
    })
    const skills = ["one", "two"].map((name) => Skill.make(name, { description: name }))
    const agent = Agent.make("chooser", { skills }).pipe(Agent.route(rule))
    const model = yield* make(done, done)
    const from = [Message.user("go"), cut("The answer ")]
    yield* run(Agent.resume(agent), { from }).pipe(Effect.provide(model.layer))
    assert.strictEqual(input, "go")
    // nor is the word of the run, where it is stopped a second time
    input = ""
    const second = [...from, Message.user(stopped), cut("It ")]
    yield* run(Agent.resume(agent), { from: second }).pipe(Effect.provide(model.layer))
    assert.strictEqual(input, "go")
  })
)

it.effect("a run that is suspended at its limit in the middle of an answer goes on from it [P1358]", () =>
  Effect.gen(function* () {
    const agent = Agent.make("worker", { budget: { maxDuration: 100 } }).pipe(
      Agent.onBudgetExceeded(() => Effect.succeed(Budget.checkpoint))
    )
    const parts = Stream.concat(Stream.make(says("The answer ")), Stream.never)
    const handle = yield* agent.start("go").pipe(Effect.provide(streaming(parts)))
    const exit = yield* overADay(handle.outcome)
    assert(exit._tag === "Success")
    const from = yield* snapshotOf(exit.value)
    assert.deepStrictEqual(from.transcript, [Message.user("go"), cut("The answer ")])
    assert.isUndefined(from.unfinished)
    const events = yield* Stream.runCollect(handle.events)
    assert.deepStrictEqual(AgentEvent.transcriptOf(events), from.transcript)
    const model = yield* make(done)
    const outcome = yield* outcomeOf(Agent.resume(agent), { from, budget: { maxDuration: "1 day" } }, model)
    assert.deepInclude(outcome, { _tag: "Completed", output: "done" })
    assert.deepStrictEqual(model.requests[0]?.messages, [...from.transcript, Message.user(stopped)])
  })
)

it.effect("a sub-agent that is streamed keeps what it has shown when its parent is stopped [P1358]", () =>
  Effect.gen(function* () {
    const parts = Stream.concat(Stream.make(says("Half ")), Stream.never)
    const expert = Agent.make("expert", { model: streaming(parts) })
    const bad = Effect.andThen(Effect.sleep("100 millis"), Effect.fail(gone()))
    for (const siblings of ["settleAll", "interrupt"] as const) {
      const log = eventLog()
      const ask = scripted("ask", Effect.as(Stream.runDrain(expert.stream("why?")), "well")).tool
      const agent = Agent.make("worker", {
        siblings,
        budget: { maxDuration: "1 minute" },
        skills: [{ name: "work", description: "Works.", tools: [ask, scripted("bad", bad).tool] }]
      }).pipe(log.listen)
      const model = yield* make(batch("ask", "bad"))
      yield* overADay(Stream.runDrain(agent.stream("go")).pipe(Effect.provide(model.layer)))
      const ended = log.all.findLast((event) => event.agent === "expert" && AgentEvent.isTerminal(event))
      assert.deepStrictEqual(lastTranscript(ended), [Message.user("why?"), cut("Half ")])
    }
  })
)

it.effect("a part of a composition keeps what it has shown [P1358]", () =>
  Effect.gen(function* () {
    const log = eventLog()
    const parts = Stream.concat(Stream.make(says("Half ")), Stream.never)
    const expert = Agent.make("expert", { model: streaming(parts) }).pipe(log.listen)
    const both = Agent.andThen(
      expert,
      Agent.deterministic("shout", (said: string) => Effect.succeed(said))
    )
    yield* interruptedAt(5, Stream.runDrain(both.stream("go")))
    assert.deepStrictEqual(lastTranscript(log.end() ?? log.all.at(-1)), [Message.user("go"), cut("Half ")])
  })
)

it.effect("a step of the run can keep what was shown, and go on in the same transcript [P1358]", () =>
  Effect.gen(function* () {
    const closed: Array<Message.Assistant> = []
    const keep = (shown: Message.Assistant | undefined) =>
      keepShown(
        {
          run: { emit: undefined },
          state: { incomplete: () => shown, close: (one: never) => closed.push(one) }
        } as never,
        () => Effect.succeed(closed.length)
      )
    assert.strictEqual(yield* keep(undefined), 0)
    assert.strictEqual(yield* keep(Message.incomplete("Half ")), 1)
  })
)

it.effect(
  "a partial text that the model itself puts into its failure stays there, if a reader has seen nothing [P501]",
  () =>
    Effect.gen(function* () {
      const cutOff = LlmError.NetworkError.make({ host: "h", what: "cut off", partial: "Half" })
      const failure = yield* Stream.runDrain(agentWith().stream("go")).pipe(
        Effect.provide(streaming(Stream.fail(cutOff))),
        Effect.flip
      )
      assert.deepInclude(failure, { _tag: "NetworkError", partial: "Half" })
    })
)
