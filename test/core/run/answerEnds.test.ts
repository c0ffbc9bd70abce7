/** How a run ends that answers at its limit: what was open is closed first, and its output is marked. */
import { assert } from "@effect/vitest"
import {
  Agent,
  AgentEvent,
  Approval,
  Budget,
  Compaction,
  LlmError,
  Message,
  Recovery,
  Router,
  Skill,
  Tool
} from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Fiber, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { batch, busy, calm, eventLog, overADay, scripted, settlements } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { exceeded, looking, seen, worker } from "../budget/_support/limitedAgents.ts"

const { answers, call, calls, fails, make, replies, reply, text } = ScriptedModel

const answering = Agent.onBudgetExceeded(() => Budget.answer)

const look = () => scripted("look", ...seen(9))

const endedBy = { reason: "maxTurns", limit: 1 } as const

const notRun = "interrupted: The call was not run: the run stopped before it."

it.run("calls of the reply that passed the limit are not run, and are closed before the last turn [P1594]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { runs, tool } = look()
    const model = yield* make(batch("look", "look"), text("nothing yet"))
    const agent = worker({ maxTokens: 10 }, tool).pipe(answering, log.listen)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "nothing yet")
    assert.lengthOf(runs, 0)
    assert.deepStrictEqual(settlements(model.requests[1]?.messages ?? []), [notRun, notRun])
    const types = log.all.map(({ type }) => type).filter((type) => /^t(urn|ool)-/.test(type))
    assert.deepStrictEqual(types, ["turn-start", "tool-skipped", "tool-skipped", "turn-end", "turn-start", "turn-end"])
    assert.deepStrictEqual(AgentEvent.transcriptOf(log.all).slice(0, -1), model.requests[1]?.messages)
  })
)

it.run("running calls end by themselves, those beyond the limit are not run, and then the run answers [P1594]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("look", Effect.delay(Effect.succeed("seen late"), "1 minute"))
    const model = yield* make(batch("look", "look"), text("half of it"))
    const agent = worker({ maxToolCalls: 1 }, tool).pipe(answering)
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(exit, Exit.succeed("half of it"))
    assert.lengthOf(runs, 1)
    assert.deepStrictEqual(settlements(model.requests[1]?.messages ?? []), ["result: seen late", notRun])
  })
)

it.run(
  "a reply that passes the limit of tokens and is an answer already is the output: no model is called again [P1593 P1594]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const model = yield* make(text('{"n":1}'))
      const output = Schema.Struct({ n: Schema.Finite })
      const agent = Agent.make("worker", { budget: { maxTokens: 10 }, output }).pipe(answering, log.listen)
      assert.deepStrictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), { n: 1 })
      assert.deepInclude(log.end(), { endedBy: { reason: "maxTokens", limit: 10 }, finish: "stop" })
      assert.lengthOf(log.of("turn-start"), 1)
      // what does not fit is asked for in the last turn
      const second = yield* make(text("one"), text('{"n":2}'))
      assert.deepStrictEqual(yield* run(agent, "go").pipe(Effect.provide(second.layer)), { n: 2 })
      assert.lengthOf(second.requests[1]?.messages ?? [], 3)
    })
)

it.run("a failure that no table handles ends the run, and no answer takes its place [P1594]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(calls(call("fail", {}, "c1"), call("ask", { input: "why?" }, "c2")), ...looking(1))
    const child = worker({ maxTurns: 9 }, scripted("look", Effect.succeed("seen")).tool)
    const late = scripted("fail", Effect.delay(Effect.fail(busy()), "1 second"))
    const agent = worker({ maxTurns: 2 }, late.tool, Agent.asTool(child, { name: "ask", description: "d" }))
    const exit = yield* overADay(run(agent.pipe(answering), "go").pipe(Effect.provide(model.layer)))
    assert(Exit.isFailure(exit))
    assert.strictEqual((Cause.squash(exit.cause) as { readonly _tag: string })._tag, "Busy")
  })
)

it.run("an interruption of the last turn, and a defect in it, end the run as any other [P1593]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const agent = worker({ maxTurns: 1 }, look().tool).pipe(answering, log.listen)
    const waiting = yield* make(
      ...looking(1),
      answers(() => Effect.never)
    )
    const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(waiting.layer)))
    yield* calm
    yield* Fiber.interrupt(fiber)
    yield* calm
    assert(Exit.isFailure(yield* Fiber.await(fiber)))
    assert.strictEqual(log.end()?.type, "run-interrupted")
    assert.lengthOf(log.of("model-interrupted"), 1)
    const broken = yield* make(
      ...looking(1),
      answers(() => Effect.die(new Error("broken")))
    )
    const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(broken.layer)))
    assert(Exit.isFailure(exit))
    assert.isTrue(Cause.hasDies(exit.cause))
    assert.deepInclude(log.end(), { type: "run-failed", isDefect: true })
  })
)

