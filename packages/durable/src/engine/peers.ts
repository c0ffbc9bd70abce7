/** Loads the packages that only one engine needs. They are optional, so their names must be hidden from bundlers. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

/** The name of an engine's layer, and the packages that it needs. */
export interface Needed {
  readonly layer: string
  readonly packages: ReadonlyArray<string>
}

/** The path of a module's file. If its package is not installed, the defect has the command that installs it. */
export const find = ({ layer, packages }: Needed, module: string): Effect.Effect<string> => {
  const owner = packages.find((name) => module.startsWith(`${name}/`)) ?? module
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

/** Imports a module of an optional package, with the type that the caller states. */
export const load = <A>(needed: Needed, module: string): Effect.Effect<A> =>
  Effect.flatMap(find(needed, module), (file) =>
    Effect.tryPromise({
      try: () => import(pathToFileURL(file).href) as Promise<A>,
      catch: (cause) => new Error(`Durable.${needed.layer} could not load ${module}`, { cause })
    })
  ).pipe(Effect.orDie)
