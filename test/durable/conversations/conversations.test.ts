/** The store of conversations, on each storage. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { Conversations } from "@kintsugi/durable"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { stores, textOf } from "./_support/stores.ts"

const of = { conversation: "c/1 ü", subject: "ann" }
const user = (...texts: ReadonlyArray<string>) => texts.map((text) => Message.user(text))
const textsOf = ({ messages }: Conversations.Conversation) => messages.map(textOf)

for (const [name, make] of Object.entries(stores)) {
  describe(`conversations in ${name}`, () => {
    it.effect("keep messages in the order of their versions, whole and by pages", () =>
      Effect.gen(function* () {
        const store = yield* make()
        assert.strictEqual(yield* store.append({ ...of, expected: 0, messages: user("a", "b") }), 2)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* store.append({ ...of, expected: 2, messages: user("c \u0000 😀 \uD800") }), 3)
        const whole = yield* store.load(of)
        assert.deepStrictEqual(textsOf(whole), ["a", "b", "c \u0000 😀 \uD800"])
        const head = { id: of.conversation, subject: "ann", version: 3, createdAt: 0, updatedAt: 1000 }
        assert.deepStrictEqual({ ...whole, messages: [] }, { ...head, messages: [] })
        const page = yield* store.load({ ...of, from: 1, limit: 1 })
        assert.deepStrictEqual([textsOf(page), page.next], [["b"], 2])
        const last = yield* store.load({ ...of, from: 2, limit: 1 })
        assert.deepStrictEqual([textsOf(last).length, last.next], [1, undefined])
        assert.deepStrictEqual(textsOf(yield* store.load({ ...of, from: 9 })), [])
        assert.deepStrictEqual(yield* store.list({ subject: "ann" }), [head])
      })
    )

    it.effect("lose no message under two writers, who learn the actual version [P1383]", () =>
      Effect.gen(function* () {
        const store = yield* make()
        const written: Array<string> = []
        const write = (writer: number) =>
          Effect.gen(function* () {
            let expected = 0
            for (let nth = 0; nth < 20; nth++) {
              const text = `${writer}:${nth}`
              const adding = Effect.suspend(() => store.append({ ...of, expected, messages: user(text, `${text}b`) }))
              expected = yield* adding.pipe(
                Effect.tapError((error) =>
                  Effect.sync(() => {
                    assert.instanceOf(error, Conversations.ConflictError)
                    assert.strictEqual(error.expected, expected)
                    assert.isAbove(error.actual, expected)
                    expected = error.actual
                  })
                ),
                Effect.retry({ times: 200 })
              )
              written.push(text, `${text}b`)
            }
          })
        yield* Effect.all([write(0), write(1)], { concurrency: 2 })
        const { version, ...found } = yield* store.load(of)
        assert.strictEqual(version, 80)
        const texts = textsOf({ version, ...found })
        assert.deepStrictEqual(texts.toSorted(), written.toSorted())
        // the messages of one append stay together
        for (let at = 0; at < texts.length; at += 2) assert.strictEqual(texts[at + 1], `${texts[at]}b`)
      })
    )

    it.effect("tell a late writer the version, and have nothing of what was refused [P1383]", () =>
      Effect.gen(function* () {
        const store = yield* make()
        yield* store.append({ ...of, expected: 0, messages: user("a", "b") })
        for (const expected of [0, 1, 3]) {
          const error = yield* Effect.flip(store.append({ ...of, expected, messages: user("late") }))
          assert.instanceOf(error, Conversations.ConflictError)
          assert.deepInclude(error, { conversation: of.conversation, expected, actual: 2 })
        }
        const unknown = yield* Effect.flip(
          store.append({ conversation: "new", subject: "ann", expected: 4, messages: user("a") })
        )
        assert.deepInclude(unknown, { _tag: "ConflictError", expected: 4, actual: 0 })
        assert.deepStrictEqual(textsOf(yield* store.load(of)), ["a", "b"])
      })
    )

    it.effect("are unknown to another subject, in each function", () =>
      Effect.gen(function* () {
        const store = yield* make()
        yield* store.append({ ...of, expected: 0, messages: user("secret") })
        const other = { ...of, subject: "bob" }
        const asked: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
          store.load(other),
          store.append({ ...other, expected: 0, messages: user("x") }),
          store.append({ ...other, expected: 1, messages: user("x") }),
          store.fork({ ...other, as: "mine" }),
          store.remove(other)
        ]
        for (const one of asked) assert.strictEqual((yield* Effect.flip(one))._tag, "UnknownConversationError")
        assert.deepStrictEqual(yield* store.list({ subject: "bob" }), [])
        assert.deepStrictEqual(textsOf(yield* store.load(of)), ["secret"])
      })
    )

    it.effect("are listed by pages, the one changed last first, also those of one moment", () =>
      Effect.gen(function* () {
        const store = yield* make()
        for (const id of ["a", "b", "c", "d"]) {
          yield* store.append({ conversation: id, subject: "ann", expected: 0, messages: user("x") })
          if (id === "b") yield* TestClock.adjust("1 second")
        }
        yield* TestClock.adjust("1 second")
        yield* store.append({ conversation: "a", subject: "ann", expected: 1, messages: user("y") })
        const pages: Array<string> = []
        let after: Conversations.ListPosition | undefined
        for (;;) {
          const page = yield* store.list({ subject: "ann", limit: 1, ...(after === undefined ? {} : { after }) })
          after = page.at(-1)
          if (after === undefined) break
          pages.push(after.id)
        }
        assert.deepStrictEqual(pages, ["a", "d", "c", "b"])
      })
    )

    it.effect("fork at a message, and the fork lives on by itself", () =>
      Effect.gen(function* () {
        const store = yield* make()
        yield* store.append({ ...of, expected: 0, messages: user("a", "b", "c") })
        assert.strictEqual(yield* store.fork({ ...of, as: "f", at: 2 }), 2)
        assert.strictEqual(yield* store.fork({ ...of, as: "g" }), 3)
        const taken = yield* Effect.flip(store.fork({ ...of, as: "f" }))
        assert.deepInclude(taken, { _tag: "ConflictError", conversation: "f", actual: 2 })
        yield* store.append({ conversation: "f", subject: "ann", expected: 2, messages: user("d") })
        yield* store.remove(of)
        assert.deepStrictEqual(textsOf(yield* store.load({ conversation: "f", subject: "ann" })), ["a", "b", "d"])
      })
    )

    it.effect("are deleted with their documents: one, all of a person, and the old ones", () =>
      Effect.gen(function* () {
        const store = yield* make()
        const document = { kind: "snapshot", name: "s", value: { x: 1 } }
        const write = (conversation: string, subject: string) =>
          Effect.andThen(
            store.append({ conversation, subject, expected: 0, messages: user(conversation) }),
            store.documents.put({ owner: conversation, ...document })
          )
        const documentOf = (owner: string) => store.documents.get({ owner, kind: "snapshot", name: "s" })
        for (const id of ["a1", "a2", "a3"]) yield* write(id, "ann")
        yield* write("b1", "bob")
        yield* store.documents.put({ owner: "run-1", ...document })
        yield* store.remove({ conversation: "a1", subject: "ann" })
        assert.isUndefined(yield* documentOf("a1"))
        assert.strictEqual(yield* store.removeSubject("ann"), 2)
        assert.strictEqual(yield* store.removeSubject("ann"), 0)
        assert.isUndefined(yield* documentOf("a2"))
        assert.deepStrictEqual(yield* documentOf("b1"), { x: 1 })
        // a new conversation has nothing of the one before
        yield* store.append({ conversation: "a2", subject: "ann", expected: 0, messages: user("new") })
        assert.deepStrictEqual(textsOf(yield* store.load({ conversation: "a2", subject: "ann" })), ["new"])
        yield* TestClock.adjust("1 hour")
        yield* write("b2", "bob")
        assert.strictEqual(yield* store.removeOlder(1), 2)
        assert.isUndefined(yield* documentOf("run-1"))
        assert.deepStrictEqual(
          (yield* store.list({ subject: "bob" })).map(({ id }) => id),
          ["b2"]
        )
        assert.deepStrictEqual(yield* documentOf("b2"), { x: 1 })
      })
    )

    it.effect("have documents by kind and name, and the last one put under a key counts", () =>
      Effect.gen(function* () {
        const store = yield* make()
        const key = { owner: "run/1", kind: "events", name: "n/2" }
        yield* store.documents.put({ ...key, value: [1] })
        yield* store.documents.put({ ...key, value: [2] })
        yield* store.documents.put({ ...key, name: "n/1", value: null })
        yield* store.documents.put({ ...key, kind: "other", value: "x" })
        assert.deepStrictEqual(yield* store.documents.all({ owner: "run/1", kind: "events" }), [
          { name: "n/1", value: null },
          { name: "n/2", value: [2] }
        ])
        yield* store.documents.remove(key)
        yield* store.documents.remove(key)
        assert.isUndefined(yield* store.documents.get(key))
        assert.strictEqual((yield* store.documents.all({ owner: "run/1", kind: "events" })).length, 1)
      })
    )

    it.effect("give no client the documents of waiting runs and of revocations, by an id of their owner [P1854]", () =>
      Effect.gen(function* () {
        const store = yield* make()
        const document = { owner: 'runs/["desk","bob"]', kind: "suspended", name: "r", value: "bob's" }
        const revocation = { owner: "kintsugi/revocations", kind: "revocation", name: "g", value: true }
        yield* store.append({ ...of, expected: 0, messages: user("a") })
        for (const { value, ...key } of [document, revocation]) {
          yield* store.documents.put({ ...key, value })
          const taken = { conversation: key.owner, subject: "mallory" }
          const made = yield* Effect.flip(store.append({ ...taken, expected: 0, messages: [] }))
          assert.strictEqual(made._tag, "UnknownConversationError")
          const forked = yield* Effect.flip(store.fork({ ...of, as: key.owner }))
          assert.strictEqual(forked._tag, "UnknownConversationError")
          assert.strictEqual(yield* store.removeSubject(taken.subject), 0)
          assert.strictEqual(yield* store.documents.get(key), value)
        }
      })
    )

    it.effect("hold to their limits, and name the one that is exceeded", () =>
      Effect.gen(function* () {
        const store = yield* make({ maxMessages: 3, maxBytes: 200 })
        yield* store.append({ ...of, expected: 0, messages: user("a", "b") })
        const deep = JSON.parse(`${"[".repeat(1200)}${"]".repeat(1200)}`)
        const many = store.append({ ...of, expected: 2, messages: user("c", "d") })
        const long = store.append({ ...of, expected: 2, messages: user("😀".repeat(60)) })
        const cases = [
          [many, "maxMessages", 3],
          [long, "maxBytes", 200],
          [store.documents.put({ owner: "c", kind: "k", name: "n", value: deep }), "depth", 1100],
          [store.append({ conversation: "x".repeat(251), subject: "ann", expected: 0, messages: [] }), "id", 250],
          [store.append({ conversation: "a\u0000", subject: "ann", expected: 0, messages: [] }), "id", 250],
          [store.append({ conversation: "a", subject: "", expected: 0, messages: [] }), "id", 250],
          [store.documents.put({ owner: "c", kind: "", name: "n", value: 1 }), "id", 250],
          [store.documents.check({ owner: "c", kind: "k", name: "n", value: deep }), "depth", 1100],
          [store.documents.check({ owner: "c", kind: "k", name: "n", value: "x".repeat(200) }), "maxBytes", 200],
          [store.documents.check({ owner: "c", kind: "k", name: "x".repeat(251), value: 1 }), "id", 250]
        ] as const
        for (const [writing, option, limit] of cases) {
          const error = yield* Effect.flip(Effect.asVoid(writing))
          assert.deepInclude(error, { _tag: "ConversationLimitError", option, limit })
        }
        assert.strictEqual((yield* store.load(of)).version, 2)
        yield* store.documents.check({ owner: "c", kind: "k", name: "n", value: 1 })
        assert.deepStrictEqual(yield* store.documents.all({ owner: "c", kind: "k" }), [])
        assert.strictEqual(
          (yield* Effect.flip(store.load({ ...of, conversation: "\u0000" })))._tag,
          "UnknownConversationError"
        )
      })
    )

    it.effect("die of numbers that are none", () =>
      Effect.gen(function* () {
        const store = yield* make()
        yield* store.append({ ...of, expected: 0, messages: user("a") })
        for (const wrong of [-1, 0.5, Number.NaN]) {
          const asked: ReadonlyArray<readonly [string, Effect.Effect<unknown, { readonly _tag: string }>]> = [
            ["from", store.load({ ...of, from: wrong })],
            ["limit", store.load({ ...of, limit: wrong })],
            ["limit", store.list({ subject: "ann", limit: wrong })],
            ["at", store.fork({ ...of, as: "f", at: wrong })],
            ["expected", store.append({ ...of, expected: wrong, messages: [] })]
          ]
          for (const [name, one] of asked) {
            const defect = yield* Effect.catchDefect(Effect.asVoid(one), Effect.succeed)
            assert.strictEqual(
              String(defect),
              `RangeError: Conversations: ${name} must be a whole number of at least 0, got ${wrong}`
            )
          }
        }
      })
    )
  })
}
