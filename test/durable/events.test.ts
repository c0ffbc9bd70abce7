/** The log of a durable run: a reader in any process has its words while they are written, each event once, and what a crash cut off retracted. */
import { assert, it } from "@effect/vitest"
import { Agent, AgentEvent, LlmError, Message, Recovery, Tool } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Layer, Schema, Stream } from "effect"
import { clusterOfRows } from "./_support/cluster.ts"
import { type Death, process, watched } from "./_support/engines.ts"
import { dying, held, options, passing, reading, shown, wordsOf, words, writer } from "./_support/logs.ts"
import { surviving } from "./_support/playing.ts"
import { reading as telling } from "./_support/readingModel.ts"
import { Busy } from "./_support/scenarios.ts"

const { call, calls, text } = ScriptedModel

// Finds out nothing of its own: it plays a reader at another runner of Effect, while the model writes
it.effect("a reader in another process has the first word while the model holds back the last one [P1371 P1543]", () =>
  Effect.gen(function* () {
    const { end, layer } = held(["fir"], "st")
    const durable = Durable.workflow(writer(layer), { name: "writer", ...options })
    const { join } = yield* clusterOfRows
    const runner = yield* join(durable.layer)
    const other = yield* join(Layer.empty)
    yield* passing()
    const id = yield* Effect.provideContext(Durable.start(durable, { id: "one", input: "go" }), runner.context)
    const { events, exit } = yield* Effect.provideContext(reading(Durable.events(durable, id)), other.context)
    yield* passing()
    assert.deepStrictEqual(shown(events), ["run-start", "turn-start", "model-start", "text-delta fir"])
    yield* end
    yield* passing(60)
    assert.isTrue(Exit.isSuccess(yield* exit))
    assert.deepStrictEqual(shown(events).slice(3), [
      "text-delta fir",
      "text-delta st",
      "model-end",
      "turn-end",
      "run-completed"
    ])
    const { cursor } = events[3] ?? {}
    const rest = yield* Effect.provideContext(
      Stream.runCollect(Durable.events(durable, id, { after: cursor ?? "" })),
      other.context
    )
    assert.deepStrictEqual(rest, events.slice(4))
  })
)

// Finds out nothing of its own: it plays the death of a process while a model of core writes
it.effect(
  "at a takeover readers first get the open model call's words retracted, and listeners get them from their beginning [P1371 P1543]",
  () =>
    Effect.gen(function* () {
      const { asked, before, between, events, heard } = yield* dying(250)
      assert.strictEqual(asked, 2)
      const begun = ["run-start", "turn-start", "model-start"]
      const ended = ["text-delta  world", "model-end", "turn-end", "run-completed"]
      const read = [...begun, "text-delta Hello", "attempt-discarded Hello", "text-delta Hello"]
      assert.deepStrictEqual(shown(between), read)
      assert.deepStrictEqual(shown(events), [...read, ...ended])
      assert.strictEqual(wordsOf(events), "Hello world")
      const [first, , , , retracted] = events
      assert(retracted?.type === "attempt-discarded")
      assert.deepStrictEqual([retracted.agent, retracted.attempt, retracted.turn], ["writer", 1, 1])
      assert.strictEqual(retracted.runId, first?.runId)
      assert.deepStrictEqual(shown(before).slice(0, 5), [...begun, "text-delta Hel", "text-delta lo"])
      assert.deepStrictEqual(shown(heard.slice(before.length)), ["text-delta Hel", "text-delta lo", ...ended])
    })
)

it.effect("events that a dead process had not stored are stored by the next one: there is no gap [P1543]", () =>
  Effect.gen(function* () {
    const { events } = yield* dying(0)
    assert.deepStrictEqual(shown(events), [
      "run-start",
      "turn-start",
      "model-start",
      "text-delta Hello",
      "text-delta  world",
      "model-end",
      "turn-end",
      "run-completed"
    ])
  })
)

