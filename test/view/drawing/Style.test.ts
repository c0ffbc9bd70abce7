/** The CSS of drawings: what each class means, in both themes. */
import { assert, describe, it } from "@effect/vitest"
import { dark, light, type Palette } from "../../../packages/view/src/drawing/Colors.ts"
import * as Style from "../../../packages/view/src/drawing/Style.ts"

/** The declarations of each selector, in order. */
const rulesIn = (css: string): ReadonlyArray<readonly [selector: string, declarations: string]> =>
  [...css.matchAll(/([^{}]+)\{([^{}]*)\}/g)].map(([, selector = "", declarations = ""]) => [selector, declarations])

const faces = [
  [
    ".k-figure text",
    "font-family:ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:11px"
  ],
  [".k-figure .k-name", "font-size:12px;font-weight:600"],
  [".k-figure .k-small", "font-size:11px"],
  [".k-line,.k-axis,.k-thread,.k-person", "fill:none"]
] as const

const meanings = (palette: Palette, prefix: string) => {
  const fills = ["paper", "raised", "run", "turn", "model", "transport", "tool", "fixer", "failed", "gold"] as const
  const { edge, failed, gold, ink, line, onFill, paper, quiet } = palette
  const rules: ReadonlyArray<readonly [meaning: string, declarations: string]> = [
    ...fills.map((name) => [name, `fill:${palette[name]}`] as const),
    ["turn", `stroke:${quiet};stroke-width:.75`],
    ["text", `fill:${ink}`],
    ["quiet", `fill:${quiet}`],
    ["on", `fill:${onFill}`],
    ["line", `stroke:${line}`],
    ["axis", `stroke:${line};stroke-dasharray:2 3`],
    ["thread", `stroke:${gold}`],
    ["run", `stroke:${edge}`],
    ["turn", `stroke:${edge}`],
    ["unfinished", `stroke:${edge}`],
    ["person", `stroke:${ink}`],
    ["unfinished", "fill-opacity:.45"],
    ["pale", `fill-opacity:.25;stroke:${failed}`],
    ["crack", `fill:none;stroke:${paper}`],
    // each mark has an edge of the colour that its fill has not
    ["tell", `fill:${paper};stroke:${gold}`],
    ["lost", `fill:${failed};stroke:${paper}`],
    ["mended", `fill:${gold};stroke:${paper}`],
    ["asked", `fill:${paper};stroke:${ink}`],
    ["note", `fill:${quiet};stroke:${paper}`]
  ]
  return rules.map(([name, declarations]) => [`${prefix}.k-${name}`, declarations] as const)
}

describe("the style of a drawing [P1212]", () => {
  it("has a colour for each meaning, of the theme of the reader's system or of the page [P1212]", () => {
    for (const [css, media, prefix] of [
      [Style.figure, "@media screen and (prefers-color-scheme:dark){", ""],
      [Style.themed, "@media screen{", '[data-theme="dark"] ']
    ] as const) {
      const [bright = "", night = "", ...rest] = css.split(media)
      assert.deepStrictEqual(rest, [])
      assert.deepStrictEqual(rulesIn(bright), [...faces, ...meanings(light, "")])
      assert.isTrue(night.endsWith("}}"))
      assert.deepStrictEqual(rulesIn(night.slice(0, -1)), meanings(dark, prefix))
      assert.strictEqual(
        rulesIn(bright)
          .map(([selector, declarations]) => `${selector}{${declarations}}`)
          .join(""),
        bright
      )
    }
  })

  it("has colours alone, of which lines are the faintest [P1212]", () => {
    for (const palette of [light, dark]) {
      for (const color of Object.values(palette)) assert.match(color, /^#[0-9a-f]{6}$/)
      assert.strictEqual(new Set([palette.line, palette.paper, palette.raised, palette.edge]).size, 4)
    }
  })
})
