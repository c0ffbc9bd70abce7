/** `Agent.compactAt`: the conversation is shortened at a safe point, before it is too long for the model. */
import { assert } from "@effect/vitest"
import { Agent, Compaction, LlmError, Message, Model, Recovery, Tool } from "@kintsugi/core"
import * as Factories from "@kintsugi/core/Factories"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { batch, calm, done, eventLog, lastTranscript, scripted, settlements } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { keepOne, outline, reader, requested, tooLong } from "../recovery/_support/longConversations.ts"
import { started } from "./_support/saying.ts"
import { spending } from "./_support/spending.ts"

const { answers, fails, make } = ScriptedModel

/** It forgets all but one message at 800 of 1,000 tokens. */
const at1000 = Agent.compactAt({ window: 1000, with: keepOne })

it.run("at the share of the window, by what the provider has told and an estimate of the rest [P1362 P1570]", (run) =>
  Effect.gen(function* () {
    // 47 characters of JSON and 12 tokens: a page with 38 points
    const script = [spending(700, 50, "look"), spending(700, 87, "look"), spending(700, 88, "look"), spending(1, 1)]
    const model = yield* make(...script)
    const log = eventLog()
    const agent = reader(38).pipe(at1000, log.listen)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(requested(model), [
      ["system", "user go"],
      ["system", "user go", "page 1"],
      // 787 and 12 tokens are less than 800
      ["system", "user go", "page 1", "page 2"],
      ["system", "user go", "page 3"]
    ])
    // layers around the model may read the whole conversation
    const whole = model.requests.map(({ uncompacted }) => uncompacted && outline(uncompacted))
    assert.deepStrictEqual(whole, [
      undefined,
      undefined,
      undefined,
      ["system", "user go", "page 1", "page 2", "page 3"]
    ])
    const [event] = log.of("compacted")
    assert.deepInclude(event, { compaction: "dropOldest", turn: 4, ahead: { tokens: 800, window: 1000 } })
    assert.deepStrictEqual([event?.before.messages, event?.after.messages], [5, 3])
    assert.deepStrictEqual(outline(event?.transcript ?? []), ["system", "user go", "page 3"])
    // the turn has begun, and its model is not asked yet
    const types = log.all.map(({ type }) => type)
    assert.strictEqual(types[types.indexOf("compacted") - 1], "turn-start")
    assert.strictEqual(types[types.indexOf("compacted") + 1], "model-start")
    assert.deepStrictEqual(log.of("not-compacted"), [])
  })
)

it.run("the transcript of the run stays whole [P1570]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(
      spending(1, 1, "look"),
      spending(900, 1, "look"),
      fails(Factories.serverError("scripted", 1))
    )
    const log = eventLog()
    yield* Effect.flip(run(reader().pipe(at1000, log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(requested(model).at(-1), ["system", "user go", "page 2"])
    assert.deepStrictEqual(outline(lastTranscript(log.end())), ["system", "user go", "page 1", "page 2"])
  })
)

/** The models of a layer, with these windows. */
const declaring = (window: number | undefined) => (layer: Layer.Layer<Model.Model>) =>
  Layer.effect(
    Model.Model,
    Effect.map(Model.Model, (model) => ({ ...model, ...(window === undefined ? {} : { contextWindow: window }) }))
  ).pipe(Layer.provide(layer))

it.run("the window is that of the option, else that which the model declares [P1570]", (run) =>
  Effect.gen(function* () {
    const lengths = [
      { option: undefined, declared: 1000, shortens: true },
      { option: 2000, declared: 1000, shortens: false },
      { option: 1000, declared: 9000, shortens: true },
      { option: undefined, declared: 9000, shortens: false },
      { option: undefined, declared: Number.NaN, shortens: false },
      { option: undefined, declared: 0, shortens: false }
    ]
    for (const { declared, option, shortens } of lengths) {
      const model = yield* make(spending(1, 1, "look"), spending(790, 10, "look"), done)
      const log = eventLog()
      const agent = reader().pipe(Agent.compactAt({ window: option, with: keepOne }), log.listen)
      yield* run(agent, "go").pipe(Effect.provide(declaring(declared)(model.layer)))
      assert.lengthOf(log.of("compacted"), shortens ? 1 : 0, `${option} ${declared}`)
      assert.lengthOf(log.of("not-compacted"), declared >= 1 ? 0 : 1)
    }
  })
)

