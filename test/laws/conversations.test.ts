/** The store of conversations agrees with a map of lists, in each storage and after any sequence of writes. */
import { assert } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import type { Conversations } from "@kintsugi/durable"
import { Effect, Exit, Stream } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { connectionTo, stores as onDisk, textOf } from "../durable/conversations/_support/stores.ts"
import { law } from "../_support/laws.ts"

const ids = ["a", "b", "c"] as const
const subjects = ["ann", "bob"] as const
type Id = (typeof ids)[number]
type Subject = (typeof subjects)[number]

/** One write. A stale writer appends with the version that it has read, which is off by some. */
type Write = { readonly id: Id; readonly by: Subject } & (
  | { readonly does: "append"; readonly texts: ReadonlyArray<string>; readonly stale: number }
  | { readonly does: "fork"; readonly as: Id; readonly at: number | undefined }
  | { readonly does: "remove" | "removeSubject" | "removeOlder" }
  | { readonly does: "put"; readonly name: string; readonly value: number }
)

const of = { id: fc.constantFrom(...ids), by: fc.constantFrom(...subjects) }
const does = <const D extends string>(does: D) => ({ ...of, does: fc.constant(does) })

const write: fc.Arbitrary<Write> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      ...does("append"),
      texts: fc.array(fc.string({ unit: "grapheme", maxLength: 4 }), { maxLength: 3 }),
      stale: fc.constantFrom(0, 0, 0, -1, 1)
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...does("fork"),
      as: fc.constantFrom(...ids),
      at: fc.option(fc.nat(4), { nil: undefined })
    })
  },
  { weight: 2, arbitrary: fc.record({ ...does("put"), name: fc.constantFrom("x", "y"), value: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ ...of, does: fc.constantFrom("remove", "removeSubject", "removeOlder") }) }
)

interface Row {
  readonly subject: Subject
  readonly texts: ReadonlyArray<string>
  readonly createdAt: number
  readonly updatedAt: number
}

/** What the store has to have, without the library. */
class Reference {
  readonly rows = new Map<Id, Row>()
  /** By owner and name; the instant is that of its last write. */
  readonly documents = new Map<string, { readonly value: number; readonly at: number }>()

  /** The version of a conversation of this subject; a failure is a tag. */
  #append(id: Id, subject: Subject, expected: number, texts: ReadonlyArray<string>, at: number): number | string {
    const found = this.rows.get(id)
    if (found !== undefined && (found.texts.length !== expected || found.subject !== subject)) {
      return found.subject === subject ? "ConflictError" : "UnknownConversationError"
    }
    if (found === undefined && expected !== 0) return "ConflictError"
    const all = [...(found?.texts ?? []), ...texts]
    this.rows.set(id, { subject, texts: all, createdAt: found?.createdAt ?? at, updatedAt: at })
    return all.length
  }

  #drop(id: Id): void {
    this.rows.delete(id)
    for (const name of ["x", "y"]) this.documents.delete(`${id} ${name}`)
  }

  expectedOf({ id, stale }: { readonly id: Id; readonly stale: number }): number {
    return Math.max(0, (this.rows.get(id)?.texts.length ?? 0) + stale)
  }

  apply(write: Write, at: number): number | string | undefined {
    const { by, id } = write
    const mine = this.rows.get(id)?.subject === by ? this.rows.get(id) : undefined
    switch (write.does) {
      case "append":
        return this.#append(id, by, this.expectedOf({ id, stale: write.stale }), write.texts, at)
      case "fork":
        if (mine === undefined) return "UnknownConversationError"
        return this.#append(write.as, by, 0, mine.texts.slice(0, write.at ?? mine.texts.length), at)
      case "remove":
        if (mine === undefined) return "UnknownConversationError"
        return void this.#drop(id)
      case "removeSubject":
      case "removeOlder": {
        const isOut = ({ subject, updatedAt }: Row) =>
          write.does === "removeSubject" ? subject === by : updatedAt < at - 2
        const gone = ids.filter((one) => {
          const found = this.rows.get(one)
          return found !== undefined && isOut(found)
        })
        for (const one of gone) this.#drop(one)
        if (write.does === "removeOlder") {
          for (const [key, { at: put }] of this.documents) {
            if (put < at - 2 && !ids.some((one) => key.startsWith(`${one} `) && this.rows.has(one)))
              this.documents.delete(key)
          }
        }
        return gone.length
      }
      case "put":
        this.documents.set(`${id} ${write.name}`, { value: write.value, at })
        return undefined
    }
  }
}

/** A file would be synchronised after each write. */
const stores = { ...onDisk, SQLite: () => connectionTo(":memory:") }

