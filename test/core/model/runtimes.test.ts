/** What `Sharing` relies on in Effect, beyond its types: a change there is seen here first. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { mayClose, runtimeOf } from "../../../packages/core/src/model/runtimes.ts"

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

it("a memo map of another form, or without a layer that may close, has no runtime [P1504]", () => {
  const [closed, first, last] = [Scope.makeUnsafe(), Scope.makeUnsafe(), Scope.makeUnsafe()]
  Scope.closeUnsafe(closed, Exit.void)
  // what another version of Effect might have
  const memoMap = (...entries: ReadonlyArray<unknown>) =>
    ({ map: new Map(entries.entries()) }) as unknown as Layer.MemoMap
  for (const other of [{}, { map: {} }, { map: [{ scope: first }] }])
    assert.strictEqual(runtimeOf(other as unknown as Layer.MemoMap), undefined)
  assert.strictEqual(runtimeOf(memoMap()), undefined)
  assert.strictEqual(runtimeOf(memoMap(undefined, {}, { scope: {} }, { scope: closed })), undefined)
  const found = runtimeOf(memoMap({ scope: first }, { scope: last }, { scope: closed }, undefined))
  assert.strictEqual(found?.scope, last)
  assert.deepStrictEqual([first, last, closed, undefined].map(mayClose), [true, true, false, false])
})
