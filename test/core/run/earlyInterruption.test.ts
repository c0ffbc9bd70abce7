import { assert, it } from "@effect/vitest"
import { Agent, AgentEvent, Approval, Message, Model, Snapshot, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Fiber, Layer, Stream } from "effect"
import {
  agentWith,
  callingOnce,
  calm,
  eventLog,
  interruptedAt,
  isTerminal,
  lastUsage,
  scripted
} from "../../_support/dialogue.ts"

const { make, reply } = ScriptedModel

/** A model that never answers. */
const silent = Layer.succeed(Model.Model, {
  name: "silent",
  provider: "none",
  generate: () => Effect.never,
  stream: () => Stream.never
})

const ends = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.filter(AgentEvent.isTerminal).map(({ type }) => type)

it.effect(
  "a run that is interrupted before its fiber begins ends as interrupted, with its input and usage [A1202]",
  () =>
    Effect.gen(function* () {
      for (const interrupting of ["handle", "scope"] as const) {
        const log = eventLog()
        const agent = Agent.make("worker", { prompt: "Work." }).pipe(log.listen)
        // nothing may be asked of a model: there is no step
        const model = yield* make()
        const starting = Effect.tap(agent.start("go"), ({ interrupt }) =>
          interrupting === "handle" ? interrupt : Effect.void
        )
        const run = yield* Effect.scoped(starting).pipe(Effect.provide(model.layer))
        const exit = yield* Effect.exit(run.outcome)
        assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
        const transcript = [Message.system("Work."), Message.user("go")]
        assert.deepStrictEqual(yield* run.transcript, transcript)
        assert.deepStrictEqual(yield* run.usage, Usage.empty)
        assert.deepStrictEqual(yield* run.ledger, [])
        const events = yield* Stream.runCollect(run.events)
        assert.deepStrictEqual(
          events.map(({ type }) => type),
          ["run-start", "run-interrupted"]
        )
        assert.deepStrictEqual(log.all, events)
        assert.deepInclude(events[1], { transcript, usage: Usage.empty, ledger: [] })
      }
    })
)

it.effect("the handle has the transcript as soon as the run is started: its input at least [A1202]", () =>
  Effect.gen(function* () {
    const model = yield* make(ScriptedModel.text("done"))
    const run = yield* Agent.make("worker", { prompt: "Work." }).start("go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(yield* run.transcript, [Message.system("Work."), Message.user("go")])
    assert.strictEqual(model.requests.length, 0)
    yield* run.outcome
    assert.strictEqual((yield* run.transcript).length, 3)
  })
)

it.effect("a plain function that is interrupted before it begins is not begun, and ends by one event [A1202]", () =>
  Effect.gen(function* () {
    let calls = 0
    const plain = Agent.deterministic("plain", () => Effect.sync(() => calls++))
    const run = yield* Effect.scoped(plain.start("go"))
    assert.isTrue(Exit.hasInterrupts(yield* Effect.exit(run.outcome)))
    assert.deepStrictEqual(ends(yield* Stream.runCollect(run.events)), ["run-interrupted"])
    assert.strictEqual(calls, 0)
  })
)

it.effect("a resumed run that is interrupted before it begins keeps its transcript [A1202]", () =>
  Effect.gen(function* () {
    const said = [Message.user("go"), Message.settle(reply({ content: [Message.text("done")] }), [])]
    const model = yield* make()
    const resumption = Agent.resume(agentWith())
    const run = yield* Effect.scoped(resumption.start({ from: said, input: "more" })).pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(yield* run.transcript, [...said, Message.user("more")])
    assert.deepStrictEqual(ends(yield* Stream.runCollect(run.events)), ["run-interrupted"])
  })
)

it.effect("however soon a run is interrupted, a listener of its first event gets one terminal event [A1202]", () =>
  Effect.gen(function* () {
    for (const way of ["whole", "streamed", "started"] as const) {
      for (let turns = 0; turns < 12; turns++) {
        const log = eventLog()
        const agent = agentWith().pipe(log.listen)
        const running: Effect.Effect<unknown, unknown, never> = {
          whole: agent("go"),
          streamed: Stream.runDrain(agent.stream("go")),
          started: Effect.scoped(Effect.flatMap(agent.start("go"), ({ outcome }) => outcome))
        }[way].pipe(Effect.provide(silent))
        const fiber = yield* Effect.forkChild(running)
        for (let i = 0; i < turns; i++) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        yield* calm
        const begun = log.of("run-start").map(() => "run-interrupted")
        assert.deepStrictEqual(ends(log.all), begun)
        // later it has begun in any case
        if (turns > 8) assert.strictEqual(begun.length, 1)
        if (log.all.length > 0) assert.strictEqual(log.all.at(-1)?.type, "run-interrupted")
      }
    }
  })
)

it.effect("a started run that waits is interrupted as before [A1202]", () =>
  Effect.gen(function* () {
    const log = eventLog()
    const waiting = Effect.scoped(
      Effect.flatMap(agentWith().pipe(log.listen).start("go"), ({ outcome }) => outcome)
    ).pipe(Effect.provide(silent))
    const exit = yield* interruptedAt(500, waiting)
    assert.isTrue(Exit.hasInterrupts(exit))
    assert.deepInclude(log.end(), { type: "run-interrupted", at: 500 })
    assert.deepStrictEqual(log.types().slice(-2), ["model-interrupted", "run-interrupted"])
  })
)

it.effect("a run that is suspended ends with one event, and so does each that goes on [A1202]", () =>
  Effect.gen(function* () {
    const log = eventLog()
    const { runs, tool } = scripted("pay", Effect.succeed("paid"))
    const agent = agentWith(tool.pipe(Tool.requireApproval())).pipe(log.listen)
    const model = yield* callingOnce("pay")
    const endOf = Effect.fnUntraced(function* <E, R>(starting: Effect.Effect<Agent.Run<string, E>, never, R>) {
      const before = log.all.length
      const outcome = yield* Effect.flatMap(starting, (run) => run.outcome).pipe(Effect.provide(model.layer))
      const all = log.all.slice(before)
      assert.strictEqual(all.filter(isTerminal).length, 1)
      const end = all.at(-1)
      assert.strictEqual(log.end(), end)
      return { outcome, end }
    })
    const first = yield* endOf(agent.start("go"))
    assert(first.outcome._tag === "Suspended" && first.end?.type === "run-suspended")
    assert.deepStrictEqual(lastUsage(first.end), first.end.usage)
    const from = first.outcome.snapshot
    assert.deepStrictEqual(first.end.snapshot, from)
    const unanswered = yield* endOf(Agent.resume(agent).start({ from, decisions: [] }))
    assert.strictEqual(unanswered.end?.type, "run-suspended")
    const decisions = Snapshot.requestsOf(from).map(({ digest }) => ({ digest, decision: Approval.approve }))
    const last = yield* endOf(Agent.resume(agent).start({ from, decisions, repeat: true }))
    assert.strictEqual(last.end?.type, "run-completed")
    assert.strictEqual(runs.length, 1)
  })
)
