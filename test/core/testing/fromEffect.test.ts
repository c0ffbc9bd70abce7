/** The values and the smaller values of an arbitrary of Effect, as fast-check sees them. */
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import * as EffectArbitrary from "effect/Arbitrary"
import type fc from "fast-check"
import { fromEffect } from "../../../packages/core/src/testing/fromEffect.ts"

/** Draws a number as the size and as the seed of the generated value. */
const randomOf = (n: number) => ({ nextInt: () => n }) as unknown as fc.Random

const random = randomOf(7)

/** Draws whole numbers. The smaller ones of each are the next three below it, down to 0. */
const numbers = EffectArbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 })), {
  shrink: (n) => smallerThan(n)
})

const smallerThan = (n: number) => [n - 1, n - 2, n - 3].filter((one) => one >= 0)

it("each smaller value has its own smaller values, on every path [P1105]", () => {
  const arbitrary = fromEffect(numbers)
  const drawn = Array.from({ length: 20 }, (_, n) => arbitrary.generate(randomOf(n), undefined))
  const generated = drawn.find(({ value }) => value > 60) ?? assert.fail("all are small")
  const smaller = (one: fc.Value<number>) => [...arbitrary.shrink(one.value, one.context)]
  const values = (all: ReadonlyArray<fc.Value<number>>) => all.map(({ value }) => value)
  const first = smaller(generated)
  assert.deepStrictEqual(values(first), smallerThan(generated.value))
  for (const one of first) {
    const second = smaller(one)
    assert.deepStrictEqual(values(second), smallerThan(one.value))
    for (const other of second) assert.deepStrictEqual(values(smaller(other)), smallerThan(other.value))
  }
})

it("the same numbers draw the same value, others another [P1105]", () => {
  const arbitrary = fromEffect(numbers)
  const drawn = (n: number) => arbitrary.generate(randomOf(n), undefined).value
  assert.strictEqual(drawn(7), drawn(7))
  assert.isAbove(new Set(Array.from({ length: 20 }, (_, n) => drawn(n))).size, 5)
})

it("a value may be undefined, and has a context of its own: fast-check shrinks no other values [P1105]", () => {
  const nothing = fromEffect(EffectArbitrary.Constant(undefined))
  const generated = nothing.generate(random, undefined)
  assert.isUndefined(generated.value)
  assert.deepStrictEqual([...nothing.shrink(undefined, generated.context)], [])
  assert.isFalse(nothing.canShrinkWithoutContext(undefined))
})

it("an arbitrary without values says so [P1105]", () => {
  const never = fromEffect(EffectArbitrary.filter(numbers, () => false))
  assert.throws(() => never.generate(random, undefined), /exhausted/i)
  // one that sometimes has a value has it
  const even = fromEffect(EffectArbitrary.filter(numbers, (n) => n % 2 === 0))
  assert.strictEqual(even.generate(random, undefined).value % 2, 0)
})