it.run("of a composed model, the window is that of the model which has answered last [P1570]", (run) =>
  Effect.gen(function* () {
    for (const shortens of [true, false]) {
      const busy = Factories.modelOverloaded("scripted")
      const large = yield* make(
        spending(1, 1, "look"),
        ...(shortens ? [fails(busy), done] : [spending(790, 10, "look"), done])
      )
      const small = yield* make(...(shortens ? [spending(790, 10, "look")] : []))
      const other = Layer.effect(
        Model.Model,
        Effect.map(Model.Model, (model) => ({ ...model, name: "small", contextWindow: 1000 }))
      ).pipe(Layer.provide(small.layer))
      const layer = Model.fallback(declaring(9000)(large.layer), other)
      const log = eventLog()
      yield* run(reader().pipe(Agent.compactAt({ with: keepOne }), log.listen), "go").pipe(Effect.provide(layer))
      assert.lengthOf(log.of("compacted"), shortens ? 1 : 0)
    }
  })
)

it.run("without a window there is never a compaction, and one event [P1570]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(spending(1e6, 1, "look"), spending(1e6, 1, "look"), done)
    const log = eventLog()
    yield* run(reader().pipe(Agent.compactAt({ with: keepOne }), log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(log.of("compacted"), [])
    const [event, ...others] = log.of("not-compacted")
    assert.deepInclude(event, { compaction: "dropOldest", why: "no-window", turn: 1 })
    assert.isFalse(event !== undefined && "error" in event)
    assert.deepStrictEqual(others, [])
  })
)

it.run("a usage that the provider has not told counts for nothing [P1570]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(spending(Number.NaN, 1, "look"), spending(0, 0, "look"), done)
    const log = eventLog()
    const agent = reader(9000).pipe(Agent.compactAt({ window: 1000, with: keepOne }), log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual([...log.of("compacted"), ...log.of("not-compacted")], [])
  })
)

it("a share, a window and a compaction that are none are refused when the agent is made [P1570]", () => {
  const agent = Agent.make("worker", {})
  for (const share of [0, -1, 2, 1.1, Number.NaN, "0.9"]) {
    // as from JavaScript
    const options = { share: share as number, with: keepOne }
    assert.throws(() => Agent.compactAt(agent, options), /'worker': compactAt: share must be above 0 and at most/)
  }
  for (const compaction of [undefined, "dropOldest", () => []]) {
    const options = { window: 10, with: compaction as unknown as Compaction.Compaction }
    assert.throws(() => Agent.compactAt(agent, options), /'worker': compactAt: with must be a Compaction, got/)
  }
  for (const window of [0, 0.5, -3, Infinity]) {
    assert.throws(() => Agent.compactAt(agent, { window, with: keepOne }), /window must be a whole number/)
  }
  assert.strictEqual(Agent.compactAt(agent, { share: 1, with: keepOne }).name, "worker")
})

/** Forgets everything, and notes what it was given. */
const forgetting = () => {
  const given: Array<ReadonlyArray<string>> = []
  const forget = Compaction.make("forget", ({ transcript }) => {
    given.push(transcript.map(({ role }) => role))
    return []
  })
  return { given, forget }
}

it.effect(
  "the prompt, the run's input and what the model has not read stay, also if the compaction drops them [P1571]",
  () =>
    Effect.gen(function* () {
      const { forget, given } = forgetting()
      const page = (n: number) => `page ${n} ${"a page ".repeat(20)}`
      const slow = scripted("look", Effect.succeed(page(1)), Effect.sleep("1 second").pipe(Effect.as(page(2))))
      const model = yield* make(spending(1, 1, "look"), spending(900, 1, "look"), done)
      const agent = Agent.make("worker", { prompt: "Be brief.", tools: [slow.tool] }).pipe(
        Agent.compactAt({ window: 1000, with: forget })
      )
      const run = yield* started(agent.start("go"), model)
      yield* calm
      yield* run.say("first")
      yield* run.say("second")
      yield* Effect.flatMap(Effect.forkChild(run.outcome), () => calm)
      yield* TestClock.adjust("1 second")
      yield* run.outcome
      assert.deepStrictEqual(requested(model)[2], ["system", "user go", "page 2", "user first", "user second"])
      // what was said meanwhile is none of its business
      assert.deepStrictEqual(given, [["system", "user", "assistant", "assistant"]])
    })
)