it.run(
  "what tools have done is undone where the run fails without an answer, and stays where it answers [P1593]",
  (run) =>
    Effect.gen(function* () {
      for (const [last, undone] of [
        [text("so"), []],
        [replies(reply({})), ["seen"]]
      ] as const) {
        const taken: Array<string> = []
        const tool = Tool.make("look", {
          description: "Looks.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          run: () => Effect.succeed("seen")
        }).pipe(Tool.compensate(({ result }) => Effect.sync(() => void taken.push(result))))
        const model = yield* make(...looking(1), last)
        yield* Effect.exit(run(worker({ maxTurns: 1 }, tool).pipe(answering), "go").pipe(Effect.provide(model.layer)))
        assert.deepStrictEqual(taken, [...undone])
      }
    })
)

it.effect("the outcome of a handle is marked; a request for approval that is open is withdrawn first [P1594]", () =>
  Effect.gen(function* () {
    const log = eventLog()
    const { runs, tool } = paying()
    const ask = Agent.asTool(worker({ maxTurns: 9 }, look().tool), { name: "ask", description: "d" })
    const agent = worker({ maxTurns: 3 }, tool, ask).pipe(answering, log.listen)
    const both = calls(call("pay", { cents: 1 }, "c1"), call("ask", { input: "why?" }, "c2"))
    const model = yield* make(both, ...looking(2), text("not paid"))
    const outcome = yield* outcomeOf(agent, "go", model)
    assert.deepInclude(outcome, {
      _tag: "Completed",
      output: "not paid",
      finish: "stop",
      endedBy: { reason: "maxTurns", limit: 3 }
    })
    assert.lengthOf(runs, 0)
    assert.lengthOf(log.of("approval-requested"), 1)
    assert.deepStrictEqual(
      log.of("tool-skipped").map(({ callId }) => callId),
      ["c1"]
    )
    assert.include(settlements(model.requests.at(-1)?.messages ?? [])[0] ?? "", "interrupted: ")
  })
)

it.run(
  "a call that waits for a person, and one that waits for its next attempt, wait no longer than to the limit [P1594]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const { runs, tool } = paying()
      const failing = scripted("fail", Effect.fail(busy())).tool.pipe(
        Tool.onError({ Busy: Recovery.retry({ retries: 3, initialBackoff: "1 minute" }) })
      )
      const child = worker({ maxTurns: 9 }, scripted("look", Effect.delay(Effect.succeed("seen"), "1 second")).tool)
      const agent = worker({ maxTurns: 2 }, tool, failing, Agent.asTool(child, { name: "ask", description: "d" }))
      const model = yield* make(
        calls(call("pay", { cents: 1 }, "c1"), call("fail", {}, "c2"), call("ask", { input: "why?" }, "c3")),
        ...looking(1),
        text("not paid")
      )
      const answered = agent.pipe(answering, log.listen)
      const never = Approval.layer(() => Effect.never)
      const exit = yield* overADay(run(answered, "go").pipe(Effect.provide([model.layer, never])))
      assert.deepStrictEqual(exit, Exit.succeed("not paid"))
      assert.lengthOf(runs, 0)
      // the run goes on, so each call has its end
      const ends = log.all.filter(({ runId, type }) => type === "tool-end" && runId === log.all[0]?.runId)
      assert.sameMembers(
        ends.map((event) => ("callId" in event ? event.callId : "")),
        ["c1", "c2", "c3"]
      )
      assert.strictEqual((log.end()?.at ?? 0) - (log.all[0]?.at ?? 0), 1000)
      assert.deepStrictEqual(
        settlements(model.requests.at(-1)?.messages ?? []).map((said) => said.split(":")[0]),
        ["interrupted", "told", "interrupted"]
      )
    })
)

it.effect("a run that was suspended answers where it goes on [P1590 P1594]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const agent = worker({ maxTurns: 1 }, tool).pipe(answering)
    const model = yield* make(calls(call("pay", { cents: 1 }, "c1")), text("paid"))
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const outcome = yield* outcomeOf(Agent.resume(agent), deciding(from), model)
    const endedBy = { reason: "maxTurns", limit: 1 } as const
    assert.deepInclude(outcome, { _tag: "Completed", output: "paid", finish: "stop", endedBy })
    assert.deepStrictEqual(runs, [1])
  })
)

