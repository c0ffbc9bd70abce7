/** The arguments of a call for formats that take objects alone. */
import { assert, it } from "@effect/vitest"
import * as ArgumentsObject from "../../../packages/providers/src/codec/ArgumentsObject.ts"

it("absent arguments are an empty object, and what is no object goes under a name", () => {
  const cases = [
    [null, {}],
    ["", {}],
    [{ a: 1 }, { a: 1 }],
    ['{"a":1}', { a: 1 }],
    [" {} ", {}],
    [[1], { arguments: [1] }],
    ["[1]", { arguments: "[1]" }],
    ["null", { arguments: "null" }],
    [" ", { arguments: " " }],
    ['{"a":', { arguments: '{"a":' }],
    [5, { arguments: 5 }],
    [false, { arguments: false }]
  ] as const
  for (const [args, object] of cases) assert.deepStrictEqual<unknown>(ArgumentsObject.of(args), object, String(args))
})
