import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Compaction, LlmError, Message, Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema, Stream } from "effect"
import { continuing as howToGoOn } from "../../../packages/core/src/run/Continuing.ts"
import type { Calling } from "../../../packages/core/src/run/modelCallState.ts"
import { continued } from "../../../packages/core/src/recovery/Render.ts"
import { it } from "../../_support/run.ts"
import { agentWith, done, eventLog, interruptedAt, lastTranscript, scripted } from "../../_support/dialogue.ts"
import { only } from "../../_support/suspension.ts"
import { continuing, cut, goingOn, readAlong, scriptedGoingOn } from "./_support/continued.ts"
import { collect, overloaded, says } from "./_support/streamedEvents.ts"

const { answers, cutOff, fails, make, reply, replies, text } = ScriptedModel
const thinks = (text: string): Model.Part => ({ type: "reasoning-delta", text })
const call: Model.Part = { type: "tool-call", id: "c1", name: "look", arguments: '{"n": 1}' }

/** What a reader of the stream sees, in order. */
const seen = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.flatMap((event) => {
    if (event.type === "text-delta" || event.type === "reasoning-delta") return [event.text]
    if (event.type === "attempt-discarded") return [`discarded ${event.attempt}: ${event.text}`]
    return event.type === "attempt-continued" ? [`goes on ${event.attempt}: ${event.kept}`] : []
  })

it.effect(
  "after text, the next request ends with it, and the new text comes behind it in one message [P1560 P1561 P1359]",
  () =>
    Effect.gen(function* () {
      const log = eventLog()
      const model = yield* goingOn(fails(overloaded(), says("all "), says("is ")), text("well"))
      const agent = agentWith().pipe(continuing(), log.listen)
      const { events } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
      assert.deepStrictEqual(seen(events), ["all ", "is ", "goes on 1: all is ", "we", "ll"])
      assert.deepInclude(events.at(-1), { type: "run-completed", output: "all is well" })
      assert.deepStrictEqual(model.requests[1]?.messages, [Message.user("go"), cut("all is")])
      assert.deepStrictEqual(AgentEvent.transcriptOf(events), [Message.user("go"), Message.assistant("all is well")])
      assert.deepStrictEqual(only(log.all, "model-end")[0]?.reply.content, [Message.text("all is well")])
      assert.deepStrictEqual(readAlong(events), ["all is well"])
      assert.deepStrictEqual(
        only(events, "attempt-continued").map((event) => "dropped" in event),
        [false]
      )
    })
)

it.run("a whole reply that fails was not shown, and is asked for again as it was [P1560]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* goingOn(fails(overloaded()), text("all is well"))
    const agent = agentWith().pipe(continuing(), log.listen)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "all is well")
    assert.deepStrictEqual(model.requests[1]?.messages, [Message.user("go")])
    assert.lengthOf(log.of("attempt-continued"), 0)
  })
)

it.effect(
  "a second break in the continuation goes on from both texts, each attempt booked by itself [P1561 P1563]",
  () =>
    Effect.gen(function* () {
      const log = eventLog()
      const model = yield* goingOn(
        fails(overloaded(), says("one ")),
        cutOff(says("two ")),
        fails(overloaded()),
        text("three")
      )
      const agent = agentWith().pipe(continuing(3), log.listen)
      const { events } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
      assert.deepStrictEqual(seen(events), ["one ", "goes on 1: one ", "two ", "goes on 2: one two ", "thr", "ee"])
      assert.deepInclude(events.at(-1), { type: "run-completed", output: "one two three" })
      const last = model.requests.map(({ messages }) => messages.at(-1))
      assert.deepStrictEqual(last.slice(1), [cut("one"), cut("one two"), cut("one two")])
      const end = log.end()
      assert(end?.type === "run-completed")
      assert.deepStrictEqual(
        end.ledger.map(({ attempt, outcome, usage }) => [attempt, outcome, usage.outputTokens]),
        [
          [1, "failed", 0],
          [2, "failed", 0],
          [3, "failed", 0],
          [4, "used", 5]
        ]
      )
      assert.deepStrictEqual(
        log.of("verdict").map(({ attempt, gaveUp, verdict }) => [attempt, gaveUp, verdict]),
        [
          [1, false, "retry"],
          [2, false, "retry"],
          [3, false, "retry"]
        ]
      )
    })
)

