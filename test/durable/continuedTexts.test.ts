/** The text that a crash has cut off: the next process continues it, where the agent and its model do so, and discards it elsewhere. */
import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent, Message, type Model, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { describe } from "vitest"
import { calm } from "../_support/dialogue.ts"
import { continuing, cut, readAlong } from "../core/run/_support/continued.ts"
import { process, watched } from "./_support/engines.ts"
import { options, passing, reading, shown } from "./_support/logs.ts"
import { type Said, saying } from "./_support/saying.ts"

interface Playing {
  readonly continuation?: Model.Service["continuation"]
  readonly by?: "message"
  readonly said: ReadonlyArray<Said>
  /** How many processes there are, and what happens in each before it dies. */
  readonly deaths?: number
  readonly before?: (model: ReturnType<typeof saying>) => Effect.Effect<unknown>
  readonly plain?: true
  /** How much of an answer a check of it holds back. */
  readonly hold?: number
  /** How long a check of the words of the user takes, beside the model. */
  readonly checking?: number
}

/** A run whose processes die, each after a second. */
const play = ({ before, by, checking, continuation, deaths = 1, hold, plain, said }: Playing) =>
  Effect.gen(function* () {
    const model = saying(continuation, said)
    const heard: Array<AgentEvent.AgentEvent> = []
    let looks = 0
    const look = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => (looks++ === 0 ? Effect.never : Effect.succeed("seen"))
    })
    const base = Agent.make("writer", { model: model.layer, tools: [look], budget: { maxDuration: "9 days" } }).pipe(
      Agent.onEvent((event) => Effect.sync(() => void heard.push(event)))
    )
    const check = (delay = 0) => Effect.delay(Effect.succeed(Agent.guard.pass), delay)
    const ofInput = checking === undefined ? base : base.pipe(Agent.guardInput(() => check(checking)))
    const ofOutput = hold === undefined ? base : base.pipe(Agent.guardOutput(() => check(), { hold }))
    // what these agents are called with and what they give is the same
    const checked = (hold === undefined ? ofInput : ofOutput) as typeof base
    const agent = plain === true ? checked : checked.pipe(continuing(2, by))
    const durable = Durable.workflow(agent, { name: "writer", ...options })
    const engine = yield* watched(false)
    const on = Effect.provide(engine.layer)
    const serve = process(durable.layer.pipe(Layer.provide(engine.layer)))
    let stop = yield* serve
    const id = yield* Durable.start(durable, { id: "one", input: "go" }).pipe(on)
    const { events } = yield* reading(Durable.events(durable, id)).pipe(on)
    for (let death = 0; death < deaths; death++) {
      yield* passing(4)
      if (before !== undefined) yield* before(model)
      for (let k = 0; k < 4; k++) yield* calm
      yield* stop
      yield* engine.kill
      model.close()
      stop = yield* serve
      yield* Durable.resume(durable, id).pipe(on)
    }
    yield* passing(4)
    yield* model.release
    yield* TestClock.adjust(250)
    yield* passing(60)
    const end = Option.getOrUndefined(yield* Durable.poll(durable, id).pipe(on))
    const all = yield* Stream.runCollect(Durable.events(durable, id)).pipe(on)
    assert.deepStrictEqual(all, events)
    const output = end?._tag === "Complete" && end.exit._tag === "Success" ? end.exit.value : end
    const tails = model.requests.map(({ messages }) => messages.slice(1))
    return { events, heard, output, requests: tails, texts: readAlong(events) }
  })

const wordsHeard = (events: ReadonlyArray<AgentEvent.AgentEvent>): string =>
  events.flatMap((event) => (event.type === "text-delta" ? event.text : "")).join("")

const kept = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.flatMap((event) => (event.type === "attempt-continued" ? [event.kept] : []))

