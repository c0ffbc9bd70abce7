/**
 * Statistics as one SVG. It shows how runs ended over time, what ended them, how often each error came and healed, how each tool did, and
 * the cost of recovery beside work.
 */
import { type Bar, drawn, headline as panelLine, spotsOf, sheet, sizeOf } from "../drawing/Bars.ts"
import { endings, headline, locationOf, totalOf } from "./Lists.ts"
import { barsHeight, barsOf, overTime } from "./overTime.ts"
import type { Stats } from "./Stats.ts"
import { byFrequency, byFailures, isPriced, isUnknown, neverLine, percent, sentences, shareOf } from "./words.ts"
import { amount } from "../recording/Totals.ts"
import { count, duration } from "../text/Words.ts"

/** The options of `draw`. */
interface Options {
  /** The width in pixels; 960 by default. In a drawing narrower than 600 pixels, names stand above the bars. */
  readonly width?: number
  /** The most bars in each panel; 15 by default. A line below counts the other ones. */
  readonly maxBars?: number
}

/** Draws the statistics as the text of one SVG. */
export const draw = (stats: Stats, { maxBars = 15, width = 960 }: Options = {}): string => {
  const parts: Array<string> = []
  const { isStacked, left, lineHeight, right } = spotsOf(width)
  let y = 20
  const panel = (title: string, key: string, bars: ReadonlyArray<Bar>) => {
    if (bars.length === 0) return
    parts.push(panelLine(title, key, y, width))
    y += isStacked ? 24 : 10
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
  const time = overTime(stats.minutes, Math.min(60, Math.floor((width - left - right) / 6)))
  if (time !== undefined) {
    const key = `runs per ${duration(time.step)}: completed, then failed, then others`
    parts.push(panelLine("Over time", key, y, width))
    y += isStacked ? 24 : 10
    parts.push(barsOf(time, y, left, width - left - right))
    y += barsHeight + 26
  }
  panel("What ended runs", "runs, by error and place", endings(stats).map(endedBar(totalOf(stats))))
  panel("Errors", "incidents: healed, then lost (cracked)", byFrequency(stats).map(errorBar))
  panel("Tools", "calls: in order, then healed, then never healed (cracked)", byFailures(stats).map(toolBar))
  panel("Spent", isPriced(stats) ? "money" : "tokens", [spentBar(stats)])
  return sheet(
    { width, height: y },
    `Statistics of ${count(stats.recordings, "recording")}`,
    [headline(stats), ...sentences(stats), neverLine(stats)].join(" "),
    parts
  )
}

const endedBar =
  (total: number) =>
  (one: Stats["ended"][number]): Bar => ({
    name: `${one.tag} · ${locationOf(one)}`,
    parts: [{ size: one.runs, fill: "failed", says: `${one.runs}, ${one.example.reason}` }],
    says: `${percent(one.runs / Math.max(1, total))} of runs`
  })

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
  return {
    name: `work ${amount(work, priced)}`,
    parts: [
      { size: priced ? work.cost : work.tokens, fill: "model", says: `work: ${amount(work, priced)}` },
      {
        size: priced ? recovery.cost : recovery.tokens,
        fill: "gold",
        says: `recovery: ${amount(recovery, priced)}`
      }
    ],
    says: isUnknown(recovery) ? "recovery unknown" : `${percent(shareOf(stats))} on recovery`
  }
}
