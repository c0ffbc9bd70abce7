/** Conversations in a key-value store: what it holds, and what it says when it fails. */
import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { Conversations } from "@kintsugi/durable"
import { Context, Effect, Layer, Stream } from "effect"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import { TestClock } from "effect/testing"

/** A store of conversations, and the rows below it. */
const made = Effect.gen(function* () {
  const rows = new Map<string, string>()
  /** Whether the store fails, and after how many reads and writes it does. */
  const state = { fails: false, left: Infinity }
  const step = <A>(method: string, act: () => A) =>
    Effect.suspend(() =>
      state.fails || --state.left < 0
        ? Effect.fail(new KeyValueStore.KeyValueStoreError({ method, message: "disk full" }))
        : Effect.sync(act)
    )
  const rowsOf = KeyValueStore.makeStringOnly({
    get: (key) => step("get", () => rows.get(key)),
    set: (key, value) => step("set", () => void rows.set(key, value)),
    remove: (key) => step("remove", () => void rows.delete(key)),
    clear: step("clear", () => rows.clear()),
    size: step("size", () => rows.size),
    keys: step("keys", () => [...rows.keys()])
  })
  const layer = Layer.provide(
    Conversations.layerKeyValueStoreOfProcess(),
    Layer.succeed(KeyValueStore.KeyValueStore, rowsOf)
  )
  const store = Context.get(yield* Layer.build(layer), Conversations.Conversations)
  return { rows, state, store }
})

const ann = { conversation: "c/1", subject: "ann" }
const messages = [Message.user("a"), Message.user("b")]
const note = { owner: "c/1", kind: "note", name: "n/1" }

it.effect("what is removed leaves no row, and the rest stays [P1383 P1854]", () =>
  Effect.gen(function* () {
    const { rows, store } = yield* made
    yield* store.append({ ...ann, expected: 0, messages })
    yield* store.documents.put({ ...note, value: 1 })
    const before = new Map(rows)
    // the next release finds them under these keys
    assert.deepStrictEqual(
      [...rows.keys()].toSorted(),
      [
        "document/c%2F1/note/n%2F1",
        "head/c%2F1",
        "message/c%2F1/0",
        "message/c%2F1/1",
        "owner/c%2F1",
        "owners",
        "subject/ann",
        "subjects"
      ].map((key) => `kintsugi/conversations/${key}`)
    )
    const others = [
      { conversation: "c/2", subject: "ann" },
      { conversation: "c/3", subject: "bob" }
    ]
    for (const other of others) {
      yield* store.append({ ...other, expected: 0, messages })
      yield* store.documents.put({ ...note, owner: other.conversation, value: 2 })
      yield* store.documents.put({ ...note, owner: other.conversation, name: "n/2", value: 3 })
    }
    yield* store.documents.remove({ ...note, owner: "c/2" })
    assert.deepStrictEqual(yield* store.documents.all({ owner: "c/2", kind: "note" }), [{ name: "n/2", value: 3 }])
    yield* store.remove(others[0]!)
    assert.deepStrictEqual(
      (yield* store.list({ subject: "ann" })).map(({ id }) => id),
      ["c/1"]
    )
    yield* store.removeSubject("bob")
    assert.deepStrictEqual(rows, before)
    // a document alone, of an owner without a conversation
    yield* store.documents.put({ ...note, owner: "alone", value: 4 })
    yield* store.documents.remove({ ...note, owner: "alone" })
    assert.deepStrictEqual(rows, before)
    yield* store.remove(ann)
    assert.deepStrictEqual([...rows], [])
  })
)

it.effect("what is older than a time goes, and what is of that moment stays [P1383]", () =>
  Effect.gen(function* () {
    const { store } = yield* made
    yield* store.append({ ...ann, expected: 0, messages })
    yield* store.documents.put({ ...note, owner: "alone", value: 1 })
    yield* TestClock.adjust(10)
    yield* store.append({ ...ann, conversation: "c/2", expected: 0, messages })
    yield* store.documents.put({ ...note, owner: "other", value: 2 })
    assert.strictEqual(yield* store.removeOlder(0), 0)
    assert.strictEqual(yield* store.documents.get({ ...note, owner: "alone" }), 1)
    assert.strictEqual(yield* store.removeOlder(10), 1)
    assert.deepStrictEqual(
      (yield* store.list({ subject: "ann" })).map(({ id }) => id),
      ["c/2"]
    )
    assert.strictEqual(yield* store.documents.get({ ...note, owner: "alone" }), undefined)
    assert.strictEqual(yield* store.documents.get({ ...note, owner: "other" }), 2)
    assert.strictEqual(yield* store.removeOlder(11), 1)
  })
)

it.effect("a conversation whose message is gone cannot be read, and says which [P1383]", () =>
  Effect.gen(function* () {
    const { rows, store } = yield* made
    yield* store.append({ ...ann, expected: 0, messages })
    const gone = [...rows.keys()].find((key) => /message\/.*\/1$/.test(key))
    rows.delete(gone ?? "")
    const error = yield* Effect.flip(store.load(ann))
    assert(error._tag === "ConversationStoreError")
    assert.strictEqual(error.message, "The storage failed at 'load' of conversation 'c/1'")
    assert.strictEqual(String(error.cause), "Error: message 1 is gone")
  })
)

it.effect("a storage that fails is named with what was done, and with the conversation [P1383]", () =>
  Effect.gen(function* () {
    const { state, store } = yield* made
    yield* store.append({ ...ann, expected: 0, messages })
    // it fails when a writer that came too late looks for the version
    state.left = 1
    const late = yield* Effect.flip(store.append({ ...ann, expected: 1, messages }))
    assert.deepInclude(late, { _tag: "ConversationStoreError", operation: "append", conversation: "c/1" })
    state.fails = true
    const asked = [
      ["append", "c/1", store.append({ ...ann, expected: 2, messages })],
      ["load", "c/1", store.load(ann)],
      ["list", "", store.list({ subject: "ann" })],
      ["fork", "c/1", store.fork({ ...ann, as: "c/2" })],
      ["remove", "c/1", store.remove(ann)],
      ["removeSubject", "", store.removeSubject("ann")],
      ["removeOlder", "", store.removeOlder(5)],
      ["exportSubject", "", Stream.runDrain(store.exportSubject("ann"))],
      ["documents.put", "c/1", store.documents.put({ ...note, value: 1 })],
      ["documents.get", "c/1", store.documents.get(note)],
      ["documents.all", "c/1", store.documents.all(note)],
      ["documents.remove", "c/1", store.documents.remove(note)]
    ] as const
    for (const [operation, conversation, one] of asked) {
      // widened: each function has failures of its own
      const error = yield* Effect.flip(one as Effect.Effect<unknown, { readonly _tag: string }>)
      assert.instanceOf(error, Conversations.ConversationStoreError)
      assert.deepInclude(error, { operation, conversation })
      assert.include(String(error.cause), "disk full")
    }
  })
)
