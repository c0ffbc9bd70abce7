/** The runtime around a run: a memo map, and a scope that closes with it. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

/** A runtime, or an `Effect.provide` of a layer. The memo map is for what is closed with the scope. */
export interface Runtime {
  readonly memoMap: Layer.MemoMap
  readonly scope: Scope.Scope
}

/**
 * Effect hides the scope of a memo map. The layers in it have scopes, and those close with the runtime; the layer that was built last closes
 * first. `undefined` for a memo map without layers, and for one of an Effect that stores them elsewhere.
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
 * The layers of the runtime, and more of its own. It reads a layer of the runtime for a closed scope, which holds no layer: with a scope that
 * does, the layers of the runtime would wait for those here, which wait for the end of the runtime.
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