it.run("what stays keeps its place among what the compaction gives [P1571]", (run) =>
  Effect.gen(function* () {
    const sum = Compaction.make("sum", ({ input, transcript }) =>
      transcript
        .filter((message) => message !== input)
        .flatMap((message) => (message.role === "assistant" ? [] : [message, Message.user("in short")]))
    )
    const model = yield* make(spending(1, 1, "look"), spending(900, 1, "look"), done)
    const agent = reader(400).pipe(Agent.compactAt({ window: 1000, with: sum }))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(requested(model)[2], ["system", "user go", "page 2", "user in short"])
  })
)

it.run(
  "the results that the model has not read stay, or become shorter, also if the compaction drops them [P1571]",
  (run) =>
    Effect.gen(function* () {
      const shrink = (text: string, drops: number) => (message: Message.Message) =>
        message.role === "assistant"
          ? {
              ...message,
              content: message.content
                .slice(drops)
                .map((part) =>
                  part.type === "settled-call" ? { ...part, settlement: { ...part.settlement, text } } : part
                )
            }
          : message
      const cases: ReadonlyArray<readonly [Compaction.Compaction, ReadonlyArray<string>]> = [
        // the calls of both replies have the same ids
        [
          Compaction.make("all but the first", ({ transcript }) => transcript.slice(0, 3)),
          ["page 1,page 2", "page 3,page 4"]
        ],
        [Compaction.make("none", () => []), ["page 3,page 4"]],
        [
          Compaction.make("short", ({ transcript }) => transcript.slice(-1).map(shrink("short", 0))),
          ["result: short,result: short"]
        ],
        [
          Compaction.make("one of two", ({ transcript }) => transcript.slice(-1).map(shrink("short", 1))),
          ["page 3,page 4"]
        ]
      ]
      for (const [compaction, left] of cases) {
        const model = yield* make(spending(1, 1, "look", "look"), spending(900, 1, "look", "look"), done)
        const agent = reader(100).pipe(Agent.compactAt({ window: 1000, with: compaction }))
        yield* run(agent, "go").pipe(Effect.provide(model.layer))
        assert.deepStrictEqual(requested(model)[2], ["system", "user go", ...left], compaction.name)
      }
    })
)

it.effect("a call that is open keeps the conversation as it is, until the run goes on [P1571]", () =>
  Effect.gen(function* () {
    const asked = scripted("look", Effect.succeed("page 1 ".repeat(50)), Effect.succeed("page 2"))
    const from = [Message.user("one"), Message.assistant("two ".repeat(50))]
    const { forget } = forgetting()
    const agent = Agent.make("worker", { tools: [asked.tool.pipe(Tool.requireApproval({ validFor: "1 day" }))] })
    const compacting = agent.pipe(Agent.compactAt({ window: 1000, with: forget }))
    const model = yield* make(spending(900, 1, "look"), spending(1, 1, "look"), done)
    const first = yield* snapshotOf(yield* outcomeOf(Agent.resume(compacting), { from, input: "go" }, model))
    assert.isUndefined(first.compacted)
    assert.isUndefined(first.compactionTurn)
    // nor is there a turn where no window is known
    const unknown = agent.pipe(Agent.compactAt({ with: forget }))
    const other = yield* make(spending(900, 1, "look"))
    const third = yield* snapshotOf(yield* outcomeOf(Agent.resume(unknown), { from, input: "go" }, other))
    assert.isFalse("compactionTurn" in third)
    const log = eventLog()
    const resumed = Agent.resume(compacting.pipe(log.listen))
    const second = yield* snapshotOf(yield* outcomeOf(resumed, deciding(first), model))
    // by what the provider has told before the suspension
    assert.deepStrictEqual(
      log.of("compacted").map(({ turn }) => turn),
      [2]
    )
    assert.lengthOf(outline(model.requests[1]?.messages ?? []), 2)
    assert.strictEqual(second.compactionTurn, 2)
    assert.deepInclude(yield* outcomeOf(resumed, deciding(second), model), { _tag: "Completed", output: "done" })
    assert.lengthOf(log.of("compacted"), 1)
    assert.deepStrictEqual(settlements(model.requests[2]?.messages ?? []).at(-1), "result: page 2")
  })
)

