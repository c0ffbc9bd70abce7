/** What guardrails cost a run, what they leave in its snapshot, and what is not checked again. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Explanation, Message, RunError, Recovery, Skill, Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Duration, Effect, Exit } from "effect"
import { eventLog, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { reading } from "./_support/guarded.ts"

const { call, calls, make, text } = ScriptedModel
const { block, pass } = Agent.guard

/** A check that notes what it was asked about. */
const noting = () => {
  const asked: Array<string> = []
  const check = ({ text }: Agent.Checked) => {
    asked.push(text)
    return text.startsWith("bad") ? block("bad") : pass
  }
  return { asked, check }
}

it.run(
  "model calls of a check are booked as those of a guardrail: tokens and cost count, turns and tool calls do not [P1599]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const { tool } = scripted("look", Effect.succeed("seen"), Effect.succeed("seen"))
      const judge = yield* make(calls(call("look", {})), text("fine"), calls(call("look", {})), text("fine"))
      const judging = Agent.make("judge", { model: judge.layer, tools: [tool] })
      const model = yield* make(text("hello"))
      const agent = Agent.make("clerk", { budget: { maxTurns: 1, maxToolCalls: 1 } }).pipe(
        Agent.guardInput(({ text }) => Effect.as(judging(text), pass)),
        Agent.guardOutput(({ text }) => Effect.as(judging(text), pass)),
        log.listen
      )
      assert.strictEqual(yield* run(agent, "hi").pipe(Effect.provide(model.layer)), "hello")
      const end = log.end()
      assert(end?.type === "run-completed")
      const purposes = end.ledger.map(({ purpose }) => purpose).toSorted()
      assert.deepStrictEqual(purposes, ["agent", "guardrail", "guardrail", "guardrail", "guardrail"])
      assert.strictEqual(end.usage.inputTokens, 50)
    })
)

it.run("a check that passes the limit of tokens ends the run [P1599]", (run) =>
  Effect.gen(function* () {
    for (const mode of ["beside", "before"] as const) {
      const judge = yield* make(text("fine"))
      const judging = Agent.make("judge", { model: judge.layer })
      const model = yield* make(...(mode === "beside" ? [text("hello")] : []))
      const agent = Agent.make("clerk", { budget: { maxTokens: 14 } }).pipe(
        Agent.guardInput(({ text }) => Effect.as(judging(text), pass), { mode })
      )
      const exit = yield* Effect.exit(run(agent, "hi").pipe(Effect.provide(model.layer)))
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert(error instanceof RunError.BudgetExceededError)
      assert.strictEqual(error.reason, "maxTokens")
    }
  })
)

it.run("the time of a check is time of the run [P1599]", (run) =>
  Effect.gen(function* () {
    const model = yield* make()
    const agent = Agent.make("clerk", { budget: { maxDuration: 30 } }).pipe(
      Agent.guardInput(() => Effect.delay(Effect.succeed(pass), 40), { mode: "before" })
    )
    const seen = yield* reading(run(agent, "hi"), model.layer)
    const error = Exit.isFailure(seen.exit) ? Cause.squash(seen.exit.cause) : undefined
    assert(error instanceof RunError.BudgetExceededError)
    assert.strictEqual(error.reason, "maxDuration")
    assert.strictEqual(seen.instants.at(-1), 30)
  })
)

