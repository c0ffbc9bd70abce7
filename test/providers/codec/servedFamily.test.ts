/** Which model wrote a reply, where the server may choose another one. */
import { assert, it } from "@effect/vitest"
import { familyOf } from "../../../packages/providers/src/codec/Family.ts"
import { fallbacksIn, isRouter, servedFamily } from "../../../packages/providers/src/codec/servedFamily.ts"

it("routers are known by their names", () => {
  for (const name of ["openrouter/auto", "OpenRouter/fusion", "auto", " auto ", "model-router"]) {
    assert.isTrue(isRouter(name), name)
  }
  for (const name of ["gpt-5", "automatic", "semi-auto", "a/openrouter/x", "model-router-2", "my-model-router", ""]) {
    assert.isFalse(isRouter(name), name)
  }
})

it("a reply is of the family that it names if the server may fall back to it, and else of the one that was asked", () => {
  const [asked, claude] = [familyOf("gpt-5"), familyOf("claude-sonnet-4-6")]
  const served = (name: string | undefined, others: Parameters<typeof servedFamily>[2]) =>
    servedFamily(asked, name, others)
  assert.notStrictEqual(asked, claude)
  assert.strictEqual(served("claude-sonnet-4-6", undefined), asked)
  assert.strictEqual(served(undefined, ["claude-sonnet-4-6"]), asked)
  assert.strictEqual(served("claude-sonnet-4-6", ["gpt-4.1", "claude-sonnet-4-6"]), claude)
  assert.strictEqual(served("claude-sonnet-4-6", [{ model: "claude-sonnet-4-6" }, 5]), claude)
  assert.strictEqual(served("claude-sonnet-4-6", ["gpt-4.1", { name: "claude-sonnet-4-6" }]), asked)
  assert.strictEqual(served("claude-sonnet-4-6", []), asked)
  // the server chooses among all models
  assert.strictEqual(served("claude-sonnet-4-6", "default"), claude)
})

it("the models to fall back to are those of either field", () => {
  assert.deepStrictEqual(fallbacksIn({ models: ["a"], fallbacks: ["b"] }), ["a"])
  assert.deepStrictEqual(fallbacksIn({ fallbacks: ["b"] }), ["b"])
  assert.deepStrictEqual([fallbacksIn({}), fallbacksIn(undefined)], [undefined, undefined])
})
