import { assert } from "@effect/vitest"
import { Agent, Message, Recovery, RunError, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { during, overAMinute, stage, treeOf } from "../../_support/composition.ts"
import { agentWith, batch, busy, callingOnce, done, eventLog, scripted } from "../../_support/dialogue.ts"

const { call, calls, make, text } = ScriptedModel

/** An agent with a model of its own that answers with these texts. */
const speaker = (name: string, ...texts: ReadonlyArray<string>) =>
  Effect.map(make(...texts.map(text)), (model) => ({ model, agent: Agent.make(name, { model: model.layer }) }))

const inputsOf = (model: ScriptedModel.ScriptedModel) =>
  model.requests.map(({ messages }) => {
    const last = messages.at(-1)
    return last?.role === "user" ? Message.textOf(last) : ""
  })

it.run("withBudget limits all parts together, and the error is the composition's [A904 P704]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const a = yield* speaker("a", "1")
    const b = yield* speaker("b")
    const both = Agent.andThen(a.agent, b.agent).pipe(Agent.withBudget({ maxTurns: 1 }), log.listen)
    const error = yield* Effect.flip(run(both, "go"))
    assert(error instanceof RunError.BudgetExceededError)
    assert.deepInclude(error, { agent: "andThen", reason: "maxTurns", limit: 1, spent: 1 })
    assert.strictEqual(error.usage.inputTokens, 10)
    // nothing recovers from the end of the budget around it
    const c = yield* speaker("c")
    const trying = Agent.fallback(b.agent, c.agent, { when: () => true })
    const tight = Agent.andThen(a.agent, trying).pipe(Agent.withBudget({ maxTurns: 1 }))
    const one = yield* make(text("1"))
    const first = a.agent.pipe(Agent.withModel(one.layer))
    assert.strictEqual(
      (yield* Effect.flip(run(Agent.withBudget({ maxTurns: 1 })(Agent.andThen(first, trying)), "go")))._tag,
      "BudgetExceededError"
    )
    assert.strictEqual(tight.name, "andThen")
  })
)

it.run("a time limit of a composition stops the part at work; other limits stay unlimited [A903 P704]", (run) =>
  Effect.gen(function* () {
    const { actor, lines } = stage()
    const limited = Agent.andThen(actor("a", 600, Effect.succeed), actor("b", 600, Effect.succeed)).pipe(
      Agent.withBudget({ maxDuration: "1 second" })
    )
    const exit = yield* overAMinute(Effect.flip(run(limited, "go")))
    assert(Exit.isSuccess(exit) && exit.value instanceof RunError.BudgetExceededError)
    assert.deepInclude(exit.value, { agent: "andThen", reason: "maxDuration", limit: 1000 })
    assert.strictEqual(lines.at(-1), "b: failure at 1000")
    const hasty = Agent.withBudget({ maxDuration: 100 })(actor("c", 600, Effect.succeed))
    const late = yield* overAMinute(Effect.flip(run(hasty, "go")))
    assert(Exit.isSuccess(late) && late.value._tag === "BudgetExceededError")
  })
)

it.run("withBudget changes the named limits of an agent with a loop, and no others [A902]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("look"))
    const { tool } = scripted("look", Effect.succeed("seen"), Effect.succeed("seen"))
    const agent = Agent.make("worker", {
      budget: { maxTurns: 7, maxToolCalls: 1 },
      skills: [Skill.make("s", { description: "d", tools: [tool] })]
    }).pipe(Agent.withBudget({ maxTurns: 1 }))
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(error, { reason: "maxTurns", limit: 1 })
    assert.deepInclude(Agent.explain(agent).worst, { turns: 1 })
    const wider = agent.pipe(Agent.withBudget({ maxTurns: 9 }))
    const eager = yield* make(batch("look", "look"))
    const exceeded = yield* Effect.flip(run(wider, "go").pipe(Effect.provide(eager.layer)))
    assert.deepInclude(exceeded, { reason: "maxToolCalls", limit: 1 })
  })
)

it.run(
  "a composition is a tool as any agent is: its runs nest under the call, its usage is the caller's [A1110]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const writer = yield* speaker("writer", "a draft")
      const editor = yield* speaker("editor", "a page")
      const desk = Agent.andThen(writer.agent, editor.agent)
      const ask = Agent.asTool(desk, { name: "ask", description: "Asks." })
      const model = yield* make(calls(call("ask", { input: "why?" }, "c1")), done)
      yield* run(agentWith(ask).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(treeOf(log.all), [
        "worker run-completed",
        "  andThen run-completed",
        "    writer run-completed",
        "    editor run-completed"
      ])
      const start = log.of("run-start").find(({ agent }) => agent === "andThen")
      assert.strictEqual(start?.parent?.callId, "c1")
      // its parts are asked as the caller is asked
      assert.deepStrictEqual(
        [writer.model.requests[0]?.isStreamed, editor.model.requests[0]?.isStreamed],
        [run.isStreamed, run.isStreamed]
      )
      const end = log.end()
      assert(end?.type === "run-completed")
      assert.strictEqual(end.ledger.length, 4)
    })
)

