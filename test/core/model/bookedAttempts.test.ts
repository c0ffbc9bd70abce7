import { assert } from "@effect/vitest"
import { Agent, LlmError, Message, Model, Recovery, Usage } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { Cause, Effect, Exit, Layer, Stream } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  callingOnce,
  eventLog,
  interruptedAt,
  isTerminal,
  lastTranscript,
  scripted
} from "../../_support/dialogue.ts"

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "planned" })

/** A model that does this when it is asked, whole or for its first part. */
const doing = (
  effect: () => Effect.Effect<Message.Reply, LlmError.LlmError>,
  stream: () => Stream.Stream<Model.Part, LlmError.LlmError> = () => Stream.drain(Stream.fromEffect(effect()))
): Layer.Layer<Model.Model> =>
  Layer.succeed(Model.Model, { name: "planned", provider: "here", generate: effect, stream })

const says: Model.Part = { type: "text-delta", text: "Well" }
const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })
const finish: Model.Part = { type: "finish", finish: "stop", usage }

/** The attempts as they were told of: how each began and ended, and what was booked. */
const attemptsOf = (log: ReturnType<typeof eventLog>) => ({
  begun: log.of("model-start").map(({ attempt }) => attempt),
  closed: log.all.flatMap((event) =>
    event.type === "model-end" || event.type === "model-failed" || event.type === "model-interrupted"
      ? [`${event.type} ${event.attempt} ${event.entry.outcome}`]
      : []
  ),
  booked: log.all.flatMap((event) => (isTerminal(event) && "ledger" in event ? event.ledger : []))
})

it.run("an attempt that is interrupted is booked, and its start is closed, before the run ends [P703]", (run) =>
  Effect.gen(function* () {
    const endings: Array<string> = []
    const waiting = Effect.onInterrupt(
      Effect.callback<never>(() => Effect.sync(() => void endings.push("callback"))),
      () => Effect.sync(() => void endings.push("model"))
    )
    for (const stuck of [
      Effect.never,
      waiting,
      Effect.uninterruptible(Effect.andThen(Effect.sleep(900), Effect.die("late")))
    ]) {
      const log = eventLog()
      const model = doing(() => stuck)
      const exit = yield* interruptedAt(500, run(agentWith().pipe(log.listen), "go").pipe(Effect.provide(model)))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
      const { begun, booked, closed } = attemptsOf(log)
      assert.deepStrictEqual(begun, [1])
      assert.deepStrictEqual(closed, ["model-interrupted 1 interrupted"])
      assert.deepStrictEqual(
        booked,
        log.of("model-interrupted").map(({ entry }) => entry)
      )
      assert.deepStrictEqual(booked[0]?.usage, Usage.empty)
      assert.deepInclude(booked[0], { model: "planned", provider: "here", purpose: "agent", turn: 1, attempt: 1 })
      assert.deepStrictEqual(log.types().slice(-2), ["model-interrupted", "run-interrupted"])
    }
    assert.deepStrictEqual(endings, ["callback", "model"])
  })
)

it.run("a model that interrupts itself is an interrupted attempt, and no row decides [P703]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const agent = agentWith().pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 3 }) }), log.listen)
    yield* Effect.exit(run(agent, "go").pipe(Effect.provide(doing(() => Effect.interrupt))))
    assert.deepStrictEqual(attemptsOf(log).closed, ["model-interrupted 1 interrupted"])
    assert.strictEqual(log.end()?.type, "run-interrupted")
  })
)

