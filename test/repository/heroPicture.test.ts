/** The picture of the README: true of a program, and in the colours of the site and of all drawings. */
import { assert, describe, it } from "@effect/vitest"
import type { LlmError } from "@kintsugi/core"
import type { Effect } from "effect"
import { dark, light, type Palette } from "../../packages/view/src/drawing/Colors.ts"
import { read } from "../../scripts/files.ts"
import { heroes } from "../../scripts/pictures.ts"
import { description, type } from "../../scripts/pictures/hero.ts"
import { bare, desk } from "../../scripts/pictures/story.ts"
import type { Equal, Expect } from "../types/_support/Identity.ts"
import { contrast, over } from "../view/drawing/_support/sight.ts"

const [wide, narrow] = [read(heroes.wide).text, read(heroes.narrow).text]

const wordsOf = (svg: string): string =>
  svg
    .replaceAll(/<style>[^<]*<\/style>|<desc[^<]*<\/desc>/g, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll(/\s+/g, " ")

const ask = () => desk()("Settle the order.")
const askBare = () => bare()("Settle the order.")
type ErrorOf<F extends () => unknown> =
  ReturnType<F> extends Effect.Effect<string, infer E extends { readonly _tag: string }, unknown> ? E["_tag"] : never
type Named<Name extends string> = Name extends "LlmError" ? LlmError.LlmError["_tag"] : Name
type _ = [
  Expect<Equal<ErrorOf<typeof ask>, Named<(typeof type.left)[number]>>>,
  Expect<Equal<ErrorOf<typeof askBare>, Named<(typeof type.handled)[number] | (typeof type.left)[number]>>>
]

describe("the picture of the README", () => {
  it("shows the type that the compiler infers, and the rows of its program [P1247]", () => {
    const whole = [...type.handled, ...type.left].join(" | ")
    for (const svg of [wide, narrow]) {
      assert.include(
        wordsOf(svg)
          .replaceAll(/\s*\|\s*/g, " | ")
          .replaceAll(/\s+,/g, ","),
        whole
      )
      const gone = [...svg.matchAll(/class="quiet gone">(\w+)</g)].map(([, name]) => name)
      assert.deepStrictEqual(gone, [...type.handled])
      for (const row of ["ladder(retry(waits), tell())", "ladder(fix(json), tell())", "tell()"]) {
        assert.include(read("scripts/pictures/story.ts").text, `: ${row}`)
        assert.include(svg, `>${row}<`)
      }
    }
  })

  it("has no number but those of its run: a wait and an argument [P1247]", () => {
    for (const svg of [wide, narrow]) assert.deepStrictEqual(wordsOf(svg).match(/\d+/g), ["2", "10", "10"])
  })

  it("is shown by the README, with its description in words [P1247]", () => {
    const readme = read("README.md").text
    assert.include(readme, `srcset="${heroes.narrow}">\n  <img src="${heroes.wide}" alt="${description}">`)
    assert.isBelow(readme.indexOf(heroes.wide), readme.indexOf("```ts"))
    for (const svg of [wide, narrow]) assert.include(svg, `<desc id="desc">${description}</desc>`)
  })
})

/** The declarations of a rule of CSS, by their names. */
const declared = (css: string, selector: string): ReadonlyMap<string, string> => {
  const [, body = ""] = new RegExp(`(?:^|\\n)${selector.replaceAll(".", "\\.")} \\{([^}]*)\\}`).exec(css) ?? []
  return new Map([...body.matchAll(/^ *(--[\w-]+): ([^;]+);$/gm)].map(([, name = "", value = ""]) => [name, value]))
}

/** The colours of a drawing, and where the site has the same. */
const shared: Readonly<Record<string, keyof Palette>> = {
  "--vp-c-bg": "paper",
  "--vp-c-bg-soft": "raised",
  "--vp-c-divider": "line",
  "--vp-c-text-1": "ink",
  "--vp-c-brand-1": "goldInk",
  "--vp-c-brand-3": "goldInk"
}

describe.each([
  [":root", light],
  [".dark", dark]
] as const)("the colours of %s", (selector, palette) => {
  const css = declared(read("site/.vitepress/theme/style.css").text, selector)

  it("are the same in the site as in all drawings [P1247]", () => {
    for (const [name, color] of Object.entries(shared)) assert.strictEqual(css.get(name), palette[color], name)
    assert.strictEqual(css.get("--vp-c-brand-soft"), `${palette.gold}24`)
    assert.include(read("site/.vitepress/config.ts").text, `fill="${light.gold}"`)
  })

  it("are those of the picture, and texts in it have WCAG's contrast [P1247]", () => {
    const allowed = new Set<string>(Object.values(palette))
    for (const svg of [wide, narrow]) {
      const [, rules = ""] = /<style>([^<]*)<\/style>/.exec(svg) ?? []
      const [first = "", second = ""] = rules.split("@media(prefers-color-scheme:dark)")
      const colors = (palette === light ? first : second).match(/#[0-9a-f]{6}/g) ?? []
      assert.isAbove(colors.length, 10)
      assert.deepStrictEqual(
        colors.filter((color) => !allowed.has(color)),
        []
      )
    }
    const texts = [
      ["ink", palette.paper],
      ["ink", palette.raised],
      ["quiet", palette.paper],
      ["quiet", palette.raised],
      ["failed", palette.raised],
      ["failed", palette.paper],
      ["goldInk", palette.paper],
      ["onFill", palette.model],
      ["onFill", palette.tool],
      ["ink", over(palette.failed, palette.paper, 0.25)]
    ] as const
    for (const [text, ground] of texts) assert.isAtLeast(contrast(palette[text], ground), 4.5, `${text} on ${ground}`)
    assert.isAtLeast(contrast(palette.gold, palette.paper), 3)
  })
})