it.effect(
  "a model that declares no continuation is not continued: the rung gives up, and the next one is asked [P1560]",
  () =>
    Effect.gen(function* () {
      const log = eventLog()
      const model = yield* make(fails(overloaded(), says("all ")))
      const ladder = Recovery.ladder(Recovery.retry({ retries: 5 }), Recovery.respondWith("enough"))
      const agent = agentWith().pipe(Agent.onLlmError({ orElse: ladder }, { onPartial: "continue" }), log.listen)
      const { events } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
      assert.deepStrictEqual(seen(events), ["all ", "discarded 1: all "])
      assert.deepInclude(events.at(-1), { type: "run-completed", output: "enough" })
      assert.deepStrictEqual(
        log.of("verdict").map(({ gaveUp, verdict, why }) => [verdict, gaveUp, why]),
        [
          ["retry", true, "no-continuation"],
          ["respondWith", false, undefined]
        ]
      )
      const codec = Schema.fromJsonString(AgentEvent.AgentEvent)
      const written = Schema.decodeUnknownSync(codec)(Schema.encodeSync(codec)(log.of("verdict")[0] ?? assert.fail()))
      assert.deepInclude(written, { gaveUp: true, why: "no-continuation" })
    })
)

it.effect(
  "a blank text is none: the attempt is discarded, and the row retries as if nothing had been shown [P1560]",
  () =>
    Effect.gen(function* () {
      // of a model that declares no continuation too
      for (const continuation of ["rest", undefined] as const) {
        const log = eventLog()
        const model = yield* scriptedGoingOn(continuation, fails(overloaded(), says(" "), says("\n")), text("well"))
        const agent = agentWith().pipe(continuing(), log.listen)
        const { events } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
        assert.deepStrictEqual(seen(events), [" ", "\n", "discarded 1:  \n", "we", "ll"])
        assert.deepStrictEqual(
          log.of("verdict").map(({ gaveUp, verdict, why }) => [verdict, gaveUp, why]),
          [["retry", false, undefined]]
        )
        assert.deepStrictEqual(model.requests[1]?.messages, [Message.user("go")])
        const end = log.end()
        assert(end?.type === "run-completed")
        assert.deepStrictEqual(
          end.ledger.map(({ outcome }) => outcome),
          ["discarded", "used"]
        )
        assert.deepStrictEqual(readAlong(events), ["well"])
      }
    })
)

it.effect("neither JSON nor a forced call is continued [P1560]", () =>
  Effect.gen(function* () {
    const whyOf = Effect.fnUntraced(function* <A extends Model.Part>(
      agent: (log: ReturnType<typeof eventLog>) => {
        stream: (input: string) => Stream.Stream<AgentEvent.AgentEvent, unknown, Model.Model>
      },
      ...parts: ReadonlyArray<A>
    ) {
      const log = eventLog()
      const model = yield* goingOn(fails(overloaded(), ...parts))
      yield* collect(agent(log).stream("go").pipe(Stream.provide(model.layer)))
      return log.of("verdict").map(({ why }) => why)
    })
    const typed = (log: ReturnType<typeof eventLog>) =>
      Agent.make("worker", { output: Schema.Struct({ n: Schema.Finite }) }).pipe(continuing(), log.listen)
    assert.deepStrictEqual(yield* whyOf(typed, says('{"n": ')), ["no-continuation"])
    const { service } = yield* goingOn()
    const request: Model.Request = { messages: [], tools: [], toolChoice: "auto" }
    const shown = { text: "all", of: new Model.Collector() }
    const callOf = (model: Model.Service, request: Model.Request): Calling => ({
      options: { model, request, rows: new Map(), onPartial: "fail", isStreamed: true, run: undefined as never },
      request,
      state: { type: "Idle", attempts: 1, shown },
      prefix: undefined
    })
    const admits = (toolChoice: Model.ToolChoice, by?: "message") =>
      howToGoOn(by).admits(callOf(service, { ...request, toolChoice }))
    assert.deepStrictEqual([admits("auto"), admits("none")], [true, true])
    for (const forced of ["required", { tool: "look" }] as const) {
      assert.deepStrictEqual([admits(forced), admits(forced, "message")], [false, false])
    }
  })
)