// Finds out nothing of its own: its subject is how core marks the events of sub-agents
it.effect("a sub-agent's words reach the reader too, marked with their run [P1371 P1372]", () =>
  Effect.gen(function* () {
    const { end, layer } = held(["bec"], "ause")
    const expert = Agent.make("expert", { model: layer })
    const outer = yield* ScriptedModel.make(calls(call("ask", { input: "why?" })), text("done"))
    const agent = Agent.make("outer", {
      model: outer.layer,
      tools: [Agent.asTool(expert, { name: "ask", description: "Asks." })],
      budget: { maxDuration: "9 days" }
    })
    const durable = Durable.workflow(agent, { name: "outer", ...options })
    const engine = yield* watched(false)
    yield* process(durable.layer.pipe(Layer.provide(engine.layer)))
    const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
    const { events, exit } = yield* Effect.provide(reading(Durable.events(durable, id)), engine.layer)
    yield* passing()
    const delta = events.at(-1)
    assert.deepInclude(delta, { type: "text-delta", text: "bec", agent: "expert" })
    assert.deepStrictEqual(delta?.parent, { runId: events[0]?.runId ?? "", callId: "call-ask" })
    yield* end
    yield* passing(60)
    yield* exit
    assert.strictEqual(wordsOf(events), "becausedone")
    // a cursor counts the events of the whole tree
    const numbers = events.map(({ cursor }) => Cursor.read(cursor ?? "")?.number)
    assert.deepStrictEqual(
      numbers,
      Array.from(events, (_, index) => index + 1)
    )
    assert.deepStrictEqual(
      [...new Set(events.map(({ cursor }) => Cursor.read(cursor ?? "")?.runId))],
      [events[0]?.runId]
    )
  })
)

it.effect(
  "a run that is replayed after each step stores each event once, and ends as it would in memory [P1371 P1543]",
  () =>
    Effect.gen(function* () {
      const logs: Array<ReadonlyArray<string>> = []
      for (const isForgetful of [false, true]) {
        const broken = ScriptedModel.fails(LlmError.ServerError.make({ model: "m" }), ...words("Let ", "me"), {
          type: "reasoning-delta",
          text: "hm"
        })
        const model = yield* ScriptedModel.make(broken, calls(call("look", {})), text("seen"))
        const look = Tool.make("look", {
          description: "Looks.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          run: () => Effect.succeed("it")
        })
        const agent = Agent.make("worker", {
          model: model.layer,
          tools: [look],
          budget: { maxDuration: "9 days" }
        }).pipe(Agent.onLlmError({ ServerError: Recovery.retry({ retries: 1, initialBackoff: "5 seconds" }) }))
        const durable = Durable.workflow(agent, { name: "worker", ...options })
        const engine = yield* watched(isForgetful)
        yield* process(durable.layer.pipe(Layer.provide(engine.layer)))
        const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
        const { events, exit } = yield* Effect.provide(reading(Durable.events(durable, id)), engine.layer)
        yield* passing(120)
        yield* exit
        assert.strictEqual(model.requests.length, 3)
        assert.strictEqual(wordsOf(events), "seen")
        logs.push(shown(events))
      }
      assert.deepStrictEqual(logs[0]?.slice(0, 8), [
        "run-start",
        "turn-start",
        "model-start",
        "text-delta Let me",
        "reasoning-delta",
        "model-failed",
        "verdict",
        "attempt-discarded Let me"
      ])
      assert.deepStrictEqual(logs[1], logs[0])
    })
)

/** A run with calls at once, a sub-agent, a retry and an approval. */
const story = () => {
  const model = telling("outer", (turn) => {
    const said: ReadonlyArray<Message.Reply["content"]> = [
      [Message.text("Looking."), call("look", {}, "c1"), call("see", {}, "c2")],
      [call("flaky", {}, "c1")],
      [Message.text("Asking."), call("inner", { input: "go" }, "c1")],
      [call("sign", {}, "c1")]
    ]
    return said[turn] ?? [Message.text("all done")]
  })
  const innerModel = telling("inner", (turn) => (turn === 0 ? [call("look", {}, "c1")] : [Message.text("inner done")]))
  const made = {
    description: "A tool.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("well")
  }
  const flaky = Tool.make("flaky", {
    ...made,
    failure: Busy,
    run: (_, { attempt }) => (attempt === 1 ? Effect.fail(new Busy({ message: "busy" })) : Effect.succeed("well"))
  }).pipe(Tool.onError({ Busy: Recovery.retry({ maxAttempts: 2, initialBackoff: "90 seconds" }) }))
  const inner = Agent.make("inner", {
    model: innerModel.layer,
    budget: { maxDuration: "2 days" },
    tools: [Tool.make("look", made)]
  })
  const tools = [
    Tool.make("look", made),
    Tool.make("see", made),
    flaky,
    Tool.make("sign", made).pipe(Tool.requireApproval()),
    Agent.asTool(inner, { description: "Works." })
  ] as const
  const agent = Agent.make("worker", { model: model.layer, budget: { maxDuration: "2 days" }, tools })
  const asked: Array<Durable.DurableRequest> = []
  const durable = Durable.workflow(agent, {
    name: "story",
    ...options,
    onApproval: (one) => Effect.sync(() => void asked.push(one))
  })
  return { asked, durable }
}

