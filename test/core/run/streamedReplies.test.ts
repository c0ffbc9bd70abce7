import { assert } from "@effect/vitest"
import { Agent, LlmError, Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { toParts } from "../../../packages/core/src/testing/ScriptedModel.ts"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  calm,
  done,
  eventLog,
  lastTranscript,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"
import { collect, overloaded, restarting, retrying, says, shown } from "./_support/streamedEvents.ts"

const { fails, make, text } = ScriptedModel

it.effect("a stream without its finish is a NetworkError; the table may retry it [P504]", () =>
  Effect.gen(function* () {
    const cut = yield* make(ScriptedModel.cutOff(says("half a sen")))
    const { exit } = yield* collect(agentWith().stream("go").pipe(Stream.provide(cut.layer)))
    const error = yield* Effect.flip(exit)
    assert.instanceOf(error, LlmError.NetworkError)
    assert.match(error.message, /ended before its end/)
    assert.strictEqual(error.partial, "half a sen")

    const retried = yield* make(ScriptedModel.cutOff(says("half")), ScriptedModel.cutOff(), text("whole"))
    const { events } = yield* collect(
      agentWith()
        .pipe(Agent.onLlmError({ NetworkError: Recovery.retry({ retries: 2 }) }, { onPartial: "restart" }))
        .stream("go")
        .pipe(Stream.provide(retried.layer))
    )
    assert.deepInclude(events.at(-1), { type: "run-completed", output: "whole" })
  })
)

it.effect("the calls of a stream that was cut off are not run [P504 P506]", () =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch", Effect.succeed("page"))
    const call = ScriptedModel.call("fetch", {}, "c1")
    const model = yield* make(ScriptedModel.cutOff(call), batch("fetch"), done)
    const agent = agentWith(tool).pipe(retrying)
    const { exit } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
    assert.strictEqual(exit._tag, "Success")
    assert.strictEqual(runs.length, 1)
    assert.deepStrictEqual(read(model), ["result: page"])
  })
)

it.run("after a tool ran, a broken reply is retried at its own step: the tool does not run twice [P503]", (run) =>
  Effect.gen(function* () {
    for (const broken of [
      fails(overloaded(), says("It is ")),
      ...(run.isStreamed ? [ScriptedModel.cutOff(says("It is "), ScriptedModel.call("fetch", {}, "c2"))] : [])
    ]) {
      const log = eventLog()
      const { runs, tool } = scripted("fetch", Effect.succeed("page"))
      const model = yield* make(batch("fetch"), broken, text("It is done"))
      const agent = agentWith(tool).pipe(restarting, log.listen)
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "It is done")
      assert.strictEqual(runs.length, 1)
      assert.deepStrictEqual(
        log.of("tool-start").map(({ callId }) => callId),
        ["c1"]
      )
      assert.deepStrictEqual(shown(log.all), run.isStreamed ? ["It is ", "discarded: It is ", "It is", " done"] : [])
      assert.deepStrictEqual(model.requests[2]?.messages, model.requests[1]?.messages)
      assert.deepStrictEqual(read(model), ["result: page"])
    }
  })
)

it.run("after a tool ran, a reply that breaks for good leaves its result in the last event [P503]", (run) =>
  Effect.gen(function* () {
    const error = overloaded()
    const log = eventLog()
    const { runs, tool } = scripted("fetch", Effect.succeed("page"))
    const model = yield* make(batch("fetch"), fails(error, says("It ")), fails(error))
    const agent = agentWith(tool).pipe(restarting, log.listen)
    assert.strictEqual(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), error)
    assert.strictEqual(runs.length, 1)
    assert.deepStrictEqual(settlements(lastTranscript(log.end())), ["result: page"])
  })
)

it.effect(
  "a reply is whole with its last part: it is used and booked once, even if its stream then fails or goes on [P703]",
  () =>
    Effect.gen(function* () {
      const reply = ScriptedModel.reply({ content: [{ type: "text", text: "all is well" }] })
      const failing = Stream.fail(overloaded())
      for (const after of [failing, Stream.never, Stream.die("bug"), Stream.make(says(" or not"))]) {
        const model = Layer.succeed(Model.Model, {
          name: "scripted",
          provider: "scripted",
          generate: () => Effect.succeed(reply),
          stream: () => Stream.concat(Stream.fromIterable(toParts(reply)), after)
        })
        const { events } = yield* collect(agentWith().stream("go").pipe(Stream.provide(model)))
        assert.deepInclude(events.at(-1), { type: "run-completed", output: "all is well", usage: reply.usage })
      }
    })
)

