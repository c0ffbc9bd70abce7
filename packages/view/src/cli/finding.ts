/** Finds the files of events for the paths of a command: files that are named, and files in folders. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { reasonOf } from "./failure.ts"
import type { Source } from "./reading.ts"
import { isDash, shown } from "./writing.ts"

/** The file endings that are read in a folder. A file that is named is read with any ending. */
const endings: ReadonlySet<string> = new Set([".jsonl", ".ndjson"])

/** A file or folder that is not read, and the reason. */
export interface Unread {
  readonly file: string
  readonly reason: string
}

/** The files to read, in order, and the files and links that are left out. */
export interface Found {
  readonly sources: ReadonlyArray<Source>
  readonly unread: ReadonlyArray<Unread>
  /** The links to folders, which are not followed. */
  readonly links: ReadonlyArray<string>
}

/**
 * Finds the files. Each file is read once, even if several paths or links lead to it. Links to folders are not followed, because they may
 * lead in circles.
 */
export const find = (given: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const sources = new Map<string, Source>()
    const unread = new Map<string, Unread>()
    const links = new Set<string>()
    const typeOf = (file: string) => Effect.map(fs.stat(file), ({ type }) => type)
    const leave = (file: string, reason: string) =>
      Effect.map(shown(file), (file) => void unread.set(file, { file, reason }))
    const take = (file: string, type: FileSystem.File.Type) =>
      Effect.gen(function* () {
        // only regular files are read, because reading a pipe waits for its writer
        if (type !== "File") return yield* leave(file, "it is no regular file")
        const real = yield* Effect.orElseSucceed(fs.realPath(file), () => file)
        if (!sources.has(real)) sources.set(real, { type: "file", path: file })
      })

    const walk = (folder: string): Effect.Effect<void> =>
      Effect.matchEffect(fs.readDirectoryEntries(folder), {
        onFailure: (error) => Effect.provideService(leave(folder, reasonOf(error)), Path.Path, path),
        onSuccess: (entries) =>
          Effect.forEach(
            // Mutant `a.name <= b.name` survives: a folder has each name once
            entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
            ({ name, type }) => Effect.provideService(look(path.join(folder, name), type), Path.Path, path),
            { discard: true }
          )
      })
    const look = (file: string, type: FileSystem.File.Type) =>
      Effect.gen(function* () {
        const behind = yield* Effect.result(
          type === "SymbolicLink" || type === "Unknown" ? typeOf(file) : Effect.succeed(type)
        )
        const isNamed = endings.has(path.extname(file).toLowerCase())
        if (behind._tag === "Failure") return isNamed ? yield* leave(file, reasonOf(behind.failure)) : undefined
        if (behind.success === "Directory") {
          if (type === "SymbolicLink") return void links.add(yield* shown(file))
          if (isNamed) yield* leave(file, "it is a folder")
          return yield* walk(file)
        }
        if (isNamed) yield* take(file, behind.success)
      })

    for (const one of given) {
      if (yield* isDash(one)) {
        // Mutant `""` for `"-"` survives: no path of a file is empty either
        sources.set("-", { type: "stdin" })
        continue
      }
      const type = yield* Effect.result(typeOf(one))
      if (type._tag === "Failure") yield* leave(one, reasonOf(type.failure))
      else yield* type.success === "Directory" ? walk(one) : take(one, type.success)
    }
    return { sources: [...sources.values()], unread: [...unread.values()], links: [...links] } satisfies Found
  })
