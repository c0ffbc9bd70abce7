import { assert, it } from "@effect/vitest"
import { Approval } from "@kintsugi/core"
import { Conversations, Durable } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Context, Effect, Fiber, Layer, Logger } from "effect"
import { cluster, type OneRunner } from "../_support/cluster.ts"
import { during, passing, talking, talkTo } from "./_support/talking.ts"

/** Runners that share a store of conversations; each serves the conversations of its own version. */
const runners = Effect.gen(function* () {
  const kept = yield* Layer.build(Conversations.layerMemory())
  const store = Layer.succeed(Conversations.Conversations, Context.get(kept, Conversations.Conversations))
  const join = yield* cluster
  const start = ({ clerks }: Pick<ReturnType<typeof talking>, "clerks">) =>
    Effect.tap(join(Layer.provide(clerks.layer, store)), () => passing(3))
  const stop = (runner: OneRunner) =>
    Effect.gen(function* () {
      const stopping = yield* Effect.forkChild(runner.stop)
      yield* passing(10)
      yield* Fiber.join(stopping)
    })
  return { start, stop }
})

const on = ({ context }: OneRunner) => Effect.provideContext(context)

it.effect("a message is answered by the version with which it began, and the next one by the new version [P1384]", () =>
  Effect.gen(function* () {
    const { start, stop } = yield* runners
    const before = talking({ version: "1" })
    const one = yield* start(before)
    const begun = yield* talkTo(before).send("1", "sign lease").pipe(on(one))
    assert.deepInclude(begun, { _tag: "Working", workflow: "clerk@1" })
    yield* stop(one)

    const after = talking({ version: "2", former: [before.durable] })
    const two = yield* start(after)
    const { answer, send, state } = talkTo(after)
    yield* send("2", "two").pipe(on(two))
    assert.deepStrictEqual(yield* state("1").pipe(on(two)), begun)
    const [request] = before.asked
    if (request === undefined) return assert.fail("the run of version 1 asks a person")
    yield* during(Durable.decide(before.durable, request, Approval.approve)).pipe(on(two))
    before.release("sign lease")
    assert.strictEqual(yield* answer("1").pipe(on(two)), "answer to sign lease")
    assert.strictEqual(yield* answer("2").pipe(on(two)), "answer to two")
    assert.deepInclude(yield* state("2").pipe(on(two)), { _tag: "Ended", workflow: "clerk@2" })
    assert.deepStrictEqual(before.paid, ["sign lease"])
    assert.deepStrictEqual(after.paid, [])
    assert.deepStrictEqual(
      after.requests.map((lines) => lines.at(-1)),
      ["user: two"]
    )
    // a program without the former version cannot read its answer
    const alone = talking({ version: "2" })
    assert.strictEqual(yield* talkTo(alone).unanswered("1").pipe(on(two)), "unserved")
    yield* stop(two)
  })
)

it.effect("a message of a version that no process serves waits, and a log names the version once [P1384]", () => {
  const logged: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Warn") logged.push(String(message))
  })
  return Effect.gen(function* () {
    const { start, stop } = yield* runners
    const before = talking({ version: "1" })
    const one = yield* start(before)
    const begun = yield* talkTo(before).send("1", "sign lease").pipe(on(one))
    yield* stop(one)

    const alone = talking({ version: "2" })
    const two = yield* start(alone)
    const { interrupt, say, send, state } = talkTo(alone)
    assert.deepStrictEqual(yield* send("2", "two").pipe(on(two)), { _tag: "Waiting", before: 1 })
    assert.deepStrictEqual(yield* say("3", "three").pipe(on(two)), { _tag: "Waiting", before: 2 })
    assert.deepStrictEqual(yield* state("1").pipe(on(two)), { ...begun, _tag: "Unserved" })
    assert.isFalse(yield* interrupt().pipe(on(two)))
    yield* passing(20)
    assert.deepStrictEqual(alone.requests, [])
    assert.deepStrictEqual(
      logged.filter((line) => line.includes("clerk@1")),
      [
        "Conversation 'c-1' waits: its message has begun with 'clerk@1', which this process does not serve. Name it in the option 'former'"
      ]
    )
    yield* stop(two)

    const after = talking({ version: "2", former: [before.durable] })
    const three = yield* start(after)
    assert.isTrue(yield* talkTo(after).interrupt().pipe(on(three)))
    yield* passing(5)
    assert.strictEqual(yield* talkTo(after).unanswered("1").pipe(on(three)), "stopped")
    assert.strictEqual(yield* talkTo(after).answer("3").pipe(on(three)), "answer to three")
    assert.deepStrictEqual(
      after.requests.map((lines) => lines.at(-1)),
      ["user: two", "user: three"]
    )
    yield* stop(three)
  }).pipe(Effect.provide(Logger.layer([logger])))
})

it("refuses two versions of one name, and a former one without an inbox", () => {
  const { durable } = talking({ version: "1" })
  assert.throws(() => talking({ version: "1", former: [durable] }), TypeError, "two versions have the name 'clerk@1'")
  const deaf = { ...talking({ version: "0" }).durable, hasInbox: false }
  assert.throws(() => ConversationEntity.make(durable, { name: "n", former: [deaf] }), TypeError, "inbox: true")
})
