/** A report of `Eval` as one SVG. It shows how often each policy passed, with its interval, and each scenario under each policy. */
import type { EvalReport } from "@kintsugi/core/testing/Eval"
import { type Bar, drawn, headline, hundredths, spotsOf, sheet } from "../drawing/Bars.ts"
import { fitting } from "../drawing/Figure.ts"
import { markup } from "../text/Escape.ts"
import { percent, type PolicyRow, sentence, type Share, shareText } from "./words.ts"

/** The options of `draw`. */
interface Options {
  /** The width in pixels; 960 by default. The drawing is wider if it has many policies. A drawing narrower than 600 pixels has no scenarios. */
  readonly width?: number
}

/** The least width of a drawing, in which names stand beside the bars. */
const least = 640

/** The least width of a policy's column beside the scenarios, in pixels. */
const leastColumn = 72

/** Draws the report as the text of one SVG. */
export const draw = (report: EvalReport, { width: wanted = 960 }: Options = {}): string => {
  const isNarrow = wanted < 600
  const { left, lineHeight, right } = spotsOf(isNarrow ? wanted : least)
  const { policies, scenarios } = report
  const width = isNarrow ? wanted : Math.max(least, wanted, left + leastColumn * policies.length + 12)
  const column = (width - left - 12) / Math.max(1, policies.length)
  const parts: Array<string> = [
    headline(
      "Policies",
      isNarrow
        ? "gold: passed; grey: failed; cracked: wrong and silent"
        : "runs: passed, then failed, then wrong and silent (cracked); the line is the interval of 95 %",
      20,
      width
    )
  ]
  let y = isNarrow ? 45 : 30
  for (const row of policies) {
    parts.push(drawn(barOf(row), y, (width - left - right) / Math.max(1, row.passed.of), width))
    y += lineHeight
  }
  if (isNarrow) return sheet({ width, height: y + 12 }, "Recovery policies compared", sentence(report), parts)
  y += 26
  parts.push(headline("Scenarios", "runs that passed, under each policy", y, width))
  y += 10
  for (const [index, { policy }] of policies.entries()) {
    const name = markup(fitting(policy, column - 8))
    parts.push(`<text class="k-text k-small" x="${hundredths(left + index * column)}" y="${y + 15}">${name}</text>`)
  }
  y += lineHeight
  for (const { passed, scenario } of scenarios) {
    parts.push(
      `<text class="k-text" x="${left - 8}" y="${y + 15}" text-anchor="end">${markup(fitting(scenario, left - 24))}</text>`
    )
    for (const [index, share] of passed.entries()) {
      const name = `${scenario}, ${policies[index]?.policy ?? ""}`
      parts.push(cell(name, share, hundredths(left + index * column), y, column - 8))
    }
    y += lineHeight
  }
  return sheet({ width, height: y + 12 }, "Recovery policies compared", sentence(report), parts)
}

const barOf = ({ failures, passed, policy, silent }: PolicyRow): Bar => {
  const failed = Object.entries(failures)
  return {
    name: policy,
    parts: [
      { size: passed.count, fill: "gold", says: `${passed.count} passed` },
      {
        size: Math.max(0, passed.of - passed.count - silent),
        fill: "turn",
        says: `failed: ${failed.map(([tag, count]) => `${tag} ${count}`).join(", ")}`
      },
      { size: silent, fill: "failed", says: `${silent} wrong and silent` }
    ],
    range: { low: passed.low * passed.of, high: passed.high * passed.of },
    says: shareText(passed)
  }
}

/** Draws a cell of the table. The bar in it is as long as the rate. */
const cell = (name: string, share: Share, x: number, y: number, width: number): string => {
  const height = spotsOf(least).lineHeight - 6
  return [
    `<g><title>${markup(`${name}: ${shareText(share)} of ${share.of}`)}</title>`,
    `<rect class="k-raised" x="${x}" y="${y + 3}" width="${hundredths(width)}" height="${height}"/>`,
    `<rect class="k-gold" x="${x}" y="${y + 3}" width="${hundredths(width * share.rate)}" height="4"/>`,
    `<text class="k-text k-small" x="${hundredths(x + 4)}" y="${y + 16}">${percent(share.rate)}</text></g>`
  ].join("")
}