it.run("an attempt that dies, throws, or dies in a callback is booked as failed with its defect [P703 A1202]", (run) =>
  Effect.gen(function* () {
    const bug = new Error("a bug")
    const throwing = () => {
      throw bug
    }
    for (const model of [
      doing(() => Effect.die(bug)),
      doing(throwing, throwing),
      doing(() => Effect.callback((resume) => resume(Effect.die(bug)))),
      doing(
        () => Effect.die(bug),
        () => Stream.concat(Stream.make(says), Stream.die(bug))
      )
    ]) {
      const log = eventLog()
      const table = Agent.onLlmError({ orElse: Recovery.retry({ retries: 3 }) }, { onPartial: "restart" })
      const exit = yield* Effect.exit(run(agentWith().pipe(table, log.listen), "go").pipe(Effect.provide(model)))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.deepStrictEqual(attemptsOf(log).begun, [1])
      assert.deepStrictEqual(attemptsOf(log).closed, ["model-failed 1 failed"])
      assert.strictEqual(log.of("model-failed")[0]?.error, bug)
      assert.strictEqual(attemptsOf(log).booked.length, 1)
      assert.deepInclude(log.end(), { type: "run-failed", error: bug, isDefect: true })
    }
  })
)

it.run("a row's callback that dies or is interrupted leaves the failed attempt booked once [P703]", (run) =>
  Effect.gen(function* () {
    for (const answer of [Effect.die("bug"), Effect.interrupt, Effect.never]) {
      const log = eventLog()
      const agent = agentWith().pipe(
        Agent.onLlmError({ ModelOverloadedError: Recovery.respondWith(() => answer) }),
        log.listen
      )
      const model = doing(() => Effect.fail(overloaded()))
      yield* interruptedAt(500, run(agent, "go").pipe(Effect.provide(model)))
      assert.deepStrictEqual(attemptsOf(log).closed, ["model-failed 1 failed"])
      assert.strictEqual(attemptsOf(log).booked.length, 1)
    }
  })
)

it.run("an attempt that runs out of the run's time is booked like any other that is interrupted [P703]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const agent = Agent.make("worker", { budget: { maxDuration: "1 second" } }).pipe(log.listen)
    const exit = yield* interruptedAt(2000, run(agent, "go").pipe(Effect.provide(doing(() => Effect.never))))
    assert.isTrue(Exit.isFailure(exit) && !Cause.hasInterrupts(exit.cause))
    assert.deepStrictEqual(attemptsOf(log).closed, ["model-interrupted 1 interrupted"])
    assert.strictEqual(log.end()?.type, "run-failed")
  })
)

it.run("a reply that was filtered away is one failed attempt, booked with what it has used up [P703 A702]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const filtered: Model.Part = { ...finish, finish: "filtered" }
    const model = doing(
      () => Effect.succeed({ content: [], finish: "filtered", usage }),
      () => Stream.make(filtered)
    )
    yield* Effect.flip(run(agentWith().pipe(log.listen), "go").pipe(Effect.provide(model)))
    const { booked, closed } = attemptsOf(log)
    assert.deepStrictEqual(closed, ["model-failed 1 failed"])
    assert.deepStrictEqual(
      booked.map(({ outcome, usage }) => [outcome, usage]),
      [["failed", usage]]
    )
  })
)

it.effect("an attempt that was shown in part is booked as discarded if it may be retried [P703 P502]", () =>
  Effect.gen(function* () {
    const thinks: Model.Part = { type: "reasoning-delta", text: "hm" }
    for (const [onPartial, part, outcome] of [
      ["restart", says, "discarded"],
      ["restart", thinks, "discarded"],
      ["fail", thinks, "discarded"],
      ["fail", says, "failed"]
    ] as const) {
      const log = eventLog()
      const broken = Stream.concat(Stream.make(part), Stream.fail(overloaded()))
      let asked = 0
      const model = doing(
        () => Effect.never,
        () => (++asked === 1 ? broken : Stream.make(says, finish))
      )
      const table = Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }, { onPartial })
      const agent = agentWith().pipe(table, log.listen)
      yield* Effect.exit(Stream.runDrain(agent.stream("go")).pipe(Effect.provide(model)))
      const rest = outcome === "discarded" ? ["model-end 2 used"] : []
      assert.deepStrictEqual(attemptsOf(log).closed, [`model-failed 1 ${outcome}`, ...rest])
    }
  })
)

