import { assert, it } from "@effect/vitest"
import { Conversations } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Clock, Context, Effect, Fiber, Layer } from "effect"
import { ClusterError } from "effect/cluster"
import { cluster, clusterOfRows } from "../_support/cluster.ts"
import { during, linesOf, passing, talking, talkTo } from "./_support/talking.ts"

const of = { conversation: "c-1", subject: "ann" }

// Finds out nothing of its own: its subject is how the runners of Effect give entities, and the workflows of their messages, away
it.effect(
  "a runner that stops gives its conversations away: what waits there is answered by another one, once [P1384]",
  () =>
    Effect.gen(function* () {
      const talk = talking()
      const kept = yield* Layer.build(Conversations.layerMemory())
      const store = Context.get(kept, Conversations.Conversations)
      const served = Layer.provide(talk.clerks.layer, Layer.succeed(Conversations.Conversations, store))
      const join = yield* cluster
      const one = yield* join(served)
      yield* passing(3)
      const conversations = ["c-1", "c-2", "c-3", "c-4", "c-5", "c-6"]
      const messages = conversations.flatMap((conversation) => [
        { ...of, conversation, id: "1", message: `pay ${conversation}` },
        { ...of, conversation, id: "2", message: `then ${conversation}` }
      ])
      const sending = Effect.forEach(messages, (message) => ConversationEntity.send(talk.clerks, message))
      yield* Effect.provideContext(during(sending, 5), one.context)
      for (const conversation of conversations) yield* talk.begun(`pay ${conversation}`)
      assert.strictEqual(talk.paid.length, 6)
      const two = yield* join(served)
      yield* passing(5)
      const stopping = yield* Effect.forkChild(one.stop)
      for (const what of talk.paid) talk.release(what)
      // a client asks while the shards are under way
      const late = { ...of, conversation: "c-1", id: "3", message: "late" }
      yield* Effect.provideContext(during(ConversationEntity.send(talk.clerks, late), 45), two.context)
      yield* Fiber.join(stopping)
      const answers = Effect.forEach(messages, (message) => ConversationEntity.answer(talk.clerks, message))
      const given = yield* Effect.provideContext(during(answers, 5), two.context)
      assert.deepStrictEqual(
        given,
        messages.map(({ message }) => `answer to ${message}`)
      )
      assert.deepStrictEqual(
        talk.paid.toSorted(),
        conversations.map((conversation) => `pay ${conversation}`)
      )
      for (const conversation of conversations) {
        const said = linesOf((yield* store.load({ ...of, conversation })).messages).filter((line) =>
          line.startsWith("user")
        )
        assert.deepStrictEqual(said.slice(0, 2), [`user: pay ${conversation}`, `user: then ${conversation}`])
        assert.strictEqual(said.length, conversation === "c-1" ? 3 : 2)
      }
    })
)

// Finds out nothing of its own: its subject is the time within which a runner of Effect ends its entities
it.effect(
  "a runner whose tool does not end stops within the time of its entities, and another one answers, once [P1384]",
  () =>
    Effect.gen(function* () {
      const talk = talking()
      const kept = yield* Layer.build(Conversations.layerMemory())
      const store = Layer.succeed(Conversations.Conversations, Context.get(kept, Conversations.Conversations))
      const join = yield* cluster
      const served = Layer.provide(talk.clerks.layer, store)
      const one = yield* join(served)
      yield* passing(3)
      const { answer, send } = talkTo(talk)
      yield* Effect.provideContext(send("1", "pay rent"), one.context)
      yield* talk.begun("pay rent")
      assert.deepStrictEqual(talk.paid, ["pay rent"])
      const two = yield* join(served)
      yield* passing(5)
      const before = yield* Clock.currentTimeMillis
      const stopping = yield* Effect.forkChild(one.stop)
      for (let seconds = 0; seconds < 30 && stopping.pollUnsafe() === undefined; seconds++) yield* passing(1)
      // `entityTerminationTimeout` is 1 second
      assert.isAtMost((yield* Clock.currentTimeMillis) - before, 5000)
      yield* passing(10)
      assert.strictEqual(yield* Effect.provideContext(answer("1"), two.context), "answer to pay rent")
      assert.deepStrictEqual(talk.paid, ["pay rent"])
    })
)

it.effect("a message is over although the storage fails when its workflow says so [P1384]", () =>
  Effect.gen(function* () {
    const talk = talking()
    const kept = yield* Layer.build(Conversations.layerMemory())
    const store = Layer.succeed(Conversations.Conversations, Context.get(kept, Conversations.Conversations))
    const { join, storage } = yield* clusterOfRows
    const { saveRequest } = storage
    let failures = 0
    Object.assign(storage, {
      saveRequest: (message: Parameters<typeof saveRequest>[0]) => {
        if (message.envelope.tag !== "over" || failures === 3) return saveRequest(message)
        failures++
        return Effect.fail(new ClusterError.PersistenceError({ cause: "no space" }))
      }
    })
    const { answer, send } = talkTo(talk)
    const one = yield* join(Layer.provide(talk.clerks.layer, store))
    yield* passing(3)
    yield* Effect.gen(function* () {
      yield* send("1", "hello")
      yield* send("2", "two")
      assert.strictEqual(yield* answer("1"), "answer to hello")
      assert.strictEqual(yield* answer("2"), "answer to two")
    }).pipe(Effect.provideContext(one.context))
    assert.strictEqual(failures, 3)
  })
)

it.effect("a question to a runner that stops meanwhile is refused, and its caller is not interrupted [P1384]", () =>
  Effect.gen(function* () {
    const talk = talking()
    const kept = yield* Layer.build(Conversations.layerMemory())
    const store = Context.get(kept, Conversations.Conversations)
    let hangs = false
    const load: Conversations.Store["load"] = (page) => (hangs ? Effect.never : store.load(page))
    const join = yield* cluster
    const one = yield* join(
      Layer.provide(talk.clerks.layer, Layer.succeed(Conversations.Conversations, { ...store, load }))
    )
    yield* passing(3)
    yield* Effect.provideContext(talkTo(talk).send("1", "hello"), one.context)
    hangs = true
    const fiber = yield* Effect.forkChild(
      Effect.provideContext(ConversationEntity.state(talk.clerks, { ...of, id: "1" }), one.context)
    )
    yield* passing(2)
    const stopping = yield* Effect.forkChild(one.stop)
    yield* passing(10)
    yield* Fiber.join(stopping)
    const refused = yield* Effect.flip(Fiber.join(fiber))
    assert.deepInclude(refused, { _tag: "ConversationBusyError", reason: "runner", retryAfter: 5000 })
  })
)
