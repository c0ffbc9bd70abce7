/** Guardrails of the output beside what else sees or repeats an answer: other attempts, compactions, checks that call models. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Compaction, LlmError, Message, Model, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Stream } from "effect"
import { TestClock } from "effect/testing"
import { EventLog } from "../../../packages/core/src/event/EventLog.ts"
import { batch, calm, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { only } from "../../_support/suspension.ts"
import { continuing, goingOn, readAlong } from "./_support/continued.ts"
import { eventsOf, started } from "./_support/saying.ts"
import { keepOne } from "../recovery/_support/longConversations.ts"
import { deferring } from "../tool/_support/deferring.ts"
import { looking, reading, secret } from "./_support/guarded.ts"
import { spending } from "./_support/spending.ts"
import { overloaded, says } from "./_support/streamedEvents.ts"

const { answers, call, calls, fails, make, text } = ScriptedModel
const { block, pass } = Agent.guard

/** A failure that has a text of the model. */
const saidBefore = (partial: string) => LlmError.ModelOverloadedError.make({ model: "scripted", partial })

const clerk = Agent.make("clerk", {})

const unlessSecret = ({ text }: Agent.Checked) => (text.includes(secret) ? block("it has the password") : pass)

it.run(
  "what the agent of a check reads and says of a blocked answer is in no event and in no span [P1597 P1599]",
  (run) =>
    Effect.gen(function* () {
      const { tool } = scripted("note", Effect.succeed(secret))
      const quotes = [calls(call("note", { n: 1 })), text(`It says ${secret}`)]
      const failing = [fails(saidBefore(secret))]
      for (const script of [quotes, failing]) {
        const judge = yield* make(...script)
        const judging = Agent.make("judge", { model: judge.layer, tools: [tool] })
        const check = ({ text }: Agent.Checked) =>
          Effect.match(judging(text), { onSuccess: () => block("no"), onFailure: () => block("no") })
        const model = yield* make(text(`It is ${secret}`))
        const seen = yield* reading(run(clerk.pipe(Agent.guardOutput(check)), "hi"), model.layer)
        assert.isTrue(Exit.isFailure(seen.exit))
        assert.notInclude(seen.text, secret)
        const starts = only(seen.events, "run-start").map(({ agent }) => agent)
        assert.deepStrictEqual(starts, ["clerk", "judge"])
        const booked = seen.events.flatMap((event) => ("entry" in event ? event.entry.purpose : []))
        assert.deepStrictEqual(booked, [...script.map(() => "guardrail"), "agent"])
      }
    })
)

it.run("the events of a check of the input, and the judge's own listeners, have all of it [P1599]", (run) =>
  Effect.gen(function* () {
    const heard: Array<string> = []
    const judge = yield* make(text("fine"), text("fine"))
    const judging = Agent.make("judge", { model: judge.layer }).pipe(
      Agent.onEvent((event) => Effect.sync(() => void (event.type === "run-start" && heard.push(String(event.input)))))
    )
    const check = ({ text }: Agent.Checked) => Effect.as(judging(text), pass)
    const model = yield* make(text("hello"))
    const agent = clerk.pipe(Agent.guardInput(check, { mode: "before" }), Agent.guardOutput(check))
    const seen = yield* reading(run(agent, "hi"), model.layer)
    assert.deepStrictEqual(
      only(seen.events, "run-start").map(({ input }) => input),
      ["hi", "hi", ""]
    )
    assert.deepStrictEqual(heard, ["hi", "hello"])
  })
)

it.run("a withheld answer is in no event of a compaction, and its agent does not read it [P1597 P1573]", (run) =>
  Effect.gen(function* () {
    const summer = yield* make(text("short"))
    const summing = Agent.make("summer", { model: summer.layer })
    const long = "x".repeat(3000)
    for (const compaction of [
      Compaction.summarise(summing, { keepLast: 1 }),
      Compaction.shrinkLargestResult({ maxLength: 20 })
    ]) {
      const { tool } = scripted("look", Effect.succeed(long), Effect.succeed("seen"))
      const agent = Agent.make("clerk", { tools: [tool] }).pipe(
        Agent.guardOutput(unlessSecret),
        Agent.onGuardrail({ output: Recovery.tell() }),
        Agent.compactAt({ window: 1000, with: compaction })
      )
      const model = yield* make(
        spending(1, 1, "look"),
        text(`It is ${secret}, and it is very long: ${"y".repeat(200)}`),
        spending(900, 50, "look"),
        text("done")
      )
      const seen = yield* reading(run(agent, "hi"), model.layer)
      assert.deepStrictEqual(seen.exit, Exit.succeed("done"))
      assert.notInclude(seen.text, secret)
      assert.lengthOf(only(seen.events, "compacted"), 1)
    }
  })
)

