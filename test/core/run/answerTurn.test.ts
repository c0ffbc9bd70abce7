/** The last turn of a run that has reached a limit: what the model is asked, and what becomes of its reply. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Budget, LlmError, Message, Recovery, RunError, Skill, Tool } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Duration, Effect, Exit, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { batch, busy, done, eventLog, overADay, scripted, settlements } from "../../_support/dialogue.ts"
import { exceeded, looking, seen, worker } from "../budget/_support/limitedAgents.ts"

const { call, calls, fails, make, replies, reply, text } = ScriptedModel

const answering = Agent.onBudgetExceeded(() => Budget.answer)

const words = "tools are no longer available"

const look = () => scripted("look", ...seen(9))

const called = (input: Partial<Message.Reply>) =>
  replies(reply({ content: [call("look", {})], finish: "tool-calls", ...input }))

it.run(
  "each limit but that of time takes an answer: one turn without tools, which is no turn of maxTurns [P1360 P1590-P1592]",
  (run) =>
    Effect.gen(function* () {
      const prices = { "*": { usdPerMillionTokens: { input: 1e6, output: 1e6 } } }
      const off = Recovery.tell(() => "off", { then: "tools-off" })
      const cases = [
        ["maxTurns", 2, 2, { maxTurns: 2 }, looking(2)],
        ["maxToolCalls", 1, 2, { maxToolCalls: 1 }, [batch("look", "look")]],
        ["maxTokens", 40, 45, { maxTokens: 40 }, looking(3)],
        ["maxCost", 40, 45, { maxCost: 40, prices }, looking(3)],
        [
          "repeatedFailure",
          2,
          2,
          { repeatedFailures: { hint: 3, withhold: 4, stop: 2 } },
          [batch("fail"), batch("fail")]
        ],
        ["toolsOff", 1, 2, { maxTurns: 9 }, [batch("off"), batch("look"), batch("look")]]
      ] as const
      for (const [reason, limit, spent, budget, script] of cases) {
        const log = eventLog()
        const failing = scripted("fail", ...Array.from({ length: 3 }, () => Effect.fail(busy())))
        const { tool: offTool } = scripted("off", Effect.fail(busy()))
        const tools = [look().tool, failing.tool.pipe(Tool.onError({ Busy: Recovery.tell() })), offTool] as const
        const switching = tools[2].pipe(Tool.onError({ Busy: off }))
        const model = yield* make(...script, text("what I know"))
        const asked: Array<string> = []
        const agent = worker(budget, tools[0], tools[1], switching).pipe(
          Agent.onBudgetExceeded((exceeded) => {
            asked.push(exceeded.reason)
            return Effect.succeed(Budget.answer)
          }),
          log.listen
        )
        assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "what I know", reason)
        assert.deepStrictEqual(asked, [reason])
        assert.deepInclude(log.of("budget-exceeded")[0], { reason, limit, spent, action: "answer" })
        const request = model.requests.at(-1)
        assert.strictEqual(request?.toolChoice, "none", reason)
        assert.deepStrictEqual(request?.tools, model.requests[0]?.tools, reason)
        const closing = request?.messages.at(-1)
        assert(closing?.role === "user")
        assert.include(Message.textOf(closing), words)
        const turns = log.of("turn-start")
        assert.deepInclude(turns.at(-1), { answerTurn: true, message: closing, turn: turns.length })
        assert.deepStrictEqual(
          turns.slice(0, -1).map(({ answerTurn }) => answerTurn),
          turns.slice(1).map(() => undefined)
        )
        assert.lengthOf(model.requests, turns.length)
        assert.deepInclude(log.end(), { type: "run-completed", endedBy: { reason, limit }, finish: "stop" })
        // all that was said is in the events, and each call of the request is settled
        assert.deepStrictEqual(AgentEvent.transcriptOf(log.all).slice(0, -1), request?.messages)
      }
    })
)

it.run("at maxDuration, with an event, and at maxConsecutiveSameTool an answer is a stop [P1590]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { tool } = scripted("look", Effect.never)
    const agent = worker({ maxDuration: "1 second" }, tool).pipe(answering, log.listen)
    const model = yield* make(batch("look"))
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert(Exit.isFailure(exit))
    assert.strictEqual(exceeded(Cause.squash(exit.cause)).reason, "maxDuration")
    assert.deepInclude(log.of("budget-exceeded")[0], { reason: "maxDuration", action: "stop", wanted: "answer" })
    const inARow = worker({ maxConsecutiveSameTool: 1 }, look().tool).pipe(answering)
    const other = yield* make(batch("look", "look"))
    const error = yield* Effect.flip(run(inARow, "go").pipe(Effect.provide(other.layer)))
    assert.strictEqual(exceeded(error).reason, "maxConsecutiveSameTool")
  })
)

it.run("a sub-agent answers at its own limit, and not at that of its parent, which answers itself [P1590]", (run) =>
  Effect.gen(function* () {
    const played = Effect.fnUntraced(function* (
      turns: number,
      ofChild: number,
      ...script: Array<ScriptedModel.ScriptedStep>
    ) {
      const log = eventLog()
      const model = yield* make(...script)
      const child = worker({ maxTurns: ofChild }, look().tool).pipe(answering)
      const tool = Agent.asTool(child, { name: "ask", description: "Asks." }).pipe(
        Tool.onError({ BudgetExceededError: Recovery.tell() })
      )
      const agent = Agent.make("boss", {
        budget: { maxTurns: turns },
        skills: [Skill.make("ask", { description: "Asks.", tools: [tool] })]
      }).pipe(answering, log.listen)
      const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(exit, Exit.succeed("all"))
      return {
        log,
        last: settlements(model.requests.at(-1)?.messages ?? []),
        ends: log.all.filter(AgentEvent.isTerminal).map(({ agent, type }) => `${agent} ${type}`),
        actions: log.of("budget-exceeded").map(({ action, reason, wanted }) => [reason, action, wanted])
      }
    })
    const ask = calls(call("ask", { input: "why?" }))
    // there is a turn for the answer of the child, and one more for the parent
    const own = yield* played(4, 1, ask, batch("look"), text("part"), text("all"))
    assert.deepStrictEqual(own.last, ["result: part"])
    assert.deepStrictEqual(own.actions, [["maxTurns", "answer", undefined]])
    // the turn of the child's answer is one of the parent's
    const used = yield* played(3, 1, ask, batch("look"), text("part"), text("all"))
    assert.deepStrictEqual(used.last, ["result: part"])
    assert.deepStrictEqual(used.log.end()?.type, "run-completed")
    // no turn of the parent is left: the child stops with its own error
    const none = yield* played(2, 1, ask, batch("look"), text("all"))
    assert.deepStrictEqual(none.actions, [
      ["maxTurns", "stop", "answer"],
      ["maxTurns", "answer", undefined]
    ])
    assert.deepStrictEqual(none.ends, ["worker run-failed", "boss run-completed"])
    // the limit of the parent ends the child
    const ofParent = yield* played(2, 5, ask, batch("look"), text("all"))
    assert.deepStrictEqual(ofParent.actions, [["maxTurns", "answer", undefined]])
    assert.deepStrictEqual(ofParent.ends, ["worker run-failed", "boss run-completed"])
  })
)

it.run(
  "without a reserve the answer may pass the limit; with one, the limit is reached before the turn that would leave too little [P1591]",
  (run) =>
    Effect.gen(function* () {
      const prices = { "*": { usdPerMillionTokens: { input: 1e6, output: 2e6 } } }
      // a reply has 10 tokens of input and 5 of output, and costs 20
      for (const [budget, outputTokens, requests] of [
        [{ maxTokens: 60 }, undefined, 6],
        // 45 are spent, and 10 of input and 6 of output would pass 60
        [{ maxTokens: 60 }, 6, 4],
        [{ maxTokens: 60 }, 5, 5],
        [{ maxCost: 80, prices }, undefined, 6],
        [{ maxCost: 80, prices }, 6, 4],
        [{ maxCost: 80, prices }, 5, 5]
      ] as const) {
        const model = yield* make(...looking(requests - 1), text("so far"))
        const reserve = outputTokens === undefined ? {} : { reserve: { outputTokens } }
        const agent = worker(budget, look().tool).pipe(Agent.onBudgetExceeded(() => Budget.answer, reserve))
        assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "so far")
        assert.lengthOf(model.requests, requests)
      }
      Agent.onBudgetExceeded(worker({}), () => Budget.stop, { reserve: { outputTokens: 1 } })
      for (const outputTokens of [0, 1.5, NaN, Infinity]) {
        assert.throws(
          () => Agent.onBudgetExceeded(worker({}), () => Budget.stop, { reserve: { outputTokens } }),
          RangeError,
          "reserve.outputTokens"
        )
      }
    })
)

it.run("a reserve ends no run whose answer is there, and an extension makes room for more [P1591]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("look"), done)
    const log = eventLog()
    const agent = worker({ maxTokens: 35 }, look().tool).pipe(
      Agent.onBudgetExceeded(({ limit, spent }) => (limit > 40 ? Budget.answer : Budget.extend(spent + 30)), {
        reserve: { outputTokens: 20 }
      }),
      log.listen
    )
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(
      log.of("budget-exceeded").map(({ action, limit, spent }) => [action, limit, spent]),
      [["extend", 35, 15]]
    )
    assert.notProperty(log.end(), "endedBy")
  })
)

it.run(
  "the request keeps the tools also where one was withheld, and has no choice of tools where there is none [P1592]",
  (run) =>
    Effect.gen(function* () {
      const fail = scripted("fail", ...Array.from({ length: 3 }, () => Effect.fail(busy())))
      const telling = fail.tool.pipe(Tool.onError({ Busy: Recovery.tell() }))
      const model = yield* make(batch("fail"), text("so"))
      const agent = worker({ maxTurns: 1, repeatedFailures: { hint: 1, withhold: 1, stop: 5 } }, telling, look().tool)
      assert.strictEqual(yield* run(answering(agent), "go").pipe(Effect.provide(model.layer)), "so")
      assert.deepStrictEqual(
        model.requests.at(-1)?.tools.map(({ name }) => name),
        ["fail", "look"]
      )
      const bare = Agent.make("bare", { budget: { maxTurns: 1 }, output: Schema.Struct({ n: Schema.Finite }) })
      const other = yield* make(text("?"), text('{"n":1}'))
      assert.deepStrictEqual(yield* run(answering(bare), "go").pipe(Effect.provide(other.layer)), { n: 1 })
      const last = other.requests.at(-1)
      assert.deepStrictEqual([last?.tools, last?.toolChoice], [[], "auto"])
      assert.deepStrictEqual(last?.output, other.requests[0]?.output)
    })
)

it.run("calls in the last turn are denied, and the text beside them is the answer [P1593]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { runs, tool } = look()
    const both = replies(reply({ content: [Message.text("so far"), call("look", {}, "c9")] }))
    const model = yield* make(batch("look"), both)
    const agent = worker({ maxTurns: 1 }, tool).pipe(answering, log.listen)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "so far")
    assert.lengthOf(runs, 1)
    assert.lengthOf(log.of("tool-start"), 1)
    const [refused] = log.of("tool-denied")
    assert.deepInclude(refused, { callId: "c9", tool: "look", turn: 2 })
    const [, second] = settlements(AgentEvent.transcriptOf(log.all))
    assert.strictEqual(second, "denied: The call of tool 'look' was denied and not run: the run has reached its limit")
  })
)

const strict = Schema.Struct({ n: Schema.Finite })

const worded = (budget: Budget.Limits = { maxTurns: 1 }) =>
  Agent.make("worker", {
    budget,
    output: strict,
    skills: [Skill.make("work", { description: "Works.", tools: [look().tool] })]
  }).pipe(Agent.outputRetries(5), answering)

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "m", provider: "p" })

it.run(
  "without an answer the run fails with its limit, the failure of the answer in the trail, and no model is called again [P1593]",
  (run) =>
    Effect.gen(function* () {
      const misfit = replies(reply({ content: [Message.text("no number")] }))
      const cases = [
        ["empty", replies(reply({})), "EmptyReplyError", "looking"],
        ["calls alone", called({}), "EmptyReplyError", "looking"],
        ["failure", fails(overloaded()), "ModelOverloadedError", "looking"],
        ["misfit", misfit, "InvalidOutputError", "no number"],
        [
          "too long",
          replies(reply({ content: [Message.text('{"n":1')], finish: "length" })),
          "InvalidOutputError",
          '{"n":1'
        ],
        ["paused", replies(reply({ content: [Message.text("wait")], finish: "paused" })), "EmptyReplyError", "wait"]
      ] as const
      for (const [name, last, tag, partial] of cases) {
        const log = eventLog()
        const first = called({ content: [Message.text("looking"), call("look", {})] })
        const model = yield* make(first, last)
        const error = exceeded(
          yield* Effect.flip(run(worded().pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
        )
        assert.deepInclude(error, { reason: "maxTurns", limit: 1, spent: 1, partial }, name)
        assert.deepStrictEqual(
          error.trail?.map(({ attempt, tag }) => [tag, attempt]),
          [[tag, 1]],
          name
        )
        assert.lengthOf(model.requests, 2)
        assert.lengthOf(log.of("budget-exceeded"), 1)
        assert.deepStrictEqual(AgentEvent.transcriptOf(log.all), error.transcript, name)
        assert.strictEqual(log.end()?.type, "run-failed")
      }
    })
)

it.run(
  "a text that is too long is an answer if there is no schema, and its outcome has `finish: length` [P1593]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const model = yield* make(batch("look"), replies(reply({ content: [Message.text("so fa")], finish: "length" })))
      const agent = worker({ maxTurns: 1 }, look().tool).pipe(answering, log.listen)
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "so fa")
      assert.deepInclude(log.end(), { finish: "length", endedBy: { reason: "maxTurns", limit: 1 } })
    })
)

it.run("the model call of the last turn has the table of the agent, within the time that is left [P1593]", (run) =>
  Effect.gen(function* () {
    const table = Agent.onLlmError({
      ModelOverloadedError: Recovery.retry({ retries: 1, initialBackoff: "1 second", jitter: "none" }),
      EmptyReplyError: Recovery.respondWith(() => Effect.succeed({ n: 7 }))
    })
    const recovered = yield* make(batch("look"), fails(overloaded()), text('{"n":2}'))
    const exit = yield* overADay(run(worded().pipe(table), "go").pipe(Effect.provide(recovered.layer)))
    assert.deepStrictEqual(exit, Exit.succeed({ n: 2 }))
    const instead = yield* make(batch("look"), replies(reply({})))
    assert.deepStrictEqual(yield* run(worded().pipe(table), "go").pipe(Effect.provide(instead.layer)), { n: 7 })
    // the wait would pass the end of the run
    const late = yield* make(batch("look"), fails(overloaded()))
    const short = worded({ maxTurns: 1, maxDuration: "500 millis" }).pipe(table)
    const error = exceeded(yield* Effect.flip(run(short, "go").pipe(Effect.provide(late.layer))))
    assert.deepInclude(error, { reason: "maxTurns", limit: 1 })
    assert.deepStrictEqual(
      error.trail?.map(({ gaveUp, tag, verdict }) => [tag, verdict, gaveUp]),
      [["ModelOverloadedError", "retry", true]]
    )
    // what was decided without an end of turns is written down all the same
    assert.doesNotThrow(() => Schema.encodeUnknownSync(Schema.toCodecJson(RunError.RunError))(error))
    // so would a wait of its transport, of which no table knows
    const held = yield* make(
      batch("look"),
      ScriptedModel.answers(() => Effect.as(RunContext.sleep(Duration.minutes(1)), reply({})))
    )
    const soon = worded({ maxTurns: 1, maxDuration: "500 millis" })
    assert.deepInclude(exceeded(yield* Effect.flip(run(soon, "go").pipe(Effect.provide(held.layer)))), {
      reason: "maxTurns",
      limit: 1,
      trail: []
    })
    // its time is over while the model writes
    const log = eventLog()
    const slow = yield* make(
      batch("look"),
      ScriptedModel.answers(() =>
        Effect.delay(Effect.succeed(reply({ content: [Message.text('{"n":3}')] })), "1 minute")
      )
    )
    const cut = yield* overADay(
      run(worded({ maxTurns: 1, maxDuration: "1 second" }).pipe(log.listen), "go").pipe(Effect.provide(slow.layer))
    )
    assert(Exit.isFailure(cut))
    assert.deepInclude(exceeded(Cause.squash(cut.cause)), { reason: "maxTurns", limit: 1 })
    assert.lengthOf(log.of("model-interrupted"), 1)
    assert.strictEqual(Duration.toMillis(Duration.millis((log.end()?.at ?? 0) - (log.all[0]?.at ?? 0))), 1000)
  })
)
