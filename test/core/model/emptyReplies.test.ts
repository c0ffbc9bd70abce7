/** Replies that say nothing and call nothing. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, type Message, Model, Recovery, Router, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import { agentWith, batch, done, eventLog, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { make, text } = ScriptedModel

const reply = (made: Parameters<typeof ScriptedModel.reply>[0]): ScriptedModel.ScriptedStep =>
  ScriptedModel.answers(() => Effect.succeed(ScriptedModel.reply(made)))

const nothing = reply({ content: [] })
const blank = text("")
const thoughts = reply({ content: [{ type: "reasoning", text: "hm" }], finish: "length" })

const failing = <E>(exit: Exit.Exit<unknown, E>) => (Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined)

it.run("an empty reply is requested once more, as a booked attempt, before any row decides [P1340]", (run) =>
  Effect.gen(function* () {
    for (const empty of [nothing, blank, thoughts]) {
      const log = eventLog()
      const model = yield* make(empty, text("words"))
      const agent = Agent.make("a", { budget: { maxTurns: 1 } }).pipe(
        Agent.onLlmError(() => Effect.die("no row decides")),
        log.listen
      )
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "words")
      assert.lengthOf(model.requests, 2)
      assert.deepStrictEqual(model.requests[0]?.messages, model.requests[1]?.messages)
      assert.deepStrictEqual(
        [...log.of("model-failed"), ...log.of("model-end")].map(({ entry }) => entry.outcome),
        ["failed", "used"]
      )
      assert.lengthOf(log.of("turn-start"), 1)
      const [failed] = log.of("model-failed")
      assert.instanceOf(failed?.error, LlmError.EmptyReplyError)
    }
  })
)

it.run("after the second the failure leaves, with model and reason; the transcript has neither [P1340]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* make(batch("look"), nothing, thoughts)
    const agent = agentWith(scripted("look", Effect.succeed("seen")).tool).pipe(log.listen)
    const reason = failing(yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert(reason?._tag === "Fail" && reason.error instanceof LlmError.EmptyReplyError)
    assert.deepInclude(reason.error, {
      model: "scripted",
      finishReason: "length",
      code: "KINTSUGI-EMPTY-REPLY",
      isRetryable: true,
      maxAttempts: 2
    })
    assert.lengthOf(model.requests, 3)
    const end = log.end()
    assert(end?.type === "run-failed")
    assert.deepStrictEqual(
      end.transcript.map(({ role }) => role),
      ["user", "assistant"]
    )
  })
)

it.run("the table decides after the second empty reply, and each of its retries calls the model once [P1340]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(nothing, nothing, nothing, text("words"))
    const twice = Recovery.retry({ retries: 2, initialBackoff: 0, jitter: "none" })
    const agent = Agent.make("a", {}).pipe(Agent.onLlmError({ EmptyReplyError: twice }))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "words")
    assert.lengthOf(model.requests, 4)
    const silent = yield* make(nothing, nothing)
    const answering = Agent.make("a", {}).pipe(Agent.onLlmError({ orElse: Recovery.respondWith("nothing came") }))
    assert.strictEqual(yield* run(answering, "go").pipe(Effect.provide(silent.layer)), "nothing came")
  })
)

it.run("each turn repeats one empty reply; a reply with text or a call is not empty [P1340]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen"), Effect.succeed("again"))
    const model = yield* make(nothing, batch("look"), nothing, batch("look"), nothing, done)
    assert.strictEqual(yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer)), "done")
    assert.lengthOf(model.requests, 6)
    assert.deepStrictEqual(read(model), ["result: seen", "result: again"])
    const item: Message.ProviderItem = {
      type: "provider-item",
      kind: "image",
      opaque: { provider: "p", data: { b64: "AA==" } }
    }
    const drawn = yield* make(reply({ content: [item] }))
    assert.strictEqual(yield* run(Agent.make("a", {}), "go").pipe(Effect.provide(drawn.layer)), "")
    const paused = yield* make(reply({ content: [], finish: "paused" }), text("words"))
    assert.strictEqual(yield* run(Agent.make("a", {}), "go").pipe(Effect.provide(paused.layer)), "words")
    assert.lengthOf(paused.requests, 2)
  })
)

it.run("an empty text is an answer if the output schema admits it; else the model is called once more [P1340]", (run) =>
  Effect.gen(function* () {
    for (const output of [Schema.String, Schema.Literals(["", "no"])]) {
      const model = yield* make(blank)
      assert.strictEqual(yield* run(Agent.make("a", { output }), "go").pipe(Effect.provide(model.layer)), "")
    }
    const model = yield* make(blank, text("no"))
    const agent = Agent.make("a", { output: Schema.NonEmptyString, budget: { maxTurns: 1 } })
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "no")
  })
)

it.run("after an empty reply a fallback calls the next model; a limit holds for the second call too [P1340]", (run) =>
  Effect.gen(function* () {
    const first = yield* make(nothing)
    const second = yield* make(text("words"))
    const order = Model.fallback(first.layer, second.layer)
    assert.strictEqual(yield* run(Agent.make("a", {}), "go").pipe(Effect.provide(order)), "words")
    const model = yield* make(nothing, nothing)
    const agent = Agent.make("a", { budget: { maxTokens: 1 } })
    const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.isTrue(Exit.isFailure(exit))
    assert.isAtMost(model.requests.length, 2)
  })
)

it.run("the thoughts of an empty reply do not keep a fallback from its next model [P1340]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const first = yield* make(thoughts)
    const second = yield* make(text("words"))
    const order = Model.fallback(first.layer, second.layer)
    assert.strictEqual(yield* run(Agent.make("a", {}).pipe(log.listen), "go").pipe(Effect.provide(order)), "words")
    assert.lengthOf(log.of("attempt-discarded"), log.of("reasoning-delta").length > 0 ? 1 : 0)
  })
)

it.run("an empty reply to the routing call is repeated once, then its table decides [P1340 A1003]", (run) =>
  Effect.gen(function* () {
    const skills = [Skill.make("one", { description: "One." }), Skill.make("two", { description: "Two." })] as const
    const model = yield* make(blank, text('{"name": "two", "confidence": 1}'), text("words"))
    assert.strictEqual(yield* run(Agent.make("a", { skills }), "go").pipe(Effect.provide(model.layer)), "words")
    assert.deepStrictEqual(model.requests[0], model.requests[1])
    const silent = yield* make(blank, nothing)
    const reason = failing(
      yield* Effect.exit(run(Agent.make("a", { skills }), "go").pipe(Effect.provide(silent.layer)))
    )
    assert(reason?._tag === "Fail")
    assert.instanceOf(reason.error, LlmError.EmptyReplyError)
    const answered = yield* make(blank, nothing, text("words"))
    const router = Router.byModel().pipe(Router.onLlmError({ EmptyReplyError: Recovery.respondWith("one") }))
    const agent = Agent.make("a", { skills }).pipe(Agent.route(router))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(answered.layer)), "words")
  })
)

it.run("thoughts that were shown of an empty reply are taken back [P1340]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* make(thoughts, text("words"))
    yield* run(Agent.make("a", {}).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const isStreamed = log.of("reasoning-delta").length > 0
    assert.deepStrictEqual(
      log.of("attempt-discarded").map(({ attempt, text }) => [attempt, text]),
      isStreamed ? [[1, ""]] : []
    )
  })
)