it.effect("a run that goes on says no second time that the window is not known [P1570]", () =>
  Effect.gen(function* () {
    const asked = scripted("look", Effect.succeed("page 1"))
    const log = eventLog()
    const agent = Agent.make("worker", { tools: [asked.tool.pipe(Tool.requireApproval({ validFor: "1 day" }))] }).pipe(
      Agent.compactAt({ with: keepOne }),
      log.listen
    )
    const model = yield* make(batch("look"), done)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    yield* outcomeOf(Agent.resume(agent), deciding(first), model)
    assert.lengthOf(log.of("not-compacted"), 1)
  })
)

it.run("at most once in a turn, and as one of the two of the turn [P1572]", (run) =>
  Effect.gen(function* () {
    const oneLess = Compaction.make("one less", ({ transcript }) => [
      ...transcript.filter(({ role }) => role !== "assistant"),
      ...transcript.filter(({ role }) => role === "assistant").slice(1)
    ])
    const long = fails(tooLong())
    const many = [spending(1, 1, "look"), spending(1, 1, "look"), spending(1, 1, "look"), spending(900, 1, "look")]
    const model = yield* make(...many, long, long)
    const log = eventLog()
    const agent = reader(60).pipe(
      Agent.compactAt({ window: 1000, with: oneLess }),
      Agent.onLlmError({
        ContextTooLongError: Recovery.ladder(Recovery.compact(oneLess), Recovery.compact(oneLess), Recovery.rethrow)
      }),
      log.listen
    )
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.instanceOf(error, LlmError.ContextTooLongError)
    assert.deepStrictEqual(
      log.of("compacted").map(({ ahead, turn }) => [turn, ahead !== undefined]),
      [
        [5, true],
        [5, false]
      ]
    )
  })
)

it.effect("not again before another reply has told its usage [P1572]", () =>
  Effect.gen(function* () {
    const model = yield* make(
      spending(900, 1, "look"),
      answers(() => Effect.never),
      spending(850, 1, "look"),
      done
    )
    const log = eventLog()
    const agent = reader(200).pipe(
      Agent.compactAt({ window: 1000, with: Compaction.shrinkLargestResult({ maxLength: 20 }) })
    )
    const run = yield* started(agent.pipe(log.listen).start("go"), model)
    yield* calm
    // the model has not answered: the next turn knows no more than this one
    yield* run.say("hurry", { interrupt: true })
    yield* run.outcome
    assert.deepStrictEqual(
      log.of("compacted").map(({ turn }) => turn),
      [2, 4]
    )
    assert.deepStrictEqual(log.of("not-compacted"), [])
  })
)

const throwing = (error: Error) =>
  Compaction.make("own", () => {
    throw error
  })

it.run("a compaction that fails, throws, or shortens nothing, is an event, and the run goes on [P1572]", (run) =>
  Effect.gen(function* () {
    const error = new Error("no summary")
    const cases = [
      { compaction: Compaction.make("own", () => Effect.fail(error)), why: "failed", error },
      { compaction: Compaction.make("own", () => Effect.die(error)), why: "failed", error },
      { compaction: throwing(error), why: "failed", error },
      { compaction: { name: "own", compact: throwing(error).compact }, why: "failed", error },
      { compaction: Compaction.make("own", ({ transcript }) => transcript), why: "not-shorter" }
    ] as const
    for (const { compaction, ...expected } of cases) {
      const model = yield* make(spending(900, 1, "look"), spending(1, 1, "look"), done)
      const log = eventLog()
      const agent = reader().pipe(Agent.compactAt({ window: 1000, with: compaction }), log.listen)
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      assert.deepStrictEqual(requested(model)[1], ["system", "user go", "page 1"])
      const [event, ...others] = log.of("not-compacted")
      assert.deepInclude(event, { compaction: "own", turn: 2, ...expected })
      assert.deepStrictEqual(others, [])
    }
  })
)
