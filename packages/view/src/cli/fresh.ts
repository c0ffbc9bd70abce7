/** Loads a module and its own modules anew after each change. */
import * as Effect from "effect/Effect"
import { registerHooks } from "node:module"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { load } from "./loading.ts"

/** Modules keep their address in Node, so each load gives them another one. */
const mark = /[?&]load=(\d+)$/

/** The folders of all modules that were loaded in this way. */
const folders = new Set<string>()

let loads = 0
let isHooked = false

/** Passes the number of a load on to the modules that a module imports by a relative path. Packages are loaded once. */
const hook = (): void => {
  if (isHooked) return
  isHooked = true
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context)
      // Mutant `"Stryker was here!"` survives: it has no number of a load either
      const number = mark.exec(context.parentURL ?? "")?.[1]
      // Mutants `true` for `found.url.startsWith("file:")`, `""` survive: only a hook of another program leads to what is no file
      const isOwn = /^(?:\.|\/|file:)/.test(specifier) && found.url.startsWith("file:")
      if (number === undefined || !isOwn) return found
      folders.add(dirname(fileURLToPath(found.url)))
      // another copy of this module may have passed the number on before
      return mark.test(found.url) ? found : { ...found, url: `${found.url}?load=${number}` }
    }
  })
}

/** Loads a module anew, with the modules that it imports by a relative path. */
export const loadFresh = (file: string) =>
  Effect.suspend(() => {
    hook()
    folders.add(dirname(file))
    return load(file, `?load=${++loads}`)
  })

/** The folders with the modules of the last loads. */
export const foldersLoaded = (): ReadonlyArray<string> => [...folders]
