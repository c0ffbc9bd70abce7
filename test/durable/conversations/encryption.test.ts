/** Encrypted conversations, and the results and grants that are kept beside them. */
import { assert, it } from "@effect/vitest"
import { Approval, Message, Tool } from "@kintsugi/core"
import { Conversations } from "@kintsugi/durable"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import { sqlite } from "../_support/sqlite.ts"
import { file, textOf } from "./_support/stores.ts"

const keyOf = (id: string, byte: number): Conversations.EncryptionKey => ({
  id,
  secret: Redacted.make(new Uint8Array(32).fill(byte))
})

const of = { conversation: "c", subject: "ann" }

/** The store on this file, with these keys, and the connection to it. */
const withKeys = (path: string, ...keys: ReadonlyArray<Conversations.EncryptionKey>) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(Layer.provideMerge(Conversations.layerSql(), sqlite(path)))
    const [first, ...rest] = keys
    const encryption = first === undefined ? Layer.empty : Conversations.layerEncryption([first, ...rest])
    const store = Context.get(context, Conversations.Conversations)
    return { store, sql: Context.get(context, SqlClient), encryption }
  })

it.effect("an encrypted store has no readable text, and old keys still read [P1399]", () =>
  Effect.gen(function* () {
    const path = yield* file
    const before = yield* withKeys(path, keyOf("k1", 1))
    yield* before.store
      .append({ ...of, expected: 0, messages: [Message.user("my secret")] })
      .pipe(Effect.provide(before.encryption))
    yield* before.store.documents
      .put({ owner: "c", kind: "result", name: "h", value: "my secret" })
      .pipe(Effect.provide(before.encryption))
    const rows = [
      ...(yield* before.sql`SELECT * FROM kintsugi_messages`),
      ...(yield* before.sql`SELECT * FROM kintsugi_documents`)
    ]
    assert.strictEqual(rows.length, 2)
    assert.notInclude(JSON.stringify(rows), "secret")
    const after = yield* withKeys(path, keyOf("k2", 2), keyOf("k1", 1))
    const { messages } = yield* Effect.provide(after.store.load(of), after.encryption)
    assert.deepStrictEqual(messages.map(textOf), ["my secret"])
    const without = yield* withKeys(path, keyOf("k2", 2))
    const error = yield* Effect.flip(Effect.provide(without.store.load(of), without.encryption))
    assert.deepInclude(error, { _tag: "ConversationStoreError", conversation: "c", operation: "load" })
  })
)

it.effect("a row that is not encrypted cannot be read, and the error does not quote it [P1399]", () =>
  Effect.gen(function* () {
    const path = yield* file
    const { encryption, sql, store } = yield* withKeys(path, keyOf("k1", 1))
    const texts = ["my plain text", "my plain. text", "my.plain.text", "my plain.aaaa.aaaa", "my.plain.aaaa.text"]
    for (const text of texts) {
      yield* sql`DELETE FROM kintsugi_messages`
      yield* sql`DELETE FROM kintsugi_conversations`
      yield* store.append({ ...of, expected: 0, messages: [Message.user(text)] })
      const error = yield* Effect.flip(Effect.provide(store.load(of), encryption))
      assert.deepInclude(error, { _tag: "ConversationStoreError", operation: "load" })
      assert.strictEqual(String(error.cause), "Error: the row is not encrypted")
    }
  })
)

it.effect("a row that was moved to another place cannot be read [P1399]", () =>
  Effect.gen(function* () {
    const { encryption, sql, store } = yield* withKeys(yield* file, keyOf("k1", 1))
    const load = Effect.provide(store.load(of), encryption)
    yield* store
      .append({ ...of, expected: 0, messages: [Message.user("yes"), Message.user("no")] })
      .pipe(Effect.provide(encryption))
    assert.strictEqual((yield* load).version, 2)
    const [row] = yield* sql<{ readonly message: string }>`SELECT message FROM kintsugi_messages WHERE nth = 0`
    yield* sql`UPDATE kintsugi_messages SET message = ${row?.message ?? ""} WHERE nth = 1`
    assert.strictEqual((yield* Effect.flip(load))._tag, "ConversationStoreError")
    const note = { owner: "c", kind: "note", name: "a" }
    const { documents } = store
    yield* Effect.provide(documents.put({ ...note, value: "mine" }), encryption)
    assert.strictEqual(yield* Effect.provide(documents.get(note), encryption), "mine")
    for (const moved of [
      { ...note, name: "b" },
      { ...note, kind: "result" },
      { ...note, owner: "d" }
    ]) {
      yield* sql`UPDATE kintsugi_documents SET owner = ${moved.owner}, kind = ${moved.kind}, name = ${moved.name}`
      const error = yield* Effect.flip(Effect.provide(documents.get(moved), encryption))
      assert.deepInclude(error, { _tag: "ConversationStoreError", operation: "documents.get" })
    }
  })
)

