/** The export of one person's data, on each storage. */
import { assert, describe, it } from "@effect/vitest"
import { Approval, Message, Tool } from "@kintsugi/core"
import { Conversations } from "@kintsugi/durable"
import { Context, Effect, Layer, Redacted, Schema, Stream } from "effect"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import { stores, textOf } from "./_support/stores.ts"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Conversations.ExportLine))

/** The lines of an export, each read by its schema. */
const exported = ({ exportSubject }: Conversations.Store, subject: string) =>
  Effect.map(Stream.runCollect(exportSubject(subject)), (lines) =>
    lines.map((line) => {
      assert.strictEqual(line.indexOf("\n"), line.length - 1)
      return decode(line)
    })
  )

const texts = (count: number) => Array.from({ length: count }, (_, nth) => Message.user(`words ${nth} \uD800`))

const beside = ({ documents }: Conversations.Store, owner: string) =>
  Effect.forEach(
    Array.from({ length: 105 }, (_, nth) => nth),
    (nth) => documents.put({ owner, kind: nth < 50 ? "result" : "snapshot/1", name: `n ${nth}`, value: { nth } }),
    { discard: true }
  )

for (const [name, make] of Object.entries(stores)) {
  describe(`an export from ${name}`, () => {
    it.effect("has all conversations, messages and documents of one person, and nothing of another [P1854]", () =>
      Effect.gen(function* () {
        const store = yield* make()
        for (let nth = 0; nth < 103; nth++) {
          const messages = nth === 7 ? texts(9) : []
          yield* store.append({ conversation: `ann/${nth}`, subject: "ann", expected: 0, messages })
        }
        yield* beside(store, "ann/7")
        const other = { conversation: "bob/7", subject: "bob" }
        yield* store.append({ ...other, expected: 0, messages: texts(2) })
        yield* store.documents.put({ owner: "bob/7", kind: "result", name: "bob", value: "bob" })
        const lines = yield* exported(store, "ann")
        assert.deepStrictEqual(lines[0], { type: "begin", format: 1, subject: "ann", at: 0 })
        const counts = { conversations: 103, messages: 9, documents: 105 }
        assert.deepStrictEqual(lines.at(-1), { type: "end", ...counts })
        const ids = lines.flatMap((line) => (line.type === "conversation" ? [line.id] : []))
        assert.deepStrictEqual(ids.toSorted(), Array.from({ length: 103 }, (_, nth) => `ann/${nth}`).toSorted())
        const at = lines.findIndex((line) => line.type === "conversation" && line.id === "ann/7")
        assert.deepStrictEqual(lines[at], {
          type: "conversation",
          id: "ann/7",
          version: 9,
          createdAt: 0,
          updatedAt: 0
        })
        const messages = lines.slice(at + 1, at + 10)
        assert.deepStrictEqual(
          messages.map((line) =>
            line.type === "message" ? [line.conversation, line.nth, textOf(line.message)] : line
          ),
          texts(9).map((message, nth) => ["ann/7", nth, textOf(message)])
        )
        const documents = lines.slice(at + 10, at + 115)
        const values = documents.map((line) => (line.type === "document" ? [line.owner, line.kind, line.value] : line))
        const expected = Array.from({ length: 105 }, (_, nth) => ["ann/7", nth < 50 ? "result" : "snapshot/1", { nth }])
        assert.sameDeepMembers(values, expected)
        assert.notInclude(JSON.stringify(lines), "bob")
        assert.strictEqual(yield* store.removeSubject("ann"), 103)
        assert.deepStrictEqual((yield* exported(store, "ann")).at(-1), {
          type: "end",
          conversations: 0,
          messages: 0,
          documents: 0
        })
        assert.deepStrictEqual((yield* exported(store, "bob")).at(-1), {
          type: "end",
          conversations: 1,
          messages: 2,
          documents: 1
        })
      })
    )
  })
}

it.effect("has the results and grants that runs keep beside their conversation [P1854]", () =>
  Effect.gen(function* () {
    const layers = Layer.provideMerge(
      Layer.merge(Conversations.layerResults, Conversations.layerApprovals),
      Conversations.layerMemory()
    )
    const context = yield* Layer.build(layers)
    const store = Context.get(context, Conversations.Conversations)
    yield* store.append({ conversation: "c", subject: "ann", expected: 0, messages: [] })
    yield* Context.get(context, Tool.ResultStore)!.put({ owner: "c", handle: "h", text: "long" })
    const grant: Approval.Grant = {
      id: "g",
      agent: "clerk",
      tool: "pay",
      definition: "d",
      admits: { rule: "small" },
      at: 0
    }
    yield* Context.get(context, Approval.Approvals).add("c", grant)
    const lines = yield* exported(store, "ann")
    assert.deepStrictEqual(
      lines.flatMap((line) => (line.type === "document" ? [[line.kind, line.name, line.value]] : [])),
      [
        ["grant", "g", Schema.encodeSync(Approval.Grant)(grant)],
        ["result", "h", "long"]
      ]
    )
  })
)