it.run("the text that a failure of a model has was held back too [P1597]", (run) =>
  Effect.gen(function* () {
    for (const agent of [
      clerk.pipe(Agent.guardOutput(unlessSecret)),
      clerk.pipe(Agent.guardInput(() => Effect.delay(Effect.succeed(pass), 50)))
    ]) {
      const model = yield* make(fails(saidBefore(`It is ${secret}`), says(`It is ${secret}`)))
      const seen = yield* reading(run(agent, "hi"), model.layer)
      assert.isTrue(Exit.isFailure(seen.exit))
      assert.notInclude(seen.text, secret)
    }
  })
)

it.run("an answer that its provider has cut off by a filter, and that was blocked, has no text [P1597]", (run) =>
  Effect.gen(function* () {
    const cut = ScriptedModel.reply({ content: [Message.text(`It is ${secret}`)], finish: "filtered" })
    const model = yield* make(ScriptedModel.replies(cut))
    const seen = yield* reading(run(clerk.pipe(Agent.guardOutput(unlessSecret)), "hi"), model.layer)
    assert.isTrue(Exit.isFailure(seen.exit))
    assert.notInclude(seen.text, secret)
  })
)

it.effect("a check that passes between two attempts shows nothing of the first [P1595]", () =>
  Effect.gen(function* () {
    const model = yield* make(fails(overloaded(), says("dead words")), text("all is well"))
    const agent = clerk.pipe(
      Agent.guardInput(() => Effect.delay(Effect.succeed(pass), 30)),
      Agent.onLlmError({ orElse: Recovery.retry({ retries: 1, initialBackoff: 100, jitter: "none" }) })
    )
    const seen = yield* reading(Stream.runDrain(agent.stream("hi")), model.layer)
    assert.isTrue(Exit.isSuccess(seen.exit))
    assert.deepStrictEqual(readAlong(seen.events), ["all is well"])
    assert.notInclude(seen.text, "dead")
  })
)

it.effect("a reply goes on from what has passed, and the check sees all of it [P1597 P1561]", () =>
  Effect.gen(function* () {
    const checked: Array<string> = []
    const agent = clerk.pipe(
      Agent.guardOutput(
        ({ text }) => {
          checked.push(text)
          return unlessSecret({ text } as Agent.Checked)
        },
        { hold: 3 }
      ),
      continuing()
    )
    const broken = fails(overloaded(), says("one two "), says("three hun"))
    const model = yield* goingOn(broken, text(" and four and five"))
    const seen = yield* reading(Stream.runDrain(agent.stream("hi")), model.layer)
    assert.isTrue(Exit.isSuccess(seen.exit))
    // what was held back is not shown, and not sent back
    assert.deepStrictEqual(
      only(seen.events, "attempt-continued").map(({ kept }) => kept),
      ["one two three "]
    )
    assert.deepStrictEqual(readAlong(seen.events), ["one two three and four and five"])
    for (const text of checked) assert.isTrue(text.startsWith("one two "), text)
    assert.strictEqual(checked.at(-1), "one two three and four and five")
  })
)

it.effect("a text that is blocked only with its continuation is discarded whole [P1597 P1561]", () =>
  Effect.gen(function* () {
    for (const hold of [1, 3]) {
      const agent = clerk.pipe(Agent.guardOutput(unlessSecret, { hold }), continuing())
      const half = secret.slice(0, 4)
      const model = yield* goingOn(
        fails(overloaded(), says(`It is ${half}`)),
        answers(({ messages }) => {
          const kept = messages.at(-1)
          const sent = kept === undefined || kept.role === "system" ? "" : Message.textOf(kept)
          return Effect.succeed(
            ScriptedModel.reply({ content: [Message.text(`It is ${secret}, surely`.slice(sent.length))] })
          )
        })
      )
      const seen = yield* reading(Stream.runDrain(agent.stream("hi")), model.layer)
      assert.isTrue(Exit.isFailure(seen.exit), String(hold))
      assert.deepStrictEqual(
        only(seen.events, "attempt-continued").map(({ kept }) => kept),
        [`It is ${half}`.slice(0, -hold)]
      )
      assert.notInclude(seen.text, secret)
      assert.notInclude(seen.text, "surely")
      assert.deepStrictEqual(readAlong(seen.events), [""])
    }
  })
)

