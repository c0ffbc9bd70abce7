/** Links into a page. */
import { Page, Recording } from "@kintsugi/view"
import { mid } from "../../../../test/view/_support/recorded.ts"
import type { Report } from "../../../../scripts/report.ts"
import type { Browser } from "../browser.ts"
import { drawn } from "../pictures/drawn.ts"

/** The failed run with the place of each tool's definition, as `KINTSUGI_DEFINED_AT=1` records it. */
const located = (): Recording.Recording =>
  Recording.fromEvents(
    mid("mid-fail").events.map((event) =>
      event.type === "tool-start" ? { ...event, definedAt: "src/desk.ts:31:20" } : event
    )
  )

const edited = (visit: Browser, report: Report, writePage: (name: string, html: string) => string): Promise<void> => {
  const links = { editor: "vscode://file{file}:{line}:{column}", folder: "/home/me/desk" }
  const url = writePage("located", Page.make(located(), { links }))
  return visit({ what: "a link to an editor", url, width: 1440 }, async (page) => {
    await drawn(page)
    const href = await page.locator(".inspector a", { hasText: "src/desk.ts:31:20" }).getAttribute("href")
    const isRight = href === "vscode://file/home/me/desk/src/desk.ts:31:20"
    report.check("the inspector links the failed call to the definition of its tool", isRight, String(href))
  })
}

export const linked = async (
  visit: Browser,
  report: Report,
  url: string,
  writePage: (name: string, html: string) => string
): Promise<void> => {
  await edited(visit, report, writePage)
  const fragment = "#e=29&z=10-14&v=events&q=StaleIndex"
  await visit({ what: "a link into a page", url: `${url}${fragment}`, width: 1440 }, async (page) => {
    await drawn(page)
    await page.locator(".found", { hasText: /found/ }).waitFor()
    const row = await page.locator('.events [aria-selected="true"]').innerText()
    report.check("a link shows its event, in its view", /^29\s/.test(row) && row.includes("tool-failed"), row)
    await page.keyboard.press("1")
    const selected = await page.locator('.outline [aria-selected="true"]').innerText()
    report.check("and its row", selected.includes("attempt 1"), selected)
    await page.waitForFunction(() => location.hash.startsWith("#e=29") && !location.hash.includes("v="))
    const kept = await page.evaluate(() => location.hash)
    report.check("and its time and its search", kept === "#e=29&z=10-14&q=StaleIndex", kept)
    await page.evaluate(() => (location.hash = "#e=133"))
    await page.locator('.outline [aria-selected="true"]', { hasText: "PaymentDeclined" }).waitFor()
    report.check("another link in an open page is followed", true)
  })
  await visit(
    { what: "a broken link into a page", url: `${url}#e=9999999&z=5-1&v=none&q=%`, width: 1440 },
    async (page) => {
      await drawn(page)
      const about = await page.locator(".inspector").innerText()
      report.check("a broken link shows the failure", about.includes("PaymentDeclined"), about)
    }
  )
}
