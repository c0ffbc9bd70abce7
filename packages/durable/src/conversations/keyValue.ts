/**
 * Conversations in a `KeyValueStore`, for one process: such a store can only read and write, so all steps take turns here. The head of a
 * conversation is written last, so a process that dies between the writes has added nothing.
 */
import * as Effect from "effect/Effect"
import { KeyValueStore } from "effect/persistence/KeyValueStore"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { lasting, type Rows } from "./rows.ts"
import type { Head, Key, ListPosition } from "./Store.ts"

const Stored = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.String,
    subject: Schema.String,
    version: Schema.Finite,
    createdAt: Schema.Finite,
    updatedAt: Schema.Finite
  })
)
const Names = Schema.fromJsonString(Schema.Array(Schema.String))
const Document = Schema.fromJsonString(Schema.Struct({ at: Schema.Finite, text: Schema.String }))

/** A part of a key. Ids come from outside, and may have a slash. */
const part = (text: string): string => encodeURIComponent(text.toWellFormed())

const root = "kintsugi/conversations"
const headKey = (id: string) => `${root}/head/${part(id)}`
const messageKey = (id: string, nth: number) => `${root}/message/${part(id)}/${nth}`
const documentKey = ({ kind, name, owner }: Key) => `${root}/document/${part(owner)}/${part(kind)}/${part(name)}`
/** The lists of names: the conversations of a subject, the subjects, the owners of documents, and the documents of an owner. */
const ofSubject = (subject: string) => `${root}/subject/${part(subject)}`
const subjects = `${root}/subjects`
const owners = `${root}/owners`
const ofOwner = (owner: string) => `${root}/owner/${part(owner)}`

const isAfter = (after: ListPosition | undefined) => (head: Head) =>
  after === undefined || head.updatedAt < after.updatedAt || (head.updatedAt === after.updatedAt && head.id < after.id)

const newestFirst = (a: Head, b: Head) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1)

