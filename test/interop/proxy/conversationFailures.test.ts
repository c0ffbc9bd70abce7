/** What a client of conversations learns of the failures of the agent, of the store and of its limits. */
import { assert, it } from "@effect/vitest"
import { Conversations } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Effect, Layer, Stream } from "effect"
import { talking } from "../../durable/entity/_support/talking.ts"
import { ways } from "./_support/conversing.ts"

const facts = (error: unknown) => {
  const { _tag, code, reason, retryAfter, status } = Object(error)
  return { _tag, code, reason, retryAfter, status }
}

/** Why a request fails. */
const failure = <A>(self: Effect.Effect<A, unknown>) => Effect.map(Effect.flip(self), facts)

const none = { code: undefined, reason: undefined, retryAfter: undefined }

/** Runs a test with a client of conversations in this store. */
const withStore =
  (store: Layer.Layer<Conversations.Conversations>, way: keyof typeof ways) =>
  <A, E>(
    test: (client: Effect.Success<ReturnType<Effect.Success<ReturnType<(typeof ways)["Rpc"]>>>>) => Effect.Effect<A, E>
  ) => {
    const talk = talking()
    const live = talk.clerks.layer.pipe(Layer.provideMerge(ConversationEntity.layerMemory), Layer.provideMerge(store))
    return Effect.flatMap(
      Effect.flatMap(ways[way](talk), (clientOf) => clientOf("ann")),
      test
    ).pipe(Effect.scoped, Effect.provide(live))
  }

const failing = Layer.effect(
  Conversations.Conversations,
  Effect.map(Conversations.Conversations, (store) => ({
    ...store,
    load: (of) =>
      of.from === undefined
        ? store.load(of)
        : Effect.fail(
            Conversations.ConversationStoreError.make({
              operation: "load",
              conversation: "c-1",
              cause: new Error("hunter2")
            })
          )
  }))
).pipe(Layer.provide(Conversations.layerMemory()))

for (const way of ["HttpApi", "Rpc"] as const) {
  it.effect(
    `${way}: a failure of the agent is that of its answer and of its events, and a bug says nothing [P1853]`,
    () =>
      withStore(
        Conversations.layerMemory(),
        way
      )((ann) =>
        Effect.gen(function* () {
          yield* ann.send("m-1", "fail")
          const expected = { ...none, _tag: "RunFailedError", code: "KINTSUGI-AUTHENTICATION", status: 502 }
          assert.deepStrictEqual(yield* failure(ann.answer("m-1")), expected)
          assert.deepStrictEqual(yield* failure(Stream.runDrain(ann.events("m-1"))), expected)
          yield* ann.send("m-2", "die")
          const bug = { ...none, _tag: "RunFailedError", code: "KINTSUGI-BUG", status: 500 }
          assert.deepStrictEqual(yield* failure(ann.answer("m-2")), bug)
        })
      )
  )

  it.effect(`${way}: a conversation that is full is 409, and a message beyond the limit of the store 413 [P1853]`, () =>
    withStore(
      Conversations.layerMemory({ maxMessages: 1, maxBytes: 1000 }),
      way
    )((ann) =>
      Effect.gen(function* () {
        yield* ann.send("m-1", "hello")
        assert.deepStrictEqual(yield* failure(ann.answer("m-1")), {
          ...none,
          _tag: "ConversationConflictError",
          reason: "full",
          status: 409
        })
        assert.deepStrictEqual(yield* failure(ann.send("m-2", "x".repeat(2000))), {
          ...none,
          _tag: "RequestTooLargeError",
          status: 413
        })
      })
    )
  )

  it.effect(`${way}: a store that fails is 503 with when to come again, and without its words [P1853]`, () =>
    withStore(
      failing,
      way
    )((ann) =>
      Effect.gen(function* () {
        yield* ann.send("m-1", "hello")
        const error = yield* Effect.flip(ann.history())
        assert.deepStrictEqual(facts(error), {
          _tag: "RunFailedError",
          code: "KINTSUGI-CONVERSATION-STORE",
          reason: undefined,
          retryAfter: 5,
          status: 503
        })
        assert.notInclude(JSON.stringify(error), "hunter2")
      })
    )
  )
}
