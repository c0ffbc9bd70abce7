/** Which recorded exchange a request gets, and how the nearest one differs from it. */
import { assert, describe, it } from "@effect/vitest"
import * as Matching from "../../../../packages/providers/src/testing/recording/matching.ts"

type Request = Parameters<typeof Matching.find>[2]
type Json = NonNullable<Request["json"]>

const recorded = (...requests: ReadonlyArray<Request>): Parameters<typeof Matching.find>[0] =>
  requests.map((request) => ({ request, end: "complete" }))

const of = (json?: Json, more: Partial<Request> = {}): Request => ({
  method: "POST",
  path: "/a",
  ...(json === undefined ? {} : { json }),
  ...more
})

const find = (requests: ReadonlyArray<Request>, asked: Request, ...used: ReadonlyArray<number>) =>
  Matching.find(recorded(...requests), new Set(used), asked)

/** The first difference of two bodies. */
const between = (one: Json, other: Json) => {
  const match = find([of(one)], of(other))
  return match.kind === "different" ? match.first : match.kind
}

describe("a request", () => {
  it("gets the first equal exchange that was not used", () => {
    const all = [of({ a: 1 }), of({ b: 1 }), of({ a: 1 })]
    const found = (index: number) => ({ kind: "found", index, exchange: recorded(...all)[index] })
    assert.deepStrictEqual<unknown>(find(all, of({ a: 1 })), found(0))
    assert.deepStrictEqual<unknown>(find(all, of({ a: 1 }), 0), found(2))
    assert.deepStrictEqual<unknown>(find(all, of({ b: 1 }), 0), found(1))
    assert.deepStrictEqual<unknown>(find(all, of({ a: 1 }), 0, 2), { kind: "used up", index: 2, times: 2 })
    assert.deepStrictEqual<unknown>(find([], of({ a: 1 })), { kind: "nothing" })
    assert.strictEqual(find([of({ a: 1, b: [2] })], of({ b: [2], a: 1 })).kind, "found")
    assert.strictEqual(find([of(undefined, { text: "x" })], of(undefined, { text: "x" })).kind, "found")
    assert.strictEqual(find([of()], of()).kind, "found")
  })

  it("is told the first difference of its method, its path or its body", () => {
    const first = (field: string, recorded: string, asked: string) => ({
      kind: "different",
      index: 0,
      first: { field, recorded, asked }
    })
    assert.deepStrictEqual<unknown>(find([of()], of(undefined, { method: "GET" })), first("method", '"POST"', '"GET"'))
    assert.deepStrictEqual<unknown>(find([of()], of(undefined, { path: "/b" })), first("path", '"/a"', '"/b"'))
    assert.deepStrictEqual<unknown>(find([of({ a: 1 })], of(undefined, { text: "x" })), first("body", '{"a":1}', '"x"'))
    assert.deepStrictEqual<unknown>(find([of({ a: 1 })], of()), first("body", '{"a":1}', "null"))
  })

  it("is told a difference within its body by its place", () => {
    const cases: ReadonlyArray<readonly [Json, Json, string, string, string]> = [
      [{ a: 1 }, { a: 2 }, "body.a", "1", "2"],
      [{ a: "x" }, { a: "y" }, "body.a", '"x"', '"y"'],
      [{ a: 5 }, { a: "5" }, "body.a", "5", '"5"'],
      [{ a: "<redacted>" }, { a: 5 }, "body.a", '"<redacted>"', "5"],
      [{ a: null }, { a: {} }, "body.a", "null", "{}"],
      [{ a: {} }, { a: [] }, "body.a", "{}", "[]"],
      [{ a: 1 }, {}, "body.a", "1", "nothing"],
      [{}, { toString: 1 }, "body.toString", "nothing", "1"],
      [{ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, "body.a[1].b", "2", "3"],
      [[1, 2], [1], "body[1]", "2", "nothing"],
      [[1], [1, 2], "body[1]", "nothing", "2"]
    ]
    for (const [one, other, field, recorded, asked] of cases) {
      assert.deepStrictEqual<unknown>(between(one, other), { field, recorded, asked })
    }
    const { recorded: shown = "" } = between({ a: "x".repeat(200) }, { a: "y" }) as { readonly recorded?: string }
    assert.isBelow(shown.length, 100)
  })

  it("is compared with the exchange that has the fewest differences, none of them in method or path", () => {
    const nearest = (requests: ReadonlyArray<Request>, ...used: ReadonlyArray<number>) => {
      const match = find(requests, of({ a: 1, b: 1, c: 1 }), ...used)
      return match.kind === "different" ? match.index : match.kind
    }
    const [one, two, three] = [of({ a: 1, b: 1, c: 2 }), of({ a: 1, b: 2, c: 2 }), of({ a: 2, b: 2, c: 2 })]
    assert.strictEqual(nearest([three, one, two]), 1)
    assert.strictEqual(nearest([two, three]), 0)
    assert.strictEqual(nearest([one, one]), 0)
    assert.strictEqual(nearest([one, one], 0), 1)
    assert.strictEqual(nearest([two, one], 1), 1)
    for (const elsewhere of [{ path: "/b" }, { method: "GET" }]) {
      const equal = { ...of({ a: 1, b: 1, c: 1 }), ...elsewhere }
      assert.strictEqual(nearest([equal, three]), 1)
      assert.strictEqual(nearest([three, equal], 0), 0)
    }
  })
})

it("a secret that was redacted is equal to any text in its place", () => {
  const like = (recorded: string, ...asked: ReadonlyArray<string>) =>
    asked.filter((one) => between({ a: recorded }, { a: one }) === "found")
  assert.deepStrictEqual(like("<redacted>", "", "x", "<redacted>"), ["", "x", "<redacted>"])
  assert.deepStrictEqual(like("a<redacted>b", "ab", "axb", "a1b2b", "xab", "abx", "a", "b", "aaa"), [
    "ab",
    "axb",
    "a1b2b"
  ])
  assert.deepStrictEqual(like("ab<redacted>ba", "aba", "abba", "ab ba"), ["abba", "ab ba"])
  assert.deepStrictEqual(like("a<redacted>b<redacted>c", "a1b2c", "a1c2b3c", "a1c2c", "abc"), [
    "a1b2c",
    "a1c2b3c",
    "abc"
  ])
  assert.deepStrictEqual(like("plain", "plain", "plainer"), ["plain"])
})