/** The storage on this store. */
export const keyValueRows: Effect.Effect<Rows, never, KeyValueStore> = Effect.gen(function* () {
  const store = yield* KeyValueStore
  const one = yield* Semaphore.make(1)

  const read = <A>(key: string, schema: Schema.Codec<A, string>) =>
    Effect.flatMap(store.get(key), (text) =>
      text === undefined ? Effect.undefined : Schema.decodeUnknownEffect(schema)(text)
    )
  const names = (key: string) => Effect.map(read(key, Names), (found) => found ?? [])
  const setNames = (key: string, all: ReadonlyArray<string>) =>
    all.length === 0 ? store.remove(key) : store.set(key, JSON.stringify(all))
  const addName = (key: string, name: string) =>
    Effect.flatMap(names(key), (all) => (all.includes(name) ? Effect.void : setNames(key, [...all, name])))
  const dropName = (key: string, name: string) =>
    Effect.flatMap(names(key), (all) =>
      setNames(
        key,
        all.filter((other) => other !== name)
      )
    )

  const head = (id: string) => read(headKey(id), Stored)

  const dropDocument = (key: Key) =>
    Effect.gen(function* () {
      yield* store.remove(documentKey(key))
      yield* dropName(ofOwner(key.owner), nameOf(key))
      if ((yield* names(ofOwner(key.owner))).length === 0) yield* dropName(owners, key.owner)
    })
  const keysOf = (owner: string) => Effect.map(names(ofOwner(owner)), (all) => all.map((name) => keyOf(owner, name)))

  const drop = (found: Head) =>
    Effect.gen(function* () {
      // the head goes first: without it the rest is not found
      yield* store.remove(headKey(found.id))
      yield* dropName(ofSubject(found.subject), found.id)
      if ((yield* names(ofSubject(found.subject))).length === 0) yield* dropName(subjects, found.subject)
      for (let nth = 0; nth < found.version; nth++) yield* store.remove(messageKey(found.id, nth))
      for (const key of yield* keysOf(found.id)) yield* dropDocument(key)
    })

  const headsOf = (subject: string) =>
    Effect.gen(function* () {
      const found = yield* Effect.forEach(yield* names(ofSubject(subject)), head)
      return found.filter((one) => one !== undefined)
    })

  const dropAll = (heads: ReadonlyArray<Head>) => Effect.map(Effect.forEach(heads, drop), ({ length }) => length)

  const inTurn = <A, E>(step: Effect.Effect<A, E>) => one.withPermit(Effect.uninterruptible(step))

  return {
    head: (id) => inTurn(head(id)),
    append: ({ at, expected, id, rows, subject }) =>
      inTurn(
        Effect.gen(function* () {
          const before = yield* head(id)
          if ((before?.version ?? 0) !== expected || (before !== undefined && before.subject !== subject)) return false
          for (const [index, row] of rows.entries()) yield* store.set(messageKey(id, expected + index), row)
          yield* addName(subjects, subject)
          yield* addName(ofSubject(subject), id)
          const createdAt = before?.createdAt ?? at
          const after: Head = { id, subject, version: expected + rows.length, createdAt, updatedAt: at }
          yield* store.set(headKey(id), JSON.stringify(after))
          return true
        })
      ),
    messages: (id, from, limit) =>
      inTurn(
        Effect.gen(function* () {
          const { version = 0 } = (yield* head(id)) ?? {}
          const found: Array<string> = []
          for (let nth = from; nth < Math.min(version, from + limit); nth++) {
            const row = yield* store.get(messageKey(id, nth))
            if (row === undefined) return yield* Effect.fail(new Error(`message ${nth} is gone`))
            found.push(row)
          }
          return found
        })
      ),
    list: (subject, after, limit) =>
      inTurn(
        Effect.map(headsOf(subject), (heads) => heads.filter(isAfter(after)).toSorted(newestFirst).slice(0, limit))
      ),
    ids: (subject, after = "", limit) =>
      inTurn(
        Effect.map(names(ofSubject(subject)), (all) =>
          all
            .filter((id) => id > after)
            .toSorted()
            .slice(0, limit)
        )
      ),
    remove: (id) =>
      inTurn(Effect.flatMap(head(id), (found) => (found === undefined ? Effect.void : Effect.asVoid(drop(found))))),
    removeSubject: (subject) => inTurn(Effect.flatMap(headsOf(subject), dropAll)),
    removeOlder: (than) =>
      inTurn(
        Effect.gen(function* () {
          const heads = (yield* Effect.forEach(yield* names(subjects), headsOf)).flat()
          const count = yield* dropAll(heads.filter(({ updatedAt }) => updatedAt < than))
          for (const owner of yield* names(owners)) {
            if (owner === lasting || (yield* head(owner)) !== undefined) continue
            for (const key of yield* keysOf(owner)) {
              const document = yield* read(documentKey(key), Document)
              if (document === undefined || document.at < than) yield* dropDocument(key)
            }
          }
          return count
        })
      ),
    put: (key, text, at) =>
      inTurn(
        Effect.gen(function* () {
          yield* addName(owners, key.owner)
          yield* addName(ofOwner(key.owner), nameOf(key))
          yield* store.set(documentKey(key), JSON.stringify({ at, text }))
        })
      ),
    get: (key) => inTurn(Effect.map(read(documentKey(key), Document), (found) => found?.text)),
    documents: (owner, kind) =>
      inTurn(
        Effect.gen(function* () {
          const found: Array<readonly [string, string]> = []
          for (const key of yield* keysOf(owner)) {
            if (key.kind !== kind) continue
            const document = yield* read(documentKey(key), Document)
            if (document !== undefined) found.push([key.name, document.text])
          }
          return found.toSorted(([a], [b]) => (a < b ? -1 : 1))
        })
      ),
    names: (owner, after, limit) =>
      inTurn(
        Effect.map(names(ofOwner(owner)), (all) =>
          all
            .filter((listed) => after === undefined || listed > nameOf(after))
            .toSorted()
            .slice(0, limit)
            .map((listed) => {
              const { kind, name } = keyOf(owner, listed)
              return { kind, name }
            })
        )
      ),
    removeDocument: (key) => inTurn(dropDocument(key))
  }
})

/** The name of a document in the list of its owner: its kind and its name, as parts of a key. */
const nameOf = ({ kind, name }: Omit<Key, "owner">): string => `${part(kind)}/${part(name)}`

const keyOf = (owner: string, listed: string): Key => {
  const slash = listed.indexOf("/")
  return { owner, kind: decodeURIComponent(listed.slice(0, slash)), name: decodeURIComponent(listed.slice(slash + 1)) }
}
