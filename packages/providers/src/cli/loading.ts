/** Exports of a module that a person names on the command line, as `file.ts#name`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { Failed } from "./failure.ts"
import { shown } from "./writing.ts"

/** A module, and the name of what is meant in it; absent where none was given. */
export interface Named {
  readonly file: string
  readonly name: string | undefined
}

/** A file whose own name has a `#` in it is that file. */
export const parse = (given: string) =>
  FileSystem.FileSystem.use((fs) =>
    Effect.map(
      Effect.orElseSucceed(fs.exists(given), () => false),
      (exists): Named => {
        const at = given.lastIndexOf("#")
        return exists || at < 0
          ? { file: given, name: undefined }
          : { file: given.slice(0, at), name: given.slice(at + 1) }
      }
    )
  )

/** What the process prepares itself with before a module that is not ours runs in it. */
export const Preparation = Context.Reference<Effect.Effect<void>>("@kintsugi/providers/cli/loading/Preparation", {
  defaultValue: () => Effect.void
})

/** All exports of a module. It runs, as whenever it is imported, and has a minute for that. */
export const load = (file: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const name = yield* shown(file)
    const exists = yield* Effect.orElseSucceed(fs.exists(file), () => false)
    if (!exists) return yield* new Failed({ message: `cannot load ${name}: there is no such file` })
    yield* yield* Preparation
    return yield* Effect.tryPromise({
      try: (): Promise<Readonly<Record<string, unknown>>> => import(pathToFileURL(file).href),
      catch: (error) => new Failed({ message: `cannot load ${name}: ${explained(error)}` })
    }).pipe(
      Effect.timeoutOrElse({
        duration: "1 minute",
        orElse: () => new Failed({ message: `cannot load ${name}: it has not ended its loading within a minute` })
      })
    )
  })

const explained = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const code = "code" in error ? error.code : undefined
  const [first = ""] = error.message.split("\n")
  if (code === "ERR_UNKNOWN_FILE_EXTENSION") return "it is no module that Node can read"
  if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") {
    return `${first} (Node strips types and translates nothing: no enums, no namespaces, no parameter properties)`
  }
  return error.name === "Error" || code !== undefined ? first : `${error.name}: ${first}`
}

/** The core that a module works with, which may be another copy than ours. */
export const coreOf = (file: string): Effect.Effect<typeof import("@kintsugi/core")> =>
  Effect.tryPromise((): Promise<typeof import("@kintsugi/core")> => {
    const path = createRequire(pathToFileURL(file)).resolve("@kintsugi/core")
    return import(pathToFileURL(path).href)
  }).pipe(Effect.catch(() => Effect.promise(() => import("@kintsugi/core"))))
