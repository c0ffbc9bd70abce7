/** A message that does not wait: it ends the model call under way, skips calls that have not begun, and may interrupt tools. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Factories from "@kintsugi/core/Factories"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, batch, calm, done, scripted, settlements } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, only, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { accounted, eventsOf, lines, runIdOf, slowReply, slowTool, started, wordsOf } from "./_support/saying.ts"

const { answers, make, text } = ScriptedModel

it.effect("a model at work is interrupted, its attempt is booked so, and the next turn reads the message [P1583]", () =>
  Effect.gen(function* () {
    const model = yield* make(
      answers(() => Effect.never),
      done
    )
    const run = yield* started(Agent.make("worker", {}).start("go"), model)
    yield* calm
    yield* run.say("stop, do this", { interrupt: true })
    assert.deepStrictEqual(yield* run.outcome, { _tag: "Completed", output: "done", finish: "stop" })
    assert.deepStrictEqual(
      (yield* run.ledger).map(({ outcome, turn }) => [turn, outcome]),
      [
        [1, "interrupted"],
        [2, "used"]
      ]
    )
    assert.deepStrictEqual(lines(yield* run.transcript), ["user: go", "user: stop, do this", "model: done"])
    yield* accounted(run)
  })
)

it.effect("a wait before another attempt of the model ends at once [P1583]", () =>
  Effect.gen(function* () {
    const model = yield* make(ScriptedModel.fails(Factories.serverError("scripted", 1)), done)
    const agent = Agent.make("worker", {}).pipe(
      Agent.onLlmError({ ServerError: Recovery.retry({ retries: 1, initialBackoff: "1 minute" }) })
    )
    const run = yield* started(agent.start("go"), model)
    yield* calm
    yield* run.say("now", { interrupt: true })
    const outcome = yield* run.outcome
    assert.deepInclude(outcome, { output: "done" })
    assert.deepStrictEqual(lines(yield* run.transcript), ["user: go", "user: now", "model: done"])
    yield* accounted(run)
  })
)

it.effect("calls that have not begun are skipped; tools that run go on [P1583]", () =>
  Effect.gen(function* () {
    const slow = slowTool("look")
    const other = scripted("other")
    const model = yield* make(batch("look", "other"), done)
    const agent = Agent.make("worker", { tools: [slow.tool, other.tool], budget: { toolConcurrency: 1 } })
    const run = yield* started(agent.start("go"), model)
    yield* slow.begun
    yield* run.say("enough", { interrupt: true })
    yield* calm
    assert.lengthOf(model.requests, 1)
    yield* slow.end
    yield* run.outcome
    assert.deepStrictEqual(settlements(yield* run.transcript), [
      "result: look is through",
      "interrupted: The call was not run: a message of the user came before it."
    ])
    const events = yield* eventsOf(run)
    assert.deepStrictEqual(
      only(events, "tool-skipped").map(({ tool }) => tool),
      ["other"]
    )
    assert.lengthOf(other.runs, 0)
    yield* accounted(run)
  })
)

it.effect("a message may interrupt tools too: each says whether it may have taken effect [P1583]", () =>
  Effect.gen(function* () {
    const safe = slowTool("look")
    const unsafe = slowTool("send", "unsafe")
    const quick = scripted("quick", Effect.succeed("at once"))
    const waiting = scripted("waiting")
    const agent = Agent.make("worker", {
      tools: [quick.tool, safe.tool, unsafe.tool, waiting.tool],
      budget: { toolConcurrency: 3 }
    })
    // the first call makes room for one that then waits
    const model = yield* make(batch("look", "send", "quick", "look", "waiting"), done)
    const run = yield* started(agent.start("go"), model)
    yield* calm
    yield* run.say("stop all of it", { interrupt: "tools" })
    yield* run.outcome
    const kinds = settlements(yield* run.transcript).map((line) => line.split(":")[0])
    assert.deepStrictEqual(kinds, ["interrupted", "unknown", "result", "interrupted", "interrupted"])
    assert.lengthOf(waiting.runs, 0)
    assert.deepStrictEqual(lines(model.requests[1]?.messages ?? []).at(-1), "user: stop all of it")
    yield* accounted(run)
  })
)

it.effect("a message interrupts the only call of a reply, at once when it has begun or later [P1583]", () =>
  Effect.gen(function* () {
    for (const isAtOnce of [true, false]) {
      const slow = slowTool("look")
      const model = yield* make(batch("look"), done)
      const run = yield* started(Agent.make("worker", { tools: [slow.tool] }).start("go"), model)
      yield* isAtOnce ? slow.begun : calm
      yield* run.say("stop it", { interrupt: "tools" })
      yield* run.outcome
      const kinds = settlements(yield* run.transcript).map((line) => line.split(":")[0])
      assert.deepStrictEqual(kinds, ["interrupted"])
      yield* accounted(run)
    }
  })
)

it.effect("a failure that ended the run before the message came ends it all the same [P1501 P1583]", () =>
  Effect.gen(function* () {
    const slow = slowTool("look")
    const failing = scripted("fail", Effect.fail(new Error("broken")))
    const model = yield* make(batch("look", "fail"))
    const run = yield* started(
      Agent.make("worker", { tools: [failing.tool, slow.tool], siblings: "settleAll" }).start("go"),
      model
    )
    yield* calm
    yield* run.say("stop", { interrupt: "tools" })
    assert.isTrue(Exit.isFailure(yield* Effect.exit(run.outcome)))
    const last = (yield* eventsOf(run)).at(-1)
    assert(last?.type === "run-failed")
    assert.deepStrictEqual(wordsOf(last.unread), ["stop"])
    yield* accounted(run)
  })
)

it.effect("of a reply and a message at one instant the first counts [P1580 P1583]", () =>
  Effect.gen(function* () {
    for (const first of ["reply", "message"] as const) {
      const blue = ScriptedModel.reply({ content: [{ type: "text", text: "blue" }] })
      const model = yield* make(
        answers(() => Effect.as(Effect.sleep("1 second"), blue)),
        ...(first === "reply" ? [] : [text("red")])
      )
      const run = yield* started(Agent.make("worker", {}).start("which?"), model)
      const waiting = Effect.andThen(Effect.sleep("1 second"), run.say("not blue", { interrupt: true }))
      if (first === "reply") yield* calm
      const saying = yield* Effect.forkChild(Effect.exit(waiting), { startImmediately: true })
      yield* calm
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* run.outcome, { output: first === "reply" ? "blue" : "red" })
      // a run that has answered is over
      assert.strictEqual(Exit.isSuccess(yield* Fiber.join(saying)), first === "message")
      const after = first === "reply" ? ["model: blue"] : ["user: not blue", "model: red"]
      assert.deepStrictEqual(lines(yield* run.transcript), ["user: which?", ...after], first)
      yield* accounted(run)
    }
  })
)

it.effect("a message that comes where nothing is at work skips the model call that would begin [P1583]", () =>
  Effect.gen(function* () {
    let saying: Effect.Effect<unknown, unknown> = Effect.void
    const agent = Agent.make("worker", { budget: { maxTurns: 1 } }).pipe(
      Agent.onBudgetExceeded(() => Effect.as(Effect.orDie(saying), { type: "extend", limit: 5 }))
    )
    const slow = slowReply(ScriptedModel.reply({ content: [{ type: "text", text: "blue" }] }))
    const model = yield* make(slow.step, text("red"))
    const run = yield* started(agent.start("which?"), model)
    yield* slow.begun
    saying = run.say("at the limit", { interrupt: true })
    yield* run.say("not blue")
    yield* slow.end
    yield* run.outcome
    assert.deepStrictEqual(lines(model.requests[1]?.messages ?? []).slice(1), [
      "model: blue",
      "user: not blue",
      "user: at the limit"
    ])
    yield* accounted(run)
  })
)

it.effect("a message decides about no request: the run is suspended, and the message waits with it [P1582 P1584]", () =>
  Effect.gen(function* () {
    const slow = slowTool("look")
    const pay = paying()
    const agent = agentWith(pay.tool, slow.tool)
    const model = yield* make(
      ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 }), ScriptedModel.call("look", {})),
      done
    )
    const run = yield* started(agent.start("go"), model)
    yield* slow.begun
    yield* run.say("yes, do it")
    yield* slow.end
    const outcome = yield* run.outcome
    assert(outcome._tag === "Suspended")
    assert.deepStrictEqual(wordsOf(outcome.unread), ["yes, do it"])
    assert.deepStrictEqual(pay.runs, [])
    yield* accounted(run)
    const from = yield* snapshotOf(outcome)
    assert.deepStrictEqual(wordsOf(from.inbox), ["yes, do it"])
    const resumed = yield* started(Agent.resume(agent).start(deciding(from)), model)
    assert.deepInclude(yield* resumed.outcome, { output: "done" })
    assert.deepStrictEqual(lines(yield* resumed.transcript), [
      "user: go",
      "model: pay: result, look: result",
      "user: yes, do it",
      "model: done"
    ])
    const events = yield* eventsOf(resumed)
    assert.lengthOf(only(events, "message-queued"), 0)
    assert.deepStrictEqual(only(events, "message-read")[0]?.id, from.inbox?.[0]?.id)
  })
)

it.effect("a message that supersedes withdraws what waits: its calls are not run, and the run goes on [P1584]", () =>
  Effect.gen(function* () {
    const slow = slowTool("look")
    const pay = paying()
    const model = yield* make(
      ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 }), ScriptedModel.call("look", {})),
      done
    )
    const run = yield* started(agentWith(pay.tool, slow.tool).start("go"), model)
    yield* slow.begun
    yield* run.say("do not pay", { supersede: true })
    yield* slow.end
    assert.deepInclude(yield* run.outcome, { _tag: "Completed", output: "done" })
    assert.deepStrictEqual(pay.runs, [])
    assert.deepStrictEqual(settlements(yield* run.transcript), [
      "interrupted: The call was not run: superseded by a message of the user.",
      "result: look is through"
    ])
    assert.deepStrictEqual(
      only(yield* eventsOf(run), "tool-skipped").map(({ tool }) => tool),
      ["pay"]
    )
    yield* accounted(run)
  })
)

it.effect("a sub-agent whose request is withdrawn goes on, and its parent reads the message [P1584 P1586]", () =>
  Effect.gen(function* () {
    for (const when of ["at work", "suspended"] as const) {
      const slow = slowTool("look")
      const pay = paying()
      const inner = Agent.make("inner", { tools: [pay.tool] })
      const outer = agentWith(Agent.asTool(inner, { description: "Pays.", sideEffects: "none" }), slow.tool)
      const both = ScriptedModel.calls(
        ScriptedModel.call("inner", { input: "pay" }),
        ScriptedModel.call("look", {}, "c2")
      )
      const model = yield* make(
        both,
        ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 })),
        text("not paid"),
        done
      )
      let run: Agent.Run<unknown, unknown> = yield* started(outer.start("go"), model)
      yield* slow.begun
      yield* calm
      if (when === "at work") yield* run.say("do not pay", { supersede: true })
      yield* slow.end
      if (when === "suspended") {
        const from = yield* snapshotOf(yield* Effect.orDie(run.outcome))
        run = yield* started(
          Agent.resume(outer).start({ from, say: [{ message: "do not pay", supersede: true }] }),
          model
        )
      }
      assert.deepInclude(yield* run.outcome, { output: "done" })
      assert.deepStrictEqual(pay.runs, [])
      assert.deepStrictEqual(lines(model.requests[2]?.messages ?? []), ["user: pay", "model: pay: interrupted"], when)
      assert.deepStrictEqual(
        lines(yield* run.transcript),
        ["user: go", "model: inner: result, look: result", "user: do not pay", "model: done"],
        when
      )
      yield* accounted(run)
    }
  })
)

it.effect("decisions come before a message that supersedes: what was approved runs [P1584 P1585]", () =>
  Effect.gen(function* () {
    for (const isDecided of [true, false]) {
      const pay = paying()
      const agent = agentWith(pay.tool)
      const model = yield* make(ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 })), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const { decisions } = deciding(from)
      const say = [{ message: "never mind", supersede: true }]
      const run = yield* started(Agent.resume(agent).start({ from, say, decisions: isDecided ? decisions : [] }), model)
      assert.deepInclude(yield* run.outcome, { output: "done" })
      assert.deepStrictEqual(pay.runs, isDecided ? [5] : [])
      assert.deepStrictEqual(lines(yield* run.transcript).slice(1), [
        `model: pay: ${isDecided ? "result" : "interrupted"}`,
        "user: never mind",
        "model: done"
      ])
    }
  })
)

it.effect("no combination of what a run goes on with is a defect [P1585]", () =>
  Effect.gen(function* () {
    for (const from of ["transcript", "answer", "snapshot", "limit"] as const)
      for (const withInput of [true, false])
        for (const say of [undefined, "said", [], [{ message: "said" }], [{ message: "said", supersede: true }]])
          for (const withDecisions of [true, false]) {
            const pay = paying()
            const limited = from === "limit" ? { budget: { maxTurns: 1 } } : {}
            const agent = Agent.make("worker", { tools: [pay.tool], ...limited }).pipe(
              Agent.onBudgetExceeded(() => Effect.succeed({ type: "checkpoint" }))
            )
            const calling = ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 }))
            const model = yield* make(...(from === "snapshot" || from === "limit" ? [calling] : []))
            const first =
              from === "snapshot" || from === "limit"
                ? yield* snapshotOf(yield* outcomeOf(agent, "go", model))
                : undefined
            const begin = first ?? [
              { role: "user" as const, content: [{ type: "text" as const, text: "go" }] },
              ...(from === "answer"
                ? [{ role: "assistant" as const, content: [{ type: "text" as const, text: "answered" }] }]
                : [])
            ]
            const second = ScriptedModel.answering(() => done)
            const exit = yield* Effect.flatMap(
              Agent.resume(agent).start({
                from: begin,
                ...(withInput ? { input: "input" } : {}),
                ...(say === undefined ? {} : { say }),
                ...(withDecisions ? { decisions: first === undefined ? [] : deciding(first).decisions } : {}),
                budget: { maxTurns: 9 }
              }),
              ({ outcome, transcript }) => Effect.exit(Effect.zip(outcome, transcript))
            ).pipe(Effect.provide(second))
            const label = JSON.stringify({ from, withInput, say, withDecisions })
            assert(Exit.isSuccess(exit), label)
            const [outcome, transcript] = exit.value
            const isWaiting = from === "snapshot" || from === "limit"
            const isUndecided = isWaiting && !withDecisions && !JSON.stringify(say ?? "").includes("supersede")
            assert.strictEqual(outcome._tag, isUndecided ? "Suspended" : "Completed", label)
            const expected = [
              ...(withInput ? ["input"] : []),
              ...(say === undefined || say.length === 0 ? [] : ["said"])
            ]
            const found = lines(transcript).flatMap((line) => (line.startsWith("user: ") ? line.slice(6) : []))
            if (outcome._tag === "Suspended") assert.deepStrictEqual(wordsOf(outcome.snapshot.inbox), expected, label)
            else assert.deepStrictEqual(found, ["go", ...expected], label)
          }
  })
)

it.effect("a request that an approver has not decided about is withdrawn too: what comes first counts [P1584]", () =>
  Effect.gen(function* () {
    for (const first of ["decision", "message"] as const) {
      const pay = paying()
      const decision = Deferred.makeUnsafe<Approval.Decision>()
      const both = Agent.make("first", { tools: [pay.tool] }).pipe(Agent.andThen(Agent.make("second", {})))
      const slow = slowReply(ScriptedModel.reply({ content: [{ type: "text", text: "paid" }] }))
      const replies = first === "decision" ? [slow.step, text("one")] : [text("one")]
      const calling = ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 }))
      const model = yield* make(calling, ...replies, text("two"))
      const run = yield* both.start("go").pipe(
        Effect.provide(model.layer),
        // a part of a composition is not suspended
        Effect.provideService(Approval.Approver, { decide: () => Deferred.await(decision) })
      )
      yield* calm
      const decide = Deferred.succeed(decision, Approval.approve)
      if (first === "decision") yield* Effect.andThen(decide, slow.begun)
      yield* run.say("do not pay", { supersede: true, to: yield* runIdOf(run, "first") })
      yield* Effect.andThen(decide, slow.end)
      assert.deepInclude(yield* run.outcome, { output: "two" })
      assert.deepStrictEqual(pay.runs, first === "decision" ? [5] : [])
      assert.deepStrictEqual(lines(model.requests.at(-2)?.messages ?? []), [
        "user: go",
        ...(first === "decision" ? ["model: pay: result", "model: paid"] : ["model: pay: interrupted"]),
        "user: do not pay"
      ])
      const events = yield* eventsOf(run)
      assert.lengthOf(only(events, "approval-decided"), first === "decision" ? 1 : 0)
    }
  })
)