it.run("tools start only when the reply is complete; the text before is shown at once [P506]", (run) =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const { runs, tool } = scripted("fetch", Effect.succeed("page"))
    const call = ScriptedModel.call("fetch", {}, "c1")
    const content = run.isStreamed ? [] : [{ type: "text" as const, text: "Let me see." }, call]
    const reply = ScriptedModel.reply({ content })
    const slow: ScriptedModel.ScriptedStep = {
      parts: [says("Let me see."), call],
      isCutOff: false,
      answer: () => Effect.as(Deferred.await(gate), { ...reply, finish: "tool-calls" })
    }
    const model = yield* make(slow, done)
    const log = eventLog()
    const agent = agentWith(tool).pipe(log.listen)
    const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
    yield* calm
    assert.deepStrictEqual(shown(log.all), run.isStreamed ? ["Let me see."] : [])
    assert.deepStrictEqual(runs, [])
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(fiber)
    assert.strictEqual(runs.length, 1)
  })
)

for (const finish of ["length", "filtered"] as const) {
  it.run(`the calls of a reply that was cut by ${finish} are settled as truncated and not run [P403]`, (run) =>
    Effect.gen(function* () {
      const { runs, tool } = scripted("fetch")
      const content = [ScriptedModel.call("fetch", {}, "c1"), ScriptedModel.call("fetch", '{"n":', "c2")]
      const model = yield* make(ScriptedModel.replies(ScriptedModel.reply({ content, finish })), done)
      assert.strictEqual(yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer)), "done")
      assert.deepStrictEqual(runs, [])
      const settlement = "truncated: The call was not run: the reply that contained it was cut off."
      assert.deepStrictEqual(read(model), [settlement, settlement])
    })
  )
}

it.effect("a reader who leaves interrupts the run: finalizers run, listeners get one terminal event [A1202]", () =>
  Effect.gen(function* () {
    const ended: Array<string> = []
    const { tool } = scripted(
      "slow",
      Effect.onInterrupt(Effect.as(Effect.never, "never"), () => Effect.sync(() => ended.push("slow")))
    )
    const log = eventLog()
    const model = yield* make(batch("slow"))
    const agent = agentWith(tool).pipe(log.listen)
    const heard = yield* agent.stream("go").pipe(
      Stream.takeUntil((event) => event.type === "tool-start"),
      Stream.runCollect,
      Effect.provide(model.layer)
    )
    assert.strictEqual(heard.at(-1)?.type, "tool-start")
    assert.deepStrictEqual(ended, ["slow"])
    assert.deepStrictEqual(
      log.types().filter((type) => type.startsWith("run-")),
      ["run-start", "run-interrupted"]
    )
    assert.deepStrictEqual(settlements(lastTranscript(log.end())), [
      "interrupted: The call was interrupted before it ended."
    ])
  })
)

it.effect("a reader may be slow: no event of a long burst is lost [A1205]", () =>
  Effect.gen(function* () {
    const letters = Array.from({ length: 500 }, (_, i) => says(`${i} `))
    const model = yield* make({
      parts: letters,
      isCutOff: false,
      answer: () => Effect.succeed(ScriptedModel.reply({}))
    })
    const seen: Array<string> = []
    yield* agentWith()
      .stream("go")
      .pipe(
        Stream.provide(model.layer),
        Stream.runForEach((event) =>
          Effect.andThen(
            calm,
            Effect.sync(() => seen.push(event.type === "text-delta" ? event.text : event.type))
          )
        )
      )
    assert.strictEqual(seen.filter((text) => /^\d+ $/.test(text)).length, 500)
    assert.strictEqual(seen.at(-1), "run-completed")
    assert.strictEqual(yield* Clock.currentTimeMillis, 0)
  })
)