it.effect("is read as far as its reader reads [P1854]", () =>
  Effect.gen(function* () {
    let reads = 0
    const counting = Layer.effect(
      KeyValueStore.KeyValueStore,
      Effect.map(KeyValueStore.KeyValueStore, (store) => ({
        ...store,
        get: (key: string) => Effect.suspend(() => (reads++, store.get(key)))
      }))
    ).pipe(Layer.provide(KeyValueStore.layerMemory))
    const context = yield* Layer.build(Layer.provide(Conversations.layerKeyValueStoreOfProcess(), counting))
    const store = Context.get(context, Conversations.Conversations)
    yield* store.append({ conversation: "c", subject: "ann", expected: 0, messages: texts(1000) })
    reads = 0
    const some = yield* Stream.runCollect(Stream.take(store.exportSubject("ann"), 5))
    assert.strictEqual(some.length, 5)
    assert.isBelow(reads, 20)
  })
)

it.effect("of an encrypted store is plain, and fails where no key fits [P1854 P1399]", () =>
  Effect.gen(function* () {
    const store = yield* stores.memory()
    const keyed = (id: string, byte: number) =>
      Conversations.layerEncryption([{ id, secret: Redacted.make(new Uint8Array(32).fill(byte)) }])
    yield* store
      .append({ conversation: "c", subject: "ann", expected: 0, messages: [Message.user("hello")] })
      .pipe(Effect.provide(keyed("k1", 1)))
    const lines = yield* Effect.provide(exported(store, "ann"), keyed("k1", 1))
    assert.deepStrictEqual(
      lines.flatMap((line) => (line.type === "message" ? [textOf(line.message)] : [])),
      ["hello"]
    )
    const error = yield* Effect.flip(Effect.provide(exported(store, "ann"), keyed("k2", 2)))
    assert.deepInclude(error, { _tag: "ConversationStoreError", conversation: "c", operation: "exportSubject" })
  })
)

for (const [name, make] of Object.entries(stores)) {
  it.effect(`from ${name} has nothing of another person who takes a removed id meanwhile [P1854]`, () =>
    Effect.gen(function* () {
      const store = yield* make()
      const of = { conversation: "c", subject: "ann" }
      yield* store.append({ ...of, expected: 0, messages: texts(9) })
      const taken = Effect.gen(function* () {
        yield* store.remove(of)
        const bobs = Array.from({ length: 9 }, () => Message.user("of bob"))
        yield* store.append({ conversation: "c", subject: "bob", expected: 0, messages: bobs })
        yield* store.documents.put({ owner: "c", kind: "result", name: "r", value: "of bob" })
      })
      // the id is taken once the first page of messages was read
      const reading = store
        .exportSubject("ann")
        .pipe(Stream.tap((line) => (line.includes("words 0 ") ? taken : Effect.void)))
      const lines = [...(yield* Stream.runCollect(reading))].join("")
      assert.notInclude(lines, "of bob")
      assert.deepInclude(
        lines
          .trimEnd()
          .split("\n")
          .map((line) => decode(line))
          .at(-1),
        { type: "end", documents: 0 }
      )
    })
  )
}

for (const [name, make] of Object.entries(stores)) {
  it.effect(
    `from ${name} has what there was at its beginning, and no conversation that is gone meanwhile [P1854]`,
    () =>
      Effect.gen(function* () {
        const store = yield* make()
        const [first, second] = ["c/1", "c/2"].map((conversation) => ({ conversation, subject: "ann" }))
        assert(first !== undefined && second !== undefined)
        yield* store.append({ ...first, expected: 0, messages: texts(5) })
        yield* store.append({ ...second, expected: 0, messages: texts(1) })
        const changed = Effect.gen(function* () {
          yield* store.append({ ...first, expected: 5, messages: texts(2) })
          yield* store.remove(second)
          yield* store.append({ ...second, subject: "bob", expected: 0, messages: [] })
        })
        const lines = yield* Stream.runCollect(
          Stream.tap(store.exportSubject("ann"), (line) => (line.includes("words 0 ") ? changed : Effect.void))
        )
        const found = lines.map((line) => decode(line))
        assert.deepStrictEqual(
          found.flatMap((line) => (line.type === "conversation" ? [[line.id, line.version]] : [])),
          [["c/1", 5]]
        )
        assert.deepStrictEqual(found.at(-1), { type: "end", conversations: 1, messages: 5, documents: 0 })
      })
  )
}
