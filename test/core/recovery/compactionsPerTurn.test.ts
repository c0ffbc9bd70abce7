import { assert } from "@effect/vitest"
import { Agent, Compaction, LlmError, Message, Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { batch, done, eventLog } from "../../_support/dialogue.ts"
import { asked, hello, namedModel } from "../../_support/namedModels.ts"
import { conversation, keepOne, reader, requested, tooLong } from "./_support/longConversations.ts"

const { fails, make } = ScriptedModel

it.run("at most twice in a turn, and afresh in the next [P1005]", (run) =>
  Effect.gen(function* () {
    const error = tooLong()
    const shrink = (max: number) => Compaction.shrinkLargestResult({ maxLength: max })
    const ladder = Recovery.ladder(
      Recovery.compact(shrink(40)),
      Recovery.compact(shrink(20)),
      Recovery.compact(shrink(10))
    )
    const long = fails(tooLong())
    const model = yield* make(batch("look"), long, long, batch("look"), long, long, fails(error))
    const log = eventLog()
    const agent = reader(60).pipe(Agent.onLlmError({ ContextTooLongError: ladder }), log.listen)
    assert.strictEqual(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), error)
    assert.deepStrictEqual(
      log.of("compacted").map(({ turn }) => turn),
      [2, 2, 3, 3]
    )
    assert.deepInclude(log.of("verdict").at(-1), { verdict: "compact", gaveUp: true })
  })
)

it.effect("after streamed text the conversation is not shortened, unless the attempt may be retried [P1005]", () =>
  Effect.gen(function* () {
    const says: Model.Part = { type: "text-delta", text: "so far" }
    const table = { ContextTooLongError: Recovery.compact(keepOne) }
    for (const onPartial of ["fail", "restart"] as const) {
      const rest = onPartial === "restart" ? [done] : []
      const model = yield* make(batch("look"), batch("look"), fails(tooLong(), says), ...rest)
      const log = eventLog()
      const agent = reader().pipe(Agent.onLlmError(table, { onPartial }), log.listen)
      yield* Effect.exit(Stream.runDrain(agent.stream("go").pipe(Stream.provide(model.layer))))
      assert.strictEqual(log.end()?.type, onPartial === "restart" ? "run-completed" : "run-failed")
      assert.deepStrictEqual(
        log.of("run-failed").map(({ error }) => error instanceof LlmError.ContextTooLongError && error.partial),
        onPartial === "restart" ? [] : ["so far"]
      )
      assert.strictEqual(log.of("attempt-discarded").length, rest.length)
      assert.strictEqual(log.of("compacted").length, rest.length)
    }
  })
)

it.effect("a table of a model outside a run calls the model with the short conversation [P1005]", () =>
  Effect.gen(function* () {
    const scriptedModel = yield* make(fails(tooLong()), done)
    const service = yield* Effect.provide(Effect.service(Model.Model), scriptedModel.layer)
    const guarded = Model.onError(service, { ContextTooLongError: Recovery.compact(keepOne) })
    const reply = yield* guarded.generate({ messages: conversation, tools: [], toolChoice: "auto" })
    assert.strictEqual(Message.textOf(reply), "done")
    assert.deepStrictEqual(requested(scriptedModel)[1], ["system", "user three"])
  })
)

/** Drops the first message, however little that is. */
const oneLess = Compaction.make("one less", ({ transcript }) => transcript.slice(1))

const table = { ContextTooLongError: Recovery.compact<LlmError.ContextTooLongError>(oneLess) }

it.run("at most twice in a turn, however many tables a question passes [P1005]", (run) =>
  Effect.gen(function* () {
    const long = fails(tooLong())
    const model = yield* make(batch("look"), long, long, long, batch("look"), long, long, done)
    const layer = model.layer.pipe(Model.onError(table), Model.onError(table))
    const log = eventLog()
    const patient = Recovery.ladder(
      Recovery.compact<LlmError.ContextTooLongError>(oneLess),
      Recovery.retry({ retries: 1 })
    )
    const agent = reader(60).pipe(Agent.onLlmError({ ContextTooLongError: patient }), log.listen)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(layer)), "done")
    // the third refusal leaves nothing to shorten any more: the next rung asks again
    assert.deepStrictEqual(
      log.of("compacted").map(({ turn }) => turn),
      [2, 2, 3, 3]
    )
  })
)

asked("at most twice for a bare model, however many tables stand around it [P1005]", (ask) =>
  Effect.gen(function* () {
    const long = fails(tooLong())
    const { requests, service } = yield* namedModel("m", long, long, long, long, long, long)
    const models = Model.fallback(Model.onError(service, table), { when: () => true })
    const guarded = Model.onError(models, table)
    const request = { ...hello, messages: conversation }
    const before = requests.length
    yield* Effect.flip(ask(guarded, request))
    assert.deepStrictEqual(
      requests.slice(before).map(({ messages }) => messages.length),
      [6, 5, 4]
    )
    // afresh with the next request
    yield* Effect.flip(ask(guarded, request))
    assert.strictEqual(requests.length, 6)
  })
)

it.effect("after 10,000 attempts a model call is not repeated with a shorter conversation [P1005 A210]", () =>
  Effect.gen(function* () {
    let asked = 0
    const busyOnce = LlmError.ModelOverloadedError.make({ model: "m" })
    const service: Model.Service = {
      name: "m",
      provider: "p",
      generate: () => Effect.suspend(() => Effect.fail(++asked < 10_000 ? busyOnce : tooLong())),
      stream: () => Stream.empty
    }
    const guarded = Model.onError(service, {
      ModelOverloadedError: Recovery.retry({ retries: 1_000_000 }),
      ContextTooLongError: Recovery.compact(keepOne)
    })
    const error = yield* Effect.flip(guarded.generate({ messages: conversation, tools: [], toolChoice: "auto" }))
    assert.strictEqual(error._tag, "ContextTooLongError")
    assert.strictEqual(asked, 10_000)
  })
)