it.effect("a user message asks for the rest only where it is given, and is in no transcript [P1560]", () =>
  Effect.gen(function* () {
    for (const continuation of [undefined, "rest"] as const) {
      const model = yield* scriptedGoingOn(continuation, fails(overloaded(), says("all is ")), text("well"))
      const agent = agentWith().pipe(continuing(1, "message"))
      const { events } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
      const asked = continuation === undefined ? [Message.user(continued)] : []
      assert.deepStrictEqual(model.requests[1]?.messages, [Message.user("go"), cut("all is"), ...asked])
      assert.deepStrictEqual(AgentEvent.transcriptOf(events), [Message.user("go"), Message.assistant("all is well")])
    }
  })
)

it.effect(
  "white space that was not sent comes once, and a repeated text is left out where the model says so [P1561]",
  () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly ["rest" | "whole", string, ReadonlyArray<string>, string]> = [
        ["rest", "all ", [" is well"], "all is well"],
        ["rest", "all ", ["is well"], "all is well"],
        ["rest", "all\n", ["\n\nis"], "all\n\nis"],
        ["rest", "all\n\n", ["\n", "is"], "all\n\nis"],
        ["rest", "all \n", [" ", "\n", "is"], "all \nis"],
        ["rest", "all ", ["\nis"], "all \nis"],
        ["rest", "all", [" is"], "all is"],
        ["rest", "all", ["all"], "allall"],
        ["rest", "all", [], "all"],
        ["whole", "all ", ["al", "l is", " well"], "all is well"],
        ["whole", "all is", ["all is well"], "all is well"],
        ["whole", "all is ", [" well"], "all is well"],
        ["whole", "all", [" is"], "all is"],
        ["whole", "all is", ["all", " was"], "all isall was"],
        ["whole", "all is", ["al"], "all isal"],
        ["whole", "all", ["all"], "all"]
      ]
      for (const [continuation, shown, pieces, whole] of cases) {
        const step = ScriptedModel.fails(overloaded(), says(shown))
        const rest = { ...replies(reply({ content: [] })), parts: pieces.map(says) }
        const model = yield* scriptedGoingOn(continuation, step, rest)
        const { events } = yield* collect(agentWith().pipe(continuing()).stream("go").pipe(Stream.provide(model.layer)))
        const label = JSON.stringify([continuation, shown, pieces])
        assert.deepInclude(events.at(-1), { type: "run-completed", output: whole }, label)
        assert.deepStrictEqual(readAlong(events), [whole], label)
        assert.strictEqual(
          only(events, "text-delta")
            .map(({ text }) => text)
            .join(""),
          whole,
          label
        )
      }
    })
)

it.effect(
  "calls of the broken reply are dropped with an event, not run, and not sent back; thoughts are not continued [P1562]",
  () =>
    Effect.gen(function* () {
      const { runs, tool } = scripted("look", Effect.succeed("seen"))
      const thoughts: Message.Reply = reply({
        content: [{ type: "reasoning", text: "so" }, Message.text("see."), ScriptedModel.call("look", {}, "c2")]
      })
      const model = yield* goingOn(cutOff(thinks("hm"), says("I look"), call, says(" and ")), replies(thoughts), done)
      const { events } = yield* collect(
        agentWith(tool).pipe(continuing()).stream("go").pipe(Stream.provide(model.layer))
      )
      assert.deepStrictEqual(
        only(events, "attempt-continued").map(({ dropped }) => dropped),
        [[{ callId: "c1", tool: "look" }]]
      )
      assert.deepStrictEqual(model.requests[1]?.messages, [Message.user("go"), cut("I look and")])
      assert.deepStrictEqual(
        runs.map(({ context }) => context.callId),
        ["c2"]
      )
      assert.notInclude(JSON.stringify(model.requests[2]?.messages), "c1")
      assert.notInclude(JSON.stringify(model.requests[2]?.messages), "hm")
      const [, message] = AgentEvent.transcriptOf(events)
      assert(message?.role === "assistant")
      assert.deepStrictEqual(message.content.slice(0, 2), [
        { type: "reasoning", text: "so" },
        Message.text("I look and see.")
      ])
      assert.deepStrictEqual(readAlong(events), ["I look and see.", "done"])
    })
)

