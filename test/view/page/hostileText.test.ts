/** Runs hold what anybody has written: none of it may do anything in a page. */
import { assert, describe, it } from "@effect/vitest"
import { Page, Recording, Scene, Svg } from "@kintsugi/view"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { root } from "../../../scripts/files.ts"
import { path, render, renderServe, servePath } from "../../../scripts/view.ts"
import { markup, scriptJson, visible } from "../../../packages/view/src/text/Escape.ts"
import { hostile, hostileRun } from "../_support/hostile.ts"

/** The parts of a page that its reader's browser reads as markup. */
const partsOf = (html: string) => {
  const scripts = [...html.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)]
  return { scripts, markup: html.replaceAll(/<script[^>]*>[^]*?<\/script>|<style>[^]*?<\/style>/g, "") }
}

/** Elements and attributes of our own. */
const tags = new Set(
  "!doctype html head meta title style body header h1 h2 div main p code svg g path text tspan rect"
    .split(" ")
    .flatMap((tag) => [tag, `/${tag}`])
)

describe("hostile texts [P1214]", () => {
  it.each(hostile)("stay text: %j [P1214]", (text) => {
    const html = Page.make(hostileRun(text), { title: text })
    const { markup: outside, scripts } = partsOf(html)
    assert.strictEqual(scripts.length, 2)
    for (const [, tag = ""] of outside.matchAll(/<([^\s>]+)/g)) assert.isTrue(tags.has(tag.toLowerCase()), tag)
    for (const [tag] of outside.matchAll(/<[^>]*>/g))
      assert.notMatch(tag.replaceAll(/"[^"]*"/g, '""'), /\son\w+|style=/i)
    const data: { readonly events: ReadonlyArray<unknown> } = JSON.parse(scripts[0]?.[2] ?? "")
    assert.deepStrictEqual(data.events, JSON.parse(JSON.stringify(hostileRun(text).events)))
    const svg = Svg.draw(Scene.make(hostileRun(text)), { title: text })
    for (const [, tag = ""] of svg.replaceAll(/<style>[^]*?<\/style>/g, "").matchAll(/<\/?([^\s/>]+)/g))
      assert.isTrue(["svg", "title", "desc", "style", "rect", "g", "path", "text", "tspan"].includes(tag), tag)
  })

  it("any text at all stays within its element, its attribute and its script [P1214]", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...hostile))
    fc.assert(
      fc.property(text, text, (one, other) => {
        const shown = markup(one + other)
        assert.notMatch(shown, /[<>"']/)
        assert.notMatch(shown.replaceAll(/&(amp|lt|gt|quot|#39);/g, ""), /&/)
        const json = scriptJson({ [one]: other })
        assert.notMatch(json, /[<>\u2028\u2029]/)
        assert.deepStrictEqual(JSON.parse(json), { [one]: other })
      })
    )
  })

  it("what cannot be seen has a sign, and what can stays as it is [P1214]", () => {
    assert.strictEqual(visible("a\u0000b\u001bc\u007f"), "a\u2400b\u241bc\u2421")
    assert.strictEqual(visible("admin\u202etxt.exe\u2066x"), "admin[U+202E]txt.exe[U+2066]x")
    assert.strictEqual(visible("half \ud800 \u2028next"), "half \ufffd \nnext")
    const plain = "Größe, 名前, שלום, نص, 🙂 é\n\tindented"
    assert.strictEqual(visible(plain), plain)
  })
})

describe("the script of the page [P1217]", () => {
  it("is what its sources give [P1217]", { timeout: 60_000 }, async () => {
    assert.strictEqual(readFileSync(join(root, path), "utf8"), await render(), "npm run view writes it")
    assert.strictEqual(readFileSync(join(root, servePath), "utf8"), await renderServe(), "npm run view writes it")
  })

  it("is allowed by its hash, and nothing else is, from here or outside [P1217]", () => {
    const html = Page.make(hostileRun("x"))
    const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? []
    const { scripts } = partsOf(html)
    const hash = (text = "") => createHash("sha256").update(text).digest("base64")
    assert.include(policy, "default-src 'none'")
    assert.include(policy, `script-src 'sha256-${hash(scripts[1]?.[2])}'`)
    assert.include(policy, `style-src 'sha256-${hash(/<style>([^]*?)<\/style>/.exec(html)?.[1])}'`)
    assert.include(policy, "connect-src 'none'")
    assert.notMatch(policy, /unsafe|\*|https?:|data:/)
    assert.notMatch(html.replaceAll("http://www.w3.org/2000/svg", ""), /(src|href|action)\s*=|@import|url\(/i)
    const [, live = ""] =
      /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(Page.live({ url: "/runs/events" })) ?? []
    assert.strictEqual(live, policy.replace("connect-src 'none'", "connect-src 'self'"))
    for (const rule of ["default-src 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'"])
      assert.isTrue(live.split("; ").includes(rule), rule)
  })
})

it("a page has no snapshot: there are texts that were withheld, bytes, and the tokens of deferred calls [P1538]", () => {
  const event = { type: "run-suspended", runId: "r", agent: "a", turn: 1, at: 0, usage: {}, ledger: [] }
  const recording = Recording.fromEvents([{ ...event, snapshot: { secret: "MARKER" } }])
  const html = Page.make(recording)
  assert.include(html, "run-suspended")
  assert.notInclude(html, "MARKER")
})
