import { assert, it } from "@effect/vitest"
import { Coercion } from "@kintsugi/core"

it("a number that was read as a text, or that no number holds, becomes a text in its spelling", () => {
  const cases: ReadonlyArray<readonly [json: string, texts: ReadonlyArray<string> | undefined, value: unknown]> = [
    ['{"a":1.50,"b":2.0}', ["2.0", "a"], { a: 1.5, b: "2.0" }],
    ['{"a":12345678901234567890,"b":1.50}', [], { a: "12345678901234567890", b: 1.5 }],
    ['[[1e400],-0,{"a":1e3}]', ["1e3"], [["1e400"], "-0", { a: "1e3" }]],
    ['{"a":1.50}', [], undefined],
    // without texts to look in, each unusual form counts
    ['{"a":1.50,"b":5}', undefined, { a: "1.50", b: 5 }],
    ['{"a":5,"b":-1.5,"c":1e+21,"d":[0,100]}', undefined, undefined],
    ['{"a":5}', ["5"], undefined],
    ['{"a":"1.50"}', undefined, undefined],
    ["true", undefined, undefined]
  ]
  for (const [json, texts, value] of cases)
    assert.deepStrictEqual(
      Coercion.spelled(json, () => texts),
      value,
      json
    )
})
