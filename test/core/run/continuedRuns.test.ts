import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Budget, LlmError, Message, Recovery, Router, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Stream } from "effect"
import { stopped } from "../../../packages/core/src/recovery/Render.ts"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  done,
  eventLog,
  interruptedAt,
  lastTranscript,
  overADay,
  read,
  scripted
} from "../../_support/dialogue.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { continuing, cut, goingOn, readAlong, scriptedGoingOn } from "./_support/continued.ts"
import { collect, overloaded, restarting, says } from "./_support/streamedEvents.ts"

const { answers, fails, make, replies, reply, text } = ScriptedModel

const from = [Message.user("go"), cut("all is ")]

it.run("a resumed run goes on from the incomplete message, which becomes one with the rest [P1563 P1561]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* scriptedGoingOn("whole", text("all is well"))
    const agent = agentWith().pipe(log.listen)
    const resumed = run(Agent.resume(agent), { from, incomplete: "continue" })
    assert.strictEqual(yield* resumed.pipe(Effect.provide(model.layer)), "all is well")
    assert.deepStrictEqual(model.requests[0]?.messages, [Message.user("go"), cut("all is")])
    assert.deepStrictEqual(
      log.of("attempt-continued").map(({ attempt, kept }) => [attempt, kept]),
      [[0, "all is "]]
    )
    assert.deepStrictEqual(AgentEvent.transcriptOf(log.all), [Message.user("go"), Message.assistant("all is well")])
    if (run.isStreamed) assert.deepStrictEqual(readAlong(log.all), ["all is well"])
  })
)

it.run("by default it is kept, and it can be dropped [P1563]", (run) =>
  Effect.gen(function* () {
    for (const [incomplete, before] of [
      [undefined, [...from, Message.user(stopped)]],
      ["keep", [...from, Message.user(stopped)]],
      ["drop", [Message.user("go")]]
    ] as const) {
      const log = eventLog()
      const model = yield* goingOn(text("well"))
      const resumption = { from, ...(incomplete === undefined ? {} : { incomplete }) }
      yield* run(Agent.resume(agentWith().pipe(log.listen)), resumption).pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(model.requests[0]?.messages, before)
      assert.deepStrictEqual(AgentEvent.transcriptOf(log.all), [...before, Message.assistant("well")])
      assert.lengthOf(log.of("attempt-continued"), 0)
    }
  })
)

it.run(
  "a model that cannot go on is asked for the whole answer; a message of the user only where it is given [P1560 P1563]",
  (run) =>
    Effect.gen(function* () {
      const model = yield* make(text("all is well"), text("well"))
      const agent = agentWith()
      const resumption = { from, incomplete: "continue" } as const
      yield* run(Agent.resume(agent), resumption).pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(model.requests[0]?.messages, [...from, Message.user(stopped)])
      const resumed = Agent.resume(agent.pipe(continuing(1, "message")))
      assert.strictEqual(yield* run(resumed, resumption).pipe(Effect.provide(model.layer)), "all is well")
      assert.deepStrictEqual(model.requests[1]?.messages.slice(0, 2), [Message.user("go"), cut("all is")])
    })
)

it.run("behind new input, and with a last message that is whole, nothing is continued [P1563]", (run) =>
  Effect.gen(function* () {
    const model = yield* goingOn(text("well"), text("well"))
    for (const more of [{ input: "Shorter." }, { say: "Shorter." }]) {
      const resumed = run(Agent.resume(agentWith()), { from, incomplete: "continue", ...more })
      assert.strictEqual(yield* resumed.pipe(Effect.provide(model.layer)), "well")
    }
    assert.deepStrictEqual(model.requests[0]?.messages, [...from, Message.user("Shorter.")])
    assert.deepStrictEqual(model.requests[1]?.messages, [...from, Message.user("Shorter.")])
    for (const incomplete of ["continue", "drop"] as const) {
      const whole = [Message.user("go"), Message.assistant("all is well")]
      const resumed = run(Agent.resume(agentWith()), { from: whole, incomplete })
      assert.strictEqual(yield* resumed.pipe(Effect.provide(model.layer)), "all is well")
    }
  })
)