it.run("as a fixer it repairs arguments; it reads a report where its first part does [A1110 A601]", (run) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    const listening = Agent.deterministic("raw", (raw: string) => Effect.sync(() => (seen.push(raw), raw)))
    const mender = yield* speaker("mender", '{"n":1}')
    for (const fixer of [
      Agent.andThen(
        listening,
        Agent.map(listening, () => '{"n":1}')
      ),
      Agent.map(mender.agent, (s) => s)
    ]) {
      const { runs, tool } = scripted("look", Effect.fail(busy()), Effect.succeed("seen"))
      const model = yield* callingOnce("look")
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(fixer) })))
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      assert.deepStrictEqual(
        runs.map(({ params }) => params),
        [{}, { n: 1 }]
      )
    }
    assert.deepStrictEqual(seen, ["{}", "{}"])
    assert.include(inputsOf(mender.model)[0], "A call of tool 'look' failed.")
  })
)

it.run(
  "a forum that repairs arguments reads a report where all of its participants do, and its captain reads the same [A1110 A601]",
  (run) =>
    Effect.gen(function* () {
      const raw = Agent.deterministic("raw", (text: string) => Effect.succeed(text))
      for (const isAlike of [true, false]) {
        const one = yield* speaker("one", "1")
        const two = yield* isAlike ? speaker("two", "2") : Effect.succeed({ agent: raw })
        const read: Array<string> = []
        const captain = Agent.deterministic("captain", ({ input }: { readonly input: string }) =>
          Effect.sync(() => (read.push(input), '{"n":1}'))
        )
        const forum = Agent.forum({ one: one.agent, two: two.agent }, captain)
        const { runs, tool } = scripted("look", Effect.fail(busy()), Effect.succeed("seen"))
        const model = yield* callingOnce("look")
        const fixer = Agent.map(forum, (answer) => answer)
        const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.fix(fixer) })))
        assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
        assert.deepStrictEqual(
          runs.map(({ params }) => params),
          [{}, { n: 1 }]
        )
        const report = "A call of tool 'look' failed."
        assert.strictEqual(inputsOf(one.model)[0]?.includes(report), isAlike)
        assert.strictEqual(read[0]?.includes(report), isAlike)
      }
    })
)

it.effect("the handle of a composition has the ledger so far, and the last finish reason at the end [A1101]", () =>
  Effect.gen(function* () {
    const { actor } = stage()
    const cut = yield* make(
      ScriptedModel.replies(ScriptedModel.reply({ content: [Message.text("a pa")], finish: "length" }))
    )
    const first = yield* speaker("first", "1")
    const agent = first.agent.pipe(
      Agent.andThen(actor("pause", 10, Effect.succeed)),
      Agent.andThen(Agent.make("last", { model: cut.layer }))
    )
    yield* Effect.scoped(
      Effect.gen(function* () {
        const handle = yield* agent.start("go")
        yield* during(5, Effect.void)
        assert.strictEqual((yield* handle.ledger).length, 1)
        const fiber = yield* during(10, handle.outcome)
        assert.deepStrictEqual(yield* Fiber.join(fiber), { _tag: "Completed", output: "a pa", finish: "length" })
        const events = yield* Stream.runCollect(handle.events)
        assert.deepStrictEqual(treeOf(events).length, 4)
      })
    )
  })
)

it.effect("a streamed composition delivers the text of its parts before they are complete [A1201]", () =>
  Effect.gen(function* () {
    const { agent } = yield* speaker("writer", "words in pieces")
    const { actor } = stage()
    const both = Agent.andThen(agent, actor("b", 0, Effect.succeed))
    const events = yield* Stream.runCollect(both.stream("go"))
    const deltas = events.filter(({ type }) => type === "text-delta")
    assert.isAbove(deltas.length, 1)
    assert.isTrue(deltas.every((event) => event.agent === "writer" && event.parent?.runId === events[0]?.runId))
  })
)

it.effect("what a composition may cost as a fixer is what its parts may cost, as often as they may run [P1102]", () =>
  Effect.sync(() => {
    const one = Agent.make("one", { budget: { maxTurns: 3 } })
    const plain = Agent.deterministic("plain", (input: string) => Effect.succeed(input))
    const loop = Agent.loopUntil(one, () => true, { maxIterations: 4, feedback: () => "" })
    const costs = [
      plain,
      one,
      Agent.andThen(plain, Agent.andThen(one, one)),
      loop,
      Agent.firstOf(one, loop),
      Agent.fallback(one, one),
      Agent.speculative(one, 5, { hedgeAfter: "1 second" }),
      Agent.branch(
        Agent.map(one, () => ({ _tag: "A" }) as { readonly _tag: "A" | "B" }),
        {
          A: Agent.mapInput(one, () => ""),
          B: Agent.mapInput(loop, () => "")
        }
      ),
      Agent.parallel({ one, loop }),
      Agent.forum(
        { one, plain },
        Agent.mapInput(loop, () => "")
      )
    ].map((fixer) => Agent.bounds(fixer).modelCalls)
    assert.deepStrictEqual(costs, [0, 3, 6, 12, 15, 6, 15, 15, 15, 15])
    assert.strictEqual(Recovery.explain(Recovery.fix(loop)).worst.modelCalls, 12)
  })
)
