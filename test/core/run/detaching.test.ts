/** Deferred calls whose run goes on: what a run with an answer does about them, and what lists them. */
import { assert, it as effectIt } from "@effect/vitest"
import { Agent, type AgentEvent, Recovery, Skill, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Schedule, Schema, Option } from "effect"
import { TestClock } from "effect/testing"
import { batch, calm, done, eventLog, play, scripted, settlements } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { only, snapshotOf } from "../../_support/suspension.ts"
import { agentWith, deferring } from "../tool/_support/deferring.ts"
import { accounted, eventsOf, lines, slowReply, started } from "./_support/saying.ts"

const { call, calls, make, reply, text } = ScriptedModel

const counted = { _tag: "Counted" }
const runOver = { _tag: "NotCounted", reason: "run-over" }

const detaching = (options: Parameters<typeof deferring>[0] = {}) =>
  deferring({ ...options, wait: "continue", atEnd: "detach" })

const leftBy = (events: ReadonlyArray<AgentEvent.AgentEvent>) => only(events, "run-completed").at(-1)?.open

it.run("a run with an answer leaves the work as it is, and its end names the call [P1524]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tokenOf, tool } = detaching()
    const log = eventLog()
    const model = yield* make(batch("order"), done)
    const output = yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(output, "done")
    assert.lengthOf(model.requests, 2)
    const [{ runId = "" } = {}] = log.of("run-completed")
    const left = { type: "deferred", runId, agent: "worker", callId: "c1", tool: "order" } as const
    assert.deepStrictEqual(log.of("run-completed")[0]?.open, [{ ...left, handle: { job: 1 }, expiresAt: 3_600_000 }])
    yield* TestClock.adjust("2 hours")
    assert.deepStrictEqual(cancelled, [])
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 })), runOver as never)
  })
)

effectIt.effect("the outcome has the open calls, and a run without them has none [P1524]", () =>
  Effect.gen(function* () {
    for (const isEarly of [false, true]) {
      const { tool } = detaching({
        start: ({ token }) =>
          Effect.as(isEarly ? Effect.orDie(Tool.settle(token, Exit.succeed({ at: 9 }))) : Effect.void, { job: 1 })
      })
      const model = yield* make(batch("order"), done)
      const run = yield* started(agentWith(tool).start("go"), model)
      const outcome = yield* run.outcome
      assert(outcome._tag === "Completed")
      assert.strictEqual(outcome.output, "done")
      assert.deepStrictEqual(
        outcome.open?.map(({ handle }) => handle),
        isEarly ? undefined : [{ job: 1 }]
      )
      assert.deepStrictEqual(leftBy(yield* eventsOf(run)), outcome.open)
      assert.notInclude(JSON.stringify(outcome), "token")
      assert.deepStrictEqual(yield* run.waiting, [])
    }
  })
)

for (const isResultFirst of [true, false])
  effectIt.effect(
    `of a result and the answer, the ${isResultFirst ? "result" : "answer"} comes first at one instant [P1524 P1501]`,
    () =>
      Effect.gen(function* () {
        const { tokenOf, tool } = detaching()
        const answering = slowReply(reply({ content: [{ type: "text", text: "so far" }] }))
        const model = yield* make(batch("order"), answering.step, ...(isResultFirst ? [done] : []))
        const run = yield* started(agentWith(tool).start("go"), model)
        yield* answering.begun
        const delivering = Effect.suspend(() => Tool.settle(tokenOf(), Exit.succeed({ at: 7 })))
        // the run goes on when this fiber yields
        const receipt = isResultFirst
          ? yield* Effect.tap(delivering, answering.end)
          : yield* Effect.flatMap(Effect.andThen(answering.end, calm), () => delivering)
        assert.deepStrictEqual(receipt, (isResultFirst ? counted : runOver) as never)
        const outcome = yield* run.outcome
        assert(outcome._tag === "Completed")
        assert.deepStrictEqual(
          [outcome.output, outcome.open?.length],
          isResultFirst ? ["done", undefined] : ["so far", 1]
        )
        yield* accounted(run)
      })
  )