type Store = Effect.Success<ReturnType<(typeof stores)["memory"]>>

const applied = (store: Store, write: Write, reference: Reference, at: number): Effect.Effect<unknown, unknown> => {
  const of = { conversation: write.id, subject: write.by }
  switch (write.does) {
    case "append": {
      const messages = write.texts.map((text) => Message.user(text))
      return store.append({ ...of, expected: reference.expectedOf(write), messages })
    }
    case "fork":
      return store.fork({ ...of, as: write.as, ...(write.at === undefined ? {} : { at: write.at }) })
    case "remove":
      return store.remove(of)
    case "removeSubject":
      return store.removeSubject(write.by)
    case "removeOlder":
      return store.removeOlder(at - 2)
    case "put":
      return store.documents.put({ owner: write.id, kind: "k", name: write.name, value: write.value })
  }
}

const tagOf = (error: unknown): unknown => (error as { readonly _tag: unknown })._tag

/** All that readers of the store see, and what the reference says that they see. */
const seenIn = (store: Store) =>
  Effect.gen(function* () {
    const of = ids.flatMap((conversation) => subjects.map((subject) => ({ conversation, subject })))
    const loaded = yield* Effect.forEach(of, (one) =>
      Effect.match(store.load(one), {
        onFailure: tagOf,
        onSuccess: ({ createdAt, messages, updatedAt, version }) => ({
          createdAt,
          updatedAt,
          version,
          texts: messages.map(textOf)
        })
      })
    )
    const pages = yield* Effect.forEach(of, ({ conversation, subject }) =>
      Effect.map(Effect.option(store.load({ conversation, subject, from: 1, limit: 2 })), (page) =>
        page._tag === "Some" ? [page.value.messages.map(textOf), page.value.next] : undefined
      )
    )
    const lists = yield* Effect.forEach(subjects, (subject) => store.list({ subject }))
    const documents = yield* Effect.forEach(ids, (owner) => store.documents.all({ owner, kind: "k" }))
    const exported = yield* Effect.forEach(subjects, (subject) => Stream.runCollect(store.exportSubject(subject)))
    return {
      loaded,
      pages,
      lists: lists.map((heads) => heads.map(({ id }) => id).toSorted()),
      newest: lists.map((heads) => heads[0]?.updatedAt),
      documents,
      exported: exported.map((lines) => lines.filter((line) => line.includes('"message"')).length)
    }
  })

const seenOf = ({ documents, rows }: Reference) => {
  const of = ids.flatMap((id) => subjects.map((subject) => ({ id, subject })))
  const mine = ({ id, subject }: { readonly id: Id; readonly subject: Subject }) => {
    const found = rows.get(id)
    return found?.subject === subject ? found : undefined
  }
  const listed = subjects.map((subject) => ids.filter((id) => mine({ id, subject }) !== undefined))
  return {
    loaded: of.map((one) => {
      const found = mine(one)
      if (found === undefined) return "UnknownConversationError"
      const { createdAt, texts, updatedAt } = found
      return { createdAt, updatedAt, version: texts.length, texts }
    }),
    pages: of.map((one) => {
      const texts = mine(one)?.texts
      return texts && [texts.slice(1, 3), texts.length > 3 ? 3 : undefined]
    }),
    lists: listed,
    newest: listed.map((all) => all.map((id) => rows.get(id)?.updatedAt ?? 0).toSorted((a, b) => b - a)[0]),
    documents: ids.map((id) =>
      ["x", "y"].flatMap((name) => {
        const found = documents.get(`${id} ${name}`)
        return found === undefined ? [] : [{ name, value: found.value }]
      })
    ),
    exported: listed.map((all) => all.reduce((sum, id) => sum + (rows.get(id)?.texts.length ?? 0), 0))
  }
}

for (const [name, make] of Object.entries(stores)) {
  law(
    `a store of conversations in ${name} is a map of lists: a write counts whole, or fails and changes nothing [L1014 P1383]`,
    fc.array(write, { maxLength: 12 }),
    (writes) =>
      Effect.gen(function* () {
        const store: Conversations.Store = yield* make()
        const reference = new Reference()
        for (const [at, write] of writes.entries()) {
          yield* TestClock.setTime(at)
          const exit = yield* Effect.exit(applied(store, write, reference, at))
          const expected = reference.apply(write, at)
          const came: unknown = Exit.isSuccess(exit) ? exit.value : tagOf(yield* Effect.flip(exit))
          assert.deepStrictEqual(came, expected)
        }
        assert.deepStrictEqual<unknown>(yield* seenIn(store), seenOf(reference))
      }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
  )
}
