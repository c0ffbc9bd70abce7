/** Conversations in three tables of PostgreSQL or SQLite. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { fromRecord, make as migrator } from "effect/sql/Migrator"
import { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { lasting, type Rows } from "./rows.ts"
import type { Head } from "./Store.ts"

/** The most rows of one statement: SQLite takes 32,766 parameters, and a row has three. */
const mostRows = 1000

const conversations = "kintsugi_conversations"
const messages = "kintsugi_messages"
const documents = "kintsugi_documents"

/** Each release adds migrations at the end, and changes none that stands here. */
const migrations = fromRecord({
  "0001_conversations": Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`CREATE TABLE ${sql(conversations)} (
      id VARCHAR(250) PRIMARY KEY,
      subject VARCHAR(250) NOT NULL,
      version INTEGER NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL
    )`
    yield* sql`CREATE INDEX kintsugi_conversations_of ON ${sql(conversations)} (subject, updated_at, id)`
    yield* sql`CREATE INDEX kintsugi_conversations_age ON ${sql(conversations)} (updated_at)`
    yield* sql`CREATE TABLE ${sql(messages)} (
      conversation VARCHAR(250) NOT NULL,
      nth INTEGER NOT NULL,
      message TEXT NOT NULL,
      PRIMARY KEY (conversation, nth)
    )`
    yield* sql`CREATE TABLE ${sql(documents)} (
      owner VARCHAR(250) NOT NULL,
      kind VARCHAR(100) NOT NULL,
      name VARCHAR(250) NOT NULL,
      document TEXT NOT NULL,
      put_at BIGINT NOT NULL,
      PRIMARY KEY (owner, kind, name)
    )`
    yield* sql`CREATE INDEX kintsugi_documents_age ON ${sql(documents)} (put_at)`
  })
})

const migrate = migrator({})({ loader: migrations, table: "kintsugi_migrations" })

/** A row of the table of conversations. PostgreSQL gives a BIGINT as a text. */
interface Row {
  readonly id: string
  readonly subject: string
  readonly version: number
  readonly created_at: number | string
  readonly updated_at: number | string
}

const headOf = ({ created_at, id, subject, updated_at, version }: Row): Head => ({
  id,
  subject,
  version,
  createdAt: Number(created_at),
  updatedAt: Number(updated_at)
})

