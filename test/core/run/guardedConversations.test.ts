/** Conversations that go on behind a guardrail: what was blocked, and what was never checked, reaches no model of a later run. */
import { assert } from "@effect/vitest"
import {
  Agent,
  AgentEvent,
  Budget,
  Compaction,
  LlmError,
  Message,
  Recovery,
  RunError,
  Skill,
  Tool
} from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { calm } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { reading, secret } from "./_support/guarded.ts"
import { eventsOf, heard, started } from "./_support/saying.ts"

const { answers, call, calls, fails, make, text } = ScriptedModel
const { block, pass, replace } = Agent.guard

const unlessSecret = ({ text }: Agent.Checked) => (text.includes(secret) ? block("it has the password") : pass)

const modes = ["beside", "before"] as const

const guardErrorOf = (exit: Exit.Exit<unknown, unknown>): RunError.GuardrailError => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  assert(error instanceof RunError.GuardrailError, String(error))
  return error
}

const withheld = { ...Message.user(`say ${secret}`), withheld: true } as const

/** A transcript as a program has stored it. */
const stored = (transcript: Message.Transcript): Message.Transcript =>
  Message.repair(JSON.parse(JSON.stringify(transcript)))

it.run("what was blocked of a user stays marked, and no later run reads or shows it [P1595 P1598]", (run) =>
  Effect.gen(function* () {
    for (const mode of modes) {
      for (const row of [Recovery.rethrow, Recovery.respondWith("I cannot help with that.")]) {
        const agent = Agent.make("clerk", { prompt: "Be brief." }).pipe(
          Agent.guardInput(unlessSecret, { mode }),
          Agent.onGuardrail({ input: row })
        )
        const first = yield* make(...(mode === "before" ? [] : [text("unseen")]))
        const before = yield* started(agent.start(`say ${secret}`), first)
        const exit = yield* Effect.exit(before.outcome)
        const whole = yield* before.transcript
        assert.deepStrictEqual(whole.at(-1), withheld)
        const events = yield* eventsOf(before)
        assert.deepStrictEqual(AgentEvent.transcriptOf(events), Message.withoutWithheld(whole))
        assert.deepInclude(
          events.find(({ type }) => type === "guardrail"),
          { verdict: "block", index: 1, message: Message.blankWords }
        )
        const transcripts = [whole, stored(whole)]
        if (Exit.isFailure(exit)) {
          const { transcript } = guardErrorOf(exit)
          assert.deepStrictEqual(transcript, Message.withoutWithheld(whole))
          transcripts.push(transcript)
        }
        for (const from of transcripts) {
          const model = yield* make(text("I do not know what you said"))
          const asked: Array<string> = []
          const next = agent.pipe(
            Agent.guardInput(({ text, transcript }) => {
              asked.push(text)
              assert.notInclude(JSON.stringify(transcript), secret)
              return pass
            })
          )
          const seen = yield* reading(run(Agent.resume(next), { from, input: "do what I said" }), model.layer)
          assert.deepStrictEqual(seen.exit, Exit.succeed("I do not know what you said"))
          assert.deepStrictEqual(asked, ["do what I said"])
          assert.deepStrictEqual(heard(model.requests[0]?.messages ?? []), [
            "This message was withheld.",
            "do what I said"
          ])
          assert.notInclude(seen.text, secret)
        }
      }
    }
  })
)

it.run("words that were read and not checked before the run ended are checked by the next run [P1598 P1599]", (run) =>
  Effect.gen(function* () {
    for (const mode of modes) {
      const gate = yield* Deferred.make<void>()
      const slow = Tool.make("slow", {
        description: "Takes its time.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.as(Deferred.await(gate), "done")
      })
      const agent = Agent.make("clerk", { tools: [slow], budget: { maxTurns: 1 } }).pipe(
        Agent.guardInput(unlessSecret, { mode })
      )
      const handle = yield* started(agent.start("hi"), yield* make(calls(call("slow", {}))))
      yield* calm
      yield* handle.say(`say ${secret}`)
      yield* Deferred.succeed(gate, undefined)
      const error = yield* Effect.flip(handle.outcome)
      assert(error._tag === "BudgetExceededError")
      for (const from of [error.transcript, stored(yield* handle.transcript)]) {
        assert.deepStrictEqual(from.at(-1), Message.user(`say ${secret}`))
        const none = yield* make(...(mode === "before" ? [] : [text("unseen")]))
        const seen = yield* reading(run(Agent.resume(agent), { from, input: "go on" }), none.layer)
        assert.strictEqual(guardErrorOf(seen.exit).reason, "it has the password")
        assert.notInclude(seen.text, "unseen")
        // the blocked words alone are marked: the others were not asked about
        assert.deepStrictEqual(
          guardErrorOf(seen.exit).transcript.map((message) => "withheld" in message),
          [false, false, true, false]
        )
        const next = yield* make(text("all is well"))
        const { transcript } = guardErrorOf(seen.exit)
        const last = yield* reading(run(Agent.resume(agent), { from: transcript }), next.layer)
        assert.deepStrictEqual(last.exit, Exit.succeed("all is well"))
        assert.notInclude(JSON.stringify(next.requests), secret)
      }
    }
  })
)

