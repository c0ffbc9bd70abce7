/** What the step `repair` makes of text that is nearly JSON, and what it leaves as it is. */
import { assert, describe, it } from "@effect/vitest"
import { Coercion } from "@kintsugi/core"
import { Result } from "effect"
import fc from "fast-check"

const repaired = (text: string): unknown => {
  const read = Coercion.parse(text, ["repair"])
  return Result.isSuccess(read) ? read.success.value : undefined
}

describe("text that is nearly JSON is mended [P101]", () => {
  const mended: Record<string, ReadonlyArray<readonly [text: string, value: unknown]>> = {
    "commas that are missing, at an end or at a beginning": [
      ['{"a": 1,}', { a: 1 }],
      ['{"a": [1, 2, ], }', { a: [1, 2] }],
      ['{"a": 1 "b": 2}', { a: 1, b: 2 }],
      ['{"a": ["x" "y"\n"z"] b: 2}', { a: ["x", "y", "z"], b: 2 }],
      ["{a: [1 2 -3 true false null {} []]}", { a: [1, 2, -3, true, false, null, {}, []] }],
      ["{, a: [, 1]}", { a: [1] }]
    ],
    "quotes of other kinds, and their absence": [
      ["{'a': 'it\\'s', b: ‘x’, “c”: “y”, `d`: ´z´}", { a: "it's", b: "x", c: "y", d: "z" }],
      [
        "{a b: hello there , c-d: https://x.org/?q=1, $e: 5 }",
        { "a b": "hello there", "c-d": "https://x.org/?q=1", $e: 5 }
      ],
      ['{a": 1, b: x"}', { a: 1, b: "x" }],
      ["{'say': 'he said \"hi\"'}", { say: 'he said "hi"' }]
    ],
    "quotes within a text": [
      ['{"a": "say "hi" now", "b": "x"}', { a: 'say "hi" now', b: "x" }],
      ['{"a": "a (see "b") c"}', { a: 'a (see "b") c' }],
      ['{"a": "The TV is 72"", "b": 1}', { a: 'The TV is 72"', b: 1 }],
      ["{'a': 'it's here'}", { a: "it's here" }],
      ['{a: "“x”, y ‘z’: w", "b": "(“x”)"}', { a: "“x”, y ‘z’: w", b: "(“x”)" }],
      ['{"a": "x, "b": 1}', { a: "x", b: 1 }],
      ['{"a": " x , "b": 1}', { a: " x", b: 1 }],
      ['{"a": "x\ny,\n"b": 1}', { a: "x\ny", b: 1 }],
      ["{a: ['x'1, \"z\"3]}", { a: ["x", 1, "z", 3] }],
      ['{"a": "x (y, [z], w, "b": 1}', { a: "x (y, [z], w", b: 1 }],
      ['{"a": "x "y" z, w , "b": 1}', { a: 'x "y" z, w', b: 1 }]
    ],
    "colons, comments, dots and fences": [
      ['{"a" "x"}', { a: "x" }],
      ['{ // one\n"a": /* two */ 1}', { a: 1 }],
      ["{a: x // y\n, b: 1}", { a: "x", b: 1 }],
      ["{a: [1, 2, ...], b: [..., 3], c: [1, ..., 9], ...}", { a: [1, 2], b: [3], c: [1, 9] }],
      ["```json\n{a: 1}\n```", { a: 1 }],
      ["{a: 1}}],", { a: 1 }]
    ],
    "words and numbers of other languages": [
      ["{a: True, b: False, c: None, d: undefined}", { a: true, b: false, c: null, d: null }],
      [
        "{a: .5, b: -.5, c: 2., d: 2e, e: 1.e3, f: 007, g: 0.0}",
        { a: 0.5, b: -0.5, c: 2, d: 2, e: 1000, f: "007", g: 0 }
      ],
      ["{a: Nonesuch, b: 12px, c: +5, d: NaN}", { a: "Nonesuch", b: "12px", c: "+5", d: "NaN" }]
    ],
    "escapes and line ends": [
      ['{"a": "one\ntwo\tthree\\\nfour", "b": "\\d\\u00e9\\n\\u00C9"}', { a: "one\ntwo\tthree\nfour", b: "dé\nÉ" }],
      ['{\\"a\\": \\"b\\", \\"c\\": [1,]}', { a: "b", c: [1] }],
      ['{\\n  \\"a\\": 1\\n}', { a: 1 }],
      ['{"a": "x" + "y" +\n \'z\', b: 1}', { a: "xyz", b: 1 }],
      ['{\\"a\\": \\"x\ny\rz\tw\\"}', { a: "x\ny\rz\tw" }],
      ["{\u00a0a:\u200b\u30001}", { a: 1 }]
    ]
  }
  for (const [what, cases] of Object.entries(mended)) {
    it(`${what} [P101]`, () => {
      for (const [text, value] of cases) assert.deepStrictEqual(repaired(text), value, text)
    })
  }

  it("numbers stay as they are spelled, as far as JSON allows it [P101]", () => {
    const read = Coercion.parse("{a: 1e5, b: 1.50E-07, c: -2e+, d: 3.e1, e: -.5e1, f: -01}", ["repair"])
    assert.strictEqual(
      Result.isSuccess(read) ? read.success.text : undefined,
      '{"a": 1e5, "b": 1.50E-07, "c": -2e+0, "d": 3.0e1, "e": -0.5e1, "f": "-01"}'
    )
  })

  it("a key that is called __proto__ is one like any other [P101]", () => {
    assert.strictEqual(JSON.stringify(repaired("{__proto__: {a: 1}}")), '{"__proto__":{"a":1}}')
  })
})

it("incomplete text stays as it is [P104]", () => {
  for (const text of [
    "{",
    "{a",
    "{a:",
    "{a:}",
    "{a: 1",
    "{a: [1, 2}",
    "{a: 1]",
    "[1,,2]",
    "{a: 1,, b: 2}",
    "{a: 1 b}",
    "{a b}",
    "{: 1}",
    '{"a": "x}',
    '{"a": "x\\',
    '{"a": "\\u12"}',
    '{"a": "\\u12zz", "b": 1}',
    '{"a": "x" + }',
    '{"a": "x}, {"b": 1}',
    '{"a": 1} and more',
    "{a: 1} {b: 2}",
    "{a: 1\n/* ",
    "{a: (1, 2}",
    'a "b" c',
    "f({a: 1})"
  ]) {
    assert.isUndefined(repaired(text), text)
  }
})

it("it is idempotent, for any text [P105]", () => {
  const parts = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"',
    "'",
    "“",
    "a",
    "1",
    ".",
    "-",
    "\\",
    "/",
    "*",
    "+",
    " ",
    "\n",
    "null",
    "\ud83d"
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 24 }), (all) => {
      for (const text of [all.join(""), `{"a":${all.join("")}}`, `{a:[${all.join("")}]}`]) {
        const read = Coercion.parse(text, ["repair"])
        if (Result.isFailure(read)) continue
        assert.deepStrictEqual(JSON.parse(read.success.text ?? ""), read.success.value)
      }
    }),
    { numRuns: 2000 }
  )
})