it.effect("what has passed is not checked again on resumption, what is new is [P1599]", () =>
  Effect.gen(function* () {
    const { asked, check } = noting()
    const said = noting()
    const { tool } = paying()
    const agent = Agent.make("clerk", { tools: [tool] }).pipe(
      Agent.guardInput(check),
      Agent.guardOutput(said.check, { each: true })
    )
    const model = yield* make(calls(call("pay", { cents: 1 })), text("paid"))
    const outcome = yield* outcomeOf(agent, "hi", model)
    const from = yield* snapshotOf(outcome)
    assert.deepStrictEqual(from.guards, { unchecked: [], withheld: 0 })
    const resumed = yield* outcomeOf(Agent.resume(agent), deciding(from), model)
    assert.deepInclude(resumed, { _tag: "Completed", output: "paid" })
    assert.deepStrictEqual(asked, ["hi"])
    assert.deepStrictEqual(said.asked, ["paid"])
    // a message that comes with the decision is new
    const fine = yield* make(text("fine"))
    const saying = { ...deciding(from), say: "and this", repeat: true }
    assert.deepInclude(yield* outcomeOf(Agent.resume(agent), saying, fine), { output: "fine" })
    assert.deepStrictEqual(asked, ["hi", "and this"])
    const none = yield* make(text("unseen"))
    const bad = { ...deciding(from), say: "bad words", repeat: true }
    const exit = yield* Effect.exit(outcomeOf(Agent.resume(agent), bad, none))
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert(error instanceof RunError.GuardrailError)
    assert.deepInclude(error, { side: "input", reason: "bad" })
  })
)

it.effect("words that were read and not checked yet are checked where the run goes on [P1599]", () =>
  Effect.gen(function* () {
    const { asked, check } = noting()
    const { tool } = paying()
    const agent = Agent.make("clerk", { tools: [tool] }).pipe(Agent.guardInput(check))
    const model = yield* make(calls(call("pay", { cents: 1 })))
    const from = yield* snapshotOf(yield* outcomeOf(agent, "hi", model))
    // as of a run that was suspended at a limit after it had read the message
    const unchecked = { ...from, guards: { unchecked: [0], withheld: 0 } }
    const next = yield* make(text("paid"))
    yield* outcomeOf(Agent.resume(agent), { ...deciding(unchecked), repeat: true }, next)
    assert.deepStrictEqual(asked, ["hi", "hi"])
    // and the first one that an agent with guardrails reads from a snapshot without any
    const { guards: _guards, ...before } = from
    const last = yield* make(text("paid"))
    yield* outcomeOf(Agent.resume(agent), { ...deciding(before), repeat: true }, last)
    assert.deepStrictEqual(asked, ["hi", "hi", "hi"])
  })
)

it.effect("how often the model was told is in the snapshot, and so is the withheld answer [P1599]", () =>
  Effect.gen(function* () {
    const { check } = noting()
    const { tool } = paying()
    const agent = Agent.make("clerk", { tools: [tool] }).pipe(
      Agent.guardOutput(check, { name: "words" }),
      Agent.onGuardrail({ output: Recovery.tell() })
    )
    const model = yield* make(text("bad word"), calls(call("pay", { cents: 1 })), text("bad again"))
    const from = yield* snapshotOf(yield* outcomeOf(agent, "hi", model))
    assert.deepStrictEqual(from.guards, { unchecked: [], withheld: 1 })
    assert.deepStrictEqual(from.transcript[1], { ...Message.assistant("bad word"), withheld: true })
    const exit = yield* Effect.exit(outcomeOf(Agent.resume(agent), deciding(from), model))
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert(error instanceof RunError.GuardrailError)
    assert.deepStrictEqual(
      error.transcript.map((message) => "withheld" in message),
      [false, true, false, false, true]
    )
  })
)

it.run("a sub-agent with guardrails that waits for a person goes on with the run around it [P1599]", (run) =>
  Effect.gen(function* () {
    if (run.isStreamed) return
    const { asked, check } = noting()
    const { tool } = paying()
    const inner = yield* make(calls(call("pay", { cents: 1 })), text("paid"))
    const guarded = Agent.make("inner", { model: inner.layer, tools: [tool] }).pipe(
      Agent.guardInput(check),
      Agent.guardOutput(check)
    )
    const outer = yield* make(calls(call("ask", { input: "go" })), text("done"))
    const agent = Agent.make("outer", { tools: [Agent.asTool(guarded, { name: "ask", description: "Asks." })] })
    const from = yield* snapshotOf(yield* outcomeOf(agent, "hi", outer))
    assert.lengthOf(Snapshot.requestsOf(from), 1)
    const resumed = yield* outcomeOf(Agent.resume(agent), deciding(from, Approval.approve), outer)
    assert.deepInclude(resumed, { output: "done" })
    assert.deepStrictEqual(asked, ["go", "paid"])
  })
)

