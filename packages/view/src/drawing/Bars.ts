/**
 * Draws bars one below the other. Each bar has several parts, a name to the left and a figure to the right.
 *
 * @internal
 */
import { markup } from "../text/Escape.ts"
import { fitting } from "./Figure.ts"
import { figure } from "./Style.ts"

/** Where the parts of a bar are, in pixels: the height of its line, and the room for names to its left and figures to its right. */
export interface Spots {
  readonly lineHeight: number
  readonly left: number
  readonly right: number
  /** Whether the name and the figure stand above the bar, which then has the whole width. */
  readonly isStacked: boolean
}

/** The places in a drawing of this width. On a narrow one, the texts stand above the bars. */
export const spotsOf = (width: number): Spots =>
  width < 600
    ? { lineHeight: 40, left: 12, right: 12, isStacked: true }
    : { lineHeight: 22, left: 240, right: 150, isStacked: false }

/** The height of a bar, in pixels. */
const high = 16

/** A bar that consists of parts, one after the other. */
export interface Bar {
  readonly name: string
  readonly parts: ReadonlyArray<{ readonly size: number; readonly fill: string; readonly says: string }>
  readonly says: string
  /** The interval of the value, in the unit of the parts. It is drawn as a line across the bar. */
  readonly range?: { readonly low: number; readonly high: number }
}

/** The size of a bar: the sum of its parts. */
export const sizeOf = ({ parts }: Bar): number => parts.reduce((sum, { size }) => sum + size, 0)

/** Draws a bar whose line begins at `y`. `scale` is the number of pixels for each unit. */
export const drawn = ({ name, parts, range, says }: Bar, y: number, scale: number, width: number): string => {
  const { isStacked, left, right } = spotsOf(width)
  const top = y + (isStacked ? 19 : 3)
  let x = left
  const shapes = parts.map(({ fill, says, size }) => {
    const wide = hundredths(size * scale)
    const at = x
    x = hundredths(x + wide)
    if (wide === 0) return ""
    // failures are cracked too, so that colour is never the only difference
    const crack = fill === "failed" ? cracks(at, top, wide, high) : ""
    return `<g><title>${markup(`${name}: ${says}`)}</title><rect class="k-${fill}" x="${at}" y="${top}" width="${wide}" height="${high}"/>${crack}</g>`
  })
  const texts = isStacked
    ? [
        `<text class="k-text" x="${left}" y="${y + 14}">${markup(fitting(name, width / 2 - left))}</text>`,
        `<text class="k-quiet k-small" x="${width - right}" y="${y + 14}" text-anchor="end">${markup(says)}</text>`
      ]
    : [
        `<text class="k-text" x="${left - 8}" y="${y + 15}" text-anchor="end">${markup(fitting(name, left - 24))}</text>`,
        `<text class="k-quiet k-small" x="${Math.min(x + 8, width - right + 8)}" y="${y + 15}">${markup(says)}</text>`
      ]
  return [
    ...texts,
    ...shapes,
    range === undefined ? "" : whisker(left + range.low * scale, left + range.high * scale, top + high / 2)
  ].join("")
}

const whisker = (from: number, to: number, y: number): string =>
  `<path class="k-asked" d="M${hundredths(from)} ${y - 4}v8M${hundredths(from)} ${y}H${hundredths(to)}M${hundredths(to)} ${y - 4}v8"/>`

/** Draws slanted lines across a bar, which stay within it. */
const cracks = (x: number, y: number, width: number, height: number): string => {
  const lines: Array<string> = []
  for (let at = 4; at + 5 < width && lines.length < 200; at += 9) {
    lines.push(`M${hundredths(x + at)} ${y}l4 ${hundredths(height / 2)}l-3 0l4 ${hundredths(height / 2)}`)
  }
  return lines.length === 0 ? "" : `<path class="k-crack" stroke-width="1.2" d="${lines.join("")}"/>`
}

/** Rounds to a hundredth of a pixel. */
export const hundredths = (pixels: number): number => Math.round(pixels * 100) / 100

/** Draws the title of a panel, and the meaning of its bars: beside the title, or below it in a narrow drawing. */
export const headline = (title: string, key: string, y: number, width: number): string => {
  const { isStacked, left } = spotsOf(width)
  return `<text class="k-text k-name" x="12" y="${y}">${markup(title)}</text><text class="k-quiet k-small" x="${left}" y="${isStacked ? y + 15 : y}">${markup(key)}</text>`
}

/** Makes the SVG around the parts of a drawing, with a title and a description in words. */
export const sheet = (
  size: { readonly width: number; readonly height: number },
  title: string,
  description: string,
  parts: ReadonlyArray<string>
): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" class="k-figure" role="img" aria-labelledby="k-title k-desc" viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}">`,
    `<title id="k-title">${markup(title)}</title>`,
    `<desc id="k-desc">${markup(description)}</desc>`,
    `<style>${figure}</style>`,
    '<rect class="k-paper" width="100%" height="100%"/>',
    ...parts,
    "</svg>"
  ].join("")
