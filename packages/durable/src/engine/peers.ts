/** Packages that only an engine needs: they are optional, and no bundler sees their names. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

/** An engine, and the packages that it needs. */
export interface Needed {
  readonly layer: string
  readonly packages: ReadonlyArray<string>
}

/** The file of a module. A package that is not installed is a defect with the line that installs it. */
export const find = ({ layer, packages }: Needed, module: string): Effect.Effect<string> => {
  const owner = packages.find((name) => module === name || module.startsWith(`${name}/`)) ?? module
  return Effect.try({
    try: () => createRequire(import.meta.url).resolve(module),
    catch: (cause) => {
      const isMissing = Predicate.isError(cause) && cause.message.startsWith(`Cannot find module '${module}'`)
      const what = isMissing
        ? `needs the package ${owner}, which is not installed: npm install ${packages.join(" ")}`
        : `could not find ${module} in the package ${owner}`
      return new Error(`Durable.${layer} ${what}`, { cause })
    }
  }).pipe(Effect.orDie)
}

/** A module, as the caller knows it. */
export const load = <A>(needed: Needed, module: string): Effect.Effect<A> =>
  Effect.flatMap(find(needed, module), (file) =>
    Effect.tryPromise({
      try: () => import(pathToFileURL(file).href) as Promise<A>,
      catch: (cause) => new Error(`Durable.${needed.layer} could not load ${module}`, { cause })
    })
  ).pipe(Effect.orDie)