/** The storage on this client. It makes its tables, or brings them up to date. */
export const sqlRows: Effect.Effect<Rows, unknown, SqlClient> = Effect.gen(function* () {
  const client = yield* SqlClient
  const sql = client.withoutTransforms()
  yield* sql.onDialectOrElse({
    pg: () => Effect.void,
    sqlite: () => Effect.void,
    orElse: () => Effect.die(new TypeError("Conversations.layerSql works on PostgreSQL, PGlite and SQLite"))
  })
  yield* Effect.provideService(migrate, SqlClient, sql)

  /** Removes the conversations of a condition, with all that belongs to them. Returns how many there were. */
  const removing = (which: Fragment) =>
    sql.withTransaction(
      Effect.gen(function* () {
        // the heads go first: a writer waits for the end of this transaction, and then finds no conversation
        const gone = yield* sql<{ readonly id: string }>`DELETE FROM ${sql(conversations)} WHERE ${which} RETURNING id`
        for (const chunk of Arr.chunksOf(
          gone.map(({ id }) => id),
          mostRows
        )) {
          yield* sql`DELETE FROM ${sql(messages)} WHERE ${sql.in("conversation", chunk)}`
          yield* sql`DELETE FROM ${sql(documents)} WHERE ${sql.in("owner", chunk)}`
        }
        return gone.length
      })
    )

  return {
    head: (id) =>
      Effect.map(sql<Row>`SELECT * FROM ${sql(conversations)} WHERE id = ${id}`, ([row]) =>
        row === undefined ? undefined : headOf(row)
      ),
    append: ({ at, expected, id, rows, subject }) =>
      sql.withTransaction(
        Effect.gen(function* () {
          const version = expected + rows.length
          // each statement is atomic: of several writers, one makes or changes the row
          const taken = yield* expected === 0
            ? sql`INSERT INTO ${sql(conversations)} (id, subject, version, created_at, updated_at)
                VALUES (${id}, ${subject}, ${version}, ${at}, ${at})
                ON CONFLICT (id) DO UPDATE SET version = excluded.version, updated_at = excluded.updated_at
                WHERE ${sql(conversations)}.subject = excluded.subject AND ${sql(conversations)}.version = 0 RETURNING id`
            : sql`UPDATE ${sql(conversations)} SET version = ${version}, updated_at = ${at}
                WHERE id = ${id} AND subject = ${subject} AND version = ${expected} RETURNING id`
          if (taken.length === 0) return false
          const values = rows.map((message, index) => ({ conversation: id, nth: expected + index, message }))
          for (const chunk of Arr.chunksOf(values, mostRows)) {
            yield* sql`INSERT INTO ${sql(messages)} ${sql.insert(chunk)}`
          }
          return true
        })
      ),
    messages: (id, from, limit) =>
      Effect.map(
        sql<{ readonly message: string }>`SELECT message FROM ${sql(messages)}
          WHERE conversation = ${id} AND nth >= ${from} ORDER BY nth LIMIT ${limit}`,
        (rows) => rows.map(({ message }) => message)
      ),
    list: (subject, after, limit) => {
      const rest =
        after === undefined
          ? sql`subject = ${subject}`
          : sql`subject = ${subject} AND (updated_at, id) < (${after.updatedAt}, ${after.id})`
      return Effect.map(
        sql<Row>`SELECT * FROM ${sql(conversations)} WHERE ${rest} ORDER BY updated_at DESC, id DESC LIMIT ${limit}`,
        (rows) => rows.map(headOf)
      )
    },
    ids: (subject, after, limit) => {
      const rest = after === undefined ? sql`subject = ${subject}` : sql`subject = ${subject} AND id > ${after}`
      return Effect.map(
        sql<{ readonly id: string }>`SELECT id FROM ${sql(conversations)} WHERE ${rest} ORDER BY id LIMIT ${limit}`,
        (rows) => rows.map(({ id }) => id)
      )
    },
    remove: (id) => Effect.asVoid(removing(sql`id = ${id}`)),
    removeSubject: (subject) => removing(sql`subject = ${subject}`),
    removeOlder: (than) =>
      Effect.tap(
        removing(sql`updated_at < ${than}`),
        () => sql`DELETE FROM ${sql(documents)} WHERE put_at < ${than} AND owner <> ${lasting}
          AND owner NOT IN (SELECT id FROM ${sql(conversations)})`
      ),
    put: ({ kind, name, owner }, document, at) =>
      Effect.asVoid(
        sql`INSERT INTO ${sql(documents)} (owner, kind, name, document, put_at)
          VALUES (${owner}, ${kind}, ${name}, ${document}, ${at})
          ON CONFLICT (owner, kind, name) DO UPDATE SET document = excluded.document, put_at = excluded.put_at`
      ),
    get: ({ kind, name, owner }) =>
      Effect.map(
        sql<{ readonly document: string }>`SELECT document FROM ${sql(documents)}
          WHERE owner = ${owner} AND kind = ${kind} AND name = ${name}`,
        ([row]) => row?.document
      ),
    documents: (owner, kind) =>
      Effect.map(
        sql<{ readonly name: string; readonly document: string }>`SELECT name, document FROM ${sql(documents)}
          WHERE owner = ${owner} AND kind = ${kind} ORDER BY name`,
        (rows) => rows.map(({ document, name }) => [name, document] as const)
      ),
    names: (owner, after, limit) => {
      const rest =
        after === undefined
          ? sql`owner = ${owner}`
          : sql`owner = ${owner} AND (kind, name) > (${after.kind}, ${after.name})`
      return sql<{ readonly kind: string; readonly name: string }>`SELECT kind, name FROM ${sql(documents)}
        WHERE ${rest} ORDER BY kind, name LIMIT ${limit}`
    },
    removeDocument: ({ kind, name, owner }) =>
      Effect.asVoid(sql`DELETE FROM ${sql(documents)} WHERE owner = ${owner} AND kind = ${kind} AND name = ${name}`)
  }
})
