/** Links into a page. */
import type { Report } from "../../../../scripts/report.ts"
import type { Browser } from "../browser.ts"
import { drawn } from "../pictures/drawn.ts"

export const linked = async (visit: Browser, report: Report, url: string): Promise<void> => {
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