describe("a run that continues", () => {
  // Finds out nothing of its own: it plays several deaths in one reply of core
  it.effect("each process goes on from what all before it have shown, and shows nothing once more [P1371 P1563]", () =>
    Effect.gen(function* () {
      const said: ReadonlyArray<Said> = [
        { words: ["all "], end: "hold" },
        { words: ["is "], end: "hold" },
        { words: ["we"], end: "hold" },
        { words: ["ll"], end: "finish" }
      ]
      const { events, heard, output, requests, texts } = yield* play({ continuation: "rest", said, deaths: 3 })
      assert.strictEqual(output, "all is well")
      assert.deepStrictEqual(requests, [[], [cut("all")], [cut("all is")], [cut("all is we")]])
      assert.deepStrictEqual(shown(events), [
        "run-start",
        "turn-start",
        "model-start",
        "text-delta all ",
        "attempt-continued",
        "text-delta is ",
        "attempt-continued",
        "text-delta we",
        "attempt-continued",
        "text-delta ll",
        "model-end",
        "turn-end",
        "run-completed"
      ])
      assert.deepStrictEqual(kept(events), ["all ", "all is ", "all is we"])
      const end = events.find(({ type }) => type === "model-end")
      assert.deepStrictEqual(end?.type === "model-end" && end.reply.content, [Message.text("all is well")])
      assert.deepStrictEqual(texts, ["all is well"])
      assert.strictEqual(wordsHeard(heard), "all is well")
    })
  )

  // Finds out nothing of its own: it plays a death between two attempts of core that continue a reply
  it.effect.each(["rest", "whole"] as const)(
    "an attempt that had gone on from a text goes on from all of it, by a model that gives the %s [P1561 P1563]",
    (continuation) =>
      Effect.gen(function* () {
        const repeated = (text: string) => (continuation === "whole" ? text : "")
        const said: ReadonlyArray<Said> = [
          { words: ["ha "], end: "fail" },
          { words: [`${repeated("ha")} `, "ha "], end: "hold" },
          { words: [`${repeated("ha ha")} `, "ha "], end: "fail" },
          { words: [`${repeated("ha ha ha")} ho`], end: "finish" }
        ]
        const { events, heard, output, requests, texts } = yield* play({ continuation, said })
        assert.strictEqual(output, "ha ha ha ho")
        assert.deepStrictEqual(requests, [[], [cut("ha")], [cut("ha ha")], [cut("ha ha ha")]])
        assert.deepStrictEqual(kept(events), ["ha ", "ha ha ", "ha ha ha "])
        assert.deepStrictEqual(texts, ["ha ha ha ho"])
        assert.strictEqual(wordsHeard(heard), "ha ha ha ho")
      })
  )

  // Finds out nothing of its own: the subject is the message that core makes of a reply that two processes wrote, and its replay
  it.effect("thoughts come first in the message, and a later replay makes the same requests [P1562 P1563]", () =>
    Effect.gen(function* () {
      const said: ReadonlyArray<Said> = [
        { thoughts: "hm", words: ["I "], end: "hold" },
        { thoughts: "oh", words: ["look"], end: "call" },
        { words: ["done"], end: "finish" }
      ]
      // the second process dies in the tool
      const { events, heard, output, requests, texts } = yield* play({ continuation: "rest", said, deaths: 2 })
      assert.strictEqual(output, "done")
      assert.deepStrictEqual(texts, ["I look", "done"])
      assert.strictEqual(wordsHeard(heard), "I lookdone")
      const message = requests[2]?.[0]
      assert.deepStrictEqual(
        message?.role === "assistant" &&
          message.content.map((part) => (part.type === "reasoning" || part.type === "text" ? part.text : part.type)),
        ["oh", "I look", "settled-call"]
      )
      assert.deepStrictEqual(
        events.flatMap((event) => (event.type === "reasoning-delta" ? event.text : [])),
        ["hm", "oh"]
      )
    })
  )

  // Finds out nothing of its own: the subject is how core continues by a message, after a death
  it.effect("a model that has nothing to add ends the text, and by a message any model goes on [P1560 P1563]", () =>
    Effect.gen(function* () {
      const said: ReadonlyArray<Said> = [
        { words: ["all is well"], end: "hold" },
        { words: [], end: "finish" }
      ]
      const { output, requests, texts } = yield* play({ by: "message", said })
      assert.strictEqual(output, "all is well")
      assert.deepStrictEqual(texts, ["all is well"])
      assert.deepStrictEqual(
        requests[1]?.map(({ role }) => role),
        ["assistant", "user"]
      )
    })
  )

  // Finds out nothing of its own: it plays a death between the row of a reply and its events
  it.effect("a reply that was recorded and is not in the log is shown anew, and not asked for [P1371 P1563]", () =>
    Effect.gen(function* () {
      const said: ReadonlyArray<Said> = [
        { words: ["I "], end: "hold, then call" },
        { words: ["done"], end: "finish" }
      ]
      const { events, output, requests, texts } = yield* play({
        continuation: "rest",
        said,
        before: (model) => model.release
      })
      assert.strictEqual(output, "done")
      assert.lengthOf(requests, 2)
      assert.deepStrictEqual(kept(events), [])
      assert.include(shown(events), "attempt-discarded I ")
      assert.deepStrictEqual(texts, ["I ", "done"])
    })
  )
})

