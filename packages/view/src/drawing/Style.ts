/**
 * The style of a drawing, as CSS: classes that name what a thing is, in the colours of the palette.
 *
 * @internal
 */
import { dark, light, type Palette } from "./Colors.ts"

const fills = ["paper", "raised", "run", "turn", "model", "transport", "tool", "fixer", "failed", "gold"] as const

/** A failed piece is broken at its end; a wait is a thread; gold marks the seams. */
const rules = (palette: Palette, prefix: string): string =>
  [
    ...fills.map((name) => `.k-${name}{fill:${palette[name]}}`),
    `.k-text{fill:${palette.ink}}`,
    `.k-quiet{fill:${palette.quiet}}`,
    `.k-on{fill:${palette.onFill}}`,
    `.k-line{stroke:${palette.line}}`,
    `.k-axis{stroke:${palette.line};stroke-dasharray:2 3}`,
    `.k-thread{stroke:${palette.gold}}`,
    `.k-unfinished{fill-opacity:.45}`,
    `.k-pale{fill-opacity:.25}`,
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
  ".k-figure .k-name{font-size:12px;font-weight:600}.k-figure .k-small{font-size:10px}" +
  ".k-line,.k-axis{fill:none}"

/** For a drawing that stands alone; printed it is light. */
export const figure = `${faces}${rules(light, "")}@media screen and (prefers-color-scheme:dark){${rules(dark, "")}}`

/** For a page whose reader may choose a theme: `data-theme` on the root has it. */
export const themed = `${faces}${rules(light, "")}@media screen{${rules(dark, '[data-theme="dark"] ')}}`
