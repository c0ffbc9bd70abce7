/** Builds the services of a loaded module, and finds which ones are missing. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { worded } from "./asked.ts"
import { type AnyLayer, type Found, missingIn, notLoaded, Stuck, withoutServices } from "./Finding.ts"

/** How many missing services are looked for. */
const most = 12

/** The services of the module, built in a scope. */
export const contextOf = (
  found: Found & { readonly file: string },
  scope: Scope.Scope
): Effect.Effect<Context.Context<never>, Stuck> => {
  const { file, layer } = found
  if (layer === undefined) return Effect.succeed(Context.empty())
  return Effect.gen(function* () {
    const missing: Array<string> = []
    while (true) {
      const exit = yield* Effect.exit(Layer.buildWithScope(withStubs(layer, missing), scope))
      if (Exit.isSuccess(exit) && missing.length === 0) return exit.value
      const error = Exit.isSuccess(exit) ? undefined : Cause.squash(exit.cause)
      const next = missingIn(error)
      if (next !== undefined && !missing.includes(next) && missing.length < most) {
        missing.push(next)
        continue
      }
      if (missing.length > 0) return yield* new Stuck({ problem: withoutServices(found, file, missing) })
      return yield* new Stuck({ problem: notLoaded(file, `Its layer fails: ${worded(error)}`) })
    }
  })
}

/** The layer with stubs in the place of services that are missing. Stubs let the build go on to the next missing service. */
const withStubs = (layer: AnyLayer, missing: ReadonlyArray<string>): Layer.Layer<never, unknown> => {
  const stubs = Context.makeUnsafe<unknown>(new Map(missing.map((key) => [key, stub])))
  // cast: a service that is still missing is a defect, which says its name
  return Layer.provide(layer, Layer.succeedContext(stubs)) as Layer.Layer<never, unknown>
}

/** A value whose every field is a function that gives the value again. */
const stub: unknown = new Proxy(() => stub, {
  get: (_, key) => (typeof key === "symbol" || key === "then" ? undefined : stub)
})