it.effect("a continuation that shows thoughts alone keeps the text [P1562 P1561]", () =>
  Effect.gen(function* () {
    const model = yield* goingOn(fails(overloaded(), says("all ")), fails(overloaded(), thinks("hm")), text("is well"))
    const { events } = yield* collect(agentWith().pipe(continuing(2)).stream("go").pipe(Stream.provide(model.layer)))
    assert.deepStrictEqual(seen(events), ["all ", "goes on 1: all ", "hm", "goes on 2: all ", "is w", "ell"])
    assert.deepInclude(events.at(-1), { type: "run-completed", output: "all is well" })
  })
)

it.effect("thoughts amid a repeated text do not let it through [P1561]", () =>
  Effect.gen(function* () {
    const rest = { ...text(""), parts: [says("al"), thinks("hm"), says("l is"), says(" well")] }
    const model = yield* scriptedGoingOn("whole", fails(overloaded(), says("all is")), rest)
    const { events } = yield* collect(agentWith().pipe(continuing()).stream("go").pipe(Stream.provide(model.layer)))
    assert.deepStrictEqual(seen(events), ["all is", "goes on 1: all is", "hm", " well"])
  })
)

it.effect("thoughts without text are discarded, and the reply is asked for again [P1560 P501]", () =>
  Effect.gen(function* () {
    const model = yield* goingOn(fails(overloaded(), thinks("hm")), text("well"))
    const { events } = yield* collect(agentWith().pipe(continuing()).stream("go").pipe(Stream.provide(model.layer)))
    assert.deepStrictEqual(seen(events), ["hm", "discarded 1: ", "we", "ll"])
    assert.deepStrictEqual(model.requests[1]?.messages, [Message.user("go")])
  })
)

it.effect("an error that is left has all of the shown text, and so has the transcript [P1561]", () =>
  Effect.gen(function* () {
    for (const parts of [[], [says("two ")]]) {
      const shown = parts.length === 0 ? "one " : "one two "
      const log = eventLog()
      const model = yield* goingOn(fails(overloaded(), says("one ")), fails(overloaded(), ...parts))
      const agent = agentWith().pipe(continuing(), log.listen)
      const { events, exit } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
      assert.deepInclude(yield* Effect.flip(exit), { _tag: "ModelOverloadedError", partial: shown })
      assert.deepStrictEqual(lastTranscript(log.end()), [Message.user("go"), cut(shown)])
      assert.deepStrictEqual(AgentEvent.transcriptOf(events), lastTranscript(log.end()))
      assert.deepStrictEqual(readAlong(events), [shown])
    }
  })
)

it.effect("an answer of a row discards all that the reply has shown [P1561 P502]", () =>
  Effect.gen(function* () {
    const ladder = Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.respondWith("enough"))
    for (const parts of [[], [says("two ")]]) {
      const model = yield* goingOn(fails(overloaded(), says("one ")), fails(overloaded(), ...parts))
      const agent = agentWith().pipe(Agent.onLlmError({ orElse: ladder }, { onPartial: "continue" }))
      const { events } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
      assert.deepInclude(events.at(-1), { type: "run-completed", output: "enough" })
      assert.strictEqual(only(events, "attempt-discarded")[0]?.text, parts.length === 0 ? "one " : "one two ")
      assert.deepStrictEqual(readAlong(events), [""])
    }
  })
)