it.run("only an answer that broke off before the user's last word is continued [P1563 P1560]", (run) =>
  Effect.gen(function* () {
    const go = Message.user("go")
    const stop = Message.user(stopped)
    const withheld: Message.Assistant = { ...Message.assistant("all is "), withheld: true }
    const cases: ReadonlyArray<Message.Transcript> = [
      [],
      [go],
      [go, stop],
      [go, withheld],
      [go, Message.assistant("all is "), stop],
      [go, cut(" \n")],
      [go, cut("all is "), Message.system(stopped)],
      [go, cut("all is "), stop, go]
    ]
    for (const from of cases) {
      const log = eventLog()
      const model = yield* goingOn(text("well"))
      const resumed = run(Agent.resume(agentWith().pipe(log.listen)), { from, incomplete: "continue" })
      assert.strictEqual(yield* resumed.pipe(Effect.provide(model.layer)), "well", JSON.stringify(from))
      assert.deepStrictEqual(log.of("attempt-continued"), [])
    }
  })
)

it.run("an error of a continued run has the text that was continued in front of its own [P1563 P1561]", (run) =>
  Effect.gen(function* () {
    for (const added of ["", "not "]) {
      const error = added === "" ? overloaded() : LlmError.ModelOverloadedError.make({ model: "m", partial: added })
      const step = run.isStreamed ? fails(overloaded(), ...(added === "" ? [] : [says(added)])) : fails(error)
      const model = yield* goingOn(step)
      const resumed = run(Agent.resume(agentWith()), { from, incomplete: "continue" })
      assert.deepInclude(yield* Effect.flip(resumed.pipe(Effect.provide(model.layer))), {
        _tag: "ModelOverloadedError",
        partial: `all is ${added}`
      })
    }
  })
)

it.run("a rest of thoughts alone leaves the text behind them [P1562]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const thoughts: Message.Reply["content"] = [{ type: "reasoning", text: "so" }]
    const model = yield* goingOn(replies(reply({ content: thoughts })))
    const resumed = run(Agent.resume(agentWith().pipe(log.listen)), { from, incomplete: "continue" })
    assert.strictEqual(yield* resumed.pipe(Effect.provide(model.layer)), "all is ")
    assert.deepStrictEqual(log.of("model-end")[0]?.reply.content, [...thoughts, Message.text("all is ")])
  })
)

it.effect("a whole run in a streamed one repeats an attempt that has added text [P1563]", () =>
  Effect.gen(function* () {
    const inner = yield* goingOn(fails(overloaded(), says("not ")), text("well"))
    const expert = Agent.make("expert", { model: inner.layer }).pipe(
      Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) })
    )
    const { tool } = scripted("ask", Effect.orDie(Agent.resume(expert)({ from, incomplete: "continue" })))
    const model = yield* make(batch("ask"), done)
    const { events } = yield* collect(agentWith(tool).stream("go").pipe(Stream.provide(model.layer)))
    assert.deepInclude(events.at(-1), { type: "run-completed", output: "done" })
    assert.deepStrictEqual(read(model), ["result: well"])
    assert.deepStrictEqual(inner.requests[1]?.messages, [Message.user("go")])
  })
)

it.effect("a continued run that breaks off again follows its table, and keeps all that was shown [P1563 P1561]", () =>
  Effect.gen(function* () {
    const broken = (...parts: Parameters<typeof fails> extends readonly [unknown, ...infer Parts] ? Parts : never) =>
      fails(overloaded(), ...parts)
    const more = text("well")
    const agent = agentWith()
    const retrying = agent.pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }))
    const cases = [
      // nothing new was shown: the attempt is repeated silently
      [retrying, [broken(), more], cut("all is"), "all is well", "run-completed"],
      [retrying, [broken(says("not "))], undefined, "all is not ", "run-failed"],
      [agent.pipe(continuing()), [broken(says("not ")), more], cut("all is not"), "all is not well", "run-completed"],
      [agent.pipe(restarting), [broken(says("not ")), more], Message.user("go"), "well", "run-completed"]
    ] as const
    for (const [worker, steps, last, whole, end] of cases) {
      const model = yield* goingOn(...steps)
      const stream = Agent.resume(worker).stream({ from, incomplete: "continue" })
      const { events } = yield* collect(stream.pipe(Stream.provide(model.layer)))
      assert.strictEqual(events.at(-1)?.type, end)
      assert.deepStrictEqual(readAlong(events), [whole])
      assert.deepStrictEqual(model.requests[1]?.messages.at(-1), last)
      const shown = end === "run-completed" ? Message.assistant(whole) : cut(whole)
      assert.deepStrictEqual(AgentEvent.transcriptOf(events), [Message.user("go"), shown])
    }
  })
)

