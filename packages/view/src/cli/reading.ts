/** Reads the lines of files and of standard input piece by piece, so that only a part of them is in memory. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import type { Bounds } from "./bounds.ts"
import { Failed, reasonOf } from "./failure.ts"
import { Splitter } from "./splitting.ts"
import { shown } from "./writing.ts"

/** The source of lines: a file, or standard input. */
export type Source = { readonly type: "file"; readonly path: string } | { readonly type: "stdin" }

/** The paths of sources that are files, which no result may overwrite. */
export const pathsOf = (sources: ReadonlyArray<Source>): ReadonlyArray<string> =>
  sources.filter((source) => source.type === "file").map(({ path }) => path)

// Mutant `{}` survives: speed only
const pieces = { chunkSize: 256 * 1024 }

const bytesOf = (source: Source): Stream.Stream<Uint8Array, PlatformError, FileSystem.FileSystem | Stdio.Stdio> =>
  source.type === "file"
    ? Stream.unwrap(FileSystem.FileSystem.useSync((fs) => fs.stream(source.path, pieces)))
    : Stream.unwrap(Stdio.Stdio.useSync(({ stdin }) => stdin))

/**
 * Whether a file begins like JSON in UTF-16: with a byte order mark, or with a bracket or white space of two bytes. JSON in UTF-8 never
 * begins so.
 */
const isUtf16 = ([first, second]: Uint8Array): boolean => {
  // Mutant `false` for `first === undefined` survives: then there is no second byte either
  if (first === undefined || second === undefined) return false
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true
  return (first === 0 && beginnings.has(second)) || (second === 0 && beginnings.has(first))
}

const beginnings: ReadonlySet<number> = new Set(Buffer.from("{ \t\r\n"))

/** What is known about a source that was read to its end. */
export interface Read {
  /** Whether one of its bytes is zero, which no text has. */
  readonly isBinary: boolean
}

/**
 * Calls a function with each line, in order, within the bounds. A byte that is not UTF-8 becomes a replacement character, and is no
 * failure. If the source cannot be read, it fails with the reason.
 */
export const eachLine = (source: Source, bounds: Bounds, take: (line: string) => void) =>
  Effect.gen(function* () {
    const splitter = new Splitter(bounds, take)
    let isFirst = true
    yield* Stream.runForEach(Stream.mapError(bytesOf(source), reasonOf), (bytes) =>
      Effect.suspend(() => {
        if (isFirst && isUtf16(bytes)) {
          return Effect.fail("it is UTF-16, and events are UTF-8: iconv -f UTF-16 -t UTF-8 makes one of the other")
        }
        isFirst = false
        const beyond = splitter.push(bytes)
        return beyond === undefined ? Effect.void : Effect.fail(beyond)
      })
    )
    splitter.end()
    return { isBinary: splitter.hasZero } satisfies Read
  })

/** The message about a file that is not text and has no event. */
export const binary = "it is no text, and events are lines of JSON"

/** The name of a source in messages. */
export const nameOf = (source: Source) =>
  source.type === "stdin" ? Effect.succeed("standard input") : shown(source.path)

/** Calls a function with each line, as `eachLine` does. If the source cannot be read, the command fails. */
export const eachLineOrFail = (source: Source, bounds: Bounds, take: (line: string) => void) =>
  Effect.gen(function* () {
    const name = yield* nameOf(source)
    return yield* Effect.mapError(
      eachLine(source, bounds, take),
      (reason) => new Failed({ message: `cannot read ${name}: ${reason}` })
    )
  })