it.run("each word of a user that no reply follows is checked, and replaced where its check does so [P1598]", (run) =>
  Effect.gen(function* () {
    const past = [Message.user("old 4711"), Message.assistant("answered")]
    const bad = Message.user(secret)
    const fine = Message.user("fine")
    for (const mode of modes) {
      const agent = Agent.resume(Agent.make("clerk", {}).pipe(Agent.guardInput(unlessSecret, { mode })))
      for (const unanswered of [
        [bad, fine],
        [fine, bad],
        [fine, bad, fine]
      ]) {
        const model = yield* make(...(mode === "before" ? [] : [text("unseen")]))
        const seen = yield* reading(run(agent, { from: [...past, ...unanswered] }), model.layer)
        assert.strictEqual(guardErrorOf(seen.exit).side, "input")
        assert.deepStrictEqual(
          guardErrorOf(seen.exit).transcript.map((message) => "withheld" in message),
          [false, false, ...unanswered.map((message) => message === bad)]
        )
      }
    }
    // where a skill is chosen too
    const skills = [Skill.make("talk", { description: "Talks." }), Skill.make("sing", { description: "Sings." })]
    for (const options of [{}, { skills }]) {
      const starring = Agent.make("clerk", options).pipe(
        Agent.guardInput(({ text }) => (text.includes("4711") ? replace("****") : pass), { mode: "before" })
      )
      const routed = "skills" in options ? [text('{"name":"talk","confidence":1}')] : []
      const model = yield* make(...routed, text("masked"))
      const from = [...past, Message.user("4711"), Message.user("4711 as well"), Message.user("and?")]
      assert.strictEqual(yield* run(Agent.resume(starring), { from }).pipe(Effect.provide(model.layer)), "masked")
      assert.deepStrictEqual(heard(model.requests.at(-1)?.messages ?? []), ["old 4711", "****", "****", "and?"])
    }
  })
)

it.run("what a run says to its model about itself is no word of the user [P1598]", (run) =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const look = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.succeed("seen")
    })
    const agent = Agent.make("clerk", { tools: [look], budget: { maxTurns: 1 } }).pipe(
      Agent.guardInput(({ text }) => {
        asked.push(text)
        return pass
      }),
      Agent.onBudgetExceeded(() => Budget.answer)
    )
    const stopped: Message.Assistant = { ...Message.assistant("half"), incomplete: true }
    const model = yield* make(text("whole"))
    const going = Agent.resume(agent)
    assert.strictEqual(
      yield* run(going, { from: [Message.user("hi"), stopped] }).pipe(Effect.provide(model.layer)),
      "whole"
    )
    assert.deepStrictEqual(asked, [])
    // a last turn whose model fails leaves the message of the run at the end
    const last = yield* make(calls(call("look", {})), fails(LlmError.AuthenticationError.make({ model: "m" })))
    const error = yield* Effect.flip(run(agent, "hi").pipe(Effect.provide(last.layer)))
    assert(error._tag === "BudgetExceededError")
    assert.strictEqual(error.transcript.at(-1)?.role, "user")
    const next = yield* make(text("whole"))
    yield* run(going, { from: error.transcript }).pipe(Effect.provide(next.layer))
    assert.deepStrictEqual(asked, ["hi"])
  })
)

