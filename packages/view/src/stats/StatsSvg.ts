/** Statistics as one SVG. It shows how often each error came and healed, how each tool did, and the cost of recovery beside work. */
import { type Bar, drawn, headline, left, lineHeight, right, sheet, sizeOf } from "../drawing/Bars.ts"
import type { Stats } from "./Stats.ts"
import { byFrequency, byFailures, isPriced, neverLine, percent, sentences, shareOf } from "./words.ts"
import { count, money } from "../text/Words.ts"

/** The options of `draw`. */
interface Options {
  /** The width in pixels; 960 by default. */
  readonly width?: number
  /** The most bars in each panel; 15 by default. A line below counts the other ones. */
  readonly maxBars?: number
}

/** Draws the statistics as the text of one SVG. */
export const draw = (stats: Stats, { maxBars = 15, width = 960 }: Options = {}): string => {
  const parts: Array<string> = []
  let y = 20
  const panel = (title: string, key: string, bars: ReadonlyArray<Bar>) => {
    if (bars.length === 0) return
    parts.push(headline(title, key, y))
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
  panel("Tools", "calls: in order, then healed, then never healed (cracked)", byFailures(stats).map(toolBar))
  panel("Spent", isPriced(stats) ? "money" : "tokens", [spentBar(stats)])
  return sheet(
    { width, height: y },
    `Statistics of ${count(stats.recordings, "recording")}`,
    [...sentences(stats), neverLine(stats)].join(" "),
    parts
  )
}

const errorBar = ({ healed, incidents, layer, tag }: Stats["errors"][number]): Bar => ({
  name: `${layer} ${tag}`,
  parts: [
    { size: healed, fill: "gold", says: `${healed} healed` },
    { size: incidents - healed, fill: "failed", says: `${incidents - healed} lost` }
  ],
  says: `${percent(healed / incidents)} of ${incidents.toLocaleString("en-US")} healed`
})

const toolBar = ({ calls, healed, tool, withFailures }: Stats["tools"][number]): Bar => ({
  name: tool,
  parts: [
    { size: Math.max(0, calls - withFailures), fill: "tool", says: `${Math.max(0, calls - withFailures)} in order` },
    { size: healed, fill: "gold", says: `${healed} healed` },
    { size: withFailures - healed, fill: "failed", says: `${withFailures - healed} never healed` }
  ],
  says: withFailures === 0 ? `${calls.toLocaleString("en-US")}, no failures` : `${healed} of ${withFailures} healed`
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