it.run("a new input after a conversation is checked, the words that were answered are not [P1598]", (run) =>
  Effect.gen(function* () {
    const { asked, check } = noting()
    const agent = Agent.resume(Agent.make("clerk", {}).pipe(Agent.guardInput(check)))
    const from = [Message.user("old"), Message.assistant("answered")]
    const model = yield* make(text("new answer"), text("another"))
    assert.strictEqual(yield* run(agent, { from, input: "new" }).pipe(Effect.provide(model.layer)), "new answer")
    assert.deepStrictEqual(asked, ["new"])
    const unanswered = { from: [...from, Message.user("open")] }
    assert.strictEqual(yield* run(agent, unanswered).pipe(Effect.provide(model.layer)), "another")
    assert.deepStrictEqual(asked, ["new", "open"])
  })
)

it.effect("explain counts the model calls of a check whose agent is named, and the time of every check [P1599]", () =>
  Effect.sync(() => {
    const judge = Agent.make("judge", { budget: { maxTurns: 2 } })
    const plain = Agent.make("clerk", { budget: { maxTurns: 3 } })
    const agent = plain.pipe(
      Agent.guardInput(() => pass, { agent: judge, timeout: "1 second" }),
      Agent.guardOutput(() => pass, { agent: judge, timeout: "1 second" })
    )
    const [before, after] = [Agent.explain(plain).worst, Agent.explain(agent).worst]
    assert.strictEqual(after.modelCalls, before.modelCalls + 2 * (1 + 3))
    assert.strictEqual(Duration.toSeconds(after.time), Duration.toSeconds(before.time) + 4)
    // a message to the run, and one without an answer before it, is checked as its input is
    assert.deepStrictEqual(after.perMessage, { modelCalls: 2, time: Duration.seconds(1) })
    assert.match(
      Explanation.formatRun(Agent.explain(agent)),
      /, 2 model calls for each message that is checked \(the input is one\)$/
    )
    assert.isUndefined(before.perMessage)
    assert.isUndefined(Agent.explain(plain.pipe(Agent.guardOutput(() => pass, { agent: judge }))).worst.perMessage)
    // a function is checked once before its work, and once behind it
    const echo = Skill.deterministic("echo", { description: "Echoes.", run: (input) => Effect.succeed(input) })
    const echoing = Agent.make("echo", { skills: [echo] }).pipe(
      Agent.guardInput(() => pass, { agent: judge }),
      Agent.guardOutput(() => pass, { agent: judge })
    )
    assert.deepInclude(Agent.explain(echoing).worst, { modelCalls: 4, turns: 0 })
    assert.isUndefined(Agent.explain(echoing).worst.perMessage)
    const held = plain.pipe(Agent.guardOutput(() => pass, { agent: judge, hold: 10 }))
    assert.strictEqual(Agent.explain(held).worst.modelCalls, Infinity)
    const outer = Agent.make("outer", { tools: [Agent.asTool(agent, { description: "Asks." })] })
    assert.isAtLeast(Agent.explain(outer).worst.modelCalls, after.modelCalls)
  })
)

it.run("each message of a transcript that has no answer is checked, as the input is [P1599]", (run) =>
  Effect.gen(function* () {
    const asked = yield* make(text("1"), text("2"), text("3"))
    const judge = Agent.make("judge", { model: asked.layer, budget: { maxTurns: 1 } })
    const agent = Agent.make("clerk", { budget: { maxTurns: 1 } }).pipe(
      Agent.guardInput(({ text }) => Effect.as(judge(text), pass), { agent: judge })
    )
    const { modelCalls, perMessage } = Agent.explain(agent).worst
    assert.deepStrictEqual([modelCalls, perMessage?.modelCalls], [2, 1])
    const model = yield* make(text("ok"))
    const from = [Message.user("one"), Message.user("two")]
    yield* run(Agent.resume(agent), { from, input: "three" }).pipe(Effect.provide(model.layer))
    assert.lengthOf(asked.requests, 3)
  })
)