it.run("it waits for the calls that want that, and the others stay open [P1524]", (run) =>
  Effect.gen(function* () {
    const awaited = deferring({ name: "awaited", wait: "continue" })
    const left = detaching({ name: "left" })
    const log = eventLog()
    const model = yield* make(batch("awaited", "left"), text("so far"), done)
    const agent = agentWith(awaited.tool, left.tool).pipe(log.listen)
    const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
    yield* calm
    assert.isUndefined(fiber.pollUnsafe())
    assert.deepStrictEqual(yield* Tool.settle(awaited.tokenOf(), Exit.succeed({ at: 1 })), counted as never)
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.deepStrictEqual(
      log.of("run-completed")[0]?.open?.map(({ tool }) => tool),
      ["left"]
    )
    assert.deepStrictEqual([awaited.cancelled, left.cancelled], [[], []])
  })
)

it.run("a run that fails, or that ends at its deadline, cancels the work all the same [P1524 P1525]", (run) =>
  Effect.gen(function* () {
    for (const isBroken of [true, false]) {
      const { cancelled, tokenOf, tool } = detaching()
      const other = scripted("other", isBroken ? Effect.die("broken") : Effect.never)
      const agent = Agent.make("worker", {
        budget: { maxDuration: "10 minutes" },
        skills: [Skill.make("work", { description: "Works.", tools: [tool, other.tool] })]
      })
      const model = yield* make(batch("order"), batch("other"))
      const fiber = yield* Effect.forkChild(Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
      yield* calm
      yield* TestClock.adjust("10 minutes")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
      assert.deepStrictEqual(cancelled, [1])
      assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 })), runOver as never)
    }
  })
)

it.run("its polls end with the run [P1524 P1527]", (run) =>
  Effect.gen(function* () {
    let polls = 0
    const tool = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      start: () => Effect.succeed({ job: 1 }),
      wait: "continue",
      atEnd: "detach",
      deadline: "1 hour",
      poll: {
        every: Schedule.spaced("1 minute"),
        check: () => Effect.sync(() => (polls++, Option.none()))
      }
    })
    const slow = scripted("slow", Effect.as(Effect.sleep("90 seconds"), "fine"))
    const model = yield* make(batch("order", "slow"), done)
    const fiber = yield* Effect.forkChild(run(agentWith(tool, slow.tool), "go").pipe(Effect.provide(model.layer)))
    yield* calm
    yield* TestClock.adjust("10 minutes")
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.strictEqual(polls, 1)
  })
)

it.run("the calls of a sub-agent are its own: its end names them, and its parent goes on [P1524]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tool } = detaching()
    const helper = Agent.make("helper", { tools: [tool] })
    const log = eventLog()
    const agent = agentWith(Agent.asTool(helper, { description: "Helps." })).pipe(log.listen)
    const model = yield* make(calls(call("helper", { input: "go" }, "h1")), batch("order"), text("helped"), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(
      log.of("run-completed").map(({ agent, open }) => [agent, open?.length]),
      [
        ["helper", 1],
        ["worker", undefined]
      ]
    )
    assert.deepStrictEqual(cancelled, [])
  })
)

effectIt.effect("resumed from a snapshot, a run leaves the work too [P1524 P1528]", () =>
  Effect.gen(function* () {
    const left = detaching({ name: "left" })
    const awaited = deferring({ name: "awaited", wait: "continue" })
    const agent = agentWith(left.tool, awaited.tool)
    const model = yield* make(batch("left", "awaited"), text("so far"), done)
    const first = yield* started(agent.start("go"), model)
    const from = yield* snapshotOf(yield* first.outcome)
    const listed = Snapshot.waitingOf(from)
    assert.deepStrictEqual(
      listed.map((one) => one.type === "deferred" && one.tool),
      ["left", "awaited"]
    )
    assert.deepStrictEqual((yield* first.waiting).length, 2)
    const settlements = [{ token: awaited.tokenOf(), exit: Exit.succeed({ at: 1 }) }]
    const second = yield* started(Agent.resume(agent).start({ from, settlements }), model)
    const outcome = yield* second.outcome
    assert(outcome._tag === "Completed")
    assert.deepStrictEqual(
      outcome.open?.map(({ handle, tool }) => [tool, handle]),
      [["left", { job: 1 }]]
    )
    assert.deepStrictEqual([left.cancelled, awaited.cancelled], [[], []])
    assert.lengthOf([...left.begun, ...awaited.begun], 2)
  })
)

