/** The CSS of the page of `kintsugi serve`. */
import { expect, it } from "vitest"
import { dark, light, type Palette } from "../../../../packages/view/src/drawing/Colors.ts"
import { style } from "../../../../packages/view/src/serve/browser/PageStyle.ts"

it("the page of a playground has the colours of drawings, in the light and in the dark", () => {
  const colours = ({ failed, gold, ink, line, model, paper, quiet, raised, tool }: Palette) =>
    `--paper:${paper};--raised:${raised};--ink:${ink};--quiet:${quiet};--line:${line};--failed:${failed};--gold:${gold};--model:${model};--tool:${tool};`
  expect(style).toContain(`\n:root{color-scheme:light dark;${colours(light)}}\n`)
  expect(style).toContain(`\n@media (prefers-color-scheme:dark){:root{${colours(dark)}}}\n`)
  // a colour that no rule has would be left out by a browser
  const used = new Set([...style.matchAll(/var\(--(\w+)\)/g)].map(([, name]) => name))
  expect([...used].toSorted()).toEqual(
    ["failed", "gold", "ink", "line", "model", "paper", "quiet", "raised", "tool"].toSorted()
  )
})
