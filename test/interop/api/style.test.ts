/** The values of parameters as OpenAPI writes them. */
import { assert, describe, it } from "@effect/vitest"
import { effectOf, lengthOf } from "../../../packages/interop/src/api/options.ts"
import { namesOf } from "../../../packages/interop/src/api/names.ts"
import { type Parameter, pairs, simple } from "../../../packages/interop/src/api/style.ts"
import { Tool } from "@kintsugi/core"

const of = (style: Parameter["style"], isExploded: boolean): Parameter => ({
  name: "q",
  in: "query",
  isRequired: false,
  style,
  isExploded
})

const list = ["a", 1, { b: true }]
const object = { a: "x", b: [1, 2], c: null }

describe("a value", () => {
  it("in a path or a header is a text, a list or fields, or JSON [P1794]", () => {
    for (const isExploded of [true, false]) {
      assert.strictEqual(simple(of("simple", isExploded), "a b"), "a b")
      assert.strictEqual(simple(of("simple", isExploded), 7), "7")
      assert.strictEqual(simple(of("simple", isExploded), null), "null")
      assert.strictEqual(simple(of("simple", isExploded), undefined), "")
      assert.strictEqual(simple(of("simple", isExploded), list), 'a,1,{"b":true}')
      assert.strictEqual(simple(of("json", isExploded), "a"), '"a"')
      assert.strictEqual(simple(of("json", isExploded), list), '["a",1,{"b":true}]')
    }
    assert.strictEqual(simple(of("simple", true), object), "a=x,b=[1,2],c=null")
    assert.strictEqual(simple(of("simple", false), object), "a,x,b,[1,2],c,null")
  })

  const rows: ReadonlyArray<readonly [Parameter["style"], boolean, unknown, ReadonlyArray<readonly [string, string]>]> =
    [
      ["form", true, "a b", [["q", "a b"]]],
      ["form", false, 7, [["q", "7"]]],
      ["form", true, false, [["q", "false"]]],
      [
        "form",
        true,
        list,
        [
          ["q", "a"],
          ["q", "1"],
          ["q", '{"b":true}']
        ]
      ],
      ["form", true, [], []],
      ["form", false, list, [["q", 'a,1,{"b":true}']]],
      ["spaceDelimited", false, list, [["q", 'a 1 {"b":true}']]],
      ["pipeDelimited", false, list, [["q", 'a|1|{"b":true}']]],
      ["deepObject", false, list, [["q", 'a,1,{"b":true}']]],
      ["simple", false, list, [["q", 'a,1,{"b":true}']]],
      [
        "form",
        true,
        object,
        [
          ["a", "x"],
          ["b", "[1,2]"],
          ["c", "null"]
        ]
      ],
      ["form", false, object, [["q", "a,x,b,[1,2],c,null"]]],
      ["spaceDelimited", false, object, [["q", "a x b [1,2] c null"]]],
      ["pipeDelimited", false, object, [["q", "a|x|b|[1,2]|c|null"]]],
      [
        "deepObject",
        true,
        object,
        [
          ["q[a]", "x"],
          ["q[b]", "[1,2]"],
          ["q[c]", "null"]
        ]
      ],
      ["json", true, list, [["q", '["a",1,{"b":true}]']]],
      ["json", false, "a", [["q", '"a"']]]
    ]

  for (const [style, isExploded, value, written] of rows) {
    const shown = `${style}${isExploded ? ", exploded" : ""}`
    it(`in a query has the pairs of its style: ${shown}, ${JSON.stringify(value)} [P1794]`, () => {
      assert.deepStrictEqual(pairs(of(style, isExploded), value), written)
    })
  }
})

describe("what tools of all APIs share", () => {
  it("is what each method does [P1791]", () => {
    const methods = ["GET", "HEAD", "OPTIONS", "QUERY", "TRACE", "PUT", "DELETE", "POST", "PATCH", "get", ""]
    assert.deepStrictEqual(methods.map(effectOf), [
      "none",
      "none",
      "none",
      "none",
      "none",
      "idempotent",
      "idempotent",
      "unsafe",
      "unsafe",
      "unsafe",
      "unsafe"
    ])
  })

  it("is the length of a result, if an option says it [P1375]", () => {
    const putAside = Tool.putAside({ above: 10 })
    assert.deepStrictEqual<object>(lengthOf({ timeout: 1, maxResponseBytes: 2 }), {})
    assert.deepStrictEqual<object>(lengthOf({ maxResultChars: 0 }), { maxResultChars: 0 })
    assert.deepStrictEqual<object>(lengthOf({ putAside }), { putAside })
    assert.deepStrictEqual<object>(lengthOf({ putAside, maxResultChars: 3 }), { maxResultChars: 3, putAside })
  })

  it("is a name for each, of which options may name those that there are [P1790 P1791 P1799]", () => {
    assert.deepStrictEqual(namesOf("Tools", ["a.b", "c"], ["c", "a.b", "c"]), ["a_b", "c"])
    assert.throws(() => namesOf("Tools", ["a", "b", "a"], []), TypeError, "Tools: there are two tools named 'a'")
    assert.throws(() => namesOf("Tools", ["a_b"], ["a.b"]), TypeError, "Tools: there is no tool 'a.b'")
  })
})
