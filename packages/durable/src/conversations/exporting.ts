/** All that a store of conversations has of one subject, as lines of JSON. It is read in small pages, so that the memory stays bounded. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Message } from "@kintsugi/core"
import type { Head, Key } from "./Store.ts"

/** The version of the format. A reader of this version refuses another one. */
const format = 1

const ofMessage = { conversation: Schema.String, nth: Schema.Int }

/**
 * A line of an export. The first one is `begin`, the last one `end`: an export without it was cut off. The messages and documents of a
 * conversation follow it.
 */
export type ExportLine = typeof ExportLine.Type

/** The schema of a line. */
export const ExportLine = Schema.Union([
  /** `at`: in milliseconds since the epoch. */
  Schema.Struct({
    type: Schema.tag("begin"),
    format: Schema.Literal(format),
    subject: Schema.String,
    at: Schema.Finite
  }),
  Schema.Struct({
    type: Schema.tag("conversation"),
    id: Schema.String,
    version: Schema.Int,
    createdAt: Schema.Finite,
    updatedAt: Schema.Finite
  }),
  Schema.Struct({ type: Schema.tag("message"), ...ofMessage, message: Message.Message }),
  /** A result that was put aside has the kind `result`, a grant `grant`. */
  Schema.Struct({
    type: Schema.tag("document"),
    owner: Schema.String,
    kind: Schema.String,
    name: Schema.String,
    value: Schema.Json
  }),
  /** How many lines of each type there were. */
  Schema.Struct({
    type: Schema.tag("end"),
    conversations: Schema.Int,
    messages: Schema.Int,
    documents: Schema.Int
  })
])

/** The name of a document among those of its owner. */
export type DocumentName = Omit<Key, "owner">

/** What an export reads. Messages and documents are decrypted JSON. */
export interface Source<E> {
  /** The ids of the conversations of a subject that come after `after`, in their order. */
  readonly ids: (subject: string, after: string | undefined, limit: number) => Effect.Effect<ReadonlyArray<string>, E>
  readonly head: (id: string) => Effect.Effect<Head | undefined, E>
  readonly messages: (head: Head, from: number, limit: number) => Effect.Effect<ReadonlyArray<Schema.Json>, E>
  /** The documents of an owner that come after `after`, by kind and name. */
  readonly names: (
    owner: string,
    after: DocumentName | undefined,
    limit: number
  ) => Effect.Effect<ReadonlyArray<DocumentName>, E>
  readonly document: (key: Key) => Effect.Effect<Schema.Json | undefined, E>
}

/** How many names are read at once, and how many messages: a message may have 16 MiB. */
const page = 100
const fewMessages = 4

/** Reads pages until one is not full. */
const paged = <A, P, E>(
  first: P,
  limit: number,
  read: (at: P) => Effect.Effect<ReadonlyArray<A>, E>,
  next: (last: A, at: P, count: number) => P
): Stream.Stream<A, E> =>
  Stream.paginate(first, (at) =>
    Effect.map(read(at), (found) => {
      const last = found.at(-1)
      const isLast = last === undefined || found.length < limit
      return [found, isLast ? Option.none() : Option.some(next(last, at, found.length))] as const
    })
  )

/** A line as it is written: messages and documents are JSON already. */
type Encoded = typeof ExportLine.Encoded

export const exporting = <E>(source: Source<E>, subject: string): Stream.Stream<string, E> =>
  Stream.suspend(() => {
    const counts = { conversations: 0, messages: 0, documents: 0 }

    /** Drops what was read of a conversation that is gone: another person may have taken its id meanwhile. */
    const own = <A>({ createdAt, id }: Head, self: Effect.Effect<A, E>): Effect.Effect<A | undefined, E> =>
      Effect.flatMap(self, (found) =>
        Effect.map(source.head(id), (now) =>
          now?.subject === subject && now.createdAt === createdAt ? found : undefined
        )
      )

    const messagesOf = (head: Head): Stream.Stream<Encoded, E> => {
      const { id, version } = head
      let nth = 0
      return paged(
        0,
        fewMessages,
        // what is added meanwhile is left out
        (from) =>
          // Mutant `from > version` survives: only a look that finds nothing
          from >= version
            ? Effect.succeed([])
            : Effect.map(
                own(head, source.messages(head, from, Math.min(fewMessages, version - from))),
                (found) => found ?? []
              ),
        (_last, from, count) => from + count
      ).pipe(
        Stream.map((message): Encoded => {
          counts.messages++
          // cast: what the store has encoded is a message
          return {
            type: "message",
            conversation: id,
            nth: nth++,
            message: message as (typeof Message.Message)["Encoded"]
          }
        })
      )
    }

    const documentsOf = (head: Head): Stream.Stream<Encoded, E> => {
      const { id: owner } = head
      return paged(
        undefined as DocumentName | undefined,
        page,
        (after) => source.names(owner, after, page),
        (last) => last
      ).pipe(
        Stream.mapEffect((name) =>
          Effect.map(own(head, source.document({ owner, ...name })), (value) => ({ name, value }))
        ),
        Stream.flatMap(({ name, value }) => {
          // a document may be removed meanwhile
          if (value === undefined) return Stream.empty
          counts.documents++
          return Stream.succeed<Encoded>({ type: "document", owner, ...name, value })
        })
      )
    }

    const conversation = (id: string): Stream.Stream<Encoded, E> =>
      Stream.unwrap(
        Effect.map(source.head(id), (head) => {
          if (head?.subject !== subject) return Stream.empty
          counts.conversations++
          const { createdAt, updatedAt, version } = head
          const first: Encoded = { type: "conversation", id, version, createdAt, updatedAt }
          return Stream.concat(Stream.succeed(first), Stream.concat(messagesOf(head), documentsOf(head)))
        })
      )

    const all = paged(
      undefined as string | undefined,
      page,
      (after) => source.ids(subject, after, page),
      (last) => last
    )
    const begin = Effect.map(Clock.currentTimeMillis, (at): Encoded => ({ type: "begin", format, subject, at }))
    const end = Effect.sync((): Encoded => ({ type: "end", ...counts }))
    return Stream.fromEffect(begin).pipe(
      Stream.concat(Stream.flatMap(all, conversation)),
      Stream.concat(Stream.fromEffect(end)),
      Stream.map((line) => `${JSON.stringify(line)}\n`)
    )
  })
