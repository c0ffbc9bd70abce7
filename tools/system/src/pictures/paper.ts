/** Long pages on paper: what is left out is said, and nothing stays folded. */
import { Page, Recording } from "@kintsugi/view"
import type { Page as Tab } from "playwright-core"
import { long } from "../../../../test/view/_support/references.ts"
import type { Report } from "../../../../scripts/report.ts"
import type { Browser } from "../browser.ts"
import { drawn } from "./drawn.ts"

/** A long run, and six lines that are none of its events. */
const broken = (): Recording.Recording => {
  const lines = long(60_000).events.map((event) => JSON.stringify(event))
  return Recording.fromLines([...Array.from({ length: 6 }, () => "{"), ...lines])
}

const seen = async (page: Tab) => ({
  entries: await page.locator(".entry").count(),
  last: await page.locator(".entries > :last-child").innerText(),
  isUnfolded: await page.locator(".problems").evaluate((problems: HTMLDetailsElement) => problems.open),
  drawing: await page.locator(".figure").getAttribute("data-drawing")
})

export const paper = (
  visit: Browser,
  report: Report,
  writePage: (name: string, html: string) => string
): Promise<void> =>
  visit({ what: "a long page", url: writePage("paper", Page.make(broken())) }, async (page) => {
    await drawn(page)
    const before = await seen(page)
    await page.evaluate(() => void dispatchEvent(new Event("beforeprint")))
    const printed = await seen(page)
    report.check(
      "on paper, a long transcript says how much of it is not there",
      printed.entries === 5001 && /^[\d,]+ later entries not printed/.test(printed.last),
      `${printed.entries}: ${printed.last}`
    )
    report.check("on paper, problems are not folded", printed.isUnfolded, String(printed.isUnfolded))
    report.check("on paper, all rows of a large drawing are there", printed.drawing === "svg", String(printed.drawing))
    await page.evaluate(() => void dispatchEvent(new Event("afterprint")))
    const after = await seen(page)
    report.check(
      "on the screen all is as before then",
      !after.isUnfolded && after.drawing === "canvas" && !before.isUnfolded,
      `${after.isUnfolded} ${after.drawing}`
    )
  })
