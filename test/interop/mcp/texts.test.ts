/** Texts of MCP servers: their names, their last words, JSON that is too deep, and hints. */
import { assert, describe, it } from "@effect/vitest"
import { hintsOf, sideEffectsOf } from "../../../packages/interop/src/mcp/hints.ts"
import { Last } from "../../../packages/interop/src/mcp/last.ts"
import { oneLine } from "../../../packages/interop/src/mcp/line.ts"
import { resolve } from "../../../packages/interop/src/mcp/names.ts"
import { shallow, Shallow } from "../../../packages/interop/src/mcp/shallow.ts"

it("hints say what a tool does, and a tool without hints is unsafe", () => {
  assert.deepStrictEqual(
    [
      undefined,
      {},
      { readOnlyHint: true },
      { readOnlyHint: true, idempotentHint: false, destructiveHint: true },
      { idempotentHint: true },
      { readOnlyHint: false, idempotentHint: true },
      { destructiveHint: false },
      { readOnlyHint: false, idempotentHint: false },
      { openWorldHint: true }
    ].map((hints) => sideEffectsOf(hints)),
    ["unsafe", "unsafe", "none", "none", "idempotent", "idempotent", "unsafe", "unsafe", "unsafe"]
  )
  assert.deepStrictEqual((["none", "idempotent", "unsafe", "undeclared"] as const).map(hintsOf), [
    { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    undefined
  ])
})

it("the last words of a process are 500 characters, without half a word, and are said once", () => {
  const last = new Last("it wrote")
  assert.deepStrictEqual(last.words(), [])
  last.add(" oh ")
  last.add("no\n")
  assert.deepStrictEqual(last.words(), ["it wrote: oh no"])
  assert.deepStrictEqual(last.words(), [])
  last.add(" \n")
  assert.deepStrictEqual(last.words(), [])
  last.add("a".repeat(499))
  last.add("b")
  assert.deepStrictEqual(last.words(), [`it wrote: ${"a".repeat(499)}b`])
  last.add(`first ${"a".repeat(490)} end`)
  assert.deepStrictEqual(last.words(), [`it wrote: first ${"a".repeat(490)} end`])
  last.add(`first ${"a".repeat(490)} ends`)
  assert.deepStrictEqual(last.words(), [`it wrote: ${"a".repeat(490)} ends`])
  last.add(`s3cret ${"a".repeat(493)}`)
  last.add("!")
  assert.deepStrictEqual(last.words(), [`it wrote: ${"a".repeat(493)}!`])
  last.add("a".repeat(501))
  assert.deepStrictEqual(last.words(), [])
  last.add("w ".repeat(400))
  assert.deepStrictEqual(last.words(), [`it wrote: ${"w ".repeat(248)}w`])
})

it("a foreign text in a log is one line, without characters that a terminal obeys", () => {
  assert.strictEqual(oneLine("a\nb\u001b[31m\u2028c\u2029\u200bd é"), "a b [31m c  d é")
})

describe("the names of tools", () => {
  const named = (...all: ReadonlyArray<readonly [server: string, name: string]>) =>
    all.map(([server, name], tool) => ({ server, name, tool }))
  const all = named(["a", "search"], ["b", "search"], ["b", "get.it"], ["c", "get_it"], ["c", "own"])
  const namesOf = (...parts: Parameters<typeof resolve<number>>) => resolve(...parts).map(({ name }) => name)

  it("have the server before them where they need it, always or never", () => {
    assert.deepStrictEqual(namesOf(all, "when-needed"), ["a_search", "b_search", "b_get_it", "c_get_it", "own"])
    assert.deepStrictEqual(namesOf(all, "always"), ["a_search", "b_search", "b_get_it", "c_get_it", "c_own"])
    assert.deepStrictEqual(namesOf(all, "never"), ["search", "search_2", "get_it_2", "get_it", "own"])
    assert.deepStrictEqual(resolve(named(["a", "x"]), "always"), [{ server: "a", name: "a_x", tool: 0 }])
  })
})

describe("JSON that is too deep", () => {
  const bounds = { depth: 2, nodes: 1, bytes: 1 }
  const nested = (levels: number, inner = "") => "[".repeat(levels) + inner + "]".repeat(levels)

  it("has null for what is beyond the bound, and 16 levels around", () => {
    assert.strictEqual(shallow(nested(18), bounds), nested(18))
    assert.strictEqual(shallow(nested(19), bounds), nested(18, "null"))
    assert.strictEqual(
      shallow(nested(17, `1,${nested(5, "2")},{"a":${nested(4)}},3`), bounds),
      nested(17, '1,[null],{"a":null},3')
    )
    assert.strictEqual(shallow(`${nested(30)}`, { ...bounds, depth: 60 }), nested(30))
    assert.strictEqual(shallow(`${nested(30)}`, { ...bounds, depth: 59 }), nested(30))
  })

  it("is read through texts, with escapes, in pieces of any length", () => {
    const text = nested(18, String.raw`"[[\"[[\\","]]",{"k":["]"]},"\\"`)
    const short = nested(18, String.raw`"[[\"[[\\","]]",null,"\\"`)
    for (const size of [1, 2, 3, 7, text.length]) {
      const one = new Shallow(bounds)
      let taken = ""
      for (let at = 0; at < text.length; at += size) taken += one.take(text.slice(at, at + size))
      assert.strictEqual(taken, short)
    }
    assert.strictEqual(new Shallow(bounds).take(nested(18, '"",[1]')), nested(18, '"",null'))
    // closing brackets that nothing has begun
    assert.strictEqual(new Shallow(bounds).take(`]]}${nested(19)}`), `]]}${nested(18, "null")}`)
    assert.strictEqual(new Shallow(bounds).take(""), "")
  })
})