it.run("a continued run that is stopped before a new word has the message as it was [P1563 P1358]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* goingOn(answers(() => Effect.never))
    const resumed = run(Agent.resume(agentWith().pipe(log.listen)), { from, incomplete: "continue" })
    yield* interruptedAt(5, resumed.pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(lastTranscript(log.end()), from)
    assert.deepStrictEqual(AgentEvent.transcriptOf(log.all), from)
  })
)

it.effect("a suspended run goes on from what it had shown, or without it, in a skill too [P1563]", () =>
  Effect.gen(function* () {
    const skills = ["one", "two"].map((name) => Skill.make(name, { description: name, prompt: `Be ${name}.` }))
    const agent = Agent.make("worker", { skills, budget: { maxDuration: 100 } }).pipe(
      Agent.route(Router.byRule(() => "one")),
      Agent.onBudgetExceeded(() => Effect.succeed(Budget.checkpoint))
    )
    for (const incomplete of ["continue", "drop"] as const) {
      const never = { ...answers(() => Effect.never), parts: [says("all is ")] }
      const first = yield* goingOn(never)
      const handle = yield* agent.start("go").pipe(Effect.provide(first.layer))
      yield* Effect.forkScoped(Stream.runDrain(handle.events))
      const exit = yield* overADay(handle.outcome)
      assert(exit._tag === "Success")
      const from = yield* snapshotOf(exit.value)
      assert.deepStrictEqual(from.transcript, [Message.system("Be one."), Message.user("go"), cut("all is ")])
      const model = yield* goingOn(text("well"))
      const resumption = { from, incomplete, budget: { maxDuration: "1 day" } } as const
      const outcome = yield* outcomeOf(Agent.resume(agent), resumption, model)
      const whole = incomplete === "continue" ? "all is well" : "well"
      assert.deepInclude(outcome, { _tag: "Completed", output: whole })
      const before = [Message.system("Be one."), Message.user("go")]
      assert.deepStrictEqual(model.requests[0]?.messages, incomplete === "drop" ? before : [...before, cut("all is")])
    }
  })
)

it.run("a sub-agent that is a tool continues its reply by its own table [P1560]", (run) =>
  Effect.gen(function* () {
    const inner = yield* goingOn(fails(overloaded(), says("all is ")), text("well"))
    const expert = Agent.make("expert", { model: inner.layer }).pipe(continuing())
    const log = eventLog()
    const agent = agentWith(Agent.asTool(expert, { name: "ask", description: "Asks." })).pipe(log.listen)
    const model = yield* make(ScriptedModel.calls(ScriptedModel.call("ask", { input: "why?" })), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    const whole = run.isStreamed ? "all is well" : "well"
    assert.deepStrictEqual(read(model), [`result: ${whole}`])
    assert.lengthOf(log.of("attempt-continued"), run.isStreamed ? 1 : 0)
    if (run.isStreamed) assert.deepStrictEqual(inner.requests[1]?.messages.at(-1), cut("all is"))
  })
)

it.effect("a part of a composition continues its own reply, by its own table [P1560]", () =>
  Effect.gen(function* () {
    const inner = yield* goingOn(fails(overloaded(), says("all is ")), text("well"))
    const expert = Agent.make("expert", { model: inner.layer }).pipe(continuing())
    const shout = Agent.andThen(
      expert,
      Agent.deterministic("shout", (said: string) => Effect.succeed(`${said}!`))
    )
    const { events } = yield* collect(shout.stream("go"))
    assert.deepInclude(events.at(-1), { type: "run-completed", output: "all is well!" })
  })
)
