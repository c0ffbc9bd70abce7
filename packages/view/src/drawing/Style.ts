/**
 * The CSS of a drawing. Its classes are named after what the elements mean, and have the colours of the palette.
 *
 * @internal
 */
import { dark, light, type Palette } from "./Colors.ts"

const fills = ["paper", "raised", "run", "turn", "model", "transport", "tool", "fixer", "failed", "gold"] as const

/** The rules for one palette; `prefix` limits their selectors. */
const rules = (palette: Palette, prefix: string): string =>
  [
    ...fills.map((name) => `.k-${name}{fill:${palette[name]}}`),
    // the fill of a turn is faint, as bars stand on it: its edge stands out
    `.k-turn{stroke:${palette.quiet};stroke-width:.75}`,
    `.k-text{fill:${palette.ink}}`,
    `.k-quiet{fill:${palette.quiet}}`,
    `.k-on{fill:${palette.onFill}}`,
    `.k-line{stroke:${palette.line}}`,
    `.k-axis{stroke:${palette.line};stroke-dasharray:2 3}`,
    `.k-thread{stroke:${palette.gold}}`,
    ...["run", "turn", "unfinished"].map((name) => `.k-${name}{stroke:${palette.edge}}`),
    `.k-person{stroke:${palette.ink}}`,
    `.k-unfinished{fill-opacity:.45}`,
    `.k-pale{fill-opacity:.25;stroke:${palette.failed}}`,
    `.k-crack{fill:none;stroke:${palette.paper}}`,
    `.k-tell{fill:${palette.paper};stroke:${palette.gold}}`,
    `.k-lost{fill:${palette.failed};stroke:${palette.paper}}`,
    `.k-mended{fill:${palette.gold};stroke:${palette.paper}}`,
    `.k-asked{fill:${palette.paper};stroke:${palette.ink}}`,
    `.k-note{fill:${palette.quiet};stroke:${palette.paper}}`
  ]
    .map((rule) => `${prefix}${rule}`)
    .join("")

const faces =
  ".k-figure text{font-family:ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:11px}" +
  ".k-figure .k-name{font-size:12px;font-weight:600}.k-figure .k-small{font-size:11px}" +
  ".k-line,.k-axis,.k-thread,.k-person{fill:none}"

/** The CSS of a drawing that stands alone. It follows the theme of the reader's system, and is light in print. */
export const figure = `${faces}${rules(light, "")}@media screen and (prefers-color-scheme:dark){${rules(dark, "")}}`

/** The CSS of drawings in a page whose reader may choose a theme, which `data-theme` of the root element names. */
export const themed = `${faces}${rules(light, "")}@media screen{${rules(dark, '[data-theme="dark"] ')}}`