it.run("from the transcript of a run that found no answer, a larger budget goes on with tools [P1593 A911]", (run) =>
  Effect.gen(function* () {
    const agent = worker({ maxTurns: 1 }, look().tool).pipe(answering)
    const model = yield* make(...looking(1), replies(reply({})), batch("look"), text("found"))
    const error = exceeded(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    const resumed = run(Agent.resume(agent), { from: error.transcript, budget: { maxTurns: 3 } })
    assert.strictEqual(yield* resumed.pipe(Effect.provide(model.layer)), "found")
    assert.strictEqual(model.requests[2]?.toolChoice, "auto")
    // the word of the user, by which a skill is chosen anew, is not that of the run
    const heard: Array<string> = []
    const skills = [Skill.make("one", { description: "d" }), Skill.make("two", { description: "d" })] as const
    const routed = Agent.make("worker", { skills }).pipe(
      Agent.route(Router.byRule((input) => (heard.push(input), "one"))),
      answering
    )
    const other = yield* make(text("found"))
    yield* run(Agent.resume(routed), { from: error.transcript }).pipe(Effect.provide(other.layer))
    assert.deepStrictEqual(heard, ["go"])
  })
)

it.run(
  "a conversation that is too long for the last turn is shortened by the agent's table, by an agent too [P1593]",
  (run) =>
    Effect.gen(function* () {
      const summary = yield* make(text("brief"))
      const model = yield* make(...looking(3), fails(LlmError.ContextTooLongError.make({ model: "m" })), text("so"))
      const shortener = Agent.make("shortener", { model: summary.layer })
      const agent = worker({ maxTurns: 3 }, look().tool).pipe(
        answering,
        Agent.onLlmError({ ContextTooLongError: Recovery.compact(Compaction.summarise(shortener, { keepLast: 1 })) })
      )
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "so")
      assert.strictEqual(model.requests.at(-1)?.toolChoice, "none")
      const last = model.requests.at(-1)?.messages.at(-1)
      assert(last?.role === "user")
      assert.include(Message.textOf(last), "tools are no longer available")
    })
)

it.run("the limit of an ancestor that the last turn passes ends the ancestor [P1590]", (run) =>
  Effect.gen(function* () {
    const child = worker({ maxTurns: 1 }, look().tool).pipe(answering)
    const boss = worker({ maxTokens: 40 }, Agent.asTool(child, { name: "ask", description: "d" }))
    const model = yield* make(calls(call("ask", { input: "why?" })), ...looking(1), text("so"))
    const error = exceeded(yield* Effect.flip(run(boss, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, { agent: "worker", reason: "maxTokens", limit: 40, spent: 45 })
  })
)

it.run("a fixer, a part of a composition and a skill that was chosen answer at their limits [P1590 P1594]", (run) =>
  Effect.gen(function* () {
    const mending = yield* make(...looking(1), text('{"n":1}'))
    const fixer = Agent.make("fixer", {
      model: mending.layer,
      budget: { maxTurns: 1 },
      skills: [Skill.make("look", { description: "d", tools: [look().tool] })]
    }).pipe(answering)
    const mended = scripted("mend", Effect.succeed("mended"))
    const model = yield* make(calls(call("mend", "not json")), text("done"))
    const agent = worker({}, mended.tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(fixer) })))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(mended.runs[0]?.params, { n: 1 })

    const log = eventLog()
    const part = yield* make(...looking(1), text("half"))
    const composed = Agent.andThen(
      Agent.deterministic("first", (input: string) => Effect.succeed(input)),
      worker({ maxTurns: 1 }, look().tool).pipe(answering)
    )
    assert.strictEqual(yield* run(composed.pipe(log.listen), "go").pipe(Effect.provide(part.layer)), "half")
    assert.deepInclude(log.end(), { type: "run-completed", endedBy })

    const routed = Agent.make("routed", {
      budget: { maxTurns: 1 },
      skills: [Skill.make("one", { description: "d", tools: [look().tool] }), Skill.make("two", { description: "d" })]
    }).pipe(Agent.route(Router.byRule(() => "one")), answering)
    const chosen = yield* make(...looking(1), text("one"))
    assert.strictEqual(yield* run(routed, "go").pipe(Effect.provide(chosen.layer)), "one")
  })
)

it.run("before a skill is chosen there is no answer: the event has that the run stops [P1590]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const routed = Agent.make("routed", {
      budget: { maxTokens: 10 },
      skills: [Skill.make("one", { description: "d" }), Skill.make("two", { description: "d" })]
    }).pipe(Agent.route(Router.byModel()), answering, log.listen)
    const model = yield* make(text('{"name":"one","confidence":1}'))
    const error = exceeded(yield* Effect.flip(run(routed, "go").pipe(Effect.provide(model.layer))))
    assert.strictEqual(error.reason, "maxTokens")
    assert.deepInclude(log.of("budget-exceeded")[0], { action: "stop", wanted: "answer" })
  })
)

it.run("an answer counts up to the instant at which the time of the run is over, as any reply does [P1593]", (run) =>
  Effect.gen(function* () {
    for (const [millis, ends] of [
      [999, "run-completed"],
      [1000, "run-completed"],
      [1001, "run-failed"]
    ] as const) {
      const log = eventLog()
      const said = Effect.succeed(reply({ content: [Message.text("so")] }))
      const model = yield* make(
        ...looking(1),
        answers(() => Effect.delay(said, millis))
      )
      const agent = worker({ maxTurns: 1, maxDuration: "1 second" }, look().tool).pipe(answering, log.listen)
      yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.strictEqual(log.end()?.type, ends, String(millis))
    }
  })
)
