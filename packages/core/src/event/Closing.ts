/** Scopes of what users write: a finalizer that fails is logged, and changes no outcome. */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as ErrorCause from "../data/ErrorCause.ts"

/** Whose scope it is, for the log. */
interface Owner {
  readonly name: string
  readonly labels: { readonly [label: string]: unknown }
}

/**
 * Runs an effect in a scope of its own, which is closed when it has ended. If there is anything to release, `before` gets the exit of the
 * effect first: its value may still need that.
 */
export const scoped = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  owner: (fiber: Fiber.Fiber<unknown, unknown>) => Owner,
  before?: (exit: Exit.Exit<A, E>) => void
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.withFiber((fiber) => {
    const scope = Scope.makeUnsafe()
    return Effect.onExitPrimitive(Scope.provide(self, scope), (exit) => {
      if (scope.state._tag !== "Empty") before?.(exit)
      return close(scope, exit, () => owner(fiber))
    })
  })

/** Closes a scope; `undefined` if there is nothing to release. */
export const close = (
  scope: Scope.Closeable,
  exit: Exit.Exit<unknown, unknown>,
  owner: () => Owner
): Effect.Effect<void> | undefined => {
  const closing = Scope.closeUnsafe(scope, exit)
  if (closing === undefined) return undefined
  return Effect.catchCause(closing, (cause) => {
    const { labels, name } = owner()
    return Effect.annotateLogs(Effect.logWarning(`A finalizer of ${name} failed`, ErrorCause.logged(cause)), labels)
  })
}