describe("the text is discarded", () => {
  const said: ReadonlyArray<Said> = [
    { words: ["all "], end: "hold" },
    { words: ["all is well"], end: "finish" }
  ]
  // Finds out nothing of its own: the subject is when core continues a reply, after a death
  it.effect.each<readonly [string, Partial<Playing>]>([
    ["of a model that declares no continuation", {}],
    ["by default", { continuation: "rest", plain: true }]
  ])("%s [P1371 P1563]", ([, how]) =>
    Effect.gen(function* () {
      const { events, output, requests, texts } = yield* play({ said, ...how })
      assert.strictEqual(output, "all is well")
      assert.deepStrictEqual(requests, [[], []])
      assert.deepStrictEqual(kept(events), [])
      assert.include(shown(events), "attempt-discarded all ")
      assert.deepStrictEqual(texts, ["all is well"])
    })
  )

  it.effect("if it is blank [P1560 P1563]", () =>
    Effect.gen(function* () {
      const blank: ReadonlyArray<Said> = [{ words: [" \n"], end: "hold" }, ...said.slice(1)]
      const { events, output, requests, texts } = yield* play({ continuation: "rest", said: blank })
      assert.strictEqual(output, "all is well")
      assert.deepStrictEqual(requests, [[], []])
      assert.include(shown(events), "attempt-discarded  \n")
      assert.deepStrictEqual(texts, ["all is well"])
    })
  )
})

// Finds out nothing of its own: the subject is the guardrails of core, in each process
it.effect("an answer that is checked is held back as a whole where it would be continued [P1563 P1597]", () =>
  Effect.gen(function* () {
    const said: ReadonlyArray<Said> = [
      { words: ["all ", "i"], end: "fail" },
      { words: ["s "], end: "hold" },
      { words: ["all is", " well"], end: "call" },
      { words: ["done"], end: "finish" }
    ]
    const { events, heard, output, requests, texts } = yield* play({ continuation: "rest", said, deaths: 2, hold: 2 })
    assert.strictEqual(output, "done")
    assert.deepStrictEqual(requests.slice(0, 3), [[], [], []])
    assert.deepStrictEqual(kept(events), [])
    assert.deepStrictEqual(texts, ["all is well", "done"])
    assert.strictEqual(wordsHeard(heard), "all is welldone")
  })
)

// Finds out nothing of its own: the subject is the guardrails of core, in each process
it.effect.each([0, 300])(
  "a text that broke off counts once the words of the user have passed, after %s ms, in each process [P1563 P1596]",
  (checking) =>
    Effect.gen(function* () {
      const said: ReadonlyArray<Said> = [
        { words: ["all ", "i"], end: "fail" },
        { words: ["s "], end: "hold" },
        { words: ["well"], end: "call" },
        { words: ["done"], end: "finish" }
      ]
      const { events, output, requests, texts } = yield* play({ checking, continuation: "rest", said, deaths: 2 })
      assert.strictEqual(output, "done")
      assert.deepStrictEqual(requests.slice(0, 3), [[], [cut("all i")], [cut("all is")]])
      assert.deepStrictEqual(kept(events), ["all i", "all is "])
      assert.deepStrictEqual(texts, ["all is well", "done"])
    })
)
