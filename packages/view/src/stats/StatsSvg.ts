/** Statistics as one SVG: how often each error came and healed, how each tool did, and what recovery has cost beside work. */
import { markup } from "../text/Escape.ts"
import { byFrequency, type Stats } from "./Stats.ts"
import { byTrouble, isPriced, neverLine, percent, sentences, shareOf } from "./words.ts"
import { figure } from "../drawing/Style.ts"
import { fitting } from "../drawing/Figure.ts"
import { count, money } from "../text/Words.ts"

/** How it is drawn. */
export interface Options {
  /** In pixels; 960 by default. */
  readonly width?: number
  /** Bars of each kind; the rest is counted below them. 15 by default. */
  readonly maxBars?: number
}

const lineHeight = 22
const left = 240
const right = 150

/** A bar of several parts, one after the other. */
interface Bar {
  readonly name: string
  readonly parts: ReadonlyArray<{ readonly size: number; readonly fill: string; readonly says: string }>
  readonly says: string
}

/** Draws all of it. */
export const draw = (stats: Stats, { maxBars = 15, width = 960 }: Options = {}): string => {
  const parts: Array<string> = []
  let y = 20
  const panel = (title: string, key: string, bars: ReadonlyArray<Bar>) => {
    if (bars.length === 0) return
    parts.push(`<text class="k-text k-name" x="12" y="${y}">${markup(title)}</text>`)
    parts.push(`<text class="k-quiet k-small" x="${left}" y="${y}">${markup(key)}</text>`)
    y += 10
    const most = Math.max(1e-12, ...bars.map(sizeOf))
    for (const bar of bars.slice(0, maxBars)) {
      parts.push(drawn(bar, y, (width - left - right) / most, width))
      y += lineHeight
    }
    if (bars.length > maxBars) {
      parts.push(`<text class="k-quiet k-small" x="${left}" y="${y + 12}">and ${bars.length - maxBars} more</text>`)
      y += lineHeight
    }
    y += 26
  }
  panel("Errors", "incidents: healed, then lost (cracked)", byFrequency(stats).map(errorBar))
  panel("Tools", "calls: in order, then healed, then never healed (cracked)", byTrouble(stats).map(toolBar))
  panel("Spent", isPriced(stats) ? "money" : "tokens", [spentBar(stats)])
  const height = y
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="k-figure" role="img" aria-labelledby="k-title k-desc" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title id="k-title">${markup(`Statistics of ${count(stats.recordings, "recording")}`)}</title>`,
    `<desc id="k-desc">${markup([...sentences(stats), neverLine(stats)].join(" "))}</desc>`,
    `<style>${figure}</style>`,
    '<rect class="k-paper" width="100%" height="100%"/>',
    ...parts,
    "</svg>"
  ].join("")
}

const sizeOf = ({ parts }: Bar): number => parts.reduce((sum, { size }) => sum + size, 0)

const errorBar = ({ healed, incidents, layer, tag }: Stats["errors"][number]): Bar => ({
  name: `${layer} ${tag}`,
  parts: [
    { size: healed, fill: "gold", says: `${healed} healed` },
    { size: incidents - healed, fill: "failed", says: `${incidents - healed} lost` }
  ],
  says: `${percent(healed / incidents)} of ${incidents.toLocaleString("en-US")} healed`
})

const toolBar = ({ calls, healed, tool, troubled }: Stats["tools"][number]): Bar => ({
  name: tool,
  parts: [
    { size: Math.max(0, calls - troubled), fill: "tool", says: `${Math.max(0, calls - troubled)} in order` },
    { size: healed, fill: "gold", says: `${healed} healed` },
    { size: troubled - healed, fill: "failed", says: `${troubled - healed} never healed` }
  ],
  says: troubled === 0 ? `${calls.toLocaleString("en-US")}, no trouble` : `${healed} of ${troubled} healed`
})

const spentBar = (stats: Stats): Bar => {
  const { recovery, work } = stats
  const priced = isPriced(stats)
  const said = (cost: number, tokens: number) => (priced ? money(cost) : count(tokens, "token"))
  return {
    name: `work ${said(work.cost, work.tokens)}`,
    parts: [
      { size: priced ? work.cost : work.tokens, fill: "model", says: `work: ${said(work.cost, work.tokens)}` },
      {
        size: priced ? recovery.cost : recovery.tokens,
        fill: "gold",
        says: `recovery: ${said(recovery.cost, recovery.tokens)}`
      }
    ],
    says: `${percent(shareOf(stats))} on recovery`
  }
}

const drawn = ({ name, parts, says }: Bar, y: number, scale: number, width: number): string => {
  let x = left
  const shapes = parts.map(({ fill, says, size }) => {
    const wide = round(size * scale)
    const at = x
    x = round(x + wide)
    if (wide === 0) return ""
    // colour is never the only difference: what is lost is cracked
    const crack = fill === "failed" ? cracks(at, y + 3, wide, lineHeight - 6) : ""
    return `<g><title>${markup(`${name}: ${says}`)}</title><rect class="k-${fill}" x="${at}" y="${y + 3}" width="${wide}" height="${lineHeight - 6}"/>${crack}</g>`
  })
  return [
    `<text class="k-text" x="${left - 8}" y="${y + 15}" text-anchor="end">${markup(fitting(name, left - 24))}</text>`,
    ...shapes,
    `<text class="k-quiet k-small" x="${Math.min(x + 8, width - right + 8)}" y="${y + 15}">${markup(says)}</text>`
  ].join("")
}

/** Slanted lines across a bar, each within it. */
const cracks = (x: number, y: number, width: number, height: number): string => {
  const lines: Array<string> = []
  for (let at = 4; at + 5 < width && lines.length < 200; at += 9) {
    lines.push(`M${round(x + at)} ${y}l4 ${round(height / 2)}l-3 0l4 ${round(height / 2)}`)
  }
  return lines.length === 0 ? "" : `<path class="k-crack" stroke-width="1.2" d="${lines.join("")}"/>`
}

const round = (pixels: number): number => Math.round(pixels * 100) / 100
