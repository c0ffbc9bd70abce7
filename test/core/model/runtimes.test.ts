/** What `Sharing` relies on in Effect, beyond its types: a change there is seen here first. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { runtimeOf } from "../../../packages/core/src/model/runtimes.ts"

class Desk extends Context.Service<Desk, string>()("test/Desk") {}

const desk = Layer.effect(Desk, Effect.succeed("desk"))

const entries = (memoMap: Layer.MemoMap) =>
  Array.from(
    (memoMap as unknown as { readonly map: ReadonlyMap<unknown, { readonly scope: Scope.Scope }> }).map.values()
  )

it.effect("a memo map has its layers with their scopes, which close with their last holder [P1504]", () =>
  Effect.gen(function* () {
    const memoMap = Layer.makeMemoMapUnsafe()
    const [one, two] = [yield* Scope.make(), yield* Scope.make()]
    for (const scope of [one, two]) yield* Layer.buildWithMemoMap(desk, memoMap, scope)
    const [{ scope } = assert.fail(), ...others] = entries(memoMap)
    assert.deepStrictEqual(others, [])
    yield* Scope.close(one, Exit.void)
    assert.notStrictEqual(scope.state._tag, "Closed")
    yield* Scope.close(two, Exit.void)
    assert.strictEqual(scope.state._tag, "Closed")
    assert.deepStrictEqual(entries(memoMap), [])
  })
)

it.effect("a closed scope reads a layer and does not hold it [P1504]", () =>
  Effect.gen(function* () {
    const memoMap = Layer.makeMemoMapUnsafe()
    const [holder, closed] = [yield* Scope.make(), yield* Scope.make()]
    yield* Scope.close(closed, Exit.void)
    yield* Layer.buildWithMemoMap(desk, memoMap, holder)
    const built = yield* memoMap.get(desk, closed) ?? assert.fail()
    assert.strictEqual(Context.get(built, Desk), "desk")
    yield* Scope.close(holder, Exit.void)
    assert.deepStrictEqual(entries(memoMap), [])
  })
)

it.effect("the scope of a runtime is that of its last layer that is not closed [P1504]", () =>
  Effect.gen(function* () {
    const [first, second, closed] = [yield* Scope.make(), yield* Scope.make(), yield* Scope.make()]
    yield* Scope.close(closed, Exit.void)
    // the memo map of another version of Effect
    const scopeOf = (map: unknown) => runtimeOf({ map } as unknown as Layer.MemoMap)?.scope
    const layers = (...entries: ReadonlyArray<unknown>) => new Map(entries.map((entry, index) => [index, entry]))
    assert.strictEqual(scopeOf(layers({ scope: first }, { scope: second }, { scope: closed })), second)
    assert.strictEqual(scopeOf(layers({ scope: first }, undefined, {}, { scope: {} })), first)
    for (const none of [undefined, {}, [{ scope: first }], layers(), layers({ scope: closed }, undefined)])
      assert.isUndefined(scopeOf(none))
  })
)