for (const [title, ending, closed] of [
  ["interrupted", Effect.sleep("1 second"), "model-interrupted 1 interrupted"],
  ["cut off by a defect", Effect.die("bug"), "model-failed 1 failed"]
] as const) {
  it.effect(`a streamed attempt that is ${title} after its usage is known is booked with that usage [P703]`, () =>
    Effect.gen(function* () {
      const log = eventLog()
      const parts = Stream.ensuring(Stream.make(says, finish), ending)
      const model = doing(
        () => Effect.never,
        () => parts
      )
      yield* interruptedAt(500, Stream.runDrain(agentWith().pipe(log.listen).stream("go")).pipe(Effect.provide(model)))
      const { booked } = attemptsOf(log)
      assert.deepStrictEqual(attemptsOf(log).closed, [closed])
      assert.deepStrictEqual(
        booked.map((entry) => entry.usage),
        [usage]
      )
      assert.deepInclude(log.end(), { usage })
      assert.deepStrictEqual(lastTranscript(log.end()), [
        Message.user("go"),
        { ...Message.assistant("Well"), incomplete: true }
      ])
    })
  )
}

it.effect("without listeners, an interrupted attempt of a sub-agent is still in the ledger of its parent [P703]", () =>
  Effect.gen(function* () {
    const expert = Agent.make("expert", { model: doing(() => Effect.never) })
    const bug = Agent.make("bug", { model: doing(() => Effect.die("bug")) })
    let outcomes: ReadonlyArray<string> = []
    const effect = Effect.gen(function* () {
      yield* Effect.ignore(Effect.timeout(expert("why?"), "1 second"))
      yield* Effect.exit(bug("why?"))
      const run = yield* RunContext.Current
      outcomes = (run?.ledger.entries ?? []).map(({ agent, outcome }) => `${agent} ${outcome}`)
      return "unknown"
    })
    const model = yield* callingOnce("ask")
    yield* interruptedAt(5000, agentWith(scripted("ask", effect).tool)("go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(outcomes, ["worker used", "expert interrupted", "bug failed"])
  })
)

it.effect(
  "a streamed attempt that is cut off is booked with what its provider has counted, however it is cut [P703]",
  () =>
    Effect.gen(function* () {
      const first: Model.Part = { type: "usage", usage: Usage.make({ inputTokens: 10 }) }
      const counted = Usage.make({ inputTokens: 10, outputTokens: 3 })
      const parts = Stream.make<ReadonlyArray<Model.Part>>(first, says, { type: "usage", usage: counted })
      const more = Stream.concat
      for (const [stream, budget, closed] of [
        [more(parts, Stream.never), {}, "model-interrupted 1 interrupted"],
        [more(parts, Stream.never), { maxDuration: "500 millis" }, "model-interrupted 1 interrupted"],
        [more(parts, Stream.fail(overloaded())), {}, "model-failed 1 failed"],
        [more(parts, Stream.die("bug")), {}, "model-failed 1 failed"],
        [parts, {}, "model-failed 1 failed"]
      ] as const) {
        const log = eventLog()
        const agent = Agent.make("worker", {
          budget: { prices: { "*": { usdPerMillionTokens: { input: 1e6, output: 1e6 } } }, ...budget }
        })
        const model = doing(
          () => Effect.never,
          () => stream
        )
        yield* interruptedAt(1000, Stream.runDrain(agent.pipe(log.listen).stream("go")).pipe(Effect.provide(model)))
        assert.deepStrictEqual(attemptsOf(log).closed, [closed])
        assert.deepStrictEqual(
          attemptsOf(log).booked.map((entry) => [entry.usage, entry.cost]),
          [[counted, 13]]
        )
        assert.deepInclude(log.end(), { usage: counted })
      }
      // what comes at the end stands in for it
      const log = eventLog()
      const model = doing(
        () => Effect.never,
        () => Stream.make(first, says, finish)
      )
      yield* Stream.runDrain(agentWith().pipe(log.listen).stream("go")).pipe(Effect.provide(model))
      assert.deepInclude(log.end(), { type: "run-completed", output: "Well", usage })
    })
)
