/** What readers of a streamed composition have seen of parts that failed or lost: they are told that it does not count. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Message, Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Layer, Stream } from "effect"
import { it, runners } from "../../_support/run.ts"
import { overAMinute } from "../../_support/composition.ts"
import { agentWith, eventLog, scripted } from "../../_support/dialogue.ts"
import { namedModel, overloaded, says } from "../../_support/namedModels.ts"

const { fails, text } = ScriptedModel

const writer = Agent.make("writer", {})

const keeping = Agent.onLlmError({}, { onPartial: "continue", continueBy: "message" })

/** An agent that says this much, and fails. */
const failing = (said: string) =>
  Effect.map(namedModel("m", fails(overloaded(), says(said))), ({ layer }) =>
    writer.pipe(Agent.withModel(layer), keeping)
  )

const answering = (said: string) =>
  Effect.map(namedModel("m", text(said)), ({ layer }) => writer.pipe(Agent.withModel(layer)))

/** An agent that says this much, and never ends. */
const hanging = (said: string) =>
  writer.pipe(
    Agent.withModel(
      Layer.succeed(Model.Model, {
        name: "m",
        provider: "p",
        generate: () => Effect.never,
        stream: () => Stream.concat(Stream.succeed(says(said)), Stream.never)
      })
    )
  )

/** What a reader keeps that heeds the events: by run, without what was taken back. */
const counted = (events: ReadonlyArray<AgentEvent.AgentEvent>): string => {
  const texts = new Map<string, string>()
  const parents = new Map<string, string | undefined>()
  const isWithin = (run: string | undefined, ancestor: string): boolean =>
    run !== undefined && (run === ancestor || isWithin(parents.get(run), ancestor))
  for (const event of events) {
    if (event.type === "run-start") parents.set(event.runId, event.parent?.runId)
    if (event.type === "text-delta") texts.set(event.runId, (texts.get(event.runId) ?? "") + event.text)
    if (event.type === "attempt-discarded") {
      for (const run of texts.keys()) if (isWithin(run, event.discardedRunId ?? event.runId)) texts.delete(run)
    }
  }
  return [...texts.values()].join("|")
}

const discardedIn = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.flatMap((event) => (event.type === "attempt-discarded" ? [`${event.attempt} ${event.text}`] : []))

it.run("a fallback discards the text of a failed part before the next part runs [P502 P1003]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const order = Agent.fallback(yield* failing("one"), yield* failing("two"), yield* answering("three"))
    assert.strictEqual(yield* run(order.pipe(log.listen), "go"), "three")
    if (!run.isStreamed) return assert.deepStrictEqual(discardedIn(log.all), [])
    const lines = log.all.flatMap((event) => {
      if (event.type === "text-delta") return [`"${event.text}"`]
      if (event.type === "attempt-discarded") return [`${event.agent} discards ${event.text}`]
      return event.type.startsWith("run-") ? [`${event.agent} ${event.type}`] : []
    })
    assert.deepStrictEqual(lines, [
      "fallback run-start",
      "writer run-start",
      '"one"',
      "writer run-failed",
      "fallback discards one",
      "writer run-start",
      '"two"',
      "writer run-failed",
      "fallback discards two",
      "writer run-start",
      '"thr"',
      '"ee"',
      "writer run-completed",
      "fallback run-completed"
    ])
    const runs = log.of("run-failed").map(({ runId }) => runId)
    assert.deepStrictEqual(
      log.of("attempt-discarded").map((event) => event.discardedRunId),
      runs
    )
    return assert.strictEqual(counted(log.all), "three")
  })
)

it.run("a race, and copies of an agent, emit at their end which texts are discarded [P502]", (run) =>
  Effect.gen(function* () {
    const races = [
      Agent.firstOf(hanging("slow"), yield* answering("won"), hanging("late")),
      Agent.firstOf(
        hanging("slow"),
        hanging("slower"),
        Agent.fallback(yield* failing("half"), yield* answering("won"))
      ),
      Agent.speculative(Agent.firstOf(yield* answering("won"), hanging("slow")), 1, { hedgeAfter: 0 }),
      Agent.fallback(Agent.firstOf(yield* failing("one"), yield* failing("two")), yield* answering("won"))
    ]
    const expected = [["1 slow", "3 late"], ["1 half", "1 slow", "2 slower"], ["2 slow"], ["1 onetwo"]]
    for (const [index, race] of races.entries()) {
      const log = eventLog()
      yield* overAMinute(run(race.pipe(log.listen), "go"))
      const end = log.end()
      assert(end?.type === "run-completed")
      assert.strictEqual(end.output, "won")
      assert.deepStrictEqual(discardedIn(log.all), run.isStreamed ? expected[index] : [])
      assert.strictEqual(counted(log.all), run.isStreamed ? "won" : "")
    }
  })
)

