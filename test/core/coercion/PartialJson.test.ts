/** What is seen of JSON while it is written, piece by piece. */
import { assert, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { type Growth, PartialJson } from "../../../packages/core/src/coercion/PartialJson.ts"

/** Shows everything: texts, objects and lists grow, other values come as a whole. */
const growing = (first: string): Growth => {
  if (first === "{") return { kind: "object", field: () => growing }
  if (first === "[") return { kind: "list", item: () => growing }
  return first === '"' ? { kind: "text" } : whole(Schema.Json)
}

const whole = (schema: Schema.Codec<unknown, unknown>): Growth => ({
  kind: "whole",
  decode: Schema.decodeUnknownResult(schema)
})

/** What is seen after each piece, whether that is more than before, and whether it is all. */
const read = (pieces: Iterable<string>, root = growing, opening = "{") => {
  const reader = new PartialJson(root, opening)
  return Array.from(pieces, (piece) => {
    const isMore = reader.push(piece)
    return [isMore, reader.seen, reader.isDone] as const
  })
}

const lastOf = (pieces: Iterable<string>, root = growing, opening = "{") =>
  read(pieces, root, opening).at(-1)?.slice(1) ?? assert.fail("no piece")

const tokens = [
  '{ "a" : 1 , "b" : [ true , false , null , -1.5e+3 , "x" , [ ] , { } ] , "" : "" , "c" : { "d" : { "e" : 0 } } }',
  String.raw`[ { "t" : "é😀\u00e9\ud83d\ude00\n\"\\\/" } , [ [ "{}[],:" ] , 2 ] , "" , 3 ]`,
  String.raw`[ "\ud83d" , "" , { "\ud83d" : "" } ]`,
  String.raw`{ "__proto__" : { "a" : [ 1 ] } , "a\"b" : 1 , "b" : { "__proto__" : "x" } }`
].map((text) => text.split(" "))

it("JSON is seen as it is when it is whole, however it is cut and spaced [P301]", () => {
  for (const all of tokens) {
    for (const between of ["", " ", " \t\r\n"]) {
      const text = all.join(between)
      const opening = text.charAt(0)
      for (const pieces of [[text], [...text], text.split(""), all.map((token) => `${token}${between}`)]) {
        const [seen, isDone] = lastOf(pieces, growing, opening)
        assert.strictEqual(JSON.stringify(seen), JSON.stringify(JSON.parse(text)), text)
        assert.isTrue(isDone)
      }
    }
  }
})

it("a piece says whether more is seen, and a value that was seen stays as it was [P301]", () => {
  for (const all of tokens) {
    let before: string | undefined
    const text = all.join(" ")
    const seen = read(text.split(""), growing, text.charAt(0)).map(([isMore, value]) => {
      const written = JSON.stringify(value)
      assert.strictEqual(isMore, written !== before, `${before} and ${written}`)
      before = written
      return [value, written] as const
    })
    // a half of a pair is not seen, so texts of values do not change
    for (const [value, written] of seen) assert.strictEqual(JSON.stringify(value), written)
  }
})

it("of JSON is seen what has come so far [P301]", () => {
  const pieces = [
    'so: [1] and {"a',
    '":',
    '"x',
    "y",
    String.raw`\u00`,
    'e9"',
    ',"b":[1',
    "2,",
    '{"c":nu',
    "ll",
    "}",
    "]}",
    "{"
  ]
  assert.deepStrictEqual(read(pieces), [
    [true, {}, false],
    [false, {}, false],
    [true, { a: "x" }, false],
    [true, { a: "xy" }, false],
    [false, { a: "xy" }, false],
    [true, { a: "xyé" }, false],
    [true, { a: "xyé", b: [] }, false],
    [true, { a: "xyé", b: [12] }, false],
    [true, { a: "xyé", b: [12, {}] }, false],
    [false, { a: "xyé", b: [12, {}] }, false],
    [true, { a: "xyé", b: [12, { c: null }] }, false],
    [false, { a: "xyé", b: [12, { c: null }] }, true],
    [false, { a: "xyé", b: [12, { c: null }] }, true]
  ])
})

it("nothing is seen before the first character, wherever it comes [P301]", () => {
  const before = [false, undefined, false] as const
  assert.deepStrictEqual(read(["so: ", "", '"a" [1] ', "{"]), [before, before, before, [true, {}, false]])
  assert.deepStrictEqual(lastOf(['"a" {"b": 1} ', "[2]"], growing, "["), [[2], true])
})

it("a half of a character at the end of a text is seen when the text ends [P301]", () => {
  for (const half of ["\ud83d", String.raw`\ud83d`]) {
    assert.deepStrictEqual(read(['{"a":"x', half, '"', "}"]), [
      [true, { a: "x" }, false],
      [false, { a: "x" }, false],
      [true, { a: "x\ud83d" }, false],
      [false, { a: "x\ud83d" }, true]
    ])
    assert.deepStrictEqual(read(['{"a":"', half, '"']), [
      [true, { a: "" }, false],
      [false, { a: "" }, false],
      [true, { a: "\ud83d" }, false]
    ])
  }
})

it("of broken JSON is seen what came before the break, and no more [P301]", () => {
  const cases: ReadonlyArray<readonly [text: string, seen: unknown]> = [
    ['{"a";1}', {}],
    ["{a:1}", {}],
    ["{'a':1}", {}],
    ['{,"a":1}', {}],
    ['{"a":,"b":1}', {}],
    ['{"a"}', {}],
    ['{"a":}', {}],
    ['{"a":1]', { a: 1 }],
    ['{"a":1 "b":2}', { a: 1 }],
    ['{"a":1 :2}', { a: 1 }],
    ['{"a":1:2}', {}],
    ['{"a":1,}', { a: 1 }],
    ['{"a":1,,"b":2}', { a: 1 }],
    ['{"a":tru}', {}],
    ['{"a":tru e}', {}],
    ['{"a":01}', {}],
    ['{"a":"x\nny"}', { a: "x" }],
    ['{"a":"x\u0000y"}', { a: "x" }],
    ['{"a":"x\u001fy"}', { a: "x" }],
    [String.raw`{"a":"x\y"}`, { a: "x" }],
    [String.raw`{"a":"x\u00g9"}`, { a: "x" }],
    ['{"a":[1}', { a: [1] }],
    ['{"a":[1,]}', { a: [1] }],
    ['{"a":[,1]}', { a: [] }],
    ['{"a":[1 2]}', { a: [1] }],
    ['{"a":[1:2]}', { a: [] }],
    ['{"a":"x"y}', { a: "x" }],
    ['{"a":"x""b":1}', { a: "x" }]
  ]
  for (const [text, seen] of cases) {
    for (const pieces of [[text], text.split(""), [text, "", '"}', ',"z":1}', "]}"]])
      assert.deepStrictEqual(lastOf(pieces), [seen, false], text)
  }
})

it("what is hidden is not seen; of a list nothing is seen after it [P301]", () => {
  const root = (): Growth => ({
    kind: "object",
    field: (key) => (key === "n" ? () => whole(Schema.Finite) : key === "l" ? () => list : undefined)
  })
  const list: Growth = {
    kind: "list",
    item: (index) => (index === 3 ? undefined : () => whole(index === 1 ? Schema.FiniteFromString : Schema.Finite))
  }
  const cases: ReadonlyArray<readonly [text: string, seen: unknown]> = [
    ['{"a":{"n":1},"n":5,"b":[1]}', { n: 5 }],
    ['{"n":"x","a":"n","l":[]}', { l: [] }],
    ['{"n":[1],"l":[1,"2",3,4,5]}', { l: [1, 2, 3] }],
    ['{"l":[1,"x",3]}', { l: [1] }],
    ['{"l":["x",2],"n":1}', { l: [], n: 1 }]
  ]
  for (const [text, seen] of cases) {
    for (const pieces of [[text], text.split("")]) assert.deepStrictEqual(lastOf(pieces, root), [seen, true], text)
  }
  assert.deepStrictEqual(
    lastOf(['{"a":1}'], () => whole(Schema.Finite)),
    [undefined, true]
  )
})

it("a value that comes as a whole is decoded once, when it is complete [P301]", () => {
  const decoded: Array<unknown> = []
  const counted: Growth = { kind: "whole", decode: (json) => (decoded.push(json), Result.succeed("decoded")) }
  const root = (): Growth => ({ kind: "object", field: () => () => counted })
  const value = '{"b":[1,{"c":"x"}],"d":{}}'
  const seen = read(`{"a":${value}}`.split(""), root)
  const whenWhole = `{"a":${value}`.length - 1
  assert.deepStrictEqual(
    seen.flatMap(([isMore], index) => (isMore ? [index] : [])),
    [0, whenWhole]
  )
  assert.deepStrictEqual(seen.slice(-2), [
    [true, { a: "decoded" }, false],
    [false, { a: "decoded" }, true]
  ])
  assert.deepStrictEqual(
    read([value.slice(0, -1), "}"], () => counted),
    [
      [false, undefined, false],
      [true, "decoded", true]
    ]
  )
  assert.deepStrictEqual(decoded, [JSON.parse(value), JSON.parse(value)])
})

it("a closed value is not copied [P301]", () => {
  const closed: Array<unknown> = []
  for (const [, seen] of read(['{"a":{"b":[1]},"c":"x', 'y","d":[{"e":1},', "2]}"])) {
    const { a } = Schema.decodeUnknownSync(Schema.Struct({ a: Schema.Unknown }))(seen)
    closed.push(a)
  }
  assert.deepStrictEqual(closed[0], { b: [1] })
  for (const one of closed) assert.strictEqual(one, closed[0])
})

it("a text ends before a line end that is not written as an escape, with any text behind it [P301]", () => {
  for (const rest of ["n", "\\n", '"', "t more"])
    assert.deepStrictEqual(lastOf(`{"a":"x\n${rest}`), [{ a: "x" }, false], rest)
})