it.effect("a conversation or a message that was moved to another subject or id cannot be read [P1399]", () =>
  Effect.gen(function* () {
    const { encryption, sql, store } = yield* withKeys(yield* file, keyOf("k1", 1))
    const said = (conversation: string, subject: string) =>
      store
        .append({ conversation, subject, expected: 0, messages: [Message.user(`of ${subject}`)] })
        .pipe(Effect.provide(encryption))
    yield* said("c", "ann")
    yield* said("d", "bob")
    const refused = { _tag: "ConversationStoreError", conversation: "c", operation: "load" } as const
    yield* sql`UPDATE kintsugi_conversations SET subject = 'bob' WHERE id = 'c'`
    const ofBob = { conversation: "c", subject: "bob" }
    assert.deepInclude(yield* Effect.flip(Effect.provide(store.load(ofBob), encryption)), refused)
    const forking = Effect.provide(store.fork({ ...ofBob, as: "e" }), encryption)
    assert.deepInclude(yield* Effect.flip(forking), { ...refused, operation: "fork" })
    const exporting = Stream.runCollect(store.exportSubject("bob")).pipe(Effect.provide(encryption))
    assert.deepInclude(yield* Effect.flip(exporting), { ...refused, operation: "exportSubject" })
    yield* sql`UPDATE kintsugi_conversations SET subject = 'ann' WHERE id = 'c'`
    assert.deepStrictEqual((yield* Effect.provide(store.load(of), encryption)).messages.map(textOf), ["of ann"])
    yield* sql`DELETE FROM kintsugi_messages WHERE conversation = 'd'`
    yield* sql`UPDATE kintsugi_messages SET conversation = 'd' WHERE conversation = 'c'`
    const loading = Effect.provide(store.load({ conversation: "d", subject: "bob" }), encryption)
    assert.deepInclude(yield* Effect.flip(loading), { ...refused, conversation: "d" })
  })
)

it("keys that are too short, or have one id, are refused", () => {
  const short = { id: "k", secret: Redacted.make(new Uint8Array(16)) }
  assert.throws(() => Conversations.layerEncryption([short]), /key 'k' needs 32 bytes/)
  assert.throws(() => Conversations.layerEncryption([keyOf("k", 1), keyOf("k", 2)]), /an id of its own/)
  assert.throws(() => Conversations.layerEncryption([keyOf("k.1", 1)]), /has a dot/)
})

it.effect("results and grants are documents of their conversation, and go with it", () =>
  Effect.gen(function* () {
    const store = yield* Conversations.Conversations
    const results = yield* Tool.ResultStore
    const approvals = yield* Approval.Approvals
    yield* store.append({ ...of, expected: 0, messages: [Message.user("x")] })
    yield* results?.put({ owner: "c", handle: "h", text: "long" }) ?? Effect.void
    assert.strictEqual(yield* results?.get({ owner: "c", handle: "h" }) ?? Effect.void, "long")
    const grant: Approval.Grant = {
      id: "g1",
      agent: "clerk",
      tool: "pay",
      definition: "d",
      admits: { arguments: "{}" },
      at: 1
    }
    yield* approvals.add("c", grant)
    yield* approvals.add("c", { ...grant, id: "g2" })
    assert.deepStrictEqual(yield* approvals.grantsOf("c"), [grant, { ...grant, id: "g2" }])
    yield* approvals.revoke("g2")
    assert.deepStrictEqual(yield* approvals.grantsOf("c"), [grant])
    assert.isTrue(yield* approvals.isRevoked({ ...grant, id: "g2" }))
    assert.isFalse(yield* approvals.isRevoked(grant))
    yield* store.remove(of)
    assert.isUndefined(yield* results?.get({ owner: "c", handle: "h" }) ?? Effect.void)
    assert.deepStrictEqual(yield* approvals.grantsOf("c"), [])
    // what was revoked stays so, however old it is
    yield* store.removeOlder(Number.MAX_SAFE_INTEGER)
    assert.isTrue(yield* approvals.isRevoked({ ...grant, id: "g2" }))
  }).pipe(
    Effect.provide(
      Layer.provideMerge(
        Layer.mergeAll(Conversations.layerResults, Conversations.layerApprovals),
        Conversations.layerMemory()
      )
    )
  )
)
