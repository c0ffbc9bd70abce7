/** The runtime around a run: a memo map of layers, and the scope that closes them. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

/** A `ManagedRuntime` or an `Effect.provide` of a layer. Layers that are closed with `scope` are built with `memoMap`. */
export interface Runtime {
  readonly memoMap: Layer.MemoMap
  readonly scope: Scope.Scope
}

/**
 * Finds the runtime of a memo map. Effect hides the scope, but each built layer has one that closes with the runtime; the last layer closes
 * first. `undefined` if the memo map has no layers, or if another version of Effect stores them elsewhere.
 */
export const runtimeOf = (memoMap: Layer.MemoMap): Runtime | undefined => {
  const { map } = memoMap as { readonly map?: unknown }
  if (!(map instanceof Map)) return undefined
  const scopes = Array.from(map.values(), (entry: { readonly scope?: Scope.Scope } | undefined) => entry?.scope)
  const scope = scopes.findLast(mayClose)
  return scope && { memoMap: new Inner(memoMap), scope }
}

export const mayClose = (scope: Scope.Scope | undefined): boolean =>
  scope?.state !== undefined && scope.state._tag !== "Closed"

/**
 * A memo map that reads the layers of a runtime and stores its own. It passes a closed scope to the runtime's memo map. An open one would
 * keep the runtime's layers until these layers close, and these close only after the runtime: neither would ever close.
 */
class Inner implements Layer.MemoMap {
  readonly "~effect/Layer/MemoMap" = "~effect/Layer/MemoMap"
  private readonly own = Layer.makeMemoMapUnsafe()
  private readonly closed = Scope.makeUnsafe()
  private readonly outer: Layer.MemoMap

  constructor(outer: Layer.MemoMap) {
    this.outer = outer
    Scope.closeUnsafe(this.closed, Exit.void)
  }

  readonly get: Layer.MemoMap["get"] = (layer, scope) =>
    this.own.get(layer, scope) ?? this.outer.get(layer, this.closed)

  readonly getOrElseMemoize: Layer.MemoMap["getOrElseMemoize"] = (layer, scope, build) =>
    Effect.suspend(
      () => this.get(layer, scope) ?? this.own.getOrElseMemoize(layer, scope, (_, ofLayer) => build(this, ofLayer))
    )
}