it.run("no model reads a withheld answer: not of a later run, of another agent, or of a compaction [P1597]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("clerk", {}).pipe(Agent.guardOutput(unlessSecret))
    const handle = yield* started(agent.start("hi"), yield* make(text(`It is ${secret}`)))
    yield* Effect.exit(handle.outcome)
    const from = stored(yield* handle.transcript)
    assert.include(JSON.stringify(from), secret)
    const prepared: Array<Message.Transcript> = []
    const preparing = Agent.make("other", {}).pipe(
      Agent.prepareTurn(({ messages }) => {
        prepared.push([...messages])
        return Effect.succeed({})
      })
    )
    for (const next of [agent, preparing]) {
      const model = yield* make(text("again"))
      const seen = yield* reading(run(Agent.resume(next), { from, input: "repeat it" }), model.layer)
      assert.deepStrictEqual(seen.exit, Exit.succeed("again"))
      assert.deepStrictEqual(model.requests[0]?.messages[1], Message.blank)
      assert.notInclude(seen.text, secret)
    }
    assert.notInclude(JSON.stringify(prepared), secret)
    for (const compaction of [
      Compaction.dropOldest({ keepLast: 2 }),
      Compaction.make("own", ({ transcript }) => {
        assert.notInclude(JSON.stringify(transcript), secret)
        return transcript.slice(1)
      })
    ]) {
      const short = agent.pipe(Agent.onLlmError({ ContextTooLongError: Recovery.compact(compaction) }))
      const long = fails(LlmError.ContextTooLongError.make({ model: "m" }))
      const model = yield* make(long, text("short"))
      const seen = yield* reading(run(Agent.resume(short), { from: [...from, ...from], input: "x" }), model.layer)
      assert.deepStrictEqual(seen.exit, Exit.succeed("short"))
      assert.notInclude(JSON.stringify(model.requests), secret)
    }
  })
)

it.effect(
  "words that were withheld are no input of a run that goes on, for its model, its router or its functions [P1599]",
  () =>
    Effect.gen(function* () {
      const agent = Agent.make("clerk", {}).pipe(Agent.guardInput(unlessSecret))
      const model = yield* make(text("hello"))
      const from = [Message.user("hi"), Message.assistant("hello"), withheld]
      const outcome = yield* outcomeOf(Agent.resume(agent), { from, say: "well?" }, model)
      assert.deepInclude(outcome, { output: "hello" })
      assert.deepStrictEqual(heard(model.requests[0]?.messages ?? []), ["hi", "This message was withheld.", "well?"])
      // the input of a router and of a function is the last word that was not withheld
      const inputs: Array<string> = []
      const echo = Skill.deterministic("echo", {
        description: "Echoes.",
        run: (input) => Effect.sync(() => (inputs.push(input), input))
      })
      const echoing = Agent.make("echo", { skills: [echo] })
      yield* outcomeOf(Agent.resume(echoing), { from }, yield* make())
      assert.deepStrictEqual(inputs, ["hi"])
    })
)

it.effect("words that have passed before a run was suspended are not checked again, beside a new input [P1598]", () =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const agent = Agent.make("clerk", { budget: { maxDuration: "1 minute" } }).pipe(
      Agent.guardInput(({ text }) => (asked.push(text), pass), { mode: "before" }),
      Agent.onBudgetExceeded(() => Budget.checkpoint)
    )
    const model = yield* make(
      answers(() => Effect.never),
      text("hello")
    )
    const fiber = yield* Effect.forkChild(outcomeOf(agent, "hi", model))
    yield* calm
    yield* TestClock.adjust("1 minute")
    const from = yield* snapshotOf(yield* Fiber.join(fiber))
    assert.deepStrictEqual(from.guards, { unchecked: [], withheld: 0 })
    const goingOn = { from, input: "how are you?", budget: { maxDuration: "1 hour" } } as const
    assert.deepInclude(yield* outcomeOf(Agent.resume(agent), goingOn, model), { output: "hello" })
    assert.deepStrictEqual(asked, ["hi", "how are you?"])
  })
)

it.run("after a withheld reply the run has no partial text, not even that of the reply before it [P1597]", (run) =>
  Effect.gen(function* () {
    const look = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.succeed("seen")
    })
    const agent = Agent.make("clerk", { tools: [look], budget: { maxTurns: 2 } }).pipe(
      Agent.guardOutput(unlessSecret),
      Agent.onGuardrail({ output: Recovery.tell(() => "Say it without the password.") })
    )
    const looking = ScriptedModel.replies(
      ScriptedModel.reply({ content: [Message.text("I look."), call("look", {})], finish: "tool-calls" })
    )
    const model = yield* make(looking, text(`It is ${secret}.`))
    const error = yield* Effect.flip(run(agent, "hi").pipe(Effect.provide(model.layer)))
    assert(error._tag === "BudgetExceededError")
    assert.strictEqual(error.partial, "")
  })
)
