import { assert } from "@effect/vitest"
import { Agent, AgentEvent, KintsugiError, LlmError, type Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, done, eventLog, scripted } from "../../_support/dialogue.ts"
import { collect, overloaded, restarting, retrying, says, shown } from "./_support/streamedEvents.ts"

const { fails, make, text } = ScriptedModel
const thinks = (text: string): Model.Part => ({ type: "reasoning-delta", text })

it.run("before the first part a failed attempt is repeated silently [P501]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* make(fails(overloaded()), text("all is well"))
    const agent = agentWith().pipe(retrying, log.listen)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "all is well")
    assert.deepStrictEqual(shown(log.all), run.isStreamed ? ["all is", " well"] : [])
    assert.strictEqual(model.requests.length, 2)
  })
)

it.effect(
  'after text, onPartial: "restart" discards the attempt by an event; nothing of it is in the result [P502]',
  () =>
    Effect.gen(function* () {
      const model = yield* make(fails(overloaded(), says("all "), says("wro")), text("all is well"))
      const log = eventLog()
      const agent = agentWith().pipe(restarting, log.listen)
      const { events } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
      assert.deepStrictEqual(shown(events), ["all ", "wro", "discarded: all wro", "all is", " well"])
      assert.deepInclude(events.at(-1), { type: "run-completed", output: "all is well" })
      assert.deepStrictEqual(
        log.of("attempt-discarded").map(({ attempt }) => attempt),
        [1]
      )
      assert.strictEqual(model.requests[1]?.messages.length, model.requests[0]?.messages.length)
    })
)

it.effect("after text, an attempt fails by default with its error and the shown text, without a retry [P502]", () =>
  Effect.gen(function* () {
    const cause = new TypeError("beneath")
    const error = LlmError.ServerError.make({ model: "scripted", cause, requestId: "r1", status: 502 })
    const model = yield* make(fails(error, thinks("hm"), says("all "), says("is")))
    const log = eventLog()
    const agent = agentWith().pipe(retrying, log.listen)
    const { events, exit } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
    const failed = yield* Effect.flip(exit)
    assert.instanceOf(failed, LlmError.ServerError)
    assert.deepInclude(failed, { partial: "all is", message: error.message, requestId: "r1", status: 502 })
    assert.strictEqual(failed.cause, cause)
    assert.deepStrictEqual([failed.code, failed.isRetryable], [error.code, true])
    assert.deepStrictEqual(shown(events), ["hm", "all ", "is"])
    assert.deepInclude(events.at(-1), { type: "run-failed", error: failed })
    assert.deepInclude(log.of("model-failed")[0], { error: failed })
    // nothing was added to the error that the model has failed with
    assert.notProperty(error, "partial")
  })
)

it.effect("an attempt of which no text was shown fails with the very error of the model [P502]", () =>
  Effect.gen(function* () {
    const error = overloaded()
    for (const parts of [[], [thinks("hm")]]) {
      const model = yield* make(fails(error, ...parts))
      const { exit } = yield* collect(agentWith().stream("go").pipe(Stream.provide(model.layer)))
      assert.strictEqual(yield* Effect.flip(exit), error)
    }
  })
)

it.effect("thoughts that were discarded stand in the way of no later attempt [P502 P501]", () =>
  Effect.gen(function* () {
    const model = yield* make(fails(overloaded(), thinks("hm")), fails(overloaded()), text("all is well"))
    const agent = agentWith().pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 2 }) }))
    const { events } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
    assert.deepStrictEqual(shown(events), ["hm", "discarded: ", "all is", " well"])
    assert.deepInclude(events.at(-1), { type: "run-completed", output: "all is well" })
  })
)

it.effect("the text comes along through JSON, in the error and in the events that hold it [P502 P504]", () =>
  Effect.gen(function* () {
    const text = Schema.fromJsonString(AgentEvent.AgentEvent)
    for (const step of [fails(overloaded(), says("all ")), ScriptedModel.cutOff(says("all "))]) {
      const model = yield* make(step)
      const log = eventLog()
      const { exit } = yield* collect(agentWith().pipe(log.listen).stream("go").pipe(Stream.provide(model.layer)))
      const error = yield* Effect.flip(exit)
      const codec = Schema.toCodecJson(KintsugiError.KintsugiError)
      const written = JSON.stringify(Schema.encodeUnknownSync(codec)(error))
      const back = Schema.decodeUnknownSync(codec)(JSON.parse(written))
      assert.deepInclude(back, { _tag: error._tag, partial: "all " })
      assert.strictEqual(back.constructor, error.constructor)
      for (const event of [...log.of("model-failed"), ...log.of("run-failed")]) {
        const read = Schema.decodeUnknownSync(text)(Schema.encodeSync(text)(event))
        assert.nestedPropertyVal(read, "error.partial", "all ")
      }
      assert.strictEqual(log.of("model-failed").length, 1)
    }
  })
)

