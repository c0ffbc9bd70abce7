/** Lines of files and of standard input, a piece at a time: however long they are, little of them is held. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { Failed, reasonOf } from "./failure.ts"
import { shown } from "./writing.ts"

/** Where lines come from: a path, or standard input. */
export type Source = { readonly type: "file"; readonly path: string } | { readonly type: "stdin" }

const bytesOf = (source: Source): Stream.Stream<Uint8Array, PlatformError, FileSystem.FileSystem | Stdio.Stdio> =>
  source.type === "file"
    ? Stream.unwrap(FileSystem.FileSystem.useSync((fs) => fs.stream(source.path, { chunkSize: 256 * 1024 })))
    : Stream.unwrap(Stdio.Stdio.useSync(({ stdin }) => stdin))

/** Whether a file begins as UTF-16 does: with its mark, or with a letter of two bytes, as no JSON in UTF-8 does. */
const isUtf16 = ([first, second]: Uint8Array): boolean => {
  if (first === undefined || second === undefined) return false
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || (first === 0) !== (second === 0)
}

/**
 * Gives each line to a function, in order. A byte that is no UTF-8 is a mark in its line, and no failure. What cannot be read fails with
 * the reason.
 */
export const eachLine = (source: Source, take: (line: string) => void) =>
  bytesOf(source).pipe(
    Stream.mapError(reasonOf),
    Stream.zipWithIndex,
    Stream.mapEffect(([bytes, index]) =>
      index === 0 && isUtf16(bytes)
        ? Effect.fail("it is UTF-16, and events are UTF-8: iconv -f UTF-16 -t UTF-8 makes one of the other")
        : Effect.succeed(bytes)
    ),
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEachArray((lines) => Effect.sync(() => lines.forEach(take)))
  )

/** What a source is called where something is said about it. */
export const nameOf = (source: Source) =>
  source.type === "stdin" ? Effect.succeed("standard input") : shown(source.path)

/** The same, where what cannot be read ends the command. */
export const eachLineOrFail = (source: Source, take: (line: string) => void) =>
  Effect.gen(function* () {
    const name = yield* nameOf(source)
    yield* Effect.mapError(
      eachLine(source, take),
      (reason) => new Failed({ message: `cannot read ${name}: ${reason}` })
    )
  })
