/**
 * Draws bars one below the other. Each bar has several parts, a name to the left and a figure to the right.
 *
 * @internal
 */
import { markup } from "../text/Escape.ts"
import { fitting } from "./Figure.ts"
import { figure } from "./Style.ts"

/** The height of a bar's line, and the room for the names to its left and the figures to its right, in pixels. */
export const lineHeight = 22
export const left = 240
export const right = 150

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
  let x = left
  const shapes = parts.map(({ fill, says, size }) => {
    const wide = hundredths(size * scale)
    const at = x
    x = hundredths(x + wide)
    if (wide === 0) return ""
    // failures are cracked too, so that colour is never the only difference
    const crack = fill === "failed" ? cracks(at, y + 3, wide, lineHeight - 6) : ""
    return `<g><title>${markup(`${name}: ${says}`)}</title><rect class="k-${fill}" x="${at}" y="${y + 3}" width="${wide}" height="${lineHeight - 6}"/>${crack}</g>`
  })
  return [
    `<text class="k-text" x="${left - 8}" y="${y + 15}" text-anchor="end">${markup(fitting(name, left - 24))}</text>`,
    ...shapes,
    range === undefined ? "" : whisker(left + range.low * scale, left + range.high * scale, y + lineHeight / 2),
    `<text class="k-quiet k-small" x="${Math.min(x + 8, width - right + 8)}" y="${y + 15}">${markup(says)}</text>`
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

/** Draws the title of a panel, and the meaning of its bars. */
export const headline = (title: string, key: string, y: number): string =>
  `<text class="k-text k-name" x="12" y="${y}">${markup(title)}</text><text class="k-quiet k-small" x="${left}" y="${y}">${markup(key)}</text>`

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
