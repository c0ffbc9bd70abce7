import { assert, it } from "@effect/vitest"
import { isNear, nearest } from "../../../packages/core/src/data/Nearest.ts"

it("the nearest name differs in case and separators, or in at most two letters", () => {
  const long = "x".repeat(64)
  const cases: ReadonlyArray<readonly [name: string, candidates: ReadonlyArray<string>, found: string | undefined]> = [
    ["Look-Up", ["lock_up", "look_up", "LOOKUP"], "look_up"],
    ["lookup", ["lokup", "lookups", "look_it_up"], "lokup"],
    ["loop", ["look", "loops"], "look"],
    ["payment", ["payments", "pay"], "payments"],
    ["paymentss", ["payment"], "payment"],
    ["paymentsss", ["payment"], undefined],
    // a short name is near to few
    ["ab", ["abc"], "abc"],
    ["a", ["abc"], undefined],
    ["ac", ["ab"], undefined],
    ["axcdef", ["abcdef"], "abcdef"],
    ["look", [], undefined],
    [long, [long.toUpperCase()], long.toUpperCase()],
    [`${long}x`, [long], undefined],
    [long, [`${long}x`], undefined]
  ]
  for (const [name, candidates, found] of cases) assert.strictEqual(nearest(name, candidates), found, name)
})

it("one of two names is a slip of the other", () => {
  for (const [one, two, isSlip] of [
    ["look_up", "LookUp", true],
    ["look", "loo", true],
    ["look", "lo", true],
    ["look", "l", false],
    ["abcd", "abxy", true],
    ["abcd", "axyz", false],
    ["x".repeat(64), "x".repeat(62), true],
    ["x".repeat(65), "x".repeat(65), false]
  ] as const) {
    assert.strictEqual(isNear(one, two), isSlip, `${one} ${two}`)
    assert.strictEqual(isNear(two, one), isSlip, `${two} ${one}`)
  }
})