it.run(
  "nothing is taken back where nothing stands in for it: of a last failure, and of parts that all count [P502]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const order = Agent.fallback(yield* failing("one"), yield* failing("two"))
      yield* Effect.flip(run(order.pipe(log.listen), "go"))
      assert.strictEqual(counted(log.all), run.isStreamed ? "two" : "")
      const both = eventLog()
      yield* run(Agent.andThen(yield* answering("one"), yield* answering("two")).pipe(both.listen), "go")
      assert.deepStrictEqual(discardedIn(both.all), [])
    })
)

const retrying = Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }, { onPartial: "restart" })
const continuing = Agent.onLlmError(
  { orElse: Recovery.retry({ retries: 1 }) },
  { onPartial: "continue", continueBy: "message" }
)

/** An agent that looks in its first turn, and whose second turn fails. */
const looking = Effect.fnUntraced(function* (...said: readonly [string, ...ReadonlyArray<string>]) {
  const [first, ...failed] = said
  const call = ScriptedModel.call("look", {}, "c1")
  const turn = ScriptedModel.replies(ScriptedModel.reply({ content: [Message.text(first), call] }))
  const steps = failed.map((text) => fails(overloaded(), ...(text === "" ? [] : [says(text)])))
  const { layer } = yield* namedModel("m", turn, ...steps)
  return agentWith(scripted("look", Effect.succeed("seen")).tool).pipe(Agent.withModel(layer))
})

const thinks = (text: string): Model.Part => ({ type: "reasoning-delta", text })

it.effect("a composition discards what of a part is not yet discarded, of all its turns and descendants [P502]", () =>
  Effect.gen(function* () {
    const thoughtful = yield* namedModel("m", fails(overloaded(), thinks("hm")))
    const forgetful = yield* namedModel("m", fails(overloaded(), thinks("hm")), fails(overloaded()))
    const cut: Message.Assistant = { ...Message.assistant("the "), incomplete: true }
    const from = [Message.user("go"), cut]
    const parts = [
      // what a nested composition has discarded is left out, with the runs of its parts; the other runs are not
      Agent.fallback(Agent.andThen(yield* answering("one"), yield* failing("two")), yield* failing("three")),
      Agent.andThen(yield* answering("zero"), Agent.fallback(yield* failing("one"), yield* failing("two"))),
      // what the agent itself has discarded is left out, its other turns are not
      (yield* looking("a", "bad", "b")).pipe(retrying),
      (yield* looking("a", "bad", "")).pipe(retrying),
      // what is continued counts on, beside the other turns or as the text of an earlier run
      (yield* looking("a", "b", "c")).pipe(continuing),
      Agent.mapInput(Agent.resume(yield* failing("rest")), () => ({ from, incomplete: "continue" as const })),
      // a part that has only thought is discarded too
      writer.pipe(Agent.withModel(thoughtful.layer)),
      writer.pipe(Agent.withModel(forgetful.layer), retrying)
    ]
    const found: Array<ReadonlyArray<string>> = []
    for (const part of parts) {
      const log = eventLog()
      const order = Agent.fallback(part, yield* answering("won")).pipe(Agent.named("outer"), log.listen)
      const exit = yield* overAMinute(runners.streamed(order, "go"))
      assert.deepStrictEqual(exit, Exit.succeed("won"))
      assert.strictEqual(counted(log.all), "won")
      found.push(log.of("attempt-discarded").map(({ agent, text }) => `${agent}: ${text}`))
    }
    assert.deepStrictEqual(found, [
      ["fallback: onetwo", "outer: three"],
      ["fallback: one", "outer: zerotwo"],
      ["worker: bad", "outer: ab"],
      ["worker: bad", "outer: a"],
      ["outer: abc"],
      ["outer: the rest"],
      ["outer: "],
      ["writer: "]
    ])
  })
)