effectIt.effect("a run lists what it goes on without, until the model reads the result", () =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring({ wait: "continue" })
    const minute = Effect.as(Effect.sleep("1 minute"), "fine")
    const other = scripted("other", minute, minute)
    const model = yield* make(batch("order"), batch("other"), batch("order", "other"), text("so far"), done)
    const run = yield* started(agentWith(tool, other.tool).start("go"), model)
    yield* calm
    const listed = Effect.map(run.waiting, (all) =>
      all.map((one) => one.type === "deferred" && `${one.callId} ${JSON.stringify(one.handle)}`)
    )
    assert.deepStrictEqual(yield* listed, ['c1 {"job":1}'])
    yield* TestClock.adjust("1 minute")
    // the ids of calls repeat
    assert.deepStrictEqual(yield* listed, ['c1 {"job":1}', 'c1 {"job":2}'])
    yield* Tool.settle(tokenOf(1), Exit.succeed({ at: 2 }))
    assert.lengthOf(yield* listed, 2)
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* listed, ['c1 {"job":1}'])
    const from = yield* snapshotOf(yield* run.outcome)
    assert.deepStrictEqual(yield* listed, ['c1 {"job":1}'])
    const settlements = [{ token: tokenOf(), exit: Exit.succeed({ at: 1 }) }]
    const next = yield* started(Agent.resume(agentWith(tool, other.tool)).start({ from, settlements }), model)
    assert.strictEqual((yield* next.outcome)._tag, "Completed")
    assert.deepStrictEqual(yield* next.waiting, [])
  })
)

effectIt.effect("a fixer goes on too, and waits for its results in memory [P1524]", () =>
  Effect.gen(function* () {
    for (const atEnd of ["wait", "detach"] as const) {
      const order = deferring({ wait: "continue", atEnd })
      const fixing = yield* make(batch("order"), text('{"n":2}'), ...(atEnd === "wait" ? [text('{"n":3}')] : []))
      const mender = Agent.make("mender", {
        tools: [order.tool],
        model: fixing.layer,
        budget: { maxDuration: "1 day" }
      })
      const { runs, tool } = play("fetch", { coercion: [] }, [Effect.succeed("page")])
      const agent = agentWith(tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(mender) })))
      const model = yield* make(calls(call("fetch", '{"n":1,}', "c1")), done)
      const run = yield* started(agent.start("go") as Effect.Effect<Agent.Run<unknown, unknown>>, model)
      yield* calm
      if (atEnd === "wait") {
        assert.lengthOf(runs, 0)
        assert.deepStrictEqual(yield* Tool.settle(order.tokenOf(), Exit.succeed({ at: 1 })), counted as never)
      }
      assert.deepInclude(yield* Effect.orDie(run.outcome), { _tag: "Completed", output: "done" })
      assert.match(settlements(fixing.requests.at(-1)?.messages ?? [])[0] ?? "", /^deferred: /)
      assert.lengthOf(runs, 1)
      assert.deepStrictEqual(order.cancelled, [])
      const completed = only(yield* eventsOf(run), "run-completed")
      assert.deepStrictEqual(
        completed.map(({ agent, open }) => [agent, open?.length]),
        [
          ["mender", atEnd === "wait" ? undefined : 1],
          ["worker", undefined]
        ]
      )
    }
  })
)

it.run("a part of a composition waits for its results before the next part begins [P1524]", (run) =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring({ wait: "continue" })
    const second = Agent.make("second", {})
    const both = agentWith(tool).pipe(Agent.andThen(second))
    const model = yield* make(batch("order"), text("so far"), text("with it"), done)
    const fiber = yield* Effect.forkChild(run(both, "go").pipe(Effect.provide(model.layer)))
    yield* calm
    assert.lengthOf(model.requests, 2)
    yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 }))
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.deepStrictEqual(lines(model.requests[3]?.messages ?? []).at(-1), "user: with it")
  })
)

it.run("the loser of a race is interrupted, and its work is cancelled [P1524 P1526]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tokenOf, tool } = deferring({ wait: "continue" })
    const slow = Agent.deterministic("quick", () => Effect.as(Effect.sleep("1 minute"), "won"))
    const model = yield* make(batch("order"), text("so far"))
    const racing = Agent.firstOf(agentWith(tool), slow)
    const fiber = yield* Effect.forkChild(run(racing, "go").pipe(Effect.provide(model.layer)))
    yield* calm
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* Fiber.join(fiber), "won")
    assert.deepStrictEqual(cancelled, [1])
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 })), runOver as never)
  })
)
