/** What the first screen of a failed run says. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"

/** The least width of a bar, in pixels. */
const least = 2

export const firstScreen = async (page: Page, report: Report, what: string, width: number): Promise<void> => {
  const title = await page.title()
  report.check(`${what}: the fatal tag is in the title`, title.includes("PaymentDeclined"), title)
  const error = page.getByRole("heading", { name: /^PaymentDeclined: card issuer declined/ }).first()
  const box = await error.boundingBox()
  const isSeen = box !== null && box.y >= 0 && box.y + box.height <= 900 && box.x >= 0 && box.x + box.width <= width
  report.check(`${what}: the error is in the viewport`, isSeen, JSON.stringify(box))
  const where = await page.locator(".place").innerText()
  report.check(`${what}: so is where it happened`, /refund-desk › turn 12 › refund/.test(where), where)
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  report.check(`${what}: the page is not wider than its screen`, overflow <= 0, String(overflow))
  const bars = await page
    .locator(".strip .bar")
    .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width).filter((wide) => wide > 0))
  const narrowest = Math.min(...bars)
  report.check(
    `${what}: no bar is narrower than ${least} px`,
    width < 700 ? bars.length === 0 : bars.length > 30 && narrowest >= least - 0.01,
    `${bars.length} bars, the narrowest has ${narrowest}`
  )
  await page.evaluate(() => getSelection()?.removeAllRanges())
  // window.find is the search of the browser
  const finds = await page.evaluate(() => Object(globalThis).find("PaymentDeclined"))
  report.check(`${what}: the browser's own search finds the error`, finds === true, String(finds))
}