it.effect(
  "a reader that begins after any gap has the transcript of the run, and nothing withheld [P1542 P1597 P1524]",
  () =>
    Effect.gen(function* () {
      const { tokenOf, tool } = deferring({ wait: "continue", deadline: "1 hour" })
      const second = Effect.as(Effect.sleep(1000), "fine")
      const slow = scripted("slow", second, second)
      const agent = Agent.make("worker", { tools: [tool, slow.tool] }).pipe(
        Agent.guardInput(({ text }) => (text === "go" ? Agent.guard.replace("gone") : pass), { mode: "before" }),
        Agent.guardOutput(unlessSecret, { hold: 3 }),
        Agent.onGuardrail({ output: Recovery.tell() }),
        continuing(),
        Agent.compactAt({ window: 1000, with: keepOne })
      )
      const broken = fails(overloaded(), says("so far "))
      const model = yield* goingOn(
        batch("order", "slow"),
        spending(900, 40, "slow"),
        broken,
        text(`it is ${secret}`),
        text("good")
      )
      const run = yield* started(agent.start("go"), model)
      yield* calm
      yield* run.say("and this")
      yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 }))
      for (let step = 0; step < 4; step++) yield* Effect.andThen(TestClock.adjust("1 second"), calm)
      assert.deepInclude(yield* run.outcome, { output: "good" })
      const events = yield* eventsOf(run)
      const types = new Set(events.map(({ type }) => type))
      for (const type of [
        "message-read",
        "compacted",
        "attempt-continued",
        "attempt-discarded",
        "tool-result"
      ] as const) {
        assert.isTrue(types.has(type), type)
      }
      const whole = Message.withoutWithheld(yield* run.transcript)
      for (let kept = 1; kept <= events.length; kept++) {
        const log = new EventLog()
        log.limit({ events: kept, bytes: Infinity })
        for (const event of events) log.push(event)
        log.end()
        const read = yield* Stream.runCollect(log.read({ onGap: "state" }))
        assert.notInclude(JSON.stringify(read), secret)
        assert.deepStrictEqual(AgentEvent.transcriptOf(read), whole, `${kept} kept`)
      }
    })
)

it.run(
  "a compaction within the model call waits for the verdict: its agent does nothing for words that are blocked [P1595]",
  (run) =>
    Effect.gen(function* () {
      const long = [
        Message.user("one ".repeat(60)),
        Message.assistant("two ".repeat(60)),
        Message.user("three"),
        Message.assistant("four")
      ]
      const tooLong = fails(LlmError.ContextTooLongError.make({ model: "m", limit: 1, actual: 2 }))
      for (const isOfModel of [false, true]) {
        for (const isBlocked of [true, false]) {
          const { runs, tool } = looking()
          const summing = yield* make(...(isBlocked ? [] : [calls(call("look", { n: "1" })), text(`A summary`)]))
          const summer = Agent.make("summer", { model: summing.layer, tools: [tool] })
          const rows = { ContextTooLongError: Recovery.compact(Compaction.summarise(summer, { keepLast: 1 })) }
          const model = yield* make(tooLong, ...(isBlocked ? [] : [text("done")]))
          const plain = Agent.make("clerk", {}).pipe(
            Agent.guardInput(() => Effect.delay(Effect.succeed(isBlocked ? block("no") : pass), 50))
          )
          const asked = { from: long, input: "bad words" }
          const seen = isOfModel
            ? yield* reading(run(Agent.resume(plain), asked), Model.onError(model.layer, rows))
            : yield* reading(run(Agent.resume(plain.pipe(Agent.onLlmError(rows))), asked), model.layer)
          assert.lengthOf(runs, isBlocked ? 0 : 1)
          const types = seen.events.map(({ agent, type }) => `${agent} ${type}`)
          if (isBlocked) {
            assert.isTrue(Exit.isFailure(seen.exit))
            assert.deepStrictEqual(types, [
              "clerk run-start",
              "clerk turn-start",
              "clerk model-start",
              "clerk model-failed",
              "clerk guardrail",
              "clerk run-failed"
            ])
          } else {
            assert.deepStrictEqual(seen.exit, Exit.succeed("done"))
            assert.isBelow(types.indexOf("clerk guardrail"), types.indexOf("summer run-start"))
            assert.lengthOf(only(seen.events, "compacted"), 1)
          }
        }
      }
    })
)