it.effect("the error that is left after restarts has the text of its own attempt alone [P502]", () =>
  Effect.gen(function* () {
    const model = yield* make(fails(overloaded(), says("one")), fails(overloaded(), says("two")))
    const { events, exit } = yield* collect(agentWith().pipe(restarting).stream("go").pipe(Stream.provide(model.layer)))
    assert.deepInclude(yield* Effect.flip(exit), { _tag: "ModelOverloadedError", partial: "two" })
    assert.deepStrictEqual(shown(events), ["one", "discarded: one", "two"])
  })
)

it.effect("a row that answers after text was shown discards it by an event, before the run completes [P502]", () =>
  Effect.gen(function* () {
    for (const onPartial of ["fail", "restart"] as const) {
      for (const [parts, seen] of [
        [
          [says("all "), says("wro")],
          ["all ", "wro", "discarded: all wro"]
        ],
        [[thinks("hm")], ["hm", "discarded: "]],
        [[], []]
      ] as const) {
        const model = yield* make(fails(overloaded(), ...parts))
        const partials: Array<unknown> = []
        const answering = Recovery.respondWith((error: LlmError.LlmError) => {
          partials.push(error.partial)
          return Effect.succeed("enough")
        })
        const agent = agentWith().pipe(Agent.onLlmError({ orElse: answering }, { onPartial }))
        const { events, exit } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
        assert.strictEqual(exit._tag, "Success")
        assert.deepStrictEqual(shown(events), [...seen])
        assert.deepInclude(events.at(-1), { type: "run-completed", output: "enough" })
        // the row may say what was shown again
        assert.deepStrictEqual(partials, [parts.length === 2 ? "all wro" : undefined])
      }
    }
  })
)

it.effect("a row that fails itself discards nothing [P502]", () =>
  Effect.gen(function* () {
    const model = yield* make(fails(overloaded(), says("all ")))
    const agent = agentWith().pipe(
      Agent.onLlmError({ orElse: Recovery.respondWith(() => Effect.fail("no answer" as const)) })
    )
    const { events, exit } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
    assert.strictEqual(yield* Effect.flip(exit), "no answer")
    assert.deepStrictEqual(shown(events), ["all "])
  })
)

it.effect("text before a call that the provider rejects is discarded: its reply is that call alone [P502 P404]", () =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch", Effect.succeed("page"))
    const rejected = LlmError.MalformedToolCallError.make({
      model: "scripted",
      tool: "fetch",
      detail: "no JSON",
      rawArgs: "{}"
    })
    const model = yield* make(fails(rejected, says("Let me ")), done)
    const { events } = yield* collect(agentWith(tool).stream("go").pipe(Stream.provide(model.layer)))
    assert.deepStrictEqual(shown(events), ["Let me ", "discarded: Let me ", "do", "ne"])
    assert.strictEqual(runs.length, 1)
    assert.deepStrictEqual(model.requests[1]?.messages.at(-1), {
      role: "assistant",
      content: [
        {
          type: "settled-call",
          call: { type: "tool-call", id: "rejected-1", name: "fetch", arguments: "{}" },
          settlement: { kind: "result", text: "page" }
        }
      ]
    })
  })
)

it.run("a reply that a filter has cut off fails with its text [P502]", (run) =>
  Effect.gen(function* () {
    const reply = ScriptedModel.reply({ content: [{ type: "text", text: "all is" }], finish: "filtered" })
    const model = yield* make(ScriptedModel.replies(reply))
    const error = yield* Effect.flip(run(agentWith(), "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(error, { _tag: "ContentFilteredError", partial: "all is" })
  })
)

it.effect("a failed attempt of which only thoughts were shown is discarded by an event too [P502]", () =>
  Effect.gen(function* () {
    const model = yield* make(fails(overloaded(), thinks("hm")), text("well"))
    const { events } = yield* collect(agentWith().pipe(retrying).stream("go").pipe(Stream.provide(model.layer)))
    assert.deepStrictEqual(shown(events), ["hm", "discarded: ", "we", "ll"])
  })
)

it.effect("each discarded attempt is discarded once, with its own text [P502]", () =>
  Effect.gen(function* () {
    const model = yield* make(fails(overloaded(), says("one")), fails(overloaded()), fails(overloaded(), says("three")))
    const agent = agentWith().pipe(
      Agent.onLlmError(
        { orElse: Recovery.ladder(Recovery.retry({ retries: 2 }), Recovery.respondWith("enough")) },
        { onPartial: "restart" }
      )
    )
    const { events } = yield* collect(agent.stream("go").pipe(Stream.provide(model.layer)))
    assert.deepStrictEqual(shown(events), ["one", "discarded: one", "three", "discarded: three"])
    assert.deepInclude(events.at(-1), { type: "run-completed", output: "enough" })
  })
)
