/** Loads exports of modules that a command names as `file.ts#name`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { Failed, reasonOf } from "./failure.ts"
import { shown } from "./writing.ts"

/** A module and the name of an export; `undefined` if no name was given. */
export interface Named {
  readonly file: string
  readonly name: string | undefined
}

/**
 * Splits an argument at the first `#` that follows the name of a file. The name of the file may have a `#` too, and so may the name of an
 * export.
 */
export const parse = (given: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const isFile = (path: string) =>
      Effect.orElseSucceed(
        Effect.map(fs.stat(path), ({ type }) => type === "File"),
        // Mutant `undefined` survives: it counts as false too
        () => false
      )
    const at = (index: number): Named => ({ file: given.slice(0, index), name: given.slice(index + 1) })
    if (yield* isFile(given)) return { file: given, name: undefined } satisfies Named
    // Mutant `""` #1 survives: it only looks for a file without a name first
    for (let index = given.indexOf("#"); index >= 0; index = given.indexOf("#", index + 1))
      if (yield* isFile(given.slice(0, index))) return at(index)
    const last = given.lastIndexOf("#")
    return last < 0 ? ({ file: given, name: undefined } satisfies Named) : at(last)
  })

/** Runs in the process before it loads a module of the user. */
export const Preparation = Context.Reference<Effect.Effect<void>>("@kintsugi/view/cli/loading/Preparation", {
  defaultValue: () => Effect.void
})

/**
 * Loads a module, and gives all of its exports. The module is executed, as by any import, and has a minute to load. A `query` that is new
 * makes Node execute a module again.
 */
export const load = (file: string, query = "") =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const name = yield* shown(file)
    const { type } = yield* Effect.mapError(
      fs.stat(file),
      (error) => new Failed({ message: `cannot load ${name}: ${reasonOf(error)}` })
    )
    if (type === "Directory")
      return yield* new Failed({ message: `cannot load ${name}: it is a folder, name a module in it` })
    // Node would read a pipe or a device to its end, which may never come
    if (type !== "File") return yield* new Failed({ message: `cannot load ${name}: it is no regular file` })
    yield* yield* Preparation
    return yield* Effect.tryPromise({
      try: (): Promise<Readonly<Record<string, unknown>>> => import(`${pathToFileURL(file).href}${query}`),
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
  // Mutant `"Stryker was here!"` survives: a text has a first line, which the type does not say
  const [first = ""] = error.message.split("\n")
  if (code === "ERR_UNKNOWN_FILE_EXTENSION") return "it is no module that Node can read"
  if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") {
    return `${first} (Node strips types and translates nothing: no enums, no namespaces, no parameter properties)`
  }
  return error.name === "Error" || code !== undefined ? first : `${error.name}: ${first}`
}

/** The value at a path of property names: `agents.clerk` is the field `clerk` of the export `agents`. */
export const valueAt = (exported: unknown, path: string): readonly [value: unknown, isThere: boolean] => {
  let value = exported
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return [undefined, false]
    // cast: a value with a property of its own is an object with fields
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return [value, true]
}

/** Loads the copy of `@kintsugi/core` that a module uses, which may differ from the copy of this program. */
export const coreOf = (file: string): Effect.Effect<typeof import("@kintsugi/core")> =>
  Effect.tryPromise((): Promise<typeof import("@kintsugi/core")> => {
    const path = createRequire(pathToFileURL(file)).resolve("@kintsugi/core")
    return import(pathToFileURL(path).href)
  }).pipe(Effect.catch(() => Effect.promise(() => import("@kintsugi/core"))))