it.effect("a run that is stopped in the wait or in the continuation keeps all that was shown [P1561 P1358]", () =>
  Effect.gen(function* () {
    const never = answers(() => Effect.never)
    const waiting = Agent.onLlmError(
      { orElse: Recovery.retry({ retries: 1, initialBackoff: "1 second", jitter: "none" }) },
      { onPartial: "continue" }
    )
    for (const [at, shown, steps] of [
      [500, "one ", []],
      [1500, "one ", [never]],
      [1500, "one two ", [{ ...never, parts: [says("two ")] }]]
    ] as const) {
      const log = eventLog()
      const model = yield* goingOn(fails(overloaded(), says("one ")), ...steps)
      const agent = agentWith().pipe(waiting, log.listen)
      yield* interruptedAt(at, Stream.runDrain(agent.stream("go")).pipe(Effect.provide(model.layer)))
      assert.strictEqual(log.end()?.type, "run-interrupted")
      assert.deepStrictEqual(lastTranscript(log.end()), [Message.user("go"), cut(shown)])
      assert.deepStrictEqual(AgentEvent.transcriptOf(log.all), lastTranscript(log.end()))
      assert.deepStrictEqual(readAlong(log.all), [shown])
    }
  })
)

it.effect(
  "of several models each has to go on, and the next one goes on where the first one fails before its text [P1560 P1563]",
  () =>
    Effect.gen(function* () {
      const first = yield* goingOn(fails(overloaded(), says("one ")), fails(overloaded()))
      const second = yield* scriptedGoingOn("whole", text("one two"))
      const log = eventLog()
      const model = Model.fallback(first.service, { ...second.service, name: "second" })
      const agent = Agent.make("worker", {}).pipe(continuing(), log.listen)
      const { events } = yield* collect(agent.stream("go").pipe(Stream.provideService(Model.Model, model)))
      assert.deepInclude(events.at(-1), { type: "run-completed", output: "one two" })
      assert.deepStrictEqual(seen(events), ["one ", "goes on 1: one ", "two"])
      assert.deepStrictEqual(
        [first.requests[1], second.requests[0]].map((request) => request?.messages.at(-1)),
        [cut("one"), cut("one")]
      )
      const end = log.end()
      assert(end?.type === "run-completed")
      assert.deepStrictEqual(
        end.ledger.map(({ attempt, model, outcome }) => [attempt, model, outcome]),
        [
          [1, "scripted", "failed"],
          [2, "scripted", "failed"],
          [3, "second", "used"]
        ]
      )
      const half = yield* goingOn(fails(overloaded(), says("one ")))
      const other = yield* make()
      const mixed = Model.fallback(half.layer, other.layer)
      const { exit } = yield* collect(agent.stream("go").pipe(Stream.provide(mixed)))
      assert.deepInclude(yield* Effect.flip(exit), { partial: "one " })
      assert.deepInclude(log.of("verdict").at(-1), { gaveUp: true, why: "no-continuation" })
    })
)

it.effect("a conversation that grew too long is shortened, and the reply goes on [P1560]", () =>
  Effect.gen(function* () {
    const tooLong = LlmError.ContextTooLongError.make({ model: "scripted" })
    const model = yield* goingOn(fails(tooLong, says("one ")), text("two"))
    const shorter = Recovery.compact(Compaction.dropOldest({ keepLast: 1 }))
    const agent = agentWith().pipe(Agent.onLlmError({ ContextTooLongError: shorter }, { onPartial: "continue" }))
    const before = [Message.user("a"), Message.assistant("b")]
    const resumed = Agent.resume(agent).stream({ from: before, input: "go" })
    const { events } = yield* collect(resumed.pipe(Stream.provide(model.layer)))
    assert.deepInclude(events.at(-1), { type: "run-completed", output: "one two" })
    assert.deepStrictEqual(model.requests[1]?.messages, [Message.user("go"), cut("one")])
  })
)