/** The events of each site, in their order there, without words; and the words that count. */
const summary = (events: ReadonlyArray<AgentEvent.AgentEvent>) => {
  const sites = new Map<string, Array<string>>()
  for (const event of events) {
    if (event.type === "text-delta" || event.type === "attempt-discarded") continue
    const key = `${event.runId} ${"callId" in event ? event.callId : ""}`
    sites.set(key, [...(sites.get(key) ?? []), event.type])
  }
  const runs = [...new Set(events.map(({ runId }) => runId))]
  return {
    sites: Object.fromEntries([...sites].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    wordsOf: runs.map((run) => wordsOf(events.filter(({ runId }) => runId === run)))
  }
}

const playStory = (death: Death | undefined) =>
  Effect.gen(function* () {
    const { asked, durable } = story()
    const { engine, exit, hasDied } = yield* surviving(durable, durable.layer, death, asked)
    assert.isTrue(Exit.isSuccess(exit))
    const id = yield* durable.workflow.executionId({ id: "one", input: "go" })
    const events = yield* Effect.provide(Stream.runCollect(Durable.events(durable, id)), engine.layer)
    return { durable, engine, events, hasDied, id }
  })

it.effect(
  "a process may die at any step: the log has each event once, and every cursor leads to the rest [P1541 P1543]",
  () =>
    Effect.gen(function* () {
      const { events: undisturbed } = yield* playStory(undefined)
      const expected = summary(undisturbed)
      assert.deepStrictEqual(AgentEvent.transcriptOf(undisturbed).at(-1)?.role, "assistant")
      let deaths = 0
      for (const when of ["before", "after"] as const) {
        for (let at = when === "before" ? 1 : 3; ; at += 5) {
          const { durable, engine, events, hasDied, id } = yield* playStory({ at, when })
          if (!hasDied) break
          deaths++
          assert.deepStrictEqual(summary(events), expected, `${when} ${at}`)
          const cursors = events.map(({ cursor }) => cursor ?? "")
          assert.strictEqual(new Set(cursors).size, cursors.length)
          for (const index of deaths === 3 ? events.keys() : [events.length >> 1]) {
            const rest = Durable.events(durable, id, { after: cursors[index] ?? "" })
            assert.deepStrictEqual(
              yield* Effect.provide(Stream.runCollect(rest), engine.layer),
              events.slice(index + 1)
            )
          }
        }
      }
      assert.isAbove(deaths, 5)
    })
)

// Finds out nothing of its own: it plays an engine that takes a run away and gives it back
it.effect("a run that an engine takes away and gives back retracts the words that it begins again [P1371 P1543]", () =>
  Effect.gen(function* () {
    const model = held(["Hel", "lo"], " world")
    const durable = Durable.workflow(writer(model.layer), { name: "writer", ...options })
    const engine = yield* watched(false)
    yield* process(durable.layer.pipe(Layer.provide(engine.layer)))
    const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
    yield* passing(4)
    yield* engine.giveAway
    yield* Effect.provide(Durable.resume(durable, id), engine.layer)
    yield* passing(4)
    yield* model.end
    yield* passing(8)
    const events = yield* Effect.provide(Stream.runCollect(Durable.events(durable, id)), engine.layer)
    assert.deepStrictEqual(shown(events), [
      "run-start",
      "turn-start",
      "model-start",
      "text-delta Hello",
      "attempt-discarded Hello",
      "text-delta Hello",
      "text-delta  world",
      "model-end",
      "turn-end",
      "run-completed"
    ])
  })
)
